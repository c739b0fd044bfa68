//! The validator set: who stakes, who signs, who is jailed (003 Validator Set, Staking and Rewards, Slashing; decisions 117 to 119).
//!
//! Its records and methods are those of 0x09, Governance. Life of a validator: it registers and waits, is active from the
//! next epoch on, leaves, and withdraws after the unbonding time; a fault jails it in between.
//!
//! Invariants: the stakes of all validators stand at one address without a key; a set is fixed once, at the beginning of
//! an epoch, signs two epochs later, and loses members that are jailed; no fault is punished twice.

pub(crate) mod api;
pub mod epoch;
pub mod faults;
mod handlers;
pub mod inflation;
pub mod possession;
pub mod state;
pub mod types;
