//! 0x11, Container Registry: the images that jobs may run, and what a job says of its container (003 §5.2, §9, §12.2; A-234).
//!
//! Invariant: an image stands here by the digest of its manifest, so that what was looked at is what runs.

mod api;
pub mod handlers;
pub mod invariants;
pub mod state;

use crate::actor::Actor;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::CONTAINERS;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Container Registry",
    doc: "Container images that jobs may run, and classes of what they may use.",
    tables: &[api::METHODS],
    events: &[api::EVENTS],
    proposed: None,
};
