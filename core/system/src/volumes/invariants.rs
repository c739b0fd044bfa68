//! What holds between the records of volumes and relays.

use super::directory::{Entries, Entry, PAGE};
use super::state::{self, Subject};
use super::types::{Capability, Demand, Keys, Relay, Volume, bit, first_key_version};
use crate::records::{Broken, Records, address_of, ascending, equal, holds};
use crate::secrets::types::ReleaseKey;
use cowboy_types::actors::STORAGE;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, actors};
use std::collections::{BTreeMap, BTreeSet};

/// The escrows of all volumes: 0x0A has them beside what is prepaid and bonded for rent.
pub(crate) fn escrows(records: &Records<'_>) -> Result<u128, Broken> {
    Ok(records.of::<Volume>(STORAGE, "volume:")?.iter().map(|(_, volume)| u128::from(volume.escrow.0)).sum())
}

/// What 0x0B owes: the stakes of relays, the bonds of demands, and the pool of bounties.
pub fn owed(records: &Records<'_>) -> Result<u128, Broken> {
    let pool = records.record::<Amount>(&state::pool_key())?.unwrap_or(Amount::ZERO);
    let stakes: u128 = records.of::<Relay>(actors::RELAYS, "relay:")?.iter().map(|(_, relay)| u128::from(relay.stake.0)).sum();
    let bonds: u128 = records.of::<Demand>(actors::RELAYS, "demand:")?.iter().map(|(_, demand)| u128::from(demand.bond.0)).sum();
    Ok(stakes + bonds + u128::from(pool.0))
}

/// 0x0B has stakes, bonds and the pool; slots are of different relays, and each stands where the relay's directory says; a volume's bytes are
/// those of its partitions; everything is listed once.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    let relays: Vec<(Address, Relay)> = records
        .of::<Relay>(actors::RELAYS, "relay:")?
        .into_iter()
        .map(|(name, relay)| Ok((address_of(name)?.0, relay)))
        .collect::<Result<_, Broken>>()?;
    let volumes: Vec<(Hash, Volume)> = records
        .of::<Volume>(STORAGE, "volume:")?
        .into_iter()
        .map(|(name, volume)| Ok((hash_of(name)?, volume)))
        .collect::<Result<_, Broken>>()?;
    let demands = records.of::<Demand>(actors::RELAYS, "demand:")?;
    records.covers("0x0B has stakes, bonds and the pool", Address::system(actors::RELAYS), owed(records)?)?;

    let listed: BTreeSet<Vec<u8>> = records.names(state::relays()).iter().map(|name| name.to_vec()).collect();
    // One that gave way to another in a full registry stands until it takes its stake.
    let has_left = |relay: &Relay| relay.left_at.is_some() || relay.gave_way_at.is_some();
    let expected = relays.iter().filter(|(address, relay)| !has_left(relay) || listed.contains(&address.0[..]));
    equal("every relay is listed", &listed, &expected.map(|(address, _)| address.0.to_vec()).collect())?;
    for (name, key) in records.of::<ReleaseKey>(actors::SECRETS, "key:")? {
        let is_of = |volume: &Volume| volume.keys == Keys::Committee && volume.key_id.to_be_bytes()[..] == *name;
        let count = volumes.iter().filter(|(_, volume)| is_of(volume)).count();
        equal("a key counts the volumes that have their keys from it", &key.volumes.0, &u64::try_from(count).unwrap_or(u64::MAX))?;
    }
    for (address, relay) in relays.iter().filter(|(_, relay)| relay.gave_way_at.is_some()) {
        holds("a relay that gave way has no place", !listed.contains(&address.0[..]), address)?;
        holds("a relay that gave way and keeps nothing has left", relay.left_at.is_some() || !relay.has_no_slots(), relay)?;
    }
    agenda(records, &relays, &volumes, &demands)?;
    slots(records, &relays, &volumes, &demands)?;
    contents(records, &volumes)
}

fn hash_of(name: &[u8]) -> Result<Hash, Broken> {
    Ok(Hash(name.try_into().map_err(|_| Broken { rule: "a record is named as its kind wants", found: format!("{name:?}") })?))
}

/// The agenda has every volume, relay and demand once, at the height that its record names.
fn agenda(
    records: &Records<'_>,
    relays: &[(Address, Relay)],
    volumes: &[(Hash, Volume)],
    demands: &[(&[u8], Demand)],
) -> Result<(), Broken> {
    let mut expected: BTreeSet<(Height, Subject)> = BTreeSet::new();
    expected.extend(relays.iter().map(|(address, relay)| (relay.next_look, Subject::Relay(*address))));
    expected.extend(volumes.iter().map(|(id, volume)| (volume.next_look, Subject::Volume(*id))));
    for (name, demand) in demands {
        expected.insert((demand.until.next(), Subject::Demand(hash_of(name)?)));
    }
    for (name, capability) in records.of::<Capability>(STORAGE, "capability:")? {
        let id = name.try_into().map_err(|_| Broken { rule: "a record is named as its kind wants", found: format!("{name:?}") })?;
        expected.extend(capability.ends_at().map(|height| (height, Subject::Mount(Fixed(id)))));
    }
    let names = records.names(state::agenda());
    let found: BTreeSet<_> = names.iter().filter_map(|name| Subject::of_name(name)).collect();
    equal("the agenda has nothing else", &names.len(), &found.len())?;
    equal("the agenda has every volume, relay, demand and capability of a job", &found, &expected)
}

/// Each slot has a relay of its own, which reserves its part of the quota and lists it, with the bytes of the volume, where it serves.
fn slots(
    records: &Records<'_>,
    relays: &[(Address, Relay)],
    volumes: &[(Hash, Volume)],
    demands: &[(&[u8], Demand)],
) -> Result<(), Broken> {
    let (mut reserved, mut serving): (BTreeMap<Address, u64>, BTreeMap<(Address, u64), Entry>) = Default::default();
    for (id, volume) in volumes {
        equal("a volume has the slots of its code", &volume.slots.len(), &volume.code.slots())?;
        let mut holders: Vec<Address> = volume.slots.iter().filter_map(|slot| slot.relay).collect();
        holders.sort_unstable();
        ascending("the slots of a volume are of different relays", &holders)?;
        for (place, slot) in volume.slots.iter().enumerate() {
            let Some(relay) = slot.relay else { continue };
            *reserved.entry(relay).or_default() += volume.slot_quota();
            let Some(listed) = slot.place else { continue };
            let slot = u8::try_from(place).unwrap_or(u8::MAX);
            serving.insert((relay, listed), Entry { volume: *id, slot, bytes: volume.bytes });
        }
    }
    for (address, relay) in relays {
        let mut found = BTreeMap::new();
        for page in 0..relay.slots.div_ceil(PAGE) {
            let entries =
                records.record::<Entries>(&state::page_key(*address, 0, page))?.map(|page| page.entries.into_vec()).unwrap_or_default();
            found.extend((page * PAGE..).zip(entries).map(|(place, entry)| ((*address, place), entry)));
        }
        let expected: BTreeMap<_, _> =
            serving.range((*address, 0)..=(*address, u64::MAX)).map(|(place, entry)| (*place, entry.clone())).collect();
        equal("a relay's directory has its slots", &found, &expected)?;
        equal("a relay counts its slots", &relay.slots, &u64::try_from(found.len()).unwrap_or(u64::MAX))?;
        let sums = records.record::<super::directory::Sums>(&state::page_key(*address, super::directory::LEVELS, 0))?;
        let sum: u64 = sums.map(|sums| sums.sums.iter().sum()).unwrap_or_default();
        equal("a relay's sums are of its slots", &sum, &found.values().map(|entry| entry.bytes).sum())?;
        let asked: BTreeSet<&[u8]> = demands.iter().filter(|(_, demand)| demand.relay == *address).map(|(id, _)| *id).collect();
        equal("a relay's record names its demands", &relay.demands.iter().map(|id| &id.0[..]).collect(), &asked)?;
        equal("a relay's record names its demands once", &relay.demands.len(), &asked.len())?;
        equal("a relay reserves the quotas of its slots", &relay.reserved, &reserved.remove(address).unwrap_or_default())?;
    }
    holds("the relays of slots are registered", reserved.is_empty(), &reserved)
}

/// A relay that serves a slot misses the bytes of the roots that it did not acknowledge.
fn acknowledged(records: &Records<'_>, id: &Hash, volume: &Volume) -> Result<(), Broken> {
    let mut missing = vec![0_u64; volume.slots.len()];
    for listed in volume.partitions.iter() {
        let found = records.record::<super::types::Partition>(&state::partition_key(id, &listed.partition))?;
        let behind = found.map_or(0, |partition| partition.root.behind);
        for (place, sum) in missing.iter_mut().enumerate().filter(|(place, _)| behind & bit(*place) != 0) {
            *sum += if volume.slots[place].place.is_some() { listed.bytes } else { 0 };
        }
    }
    let found: Vec<u64> = volume.slots.iter().map(|slot| slot.missing).collect();
    equal("a slot counts the bytes that its relay did not acknowledge", &found, &missing)?;
    for slot in volume.slots.iter().filter(|slot| slot.behind_since.is_some()) {
        holds("a relay is behind with a slot that it serves and lacks bytes of", slot.place.is_some() && slot.missing > 0, slot)?;
    }
    Ok(())
}

/// A volume's bytes are those of its partitions, whose records are there; it is listed with its owner, and counts its capabilities.
fn contents(records: &Records<'_>, volumes: &[(Hash, Volume)]) -> Result<(), Broken> {
    let capabilities = records.of::<Capability>(STORAGE, "capability:")?;
    let partitions = records.of::<super::types::Partition>(STORAGE, "partition:")?;
    let listed: usize = volumes.iter().map(|(_, volume)| volume.partitions.len()).sum();
    equal("every partition belongs to a volume", &partitions.len(), &listed)?;
    for (id, volume) in volumes {
        let newest = records.record::<Count>(&state::generation_key(id))?;
        equal("a volume is of the newest generation of its id", &Some(volume.generation), &newest)?;
        let next = first_key_version(Count(volume.generation.0.saturating_add(1)));
        let names: Vec<Hash> = volume.partitions.iter().map(|listed| listed.partition).collect();
        ascending("partitions ascend", &names)?;
        let bytes: u64 = volume.partitions.iter().map(|listed| listed.bytes).sum();
        equal("a volume's bytes are those of its partitions", &volume.bytes, &bytes)?;
        for listed in volume.partitions.iter() {
            let found = records.record::<super::types::Partition>(&state::partition_key(id, &listed.partition))?;
            let root = found.as_ref().map(|partition| (partition.root.top.root(), partition.root.top.node.sum));
            equal("a volume lists the roots of its partitions", &root, &Some((listed.root, listed.bytes)))?;
            let is_known = found.iter().all(|partition| {
                let mut roots = partition.previous.iter().chain([&partition.root]);
                roots.all(|root| root.key_version <= partition.key_version)
            });
            holds("no root is under a newer key than its partition had", is_known, &listed.partition)?;
            let is_begun = found.iter().all(|partition| partition.key_version < next);
            holds("no partition had a key of a generation that is yet to begin", is_begun, &listed.partition)?;
        }
        acknowledged(records, id, volume)?;
        let own = capabilities.iter().filter(|(_, capability)| capability.volume == *id).count();
        equal("a volume counts its capabilities", &volume.capabilities.0, &u64::try_from(own).unwrap_or(u64::MAX))?;
        let is_listed = records.names(state::volumes_of(volume.owner)).iter().any(|name| name[..] == id.0);
        holds("a volume is listed with its owner", is_listed, id)?;
    }
    Ok(())
}
