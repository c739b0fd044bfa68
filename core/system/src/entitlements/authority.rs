//! Who may say who does what within a scope: whose the scope is, and governance.

use crate::actor::{self, Context};
use crate::ledger;
use crate::registrations::{self, label};
use cowboy_params::Params;
use cowboy_state::records::{Deployers, keys};
use cowboy_state::{Miss, Step, World};
use cowboy_types::permission::{Name, Scope};
use cowboy_types::units::Height;
use cowboy_types::{Address, List, error};

/// Whether the sender may say who does what within a scope.
///
/// Governance may everywhere. Otherwise an actor's owner or the actor itself, the runner itself, a token's owner, and the one after whom a
/// pool or namespace is named. The chain is governance's.
pub(super) fn require_authority(context: &mut Context<'_>, scope: &Scope) -> Step<()> {
    if has_authority(context, context.sender, scope)? { Ok(()) } else { Err(error::GRANT_UNAUTHORIZED.into()) }
}

/// Whether an address may grant in a scope now.
pub(super) fn has_authority(context: &Context<'_>, address: Address, scope: &Scope) -> Result<bool, Miss> {
    Ok(is_owner(context.world, (context.params, context.height), address, scope)? || context.governs(address))
}

/// Whether a scope is an address's own.
pub(super) fn is_owner(world: &World, now: (&Params, Height), address: Address, scope: &Scope) -> Result<bool, Miss> {
    Ok(match scope {
        Scope::Global => false,
        Scope::Token { token } => ledger::find(world, token)?.is_some_and(|token| token.owner == address),
        Scope::Actor { actor } => address == *actor || world.actor(*actor)?.is_some_and(|record| record.owner == address),
        Scope::Runner { runner } => address == *runner,
        Scope::RunnerPool { pool: name } | Scope::Namespace { name } => owner_of(world, now, name)? == Some(address),
    })
}

/// Whose a pool or namespace is, by its name alone (decision 180): the address that it begins with, 40 lower-case digits and a slash, or
/// who owns the name in the Route Registry. So nobody can be first in another's.
fn owner_of(world: &World, (params, height): (&Params, Height), name: &Name) -> Result<Option<Address>, Miss> {
    let Ok(text) = core::str::from_utf8(name) else { return Ok(None) };
    if let Some((digits, label)) = text.split_once('/') {
        let written = format!("0x{digits}");
        let address = written.parse::<Address>().ok();
        return Ok(address.filter(|address| !label.is_empty() && address.to_string() == written));
    }
    if label::check(params, text).is_err() {
        return Ok(None);
    }
    Ok(registrations::state::live(world, text, height)?.map(|found| found.record.owner))
}

/// Whether an address acts for governance. Reads what a [`Context`] has of the block.
pub(super) fn governs(world: &World, address: Address) -> Result<bool, Miss> {
    let deployers = world.read::<Deployers>(&keys::deployers())?.map_or_else(List::default, |deployers| deployers.accounts);
    Ok(actor::governs(&deployers, address))
}
