//! 0x06, Dual Basefee and Token Registry: the two base fees, what governance may do to single timers, and the protocol's tokens, with
//! keys of their own (003 §9, §5.1a).

pub(crate) mod api;
mod handlers;
pub mod invariants;

use crate::actor::Actor;
use crate::timers;
use crate::tokens::api as tokens;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::BASEFEE;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Dual Basefee and Token Registry",
    doc: "The base fees of both markets, single timers as governance sees them, and fungible tokens.",
    tables: &[api::METHODS, tokens::METHODS],
    events: &[api::EVENTS, timers::EVENTS, timers::OF_PAYERS, tokens::EVENTS],
    proposed: None,
};
