//! 0x04, Secrets Manager: proxies, the committee that holds the key, secrets, and their releases (003 §9; decisions 138 to 148).
//!
//! A secret is sealed to an identity under a key that no one has whole. A committee of proxies holds its shares, and deals them again to another
//! committee after a while; the key stays. A release gives one recipient the right to the committee's answers, encrypted to a key of the
//! recipient. This actor never sees a value or a share: it keeps sealed bytes, who may get them, who got them, and who of the proxies did
//! what.
//!
//! - [`types`], [`state`]: the records, and where they stand.
//! - [`api`], `forms`: the methods and events, and what they return.
//! - `proxies`: registering, heartbeats, leaving.
//! - [`round`]: the record of a dealing, and its phases. `dealing`: its messages.
//! - `committee`: draws, and what the end of a dealing changes.
//! - `vault`: storing, pausing, deleting secrets.
//! - `releases`: releases, receipts, demands, accusations. [`standing`]: whether one has to be answered.
//! - [`jobs`]: secrets of jobs.
//! - `views`: what others read.
//! - [`agenda`]: what happens without anybody asking.
//!
//! Invariants: the actor holds all stakes, deposits, fees and bonds; every key and every release stands once in the agenda; the committee of a
//! key has as many members as its polynomial has shares for.

pub mod agenda;
pub(crate) mod api;
pub(crate) mod committee;
mod dealing;
mod forms;
pub mod invariants;
pub mod jobs;
mod proxies;
pub(crate) mod releases;
pub mod round;
pub mod standing;
pub mod state;
pub mod types;
mod vault;
mod views;

use crate::actor::Actor;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::SECRETS;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Secrets Manager",
    doc: "Proxies, the committee that they form, secrets, and their threshold release.",
    tables: &[api::METHODS],
    events: &[api::EVENTS],
    proposed: None,
};
