//! What the actors of the market share: 0x01, 0x02, 0x03 and 0x05 use it, and it uses none of them.
//!
//! - [`jobs`], [`runners`]: the records of 0x02 and of 0x01, and where they stand.
//! - [`request`]: the one reading of a submission; [`refusal`], [`mistake`]: why it is refused.
//! - [`container`], [`classes`]: what a submission says of its container. [`address`], [`extraction`]: where a web job's
//!   page is, and what it wants of it.
//! - `claims`: what a runner may claim for a job that it was drawn for.
//! - [`selection`]: draws, as pure functions.
//! - [`payment`]: prices, shares, refunds.
//! - [`judge`]: the modes of verification, as pure functions over results; [`json`], [`schema`], [`similarity`] beneath it.
//! - [`embeddings`]: the model whose embeddings are compared.

pub mod address;
mod check_fields;
pub(crate) mod claims;
pub mod classes;
pub mod container;
pub mod embeddings;
pub mod extraction;
mod hosts;
pub mod jobs;
pub mod json;
pub mod judge;
pub mod mistake;
pub mod payment;
pub mod refusal;
pub mod request;
pub mod runners;
pub mod schema;
pub mod selection;
pub mod similarity;
pub(crate) mod submission;

/// The job was written wrongly: it cannot be done by anybody.
pub const FAULT_ACTOR: u64 = 1;

/// What the job needs was not there: an API, a model.
pub const FAULT_EXTERNAL: u64 = 2;

/// The job's bounds are too tight for it.
pub const FAULT_IMPOSSIBLE: u64 = 3;
