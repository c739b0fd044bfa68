//! Names and gateways.

use crate::hex_text::HexAddress;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A name, and what answers to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Name {
    /// The name.
    pub name: String,
    /// The actor that answers.
    pub actor_address: HexAddress,
    /// The owner's address.
    pub owner: HexAddress,
    /// The height of registration.
    pub registered_at: u64,
    /// The first height at which it no longer counts.
    pub expires_at: u64,
    /// Who makes names below it: 0 its owner, 1 its actor, 2 anybody.
    pub subdomain_policy: u64,
    /// `live`, `grace`, `auction` or `free`; `void` below a name that is somebody else's now.
    pub stage: String,
    /// What a year costs whoever registers it now, in base units.
    pub fee: u64,
    /// Whether DNS can carry it: a label of 64 letters is served by its host header only.
    pub is_dns: bool,
    /// Requests that the gateway in the node's own process answered under the name; nothing where there is none.
    #[serde(default)]
    pub requests_served: Option<u64>,
    /// Where the gateway in the node's own process serves it; nothing where there is none.
    #[serde(default)]
    pub url: Option<String>,
}

/// Names, ascending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Names {
    /// The rows.
    pub names: Vec<Name>,
    /// The total number of rows.
    pub total_count: u64,
}

/// The names of an actor, ascending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActorNames {
    /// The names.
    pub names: Vec<Name>,
    /// Give this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Gateway {
    /// Its account.
    pub address: HexAddress,
    /// Host name or address.
    pub endpoint: String,
    /// The port of its web server.
    pub http_port: u64,
    /// What it staked, in base units.
    pub stake_amount: u64,
    /// What is left of its health.
    pub health: u64,
    /// Whether it may dispatch.
    pub is_active: bool,
    /// The height of its newest heartbeat.
    pub last_heartbeat: u64,
    /// The height of its registration.
    pub registered_at: u64,
    /// From when on its stake is free, where it is leaving.
    pub leaving: Option<u64>,
}

/// Gateways that are, or lately were, active.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Gateways {
    /// The rows, by address.
    pub gateways: Vec<Gateway>,
    /// The total number of rows.
    pub total_count: u64,
    /// What waits in the serving-fee pool, in base units.
    pub pool: u64,
}
