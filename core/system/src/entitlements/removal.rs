//! Removal of permissions and roles. What has expired is deleted by whoever comes across it (002 §7.5).

use super::holders::{assigned, holder, permission, set_assigned, set_holder};
use super::open;
use super::state::{self, Assignment, OpenDelegation};
use super::validity::has_ancestors;
use crate::actor::Context;
use cowboy_state::{Miss, World};
use cowboy_types::permission::{Action, Scope, record_id};
use cowboy_types::{Address, Hash, List};

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

/// Removes roles of one address.
pub(super) fn forget_roles(world: &mut World, assignee: Address, ids: &[Hash]) -> Result<(), Miss> {
    if ids.is_empty() {
        return Ok(());
    }
    world.require(&ids.iter().flat_map(|id| [state::assignment(id, assignee), state::assigned(id)]).collect::<Vec<_>>())?;
    open::forget_roles(world, assignee, ids)?;
    for id in ids {
        if world.read::<Assignment>(&state::assignment(id, assignee))?.is_some() {
            let left = assigned(world, id)?.saturating_sub(1);
            set_assigned(world, id, left);
        }
    }
    let mut held = holder(world, assignee)?;
    let kept: Vec<Hash> = held.roles.iter().filter(|id| !ids.contains(id)).copied().collect();
    held.roles = List::new(kept).expect("fewer than before");
    ids.iter().for_each(|id| world.remove(state::assignment(id, assignee)));
    set_holder(world, assignee, &held);
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
        let is_held = match permission(context.world, &id)? {
            Some(record) => !record.constraints.is_expired(context.height) && has_ancestors(context, &record)?,
            None => false,
        };
        if !is_held {
            gone.push(id);
        }
    }
    forget(context.world, address, &gone)
}

/// Deletes roles whose span is over, or that are gone.
pub(super) fn sweep_roles(context: &mut Context<'_>, address: Address) -> Result<(), Miss> {
    let ids = holder(context.world, address)?.roles.into_vec();
    context.charge_records(ids.len());
    let wanted: Vec<_> = ids.iter().map(|id| state::assignment(id, address)).collect();
    context.world.require(&wanted)?;
    let mut gone = Vec::new();
    for id in ids {
        let assignment: Option<Assignment> = context.world.read(&state::assignment(&id, address))?;
        if assignment.is_none_or(|assignment| assignment.constraints.is_expired(context.height)) {
            gone.push(id);
        }
    }
    // The counts of their roles.
    context.charge_records(gone.len());
    forget_roles(context.world, address, &gone)
}

/// The open permissions that may allow an address an action in a scope. Those that are over, or whose chain is broken, are deleted.
pub(super) fn open_permissions(context: &mut Context<'_>, grantee: Address, scope: &Scope, action: &Action) -> Result<Vec<Hash>, Miss> {
    let pairs = [scope, &Scope::Global].into_iter().flat_map(|scope| [action, &Action::All].map(|action| (scope, action)));
    let pairs: Vec<(&Scope, &Action)> = pairs.collect();
    let slots: Vec<_> = pairs.iter().map(|(scope, action)| state::open_delegation(grantee, scope, action)).collect();
    let mut ids: Vec<Hash> = pairs.iter().map(|(scope, action)| record_id(&grantee, scope, action, None)).collect();
    context.world.require(slots.iter().chain(&ids.iter().map(state::permission).collect::<Vec<_>>()))?;
    for slot in &slots {
        ids.extend(context.world.read::<OpenDelegation>(slot)?.map(|open| open.id));
    }
    let held = holder(context.world, grantee)?;
    let (mut found, mut gone) = (Vec::new(), Vec::new());
    for id in ids {
        if held.permissions.contains(&id) || found.contains(&id) || gone.contains(&id) {
            continue;
        }
        let Some(record) = permission(context.world, &id)? else { continue };
        let is_over = record.constraints.is_expired(context.height)
            || open::has_lapsed(context.params.entitlements.open_lapse, record.granted_at, context.height)
            || !has_ancestors(context, &record)?;
        if is_over { gone.push(id) } else { found.push(id) }
    }
    forget(context.world, grantee, &gone)?;
    Ok(found)
}
