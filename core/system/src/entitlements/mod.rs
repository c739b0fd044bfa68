//! 0x07, Entitlement Registry: what manifests may grant, and who may do what (000 §9.10, §9.11; 002 §7).
//!
//! - [`grants`], [`manifests`], [`lifecycle`], [`needs`]: entitlements of manifests: curated sets, checks, removal, what the gate asks.
//! - [`open`]: records that their holder did not accept yet.
//! - [`permissions`], [`roles`], [`check`]: records of who may do what, named sets of them, and their use.
//! - [`state`]: what the actor keeps.
//!
//! Invariants: an actor's stored manifest passed [`manifests::check`]; an entitlement that was removed never comes back; every permission
//! and assignment stands in its holder's list, or counts among its grantor's open ones; a chain of delegations is never used more than its first link allows.

pub(crate) mod api;
pub mod check;
pub mod grants;
mod handlers;
pub mod invariants;
pub mod lifecycle;
pub mod manifests;
pub mod needs;
pub mod open;
pub mod permissions;
pub mod roles;
pub mod state;

use crate::actor::Actor;
pub use state::NUMBER;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Entitlement Registry",
    doc: "Entitlements of manifests as governance leaves them; pool access control and roles.",
    tables: &[api::METHODS],
    events: &[api::EVENTS],
    proposed: None,
};
