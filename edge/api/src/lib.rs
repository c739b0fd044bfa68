//! The node's HTTP API, without the server.
//!
//! - [`table`]: the methods, one row each.
//! - [`model`]: the JSON they take and give; [`convert`] makes it of the protocol's types.
//! - [`error`]: what a refusal says.
//! - [`openapi`]: the document made from the table.
//! - [`client`]: a typed client. [`pages`]: lists to their end. [`sender`]: what a service sends from its account.
//! - [`follow`]: the frames of `/follow`.
//! - [`verify`]: proofs checked without trusting the node.
//! - [`keystore`]: mnemonics, key files, and where a key is looked up.
//! - [`system`]: the methods of system actors in JSON, derived from their tables.
//! - [`source`]: what an actor's source says about it.
//! - [`cbor`]: canonical CBOR as JSON, for people. [`wake`]: what the payload of a timer means to the SDK.

#![allow(clippy::result_large_err, reason = "a refusal is the rare way out, and is answered at once")]

pub mod cbor;
pub mod client;
pub mod consensus;
pub mod convert;
pub mod error;
pub mod follow;
mod hex_text;
pub mod keystore;
pub mod manifest;
pub mod model;
pub mod openapi;
pub mod pages;
pub mod permission;
pub mod sender;
pub mod source;
pub mod system;
pub mod table;
pub mod traceback;
pub mod verify;
pub mod wake;

pub use client::Client;
pub use error::ApiError;
pub use hex_text::{Hex, HexAddress, HexBytes, HexHash, HexText};
pub use table::Endpoint;
