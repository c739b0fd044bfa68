//! Permissions: granted, revoked, delegated (002 §7.2, instructions 30 to 32).

use super::open;
use super::state::{self, Holder, NUMBER, Permission};
use crate::actor::Context;
use crate::ledger;
use crate::registrations::{self, label};
use cowboy_params::Params;
use cowboy_state::{Miss, Step, World};
use cowboy_types::cbor::Value;
use cowboy_types::permission::{Action, Constraints, Name, Scope, record_id};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, Hash, List, error};

/// Whether the sender may say who does what within a scope.
///
/// Governance may everywhere. Otherwise an actor's owner or the actor itself, the runner itself, a token's owner, and the one after whom a
/// pool or namespace is named. The chain is governance's.
pub(super) fn require_authority(context: &mut Context<'_>, scope: &Scope) -> Step<()> {
    if has_authority(context, context.sender, scope)? { Ok(()) } else { Err(error::GRANT_UNAUTHORIZED.into()) }
}

/// Whether an address may grant in a scope now.
pub(super) fn has_authority(context: &Context<'_>, address: Address, scope: &Scope) -> Result<bool, Miss> {
    Ok(is_owner(context.world, (context.params, context.height), address, scope)? || context.governs(address))
}

/// Whether a scope is an address's own.
pub(super) fn is_owner(world: &World, now: (&Params, Height), address: Address, scope: &Scope) -> Result<bool, Miss> {
    Ok(match scope {
        Scope::Global => false,
        Scope::Token { token } => ledger::find(world, token)?.is_some_and(|token| token.owner == address),
        Scope::Actor { actor } => address == *actor || world.actor(*actor)?.is_some_and(|record| record.owner == address),
        Scope::Runner { runner } => address == *runner,
        Scope::RunnerPool { pool: name } | Scope::Namespace { name } => owner_of(world, now, name)? == Some(address),
    })
}

/// Whose a pool or namespace is, by its name alone (decision 180): the address that it begins with, 40 lower-case digits and a slash, or
/// who owns the name in the Route Registry. So nobody can be first in another's.
fn owner_of(world: &World, (params, height): (&Params, Height), name: &Name) -> Result<Option<Address>, Miss> {
    let Ok(text) = core::str::from_utf8(name) else { return Ok(None) };
    if let Some((digits, label)) = text.split_once('/') {
        let written = format!("0x{digits}");
        let address = written.parse::<Address>().ok();
        return Ok(address.filter(|address| !label.is_empty() && address.to_string() == written));
    }
    if label::check(params, text).is_err() {
        return Ok(None);
    }
    Ok(registrations::state::live(world, text, height)?.map(|found| found.record.owner))
}

/// What an address holds.
pub fn holder(world: &World, address: Address) -> Result<Holder, Miss> {
    Ok(world.read(&state::holder(address))?.unwrap_or(Holder { permissions: List::default(), roles: List::default() }))
}

/// A permission, `None` where there is none of the id.
pub fn read(world: &World, id: &Hash) -> Result<Option<Permission>, Miss> {
    world.read(&state::permission(id))
}

/// Writes what an address holds; a holder of nothing leaves the state.
pub(super) fn set_holder(world: &mut World, address: Address, holder: &Holder) {
    let key = state::holder(address);
    if holder.permissions.is_empty() && holder.roles.is_empty() { world.remove(key) } else { world.write(key, holder) }
}

/// Removes permissions of one address, accepted or not.
pub(super) fn forget(world: &mut World, address: Address, ids: &[Hash]) -> Result<(), Miss> {
    if ids.is_empty() {
        return Ok(());
    }
    let mut held = holder(world, address)?;
    for id in ids.iter().filter(|id| !held.permissions.contains(id)) {
        open::forget(world, id)?;
    }
    let kept: Vec<Hash> = held.permissions.iter().filter(|id| !ids.contains(id)).copied().collect();
    held.permissions = List::new(kept).expect("fewer than before");
    ids.iter().for_each(|id| world.remove(state::permission(id)));
    set_holder(world, address, &held);
    Ok(())
}

/// Deletes what an address holds no more: expired records, those whose chain of delegations is broken, and those that are gone
/// (002 §7.5: on access).
pub(super) fn sweep(context: &mut Context<'_>, address: Address) -> Result<(), Miss> {
    let ids = holder(context.world, address)?.permissions.into_vec();
    context.charge_records(ids.len());
    let wanted: Vec<_> = ids.iter().map(state::permission).collect();
    context.world.require(&wanted)?;
    let mut gone = Vec::new();
    for id in ids {
        let is_held = match read(context.world, &id)? {
            Some(record) => !record.constraints.is_expired(context.height) && super::check::has_ancestors(context, &record)?,
            None => false,
        };
        if !is_held {
            gone.push(id);
        }
    }
    forget(context.world, address, &gone)
}

pub(super) fn data_of(id: &Hash, record: &Permission) -> Value {
    Value::map([
        ("id", Value::Bytes(id.0.to_vec())),
        ("grantee", Value::Bytes(record.grantee.0.to_vec())),
        ("issuer", Value::Bytes(record.issuer.0.to_vec())),
        ("scope", Value::text(record.scope.to_string())),
        ("action", Value::text(record.action.to_string())),
    ])
}

/// Puts a permission into its holder's list.
pub(super) fn hold(context: &mut Context<'_>, grantee: Address, id: Hash) -> Step<()> {
    let limit = usize::try_from(context.params.entitlements.records_per_address).unwrap_or(usize::MAX);
    let mut held = holder(context.world, grantee)?;
    let mut ids = held.permissions.into_vec();
    if ids.len() >= limit {
        return Err(error::TOO_MANY_PERMISSIONS.into());
    }
    ids.push(id);
    held.permissions = List::new(ids).ok_or(error::TOO_MANY_PERMISSIONS)?;
    set_holder(context.world, grantee, &held);
    Ok(())
}

/// Puts a record into the state, and into its holder's list or among its grantor's open records. The same id again replaces the record, if it has the same issuer (decision 100).
fn put(context: &mut Context<'_>, record: &Permission) -> Step<Hash> {
    let id = record_id(&record.grantee, &record.scope, &record.action, record.parent_id.as_ref());
    sweep(context, record.grantee)?;
    let present = match read(context.world, &id)? {
        // What binds nobody any more makes room: else its new owner could not grant what the one before did.
        Some(present) if !super::check::is_in_force(context, &present)? => {
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
    };
    let id = put(context, &record)?;
    context.announce(NUMBER, "EntitlementGranted", &data_of(&id, &record));
    Ok(id)
}

/// Instruction 31: takes a record back. Its issuer may, whoever rules the scope, and governance; nobody, where it is not revocable and in force.
pub fn revoke(context: &mut Context<'_>, id: &Hash) -> Step<()> {
    let record = read(context.world, id)?.ok_or(error::PERMISSION_NOT_FOUND)?;
    if record.issuer != context.sender {
        require_authority(context, &record.scope)?;
    }
    if !record.constraints.revocable && super::check::is_in_force(context, &record)? {
        return Err(error::NOT_REVOCABLE.into());
    }
    forget(context.world, record.grantee, &[*id])?;
    context.announce(NUMBER, "EntitlementRevoked", &data_of(id, &record));
    Ok(())
}

/// Instruction 32: passes on what the sender holds, within strictly narrower conditions. Answers the new record's id.
pub fn delegate(context: &mut Context<'_>, id: &Hash, delegatee: Address, constraints: Constraints) -> Step<Hash> {
    let parent = read(context.world, id)?.ok_or(error::PERMISSION_NOT_FOUND)?;
    if parent.grantee != context.sender {
        return Err(error::GRANT_UNAUTHORIZED.into());
    }
    if !super::check::is_live(context, &parent)? {
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
    };
    let delegated = put(context, &record)?;
    context.announce(NUMBER, "EntitlementDelegated", &data_of(&delegated, &record));
    Ok(delegated)
}
