//! Proofs that verify against a finalized header, without trusting the node.

use crate::hex_text::{HexAddress, HexBytes, HexHash};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A proof, and what it takes to verify it: a header whose root it leads to, the headers from there to one that is finalized,
/// and that finalization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Proof {
    /// The height of the header that the proof leads to.
    pub height: u64,
    /// `state`, `transaction` or `receipt`: which of the header's roots.
    pub root: String,
    /// The proven records.
    pub items: Vec<ProofItem>,
    /// The headers from `height` to the finalized one, in their canonical encoding.
    pub headers: Vec<HexBytes>,
    /// The finalization of the last header, as the engine encodes it.
    pub finalization: HexBytes,
}

/// One proven thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProofItem {
    /// The state's key, or the transaction's or receipt's digest.
    pub key: HexHash,
    /// The record, or null where the proof says that there is none.
    pub value: Option<HexBytes>,
    /// The proof, as the light client decodes it.
    pub proof: HexBytes,
}

/// Keys of the state to prove at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProofRequest {
    /// Accounts.
    #[serde(default)]
    pub accounts: Vec<HexAddress>,
    /// Actors.
    #[serde(default)]
    pub actors: Vec<HexAddress>,
    /// Entries of storage.
    #[serde(default)]
    pub storage: Vec<StorageKey>,
    /// Records of system actors, by the name that the actor gives them.
    #[serde(default)]
    pub records: Vec<StorageKey>,
}

/// An entry of an actor's storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StorageKey {
    /// The actor's address.
    pub address: HexAddress,
    /// The entry's key.
    pub key: HexBytes,
}

/// The most keys of a [`ProofRequest`].
pub const MAX_PROOF_KEYS: usize = 256;
