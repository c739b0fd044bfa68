//! 0x0E, Route Registry: which actor answers to which name (004 §7).
//!
//! - [`label`], [`types`], [`state`]: what a name may look like, the records, and where they stand ([`crate::registrations`]).
//! - [`price`]: what a name costs, and at which stage of its life it is.
//! - [`api`]: the methods and events; [`handlers`] does them.
//! - [`domains`]: domains of other zones under which names are served; `claims` does their methods.
//! - [`release`]: deposits for names below others, and their return.
//!
//! Invariants: a record stands in the directory of names, and in that of its actor, exactly once; a name below another one
//! counts only under the registration that it was made under; 0x0E keeps the deposits of claims and of names below others, and no other CBY: fees are split at once.

mod api;
mod claims;
pub mod domains;
pub(crate) mod handlers;
pub mod invariants;
pub mod price;
pub mod release;

use crate::actor::Actor;
pub use crate::registrations::{NUMBER, label, state, types};

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Route Registry",
    doc: "Names, and the actors that answer to them.",
    tables: &[api::METHODS],
    events: &[api::EVENTS],
    proposed: None,
};
