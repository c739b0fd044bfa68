//! The methods and events of 0x07.

use super::NUMBER;
use crate::actor::methods;
use crate::schema::{events, form};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Blob, Hash, List, Text};

form! {
    /// An entitlement of manifests that is or will be removed.
    pub(crate) struct Deprecated {
        /// The entitlement.
        id: Text<64>,
        /// From when it is deprecated.
        from: Height,
        /// The first height at which it is gone.
        removed_at: Height,
    }
}

/// A scope or an action as people write it, like `namespace:art` and `custom:paint`.
pub(crate) type Written = Text<4_096>;

/// A domain, or a pattern of domains.
pub(crate) type Pattern = Text<255>;

methods! {
    /// What 0x07 is asked.
    pub(super) METHODS by NUMBER;

    /// Deprecates an entitlement of manifests from a height on; it is removed when the window is over (000 §9.11).
    "deprecate" Deprecate [governed] {
        /// The entitlement.
        id: Text<64>,
        /// From when it is deprecated; not in the past.
        from: Height,
    } -> ();

    /// Returns every entitlement that is or will be removed.
    "deprecations" ListDeprecations [view] {} -> List<Deprecated, 64>;

    /// Replaces or adds a curated set of domains (000 §8.4).
    "set_domain_set" SetDomainSet [routine, governed] {
        /// Its name.
        name: Text<64>,
        /// The domains, or patterns of them.
        domains: List<Pattern, 256>,
    } -> ();

    /// Returns a curated set of domains.
    "get_domain_set" GetDomainSet [view] {
        /// Its name.
        name: Text<64>,
    } -> List<Pattern, 256>;

    /// Gives an actor whose entitlement was removed a new manifest. Its owner only (000 §9.11).
    "redeploy" Redeploy [kept] {
        /// The actor.
        actor: Address,
        /// The manifest, canonical CBOR.
        manifest: Vec<u8>,
    } -> ();

    /// Grants one action in one scope, and returns the permission's id (SYS 30).
    "grant" Grant [priced] {
        /// Who may act.
        grantee: Address,
        /// The scope, encoded.
        scope: Blob<1_024>,
        /// The action, encoded.
        action: Blob<1_024>,
        /// The constraints, encoded.
        constraints: Blob<1_024>,
    } -> Hash;

    /// Takes a permission back (SYS 31).
    "revoke" Revoke [] {
        /// The permission's id.
        entitlement_id: Hash,
    } -> ();

    /// Passes a permission on, narrower, and returns the new one's id (SYS 32).
    "delegate" Delegate [priced] {
        /// The permission's id.
        entitlement_id: Hash,
        /// Who receives it.
        delegatee: Address,
        /// The constraints, encoded; a strict subset of the permission's.
        constraints: Blob<1_024>,
    } -> Hash;

    /// Makes a named set of permissions, and returns the role's id (SYS 33). The sender puts down a deposit for it.
    "create_role" CreateRole [priced] {
        /// Its name.
        name: Blob<64>,
        /// A list of scopes, encoded.
        scopes: Blob<16_384>,
        /// A list of actions, encoded.
        actions: Blob<16_384>,
        /// The constraints, encoded.
        constraints: Blob<1_024>,
    } -> Hash;

    /// Gives an address a role (SYS 34).
    "assign_role" AssignRole [] {
        /// The role's id.
        role_id: Hash,
        /// Who receives it.
        assignee: Address,
    } -> ();

    /// Takes a role from an address (SYS 35).
    "revoke_role" RevokeRole [] {
        /// The role's id.
        role_id: Hash,
        /// Who loses it.
        assignee: Address,
    } -> ();

    /// Removes a role that no address has, and gives its deposit back. Who made it.
    "remove_role" RemoveRole [] {
        /// The role's id.
        role_id: Hash,
    } -> ();

    /// Takes a permission among the sender's own; until then it counts among its grantor's (decision 332).
    "accept" Accept [] {
        /// The permission's id.
        entitlement_id: Hash,
    } -> ();

    /// Gives a permission of the sender's up, or refuses it.
    "renounce" Renounce [] {
        /// The permission's id.
        entitlement_id: Hash,
    } -> ();

    /// Accepts all that a grantor gives the sender from now on, or no longer does.
    "accept_from" AcceptFrom [] {
        /// The grantor.
        grantor: Address,
        /// Whether it is accepted.
        accepted: bool,
    } -> ();

    /// Takes a role that was assigned to the sender, which has effect from then on.
    "accept_role" AcceptRole [] {
        /// The role's id.
        role_id: Hash,
    } -> ();

    /// Gives a role of the sender's up, or refuses it.
    "renounce_role" RenounceRole [] {
        /// The role's id.
        role_id: Hash,
    } -> ();

    /// Returns whether an address may do something. Removes a permission that it finds to be over, so it is no view.
    "check" Check [passing] {
        /// Who would act.
        grantee: Address,
        /// The scope, like `namespace:art`.
        scope: Written,
        /// The action, like `custom:paint`.
        action: Written,
    } -> bool;

    /// Returns whether a runner is in a pool (002 §7.3). Removes a permission that it finds to be over, so it is no view.
    "is_member" IsMember [passing] {
        /// The runner.
        runner: Address,
        /// The pool's name.
        pool: Vec<u8>,
    } -> bool;

    /// Counts a use, or fails. Whoever rules the scope only.
    "consume" Consume [passing] {
        /// Who acts.
        grantee: Address,
        /// The scope, like `namespace:art`.
        scope: Written,
        /// The action, like `custom:paint`.
        action: Written,
        /// Base units of CBY that the use spends.
        amount: Amount = Amount::ZERO,
    } -> ();
}

/// A scope as people write it, in an event: the longest is a name in hex.
pub(super) type ScopeText = Text<192>;

/// An action as people write it, in an event: the longest is a handler's name in hex.
pub(super) type ActionText = Text<544>;

form! {
    /// A permission, as events say it.
    pub(crate) struct PermissionFacts {
        /// Its id.
        id: Hash,
        /// Who may act.
        grantee: Address,
        /// Who gave it.
        issuer: Address,
        /// The scope, like `namespace:art`.
        scope: ScopeText,
        /// The action, like `custom:paint`.
        action: ActionText,
    }
}

form! {
    /// A role of an address.
    pub(crate) struct RoleFacts {
        /// The role's id.
        id: Hash,
        /// Who has it, had it, or may accept it.
        assignee: Address,
    }
}

events! {
    /// What 0x07 emits about permissions and roles.
    pub(super) PERMISSIONS by NUMBER;

    /// A permission was granted.
    "EntitlementGranted" EntitlementGranted(PermissionFacts)

    /// A permission was taken back.
    "EntitlementRevoked" EntitlementRevoked(PermissionFacts)

    /// A permission was passed on; the data are those of the new one.
    "EntitlementDelegated" EntitlementDelegated(PermissionFacts)

    /// The holder of a permission accepted it.
    "EntitlementAccepted" EntitlementAccepted(PermissionFacts)

    /// The holder of a permission gave it up, or refused it.
    "EntitlementRenounced" EntitlementRenounced(PermissionFacts)

    /// A role was made.
    "RoleCreated" RoleCreated {
        /// Its id.
        id: Hash,
        /// Who made it.
        creator: Address,
    }

    /// A role was assigned; it has effect once it is accepted.
    "RoleAssigned" RoleAssigned(RoleFacts)

    /// A role was taken from its holder.
    "RoleRevoked" RoleRevoked(RoleFacts)

    /// A role was removed, and its deposit was refunded.
    "RoleRemoved" RoleRemoved {
        /// Its id.
        id: Hash,
        /// Who made it.
        creator: Address,
    }
}

events! {
    /// What 0x07 emits in the name of actors.
    pub(super) OF_ACTORS of accounts;

    /// The actor stands still: an entitlement that its manifest grants was removed.
    "ActorNonExecutable" ActorNonExecutable {
        /// The entitlement.
        id: Text<64>,
        /// Since when.
        height: Height,
    }
}

events! {
    /// What 0x07 emits about manifests and their entitlements.
    pub(super) EVENTS by NUMBER;

    /// Governance deprecated an entitlement.
    "EntitlementDeprecated" EntitlementDeprecated {
        /// The entitlement.
        id: Text<64>,
        /// From when it is deprecated.
        from: Height,
        /// The first height at which it is gone.
        removed_at: Height,
    }

    /// A deployment uses what will be removed.
    "DeprecatedEntitlementUsed" DeprecatedEntitlementUsed {
        /// The deployed actor.
        actor: Address,
        /// The entitlement.
        id: Text<64>,
        /// The first height at which it is gone.
        removed_at: Height,
    }

    /// Governance replaced or added a curated set of domains.
    "DomainSetChanged" DomainSetChanged {
        /// Its name.
        name: Text<64>,
        /// How many domains it has.
        domains: Count,
    }

    /// An actor whose entitlement was removed has a new manifest.
    "ActorRedeployed" ActorRedeployed {
        /// The actor.
        actor: Address,
    }

    /// An actor replaced its own code.
    "ActorUpgraded" ActorUpgraded {
        /// The actor.
        actor: Address,
        /// The hash of its code.
        code_hash: Hash,
        /// The hash of the code that it had.
        code_hash_before: Hash,
    }
}
