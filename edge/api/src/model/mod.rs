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

/// The most bytes of a request's body.
pub const MAX_BODY_BYTES: usize = 1_000_000;

/// The most bytes of a submission's body.
pub const MAX_SUBMISSION_BYTES: usize = 512 * 1024;

/// The most transactions of a submission.
pub const MAX_SUBMISSION_TRANSACTIONS: usize = 200;
