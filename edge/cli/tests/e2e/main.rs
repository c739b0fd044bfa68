//! The programs as people run them: real processes over the loopback.

mod client;
mod node;
mod process;
