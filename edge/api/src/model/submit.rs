//! Sending transactions, and trying them out.

use super::Receipt;
use crate::{
    error::ApiError,
    hex_text::{HexAddress, HexBytes, HexHash},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Signed transactions to submit, in their canonical encoding. One alone may also be the body itself (`application/octet-stream`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// The transactions, one at least.
    pub transactions: Vec<HexBytes>,
}

/// What came of a submission: one result for each transaction, in order. The status is 4xx only where all fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Submitted {
    /// The results.
    pub results: Vec<SubmitResult>,
}

/// What came of one submitted transaction: its hash, or why it was refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SubmitResult {
    /// The transaction's name, where the node took it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tx_hash: Option<HexHash>,
    /// Why it was refused, or why there is no receipt yet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ApiError>,
    /// What came of it; only where the request waits, and only once it is final.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub receipt: Option<Receipt>,
}

/// A transaction to try out on the newest state. Its signature is not looked at; a limit of zero means the most allowed, a price
/// of zero the current one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulate {
    /// The transaction in its canonical encoding.
    pub transaction: HexBytes,
}

/// What a transaction would do if it were alone in the next block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Simulated {
    /// The height whose state it saw.
    pub block_height: u64,
    /// What would come of it.
    pub receipt: Receipt,
    /// A limit that leaves room for a changed state and for the messages it sends: more than it used, at most the most allowed.
    pub cycles_limit: u64,
    /// The same for cells.
    pub cells_limit: u64,
    /// A maximum price that holds for a while of rising base fees.
    pub max_fee_per_cycle: u64,
    /// The same for cells.
    pub max_fee_per_cell: u64,
    /// What it would cost, in base units.
    pub fee: u64,
    /// What ran: deliveries in order, each with what it called.
    pub trace: Vec<String>,
}

/// A wish for CBY from the faucet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FaucetRequest {
    /// The recipient's address.
    pub address: HexAddress,
}

/// What the faucet sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FaucetAnswer {
    /// `success`.
    pub status: String,
    /// The transaction that pays, already final.
    pub tx_hash: HexHash,
    /// How much, in base units.
    pub amount: u64,
    /// How much, in CBY.
    pub amount_cby: u64,
}
