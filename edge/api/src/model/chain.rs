//! The chain as a whole: health, fees, parameters, supply, validators.

use super::{LaneUsage, governance::Upgrade};
use crate::hex_text::{HexBytes, HexHash};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether the node is well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// `ok`.
    pub status: String,
}

/// How the node is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HealthDetailed {
    /// `ok`, or `waiting` where the node is not ready.
    pub status: String,
    /// What the node waits for, where it is not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// The program's version.
    pub version: String,
    /// The protocol version of the next block.
    #[serde(default)]
    pub protocol_version: u8,
    /// The newest protocol version that the program executes.
    #[serde(default)]
    pub protocol_newest: u8,
    /// The next protocol version that is scheduled, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Upgrade>,
    /// The number that signatures are bound to.
    pub chain_id: u64,
    /// The genesis that the chain grew from.
    pub genesis: HexHash,
    /// Whether this is a dev chain.
    pub dev: bool,
    /// The newest finalized height.
    pub height: u64,
    /// The newest block's name.
    pub block_hash: HexHash,
    /// The newest block's time.
    pub timestamp_ms: u64,
    /// `1000` and the like: milliseconds between blocks; `0` where blocks come as soon as there is work.
    pub block_time_ms: u64,
    /// Transactions that wait.
    pub mempool: u64,
    /// The validators beside this one.
    pub peers: u64,
    /// How many of them this node is connected to.
    #[serde(default)]
    pub peers_connected: u64,
    /// The newest consensus round that this node has seen since it started; 0 where it has seen none.
    #[serde(default)]
    pub view: u64,
    /// Milliseconds since the newest block came, or since the server started.
    #[serde(default)]
    pub last_block_age_ms: u64,
    /// Milliseconds since the node opened its state.
    pub uptime_ms: u64,
}

/// Whether the node can be sent transactions. Where it cannot, the answer is the error `not_ready`, whose context has `waits_for`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ready {
    /// Whether it can.
    pub ready: bool,
    /// The newest finalized height.
    pub height: u64,
}

/// The newest finalized height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Height {
    /// The height.
    pub height: u64,
}

/// What a chain began with. A follower builds everything else out of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Genesis {
    /// BLAKE3 of the configuration: the chain's identity.
    pub hash: HexHash,
    /// The configuration in its canonical encoding.
    pub config: HexBytes,
    /// The public half of the validators' shared secret: one point for each degree of its polynomial.
    pub sharing: HexBytes,
    /// The validators' group key, against which certificates verify: the first of these points, 96 bytes.
    pub group_key: HexBytes,
}

/// What a cycle and a cell cost in the next block, in base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BaseFee {
    /// The newest finalized height.
    pub height: u64,
    /// Burned for a cycle.
    pub cycle_basefee: u64,
    /// Burned for a cell.
    pub cell_basefee: u64,
    /// The same by lane, with the lane's multiplier.
    pub lanes: LaneFees,
}

/// Base fees by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LaneFees {
    /// Governance, validators, upgrades.
    pub system: LaneFee,
    /// Timers that fire.
    pub timer: LaneFee,
    /// Job results and callbacks.
    pub runner: LaneFee,
    /// Everything else.
    pub user: LaneFee,
}

/// Base fees of one lane, in base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LaneFee {
    /// Burned for a cycle.
    pub cycle: u64,
    /// Burned for a cell.
    pub cell: u64,
    /// What a block has for this lane.
    pub budget: LaneUsage,
}

/// Every number of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Parameters {
    /// The rows, by number.
    pub params: Vec<Parameter>,
    /// The total number of rows.
    pub total_count: u64,
}

/// One number of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Parameter {
    /// Its number.
    pub id: u16,
    /// `group.name`.
    pub name: String,
    /// Its value now.
    pub value: u64,
    /// Its value at genesis.
    pub genesis: u64,
    /// The least that governance may set.
    pub min: u64,
    /// The greatest that governance may set.
    pub max: u64,
    /// The unit.
    pub unit: String,
    /// Which kind of proposal may change it: `0`, `3` or `fixed`.
    pub tier: String,
    /// The section that gives it.
    pub source: String,
    /// What it is and what happens when it is reached.
    pub doc: String,
}

/// How many CBY there are, in base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Supply {
    /// The value at genesis.
    pub genesis: u64,
    /// Made since.
    pub minted: u64,
    /// Burned since.
    pub burned: u64,
    /// What is there now: genesis + minted − burned.
    pub circulating: u64,
    /// Of that, what the genesis buckets and the treasury still hold.
    pub locked: u64,
    /// Made in the newest block: rewards, and what set-balance gave on a dev chain.
    pub last_mint: u64,
}

/// Where the chain is in its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Epoch {
    /// The epoch by height: rewards are paid and the next set is fixed where it turns.
    pub epoch: u64,
    /// The epoch of the key that signs blocks.
    pub signing_epoch: u64,
    /// The view of the newest block.
    pub view: u64,
    /// The newest block's number.
    pub number: u64,
    /// Blocks of an epoch.
    pub length: u64,
}
