//! A holder takes what was given to it, or gives it up (decisions 180, 332).

use super::api::{EntitlementAccepted, EntitlementRenounced};
use super::holders::{hold, hold_role, holder, permission};
use super::open;
use super::permissions::facts_of;
use super::removal::{forget, forget_roles, sweep};
use super::state::{self, Accepts, Assignment, Permission};
use crate::actor::Context;
use crate::schema::Emit as _;
use cowboy_state::Step;
use cowboy_types::{Address, Hash, List, error};

/// The sender's permission of this id, accepted or not.
fn own(context: &Context<'_>, id: &Hash) -> Step<Permission> {
    let record = permission(context.world, id)?.ok_or(error::PERMISSION_NOT_FOUND)?;
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
    if open::has_lapsed(context.params.entitlements.open_lapse, record.granted_at, context.height) {
        return Err(error::PERMISSION_NOT_FOUND.into());
    }
    open::forget(context.world, id)?;
    hold(context, record.grantee, *id)?;
    EntitlementAccepted(facts_of(id, &record)).emit(context.world);
    Ok(())
}

/// The holder gives a permission up, or refuses it. What its grantor may not take back may be given up all the same.
pub(super) fn renounce(context: &mut Context<'_>, id: &Hash) -> Step<()> {
    let record = own(context, id)?;
    forget(context.world, record.grantee, &[*id])?;
    EntitlementRenounced(facts_of(id, &record)).emit(context.world);
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
        let accepts = Accepts { grantors: List::new(grantors).ok_or(error::TOO_MANY_PERMISSIONS)? };
        context.charge_kept(&accepts);
        context.world.write(key, &accepts);
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
    open::discount(context.world, assignment.issuer)?;
    hold_role(context, sender, *role)
}

/// The holder gives a role up, or refuses it.
pub(super) fn renounce_role(context: &mut Context<'_>, role: &Hash) -> Step<()> {
    own_role(context, role)?;
    Ok(forget_roles(context.world, context.sender, &[*role])?)
}
