//! The directory of a relay's slots: which volume has which byte of all that the relay keeps (decision 155).
//!
//! A relay's slots stand in a list without gaps. Pages of 64 entries hold them, and pages of 64 sums stand above, so that the slot with a given
//! byte is found by reading one page of each level, and a change writes as many.

use super::state::page_key;
use super::types::Relay;
use cowboy_state::{Miss, World};
use cowboy_types::{Address, Hash, List, record};

/// Entries of a page.
pub const PAGE: u64 = 64;

const PAGE_ENTRIES: usize = 64;

/// Levels of sums above the entries.
pub const LEVELS: u8 = 2;

/// The most slots of a relay.
pub const MAX_SLOTS: u64 = PAGE * PAGE * PAGE;

record! {
    /// A slot of a volume that a relay keeps.
    pub struct Entry {
        /// The volume.
        pub volume: Hash,
        /// The slot.
        pub slot: u8,
        /// Bytes of its shards.
        pub bytes: u64,
    }
}

record! {
    /// Entries.
    pub struct Entries {
        /// In the order of their places.
        pub entries: List<Entry, PAGE_ENTRIES>,
    }
}

record! {
    /// Sums of bytes.
    pub struct Sums {
        /// Of the pages below, in their order.
        pub sums: List<u64, PAGE_ENTRIES>,
    }
}

fn entries(world: &World, relay: Address, page: u64) -> Result<Vec<Entry>, Miss> {
    let found: Option<Entries> = world.read(&page_key(relay, 0, page))?;
    Ok(found.map(|found| found.entries.into_vec()).unwrap_or_default())
}

fn sums(world: &World, relay: Address, level: u8, page: u64) -> Result<Vec<u64>, Miss> {
    let found: Option<Sums> = world.read(&page_key(relay, level, page))?;
    Ok(found.map(|found| found.sums.into_vec()).unwrap_or_default())
}

/// Adds to the sums above a page, or takes from them.
fn adjust(world: &mut World, relay: Address, mut page: u64, before: u64, after: u64) -> Result<(), Miss> {
    for level in 1..=LEVELS {
        let (above, place) = (page / PAGE, usize::try_from(page % PAGE).unwrap_or(0));
        let mut sums = sums(world, relay, level, above)?;
        sums.resize(sums.len().max(place.saturating_add(1)), 0);
        if let Some(sum) = sums.get_mut(place) {
            *sum = sum.saturating_sub(before).saturating_add(after);
        }
        while sums.last() == Some(&0) {
            sums.pop();
        }
        write(world, relay, level, above, sums.is_empty(), &Sums { sums: List::new(sums).expect("a page of sums") });
        page = above;
    }
    Ok(())
}

fn write(world: &mut World, relay: Address, level: u8, page: u64, is_empty: bool, record: &impl commonware_codec::Encode) {
    let key = page_key(relay, level, page);
    if is_empty { world.remove(key) } else { world.write(key, record) }
}

fn set_entries(world: &mut World, relay: Address, page: u64, entries: Vec<Entry>) {
    let is_empty = entries.is_empty();
    write(world, relay, 0, page, is_empty, &Entries { entries: List::new(entries).expect("a page of entries") });
}

/// The entry at a place.
pub fn at(world: &World, relay: Address, place: u64) -> Result<Option<Entry>, Miss> {
    let entries = entries(world, relay, place / PAGE)?;
    Ok(usize::try_from(place % PAGE).ok().and_then(|place| entries.into_iter().nth(place)))
}

/// Adds an entry behind the others. Answers its place; none where the relay has as many as it can.
pub fn push(world: &mut World, address: Address, relay: &mut Relay, entry: Entry) -> Result<Option<u64>, Miss> {
    let place = relay.slots;
    if place >= MAX_SLOTS {
        return Ok(None);
    }
    let bytes = entry.bytes;
    let mut page = entries(world, address, place / PAGE)?;
    page.push(entry);
    set_entries(world, address, place / PAGE, page);
    adjust(world, address, place / PAGE, 0, bytes)?;
    relay.slots = place.saturating_add(1);
    Ok(Some(place))
}

/// Changes the bytes of the entry at a place.
pub fn set(world: &mut World, relay: Address, place: u64, bytes: u64) -> Result<(), Miss> {
    let mut page = entries(world, relay, place / PAGE)?;
    let entry = usize::try_from(place % PAGE).ok().and_then(|place| page.get_mut(place)).expect("a slot names its entry");
    let before = std::mem::replace(&mut entry.bytes, bytes);
    set_entries(world, relay, place / PAGE, page);
    adjust(world, relay, place / PAGE, before, bytes)
}

/// Removes the entry at a place. The last entry takes the place where there is another: it is answered, so that its slot learns where it stands.
pub fn remove(world: &mut World, address: Address, relay: &mut Relay, place: u64) -> Result<Option<Entry>, Miss> {
    let last = relay.slots.checked_sub(1).expect("a slot names its entry");
    let mut tail = entries(world, address, last / PAGE)?;
    let moved = tail.pop().expect("entries have no gaps");
    set_entries(world, address, last / PAGE, tail);
    adjust(world, address, last / PAGE, moved.bytes, 0)?;
    relay.slots = last;
    if place == last {
        return Ok(None);
    }
    let mut page = entries(world, address, place / PAGE)?;
    let entry = usize::try_from(place % PAGE).ok().and_then(|place| page.get_mut(place)).expect("a slot names its entry");
    let before = std::mem::replace(entry, moved.clone());
    set_entries(world, address, place / PAGE, page);
    adjust(world, address, place / PAGE, before.bytes, moved.bytes)?;
    Ok(Some(moved))
}

/// Bytes of all slots of a relay.
pub fn total(world: &World, relay: Address) -> Result<u64, Miss> {
    Ok(sums(world, relay, LEVELS, 0)?.into_iter().fold(0, u64::saturating_add))
}

/// The entry with a byte of all that a relay keeps, and the place of the byte in it. None where there are fewer bytes.
pub fn find(world: &World, relay: Address, mut byte: u64) -> Result<Option<(Entry, u64)>, Miss> {
    let mut page = 0;
    for level in (1..=LEVELS).rev() {
        let Some((place, rest)) = below(&sums(world, relay, level, page)?, byte) else { return Ok(None) };
        page = page.saturating_mul(PAGE).saturating_add(u64::try_from(place).unwrap_or(u64::MAX));
        byte = rest;
    }
    let entries = entries(world, relay, page)?;
    let bytes: Vec<u64> = entries.iter().map(|entry| entry.bytes).collect();
    let found = below(&bytes, byte).and_then(|(place, rest)| Some((entries.into_iter().nth(place)?, rest)));
    Ok(found)
}

/// The place of the sum in which a byte falls, and the rest.
fn below(sums: &[u64], mut byte: u64) -> Option<(usize, u64)> {
    for (place, sum) in sums.iter().enumerate() {
        match byte.checked_sub(*sum) {
            Some(rest) => byte = rest,
            None => return Some((place, byte)),
        }
    }
    None
}
