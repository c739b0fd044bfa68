//! The server over a real node.

mod actors;
mod admin;
mod bad_input;
mod burst;
mod consensus;
mod devnet;
mod entitlements;
mod floods;
mod follower;
mod governance;
mod lists;
mod methods;
mod proofs;
mod streams;
mod views;
