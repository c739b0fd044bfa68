//! Permissions: granted, revoked, delegated (002 §7.2, instructions 30 to 32).

use super::api::{ActionText, EntitlementDelegated, EntitlementGranted, EntitlementRevoked, PermissionFacts, ScopeText};
use super::authority::require_authority;
use super::holders::{hold, permission};
use super::removal::{forget, sweep};
use super::state::{self, Permission};
use super::validity::{is_in_force, is_live};
use super::{open, rulers};
use crate::actor::Context;
use crate::schema::Emit as _;
use cowboy_state::{Miss, Step, World};
use cowboy_types::permission::{Action, Constraints, Scope, record_id};
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash, error};

/// A permission, as its events say it.
pub(super) fn facts_of(id: &Hash, record: &Permission) -> PermissionFacts {
    PermissionFacts {
        id: *id,
        grantee: record.grantee,
        issuer: record.issuer,
        scope: ScopeText::new(record.scope.to_string()).expect("the names of scopes are bounded"),
        action: ActionText::new(record.action.to_string()).expect("the names of actions are bounded"),
    }
}

/// Puts a record into the state, and into its holder's list or among its grantor's open records. The same id again replaces the record, if it has the same issuer (decision 100).
fn put(context: &mut Context<'_>, record: &Permission) -> Step<Hash> {
    let id = record_id(&record.grantee, &record.scope, &record.action, record.parent_id.as_ref());
    sweep(context, record.grantee)?;
    let present = match permission(context.world, &id)? {
        // What binds nobody any more makes room: else its new owner could not grant what the one before did.
        Some(present) if !is_in_force(context, &present)? => {
            forget(context.world, record.grantee, &[id])?;
            None
        }
        present => present,
    };
    match present {
        Some(present) if present.issuer != record.issuer => return Err(error::PERMISSION_EXISTS.into()),
        // What may not be taken back may not be narrowed either.
        Some(present) if !present.constraints.revocable => return Err(error::NOT_REVOCABLE.into()),
        Some(_) => {}
        None if open::is_accepted(context.world, record.grantee, record.issuer)? => hold(context, record.grantee, id)?,
        None => open::add(context, &id, record)?,
    }
    context.world.write(state::permission(&id), record);
    Ok(id)
}

/// Whether scope and action belong together: joining a pool is about that pool, and cannot be passed on (002 §7.3).
fn check_pair(scope: &Scope, action: &Action, constraints: &Constraints) -> Step<()> {
    let Action::RunnerJoinPool { pool: joined } = action else { return Ok(()) };
    let fits = matches!(scope, Scope::RunnerPool { pool } if pool == joined) && !constraints.delegatable;
    if fits { Ok(()) } else { Err(error::CONSTRAINTS_INVALID.into()) }
}

/// Whether conditions may stand in a new record at this height.
pub(super) fn check_new(context: &Context<'_>, constraints: &Constraints) -> Step<()> {
    let depth = u64::from(constraints.delegation_depth_max);
    let is_right =
        constraints.are_new() && !constraints.is_expired(context.height) && depth <= context.params.entitlements.delegation_depth;
    if is_right { Ok(()) } else { Err(error::CONSTRAINTS_INVALID.into()) }
}

/// The number of the next grant or delegation.
fn next_number(world: &mut World) -> Result<Count, Miss> {
    let granted = world.read::<Count>(&state::granted())?.unwrap_or(Count::ZERO);
    let number = Count(granted.0.saturating_add(1));
    world.write(state::granted(), &number);
    Ok(number)
}

/// Instruction 30: gives an address one action in one scope. Answers the record's id.
pub fn grant(context: &mut Context<'_>, grantee: Address, scope: Scope, action: Action, constraints: Constraints) -> Step<Hash> {
    check_new(context, &constraints)?;
    check_pair(&scope, &action, &constraints)?;
    require_authority(context, &scope)?;
    let record = Permission {
        grantee,
        scope,
        action,
        constraints,
        parent_id: None,
        issuer: context.sender,
        depth: 0,
        window: None,
        granted_at: context.height,
        number: next_number(context.world)?,
        parent_number: Count::ZERO,
        ruler: rulers::of_sender(context)?,
    };
    let id = put(context, &record)?;
    EntitlementGranted(facts_of(&id, &record)).emit(context.world);
    Ok(id)
}

/// Instruction 31: takes a record back. Its issuer may, whoever rules the scope, and governance; nobody, where it is not revocable and in force.
pub fn revoke(context: &mut Context<'_>, id: &Hash) -> Step<()> {
    let record = permission(context.world, id)?.ok_or(error::PERMISSION_NOT_FOUND)?;
    if record.issuer != context.sender {
        require_authority(context, &record.scope)?;
    }
    if !record.constraints.revocable && is_in_force(context, &record)? {
        return Err(error::NOT_REVOCABLE.into());
    }
    forget(context.world, record.grantee, &[*id])?;
    EntitlementRevoked(facts_of(id, &record)).emit(context.world);
    Ok(())
}

/// Instruction 32: passes on what the sender holds, within strictly narrower conditions. Answers the new record's id.
pub fn delegate(context: &mut Context<'_>, id: &Hash, delegatee: Address, constraints: Constraints) -> Step<Hash> {
    let parent = permission(context.world, id)?.ok_or(error::PERMISSION_NOT_FOUND)?;
    if parent.grantee != context.sender {
        return Err(error::GRANT_UNAUTHORIZED.into());
    }
    if !is_live(context, &parent)? {
        return Err(error::PERMISSION_UNUSABLE.into());
    }
    if parent.constraints.delegations_left() == 0 || delegatee == context.sender {
        return Err(error::NOT_DELEGATABLE.into());
    }
    let depth = parent.depth.saturating_add(1);
    if u64::from(depth) > context.params.entitlements.delegation_depth {
        return Err(error::DELEGATION_TOO_DEEP.into());
    }
    check_new(context, &constraints)?;
    if !constraints.are_within(&parent.constraints) {
        return Err(error::CONSTRAINTS_WIDER.into());
    }
    let record = Permission {
        grantee: delegatee,
        scope: parent.scope,
        action: parent.action,
        constraints,
        parent_id: Some(*id),
        issuer: context.sender,
        depth,
        window: None,
        granted_at: context.height,
        number: next_number(context.world)?,
        parent_number: parent.number,
        ruler: rulers::of_sender(context)?,
    };
    let delegated = put(context, &record)?;
    EntitlementDelegated(facts_of(&delegated, &record)).emit(context.world);
    Ok(delegated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::Blob;
    use cowboy_types::units::Height;

    /// The longest names, which people read as hex, fit into the events.
    #[test]
    fn every_permission_fits_into_its_events() {
        let (name, handler) = (Blob::new(vec![0xFF; 64]).expect("fits"), Blob::new(vec![0xFF; 256]).expect("fits"));
        let record = Permission {
            grantee: Address::ZERO,
            scope: Scope::Namespace { name },
            action: Action::ActorExecuteHandler { handler },
            constraints: Constraints::default(),
            parent_id: None,
            issuer: Address::ZERO,
            depth: 0,
            window: None,
            granted_at: Height(0),
            number: Count::ZERO,
            parent_number: Count::ZERO,
            ruler: None,
        };
        let facts = facts_of(&Hash::ZERO, &record);
        assert_eq!((facts.scope.to_string(), facts.action.to_string()), (record.scope.to_string(), record.action.to_string()));
    }
}
