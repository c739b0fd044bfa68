//! Actors that no longer run, since an entitlement that they hold was removed (000 §9.11).

use super::api::ActorNonExecutable;
use super::lifecycle::Standings;
use super::manifests::granted;
use super::state::{self, Deprecations, Sweep};
use crate::schema::EmitFor as _;
use cowboy_params::Params;
use cowboy_state::records::ActorStatus;
use cowboy_state::{Directory, Key, Kind, Miss, World};
use cowboy_types::units::Height;
use cowboy_types::{Address, Event, List};

/// Records that a look at an actor touches: its manifest, its own, and its place in the directory.
const RECORDS: u64 = 3;

/// What came of looking at the next actors after a removal.
#[derive(Debug, Default)]
pub struct Swept {
    /// What those emit that stand still from now on.
    pub events: Vec<Event>,
    /// The modelled time of it, in ns.
    pub weight: u64,
}

/// Looks at the next actors after a removal: at most `entitlements.sweep_per_block`, and none once it took `room` ns (decision 781). Those that hold what was
/// removed stand still from now on, and each emits the event. Whether an actor runs follows from its manifest immediately, however far this is.
pub fn sweep(world: &mut World, params: &Params, height: Height, room: u64) -> Result<Swept, Miss> {
    let mut rows = Standings::read(world)?.rows().to_vec();
    let mut swept = Swept::default();
    let Some(row) = rows.iter_mut().find(|row| row.removed_at <= height && row.sweep != Sweep::Done) else { return Ok(swept) };
    let from = match &row.sweep {
        Sweep::At { next } => next.0.to_vec(),
        _ => Vec::new(),
    };
    let most = usize::try_from(params.entitlements.sweep_per_block).expect("a sweep's row is small");
    // No more are read than there is room for, as each takes its records at least.
    let fits = room.checked_div(params.weights.record.saturating_mul(RECORDS)).map_or(most, |fits| usize::try_from(fits).unwrap_or(most));
    let most = most.min(fits.saturating_add(1));
    let names = Directory::actors().list(world, &from, most.saturating_add(1))?;
    let addresses: Vec<Address> = names.iter().map(|name| Address(name[..].try_into().expect("the directory lists addresses"))).collect();
    let (now, later) = addresses.split_at(addresses.len().min(most));
    let wanted: Vec<_> = now.iter().flat_map(|actor| [state::manifest(*actor), Key::of(Kind::Actor, *actor)]).collect();
    world.require(&wanted)?;
    let mut next = later.first();
    for actor in now {
        if swept.weight >= room {
            next = Some(actor);
            break;
        }
        swept.weight = swept.weight.saturating_add(weight(world, params, *actor)?);
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
        swept.events.push(ActorNonExecutable { id: row.id.clone(), height }.event_of(*actor));
    }
    row.sweep = next.map_or(Sweep::Done, |next| Sweep::At { next: *next });
    let rows = List::new(rows).expect("the rows came out of such a list");
    world.write(state::deprecations(), &Deprecations { rows });
    Ok(swept)
}

/// The modelled time of the look at an actor: its records, and its manifest, which is decoded.
fn weight(world: &World, params: &Params, actor: Address) -> Result<u64, Miss> {
    let manifest = world.get(&state::manifest(actor))?.map_or(0, |manifest| manifest.len());
    let decoding = u64::try_from(manifest).unwrap_or(u64::MAX).saturating_mul(params.weights.argument_byte);
    Ok(params.weights.record.saturating_mul(RECORDS).saturating_add(decoding))
}
