//! The computer that a program runs on, in the one place from which all programs of the edge use it (decision 727).
//!
//! - [`clock`]: the time of day, milliseconds, and how long is waited between tries.
//! - [`files`]: files that only their owner reads, and that are replaced as a whole.
//! - [`loopback`]: which names and addresses are of this computer alone.

pub mod clock;
pub mod files;
pub mod loopback;
