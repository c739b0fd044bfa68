//! What 0x07 does when it is called by name.

use super::state::{self, DomainSet, NUMBER};
use super::{check, grants, lifecycle, manifests, open, permissions, roles};
use crate::actor::{Context, address_argument, hash_argument, number_argument};
use commonware_codec::{Decode as _, Read};
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::entitlement::{DomainSets, domain, registry};
use cowboy_types::instruction::System;
use cowboy_types::permission::{Action, Scope};
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Abort, Blob, Hash, List, Text, error};

fn text<'a>(argument: &'a Value, name: &str) -> Result<&'a str, Abort> {
    argument.get(name).and_then(Value::as_text).ok_or(error::INVALID_ARGUMENT)
}

pub(super) fn deprecate(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    lifecycle::deprecate(context, text(argument, "id")?, Height(number_argument(argument, "from")?))?;
    Ok(Value::Null)
}

pub(super) fn deprecations(context: &mut Context<'_>, _: &Value) -> Step<Value> {
    let standings = lifecycle::Standings::read(context.world)?;
    let rows = standings.rows().iter().map(|row| {
        Value::map([
            ("id", Value::text(row.id.to_string())),
            ("from", Value::uint(row.from.0)),
            ("removed_at", Value::uint(row.removed_at.0)),
        ])
    });
    Ok(Value::Array(rows.collect()))
}

/// Replaces or adds a curated set: what grants of it reach changes from the next request on.
pub(super) fn set_domain_set(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let name = text(argument, "name")?;
    let Some(Value::Array(items)) = argument.get("domains") else { return Err(error::INVALID_ARGUMENT.into()) };
    if !registry::is_set_name(name) {
        return Err(error::INVALID_ARGUMENT.into());
    }
    let pattern = |item: &Value| item.as_text().filter(|text| domain::is_canonical_pattern(text)).and_then(Text::new);
    let patterns = items.iter().map(pattern).collect::<Option<Vec<_>>>().and_then(List::new).ok_or(error::INVALID_ARGUMENT)?;
    context.world.write(state::domain_set(name), &DomainSet { patterns });
    let data = Value::map([("name", Value::text(name)), ("domains", Value::uint(u64::try_from(items.len()).unwrap_or(u64::MAX)))]);
    context.announce(NUMBER, "DomainSetChanged", &data);
    Ok(Value::Null)
}

pub(super) fn get_domain_set(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let name = text(argument, "name")?;
    let mut sets = DomainSets::default();
    grants::read_set(context.world, name, &mut sets)?;
    let patterns = sets.get(name).ok_or(error::INVALID_ARGUMENT)?;
    Ok(Value::Array(patterns.iter().map(|pattern| Value::text(pattern.clone())).collect()))
}

pub(super) fn redeploy(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let actor = address_argument(argument, "actor")?;
    let manifest = argument.get("manifest").and_then(Value::as_bytes).ok_or(error::INVALID_ARGUMENT)?;
    manifests::redeploy(context, actor, manifest)?;
    Ok(Value::Null)
}

/// What an operand encodes, strictly.
fn decoded<T: Read<Cfg = ()>>(bytes: &[u8]) -> Result<T, Abort> {
    T::decode_cfg(bytes.to_vec(), &()).map_err(|_| error::INVALID_ARGUMENT)
}

/// Instructions 30 to 35 (002 §7.2). Answers the id of what was made, as 32 bytes.
pub fn instruct(context: &mut Context<'_>, instruction: &System) -> Step<Vec<u8>> {
    context.require_running(NUMBER)?;
    let made = match instruction {
        System::EntitlementGrant { grantee, scope, action, constraints } => {
            Some(permissions::grant(context, *grantee, decoded(scope)?, decoded(action)?, decoded(constraints)?)?)
        }
        System::EntitlementDelegate { entitlement_id, delegatee, constraints } => {
            Some(permissions::delegate(context, entitlement_id, *delegatee, decoded(constraints)?)?)
        }
        System::EntitlementCreateRole { name, scopes, actions, constraints } => {
            Some(roles::create(context, name.clone(), decoded(scopes)?, decoded(actions)?, decoded(constraints)?)?)
        }
        System::EntitlementRevoke { entitlement_id } => permissions::revoke(context, entitlement_id).map(|()| None)?,
        System::EntitlementAssignRole { role_id, assignee } => roles::assign(context, role_id, *assignee).map(|()| None)?,
        System::EntitlementRevokeRole { role_id, assignee } => roles::revoke(context, role_id, *assignee).map(|()| None)?,
        _ => return Err(error::INVALID_ARGUMENT.into()),
    };
    Ok(made.map(|id: Hash| id.0.to_vec()).unwrap_or_default())
}

fn blob<const MAX: usize>(argument: &Value, name: &str) -> Result<Blob<MAX>, Abort> {
    let bytes = argument.get(name).and_then(Value::as_bytes).ok_or(error::INVALID_ARGUMENT)?;
    Blob::new(bytes.to_vec()).ok_or(error::INVALID_ARGUMENT)
}

/// A method whose arguments are an instruction's operands.
fn by_name(context: &mut Context<'_>, instruction: &System) -> Step<Value> {
    let made = instruct(context, instruction)?;
    Ok(if made.is_empty() { Value::Null } else { Value::Bytes(made) })
}

pub(super) fn grant(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let grantee = address_argument(argument, "grantee")?;
    let (scope, action) = (blob(argument, "scope")?, blob(argument, "action")?);
    by_name(context, &System::EntitlementGrant { grantee, scope, action, constraints: blob(argument, "constraints")? })
}

pub(super) fn revoke(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    by_name(context, &System::EntitlementRevoke { entitlement_id: hash_argument(argument, "entitlement_id")? })
}

pub(super) fn delegate(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (entitlement_id, delegatee) = (hash_argument(argument, "entitlement_id")?, address_argument(argument, "delegatee")?);
    by_name(context, &System::EntitlementDelegate { entitlement_id, delegatee, constraints: blob(argument, "constraints")? })
}

pub(super) fn create_role(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (name, scopes) = (blob(argument, "name")?, blob(argument, "scopes")?);
    let (actions, constraints) = (blob(argument, "actions")?, blob(argument, "constraints")?);
    by_name(context, &System::EntitlementCreateRole { name, scopes, actions, constraints })
}

pub(super) fn assign_role(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (role_id, assignee) = (hash_argument(argument, "role_id")?, address_argument(argument, "assignee")?);
    by_name(context, &System::EntitlementAssignRole { role_id, assignee })
}

pub(super) fn revoke_role(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (role_id, assignee) = (hash_argument(argument, "role_id")?, address_argument(argument, "assignee")?);
    by_name(context, &System::EntitlementRevokeRole { role_id, assignee })
}

/// A scope and an action, as people write them.
fn pair(argument: &Value) -> Result<(Scope, Action), Abort> {
    let scope = text(argument, "scope")?.parse().map_err(|_| error::INVALID_ARGUMENT)?;
    Ok((scope, text(argument, "action")?.parse().map_err(|_| error::INVALID_ARGUMENT)?))
}

pub(super) fn check(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (grantee, (scope, action)) = (address_argument(argument, "grantee")?, pair(argument)?);
    Ok(Value::Bool(check::check(context, grantee, &scope, &action)?))
}

pub(super) fn is_member(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let pool = argument.get("pool").and_then(Value::as_bytes).ok_or(error::INVALID_ARGUMENT)?;
    let runner = address_argument(argument, "runner")?;
    Ok(Value::Bool(check::is_member(context.world, context.params, context.height, runner, pool)?))
}

pub(super) fn accept(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    open::accept(context, &hash_argument(argument, "entitlement_id")?)?;
    Ok(Value::Null)
}

pub(super) fn renounce(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    open::renounce(context, &hash_argument(argument, "entitlement_id")?)?;
    Ok(Value::Null)
}

pub(super) fn accept_from(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let Some(Value::Bool(accepted)) = argument.get("accepted") else { return Err(error::INVALID_ARGUMENT.into()) };
    open::accept_from(context, address_argument(argument, "grantor")?, *accepted)?;
    Ok(Value::Null)
}

pub(super) fn accept_role(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    open::accept_role(context, &hash_argument(argument, "role_id")?)?;
    Ok(Value::Null)
}

pub(super) fn renounce_role(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    open::renounce_role(context, &hash_argument(argument, "role_id")?)?;
    Ok(Value::Null)
}

pub(super) fn consume(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (grantee, (scope, action)) = (address_argument(argument, "grantee")?, pair(argument)?);
    let amount = argument.get("amount").map_or(Some(0), Value::as_u64).ok_or(error::INVALID_ARGUMENT)?;
    check::consume(context, grantee, &scope, &action, Amount(amount))?;
    Ok(Value::Null)
}
