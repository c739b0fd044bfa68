//! What a permission depends on: its conditions, the chain of delegations above it, and who granted it.

use super::authority::has_authority;
use super::holders::permission;
use super::rulers;
use super::state::Permission;
use crate::actor::Context;
use cowboy_state::Miss;
use cowboy_types::Hash;
use cowboy_types::permission::Constraints;

/// The record that another was delegated from. `None` where it is gone, or was granted again since: that ends what was passed on before
/// (decision 580).
fn parent(context: &mut Context<'_>, record: &Permission, id: &Hash) -> Result<Option<Permission>, Miss> {
    context.charge_records(1);
    Ok(permission(context.world, id)?.filter(|above| above.number == record.parent_number))
}

/// Whether every record that this was delegated from is still there and in its span.
pub(super) fn has_ancestors(context: &mut Context<'_>, record: &Permission) -> Result<bool, Miss> {
    let mut link = record.clone();
    // Each link is less deep than the one below it, so this ends.
    while let Some(id) = link.parent_id {
        match parent(context, &link, &id)? {
            Some(above) if !above.constraints.is_expired(context.height) => link = above,
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Whether the conditions of a record and of all that it was delegated from fit, each of their issuers is ruled by whom it was, and who granted the
/// first may still grant in its scope.
fn binds(context: &mut Context<'_>, record: &Permission, fits: impl Fn(&Constraints) -> bool) -> Result<bool, Miss> {
    let mut link = record.clone();
    loop {
        if !fits(&link.constraints) || !rulers::is_the_same(context, link.issuer, link.ruler)? {
            return Ok(false);
        }
        let Some(id) = link.parent_id else { return has_authority(context, link.issuer, &link.scope) };
        match parent(context, &link, &id)? {
            Some(above) => link = above,
            None => return Ok(false),
        }
    }
}

/// Whether a record binds who granted it: neither it nor what it was delegated from is over.
pub(super) fn is_in_force(context: &mut Context<'_>, record: &Permission) -> Result<bool, Miss> {
    let height = context.height;
    binds(context, record, |constraints| !constraints.is_expired(height))
}

/// Whether a record may be used at this height, and all that it was delegated from. Who sold what it is about, or an actor that granted it, has given
/// it away, as a role (decisions 580 and 596).
pub(super) fn is_live(context: &mut Context<'_>, record: &Permission) -> Result<bool, Miss> {
    let height = context.height;
    binds(context, record, |constraints| constraints.is_in_span(height) && !constraints.is_exhausted())
}
