//! 0x01, Runner Registry: who may do jobs, what stands for them, and how they did (002 §4; 003 §5.1, §5.2).
//!
//! Invariants: the actor's balance is the sum of all stakes, own, delegated and leaving, and of all models' deposits;
//! every runner stands once in the directory, until it left and gave way to another; a runner counts the jobs that name it as a member under way.

pub(crate) mod api;
pub mod attestations;
pub(crate) mod capacity;
pub mod delegations;
pub mod environments;
pub mod handlers;
pub mod invariants;
mod leaving;
pub mod models;
mod payouts;
pub mod reputation;

pub use crate::market::runners as state;
pub use cowboy_types::job::Runner;

use crate::actor::Actor;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::RUNNERS;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Runner Registry",
    doc: "Runner registration, staking, capabilities, health, reputation; published models.",
    tables: &[api::DECLARATIONS, api::METHODS],
    events: &[api::EVENTS],
    proposed: None,
};
