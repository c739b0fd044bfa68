//! A guest book: the smallest system actor that has all that one may have. It exists in tests only, and shows what a new one takes:
//! this folder, and at most five lines outside it.

mod api;
mod handlers;
mod state;
#[cfg(test)]
mod tests;

use crate::actor::Actor;

/// The actor's number.
pub(crate) const NUMBER: u8 = 0xFE;

/// The actor.
pub(crate) const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Guest Book",
    doc: "Counts who was here.",
    tables: &[api::METHODS],
    events: &[api::EVENTS],
    proposed: None,
};
