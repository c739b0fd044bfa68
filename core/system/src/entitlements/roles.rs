//! Roles: named sets of permissions, assigned as a whole (002 §7.2, instructions 33 to 35).

use super::open;
use super::permissions::{check_new, holder, require_authority, set_holder};
use super::state::{self, Assignment, NUMBER, Role};
use crate::actor::Context;
use cowboy_state::{Miss, Step, World};
use cowboy_types::cbor::Value;
use cowboy_types::permission::{Action, Constraints, Name, Scope, role_id};
use cowboy_types::{Address, Hash, List, error};

/// A role, `None` where there is none of the id.
pub fn read(world: &World, id: &Hash) -> Result<Option<Role>, Miss> {
    world.read(&state::role(id))
}

/// Instruction 33: makes a role over scopes that the sender rules. Answers its id.
pub fn create(
    context: &mut Context<'_>,
    name: Name,
    scopes: List<Scope, 16>,
    actions: List<Action, 16>,
    constraints: Constraints,
) -> Step<Hash> {
    check_new(context, &constraints)?;
    // A role is held by assignment: it is not passed on.
    if scopes.is_empty() || actions.is_empty() || name.is_empty() || constraints.delegatable {
        return Err(error::CONSTRAINTS_INVALID.into());
    }
    for scope in scopes.iter() {
        require_authority(context, scope)?;
    }
    let id = role_id(&context.sender, &name);
    if read(context.world, &id)?.is_some() {
        return Err(error::PERMISSION_EXISTS.into());
    }
    let role = Role { name, scopes, actions, constraints, creator: context.sender };
    context.world.write(state::role(&id), &role);
    let data = Value::map([("id", Value::Bytes(id.0.to_vec())), ("creator", Value::Bytes(role.creator.0.to_vec()))]);
    context.announce(NUMBER, "RoleCreated", &data);
    Ok(id)
}

/// Whether the sender may assign and revoke a role: who made it, while they rule its scopes, and governance.
fn require_role(context: &mut Context<'_>, id: &Hash) -> Step<Role> {
    let role = read(context.world, id)?.ok_or(error::ROLE_NOT_FOUND)?;
    if role.creator != context.sender && !context.is_governance() {
        return Err(error::GRANT_UNAUTHORIZED.into());
    }
    for scope in role.scopes.iter() {
        require_authority(context, scope)?;
    }
    Ok(role)
}

/// Puts a role into its holder's list.
pub(super) fn hold(context: &mut Context<'_>, assignee: Address, id: Hash) -> Step<()> {
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

/// Instruction 34: gives an address a role, which has effect when it is accepted. Again, it begins anew.
pub fn assign(context: &mut Context<'_>, id: &Hash, assignee: Address) -> Step<()> {
    let role = require_role(context, id)?;
    if role.constraints.is_expired(context.height) {
        return Err(error::CONSTRAINTS_INVALID.into());
    }
    super::check::sweep_roles(context, assignee)?;
    let is_there = context.world.read::<Assignment>(&state::assignment(id, assignee))?.is_some();
    if is_there && !role.constraints.revocable {
        return Err(error::NOT_REVOCABLE.into());
    }
    if !is_there {
        if open::is_accepted(context.world, assignee, context.sender)? {
            hold(context, assignee, *id)?;
        } else {
            open::count(context, context.sender)?;
        }
    }
    let (issuer, assigned_at) = (context.sender, context.height);
    let assignment = Assignment { role: *id, issuer, constraints: role.constraints, window: None, assigned_at };
    context.world.write(state::assignment(id, assignee), &assignment);
    context.announce(NUMBER, "RoleAssigned", &data_of(id, assignee));
    Ok(())
}

/// Instruction 35: takes a role from an address.
pub fn revoke(context: &mut Context<'_>, id: &Hash, assignee: Address) -> Step<()> {
    let role = require_role(context, id)?;
    if context.world.read::<Assignment>(&state::assignment(id, assignee))?.is_none() {
        return Err(error::ROLE_NOT_FOUND.into());
    }
    if !role.constraints.revocable {
        return Err(error::NOT_REVOCABLE.into());
    }
    forget(context.world, assignee, &[*id])?;
    context.announce(NUMBER, "RoleRevoked", &data_of(id, assignee));
    Ok(())
}

fn data_of(id: &Hash, assignee: Address) -> Value {
    Value::map([("id", Value::Bytes(id.0.to_vec())), ("assignee", Value::Bytes(assignee.0.to_vec()))])
}

/// Removes roles of one address.
pub(super) fn forget(world: &mut World, assignee: Address, ids: &[Hash]) -> Result<(), Miss> {
    if ids.is_empty() {
        return Ok(());
    }
    open::forget_roles(world, assignee, ids)?;
    let mut held = holder(world, assignee)?;
    let kept: Vec<Hash> = held.roles.iter().filter(|id| !ids.contains(id)).copied().collect();
    held.roles = List::new(kept).expect("fewer than before");
    ids.iter().for_each(|id| world.remove(state::assignment(id, assignee)));
    set_holder(world, assignee, &held);
    Ok(())
}
