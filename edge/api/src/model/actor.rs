//! Actors: code, storage, mailbox, timers, logs, and questions to them.

use crate::hex_text::{HexAddress, HexBytes, HexHash};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// An actor: code that holds state and answers messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Actor {
    /// Its name.
    pub address: HexAddress,
    /// keccak256 of its canonical source.
    pub code_hash: HexHash,
    /// CBY in base units.
    pub balance: u64,
    /// How many actors it has deployed itself.
    pub nonce: u64,
    /// Messages that wait for it.
    pub mailbox_count: u64,
    /// Timers that live.
    pub timer_count: u64,
    /// The first entries of its storage: the key as text, or as hex where it is no text; the value decoded as in [`StorageEntry`].
    #[schema(value_type = Object)]
    pub storage: BTreeMap<String, serde_json::Value>,
    /// Bytes of code and storage that count toward its quota.
    pub storage_bytes: u64,
    /// The most bytes it may keep.
    pub storage_quota: u64,
    /// What its manifest grants.
    pub entitlements: Vec<Entitlement>,
    /// The owner's address.
    pub owner: HexAddress,
    /// The deployer's address.
    pub creator: HexAddress,
    /// The block it was deployed in.
    pub created_at: u64,
    /// `active`, or why it does not run.
    pub status: String,
    /// The names of its handlers.
    pub handlers: Vec<String>,
}

/// Actors, ascending by address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Actors {
    /// The rows.
    pub actors: Vec<ActorRow>,
    /// How many actors were ever deployed.
    pub total_count: u64,
    /// Give this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An actor in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActorRow {
    /// Its address.
    pub address: HexAddress,
    /// The name of its class; null where its source has none, or another actor deployed it.
    pub class_name: Option<String>,
    /// Who may change it.
    pub owner: HexAddress,
    /// The block it was deployed in.
    pub created_at: u64,
    /// `active`, or why it does not run.
    pub status: String,
    /// CBY in base units.
    pub balance: u64,
    /// Bytes of its storage.
    pub storage_bytes: u64,
    /// Timers that live.
    pub timer_count: u64,
}

/// One right that a manifest grants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Entitlement {
    /// Its name, like `storage.kv`.
    pub id: String,
    /// What narrows it. An object; empty where nothing does.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub params: serde_json::Value,
    /// Whether the registry plans to remove it.
    #[serde(default)]
    pub deprecated: bool,
}

/// An actor's source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Code {
    /// keccak256 of the source.
    pub code_hash: HexHash,
    /// The canonical source.
    pub source: String,
}

/// A page of an actor's storage, ascending by key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StoragePage {
    /// The entries.
    pub entries: Vec<StorageEntry>,
    /// Give this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One entry of an actor's storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StorageEntry {
    /// The key as text, or as hex where it is no text.
    pub key: String,
    /// The key.
    pub key_bytes: HexBytes,
    /// The value.
    pub value_bytes: HexBytes,
    /// The value decoded from canonical CBOR, with byte strings as hex; the bytes as hex where it is no CBOR.
    #[schema(value_type = Object)]
    pub value: serde_json::Value,
}

/// A page of the messages that wait for an actor, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MailboxPage {
    /// The messages.
    pub messages: Vec<Message>,
    /// Give this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    /// Its receipt's name, once it is delivered.
    pub id: HexHash,
    /// The transaction or timer it comes from.
    pub origin: HexHash,
    /// The sender's address.
    pub sender: HexAddress,
    /// The handler it is for.
    pub handler: String,
    /// Its argument.
    pub payload: HexBytes,
    /// CBY that go along, in base units.
    pub value: u64,
}

/// Timers, by height.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Timers {
    /// The timers.
    pub timers: Vec<Timer>,
    /// The total number of rows.
    pub total_count: u64,
}

/// A promise to run a handler at a height.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Timer {
    /// Its name.
    pub id: HexHash,
    /// The actor whose handler runs.
    pub actor: HexAddress,
    /// The height at which it fires.
    pub height: u64,
    /// Which handler runs. For a timer of the SDK the one that its payload names.
    pub handler: String,
    /// Blocks between two fires of an interval; null for a timer that fires once.
    #[serde(default)]
    pub every: Option<u64>,
    /// Fires of an interval that failed in a row; zero for a timer that fires once.
    #[serde(default)]
    pub failures: u64,
    /// Whether an interval is paused, until its actor resumes it. Its height is then where it expires.
    #[serde(default)]
    pub is_paused: bool,
    /// Its argument, as the chain keeps it.
    pub payload: HexBytes,
    /// Who scheduled it and pays for it: the actor itself, or the account of a transaction.
    pub fee_payer: HexAddress,
    /// The most cycles one fire may use.
    pub gas_limit: u64,
    /// The most cells one fire may use.
    #[serde(default)]
    pub cells_limit: u64,
    /// The last height at which it may fire; zero means never ends.
    pub expires_at: u64,
}

/// The events of an actor, oldest first unless `order=desc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Logs {
    /// The announcements.
    pub logs: Vec<Log>,
    /// The total number of rows.
    pub total_count: u64,
}

/// One announcement, with where it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Log {
    /// The block.
    pub block_height: u64,
    /// The block's time.
    pub timestamp_ms: u64,
    /// The receipt it stands in: a transaction's hash, or a delivery's.
    pub receipt: HexHash,
    /// Its place among the receipt's events, from 0.
    pub index: u32,
    /// The event.
    #[serde(flatten)]
    pub event: super::Event,
}

/// A question to an actor: a handler run on committed state that may write nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadHandler {
    /// The handler's name.
    pub selector: String,
    /// Its argument, in base64.
    #[serde(default)]
    #[schema(format = Byte)]
    pub payload: String,
    /// The most cycles it may use; the node's own bound where absent.
    #[serde(default)]
    pub max_cycles: Option<u64>,
    /// Answer only once the chain is at least this high.
    #[serde(default)]
    pub min_block: Option<u64>,
}

/// The arguments of a view of a system actor: an object, whose fields `/methods` describes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = Object)]
pub struct ViewArguments(pub serde_json::Value);

/// The answer of a view of a system actor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ViewAnswer {
    /// The height whose state it saw.
    pub block_height: u64,
    /// What it returned, in the form that `/methods` describes.
    #[schema(value_type = Object)]
    pub result: serde_json::Value,
    /// Cycles it used.
    pub cycles_used: u64,
}

/// The methods and events of the system actors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Methods {
    /// A system actor each: number, address, name, methods and events.
    #[schema(value_type = Vec<Object>)]
    pub actors: serde_json::Value,
}

/// The answer to a [`ReadHandler`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadAnswer {
    /// The height whose state it saw.
    pub block_height: u64,
    /// What the handler returned, in base64.
    #[schema(format = Byte)]
    pub result: String,
    /// Cycles it used.
    pub cycles_used: u64,
}
