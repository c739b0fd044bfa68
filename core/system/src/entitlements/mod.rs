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
    tables: &[&[
        Method::untyped("deprecate", "{id, from} → null: deprecates an entitlement of manifests from a height on; it is removed when the window is over. Governance only (000 §9.11).", handlers::deprecate).governed(),
        Method::untyped("deprecations", "{} → [{from, id, removed_at}]: every entitlement that is or will be removed.", handlers::deprecations).view(),
        Method::untyped("set_domain_set", "{name, domains} → null: replaces or adds a curated set of domains. Governance only (000 §8.4).", handlers::set_domain_set).routine().governed(),
        Method::untyped("get_domain_set", "{name} → [domain]: a curated set of domains.", handlers::get_domain_set).view(),
        Method::untyped("redeploy", "{actor, manifest} → null: a new manifest for an actor whose entitlement was removed. Its owner only (000 §9.11).", handlers::redeploy),
        Method::untyped("grant", "{grantee, scope, action, constraints} → id: one action in one scope; the last three encoded (SYS 30).", handlers::grant),
        Method::untyped("revoke", "{entitlement_id} → null: takes a permission back (SYS 31).", handlers::revoke),
        Method::untyped("delegate", "{entitlement_id, delegatee, constraints} → id: passes a permission on, narrower (SYS 32).", handlers::delegate),
        Method::untyped("create_role", "{name, scopes, actions, constraints} → id: makes a named set of permissions (SYS 33).", handlers::create_role),
        Method::untyped("assign_role", "{role_id, assignee} → null: gives an address a role (SYS 34).", handlers::assign_role),
        Method::untyped("revoke_role", "{role_id, assignee} → null: takes a role from an address (SYS 35).", handlers::revoke_role),
        Method::untyped("accept", "{entitlement_id} → null: takes a permission among the sender's own; until then it counts among its grantor's (decision 332).", handlers::accept),
        Method::untyped("renounce", "{entitlement_id} → null: gives a permission of the sender's up, or refuses it.", handlers::renounce),
        Method::untyped("accept_from", "{grantor, accepted} → null: accepts all that a grantor gives the sender from now on, or no longer does.", handlers::accept_from),
        Method::untyped("accept_role", "{role_id} → null: takes a role that was assigned to the sender, which has effect from then on.", handlers::accept_role),
        Method::untyped("renounce_role", "{role_id} → null: gives a role of the sender's up, or refuses it.", handlers::renounce_role),
        Method::untyped("check", "{grantee, scope, action} → bool: whether an address may do something; scope and action as text, like `namespace:art` and `custom:paint`.", handlers::check).view(),
        Method::untyped("is_member", "{runner, pool} → bool: whether a runner is in a pool (002 §7.3).", handlers::is_member).view(),
        Method::untyped("consume", "{grantee, scope, action, amount?} → null: counts a use, or fails. Whoever rules the scope only.", handlers::consume),
    ]],
    events: &[],
};
