//! The server over a real node.

mod bad_input;
mod burst;
mod devnet;
mod entitlements;
mod methods;
mod streams;
