//! What only dev chains do.

use crate::hex_text::{HexAddress, HexBytes};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A wish for blocks now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Mine {
    /// How many; one where absent.
    #[serde(default = "one")]
    pub blocks: u64,
}

fn one() -> u64 {
    1
}

/// A wish to be later. Every timer on the way fires in order. Exactly one field is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Warp {
    /// The height to be at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
    /// How many heights to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// The time to be at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_ms: Option<u64>,
}

/// The chain kept at a moment, to come back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Snapshot {
    /// Its number; give it to revert.
    pub id: u64,
    /// The height it was taken at.
    pub height: u64,
}

/// A wish to be back at a snapshot, which is used up by it, as are all newer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Revert {
    /// The snapshot's number.
    pub id: u64,
}

/// A balance to set. What that makes or destroys counts as minted or burned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetBalance {
    /// The account's address.
    pub address: HexAddress,
    /// What it becomes, in base units.
    pub balance: u64,
}

/// An instruction to run as if another account had signed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Impersonate {
    /// The account that appears as the sender.
    pub sender: HexAddress,
    /// A System or Actor instruction in its canonical encoding.
    pub instruction: HexBytes,
}
