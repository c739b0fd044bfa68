//! Accounts.

use crate::hex_text::{HexAddress, HexHash};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An account: who can sign, and what they hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Account {
    /// Its name.
    pub address: HexAddress,
    /// How many transactions it has sent; the next one carries this number.
    pub nonce: u64,
    /// CBY in base units.
    pub balance: u64,
}

/// What an account sent and received, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct History {
    /// The rows.
    pub entries: Vec<HistoryEntry>,
    /// Give this as `cursor` for older ones; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One receipt in an account's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryEntry {
    /// The receipt's name: a transaction's hash, or a delivery's.
    pub id: HexHash,
    /// `transaction`, `message`, `timer` or `callback`.
    pub kind: String,
    /// The block it is in.
    pub block_height: u64,
    /// The block's time.
    pub timestamp_ms: u64,
    /// `success` or `failed`.
    pub status: String,
    /// The requester.
    pub sender: HexAddress,
    /// The address that was called.
    pub target: HexAddress,
    /// Which handler; empty for a plain transfer.
    pub handler: String,
    /// CBY that went along, in base units.
    pub value: u64,
    /// What a transaction's instruction is called; absent for deliveries.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instruction: Option<String>,
}

/// Accounts and actors that appear in a receipt, ascending by address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Accounts {
    /// The rows.
    pub accounts: Vec<AccountRow>,
    /// Give this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An account in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AccountRow {
    /// Its address.
    pub address: HexAddress,
    /// How many transactions it has sent.
    pub nonce: u64,
    /// CBY in base units.
    pub balance: u64,
    /// Whether an actor lives there.
    pub is_actor: bool,
}

/// What a search found, best first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SearchResults {
    /// The results.
    pub results: Vec<SearchResult>,
}

/// One thing that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SearchResult {
    /// `name`, `class`, `handler`, `actor` or `account`: what the text is the beginning of.
    pub kind: String,
    /// The name, class, handler or address that begins with the text.
    pub text: String,
    /// The actor or account that it leads to.
    pub address: HexAddress,
}
