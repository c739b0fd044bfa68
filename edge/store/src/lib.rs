//! What a node keeps: authenticated state, the ledger of finalized blocks, its indexes, and proofs.
//!
//! - [`state`]: the QMDB database behind every `state_root`, and how it is configured.
//! - [`recent`]: values that the last 16 blocks overwrote, so that a query sees one height (decision 126).
//! - [`ledger`]: finalized blocks, receipts and certificates, and the indexes made from them.
//!   Its file has a checksum for every page, which is verified when the page is read.
//! - [`catalog`]: the indexes that people search with.
//! - [`check`]: checks a stopped node's ledger, and saves what is readable of a damaged one.
//! - [`copies`]: copies of blocks from other nodes, which replace damaged rows.
//! - [`directory`]: the folder all of it lives in, claimed by one process and one chain.
//! - [`error`]: what can go wrong with a disk.

// Test records are written as users of this crate write them.
#[cfg(test)]
extern crate self as cowboy_store;

pub mod catalog;
pub mod check;
mod chunks;
pub mod copies;
pub mod directory;
pub mod error;
mod index;
pub mod ledger;
mod listings;
mod packing;
mod pages;
mod position;
pub mod proof;
pub mod recent;
mod sections;
pub mod state;
mod tables;
mod view;

pub use chunks::Chunk;
pub use copies::BlockCopy;
pub use directory::Directory;
pub use error::StoreError;
pub use ledger::{BlockRecord, Ledger, MAX_TOGETHER, Retention};
pub use position::{Concern, Place};
pub use recent::Recent;
pub use state::{Key, Value};
pub use view::View;
