//! Records that their holder did not accept yet (decisions 180, 332).
//!
//! A permission has effect at once, but it takes a place among its holder's records only when the holder accepts it; until then it takes
//! one of its grantor's. So nobody can fill another's list. An open permission is found by what it allows: by its id, which follows from
//! grantee, scope and action, and a delegation by the slot of the newest one. A role has effect when it is accepted.

use super::holders::{holder, permission};
use super::state::{self, Accepts, Assignment, Grantor, OpenDelegation, Permission};
use crate::actor::Context;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, Hash, error};

/// Whether an address accepts a grantor's records without looking: its own, and those of grantors that it named.
pub(super) fn is_accepted(world: &World, holder: Address, grantor: Address) -> Result<bool, Miss> {
    let named = world.read::<Accepts>(&state::accepts(holder))?;
    Ok(holder == grantor || named.is_some_and(|accepts| accepts.grantors.contains(&grantor)))
}

fn open_of(world: &World, grantor: Address) -> Result<u64, Miss> {
    Ok(world.read::<Grantor>(&state::grantor(grantor))?.map_or(0, |grantor| grantor.open.0))
}

fn set_open(world: &mut World, grantor: Address, open: u64) {
    let key = state::grantor(grantor);
    if open == 0 { world.remove(key) } else { world.write(key, &Grantor { open: Count(open) }) }
}

/// Counts one more open record of a grantor.
pub(super) fn count(context: &mut Context<'_>, grantor: Address) -> Step<()> {
    let open = open_of(context.world, grantor)?;
    if open >= context.params.entitlements.open_per_grantor {
        return Err(error::TOO_MANY_PERMISSIONS.into());
    }
    set_open(context.world, grantor, open.saturating_add(1));
    Ok(())
}

/// Counts one open record less.
pub(super) fn discount(world: &mut World, grantor: Address) -> Result<(), Miss> {
    let open = open_of(world, grantor)?;
    set_open(world, grantor, open.saturating_sub(1));
    Ok(())
}

/// Where an open permission stands among its holder's.
fn place(holder: Address, id: &Hash) -> Vec<u8> {
    [&holder.0[..], &id.0].concat()
}

/// The ids of permissions that an address did not accept yet, at most `limit`. Some may have lapsed.
pub fn of(world: &World, holder: Address, limit: usize) -> Result<Vec<Hash>, Miss> {
    let listed = state::open().list(world, &holder.0, limit)?;
    let own = listed.iter().filter_map(|name| name.strip_prefix(&holder.0[..]));
    Ok(own.filter_map(|id| id.try_into().ok().map(Hash)).collect())
}

/// Counts a new permission among its grantor's, and remembers a delegation by what it allows.
pub(super) fn add(context: &mut Context<'_>, id: &Hash, record: &Permission) -> Step<()> {
    count(context, record.issuer)?;
    state::open().insert(context.world, &place(record.grantee, id))?;
    if record.parent_id.is_some() {
        let slot = state::open_delegation(record.grantee, &record.scope, &record.action);
        context.world.write(slot, &OpenDelegation { id: *id });
    }
    Ok(())
}

/// Takes an open permission out of its grantor's records, which is accepted or goes.
pub(super) fn forget(world: &mut World, id: &Hash) -> Result<(), Miss> {
    let Some(record) = permission(world, id)? else { return Ok(()) };
    discount(world, record.issuer)?;
    state::open().remove(world, &place(record.grantee, id))?;
    let slot = state::open_delegation(record.grantee, &record.scope, &record.action);
    if world.read::<OpenDelegation>(&slot)?.is_some_and(|open| open.id == *id) {
        world.remove(slot);
    }
    Ok(())
}

/// Whether a record that its holder did not accept is over at a height.
pub(super) fn has_lapsed(lapse: u64, granted_at: Height, height: Height) -> bool {
    height.0 >= granted_at.0.saturating_add(lapse)
}

/// Removes assignments of one address that it did not accept.
pub(super) fn forget_roles(world: &mut World, assignee: Address, ids: &[Hash]) -> Result<(), Miss> {
    let held = holder(world, assignee)?;
    for id in ids.iter().filter(|id| !held.roles.contains(id)) {
        if let Some(assignment) = world.read::<Assignment>(&state::assignment(id, assignee))? {
            discount(world, assignment.issuer)?;
        }
    }
    Ok(())
}
