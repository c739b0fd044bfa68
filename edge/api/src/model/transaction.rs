//! Transactions and what came of them.

use crate::{
    error::ApiError,
    hex_text::{HexAddress, HexBytes, HexHash},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an account asked the chain to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Transaction {
    /// Its name, which is what the sender signed.
    pub hash: HexHash,
    /// `pending`, `success` or `failed`.
    pub status: String,
    /// What it waits for, in words, while it is pending: a nonce, a fee, funds, or room in a block.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waits: Option<String>,
    /// The block it is in; null while pending.
    pub block_height: Option<u64>,
    /// Its place in the block, from 0; null while pending.
    pub index: Option<u32>,
    /// The block's time; null while pending.
    pub timestamp_ms: Option<u64>,
    /// The chain it is for.
    pub chain_id: u64,
    /// How many transactions the sender sent before.
    pub nonce: u64,
    /// The sender.
    pub from: HexAddress,
    /// What to do.
    pub instruction: Instruction,
    /// The most cycles it may use.
    pub cycles_limit: u64,
    /// The most cells it may use.
    pub cells_limit: u64,
    /// The most the sender pays for a cycle, in base units.
    pub max_fee_per_cycle: u64,
    /// The most the sender pays for a cell, in base units.
    pub max_fee_per_cell: u64,
    /// The tip for a cycle, in base units.
    pub max_priority_fee_per_cycle: u64,
    /// The tip for a cell, in base units.
    pub max_priority_fee_per_cell: u64,
    /// Bytes of the caller's.
    pub metadata: HexBytes,
    /// r ‖ s ‖ v.
    pub signature: HexBytes,
    /// Accounts that signed too.
    pub additional_signers: Vec<HexAddress>,
    /// How many bytes it has.
    pub size: u64,
}

/// What a transaction asks for: a name and operands. Fields that a name has no use for are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Instruction {
    /// `System`, `Actor` or `Custom`.
    pub category: String,
    /// Its name within the category, like `Transfer`, `Deploy` or `Execute`.
    pub name: String,
    /// Its number within the category.
    pub number: u8,
    /// Whom it concerns: the recipient, the actor, the account.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<HexAddress>,
    /// CBY that move, in base units: a transfer's amount, an execution's value, a deployment's endowment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<u64>,
    /// Which handler runs; in a deployment, the init handler.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub handler: Option<String>,
    /// The handler's argument.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub payload: Option<HexBytes>,
    /// The argument decoded, from JSON or CBOR, where it is either.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<Object>)]
    pub payload_value: Option<serde_json::Value>,
    /// A deployment's source.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// A deployment's salt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub salt: Option<HexBytes>,
    /// A deployment's manifest, decoded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<Object>)]
    pub manifest: Option<serde_json::Value>,
    /// A new owner.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<HexAddress>,
    /// A timer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timer: Option<HexHash>,
    /// What else it says, by name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<Object>)]
    pub details: Option<serde_json::Value>,
    /// On dev chains: what runs as if `target` had signed it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(no_recursion)]
    pub inner: Option<Box<Instruction>>,
}

/// What came of a transaction, a message, a timer or a callback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    /// Its name: a transaction's hash, or a delivery's.
    pub tx_hash: HexHash,
    /// `transaction`, `message`, `timer` or `callback`.
    pub kind: String,
    /// `success` or `failed`.
    pub status: String,
    /// The transaction or timer where it began; its own name for a transaction.
    pub origin: HexHash,
    /// The delivery that sent the message, or asked for what is answered; null for transactions and timers, and where the node no
    /// longer knows.
    #[serde(default)]
    pub parent: Option<HexHash>,
    /// The block.
    pub block_height: u64,
    /// The block's name.
    pub block_hash: HexHash,
    /// Its place among the block's receipts, from 0.
    pub index: u32,
    /// The block's time.
    pub timestamp_ms: u64,
    /// The requester.
    pub sender: HexAddress,
    /// The address that was called.
    pub target: HexAddress,
    /// Which handler; empty for a plain transfer. For a timer of the SDK the one that its payload names; for an interval of an actor that
    /// defines `handle_timer`, that.
    pub handler: String,
    /// The argument of a message's, timer's or callback's handler, where the node still knows it; null for a transaction, which says
    /// it itself.
    #[serde(default)]
    pub payload: Option<HexBytes>,
    /// The argument decoded, from JSON or CBOR, where it is either. For a timer of the SDK what the handler gets of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<Object>)]
    pub payload_value: Option<serde_json::Value>,
    /// CBY that went along, in base units.
    pub value: u64,
    /// Compute used.
    pub cycles_used: u64,
    /// Cells used (bytes).
    pub cells_used: u64,
    /// The fee.
    pub fee: Fee,
    /// The actor it deployed, or null.
    pub created: Option<HexAddress>,
    /// What the handler returned.
    pub return_data: HexBytes,
    /// What the handler returned, decoded; null where it returned nothing or no CBOR.
    #[schema(value_type = Object)]
    pub return_value: serde_json::Value,
    /// The emitted events.
    pub events: Vec<Event>,
    /// Why it failed, or null. `context.trace` is the Python traceback where there is one.
    pub error: Option<ApiError>,
    /// What its handlers printed, at most 4 KiB; empty where the node no longer keeps the block's traces. The word of this node alone:
    /// prints are not part of consensus.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub printed: String,
    /// Names of the receipts of what it set off, as far as they are delivered.
    #[serde(default)]
    pub deliveries: Vec<HexHash>,
}

/// What a delivery cost and where the money went, in base units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Fee {
    /// The payer's address.
    pub payer: HexAddress,
    /// Paid for a cycle, tip included.
    pub cycle_price: u64,
    /// Paid for a cell, tip included.
    pub cell_price: u64,
    /// Reserved before it ran.
    pub reserved: u64,
    /// The base fees of what was used; gone for ever.
    pub burned: u64,
    /// The tip, paid to the proposer.
    pub tip: u64,
    /// Given back at once.
    pub refunded: u64,
    /// What it cost in the end: burned and tip.
    pub total: u64,
}

/// An event that an actor or the protocol emitted during a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// The emitter.
    pub emitter: HexAddress,
    /// The name.
    pub name: String,
    /// Its data: canonical CBOR.
    pub data: HexBytes,
    /// The data decoded, with byte strings as hex.
    #[schema(value_type = Object)]
    pub value: serde_json::Value,
}

/// What a delivery changed in the state, without its fee; nothing where the node no longer keeps the block's traces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateChanges {
    /// The changes, accounts first; of many only those that were written first.
    pub changes: Vec<StateChange>,
}

/// An entry of storage or a balance that a delivery changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateChange {
    /// The actor or account.
    pub address: HexAddress,
    /// The key in the actor's storage; null for the balance of the account.
    pub key_bytes: Option<HexBytes>,
    /// The value before; null where the key did not exist, and for a balance.
    pub before: Option<HexBytes>,
    /// The value after; null where the key was removed, and for a balance.
    pub after: Option<HexBytes>,
    /// The balance before, in base units; null for an entry of storage.
    pub balance_before: Option<u64>,
    /// The balance after, in base units; null for an entry of storage.
    pub balance_after: Option<u64>,
}
