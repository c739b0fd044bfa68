//! 0x0E, Route Registry: which actor answers to which name (004 §7).
//!
//! - [`label`], [`types`], [`state`]: what a name may look like, the records, and where they stand ([`crate::registrations`]).
//! - [`price`]: what a name costs, and at which stage of its life it is.
//! - [`handlers`]: the methods.
//!
//! Invariants: a record stands in the directory of names, and in that of its actor, exactly once; a name below another one
//! counts only under the registration that it was made under; 0x0E keeps no CBY: what comes along is split at once.

pub(crate) mod handlers;
pub mod price;

use crate::actor::{Actor, Method};
pub use crate::registrations::{NUMBER, label, state, types};

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Route Registry",
    doc: "Names, and the actors that answer to them.",
    methods: &[
        Method {
            name: "register",
            doc: "{name, actor_address, duration_blocks}, with the fee as value → registration: takes a free name for an actor. The actor or its owner; below another name, whoever that name's policy lets. What is paid too much goes back.",
            run: handlers::register,
        },
        Method {
            name: "renew",
            doc: "{name, duration_blocks}, with the fee as value → registration: extends a name from its present expiry. Anybody may pay.",
            run: handlers::renew,
        },
        Method { name: "transfer", doc: "{name, new_owner} → registration: hands a name on. Its owner only.", run: handlers::transfer },
        Method {
            name: "set_actor",
            doc: "{name, actor_address} → registration: points a name to another actor that has ingress.http. Its owner only.",
            run: handlers::set_actor,
        },
        Method {
            name: "set_subdomain_policy",
            doc: "{name, policy} → registration: 0 only the owner names what is below, 1 the actor does, 2 anybody may. Its owner only.",
            run: handlers::set_policy,
        },
        Method {
            name: "resolve",
            doc: "{name} → address or null: the actor that answers to a name, its own record or else the nearest one above it.",
            run: handlers::resolve,
        },
        Method {
            name: "lookup",
            doc: "{actor_address} → [name]: the names of an actor, at most `names.lookup_max`.",
            run: handlers::lookup,
        },
        Method {
            name: "quote",
            doc: "{name, duration_blocks} → {fee, stage}: what registering or renewing would cost in this block.",
            run: handlers::quote,
        },
        Method {
            name: "get_name", doc: "{name} → registration or null: a name's record, also one that expired.", run: handlers::get_name
        },
    ],
};
