//! Volumes at 0x0A, and the relays at 0x0B that keep them (003 §7, §17.6; decisions 149 to 161).
//!
//! A volume has k + m slots, each with one relay, and shard i of every file lies at slot i. So the chain knows who holds what without knowing any
//! file: it keeps one root for each partition, pays each slot by the bytes under the roots, and draws bytes that relays have to show.
//!
//! - [`types`], [`state`]: the records, and where they stand.
//! - [`api`], [`relay_api`], `forms`: the methods and events, and what they return.
//! - `status`: whose a volume is, and how it stands. `owners`: creating, funding, handing over, deleting.
//! - `commits`, `capabilities`, [`mounts`]: roots, who may write them, and runners that may for a job.
//! - `keys`: the keys of partitions, which the committee of secrets makes.
//! - `ledger`: what a slot costs, and who is paid.
//! - `registry`: relays.
//! - `placement`: which relay has which slot.
//! - [`directory`]: which byte of a relay is of which volume.
//! - [`proofs`], `demands`: what relays have to show.
//! - `views`: what others read.
//! - [`agenda`]: what happens without anybody asking.
//!
//! Invariants: 0x0A has every escrow, and 0x0B stakes, bonds and the pool; the slots of a volume are of different relays; a relay's directory has
//! its slots, each with the volume's bytes, and its sums are theirs; volumes, relays, demands and capabilities of jobs stand once in the agenda.

pub mod agenda;
pub(crate) mod api;
mod capabilities;
mod commits;
mod demands;
pub mod directory;
pub(crate) mod forms;
pub mod invariants;
pub mod keys;
mod ledger;
pub mod mounts;
mod owners;
mod placement;
pub mod proofs;
mod registry;
pub(crate) mod relay_api;
pub mod state;
mod status;
pub mod types;
mod views;

pub use registry::offered;

use crate::actor::Actor;
use cowboy_types::actors;

/// The actor of relays. Volumes are part of the Storage Manager.
pub const RELAYS: Actor = Actor {
    number: actors::RELAYS,
    name: "Relay Registry",
    doc: "Relays, the slots that they keep, and what they have to prove.",
    tables: &[relay_api::METHODS],
    events: &[relay_api::EVENTS],
    proposed: None,
};
