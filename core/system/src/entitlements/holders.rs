//! What addresses hold: the records of permissions and roles, and the list of each holder.

use super::state::{self, Holder, Permission, Role};
use crate::actor::Context;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash, List, error};

/// What an address holds.
pub fn holder(world: &World, address: Address) -> Result<Holder, Miss> {
    Ok(world.read(&state::holder(address))?.unwrap_or(Holder { permissions: List::default(), roles: List::default() }))
}

/// A permission, `None` where there is none of the id.
pub fn permission(world: &World, id: &Hash) -> Result<Option<Permission>, Miss> {
    world.read(&state::permission(id))
}

/// A role, `None` where there is none of the id.
pub fn role(world: &World, id: &Hash) -> Result<Option<Role>, Miss> {
    world.read(&state::role(id))
}

/// Writes what an address holds; a holder of nothing leaves the state.
pub(super) fn set_holder(world: &mut World, address: Address, holder: &Holder) {
    let key = state::holder(address);
    if holder.permissions.is_empty() && holder.roles.is_empty() { world.remove(key) } else { world.write(key, holder) }
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

/// Puts a role into its holder's list.
pub(super) fn hold_role(context: &mut Context<'_>, assignee: Address, id: Hash) -> Step<()> {
    let mut held = holder(context.world, assignee)?;
    let mut ids = held.roles.into_vec();
    if ids.len() >= usize::try_from(context.params.entitlements.roles_per_address).unwrap_or(usize::MAX) {
        return Err(error::TOO_MANY_ROLES.into());
    }
    ids.push(id);
    held.roles = List::new(ids).ok_or(error::TOO_MANY_ROLES)?;
    set_holder(context.world, assignee, &held);
    Ok(())
}

/// How many addresses have a role, or may accept it.
pub(super) fn assigned(world: &World, role: &Hash) -> Result<u64, Miss> {
    Ok(world.read::<Count>(&state::assigned(role))?.map_or(0, |count| count.0))
}

/// Counts the addresses that have a role; a role that nobody has, has no count.
pub(super) fn set_assigned(world: &mut World, role: &Hash, count: u64) {
    let key = state::assigned(role);
    if count == 0 { world.remove(key) } else { world.write(key, &Count(count)) }
}
