//! 0x08, Treasury: holds what the protocol earns, and the book of all CBY (003 §8, §9).

mod handlers;

use crate::actor::{Actor, Method};

/// The actor's number.
pub const NUMBER: u8 = 0x08;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Treasury",
    doc: "The protocol's own CBY, vesting schedules, and the book of all CBY.",
    methods: &[Method {
        name: "get_supply",
        doc: "{} → {burned, genesis, minted}: all CBY there are, in base units.",
        run: handlers::get_supply,
    }],
};
