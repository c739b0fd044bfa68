//! 0x09, Governance: the parameters that the chain runs under, and its validators (003 §9, §13.1, Validator Set).
//!
//! A moved parameter takes effect in the next block: a block runs under one set of parameters.

pub mod actions;
pub(crate) mod api;
mod handlers;
pub mod invariants;
pub mod pauses;
mod proposals;
pub mod published;
pub mod state;
pub mod types;
mod upgrades;

use crate::actor::{Actor, Method};
use crate::staking;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::GOVERNANCE;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Governance",
    doc: "Parameters and who may move them; validators.",
    tables: &[api::METHODS, staking::api::METHODS, &[
        Method::untyped("propose", "{action, …} or {actions: [{action, …}, …]} (at most 16, all or nothing), with the tier's deposit as value → number. Actions: {action: set_parameter, name, value}, {action: call, actor, method, argument} as 0x09, {action: disburse, bucket, to, amount}, {action: set_council, members}, {action: circuit_break, actor}, {action: resume, actor}, {action: upgrade, version, height} and {action: cancel_upgrade, version}.", proposals::propose).payable(),
        Method::untyped("preview", "{action, …} or {actions: […]} → {deposit, error, events, tier}: what a proposal would do if it took effect now, and what it puts down. Nothing of it stays; error is null, or why it would fail.", proposals::preview).view(),
    ]],
    events: &[api::EVENTS, staking::api::EVENTS],
    proposed: None,
};
