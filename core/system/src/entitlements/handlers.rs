//! What 0x07 does when it is called.

use super::api::{
    Accept, AcceptFrom, AcceptRole, AssignRole, Check, Consume, CreateRole, Delegate, Deprecate, Deprecated, DomainSetChanged,
    GetDomainSet, Grant, IsMember, ListDeprecations, Pattern, Redeploy, RemoveRole, Renounce, RenounceRole, Revoke, RevokeRole,
    SetDomainSet, Written,
};
use super::prices::Operation;
use super::state::{self, DomainSet};
use super::{acceptance, check, grants, lifecycle, manifests, permissions, roles};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use commonware_codec::{Decode as _, Read};
use cowboy_state::Step;
use cowboy_types::entitlement::{DomainSets, domain, registry};
use cowboy_types::permission::{Action, Scope};
use cowboy_types::units::Count;
use cowboy_types::{Abort, Hash, List, Text, error};

impl Handle for Deprecate {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        lifecycle::deprecate(context, &self.id, self.from)
    }
}

impl Handle for ListDeprecations {
    fn handle(self, context: &mut Context<'_>) -> Step<List<Deprecated, 64>> {
        let standings = lifecycle::Standings::read(context.world)?;
        let rows = standings.rows().iter().map(|row| Deprecated { id: row.id.clone(), from: row.from, removed_at: row.removed_at });
        Ok(List::new(rows.collect()).expect("the record has as many"))
    }
}

/// Replaces or adds a curated set: what grants of it reach changes from the next request on.
impl Handle for SetDomainSet {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { name, domains: patterns } = self;
        if !registry::is_set_name(&name) || !patterns.iter().all(|pattern| domain::is_canonical_pattern(pattern)) {
            return Err(error::INVALID_ARGUMENT.into());
        }
        let domains = Count(u64::try_from(patterns.len()).unwrap_or(u64::MAX));
        context.world.write(state::domain_set(&name), &DomainSet { patterns });
        DomainSetChanged { name, domains }.emit(context.world);
        Ok(())
    }
}

impl Handle for GetDomainSet {
    fn handle(self, context: &mut Context<'_>) -> Step<List<Pattern, 256>> {
        let mut sets = DomainSets::default();
        grants::read_set(context.world, &self.name, &mut sets)?;
        let patterns = sets.get(&self.name).ok_or(error::INVALID_ARGUMENT)?;
        let patterns = patterns.iter().map(Text::new).collect::<Option<Vec<_>>>();
        Ok(patterns.and_then(List::new).expect("a set has as many, and as long ones"))
    }
}

impl Handle for Redeploy {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        manifests::redeploy(context, self.actor, &self.manifest)
    }
}

/// What an operand encodes, strictly.
fn decoded<T: Read<Cfg = ()>>(bytes: &[u8]) -> Result<T, Abort> {
    T::decode_cfg(bytes.to_vec(), &()).map_err(|_| error::INVALID_ARGUMENT)
}

impl Handle for Grant {
    fn charge_call(&self, context: &mut Context<'_>) -> Step<()> {
        let bytes = self.scope.len().saturating_add(self.action.len()).saturating_add(self.constraints.len());
        Operation::Grant { bytes }.charge(context)
    }

    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        permissions::grant(context, self.grantee, decoded(&self.scope)?, decoded(&self.action)?, decoded(&self.constraints)?)
    }
}

impl Handle for Revoke {
    fn charge_call(&self, context: &mut Context<'_>) -> Step<()> {
        Operation::Revoke.charge(context)
    }

    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        permissions::revoke(context, &self.entitlement_id)
    }
}

impl Handle for Delegate {
    fn charge_call(&self, context: &mut Context<'_>) -> Step<()> {
        Operation::Delegate { bytes: self.constraints.len() }.charge(context)
    }

    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        permissions::delegate(context, &self.entitlement_id, self.delegatee, decoded(&self.constraints)?)
    }
}

impl Handle for CreateRole {
    fn charge_call(&self, context: &mut Context<'_>) -> Step<()> {
        let operands = [self.name.len(), self.scopes.len(), self.actions.len(), self.constraints.len()];
        Operation::CreateRole { bytes: operands.iter().fold(0, |sum: usize, bytes| sum.saturating_add(*bytes)) }.charge(context)
    }

    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        let Self { name, scopes, actions, constraints } = self;
        roles::create(context, name, decoded(&scopes)?, decoded(&actions)?, decoded(&constraints)?)
    }
}

impl Handle for AssignRole {
    fn charge_call(&self, context: &mut Context<'_>) -> Step<()> {
        Operation::Assign.charge(context)
    }

    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        roles::assign(context, &self.role_id, self.assignee)
    }
}

impl Handle for RevokeRole {
    fn charge_call(&self, context: &mut Context<'_>) -> Step<()> {
        Operation::Assign.charge(context)
    }

    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        roles::revoke(context, &self.role_id, self.assignee)
    }
}

impl Handle for RemoveRole {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        roles::remove(context, &self.role_id)
    }
}

impl Handle for Accept {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        acceptance::accept(context, &self.entitlement_id)
    }
}

impl Handle for Renounce {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        acceptance::renounce(context, &self.entitlement_id)
    }
}

impl Handle for AcceptFrom {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        acceptance::accept_from(context, self.grantor, self.accepted)
    }
}

impl Handle for AcceptRole {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        acceptance::accept_role(context, &self.role_id)
    }
}

impl Handle for RenounceRole {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        acceptance::renounce_role(context, &self.role_id)
    }
}

/// A scope and an action, as people write them.
fn pair(scope: &Written, action: &Written) -> Result<(Scope, Action), Abort> {
    let scope = scope.parse().map_err(|_| error::INVALID_ARGUMENT)?;
    Ok((scope, action.parse().map_err(|_| error::INVALID_ARGUMENT)?))
}

impl Handle for Check {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let (scope, action) = pair(&self.scope, &self.action)?;
        Ok(check::check(context, self.grantee, &scope, &action)?)
    }
}

impl Handle for IsMember {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        Ok(check::is_member(context.world, context.params, context.height, self.runner, &self.pool)?)
    }
}

impl Handle for Consume {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let (scope, action) = pair(&self.scope, &self.action)?;
        check::consume(context, self.grantee, &scope, &action, self.amount.0.into())
    }
}
