//! Records that their holder did not accept yet (decisions 180, 332).
//!
//! A permission has effect at once, but it takes a place among its holder's records only when the holder accepts it; until then it takes
//! one of its grantor's. So nobody can fill another's list. An open permission is found by what it allows: by its id, which follows from
//! grantee, scope and action, and a delegation by the slot of the newest one. A role has effect when it is accepted.

use super::permissions::{data_of, hold, holder, read, sweep};
use super::roles;
use super::state::{self, Accepts, Assignment, Grantor, NUMBER, OpenDelegation, Permission};
use crate::actor::Context;
use cowboy_state::{Miss, Step, World};
use cowboy_types::permission::{Action, Scope, record_id};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, Hash, List, error};

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
    let Some(record) = read(world, id)? else { return Ok(()) };
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

/// The open permissions that may allow an address an action in a scope. Those that are over, or whose chain is broken, are deleted.
pub(super) fn permissions(context: &mut Context<'_>, grantee: Address, scope: &Scope, action: &Action) -> Result<Vec<Hash>, Miss> {
    let pairs = [scope, &Scope::Global].into_iter().flat_map(|scope| [action, &Action::All].map(|action| (scope, action)));
    let pairs: Vec<(&Scope, &Action)> = pairs.collect();
    let slots: Vec<_> = pairs.iter().map(|(scope, action)| state::open_delegation(grantee, scope, action)).collect();
    let mut ids: Vec<Hash> = pairs.iter().map(|(scope, action)| record_id(&grantee, scope, action, None)).collect();
    context.world.require(slots.iter().chain(&ids.iter().map(state::permission).collect::<Vec<_>>()))?;
    for slot in &slots {
        ids.extend(context.world.read::<OpenDelegation>(slot)?.map(|open| open.id));
    }
    let held = holder(context.world, grantee)?;
    let (mut open, mut gone) = (Vec::new(), Vec::new());
    for id in ids {
        if held.permissions.contains(&id) || open.contains(&id) || gone.contains(&id) {
            continue;
        }
        let Some(record) = read(context.world, &id)? else { continue };
        let is_over = record.constraints.is_expired(context.height)
            || has_lapsed(context.params.entitlements.open_lapse, record.granted_at, context.height)
            || !super::check::has_ancestors(context, &record)?;
        if is_over { gone.push(id) } else { open.push(id) }
    }
    super::permissions::forget(context.world, grantee, &gone)?;
    Ok(open)
}

/// The sender's permission of this id, accepted or not.
fn own(context: &Context<'_>, id: &Hash) -> Step<Permission> {
    let record = read(context.world, id)?.ok_or(error::PERMISSION_NOT_FOUND)?;
    if record.grantee == context.sender { Ok(record) } else { Err(error::GRANT_UNAUTHORIZED.into()) }
}

/// The holder takes a permission among its own. One that it has already stays.
pub(super) fn accept(context: &mut Context<'_>, id: &Hash) -> Step<()> {
    // First what is over goes: the permission itself may be.
    sweep(context, context.sender)?;
    let record = own(context, id)?;
    if holder(context.world, record.grantee)?.permissions.contains(id) {
        return Ok(());
    }
    if has_lapsed(context.params.entitlements.open_lapse, record.granted_at, context.height) {
        return Err(error::PERMISSION_NOT_FOUND.into());
    }
    forget(context.world, id)?;
    hold(context, record.grantee, *id)?;
    context.announce(NUMBER, "EntitlementAccepted", &data_of(id, &record));
    Ok(())
}

/// The holder gives a permission up, or refuses it. What its grantor may not take back may be given up all the same.
pub(super) fn renounce(context: &mut Context<'_>, id: &Hash) -> Step<()> {
    let record = own(context, id)?;
    super::permissions::forget(context.world, record.grantee, &[*id])?;
    context.announce(NUMBER, "EntitlementRenounced", &data_of(id, &record));
    Ok(())
}

/// The sender accepts whatever a grantor gives it from now on, or no longer does.
pub(super) fn accept_from(context: &mut Context<'_>, grantor: Address, is_accepted: bool) -> Step<()> {
    let key = state::accepts(context.sender);
    let stored = context.world.read::<Accepts>(&key)?;
    let mut grantors = stored.map_or_else(Vec::new, |stored| stored.grantors.into_vec());
    grantors.retain(|known| *known != grantor);
    if is_accepted {
        grantors.push(grantor);
        grantors.sort();
    }
    if grantors.is_empty() {
        context.world.remove(key);
    } else {
        let grantors = List::new(grantors).ok_or(error::TOO_MANY_PERMISSIONS)?;
        context.world.write(key, &Accepts { grantors });
    }
    Ok(())
}

/// The sender's assignment of a role.
fn own_role(context: &Context<'_>, role: &Hash) -> Step<Assignment> {
    Ok(context.world.read(&state::assignment(role, context.sender))?.ok_or(error::ROLE_NOT_FOUND)?)
}

/// The holder takes a role, which has effect from then on.
pub(super) fn accept_role(context: &mut Context<'_>, role: &Hash) -> Step<()> {
    let (assignment, sender) = (own_role(context, role)?, context.sender);
    if holder(context.world, sender)?.roles.contains(role) {
        return Ok(());
    }
    discount(context.world, assignment.issuer)?;
    roles::hold(context, sender, *role)
}

/// The holder gives a role up, or refuses it.
pub(super) fn renounce_role(context: &mut Context<'_>, role: &Hash) -> Step<()> {
    own_role(context, role)?;
    Ok(roles::forget(context.world, context.sender, &[*role])?)
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
