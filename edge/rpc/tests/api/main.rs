//! The server over a real node.

mod bad_input;
mod devnet;
mod methods;
mod streams;
