//! 0x07, Entitlement Registry: what manifests may grant, and who may do what (000 §9.10, §9.11; 002 §7).
//!
//! - [`grants`], [`manifests`], [`lifecycle`], [`needs`]: entitlements of manifests: curated sets, checks, removal, what the gate asks.
//! - [`open`]: records that their holder did not accept yet.
//! - [`permissions`], [`roles`], [`check`]: records of who may do what, named sets of them, and their use.
//! - [`state`]: what the actor keeps.
//!
//! Invariants: an actor's stored manifest passed [`manifests::check`]; an entitlement that was removed never comes back; every permission
//! and assignment stands in its holder's list, or counts among its grantor's open ones; a chain of delegations is never used more than its first link allows.

pub mod check;
pub mod grants;
pub mod handlers;
pub mod invariants;
pub mod lifecycle;
pub mod manifests;
pub mod needs;
pub mod open;
pub mod permissions;
pub mod roles;
pub mod state;

use crate::actor::{Actor, Method};
pub use state::NUMBER;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Entitlement Registry",
    doc: "Entitlements of manifests as governance leaves them; pool access control and roles.",
    methods: &[
        Method {
            name: "deprecate",
            doc: "{id, from} → null: deprecates an entitlement of manifests from a height on; it is removed when the window is over. Governance only (000 §9.11).",
            run: handlers::deprecate,
        },
        Method {
            name: "deprecations",
            doc: "{} → [{from, id, removed_at}]: every entitlement that is or will be removed.",
            run: handlers::deprecations,
        },
        Method {
            name: "set_domain_set",
            doc: "{name, domains} → null: replaces or adds a curated set of domains. Governance only (000 §8.4).",
            run: handlers::set_domain_set,
        },
        Method { name: "get_domain_set", doc: "{name} → [domain]: a curated set of domains.", run: handlers::get_domain_set },
        Method {
            name: "redeploy",
            doc: "{actor, manifest} → null: a new manifest for an actor whose entitlement was removed. Its owner only (000 §9.11).",
            run: handlers::redeploy,
        },
        Method {
            name: "grant",
            doc: "{grantee, scope, action, constraints} → id: one action in one scope; the last three encoded (SYS 30).",
            run: handlers::grant,
        },
        Method { name: "revoke", doc: "{entitlement_id} → null: takes a permission back (SYS 31).", run: handlers::revoke },
        Method {
            name: "delegate",
            doc: "{entitlement_id, delegatee, constraints} → id: passes a permission on, narrower (SYS 32).",
            run: handlers::delegate,
        },
        Method {
            name: "create_role",
            doc: "{name, scopes, actions, constraints} → id: makes a named set of permissions (SYS 33).",
            run: handlers::create_role,
        },
        Method { name: "assign_role", doc: "{role_id, assignee} → null: gives an address a role (SYS 34).", run: handlers::assign_role },
        Method {
            name: "revoke_role",
            doc: "{role_id, assignee} → null: takes a role from an address (SYS 35).",
            run: handlers::revoke_role,
        },
        Method {
            name: "accept",
            doc: "{entitlement_id} → null: takes a permission among the sender's own; until then it counts among its grantor's (decision 332).",
            run: handlers::accept,
        },
        Method {
            name: "renounce",
            doc: "{entitlement_id} → null: gives a permission of the sender's up, or refuses it.",
            run: handlers::renounce,
        },
        Method {
            name: "accept_from",
            doc: "{grantor, accepted} → null: accepts all that a grantor gives the sender from now on, or no longer does.",
            run: handlers::accept_from,
        },
        Method {
            name: "accept_role",
            doc: "{role_id} → null: takes a role that was assigned to the sender, which has effect from then on.",
            run: handlers::accept_role,
        },
        Method {
            name: "renounce_role",
            doc: "{role_id} → null: gives a role of the sender's up, or refuses it.",
            run: handlers::renounce_role,
        },
        Method {
            name: "check",
            doc: "{grantee, scope, action} → bool: whether an address may do something; scope and action as text, like `namespace:art` and `custom:paint`.",
            run: handlers::check,
        },
        Method { name: "is_member", doc: "{runner, pool} → bool: whether a runner is in a pool (002 §7.3).", run: handlers::is_member },
        Method {
            name: "consume",
            doc: "{grantee, scope, action, amount?} → null: counts a use, or fails. Whoever rules the scope only.",
            run: handlers::consume,
        },
    ],
};
