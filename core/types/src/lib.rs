//! The words of the protocol and their one canonical encoding (003 §2.5).
//!
//! Everything that is hashed into a block, a state root or a receipt root is a type of this crate.
//! Its bytes are the commonware codec's: fields in a frozen order, minimal varints, strict decoding.
//! One value has exactly one encoding, and decoding refuses every other byte string.
//!
//! - [`wire`]: the building blocks of the encoding: records, variants, bounded lists.
//! - [`units`]: newtypes of the numbers: heights, cycles, amounts.
//! - [`address`], [`hash`]: names of accounts and of bytes.
//! - [`instruction`], [`transaction`]: what a user asks for, and the signed envelope around it.
//! - [`cbor`]: canonical CBOR, for manifests and event data.
//! - [`entitlement`]: what actors require and runners provide.
//! - [`environment`]: trusted execution environments.
//! - [`permission`]: who may do what, as the Entitlement Registry records it.
//! - [`block`], [`receipt`]: what validators agree on, and what came of it.
//! - [`job`]: jobs, runners and results of the off-chain market.
//! - [`merkle`]: the keccak tree of transactions and receipts.
//! - [`signing`]: secp256k1, behind the feature `signing`.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing))]

pub mod actors;
pub mod address;
pub mod block;
pub mod cbor;
pub mod entitlement;
pub mod environment;
pub mod error;
#[cfg(feature = "arbitrary")]
pub mod formats;
pub mod hash;
pub mod instruction;
pub mod job;
pub mod merkle;
pub mod permission;
pub mod receipt;
#[cfg(feature = "signing")]
pub mod signing;
pub mod transaction;
pub mod units;
pub mod wire;

pub use address::Address;
pub use block::{Block, Context, Header, LaneUsage};
pub use error::{Abort, Category, Class, ErrorRow};
pub use hash::{Hash, blake3, keccak256};
pub use instruction::{Actor, Instruction, System};
pub use receipt::{Event, Fee, Receipt, ReceiptKind};
pub use transaction::{CoSignature, Signature, Transaction};
pub use units::{Amount, Cells, ChainId, Cycles, Height, Nonce, Price, TimestampMs};
pub use wire::{Blob, List, Text};
