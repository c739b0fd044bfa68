//! Verification without a node: proofs of state, transactions and receipts against a header.
//!
//! Pure Rust without a database or a runtime, so that it runs in a browser. The rules are those of the
//! node's database, written down a second time; `edge/store` tests the two against each other.
//!
//! - [`state`]: that a record has a value, or none, in the state of a root.
//! - [`answer`]: a proof with the headers that tie it to a finalized block.
//! - [`certificate`]: that the validators finalized a block.
//!
//! Transactions and receipts are proven by [`cowboy_types::merkle::Inclusion`].
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing))]

pub mod answer;
pub mod certificate;
pub mod state;

pub use answer::{Anchor, Mismatch};
pub use certificate::{Finalization, GroupKey, Refused};
