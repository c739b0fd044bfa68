//! The programs as people run them: real processes over the loopback.

mod actor;
mod client;
mod limits;
mod node;
mod process;
mod tools;
