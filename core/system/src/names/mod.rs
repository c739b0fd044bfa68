//! 0x0E, Route Registry: which actor answers to which name (004 §7).
//!
//! - [`label`], [`types`], [`state`]: what a name may look like, the records, and where they stand ([`crate::registrations`]).
//! - [`price`]: what a name costs, and at which stage of its life it is.
//! - [`handlers`]: the methods.
//! - [`domains`]: domains of other zones under which names are served.
//! - [`release`]: deposits for names below others, and their return.
//!
//! Invariants: a record stands in the directory of names, and in that of its actor, exactly once; a name below another one
//! counts only under the registration that it was made under; 0x0E keeps the deposits of claims and of names below others, and no other CBY: fees are split at once.

pub mod domains;
pub(crate) mod handlers;
pub mod price;
pub mod release;

use crate::actor::{Actor, Method};
pub use crate::registrations::{NUMBER, label, state, types};

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Route Registry",
    doc: "Names, and the actors that answer to them.",
    tables: &[&[
        Method::untyped("register", "{name, actor_address, duration_blocks}, with the fee as value → registration: takes a free name for an actor. The actor or its owner; below another name, whoever that name's policy lets. What is paid too much goes back.", handlers::register).routine().payable(),
        Method::untyped("renew", "{name, duration_blocks}, with the fee as value → registration: extends a name from its present expiry. Anybody may pay.", handlers::renew).payable(),
        Method::untyped("transfer", "{name, new_owner} → registration: hands a name on. Its owner only.", handlers::transfer),
        Method::untyped("set_actor", "{name, actor_address} → registration: points a name to another actor that has ingress.http. Its owner only.", handlers::set_actor),
        Method::untyped("set_subdomain_policy", "{name, policy} → registration: 0 only the owner names what is below, 1 the actor does, 2 anybody may. Its owner only.", handlers::set_policy),
        Method::untyped("release", "{name} → null: removes a name below another one, whose deposit goes back to whoever paid it. Its owner, or anybody once it counts no more.", release::release),
        Method::untyped("resolve", "{name} → address or null: the actor that answers to a name, its own record or else the nearest one above it.", handlers::resolve).view(),
        Method::untyped("lookup", "{actor_address} → [name]: the names of an actor, at most `names.lookup_max`. Only names that the actor or its owner owns: anybody may point a name at an actor of somebody else.", handlers::lookup).view(),
        Method::untyped("quote", "{name, duration_blocks} → {fee, stage}: what registering or renewing would cost in this block.", handlers::quote).view(),
        Method::untyped("claim_domain", "{name, domain}, with `names.domain_deposit` as value → the text of the TXT record at `_cowboy.<domain>`: the name is to be served under a domain, too, whose owner shows with that record that it agrees. The name's owner only; at most `names.domains_max` domains for a name. What is paid too much goes back.", domains::claim).payable(),
        Method::untyped("release_domain", "{name, domain} → null: a claim ends, and its deposit goes back to whoever made it. The name's owner, or anybody once the name was handed on or expired.", domains::release),
        Method::untyped("claims_domain", "{name, domain} → bool: whether a name's owner wants it served under a domain.", domains::claims).view(),
        Method::untyped("get_name", "{name} → registration or null: a name's record, also one that expired.", handlers::get_name).view(),
    ]],
    events: &[],
};
