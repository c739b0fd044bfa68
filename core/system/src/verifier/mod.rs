//! 0x03, Result Verifier: commitments and revelations, what they come to, challenges, and the answers (002 §8, §9; 003 §5.3).
//!
//! Invariant: the actor's balance is the sum of the bonds of challenges under way.
//!
//! - [`judge`]: the modes, as pure functions over results; [`json`], [`schema`], [`similarity`] beneath it.
//! - [`handlers`]: commit, reveal, attest.
//! - [`challenges`]: claims that an accepted result is dishonest.

mod api;
pub mod challenges;
pub mod handlers;
pub mod json;
pub mod judge;
pub mod schema;
pub mod similarity;
pub mod state;

use crate::actor::Actor;
use crate::dispatcher::api::VERIFIER_EVENTS;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::VERIFIER;

/// The job was written wrongly: it cannot be done by anybody.
pub const FAULT_ACTOR: u64 = 1;

/// What the job needs was not there: an API, a model.
pub const FAULT_EXTERNAL: u64 = 2;

/// The job's bounds are too tight for it.
pub const FAULT_IMPOSSIBLE: u64 = 3;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Result Verifier",
    doc: "Commit and reveal, verification, challenges, callbacks.",
    tables: &[api::METHODS],
    events: &[api::EVENTS, VERIFIER_EVENTS],
};
