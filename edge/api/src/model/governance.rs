//! Who decides and who stakes: proposals, council, timelocks, validators, rent.

use crate::hex_text::{HexAddress, HexBytes, HexHash};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Proposals, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Proposals {
    /// The proposals.
    pub proposals: Vec<Proposal>,
    /// How many were ever made.
    pub total_count: u64,
}

/// A change that its proposer asks the validators for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Proposal {
    /// Its number, from 0.
    pub id: u64,
    /// The proposer's address.
    pub proposer: HexAddress,
    /// `0` or `3`: how many must agree, and how long it takes.
    pub tier: u8,
    /// What it does: all of it or nothing.
    pub actions: Vec<ProposedAction>,
    /// CBY that its proposer put down, in base units; 0 once it is counted.
    pub deposit: u64,
    /// `voting`, `queued`, `executed`, `failed`, `rejected` or `cancelled`.
    pub stage: String,
    /// From which height it can be counted (`voting`) or take effect (`queued`).
    pub height: Option<u64>,
    /// Whether the council shortened its way.
    pub is_fast: bool,
    /// Whether it is the vote on a pause that the council began.
    pub is_ratification: bool,
    /// The epoch in which it was made.
    pub epoch: u64,
    /// The ballots.
    pub ballots: Vec<Ballot>,
    /// Members of the council that want it stopped.
    pub cancel: Vec<HexAddress>,
    /// Members of the council that want it quick.
    pub fast_track: Vec<HexAddress>,
}

/// What a proposal does; the fields that its `action` has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProposedAction {
    /// `set_parameter`, `disburse`, `set_council`, `call`, `circuit_break`, `resume`, `upgrade` or `cancel_upgrade`.
    pub action: String,
    /// The parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the parameter becomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// The genesis bucket that pays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
    /// Who is paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<HexAddress>,
    /// How much, in base units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<u64>,
    /// The council's new members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<HexAddress>>,
    /// The system actor that is called, paused or resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<HexAddress>,
    /// The method that is called as 0x09.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The method's argument, canonical CBOR.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<HexBytes>,
    /// The protocol version that is scheduled or cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u8>,
    /// The first height at which the version applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
}

/// The protocol versions of the chain and of this node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Upgrades {
    /// The version of the next block.
    pub version: u8,
    /// The newest version that this node executes.
    pub newest_known: u8,
    /// Every version that governance scheduled, ascending, those that apply already included.
    pub scheduled: Vec<Upgrade>,
}

/// A protocol version that governance scheduled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Upgrade {
    /// The version.
    pub version: u8,
    /// The first height at which it applies.
    pub height: u64,
    /// Whether this node executes it. If not, it stops before the height.
    pub is_known: bool,
    /// What the version changes; empty where it is not known.
    pub about: String,
}

/// A member's vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ballot {
    /// The voter's address.
    pub voter: HexAddress,
    /// `yes`, `no` or `abstain`.
    pub choice: String,
}

/// The security council.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Council {
    /// Its members, ascending; nobody until a proposal names them.
    pub members: Vec<HexAddress>,
    /// How many it has once it is named.
    pub size: u64,
    /// The number of members that must agree.
    pub threshold: u64,
}

/// What a parameter became, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ParameterHistory {
    /// `group.name`.
    pub name: String,
    /// Its changes, the newest last; only the newest are kept.
    pub changes: Vec<ParameterMove>,
}

/// One change of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ParameterMove {
    /// When it was decided; it holds from the next block on.
    pub height: u64,
    /// The new value.
    pub value: u64,
    /// The proposal that did it.
    pub proposal: u64,
}

/// Who stakes, and who agrees on blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Validators {
    /// The validators, ascending by consensus key.
    pub validators: Vec<Validator>,
    /// The total number of rows.
    pub total_count: u64,
    /// The epoch whose set is paid, votes and attests.
    pub set_epoch: u64,
    /// CBY that this set stakes, in base units.
    pub set_stake: u64,
    /// The epoch of the next block, whose signers have `is_signing`.
    pub epoch: u64,
    /// Whether shares were dealt successfully in the epoch before. If not, the signers of that epoch continue.
    pub is_dealt: bool,
}

/// One who stakes to agree on blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Validator {
    /// Its account, which stakes and is paid.
    pub address: HexAddress,
    /// The address of the secp256k1 key that signs its headers.
    pub signer: HexAddress,
    /// Its Ed25519 consensus key.
    pub consensus_key: HexBytes,
    /// Its BLS key, for ordering transactions.
    pub bls_key: HexBytes,
    /// CBY it stakes, in base units.
    pub stake: u64,
    /// `waiting`, `active`, `leaving` or `jailed`; `withdrawn` for one that signs and no longer stakes.
    pub status: String,
    /// From which height it may withdraw (`leaving`) or ask to be let out (`jailed`).
    pub until: Option<u64>,
    /// How often it was jailed.
    pub jailings: u64,
    /// Whether it belongs to the running set: it is paid, votes on proposals and attests faults. One in jail may sign and does not.
    pub in_set: bool,
    /// Whether it holds a share of the key that signs blocks.
    pub is_signing: bool,
    /// Whether this share is public: the validator did not acknowledge it in time, because it was behind or could not be reached.
    pub is_share_public: bool,
    /// The accounts of the validators that had no acknowledgement from it when this share was dealt, as far as the node has seen their logs since it
    /// started; none unless the share is public.
    #[serde(default)]
    pub unacknowledged_by: Vec<HexAddress>,
    /// Why the next set that is fixed leaves it out: `share_revealed` or `dealing_failed`.
    pub left_out: Option<String>,
    /// Where other validators reach it, as it says on chain.
    pub network_address: Option<String>,
    /// How far it is on its way to a share.
    pub share: ShareProgress,
}

/// How far a validator is on its way to a share of the key that signs blocks. Heights that do not apply are absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShareProgress {
    /// `bonded`: it stakes, and is not chosen yet. `chosen`: it will receive a share. `receiving`: it receives one in this epoch.
    /// `signing`: it has one. `none`: it does not stake any more, or is in jail.
    pub stage: String,
    /// The height at which it was chosen, or can be (`bonded`).
    pub chosen_at: Option<u64>,
    /// The first height of the epoch in which it receives the share.
    pub receives_from: Option<u64>,
    /// The height from which it signs, if the dealing succeeds.
    pub signs_from: Option<u64>,
}

/// What an actor owes for its storage, and what it has put down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Rent {
    /// The actor.
    pub actor: HexAddress,
    /// `paid`, `overdue`, `eviction_imminent`, `dormant`, or `exempt` for a system actor.
    pub state: String,
    /// Bytes of its code, its manifest with those that it had before, and its storage.
    pub size: u64,
    /// Bytes of storage it may have.
    pub quota: u64,
    /// Rent of one epoch, in base units.
    pub per_epoch: u64,
    /// The epoch at whose beginning rent is collected next; absent for an actor without a rent account, or that owes nothing.
    pub next_epoch: Option<u64>,
    /// The rent epoch of the newest block.
    pub epoch: u64,
    /// Paid ahead, in base units.
    pub prepaid: u64,
    /// Rent that was not paid, in base units.
    pub debt: u64,
    /// How many epochs that is.
    pub unpaid: u64,
    /// The bond for a quota beyond the base, in base units.
    pub bond: u64,
    /// What it may not spend: about five weeks of rent, in base units.
    pub reserve: u64,
    /// Pruned pieces that are missing; 0 unless it is dormant.
    pub missing: u64,
}

/// Pruned pieces of an actor's storage that are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MissingChunks {
    /// Those among the numbers that were asked for.
    pub chunks: Vec<MissingChunk>,
    /// How many pieces there were.
    pub total: u64,
}

/// A pruned piece of an actor's storage that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MissingChunk {
    /// Its number, from 0.
    pub number: u64,
    /// Keccak-256 of its bytes, as the state has it.
    pub hash: HexHash,
}

/// A pruned piece of storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Chunk {
    /// Its hash.
    pub hash: HexHash,
    /// What the hash is of: each key and each value behind its length, four bytes, big-endian.
    pub bytes: HexBytes,
}
