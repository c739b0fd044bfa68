//! The transition, driven over a map as a node drives it over its store.

mod harness;
mod transfers;
