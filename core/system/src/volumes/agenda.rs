//! What happens to volumes and relays without anybody asking, at the end of a block.

use super::forms::SlotMoved;
use super::ledger::{self, Paid};
use super::placement::{self, Now};
use super::relay_api::{SlotGiven, SlotLost};
use super::state::{self, Subject};
use super::types::{Slot, Status, Volume};
use super::{capabilities, commits, demands, directory, owners, proofs, status};
use crate::schema::Emit;
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::units::Height;
use cowboy_types::{Address, Hash};

/// Subjects that a block looks at, at most. The others wait for the next block.
pub const LOOKS: usize = 16;

/// Slots that a relay loses in one look, at most.
const LOST_AT_ONCE: u64 = 8;

/// Records that any look touches: the subject's own, those of the agenda, and accounts that are paid.
const RECORDS_OF_LOOK: u64 = 12;

/// Records that a slot touches which is paid, given or taken: its relay, that one's account and place in the agenda, pages of its directory, and the
/// volume whose entry moves. A capability that is removed touches no more.
const RECORDS_OF_SLOT: u64 = 8;

/// The subject that is due, where one is.
pub fn due(world: &World, height: Height) -> Result<Option<Subject>, Miss> {
    Ok(state::first_due(world)?.filter(|(due, _)| *due <= height).map(|(_, subject)| subject))
}

/// Modelled time of a look at a subject in ns, as long as it takes at worst (decision 722).
pub fn weight(world: &World, params: &Params, height: Height, subject: Subject) -> Result<u64, Miss> {
    let (places, partitions, relays) = match subject {
        Subject::Volume(id) => {
            let volume = state::volume(world, &id)?.expect("the agenda names volumes that are there");
            // Every relay is read where one is drawn.
            let is_open = |slot: &Slot| slot.relay.is_none() || is_late(params, height, slot);
            let does_draw = volume.status != Status::Deleted && volume.slots.iter().any(is_open);
            let relays = if does_draw { state::relays().count(world)? } else { 0 };
            let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
            let forgotten = if volume.status == Status::Deleted { volume.capabilities.0.min(count(owners::RECORDS_AT_ONCE)) } else { 0 };
            (count(volume.slots.len()).saturating_add(forgotten), count(volume.partitions.len()), relays)
        }
        Subject::Relay(_) => (LOST_AT_ONCE, 0, 0),
        Subject::Demand(_) | Subject::Mount(_) => (0, 0, 0),
    };
    let records = places.saturating_mul(RECORDS_OF_SLOT).saturating_add(partitions).saturating_add(relays).saturating_add(RECORDS_OF_LOOK);
    Ok(records.saturating_mul(params.weights.record).saturating_add(relays.saturating_mul(params.weights.draw)))
}

/// Looks at a subject that is due.
pub fn look(world: &mut World, params: &Params, height: Height, beacon: &Bytes, subject: Subject) -> Result<(), Miss> {
    let now = Now { params, height, beacon };
    match subject {
        Subject::Volume(id) => look_at_volume(world, now, &id),
        Subject::Relay(address) => look_at_relay(world, now, address),
        Subject::Demand(id) => demands::expire(world, params, height, &id),
        Subject::Mount(id) => capabilities::expire(world, &id),
    }
}

/// Pays a volume's relays, gives slots to others where theirs are gone, and removes what was deleted long ago.
fn look_at_volume(world: &mut World, now: Now<'_>, id: &Hash) -> Result<(), Miss> {
    let mut volume = state::volume(world, id)?.expect("the agenda names volumes that are there");
    let (rows, before) = (&now.params.volumes, volume.next_look);
    let removed_at = volume.deleted_at.map(|at| Height(at.0.saturating_add(rows.undelete)));
    if removed_at.is_some_and(|at| at <= now.height) {
        return owners::remove(world, now, id, volume);
    }
    if volume.paid_to.0.saturating_add(rows.epoch) <= now.height.0 {
        let paid = ledger::settle(world, now.params, now.height, &mut volume)?;
        commits::forget(world, now.params, now.height, id, &mut volume)?;
        paid.emit(world, id);
        if volume.status != Status::Deleted {
            match ledger::is_spent(now.params, &volume) {
                true => status::delete(world, now.height, id, &mut volume),
                false => status::restate(world, now.params, id, &mut volume),
            }
        }
    }
    if volume.status != Status::Deleted {
        give_slots(world, now, id, &mut volume)?;
    }
    volume.next_look = next_look(now, &volume);
    state::set_volume(world, id, Some(before), &volume)
}

/// When a volume is looked at next: when its epoch ends, a relay's time to rebuild is over, a relay may have come, or it is removed.
fn next_look(now: Now<'_>, volume: &Volume) -> Height {
    let rows = &now.params.volumes;
    let mut next = Height(volume.paid_to.0.saturating_add(rows.epoch));
    for slot in volume.slots.iter().filter(|_| volume.status != Status::Deleted) {
        next = next.min(match (slot.relay, slot.rebuilding_since()) {
            // Twice as long after each look: what nobody takes for long is looked at seldom.
            (None, _) => now.after(now.height.0.saturating_sub(slot.since.0).clamp(rows.retry, rows.epoch.max(rows.retry))),
            (Some(_), Some(since)) => Height(since.0.saturating_add(rows.fill)),
            (Some(_), None) => next,
        });
    }
    if let Some(at) = volume.deleted_at {
        next = next.min(Height(at.0.saturating_add(rows.undelete)));
    }
    next.max(now.height.next())
}

/// Whether the time in which a slot's relay was to rebuild it is over.
fn is_late(params: &Params, height: Height, slot: &Slot) -> bool {
    let last = height.0.saturating_sub(params.volumes.fill);
    slot.rebuilding_since().is_some_and(|since| since.0 <= last)
}

/// Takes slots from relays that did not rebuild them in time, or took them without enough of their bytes (decision 690), and draws relays for those that
/// have none.
fn give_slots(world: &mut World, now: Now<'_>, id: &Hash, volume: &mut Volume) -> Result<(), Miss> {
    ledger::count(now.params, volume, now.height);
    for place in 0..volume.slots.len() {
        let slot = volume.slots.get(place).filter(|slot| is_late(now.params, now.height, slot));
        let Some(relay) = slot.and_then(|slot| slot.relay) else { continue };
        placement::note_late(world, now, volume, relay)?;
        // One that serves it is paid for what it has.
        let mut paid = Paid::default();
        placement::vacate(world, now, volume, place, &mut paid)?;
        paid.emit(world, id);
        let slot = u8::try_from(place).expect("a volume has few slots");
        SlotLost(SlotMoved { relay: Some(relay), slot, volume_id: *id }).emit(world);
    }
    for (place, relay) in placement::fill(world, now, id, volume)? {
        let slot = u8::try_from(place).expect("a volume has few slots");
        SlotGiven(SlotMoved { relay: Some(relay), slot, volume_id: *id }).emit(world);
    }
    Ok(())
}

/// Draws and ends a relay's proofs, and takes its slots where it is gone: not before its round is over, so that whoever cannot prove gains nothing by
/// silence or by leaving.
fn look_at_relay(world: &mut World, now: Now<'_>, address: Address) -> Result<(), Miss> {
    let mut relay = state::relay(world, address)?.expect("the agenda names relays that are there");
    let before = relay.next_look;
    if let Some(round) = state::round(world, address)?.filter(|round| round.until < now.height) {
        proofs::miss(world, now.params, now.height, address, &mut relay, &round)?;
    }
    let is_healthy = relay.is_healthy(now.params, now.height);
    if (is_healthy || relay.owes_last_round()) && relay.draw_at <= now.height && state::round(world, address)?.is_none() {
        proofs::draw(world, now, address, &mut relay)?;
    }
    let round = state::round(world, address)?;
    let is_over = !is_healthy && round.is_none();
    if is_over && relay.left_at.is_none() && relay.slots > 0 {
        // Nobody knows since when it keeps nothing.
        relay.missed_at = now.height;
    }
    let answered_by = round.map_or(relay.draw_at, |round| round.until.next());
    relay.next_look = match is_healthy {
        true => answered_by.min(relay.silent_at(now.params).next()).max(now.height.next()),
        false if !is_over => answered_by.max(now.height.next()),
        false if relay.slots > 0 => now.height.next(),
        false => now.after(now.params.volumes.alive.max(1)),
    };
    let slots = relay.slots;
    state::set_relay(world, address, Some(before), &relay)?;
    if is_over {
        let places = slots.saturating_sub(LOST_AT_ONCE)..slots;
        require_volumes(world, address, places.clone())?;
        for place in places.rev() {
            lose(world, now, address, place)?;
        }
    }
    Ok(())
}

/// Asks for the volumes at some places of a relay's directory, all at once.
fn require_volumes(world: &World, address: Address, places: std::ops::Range<u64>) -> Result<(), Miss> {
    let mut volumes = Vec::new();
    for place in places {
        volumes.extend(directory::at(world, address, place)?.map(|entry| entry.volume));
    }
    world.require(&volumes.iter().map(state::volume_key).collect::<Vec<_>>())
}

/// Takes the slot at a place of a relay's directory, and has the volume looked at in the next block.
fn lose(world: &mut World, now: Now<'_>, address: Address, place: u64) -> Result<(), Miss> {
    let Some(entry) = directory::at(world, address, place)? else { return Ok(()) };
    let mut volume = state::volume(world, &entry.volume)?.expect("the directory lists volumes that are there");
    ledger::count(now.params, &mut volume, now.height);
    let mut paid = Paid::default();
    placement::vacate(world, now, &mut volume, usize::from(entry.slot), &mut paid)?;
    paid.emit(world, &entry.volume);
    let before = volume.next_look;
    volume.next_look = before.min(now.height.next());
    state::set_volume(world, &entry.volume, Some(before), &volume)?;
    SlotLost(SlotMoved { relay: Some(address), slot: entry.slot, volume_id: entry.volume }).emit(world);
    Ok(())
}
