//! Actors that no longer run, since an entitlement that they hold was removed (000 §9.11).

use super::api::ActorNonExecutable;
use super::lifecycle::Standings;
use super::manifests::granted;
use super::state::{self, Deprecations, Sweep};
use crate::schema::EmitFor as _;
use cowboy_state::records::ActorStatus;
use cowboy_state::{Directory, Miss, World};
use cowboy_types::units::Height;
use cowboy_types::{Address, Event, List};

/// Looks at the next actors after a removal, at most this many: those that hold what was removed stand still from now on, and each
/// emits the event. Whether an actor runs follows from its manifest immediately, however far this is.
pub fn sweep(world: &mut World, height: Height, most: u64) -> Result<Vec<Event>, Miss> {
    let mut rows = Standings::read(world)?.rows().to_vec();
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
        let holds = granted(world, *actor)?.get(&row.id).is_some();
        let mut record = world.actor(*actor)?.expect("the directory lists actors");
        if !holds {
            continue;
        }
        // One that is dormant stays so: what it holds does not pay its rent.
        if record.status == ActorStatus::Active {
            record.status = ActorStatus::NonExecutable;
            world.set_actor(*actor, &record);
        }
        announced.push(ActorNonExecutable { id: row.id.clone(), height }.event_of(*actor));
    }
    row.sweep = later.first().map_or(Sweep::Done, |next| Sweep::At { next: *next });
    let rows = List::new(rows).expect("the rows came out of such a list");
    world.write(state::deprecations(), &Deprecations { rows });
    Ok(announced)
}
