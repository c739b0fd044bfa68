//! The transition, driven over a map as a node drives it over its store.

pub(crate) mod harness;
mod actors;
mod blocks;
mod messages;
mod properties;
mod queries;
mod randomness;
mod timers;
mod transfers;
mod vectors;
