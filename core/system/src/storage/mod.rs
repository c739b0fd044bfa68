//! 0x0A, Storage Manager: what persistent storage costs (003 §4.4, §17.5, State Rent, Storage Quotas).
//!
//! - [`types`], [`state`]: the records, and where they stand.
//! - [`chunks`]: the pieces in which storage goes and comes back. `dormancy`: how an actor becomes dormant.
//! - [`rent`]: what an actor owes, and collecting it, epoch by epoch.
//! - [`eviction`]: pruning an actor that does not pay, and bringing it back.
//! - [`handlers`]: what anybody may ask: prepay, pay a debt, post a bond, restore.
//!
//! Invariants: an actor has a rent account exactly while it stands in the directory of collections; what is prepaid, also
//! for timers of accounts, and what is bonded together never exceed what 0x0A holds; a dormant actor has neither storage nor timers once it is pruned.

mod api;
pub mod chunks;
mod dormancy;
pub mod eviction;
mod handlers;
pub mod invariants;
pub mod rent;
pub mod state;
pub mod sweep;
pub mod types;

use crate::actor::Actor;
use crate::volumes;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::STORAGE;

/// The most bytes of a key that a scan of an actor's storage returns (CIP-6).
pub const SCANNABLE_KEY_BYTES: usize = 64;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Storage Manager",
    doc: "Rent, quotas, eviction and restoration of persistent storage; volumes.",
    tables: &[api::METHODS, volumes::api::METHODS],
    events: &[api::EVENTS, api::COLLECTION, volumes::api::EVENTS],
    proposed: None,
};
