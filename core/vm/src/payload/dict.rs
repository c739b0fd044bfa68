//! The insertion-ordered hash table behind dict and set.
//!
//! The table stores hashes and entries; comparing keys is up to the caller, because it may run Python code.

use crate::costs::{Charge, GAP_PASSED};
use crate::value::Value;
use cowboy_num::sizes;

/// One key with its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Hash of the key.
    pub hash: i64,
    /// The key; undefined when the entry was deleted.
    pub key: Value,
    /// The value; `None` in a set.
    pub value: Value,
}

/// Index slots that a search may look at for the price of its operation.
pub(crate) const NEAR: u32 = 16;
/// So many deleted entries are kept beside four for each live one.
const KEPT: usize = 64;
/// Index slots that are kept for each live entry, beside [`KEPT`] eight times: what is copied or emptied is never much more than what it holds.
const SPARSE: usize = 32;

const EMPTY: u32 = u32::MAX;
const DELETED: u32 = u32::MAX - 1;

/// Modelled bytes of a dict and of a set without anything in it.
pub(crate) const EMPTY_DICT: usize = 64;
pub(crate) const EMPTY_SET: usize = 216;

/// Index slots of a table for one more than so many live entries.
fn slots_for(live: usize) -> usize {
    ((live + 1) * 3).next_power_of_two().max(8)
}

/// A hash table that remembers insertion order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dict {
    /// Open addressing: positions in `entries`.
    index: Vec<u32>,
    /// Entries in insertion order, deleted ones included.
    pub entries: Vec<Entry>,
    live: usize,
    /// No entry before this position is live.
    first: usize,
    /// Index slots that are not empty; some must stay empty, so that probes end.
    used: usize,
    /// Grows whenever a key is added or removed.
    pub version: u32,
    /// Modelled table size: CPython's, which is a power of two.
    table: usize,
    /// Whether it holds a module's names, whose values inline caches know.
    pub module: bool,
}

/// A walk over the entries that may hold a key with a given hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    slot: usize,
    perturb: u64,
    /// Index slots that were looked at.
    pub steps: u32,
}

impl Dict {
    /// Whether its buffers are those of a table that never grew, or grew once.
    #[inline]
    pub(crate) fn is_small(&self) -> bool {
        (1..=32).contains(&self.index.capacity()) && self.entries.capacity() <= 32
    }

    /// Bytes that it and its buffers take.
    #[inline]
    pub(crate) fn resident(&self) -> usize {
        size_of::<Self>() + self.index.capacity() * size_of::<u32>() + self.entries.capacity() * size_of::<Entry>()
    }

    /// Makes it what a new table is, but for its buffers.
    #[inline]
    pub(crate) fn renew(&mut self) {
        self.index.clear();
        self.entries.clear();
        (self.live, self.first, self.used, self.version, self.table, self.module) = (0, 0, 0, 0, 0, false);
    }

    /// Number of keys.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// Deleted entries and index slots of no entry, which a copy takes along.
    pub(crate) fn gaps(&self) -> usize {
        (self.entries.len() - self.live) + self.index.len().saturating_sub(6 * self.live)
    }

    /// Starts looking for keys with this hash.
    #[inline]
    pub(crate) fn probe(&self, hash: i64) -> Probe {
        let bits = u64::from_ne_bytes(hash.to_ne_bytes());
        let mask = self.index.len().wrapping_sub(1);
        Probe { slot: sizes::saturating(bits & 0xffff_ffff) & mask, perturb: bits, steps: 0 }
    }

    /// The next entry position whose key has exactly this hash.
    #[inline]
    pub(crate) fn next(&self, probe: &mut Probe, hash: i64) -> Option<usize> {
        if self.index.is_empty() {
            return None;
        }
        let mask = self.index.len() - 1;
        loop {
            let position = self.index[probe.slot];
            if position == EMPTY {
                return None;
            }
            probe.steps += 1;
            probe.perturb >>= 5;
            let jump = sizes::saturating(probe.perturb & 0xffff_ffff);
            probe.slot = (probe.slot.wrapping_mul(5).wrapping_add(jump).wrapping_add(1)) & mask;
            if position != DELETED && self.entries[position as usize].hash == hash {
                return Some(position as usize);
            }
        }
    }

    /// The position of a key for which `same` holds; `None` when it was not found among so many index slots.
    #[inline]
    pub(crate) fn find(&self, hash: i64, most: u32, mut same: impl FnMut(&Value) -> bool) -> Option<Option<usize>> {
        let index = &self.index[..];
        let mask = index.len().wrapping_sub(1);
        let mut perturb = u64::from_ne_bytes(hash.to_ne_bytes());
        // The mask is of 32 bits at most.
        let mut slot = perturb as usize & mask;
        for _ in 0..most {
            // An empty table has no slot at all.
            let Some(&position) = index.get(slot).filter(|&&position| position != EMPTY) else { return Some(None) };
            if let Some(entry) = self.entries.get(position as usize) {
                if entry.hash == hash && same(&entry.key) {
                    return Some(Some(position as usize));
                }
            }
            perturb >>= 5;
            slot = slot.wrapping_mul(5).wrapping_add(perturb as u32 as usize).wrapping_add(1) & mask;
        }
        None
    }

    /// Adds a key that is known to be absent. References become the table's.
    pub(crate) fn insert_new(&mut self, hash: i64, key: Value, value: Value) -> usize {
        if (self.used.max(self.entries.len()) + 1) * 3 > self.index.len() * 2 {
            self.grow();
        }
        let position = self.entries.len();
        self.place(hash, position);
        self.entries.push(Entry { hash, key, value });
        self.live += 1;
        self.version = self.version.wrapping_add(1);
        position
    }

    fn place(&mut self, hash: i64, position: usize) {
        let mask = self.index.len() - 1;
        let mut probe = self.probe(hash);
        while self.index[probe.slot] != EMPTY && self.index[probe.slot] != DELETED {
            probe.perturb >>= 5;
            let jump = sizes::saturating(probe.perturb & 0xffff_ffff);
            probe.slot = (probe.slot.wrapping_mul(5).wrapping_add(jump).wrapping_add(1)) & mask;
        }
        if self.index[probe.slot] == EMPTY {
            self.used += 1;
        }
        self.index[probe.slot] = u32::try_from(position).expect("the memory limit keeps entries below 2^32");
    }

    fn grow(&mut self) {
        let size = slots_for(self.live);
        if size == 8 {
            self.entries.reserve_exact(5);
        }
        self.table = size;
        self.rebuild(size);
    }

    /// Puts the live entries side by side, and their positions in an index of so many slots.
    fn rebuild(&mut self, size: usize) {
        if self.live < self.entries.len() {
            self.entries.retain(|entry| !entry.key.is_undefined());
        }
        self.first = 0;
        self.used = 0;
        if size * 4 < self.index.len() {
            (self.index, self.entries) = (Vec::new(), self.entries.as_slice().to_vec());
        }
        self.index.clear();
        self.index.resize(size, EMPTY);
        for position in 0..self.entries.len() {
            self.place(self.entries[position].hash, position);
        }
    }

    /// Takes the entry at a position out, with how many index slots were looked at to find its own.
    pub(crate) fn remove(&mut self, position: usize) -> (Entry, u32) {
        let entry = self.entries[position];
        let mask = self.index.len() - 1;
        let mut probe = self.probe(entry.hash);
        while self.index[probe.slot] as usize != position {
            probe.steps += 1;
            probe.perturb >>= 5;
            let jump = sizes::saturating(probe.perturb & 0xffff_ffff);
            probe.slot = (probe.slot.wrapping_mul(5).wrapping_add(jump).wrapping_add(1)) & mask;
        }
        self.index[probe.slot] = DELETED;
        self.entries[position] = Entry { hash: 0, key: Value::Undefined, value: Value::None };
        self.live -= 1;
        self.version = self.version.wrapping_add(1);
        // Popping from the end keeps the entries short, so that popitem stays constant.
        while self.entries.last().is_some_and(|entry| entry.key.is_undefined()) {
            self.entries.pop();
        }
        if self.live == 0 {
            (self.first, self.used) = (0, 0);
            // A large index goes: emptying it takes as long as it is.
            if self.index.len() <= KEPT {
                self.index.iter_mut().for_each(|slot| *slot = EMPTY);
            } else {
                (self.index, self.entries) = (Vec::new(), Vec::new());
            }
        } else if self.entries.len() > KEPT + 4 * self.live || self.index.len() > 8 * KEPT + SPARSE * self.live {
            self.rebuild(slots_for(self.live));
        } else if position == self.first {
            while self.entries.get(self.first).is_some_and(|entry| entry.key.is_undefined()) {
                self.first += 1;
            }
        }
        (entry, probe.steps)
    }

    /// Empties the table; the old one is returned with its references.
    pub(crate) fn take(&mut self) -> Dict {
        let (version, module) = (self.version.wrapping_add(1), self.module);
        let old = std::mem::take(self);
        (self.version, self.module) = (version, module);
        old
    }

    /// The first live entry at or after a position.
    #[inline]
    pub(crate) fn live_from(&self, position: usize) -> Option<(usize, Entry)> {
        let mut position = position.max(self.first);
        while let Some(&entry) = self.entries.get(position) {
            if !entry.key.is_undefined() {
                return Some((position, entry));
            }
            position += 1;
        }
        None
    }

    /// The price of having passed the deleted entries between a position and the live one that was found from there.
    pub(crate) fn passing(&self, position: usize, found: usize) -> Charge {
        GAP_PASSED.of(found.abs_diff(position.max(self.first)))
    }

    /// The last live entry before a position.
    pub(crate) fn live_before(&self, mut position: usize) -> Option<(usize, Entry)> {
        position = position.min(self.entries.len());
        while position > self.first {
            position -= 1;
            let entry = self.entries[position];
            if !entry.key.is_undefined() {
                return Some((position, entry));
            }
        }
        None
    }

    /// Live entries in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.get(self.first..).unwrap_or_default().iter().filter(|entry| !entry.key.is_undefined())
    }

    /// Calls `visit` with every key and value.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(Value)) {
        for entry in self.iter() {
            visit(entry.key);
            visit(entry.value);
        }
    }

    /// Modelled bytes as a dict.
    pub(crate) fn size(&self) -> usize {
        if self.table == 0 {
            return EMPTY_DICT;
        }
        let width = match self.table {
            0..=128 => 1,
            129..=32_768 => 2,
            _ => 4,
        };
        64 + 24 + self.table * width + 24 * (self.table * 2 / 3)
    }

    /// Modelled bytes as a set.
    pub(crate) fn set_size(&self) -> usize {
        if self.table <= 8 { EMPTY_SET } else { 200 + 16 * self.table }
    }
}
