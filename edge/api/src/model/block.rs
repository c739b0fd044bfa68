//! Blocks.

use super::{Receipt, Transaction};
use crate::hex_text::{HexBytes, HexHash};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A finalized block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Block {
    /// Its name: BLAKE3 of the header.
    pub hash: HexHash,
    /// Its place in the chain.
    pub height: u64,
    /// The part that is voted on.
    pub header: Header,
    /// What was asked, in the order of execution.
    pub transactions: Vec<Transaction>,
    /// What came of it: the transactions' receipts in order, then those of messages, timers and callbacks.
    pub receipts: Vec<Receipt>,
    /// The finalization by the validators, as the engine encodes it; null where this node holds only a later one.
    pub certificate: Option<HexBytes>,
}

/// The part of a block that is signed and voted on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Header {
    /// The format's version.
    pub version: u8,
    /// The genesis that the chain grew from.
    pub genesis: HexHash,
    /// The epoch of the round it was proposed in.
    pub epoch: u64,
    /// The view of the round it was proposed in.
    pub view: u64,
    /// The proposer's Ed25519 key.
    pub proposer: HexBytes,
    /// The block before.
    pub parent: HexHash,
    /// How many blocks stand between genesis (0) and this one.
    pub number: u64,
    /// Heights that a dev chain jumped over so far.
    pub skipped: u64,
    /// The proposer's clock.
    pub timestamp_ms: u64,
    /// The seeds of the rounds since the parent; the last is the beacon of this block.
    pub seeds: Vec<HexBytes>,
    /// The signature whose hash orders the transactions.
    pub proposer_vrf: HexBytes,
    /// Base units burned for a cycle.
    pub base_fee_cycle: u64,
    /// Base units burned for a cell.
    pub base_fee_cell: u64,
    /// The use of each lane.
    pub usage: Usage,
    /// Keccak tree over the transactions' hashes.
    pub tx_root: HexHash,
    /// Keccak tree over the receipts' hashes.
    pub receipt_root: HexHash,
    /// BLAKE3 root of the state after the block.
    pub state_root: HexHash,
    /// Root of the log of state operations.
    pub ops_root: HexHash,
    /// Who voted for the parent, as the proposer saw it: a bitmap.
    pub voters: HexBytes,
    /// The header's canonical bytes: what the hash is of.
    pub encoded: HexBytes,
}

/// What the lanes of a block used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    /// Governance, validators, upgrades.
    pub system: LaneUsage,
    /// Timers that fired.
    pub timer: LaneUsage,
    /// Job results and callbacks.
    pub runner: LaneUsage,
    /// Everything else, deliveries included.
    pub user: LaneUsage,
}

/// What one lane used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LaneUsage {
    /// Compute.
    pub cycles: u64,
    /// Cells (bytes).
    pub cells: u64,
}

/// Blocks, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Blocks {
    /// The rows.
    pub blocks: Vec<BlockSummary>,
    /// How many blocks there are, genesis left out.
    pub total_count: u64,
}

/// A block in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlockSummary {
    /// Its name.
    pub hash: HexHash,
    /// Its place in the chain.
    pub height: u64,
    /// The proposer's clock.
    pub timestamp_ms: u64,
    /// The proposer's Ed25519 key.
    pub proposer: HexBytes,
    /// How many transactions it has.
    pub transaction_count: u64,
    /// How many receipts it has: transactions, messages, timers and callbacks.
    pub receipt_count: u64,
    /// Cycles used, all lanes.
    pub cycles_used: u64,
    /// Cells used, all lanes.
    pub cells_used: u64,
    /// The use of each lane.
    pub usage: Usage,
    /// Base units burned for a cycle.
    pub base_fee_cycle: u64,
    /// Base units burned for a cell.
    pub base_fee_cell: u64,
}
