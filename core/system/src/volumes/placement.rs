//! Which relay has which slot (decisions 149, 158, 689, 690).

use super::directory::{self, Entry};
use super::ledger::{self, Paid, change_slot};
use super::state;
use super::types::{Relay, Slot, Volume};
use crate::market::selection::Picks;
use crate::standstill::Standstill;
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
    /// For how long the clock of volumes stood still.
    pub(super) still: &'a Standstill,
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

/// Relays that are looked at for each slot, as they are drawn: the more, the better slots are spread over regions, and the more a region that has few
/// relays is given beyond their weight.
const CHOICES: usize = 2;

/// The relays of a volume's slots.
fn holders(volume: &Volume) -> Vec<Address> {
    volume.slots.iter().filter_map(|slot| slot.relay).collect()
}

/// The records of these relays, of which some may have no place in the registry any more.
fn records(world: &World, addresses: &[Address]) -> Result<Vec<Relay>, Miss> {
    world.require(&addresses.iter().map(|relay| state::relay_key(*relay)).collect::<Vec<_>>())?;
    addresses.iter().filter_map(|relay| state::relay(world, *relay).transpose()).collect()
}

/// Whether a relay can take a slot of a volume that has the relays of `taken`.
fn is_able(now: Now<'_>, volume: &Volume, taken: &[Address], (address, relay): &(Address, Relay)) -> bool {
    relay.is_eligible(now.params, now.still, now.height)
        && !taken.contains(address)
        && relay.ask <= volume.max_price
        && relay.free() >= volume.slot_quota()
        && relay.slots < directory::MAX_SLOTS
}

/// The order in which `count` slots are offered to relays that can take one: drawn by the bytes that they have free. Where shards are to be rebuilt, those
/// that rest come last, and only as many as slots would else have none.
fn order(now: Now<'_>, volume: &Volume, able: &[&(Address, Relay)], seed: &Hash, count: usize) -> Vec<Address> {
    let picks = |rests: bool| {
        let some = able.iter().filter(|(_, relay)| (volume.bytes > 0 && relay.rests(now.height)) == rests);
        let candidates: Vec<Candidate> =
            some.map(|(address, relay)| Candidate { runner: *address, weight: (relay.free() >> 20).max(1) }).collect();
        Picks::new(&candidates, seed)
    };
    let mut order: Vec<Address> = picks(false).take(count.saturating_mul(CHOICES)).collect();
    order.extend(picks(true).take(count.saturating_sub(order.len())));
    order
}

/// Gives relays to slots of a volume that have none, as far as there are some: drawn by the bytes that they have free, each with at most one slot of
/// the volume, and spread over regions that many relays name. Answers which slots received one.
///
/// Where nothing is stored, a relay serves at once. Else it first rebuilds the shards.
pub(super) fn fill(world: &mut World, now: Now<'_>, id: &Hash, volume: &mut Volume) -> Result<Vec<(usize, Address)>, Miss> {
    let vacant: Vec<usize> = (0..volume.slots.len()).filter(|place| volume.slots[*place].relay.is_none()).collect();
    if vacant.is_empty() {
        return Ok(Vec::new());
    }
    let (relays, taken) = (state::all_relays(world)?, holders(volume));
    let able: Vec<&(Address, Relay)> = relays.iter().filter(|entry| is_able(now, volume, &taken, entry)).collect();
    let seed = keccak256(&[now.beacon, DOMAIN, &id.0, &now.height.0.to_be_bytes()]);
    let order = order(now, volume, &able, &seed, vacant.len());
    let held = records(world, &taken)?;
    let given: Vec<(usize, Address)> = vacant.iter().copied().zip(spread(now, &relays, &held, &order, vacant.len())).collect();
    for (place, address) in &given {
        occupy(world, now, id, volume, *place, *address)?;
    }
    Ok(given)
}

/// How many of the other relays can take no slot of a volume, and why: for whoever has too few.
pub(super) fn shortage(world: &World, now: Now<'_>, volume: &Volume) -> Result<String, Miss> {
    let taken = holders(volume);
    let mut reasons =
        ["silent or gone", "short of volumes.relay_stake", "asking more than max_price", "without the room"].map(|why| (0_u64, why));
    for (_, relay) in state::all_relays(world)?.iter().filter(|(address, _)| !taken.contains(address)) {
        let place = if !relay.is_healthy(now.params, now.still, now.height) {
            0
        } else if !relay.is_eligible(now.params, now.still, now.height) {
            1
        } else if relay.ask > volume.max_price {
            2
        } else {
            3
        };
        reasons[place].0 = reasons[place].0.saturating_add(1);
    }
    let named = reasons.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}"));
    let named = named.collect::<Vec<_>>().join(", ");
    Ok(if named.is_empty() { String::new() } else { format!("; the others are {named}") })
}

/// Chooses `count` relays out of those that were drawn, in this order, for a volume that has the relays of `held`. Those count for their regions also where
/// they gave way and have no place in the registry.
///
/// The first `count` have a place, each for itself or for its region: a relay whose region is spread over gives way to one that was drawn later, where
/// the volume has fewer slots in that one's region. A region is whatever its relays say, so one that fewer than `volumes.region_relays` name is none,
/// and whoever invents one gains nothing.
fn spread(now: Now<'_>, relays: &[(Address, Relay)], held: &[Relay], order: &[Address], count: usize) -> Vec<Address> {
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, relay) in relays.iter().filter(|(_, relay)| relay.is_healthy(now.params, now.still, now.height)) {
        let named = names.entry(&relay.region).or_default();
        *named = named.saturating_add(1);
    }
    names.retain(|_, named| *named >= now.params.volumes.region_relays);
    let region_of: BTreeMap<Address, &str> = relays.iter().map(|(address, relay)| (*address, &*relay.region)).collect();
    let region = |address: &Address| region_of.get(address).copied().filter(|region| names.contains_key(region));
    let mut slots: BTreeMap<&str, usize> = BTreeMap::new();
    for relay in held {
        *slots.entry(&relay.region).or_default() += 1;
    }
    let mut choices: Vec<(&str, Address)> = order.iter().filter_map(|address| Some((region(address)?, *address))).collect();
    let mut chosen = Vec::with_capacity(count);
    for drawn in order.iter().take(count) {
        if region(drawn).is_none() {
            chosen.push(*drawn);
            continue;
        }
        // Those that were drawn first are first among those whose regions have as few.
        let fewest = (0..choices.len()).min_by_key(|rank| (slots.get(choices[*rank].0).copied().unwrap_or(0), *rank));
        let Some(rank) = fewest else { continue };
        let (region, address) = choices.remove(rank);
        *slots.entry(region).or_default() += 1;
        chosen.push(address);
    }
    chosen
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
    change_slot(volume, place, |slot| *slot = Slot { relay: Some(address), place: serves, price, from, ..Slot::vacant(now.height) });
    Ok(())
}

/// Notes that a relay did not rebuild a slot of a volume in time. Where fewer other relays that have theirs are up than its code needs, nobody could
/// have, and nothing is noted.
pub(super) fn note_late(world: &mut World, now: Now<'_>, volume: &Volume, address: Address) -> Result<(), Miss> {
    let rebuilt = volume.slots.iter().filter(|slot| slot.rebuilding_since().is_none());
    let serving: Vec<Address> = rebuilt.filter_map(Slot::serving).collect();
    let up = records(world, &serving)?.iter().filter(|relay| relay.is_healthy(now.params, now.still, now.height)).count();
    if up < usize::from(volume.code.data) {
        return Ok(());
    }
    let Some(mut relay) = state::relay(world, address)? else { return Ok(()) };
    relay.rest(now.params, now.height);
    state::set_relay(world, address, Some(relay.next_look), &relay)
}

/// Takes a slot from its relay, which is paid for what was counted: that is added to what the volume paid.
pub(super) fn vacate(world: &mut World, now: Now<'_>, volume: &mut Volume, place: usize, paid: &mut Paid) -> Result<(), Miss> {
    ledger::pay(world, now.params, volume, place, paid)?;
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
    if relay.gave_way_at.is_some() && relay.left_at.is_none() && relay.has_no_slots() {
        relay.left_at = Some(now.height);
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

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::Text;
    use cowboy_types::units::Amount;
    use cowboy_types::wire::Fixed;

    fn relay(region: &str) -> Relay {
        Relay {
            endpoint: Text::new("relay.example.com").expect("short"),
            port: 443,
            certificate: Hash([7; 32]),
            key: Fixed([7; 32]),
            region: Text::new(region).expect("short"),
            capacity: 1 << 40,
            ask: Amount(450),
            stake: Amount(Params::GENESIS.volumes.relay_stake),
            ..Relay::new(Height::ZERO, Height::ZERO)
        }
    }

    /// Relays of one weight, by region and number.
    fn relays(regions: &[(&str, usize)]) -> Vec<(Address, Relay)> {
        let all = regions.iter().flat_map(|(region, count)| (0..*count).map(|_| relay(region)));
        all.enumerate().map(|(number, relay)| (Address([u8::try_from(number).expect("few"); 20]), relay)).collect()
    }

    /// The regions of the relays that a thousand volumes with six slots each are given.
    fn placed(relays: &[(Address, Relay)]) -> Vec<BTreeMap<&str, usize>> {
        let (beacon, params, still) = (Bytes::new(), Params::GENESIS, Standstill::default());
        let now = Now { params: &params, still: &still, height: Height(9), beacon: &beacon };
        let candidates: Vec<Candidate> = relays.iter().map(|(address, _)| Candidate { runner: *address, weight: 1 }).collect();
        let place = |number: u32| {
            let order: Vec<Address> = Picks::new(&candidates, &keccak256(&[&number.to_be_bytes()])).take(6 * CHOICES).collect();
            let given = spread(now, relays, &[], &order, 6);
            let different: std::collections::BTreeSet<&Address> = given.iter().collect();
            assert_eq!(different.len(), 6.min(relays.len()), "each relay has one slot");
            let mut regions = BTreeMap::new();
            for address in given {
                let (_, relay) = relays.iter().find(|(of, _)| *of == address).expect("it was drawn");
                *regions.entry(&*relay.region).or_default() += 1;
            }
            regions
        };
        (0..1_000).map(place).collect()
    }

    /// How many slots of a thousand volumes are in regions whose names begin so.
    fn slots_of(placed: &[BTreeMap<&str, usize>], prefix: &str) -> usize {
        placed.iter().flatten().filter(|(region, _)| region.starts_with(prefix)).map(|(_, slots)| slots).sum()
    }

    /// Whoever invents regions is given what the weight of its relays gives, and not a slot more: six of thirty relays have a fifth of the slots,
    /// whether each has a region of its own or all have one. Eight in a region that is theirs alone have no more than twice their weight.
    #[test]
    fn invented_regions_gain_nothing() {
        let honest = [("eu", 8), ("us", 8), ("asia", 8)];
        for invented in [&[("x1", 1), ("x2", 1), ("x3", 1), ("x4", 1), ("x5", 1), ("x6", 1)][..], &[("x", 6)]] {
            let all = relays(&[&honest[..], invented].concat());
            let gained = slots_of(&placed(&all), "x");
            assert!((1_100..=1_300).contains(&gained), "{gained} of 6,000, and 1,200 by weight");
        }
        let all = relays(&[("eu", 24), ("us", 24), ("asia", 24), ("x", 8)]);
        let gained = slots_of(&placed(&all), "x");
        assert!((600..=1_250).contains(&gained), "{gained} of 6,000, and 600 by weight");
    }

    /// Slots are spread over regions that many relays name: with three, hardly a volume has more than two or three slots in one.
    #[test]
    fn slots_are_spread_over_regions() {
        let all = relays(&[("eu", 10), ("us", 10), ("asia", 10)]);
        let many = placed(&all).iter().filter(|regions| regions.values().any(|slots| *slots > 3)).count();
        assert!(many < 20, "{many} of 1,000 volumes have four slots and more in one region");
        let all = relays(&[("eu", 2), ("us", 2)]);
        assert!(placed(&all).iter().all(|regions| regions.values().sum::<usize>() == 4), "all that there are");
    }

    /// A relay that holds a slot counts for its region, also where it gave way and is not listed any more: the other slots go elsewhere.
    #[test]
    fn who_gave_way_counts_for_its_region() {
        let (beacon, params, still) = (Bytes::new(), Params::GENESIS, Standstill::default());
        let now = Now { params: &params, still: &still, height: Height(9), beacon: &beacon };
        let all = relays(&[("eu", 8), ("us", 8)]);
        let order: Vec<Address> = all.iter().map(|(address, _)| *address).collect();
        let gone = || Relay { gave_way_at: Some(Height(1)), ..relay("eu") };
        let regions = |held: &[Relay]| {
            let given = spread(now, &all, held, &order, 2);
            let of = |address: &Address| all.iter().find(|(of, _)| of == address).map(|(_, relay)| relay.region.to_string());
            given.iter().filter_map(of).collect::<Vec<String>>()
        };
        assert_eq!(regions(&[]), ["eu", "us"]);
        assert_eq!(regions(&[gone(), gone()]), ["us", "us"]);
    }

    /// The slots of each of a thousand volumes that an operator has with accounts of this weight, beside 24 relays of others that have 1,000 each. All are
    /// spread over three regions.
    fn slots_of_operator(accounts: u32, weight: u64) -> Vec<usize> {
        const OTHERS: u32 = 24;
        let (beacon, params, still) = (Bytes::new(), Params::GENESIS, Standstill::default());
        let now = Now { params: &params, still: &still, height: Height(9), beacon: &beacon };
        let address = |number: u32| {
            let mut address = [0; 20];
            address[..4].copy_from_slice(&number.to_be_bytes());
            Address(address)
        };
        let region = |number: u32| ["eu", "us", "asia"][usize::try_from(number % 3).expect("few")];
        let numbers = 0..OTHERS + accounts;
        let relays: Vec<(Address, Relay)> = numbers.clone().map(|number| (address(number), relay(region(number)))).collect();
        let weight = |number: u32| if number < OTHERS { 1_000 } else { weight };
        let candidates: Vec<Candidate> = numbers.map(|number| Candidate { runner: address(number), weight: weight(number) }).collect();
        let first = address(OTHERS);
        let place = |number: u32| {
            let order: Vec<Address> = Picks::new(&candidates, &keccak256(&[&number.to_be_bytes()])).take(6 * CHOICES).collect();
            spread(now, &relays, &[], &order, 6).iter().filter(|address| **address >= first).count()
        };
        (0..1_000).map(place).collect()
    }

    /// The chain knows accounts, and no operators (decision 623). With a quarter of all bytes, a thousand accounts have a quarter of the slots, as eight
    /// do, and one has one slot of a volume at most. Nothing keeps several accounts from having more slots of a volume than its code can lose.
    #[test]
    fn a_thousand_accounts_of_one_operator() {
        assert_eq!(slots_of_operator(1, 8_000).iter().max(), Some(&1));
        for (accounts, weight) in [(8, 1_000), (1_000, 8)] {
            let slots = slots_of_operator(accounts, weight);
            let (sum, lost) = (slots.iter().sum::<usize>(), slots.iter().filter(|slots| **slots > 2).count());
            assert!((1_400..=1_700).contains(&sum), "{sum} of 6,000 slots, and 1,500 by bytes");
            assert!((100..=240).contains(&lost), "{lost} of 1,000 volumes with 4+2 are the operator's to lose");
        }
        // Each account needs the stake that offers 10,000 GiB, however little it offers, and there are not as many places.
        let rows = &Params::GENESIS.volumes;
        assert_eq!(rows.relay_stake * 1_000, 5_000_000 * 1_000_000_000);
        assert_eq!((rows.relay_stake / rows.stake_per_gib, rows.relays), (10_000, 256));
    }
}
