//! Secrets from sealing to opening, by this crate and by a second implementation.

mod framing;
mod second;
mod vectors;
mod whole;
