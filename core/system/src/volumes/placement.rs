//! Which relay has which slot (decisions 149, 158).

use super::directory::{self, Entry};
use super::ledger::{self, Paid, change_slot};
use super::state;
use super::types::{Slot, Volume};
use crate::market::selection::Picks;
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::job::Candidate;
use cowboy_types::units::Height;
use cowboy_types::{Address, Hash, keccak256};
use std::collections::BTreeMap;

/// What separates this use of a beacon from every other.
const DOMAIN: &[u8] = b"cowboy-volume-slots-v1:";

/// The moment at which relays are drawn.
#[derive(Clone, Copy)]
pub(super) struct Now<'a> {
    /// The block's parameters.
    pub(super) params: &'a Params,
    /// The block's height.
    pub(super) height: Height,
    /// The parent beacon.
    pub(super) beacon: &'a Bytes,
}

impl Now<'_> {
    /// The height `blocks` blocks later.
    pub(super) fn after(&self, blocks: u64) -> Height {
        Height(self.height.0.saturating_add(blocks))
    }
}

/// Gives relays to slots of a volume that have none, as far as there are some: drawn by the bytes that they have free, each with at most one slot of
/// the volume, from regions that have the fewest. Answers which slots received one.
///
/// Where nothing is stored, a relay serves at once. Else it first rebuilds the shards.
pub(super) fn fill(world: &mut World, now: Now<'_>, id: &Hash, volume: &mut Volume) -> Result<Vec<(usize, Address)>, Miss> {
    let vacant: Vec<usize> = (0..volume.slots.len()).filter(|place| volume.slots[*place].relay.is_none()).collect();
    if vacant.is_empty() {
        return Ok(Vec::new());
    }
    let (relays, quota) = (state::all_relays(world)?, volume.slot_quota());
    let taken: Vec<Address> = volume.slots.iter().filter_map(|slot| slot.relay).collect();
    let mut regions: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, relay) in relays.iter().filter(|(address, _)| taken.contains(address)) {
        *regions.entry(&relay.region).or_default() += 1;
    }
    let is_able = |(address, relay): &&(Address, super::types::Relay)| {
        relay.is_healthy(now.params, now.height)
            && !taken.contains(address)
            && relay.ask <= volume.max_price
            && relay.free() >= quota
            && relay.slots < directory::MAX_SLOTS
            && relay.stake.0 >= now.params.volumes.relay_stake
    };
    let candidate = |(address, relay): &(Address, super::types::Relay)| Candidate { runner: *address, weight: (relay.free() >> 20).max(1) };
    let candidates: Vec<Candidate> = relays.iter().filter(is_able).map(candidate).collect();
    let seed = keccak256(&[now.beacon, DOMAIN, &id.0, &now.height.0.to_be_bytes()]);
    let mut order: Vec<Address> = Picks::new(&candidates, &seed).collect();
    let region_of: BTreeMap<Address, &str> = relays.iter().map(|(address, relay)| (*address, &*relay.region)).collect();
    let mut given = Vec::new();
    for place in vacant {
        let fewest = order.iter().enumerate().min_by_key(|(rank, address)| (regions.get(region_of[*address]).copied().unwrap_or(0), *rank));
        let Some((rank, _)) = fewest else { break };
        let address = order.remove(rank);
        *regions.entry(region_of[&address]).or_default() += 1;
        given.push((place, address));
    }
    for (place, address) in &given {
        occupy(world, now, id, volume, *place, *address)?;
    }
    Ok(given)
}

/// Gives a slot to a relay.
fn occupy(world: &mut World, now: Now<'_>, id: &Hash, volume: &mut Volume, place: usize, address: Address) -> Result<(), Miss> {
    let mut relay = state::relay(world, address)?.expect("it was drawn");
    relay.reserved = relay.reserved.saturating_add(volume.slot_quota());
    let price = relay.ask;
    let serves = if volume.bytes == 0 {
        let slot = u8::try_from(place).expect("a volume has few slots");
        directory::push(world, address, &mut relay, Entry { volume: *id, slot, bytes: 0 })?
    } else {
        None
    };
    state::set_relay(world, address, Some(relay.next_look), &relay)?;
    let from = volume.byte_blocks;
    change_slot(volume, place, |slot| *slot = Slot { relay: Some(address), place: serves, price, since: now.height, from, missing: 0 });
    Ok(())
}

/// Takes a slot from its relay, which is paid for what was counted.
pub(super) fn vacate(world: &mut World, now: Now<'_>, volume: &mut Volume, place: usize) -> Result<(), Miss> {
    ledger::pay(world, now.params, volume, place, &mut Paid::default())?;
    let Some(Slot { relay: Some(address), place: listed, .. }) = volume.slots.get(place).cloned() else { return Ok(()) };
    change_slot(volume, place, |slot| *slot = Slot::vacant(now.height));
    let Some(mut relay) = state::relay(world, address)? else { return Ok(()) };
    relay.reserved = relay.reserved.saturating_sub(volume.slot_quota());
    if let Some(listed) = listed
        && let Some(moved) = directory::remove(world, address, &mut relay, listed)?
    {
        // A relay has at most one slot of a volume, so the entry that moved is another volume's.
        let mut other = state::volume(world, &moved.volume)?.expect("the directory lists volumes that are there");
        change_slot(&mut other, usize::from(moved.slot), |slot| slot.place = Some(listed));
        state::set_volume(world, &moved.volume, Some(other.next_look), &other)?;
    }
    state::set_relay(world, address, Some(relay.next_look), &relay)
}

/// Tells the directories of all relays of a volume how many bytes a slot has.
pub(super) fn resize(world: &mut World, volume: &Volume) -> Result<(), Miss> {
    for slot in volume.slots.iter() {
        if let (Some(address), Some(place)) = (slot.relay, slot.place) {
            directory::set(world, address, place, volume.bytes)?;
        }
    }
    Ok(())
}
