//! 0x0A, Storage Manager: what persistent storage costs (003 §4.4, §17.5, State Rent, Storage Quotas).
//!
//! - [`types`], [`state`]: the records, and where they stand.
//! - [`rent`]: what an actor owes, and collecting it, epoch by epoch.
//! - [`eviction`]: pruning an actor that does not pay, and bringing it back.
//! - [`handlers`]: what anybody may ask: prepay, pay a debt, post a bond, restore.
//!
//! Invariants: an actor has a rent account exactly while it stands in the directory of collections; what is prepaid and
//! what is bonded together never exceed what 0x0A holds; a dormant actor has neither storage nor timers once it is pruned.

pub mod eviction;
mod handlers;
pub mod rent;
pub mod state;
pub mod types;

use crate::actor::{Actor, Method};

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::STORAGE;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Storage Manager",
    doc: "Rent, quotas, eviction and restoration of persistent storage.",
    methods: &[
        Method {
            name: "get_rent",
            doc: "{actor} → {bond, debt, per_epoch, prepaid, quota, reserve, size, state, unpaid}: what an actor owes and has put down.",
            run: handlers::get_rent,
        },
        Method {
            name: "prepay",
            doc: "{actor}, with value → null: pays rent ahead, for any actor. Collections draw on it first.",
            run: handlers::prepay,
        },
        Method {
            name: "pay_debt",
            doc: "{actor}, with value → null: pays an actor's debt and the catch-up fee, exactly. Anybody may.",
            run: handlers::pay_debt,
        },
        Method {
            name: "set_quota",
            doc: "{actor, quota}, with value → null: extends or reduces a quota; the value is the bond that is missing, and what is too much goes back to who posted it. The actor or its owner.",
            run: handlers::set_quota,
        },
        Method {
            name: "restore",
            doc: "{actor, chunk, entries: [[key, value], …]} → {missing}: puts a pruned chunk back; the entries must be those that were pruned. Anybody may.",
            run: handlers::restore,
        },
    ],
};
