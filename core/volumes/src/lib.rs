//! The formats of volumes, and what anybody can check about them without a key (003 §7; decisions 149 to 161).
//!
//! A volume is a set of files that relays keep. Each file is coded into shards of which any k give it back, and shard i of every file lies with
//! the relay of the volume's slot i. The chain knows one root for each top-level directory, and can ask a relay for any byte that it should hold.
//! This crate has neither keys nor randomness nor files: it encodes, hashes and checks, on the chain, at relays and in clients.
//!
//! - [`name`]: names, paths, the ids of volumes and partitions.
//! - [`code`]: how many shards there are, and how long they are.
//! - [`leaf`]: the record of a file.
//! - [`tree`]: pages of leaves, their tree, and paths in it.
//! - [`slice`]: parts of a shard, checked against its hash.
//! - [`relay`]: what relays sign.
//! - [`capability`]: what the holder of a capability signs.
//! - [`blob`]: the reference to a file that other programs may keep.
//!
//! Every decoder is strict: one value has one encoding.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing))]

pub mod blob;
pub mod capability;
pub mod code;
pub mod leaf;
pub mod name;
pub mod relay;
pub mod slice;
pub mod tree;

/// What a relay asks, and a volume pays at most, for a MiB and an epoch where nobody says otherwise, in base units of CBY (decision 157).
pub const USUAL_PRICE: u64 = 450;

pub use blob::BlobRef;
pub use capability::{Mode, Token};
pub use code::Code;
pub use leaf::Leaf;
pub use name::{Name, Path};
pub use tree::{Node, Page, Route, Top};
