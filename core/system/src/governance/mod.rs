//! 0x09, Governance: the parameters that the chain runs under, and its validators (003 §9, §13.1, Validator Set).
//!
//! A moved parameter takes effect in the next block: a block runs under one set of parameters.

pub mod actions;
pub(crate) mod api;
mod circuit;
mod handlers;
pub mod invariants;
mod named;
pub mod pauses;
mod proposals;
mod proposed;
pub mod published;
pub mod state;
pub mod types;
mod upgrades;

use crate::actor::Actor;
use crate::staking;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::GOVERNANCE;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Governance",
    doc: "Parameters and who may move them; validators.",
    tables: &[api::METHODS, staking::api::METHODS, api::PROPOSALS],
    events: &[api::EVENTS, staking::api::EVENTS],
    proposed: None,
};
