//! The encoding of what the protocol is about, and the published vectors.

mod codec;
mod entitlement;
mod entitlement_vectors;
mod vectors;
