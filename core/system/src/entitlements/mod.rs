//! 0x07, Entitlement Registry: what manifests may grant, and who may do what (000 §9.10, §9.11; 002 §7).
//!
//! - [`state`]: what the actor keeps.
//! - [`grants`], [`lifecycle`], [`manifests`], [`nonexecutable`], [`needs`]: entitlements of manifests: curated sets, removal, checks, actors that
//!   no longer run, what the gate asks.
//! - `rulers`, `authority`: who rules an actor that grants, and who may grant in a scope.
//! - [`holders`], [`open`]: records of who may do what and the lists of their holders, and records that their holder did not accept yet.
//! - `validity`, `removal`: what a record depends on, and how records go.
//! - [`permissions`], [`roles`], `acceptance`, [`check`]: what is granted, in named sets too, accepted, and used. [`prices`]: what these cost.
//!
//! Invariants: an actor's stored manifest passed [`manifests::check`]; an entitlement that was removed never comes back; every permission
//! and assignment stands in its holder's list, or counts among its grantor's open ones; a role counts its assignments, and 0x07 has its deposit; a chain of delegations is never used more than its first link allows.

mod acceptance;
pub(crate) mod api;
mod authority;
pub mod check;
pub mod grants;
mod handlers;
pub mod holders;
pub mod invariants;
pub mod lifecycle;
pub mod manifests;
pub mod needs;
pub mod nonexecutable;
pub mod open;
pub mod permissions;
pub mod prices;
mod removal;
pub mod roles;
mod rulers;
pub mod state;
mod validity;

use crate::actor::Actor;
pub use state::NUMBER;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Entitlement Registry",
    doc: "Entitlements of manifests as governance leaves them; pool access control and roles.",
    tables: &[api::METHODS],
    events: &[api::EVENTS, api::PERMISSIONS, api::OF_ACTORS],
    proposed: None,
};
