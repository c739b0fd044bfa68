//! Images are packed, verified, unpacked and kept, and hostile ones are refused.

mod hostile;
mod packing;
mod random;
#[cfg(feature = "registry")]
mod registry;
mod store;
mod support;
mod unpacking;
