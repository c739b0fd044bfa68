//! What the measurements ask of a chain, whichever it is.

use crate::http::{Connection, Request};
use cowboy_types::{Address, signing::PrivateKey};
use std::io;

/// What a transaction of the load does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Moves one unit to [`RECIPIENT`].
    Transfer,
    /// Adds one to the counter.
    Count,
    /// Moves one unit to an account that nobody has used.
    Open,
}

/// Transactions of a sender: the first nonce, and the one after the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) key: &'a PrivateKey,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// Who receives the transfers.
pub(crate) const RECIPIENT: Address = Address([0xBE; 20]);

/// A chain under load.
pub(crate) trait Chain: Sync {
    /// The account's next nonce in committed state.
    fn nonce(&self, connection: &mut Connection, account: &Address) -> io::Result<u64>;

    /// What the work of these plans added up to so far: the recipient's balance, the counter, or the accounts that were opened.
    fn total(&self, connection: &mut Connection, work: Work, plans: &[Plan<'_>]) -> io::Result<u128>;

    /// A signed transaction.
    fn sign(&self, key: &PrivateKey, nonce: u64, work: Work) -> Vec<u8>;

    /// The request that submits these signed transactions.
    fn submit(&self, signed: &[Vec<u8>]) -> Request;

    /// The request that reads the counter.
    fn read(&self) -> Request;

    /// Submits one transaction and returns once its receipt is final.
    fn settle(&self, connection: &mut Connection, signed: &[u8]) -> io::Result<()>;

    /// Makes a chain continue that has stopped although its pool is not empty. Returns whether the chain needs it.
    fn nudge(&self, _connection: &mut Connection) -> io::Result<bool> {
        Ok(false)
    }
}

/// A field of an answer, or an error that shows the answer.
pub(crate) fn field<'a>(answer: &'a serde_json::Value, pointer: &str) -> io::Result<&'a serde_json::Value> {
    answer
        .pointer(pointer)
        .ok_or_else(|| io::Error::other(format!("no {pointer} in {}", answer.to_string().chars().take(300).collect::<String>())))
}
