//! What happens to volumes and relays without anybody asking, at the end of a block.

use super::forms::SlotMoved;
use super::ledger::{self, Paid};
use super::placement::{self, Now};
use super::relay_api::{SlotGiven, SlotLost};
use super::state::{self, Subject};
use super::types::{Slot, Status, Volume};
use super::{capabilities, commits, demands, directory, owners, proofs, status};
use crate::schema::Emit;
use crate::standstill::{Standstill, VOLUMES};
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::units::Height;
use cowboy_types::{Address, Hash};

/// Subjects that a block looks at, at most. The others wait for the next block. The time of looks bounds them before that (decisions 722 and 762).
pub const LOOKS: usize = 512;

/// Slots that a relay loses in one look, at most.
const LOST_AT_ONCE: u64 = 8;

/// Records that any look touches: the subject's own, those of the agenda, and accounts that are paid.
const RECORDS_OF_LOOK: u64 = 12;

/// Records that a slot touches which is paid, given or taken: its relay, that one's round, account and place in the agenda, pages of its directory, and
/// the volume whose entry moves. A capability that is removed touches no more.
const RECORDS_OF_SLOT: u64 = 9;

/// The subject that is due, where one is.
pub fn due(world: &World, height: Height) -> Result<Option<Subject>, Miss> {
    Ok(state::first_due(world)?.filter(|(due, _)| *due <= height).map(|(_, subject)| subject))
}

/// Modelled time of a look at a subject in ns, as long as it takes at worst (decision 722).
pub fn weight(world: &World, params: &Params, height: Height, subject: Subject) -> Result<u64, Miss> {
    let (places, partitions, relays) = match subject {
        Subject::Volume(id) => {
            let volume = state::volume(world, &id)?.expect("the agenda names volumes that are there");
            let still = VOLUMES.read(world)?;
            // Every relay is read where one is drawn.
            let is_open = |slot: &Slot| slot.relay.is_none() || is_late(params, &still, height, &volume, slot);
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
    let still = VOLUMES.read(world)?;
    let now = Now { params, still: &still, height, beacon };
    match subject {
        Subject::Volume(id) => look_at_volume(world, now, &id),
        Subject::Relay(address) => look_at_relay(world, now, address),
        Subject::Demand(id) => demands::expire(world, now, &id),
        Subject::Mount(id) => capabilities::expire(world, &id),
    }
}

/// Pays a volume's relays, gives slots to others where theirs are gone, and removes what was deleted long ago.
fn look_at_volume(world: &mut World, now: Now<'_>, id: &Hash) -> Result<(), Miss> {
    let mut volume = state::volume(world, id)?.expect("the agenda names volumes that are there");
    let before = volume.next_look;
    if is_undecided(world, now, &volume)? {
        volume.next_look = now.height.next();
        return state::set_volume(world, id, Some(before), &volume);
    }
    if removal_at(now, &volume).is_some_and(|at| at <= now.height) {
        return owners::remove(world, now, id, volume);
    }
    if epoch_end(now, &volume) <= now.height {
        let paid = ledger::settle(world, now.params, now.height, &mut volume)?;
        commits::forget(world, now, id, &mut volume)?;
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

/// From when a volume that owes for blocks of a pause pays its relays; none where it owes for none. They kept what stands, and each had to prove that before
/// (decision 734).
fn proven_by(params: &Params, still: &Standstill, volume: &Volume) -> Option<Height> {
    let rows = &params.volumes;
    let last = still.last().filter(|last| *last > volume.paid_to)?;
    // A round that is missed ends in the block after its last one, and volumes come before relays. Where rounds are further apart than epochs, there is not
    // one for each payment, and none is waited for.
    let proven = rows.proof_period.saturating_add(rows.proof_window).saturating_add(2);
    let proven = proven.min(rows.epoch.saturating_add(rows.proof_window));
    Some(Height(last.0.saturating_add(proven)))
}

/// A height at which relays of a volume are to be paid, or a later one before which they had to prove what they are paid for.
fn after_proofs(params: &Params, still: &Standstill, volume: &Volume, at: Height) -> Height {
    proven_by(params, still, volume).map_or(at, |proven| proven.max(at))
}

/// Whether a relay of a volume had to prove by now that it kept what stands through a pause, and may still do so, or was not looked at since: where much is
/// due, the protocol comes to it late.
fn is_undecided(world: &World, now: Now<'_>, volume: &Volume) -> Result<bool, Miss> {
    if proven_by(now.params, now.still, volume).is_none_or(|at| at > now.height) {
        return Ok(false);
    }
    let serving: Vec<Address> = volume.slots.iter().filter_map(Slot::serving).collect();
    world.require(&serving.iter().flat_map(|relay| [state::relay_key(*relay), state::round_key(*relay)]).collect::<Vec<_>>())?;
    for address in serving {
        let Some(relay) = state::relay(world, address)?.filter(|relay| relay.owes_proof(now.still, now.height)) else { continue };
        if relay.next_look <= now.height || state::round(world, address)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// When a volume's epoch ends. The blocks of a pause are not of its length, and are paid for.
fn epoch_end(now: Now<'_>, volume: &Volume) -> Height {
    let end = now.still.after(volume.paid_to, now.params.volumes.epoch);
    after_proofs(now.params, now.still, volume, end)
}

/// From when a volume that is deleted is removed, for which its relays are paid.
fn removal_at(now: Now<'_>, volume: &Volume) -> Option<Height> {
    let at = volume.removed_at(now.params, now.still)?;
    Some(after_proofs(now.params, now.still, volume, at))
}

/// When a volume is looked at next: when its epoch ends, a relay's time to rebuild is over, a relay may have come, or it is removed.
fn next_look(now: Now<'_>, volume: &Volume) -> Height {
    let rows = &now.params.volumes;
    let mut next = epoch_end(now, volume);
    for slot in volume.slots.iter().filter(|_| volume.status != Status::Deleted) {
        next = next.min(match slot.relay {
            // Twice as long after each look: what nobody takes for long is looked at seldom.
            None => now.after(now.height.0.saturating_sub(slot.since.0).clamp(rows.retry, rows.epoch.max(rows.retry))),
            Some(_) => late_at(now.params, now.still, volume, slot).unwrap_or(next),
        });
    }
    if let Some(at) = removal_at(now, volume) {
        next = next.min(at);
    }
    next.max(now.height.next())
}

/// When a relay loses a slot that it has not rebuilt; none where it has. One that serves the slot is paid for what it has of it.
fn late_at(params: &Params, still: &Standstill, volume: &Volume, slot: &Slot) -> Option<Height> {
    let at = still.after(slot.rebuilding_since()?, params.volumes.fill);
    Some(if slot.serving().is_some() { after_proofs(params, still, volume, at) } else { at })
}

/// Whether the time in which a slot's relay was to rebuild it is over.
fn is_late(params: &Params, still: &Standstill, height: Height, volume: &Volume, slot: &Slot) -> bool {
    late_at(params, still, volume, slot).is_some_and(|at| at <= height)
}

/// Takes slots from relays that did not rebuild them in time, or took them without enough of their bytes (decision 690), and draws relays for those that
/// have none.
fn give_slots(world: &mut World, now: Now<'_>, id: &Hash, volume: &mut Volume) -> Result<(), Miss> {
    ledger::count(now.params, volume, now.height);
    for place in 0..volume.slots.len() {
        let slot = volume.slots.get(place).filter(|slot| is_late(now.params, now.still, now.height, volume, slot));
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
    if let Some(round) = state::round(world, address)?.filter(|round| round.answered_until(now.still) < now.height) {
        proofs::miss(world, now.params, now.height, address, &mut relay, &round)?;
    }
    let is_healthy = relay.is_healthy(now.params, now.still, now.height);
    let is_due = (is_healthy || relay.owes_last_round()) && relay.draw_at <= now.height;
    // A round that was drawn before a pause asks for nothing of what was lost in it.
    let is_last_due = relay.left_at.is_some() && relay.slots > 0 && relay.owes_proof(now.still, now.height);
    if (is_due || is_last_due) && state::round(world, address)?.is_none() {
        proofs::draw(world, now, address, &mut relay)?;
    }
    let round = state::round(world, address)?;
    let is_over = !is_healthy && round.is_none();
    if is_over && relay.left_at.is_none() && relay.slots > 0 {
        // Nobody knows since when it keeps nothing.
        relay.missed_at = now.height;
    }
    let answered_by = round.map_or(relay.draw_at, |round| round.answered_until(now.still).next());
    relay.next_look = match is_healthy {
        true => answered_by.min(relay.silent_at(now.params, now.still).next()).max(now.height.next()),
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
