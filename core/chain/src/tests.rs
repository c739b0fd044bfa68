//! The transition, driven over a map as a node drives it over its store.

pub(crate) mod harness;
mod actors;
mod messages;
mod queries;
mod randomness;
mod timers;
mod transfers;
