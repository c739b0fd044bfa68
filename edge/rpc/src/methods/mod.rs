//! The handlers, by subject.

pub(crate) mod accounts;
pub(crate) mod actors;
pub(crate) mod blocks;
pub(crate) mod dev;
pub(crate) mod entitlements;
pub(crate) mod faucet;
pub(crate) mod governance;
pub(crate) mod jobs;
pub(crate) mod names;
pub(crate) mod node;
pub(crate) mod proofs;
pub(crate) mod rent;
pub(crate) mod search;
pub(crate) mod streams;
pub(crate) mod timers;
pub(crate) mod tokens;
pub(crate) mod transactions;
pub(crate) mod validators;
pub(crate) mod views;

use cowboy_api::model::{DEFAULT_LIMIT, MAX_LIMIT, MAX_OPERATIONS};
use serde::Deserialize;

// The node has its bound without the API, which names it.
const _: () = assert!(MAX_OPERATIONS == cowboy_node::reader::MAX_OPERATIONS, "the API names the operations that the node answers at most");

/// Which rows of a list to answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

impl Page {
    /// How many rows to answer at most.
    pub(crate) fn limit(&self) -> usize {
        limit(self.limit)
    }

    /// How many rows to look at from the beginning, at most a hundred times the longest answer.
    pub(crate) fn end(&self) -> usize {
        self.offset.saturating_add(self.limit()).min(100 * MAX_LIMIT)
    }

    /// The rows to answer.
    pub(crate) fn of<T>(&self, rows: impl IntoIterator<Item = T>) -> Vec<T> {
        rows.into_iter().skip(self.offset).take(self.limit()).collect()
    }
}

/// How many rows to answer at most.
pub(crate) fn limit(asked: Option<usize>) -> usize {
    asked.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT)
}

/// A count as JSON has it.
pub(crate) fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
