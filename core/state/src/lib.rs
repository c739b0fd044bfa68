//! The journaled world that one delivery sees: reads, writes, checkpoints, events.
//!
//! Everything a chain knows stands in *records*, each under a readable [`Key`]. The store below knows
//! only the key's digest ([`StateKey`]); the readable key stands inside the stored value (decision 124).
//!
//! - [`key`]: names of records, and their 32-byte digests.
//! - [`records`]: what the records hold.
//! - [`world`]: the cache and the journal over it. A read of something that was never fetched answers
//!   [`Miss`]; whoever drives the execution fetches it and tries again.
//! - [`directory`]: sorted sets of names inside the state, for prefix scans, pages and due timers.
//!
//! Invariants: a rolled back checkpoint leaves no trace; a record's stored bytes name their own key;
//! a directory page holds at most [`directory::PAGE_NAMES`] names, ascending.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing))]

pub mod directory;
pub mod key;
pub mod records;
pub mod world;

pub use directory::Directory;
pub use key::{Key, Kind, StateKey};
pub use world::{Checkpoint, Miss, SentMessage, Step, Stop, World};
