//! 0x03, Result Verifier: commitments and revelations, what they come to, challenges, and the answers (002 §8, §9; 003 §5.3).
//!
//! Invariant: the actor's balance is the sum of the bonds of challenges under way.
//!
//! - [`handlers`]: commit, reveal, attest.
//! - [`challenges`]: claims that an accepted result is dishonest.

pub(crate) mod api;
pub mod challenges;
pub mod handlers;
pub mod invariants;

use crate::actor::Actor;
use crate::dispatcher::api::VERIFIER_EVENTS;

pub use crate::market::{FAULT_ACTOR, FAULT_EXTERNAL, FAULT_IMPOSSIBLE, embeddings as state, json, judge, schema, similarity};

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::VERIFIER;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Result Verifier",
    doc: "Commit and reveal, verification, challenges, callbacks.",
    tables: &[api::METHODS],
    events: &[api::EVENTS, VERIFIER_EVENTS],
    proposed: Some(challenges::proposed),
};
