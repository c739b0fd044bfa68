//! Files in volumes (decisions 149 to 154).
//!
//! A file is encrypted in segments, cut into stripes of k cells, and each stripe gets m cells more; shard i is the i-th cell of every stripe, and lies
//! with the relay of slot i. Everything that comes from a relay is checked against the chain's root before it is used.
//!
//! - [`keys`]: the keys of partitions and files.
//! - [`segments`]: encrypting and decrypting.
//! - [`cells`]: coding, and rebuilding what is lost.
//! - [`wire`]: what relays are asked, and how.
//! - [`Link`]: a connection to one relay.
//! - [`Volume`]: a volume, as the chain has it, with its relays: reads and writes files.
#![allow(clippy::result_large_err, reason = "a refusal is the rare way out")]

pub mod cells;
mod client;
pub mod keys;
mod link;
pub mod segments;
mod tree;
pub mod wire;

pub use client::{Clash, Commit, Entry, Listing, Signer, Source, Volume, VolumeError, content_hash, directories};
pub use link::{Link, LinkError, relay_address};
pub use tree::{Change, Draft, Tree};
