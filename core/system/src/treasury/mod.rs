//! 0x08, Treasury: holds what the protocol earns, and the book of all CBY (003 §8, §9).

pub(crate) mod api;
mod handlers;
pub mod invariants;
pub mod vesting;

use crate::actor::Actor;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::TREASURY;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Treasury",
    doc: "The protocol's own CBY, vesting schedules, and the book of all CBY.",
    tables: &[api::METHODS],
    events: &[api::EVENTS],
    proposed: None,
};
