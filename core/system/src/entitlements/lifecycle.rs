//! Deprecation and removal of entitlements (000 §9.11): deprecation, a window, removal; then actors that still hold one no longer run.

use super::api::{DeprecatedEntitlementUsed, EntitlementDeprecated};
use super::state::{self, Deprecation, Deprecations, Sweep};
use crate::actor::Context;
use crate::schema::Emit as _;
use cowboy_state::{Miss, Step, World};
use cowboy_types::entitlement::{self, Grants};
use cowboy_types::units::Height;
use cowboy_types::{Address, List, Text, error};

/// Where an entitlement stands at a height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In the registry.
    Current,
    /// In the registry until a height.
    Deprecated {
        /// The first height at which it is gone.
        removed_at: Height,
    },
    /// Gone.
    Removed,
}

/// The deprecations that the state knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standings(Vec<Deprecation>);

impl Standings {
    /// Reads them.
    pub fn read(world: &World) -> Result<Self, Miss> {
        Ok(Self(world.read::<Deprecations>(&state::deprecations())?.map(|record| record.rows.into_vec()).unwrap_or_default()))
    }

    /// Where an entitlement stands.
    pub fn of(&self, id: &str, height: Height) -> Standing {
        match self.0.iter().find(|row| &*row.id == id) {
            Some(row) if height >= row.removed_at => Standing::Removed,
            Some(row) if height >= row.from => Standing::Deprecated { removed_at: row.removed_at },
            _ => Standing::Current,
        }
    }

    /// Whether every grant is in the registry still: an actor with another does not run.
    pub fn are_executable(&self, grants: &Grants, height: Height) -> bool {
        self.0.is_empty() || grants.all().iter().all(|grant| self.of(grant.entitlement.id, height) != Standing::Removed)
    }

    /// The rows, ascending by id.
    pub fn rows(&self) -> &[Deprecation] {
        &self.0
    }
}

/// Marks an entitlement as deprecated from a height on; it is removed when the window after that is over.
pub fn deprecate(context: &mut Context<'_>, id: &str, from: Height) -> Step<()> {
    let row = entitlement::entitlement(id).filter(|row| row.since <= context.rules.version).ok_or(error::ENTITLEMENT_UNKNOWN)?;
    // 000 §9.2: it cannot be revoked once granted, and a removal would.
    if row.id == "sys.upgrade" || from < context.height {
        return Err(error::INVALID_ARGUMENT.into());
    }
    let mut rows = Standings::read(context.world)?.0;
    let Err(place) = rows.binary_search_by(|row| (*row.id).cmp(id)) else { return Err(error::INVALID_ARGUMENT.into()) };
    let removed_at = Height(from.0.saturating_add(context.params.entitlements.deprecation_window).saturating_add(1));
    let id = Text::new(id).expect("ids of the registry are short");
    let event = EntitlementDeprecated { id: id.clone(), from, removed_at };
    rows.insert(place, Deprecation { id, from, removed_at, sweep: Sweep::Waiting });
    let rows = List::new(rows).expect("the registry has fewer rows than the list holds");
    context.world.write(state::deprecations(), &Deprecations { rows });
    event.emit(context.world);
    Ok(())
}

/// Warns that a deployment uses what will be removed.
pub fn warn(world: &mut World, actor: Address, grants: &Grants, height: Height) -> Result<(), Miss> {
    let standings = Standings::read(world)?;
    for grant in grants.all() {
        let Standing::Deprecated { removed_at } = standings.of(grant.entitlement.id, height) else { continue };
        let id = Text::new(grant.entitlement.id).expect("ids of the registry are short");
        DeprecatedEntitlementUsed { actor, id, removed_at }.emit(world);
    }
    Ok(())
}
