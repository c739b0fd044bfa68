//! Whether an address may do something, and the use of it (002 §7.3, §7.5).
//!
//! What has expired is deleted by whoever comes across it. A use of a delegated permission is a use of every one above it, so that a chain
//! never does more than its first link may.

use super::authority::{governs, has_authority, is_owner, require_authority};
use super::holders::{holder, permission, role};
use super::removal::{forget, open_permissions, sweep, sweep_roles};
use super::state::{self, Assignment, Permission, Window};
use super::validity::is_live;
use super::{open, rulers};
use crate::actor::Context;
use cowboy_params::Params;
use cowboy_state::{Miss, Step, World};
use cowboy_types::permission::{Action, Constraints, Name, Scope, record_id};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, error};

fn covers(scope: &Scope, action: &Action, asked_scope: &Scope, asked_action: &Action) -> bool {
    (*scope == Scope::Global || scope == asked_scope) && (*action == Action::All || action == asked_action)
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
    let open = open_permissions(context, grantee, scope, action)?;
    let held = holder(context.world, grantee)?;
    context.charge_records(open.len().saturating_add(2 * held.roles.len()));
    let mut found = Vec::new();
    for id in held.permissions.iter().chain(&open) {
        let Some(record) = permission(context.world, id)? else { continue };
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
        let Some(role) = role(context.world, id)? else { continue };
        let Some(assignment): Option<Assignment> = context.world.read(&state::assignment(id, grantee))? else { continue };
        let is_usable = assignment.constraints.is_in_span(context.height) && !assignment.constraints.is_exhausted();
        let covering = role.scopes.iter().find(|own| role.actions.iter().any(|what| covers(own, what, scope, action)));
        let Some(own) = covering.filter(|_| is_usable) else { continue };
        // Who sold what a role is about, or an actor that made it, has given away its role with it (decisions 571 and 596).
        context.charge_records(1);
        if rulers::is_the_same(context, role.creator, role.ruler)? && has_authority(context, role.creator, own)? {
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
    let Some(record) = permission(world, &id)? else { return Ok(false) };
    let is_held = holder(world, runner)?.permissions.contains(&id);
    let has_lapsed = !is_held && open::has_lapsed(params.entitlements.open_lapse, record.granted_at, height);
    if record.constraints.is_expired(height) || has_lapsed {
        forget(world, runner, &[id])?;
        return Ok(false);
    }
    if !record.constraints.is_in_span(height) || record.constraints.is_exhausted() {
        return Ok(false);
    }
    let may_grant = is_owner(world, (params, height), record.issuer, &record.scope)? || governs(world, record.issuer)?;
    // Last, so that it follows the owners of whose the pool is, and not of as many actors as there are members.
    Ok(may_grant && rulers::is_the_same_in(world, record.issuer, record.ruler)?)
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
            Some(parent) => permission(context.world, &parent)?.map(|above| (parent, above)),
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
