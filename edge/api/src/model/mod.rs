//! The JSON that the API takes and gives.
//!
//! Amounts, cycles, cells, heights and times are integers of up to 64 bits and stand in JSON as numbers; a reader whose
//! numbers are doubles must read them as text. Bytes, addresses and hashes are hex with `0x`. Times are milliseconds
//! since 1970-01-01 UTC. Unknown fields of a request are refused; a reader must accept new fields of an answer.

mod account;
mod actor;
mod block;
mod chain;
mod dev;
mod entitlement;
mod governance;
mod job;
mod name;
mod proof;
mod stream;
mod submit;
mod token;
mod transaction;
pub mod words;

use std::ops::RangeInclusive;

pub use account::*;
pub use actor::*;
pub use block::*;
pub use chain::*;
pub use dev::*;
pub use entitlement::*;
pub use governance::*;
pub use job::*;
pub use name::*;
pub use proof::*;
pub use stream::*;
pub use submit::*;
pub use token::*;
pub use transaction::*;

/// Rows of a list where the request names no `limit`.
pub const DEFAULT_LIMIT: usize = 50;

/// The most rows of a list.
pub const MAX_LIMIT: usize = 1_000;

/// Receipts that a page of a filtered list examines.
pub const FILTERED_RECEIPTS: usize = 1_000;

/// Mebibytes of blocks after which a page of blocks ends.
pub const BLOCK_PAGE_MIB: usize = 64;

/// The most results of a kind that a search has.
pub const MAX_SEARCH_RESULTS: usize = 20;

/// The characters of a text to search for.
pub const SEARCH_CHARACTERS: RangeInclusive<usize> = 2..=64;

/// How long `/submit_wait` waits where the request does not say, in milliseconds.
pub const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// The longest that `/submit_wait` waits, in milliseconds.
pub const MAX_TIMEOUT_MS: u64 = 120_000;

/// The most operations of the state in one answer.
pub const MAX_OPERATIONS: u64 = 64;

/// The most bytes of a request's body.
pub const MAX_BODY_BYTES: usize = 1_000_000;

/// The most bytes of a submission's body.
pub const MAX_SUBMISSION_BYTES: usize = 512 * 1024;

/// The most transactions of a submission.
pub const MAX_SUBMISSION_TRANSACTIONS: usize = 200;
