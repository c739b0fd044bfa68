//! Roles: named sets of permissions, assigned as a whole (002 §7.2, instructions 33 to 35).

use super::api::{RoleAssigned, RoleCreated, RoleFacts, RoleRemoved, RoleRevoked};
use super::authority::require_authority;
use super::holders::{assigned, hold_role, holder, role, set_assigned};
use super::permissions::check_new;
use super::removal::{forget_roles, sweep_roles};
use super::state::{self, Assignment, Role};
use super::{open, rulers};
use crate::actor::Context;
use crate::deposits;
use crate::schema::Emit as _;
use commonware_codec::EncodeSize as _;
use cowboy_state::Step;
use cowboy_types::permission::{Action, Constraints, Name, Scope, role_id};
use cowboy_types::units::Amount;
use cowboy_types::{Address, Hash, List, error};

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
    if role(context.world, &id)?.is_some() {
        return Err(error::PERMISSION_EXISTS.into());
    }
    let ruler = rulers::of_sender(context)?;
    let creator = context.sender;
    let mut role = Role { name, scopes, actions, constraints, creator, ruler, deposit: Amount::ZERO };
    // A decision carries no CBY.
    if creator != Address::system(cowboy_types::actors::GOVERNANCE) {
        role.deposit = deposits::take_for(context, state::NUMBER, creator, role.encode_size())?;
    }
    context.world.write(state::role(&id), &role);
    RoleCreated { id, creator: role.creator }.emit(context.world);
    Ok(id)
}

/// Whether the sender may assign and revoke a role: who made it, while they rule its scopes, and governance.
fn require_role(context: &mut Context<'_>, id: &Hash) -> Step<Role> {
    let role = role(context.world, id)?.ok_or(error::ROLE_NOT_FOUND)?;
    if role.creator != context.sender && !context.is_governance() {
        return Err(error::GRANT_UNAUTHORIZED.into());
    }
    for scope in role.scopes.iter() {
        require_authority(context, scope)?;
    }
    Ok(role)
}

/// Instruction 34: gives an address a role, which has effect when it is accepted. Again, it begins anew.
pub fn assign(context: &mut Context<'_>, id: &Hash, assignee: Address) -> Step<()> {
    let role = require_role(context, id)?;
    // It would have no effect.
    if !rulers::is_the_same(context, role.creator, role.ruler)? {
        return Err(error::GRANT_UNAUTHORIZED.into());
    }
    if role.constraints.is_expired(context.height) {
        return Err(error::CONSTRAINTS_INVALID.into());
    }
    sweep_roles(context, assignee)?;
    let present = context.world.read::<Assignment>(&state::assignment(id, assignee))?;
    match present {
        Some(_) if !role.constraints.revocable => return Err(error::NOT_REVOCABLE.into()),
        // One that was not accepted counts as its issuer's, who may be another now: who made the role, or governance.
        Some(present) if !holder(context.world, assignee)?.roles.contains(id) => {
            open::discount(context.world, present.issuer)?;
            open::count(context, context.sender)?;
        }
        Some(_) => {}
        None => {
            let count = assigned(context.world, id)?.saturating_add(1);
            set_assigned(context.world, id, count);
            if open::is_accepted(context.world, assignee, context.sender)? {
                hold_role(context, assignee, *id)?;
            } else {
                open::count(context, context.sender)?;
            }
        }
    }
    let (issuer, assigned_at) = (context.sender, context.height);
    let assignment = Assignment { role: *id, issuer, constraints: role.constraints, window: None, assigned_at };
    context.world.write(state::assignment(id, assignee), &assignment);
    RoleAssigned(RoleFacts { id: *id, assignee }).emit(context.world);
    Ok(())
}

/// Instruction 35: takes a role from an address. One that may not be taken back goes once its span is over or every use of it is made: it has no effect any
/// more, and its deposit waits for it (decisions 744 and 751).
pub fn revoke(context: &mut Context<'_>, id: &Hash, assignee: Address) -> Step<()> {
    let role = require_role(context, id)?;
    let assignment: Assignment = context.world.read(&state::assignment(id, assignee))?.ok_or(error::ROLE_NOT_FOUND)?;
    let is_over = assignment.constraints.is_expired(context.height) || assignment.constraints.is_exhausted();
    if !role.constraints.revocable && !is_over && rulers::is_the_same(context, role.creator, role.ruler)? {
        return Err(error::NOT_REVOCABLE.into());
    }
    forget_roles(context.world, assignee, &[*id])?;
    RoleRevoked(RoleFacts { id: *id, assignee }).emit(context.world);
    Ok(())
}

/// Removes a role that nobody has and nobody may accept: who made it, and governance. Its deposit goes back.
pub fn remove(context: &mut Context<'_>, id: &Hash) -> Step<()> {
    let role = role(context.world, id)?.ok_or(error::ROLE_NOT_FOUND)?;
    let creator = role.creator;
    if creator != context.sender && !context.is_governance() {
        return Err(error::GRANT_UNAUTHORIZED.into());
    }
    if assigned(context.world, id)? > 0 {
        return Err(error::ROLE_ASSIGNED.into());
    }
    context.world.remove(state::role(id));
    deposits::give_back(context.world, state::NUMBER, creator, role.deposit)?;
    RoleRemoved { id: *id, creator }.emit(context.world);
    Ok(())
}
