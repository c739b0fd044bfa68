//! Whether an address may do something, and the use of it (002 §7.3, §7.5).
//!
//! What has expired is deleted by whoever comes across it. A use of a delegated permission is a use of every one above it, so that a chain
//! never does more than its first link may.

use super::open;
use super::permissions::{has_authority, holder, is_owner, read, require_authority, sweep};
use super::roles;
use super::state::{self, Assignment, Permission, Window};
use crate::actor::{self, Context};
use cowboy_params::Params;
use cowboy_state::records::{Deployers, keys};
use cowboy_state::{Miss, Step, World};
use cowboy_types::permission::{Action, Constraints, Name, Scope, record_id};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List, error};

/// The record that another was delegated from. `None` where it is gone, or was granted again since: that ends what was passed on before
/// (decision 580).
fn parent(context: &mut Context<'_>, record: &Permission, id: &Hash) -> Result<Option<Permission>, Miss> {
    context.charge_records(1);
    Ok(read(context.world, id)?.filter(|above| above.number == record.parent_number))
}

/// The first record of a chain of delegations. `None` where one above `record` is gone or over.
fn first(context: &mut Context<'_>, record: &Permission) -> Result<Option<Permission>, Miss> {
    let mut link = record.clone();
    // Each link is less deep than the one below it, so this ends.
    while let Some(id) = link.parent_id {
        match parent(context, &link, &id)? {
            Some(above) if !above.constraints.is_expired(context.height) => link = above,
            _ => return Ok(None),
        }
    }
    Ok(Some(link))
}

/// Whether every record that this was delegated from is still there and in its span.
pub(super) fn has_ancestors(context: &mut Context<'_>, record: &Permission) -> Result<bool, Miss> {
    Ok(first(context, record)?.is_some())
}

/// Whether a record binds who granted it: it is not over, and who granted the first of its chain may still grant in its scope.
pub(super) fn is_in_force(context: &mut Context<'_>, record: &Permission) -> Result<bool, Miss> {
    if record.constraints.is_expired(context.height) {
        return Ok(false);
    }
    match first(context, record)? {
        Some(first) => has_authority(context, first.issuer, &first.scope),
        None => Ok(false),
    }
}

/// Whether a record may be used at this height, and all that it was delegated from. Who sold what it is about has given it away, as a role
/// (decision 580).
pub(super) fn is_live(context: &mut Context<'_>, record: &Permission) -> Result<bool, Miss> {
    let height = context.height;
    let is_usable = |constraints: &Constraints| constraints.is_in_span(height) && !constraints.is_exhausted();
    let mut link = record.clone();
    loop {
        if !is_usable(&link.constraints) {
            return Ok(false);
        }
        let Some(id) = link.parent_id else { return has_authority(context, link.issuer, &link.scope) };
        match parent(context, &link, &id)? {
            Some(above) => link = above,
            None => return Ok(false),
        }
    }
}

fn covers(scope: &Scope, action: &Action, asked_scope: &Scope, asked_action: &Action) -> bool {
    (*scope == Scope::Global || scope == asked_scope) && (*action == Action::All || action == asked_action)
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
    roles::forget(context.world, address, &gone)
}

/// What allows something.
enum Source {
    Permission(Hash, Box<Permission>),
    Role(Hash, Box<Assignment>),
}

/// Everything that allows an address an action in a scope now, its permissions before its roles, those that it accepted first.
fn sources(context: &mut Context<'_>, grantee: Address, scope: &Scope, action: &Action) -> Result<Vec<Source>, Miss> {
    sweep(context, grantee)?;
    sweep_roles(context, grantee)?;
    let open = open::permissions(context, grantee, scope, action)?;
    let held = holder(context.world, grantee)?;
    context.charge_records(open.len().saturating_add(2 * held.roles.len()));
    let mut found = Vec::new();
    for id in held.permissions.iter().chain(&open) {
        let Some(record) = read(context.world, id)? else { continue };
        if !covers(&record.scope, &record.action, scope, action) {
            continue;
        }
        // Whose the scope is.
        context.charge_records(1);
        if is_live(context, &record)? {
            found.push(Source::Permission(*id, Box::new(record)));
        }
    }
    for id in held.roles.iter() {
        let Some(role) = roles::read(context.world, id)? else { continue };
        let Some(assignment): Option<Assignment> = context.world.read(&state::assignment(id, grantee))? else { continue };
        let is_usable = assignment.constraints.is_in_span(context.height) && !assignment.constraints.is_exhausted();
        let covering = role.scopes.iter().find(|own| role.actions.iter().any(|what| covers(own, what, scope, action)));
        let Some(own) = covering.filter(|_| is_usable) else { continue };
        // Who sold what a role is about has given away its role with it (decision 571).
        context.charge_records(1);
        if has_authority(context, role.creator, own)? {
            found.push(Source::Role(*id, Box::new(assignment)));
        }
    }
    Ok(found)
}

/// Whether an address may do something: nothing is counted.
pub fn check(context: &mut Context<'_>, grantee: Address, scope: &Scope, action: &Action) -> Result<bool, Miss> {
    Ok(!sources(context, grantee, scope, action)?.is_empty())
}

/// Whether a runner is in a pool at a height (002 §7.3): a permission of exactly this scope and action, in its span and not used up, of who may
/// grant it now. No wildcard counts, no role, and no use is counted. Where nobody granted anything nobody is (002 §7.6).
pub fn is_member(world: &mut World, params: &Params, height: Height, runner: Address, pool: &[u8]) -> Result<bool, Miss> {
    let Some(pool) = Name::new(pool.to_vec()) else { return Ok(false) };
    let (scope, action) = (Scope::RunnerPool { pool: pool.clone() }, Action::RunnerJoinPool { pool });
    let id = record_id(&runner, &scope, &action, None);
    let Some(record) = read(world, &id)? else { return Ok(false) };
    let is_held = holder(world, runner)?.permissions.contains(&id);
    let has_lapsed = !is_held && open::has_lapsed(params.entitlements.open_lapse, record.granted_at, height);
    if record.constraints.is_expired(height) || has_lapsed {
        super::permissions::forget(world, runner, &[id])?;
        return Ok(false);
    }
    if !record.constraints.is_in_span(height) || record.constraints.is_exhausted() {
        return Ok(false);
    }
    Ok(is_owner(world, (params, height), record.issuer, &record.scope)? || governs(world, record.issuer)?)
}

/// Whether an address acts for governance. Reads what a [`Context`] has of the block.
fn governs(world: &World, address: Address) -> Result<bool, Miss> {
    let deployers = world.read::<Deployers>(&keys::deployers())?.map_or_else(List::default, |deployers| deployers.accounts);
    Ok(actor::governs(&deployers, address))
}

/// Conditions after one more use that moves this much, `None` where they do not allow it.
fn used(constraints: &Constraints, window: Option<&Window>, amount: u128, height: Height) -> Option<(Constraints, Option<Window>)> {
    let is_above = |amount: u128, most: Option<Amount>| most.is_some_and(|most| amount > u128::from(most.0));
    let total = u128::from(constraints.total_amount_used.0).saturating_add(amount);
    if is_above(amount, constraints.max_amount_per_use) || is_above(total, constraints.max_total_amount) {
        return None;
    }
    // A sum that has no maximum may be larger than what is counted.
    let total = u64::try_from(total).map_or(Amount::MAX, Amount);
    let window = match &constraints.rate_limit {
        None => None,
        Some(rate) => {
            let fresh = Window { start: height, uses: Count::ZERO };
            let mut window = window.filter(|window| height.0 < window.start.0.saturating_add(rate.blocks.0)).cloned().unwrap_or(fresh);
            window.uses = Count(window.uses.0.saturating_add(1));
            if window.uses > rate.uses {
                return None;
            }
            Some(window)
        }
    };
    let used_count = Count(constraints.used_count.0.saturating_add(1));
    Some((Constraints { used_count, total_amount_used: total, ..constraints.clone() }, window))
}

/// Counts a use of a record and of all that it was delegated from. Answers whether all of them allow it; where not, nothing changes.
fn use_chain(context: &mut Context<'_>, id: Hash, record: &Permission, amount: u128) -> Result<bool, Miss> {
    let mut changed = Vec::new();
    let mut link = Some((id, record.clone()));
    while let Some((id, mut record)) = link {
        let Some((constraints, window)) = used(&record.constraints, record.window.as_ref(), amount, context.height) else {
            return Ok(false);
        };
        (record.constraints, record.window) = (constraints, window);
        link = match record.parent_id {
            Some(parent) => read(context.world, &parent)?.map(|above| (parent, above)),
            None => None,
        };
        changed.push((id, record));
    }
    changed.iter().for_each(|(id, record)| context.world.write(state::permission(id), record));
    Ok(true)
}

/// Uses what an address holds: whoever rules the scope asks, before it lets them do it. Fails where nothing allows it.
///
/// `amount` has 128 bits, as tokens do: a maximum of all that a number of 64 bits holds is a maximum, too.
pub fn consume(context: &mut Context<'_>, grantee: Address, scope: &Scope, action: &Action, amount: u128) -> Step<()> {
    require_authority(context, scope)?;
    let found = sources(context, grantee, scope, action)?;
    if found.is_empty() {
        return Err(error::MISSING_ENTITLEMENT.into());
    }
    for source in found {
        let is_used = match source {
            Source::Permission(id, record) => use_chain(context, id, &record, amount)?,
            Source::Role(id, mut assignment) => match used(&assignment.constraints, assignment.window.as_ref(), amount, context.height) {
                None => false,
                Some((constraints, window)) => {
                    (assignment.constraints, assignment.window) = (constraints, window);
                    context.world.write(state::assignment(&id, grantee), &*assignment);
                    true
                }
            },
        };
        if is_used {
            return Ok(());
        }
    }
    Err(error::PERMISSION_UNUSABLE.into())
}
