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
    /// The same in the terms of 003 §6.1; null where this node holds only the finalization of a later block.
    pub qc: Option<QuorumCertificate>,
    /// How final it is.
    pub finality: Finality,
    /// The consensus messages of the rounds since the parent's, in order.
    pub messages: Vec<ConsensusMessage>,
}

/// A quorum certificate with the fields of 003 §6.1. docs/consensus.md says how they follow from a threshold signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QuorumCertificate {
    /// The block.
    pub block_hash: HexHash,
    /// Its height.
    pub height: u64,
    /// The round in which the block was proposed.
    pub round: Round,
    /// The group's BLS12-381 signature of the round, the parent's view and the block's hash: a point on G1, 48 bytes.
    pub aggregated_signature: HexBytes,
    /// A bit for each signer of the epoch, ascending by key: who voted, as the proposer of the next block saw it. A threshold signature names
    /// nobody, so this is a claim. Null before there is a next block.
    pub signer_bitmap: Option<HexBytes>,
}

/// A round of consensus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Round {
    /// The epoch.
    pub epoch: u64,
    /// The view, counted in the epoch.
    pub view: u64,
}

/// What the validators said in a round, in the terms of 003 §6.1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConsensusMessage {
    /// `PROPOSE`: the leader proposed the block. `VOTE`: 2f + 1 voted for it. `NEW_VIEW`: 2f + 1 gave the round up.
    pub kind: String,
    /// The round.
    pub round: Round,
    /// The leader's Ed25519 key (`PROPOSE`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<HexBytes>,
}

/// How final a block is. This node serves final blocks only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finality {
    /// `finalized`: 2f + 1 validators finalized it, or a block after it. `committed`: its direct child has a quorum certificate as well.
    pub state: FinalityState,
    /// The height of the nearest block, from this one on, whose finalization this node holds; null while it is on its way.
    pub finalized_by: Option<u64>,
    /// The direct child, which has a quorum certificate; null for the newest block.
    pub committed_by: Option<HexHash>,
}

/// The states of a final block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinalityState {
    /// Final by the engine's rule.
    Finalized,
    /// Final by the two-chain rule of 003 §6.1 as well.
    Committed,
}

/// The part of a block that is signed and voted on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Header {
    /// The version of the protocol under which the block was executed.
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
    /// BLAKE3 of the encoded transactions, signatures included.
    pub body: HexHash,
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
    /// How many blocks this node has, genesis left out.
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
    /// Who voted for the parent, as the proposer saw it: a bitmap of the epoch's signers in the order of their keys.
    pub voters: HexBytes,
    /// The consensus messages of the rounds since the parent's, in order.
    pub messages: Vec<ConsensusMessage>,
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
