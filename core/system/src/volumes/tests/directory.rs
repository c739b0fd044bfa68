//! The directory of a relay's slots against a list.

use super::*;
use cowboy_state::{Miss, World};
use cowboy_system::volumes::directory::{self, Entry};

/// A directory, and the list that it should be.
struct Pair {
    world: World,
    relay: Relay,
    list: Vec<Entry>,
}

fn number(count: usize) -> u64 {
    u64::try_from(count).expect("few")
}

impl Pair {
    /// Does something with the directory. Whatever is missed is not there; what was done before it was missed is undone, as in a block.
    fn with<T>(&mut self, act: impl Fn(&mut World, &mut Relay) -> Result<T, Miss>) -> T {
        loop {
            let (before, kept) = (self.world.checkpoint(), self.relay.clone());
            match act(&mut self.world, &mut self.relay) {
                Ok(done) => return done,
                Err(miss) => {
                    self.world.rollback(&before);
                    self.relay = kept;
                    for digest in self.world.want(miss) {
                        self.world.fill(&digest, None);
                    }
                }
            }
        }
    }

    fn push(&mut self, entry: Entry) {
        let place = self.with(|world, relay| directory::push(world, address(2), relay, entry.clone()));
        assert_eq!(place, Some(number(self.list.len())));
        self.list.push(entry);
    }

    fn remove(&mut self, place: usize) {
        let moved = self.with(|world, relay| directory::remove(world, address(2), relay, number(place)));
        self.list.swap_remove(place);
        assert_eq!(moved, self.list.get(place).cloned());
    }

    fn set(&mut self, place: usize, bytes: u64) {
        self.with(|world, _| directory::set(world, address(2), number(place), bytes));
        self.list[place].bytes = bytes;
    }

    /// The entry with a byte, by walking the list.
    fn expected(&self, mut byte: u64) -> Option<(Entry, u64)> {
        for entry in &self.list {
            match byte.checked_sub(entry.bytes) {
                Some(rest) => byte = rest,
                None => return Some((entry.clone(), byte)),
            }
        }
        None
    }

    fn check(&mut self, random: u64) {
        assert_eq!(self.relay.slots, number(self.list.len()));
        let total: u64 = self.list.iter().map(|entry| entry.bytes).sum();
        assert_eq!(self.with(|world, _| directory::total(world, address(2))), total);
        for byte in [random % total.max(1), total.saturating_sub(1), total] {
            let expected = self.expected(byte);
            assert_eq!(self.with(|world, _| directory::find(world, address(2), byte)), expected, "byte {byte} of {total}");
        }
    }
}

/// Over additions, changes and removals of 200 slots, which take several pages.
#[test]
fn a_directory_is_a_list_with_sums() {
    let mut pair = Pair { world: World::default(), relay: relay(&kept(), 2), list: Vec::new() };
    let mut random = 7_u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 33
    };
    for step in 0..600_u64 {
        let place = usize::try_from(next() % number(pair.list.len().max(1))).expect("few");
        match next() % 3 {
            _ if step < 200 => pair.push(Entry { volume: Hash([step.to_le_bytes()[0]; 32]), slot: 1, bytes: next() % 5_000 }),
            0 if !pair.list.is_empty() => pair.remove(place),
            _ if !pair.list.is_empty() => pair.set(place, next() % 9_000),
            _ => {}
        }
        pair.check(next());
    }
    for (place, entry) in pair.list.clone().into_iter().enumerate() {
        assert_eq!(pair.with(|world, _| directory::at(world, address(2), number(place))), Some(entry));
    }
}
