//! The methods and events of validators, which 0x09 answers.

use super::types::{Endpoint, Fault, NO_ENDPOINT};
use crate::actor::methods;
use crate::schema::{Form, Refused, Shape, events, form};
use cowboy_types::actors::GOVERNANCE as NUMBER;
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Text};

/// The faults that members attest; two headers of one round are evidence by themselves.
impl Form for Fault {
    const SHAPE: Shape = Shape::Word(&["double_vote", "invalid_proposal", "downtime"]);

    fn read(value: &Value) -> Result<Self, Refused> {
        let is_named = |fault: &Self| *fault != Self::Equivocation && value.as_text() == Some(fault.name());
        Self::ALL.into_iter().map(|(fault, ..)| fault).find(is_named).ok_or(Refused::WHOLE)
    }

    fn write(&self) -> Value {
        Value::text(self.name())
    }
}

form! {
    /// A validator.
    pub(crate) struct ValidatorState {
        /// Where it listens for other validators; all zeros where it does not say.
        endpoint: Endpoint,
        /// Whether its share of the running epoch is public: it is left out when the next set is fixed.
        is_share_public: bool,
        /// How often it was jailed.
        jailings: Count,
        /// Its Ed25519 public key.
        network_key: Fixed<32>,
        /// Its secp256k1 public key, compressed.
        signing_key: Fixed<33>,
        /// Its stake in base units of CBY.
        stake: Amount,
        /// waiting, active, leaving or jailed.
        status: Text<16>,
        /// The height from which one that leaves may withdraw, or one in jail may leave it.
        until: Option<Height>,
        /// Its BLS12-381 public key.
        vrf_key: Fixed<96>,
    }
}

methods! {
    /// What 0x09 is asked by and about validators.
    pub(crate) METHODS by NUMBER;

    /// Makes the sender a validator. It signs three epochs later where shares are dealt, else in the next epoch. The value is its stake. The proofs are signatures of both keys over
    /// the registration.
    "register_validator" RegisterValidator [payable] {
        /// Its secp256k1 public key, compressed: signs headers.
        signing_key: Fixed<33>,
        /// Its Ed25519 public key: speaks on the network and votes.
        network_key: Fixed<32>,
        /// The signature of the network key.
        network_proof: Fixed<64>,
        /// Its BLS12-381 public key: the proposer's VRF.
        vrf_key: Fixed<96>,
        /// The signature of the VRF key.
        vrf_proof: Fixed<48>,
        /// Where it listens for other validators: 16 bytes of IPv6 (IPv4 is mapped), then the port, big-endian; all zeros where it does
        /// not say.
        endpoint: Endpoint = NO_ENDPOINT,
    } -> ();

    /// Adds the value to the sender's stake.
    "add_stake" AddStake [payable] {} -> ();

    /// Changes where other validators find the sender. They read it when the next players are fixed.
    "edit_validator" EditValidator [] {
        /// Where it listens: 16 bytes of IPv6 (IPv4 is mapped), then the port, big-endian.
        endpoint: Endpoint,
    } -> ();

    /// Takes the sender out of the next set that is fixed. Returns the height from which it may withdraw: `consensus.unbonding` blocks after the end
    /// of the epoch in which it signs, and not before a jail is over. It is later where the sender signs in later epochs.
    "leave" Leave [] {} -> Height;

    /// Pays a validator that left its stake back, and returns the amount.
    "withdraw" Withdraw [] {} -> Amount;

    /// Lets the sender out of jail when its time is over; the next set that is fixed contains it.
    "unjail" Unjail [] {} -> ();

    /// Shows two headers of this chain, of one round and at most 604,800 blocks old, that one validator signed. Anybody may.
    "report_equivocation" ReportEquivocation [passing] {
        /// The validator.
        validator: Address,
        /// An encoded header.
        first: Vec<u8>,
        /// Another one of the same round.
        second: Vec<u8>,
    } -> ();

    /// A member says that another, in a round of this epoch and at most 604,800 rounds ago, double voted, proposed an invalid block or
    /// missed too much. Returns whether more than two thirds say so, which proves it.
    "attest_fault" AttestFault [] {
        /// The accused validator.
        validator: Address,
        /// The member for which the sender speaks, with the key that signs its headers; null where the member itself is the sender.
        witness: Option<Address>,
        /// What it did.
        fault: Fault,
        /// The round's epoch.
        epoch: u64,
        /// The round's view.
        view: u64,
    } -> bool;

    /// Returns a validator.
    "get_validator" GetValidator [view] {
        /// Its address.
        address: Address,
    } -> ValidatorState;
}

events! {
    /// What 0x09 emits about validators.
    pub(crate) EVENTS by NUMBER;

    /// An account became a validator.
    "validator.registered" Registered {
        /// Its stake in base units of CBY.
        stake: Amount,
        /// The validator.
        validator: Address,
    }

    /// A validator added to its stake.
    "validator.staked" Staked {
        /// Its stake in base units of CBY.
        stake: Amount,
        /// The validator.
        validator: Address,
    }

    /// A validator changed where it listens.
    "validator.edited" Edited {
        /// Its stake in base units of CBY.
        stake: Amount,
        /// The validator.
        validator: Address,
    }

    /// A validator gave notice.
    "validator.leaving" Leaving {
        /// Its stake in base units of CBY.
        stake: Amount,
        /// The validator.
        validator: Address,
    }

    /// A validator withdrew its stake.
    "validator.left" Left {
        /// What it was paid in base units of CBY.
        stake: Amount,
        /// The validator.
        validator: Address,
    }

    /// A validator left jail.
    "validator.unjailed" Unjailed {
        /// Its stake in base units of CBY.
        stake: Amount,
        /// The validator.
        validator: Address,
    }

    /// A fault was proven.
    "validator.jailed" Jailed {
        /// equivocation, double_vote, invalid_proposal or downtime.
        fault: Text<32>,
        /// What it lost in base units of CBY.
        slashed: Amount,
        /// The height from which it may leave jail.
        until: Height,
        /// The validator.
        validator: Address,
    }

    /// An epoch begins, and the share of one of its signers is public, because it could not be reached when it was dealt. It is left out
    /// when the next set is fixed.
    "validator.share_revealed" ShareRevealed {
        /// The epoch.
        epoch: Count,
        /// The validator.
        validator: Address,
    }

    /// Too few dealings of an epoch were in its blocks: its signers continue in the next epoch.
    "validator.dealing_failed" DealingFailed {
        /// The epoch that ends.
        epoch: Count,
    }
}
