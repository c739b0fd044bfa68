//! Deprecation and removal of entitlements (000 §9.11): deprecation, a window, removal; then actors that still hold one no longer run.

use super::api::{DeprecatedEntitlementUsed, EntitlementDeprecated};
use super::state::{self, Deprecation, Deprecations, Sweep};
use crate::actor::Context;
use crate::schema::Emit;
use cowboy_state::records::ActorStatus;
use cowboy_state::{Directory, Miss, Step, World};
use cowboy_types::cbor::Value;
use cowboy_types::entitlement::{self, Grants};
use cowboy_types::units::Height;
use cowboy_types::{Address, Blob, Event, List, Text, error};

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

/// Looks at the next actors after a removal, at most this many: those that hold what was removed stand still from now on, and each
/// emits the event. Whether an actor runs follows from its manifest immediately, however far this is.
pub fn sweep(world: &mut World, height: Height, most: u64) -> Result<Vec<Event>, Miss> {
    let mut rows = Standings::read(world)?.0;
    let mut announced = Vec::new();
    let Some(row) = rows.iter_mut().find(|row| row.removed_at <= height && row.sweep != Sweep::Done) else { return Ok(announced) };
    let from = match &row.sweep {
        Sweep::At { next } => next.0.to_vec(),
        _ => Vec::new(),
    };
    let most = usize::try_from(most).expect("a sweep's row is small");
    let names = Directory::actors().list(world, &from, most.saturating_add(1))?;
    let addresses: Vec<Address> = names.iter().map(|name| Address(name[..].try_into().expect("the directory lists addresses"))).collect();
    let (now, later) = addresses.split_at(addresses.len().min(most));
    let wanted: Vec<_> = now.iter().map(|actor| state::manifest(*actor)).collect();
    world.require(&wanted)?;
    for actor in now {
        let holds = super::manifests::granted(world, *actor)?.get(&row.id).is_some();
        let mut record = world.actor(*actor)?.expect("the directory lists actors");
        if !holds {
            continue;
        }
        // One that is dormant stays so: what it holds does not pay its rent.
        if record.status == ActorStatus::Active {
            record.status = ActorStatus::NonExecutable;
            world.set_actor(*actor, &record);
        }
        let data = Value::map([("id", Value::text(row.id.to_string())), ("height", Value::uint(height.0))]);
        announced.push(Event {
            emitter: *actor,
            name: Text::new("ActorNonExecutable").expect("the name is short"),
            data: Blob::new(data.encode()).expect("the data is short"),
        });
    }
    row.sweep = later.first().map_or(Sweep::Done, |next| Sweep::At { next: *next });
    let rows = List::new(rows).expect("the rows came out of such a list");
    world.write(state::deprecations(), &Deprecations { rows });
    Ok(announced)
}
