//! The validator set: who stakes, who signs, who is jailed (003 Validator Set, Staking and Rewards, Slashing; decisions 117 to 119).
//!
//! Its records and methods are those of 0x09, Governance. Life of a validator: it registers and waits, is active while it signs, leaves,
//! and withdraws after the unbonding time; a fault jails it in between. Who is dealt shares is fixed here; who signs is what came of the
//! dealing, and one set is paid, votes and attests: who signs in the running epoch (decision 382).
//!
//! Invariants: the stakes of all validators stand at one address without a key; the set of an epoch is fixed once, when the epoch begins,
//! and loses only members whose fault was proven; no fault is punished twice.

pub(crate) mod api;
pub mod epoch;
pub mod faults;
mod handlers;
pub mod inflation;
pub mod invariants;
pub mod possession;
pub mod state;
pub mod types;
