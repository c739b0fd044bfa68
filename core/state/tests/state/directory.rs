//! Directories against a `BTreeSet`.

use bytes::Bytes;
use cowboy_state::directory::{Node, PAGE_NAMES};
use cowboy_state::{Directory, Kind, Miss, StateKey, World};
use cowboy_types::Address;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A store in a map.
type Store = BTreeMap<StateKey, Bytes>;

/// Does something to a world over a store as an execution would: a miss is fetched, and everything done is done again.
fn with<T>(store: &Store, world: &mut World, mut act: impl FnMut(&mut World) -> Result<T, Miss>) -> T {
    loop {
        let checkpoint = world.checkpoint();
        match act(world) {
            Ok(value) => return value,
            Err(miss) => {
                world.rollback(&checkpoint);
                for digest in world.want(miss) {
                    world.fill(&digest, store.get(&digest).cloned());
                }
            }
        }
    }
}

fn commit(store: &mut Store, world: World) {
    for (key, stored) in world.writes() {
        match stored {
            Some(stored) => store.insert(key, stored),
            None => store.remove(&key),
        };
    }
}

/// No page holds more than its names, and none is empty.
fn check_pages(store: &Store) {
    for stored in store.values() {
        let (key, body) = cowboy_state::Key::open(stored).expect("sealed");
        if key.kind == Kind::Directory && key.name.len() > 1 {
            let count = match <Node as commonware_codec::DecodeExt<()>>::decode(body).expect("a node") {
                Node::Page { names } => names.len(),
                Node::Inner { children } => children.len(),
            };
            assert!((1..=PAGE_NAMES).contains(&count), "{count} entries in a node");
        }
    }
}

proptest! {
    /// Inserting, removing and listing, over many blocks of a few operations each.
    #[test]
    fn a_directory_is_a_sorted_set(blocks in prop::collection::vec(prop::collection::vec((any::<bool>(), 0u16..600, 0usize..4), 1..80), 1..30)) {
        let directory = Directory::storage(Address([7; 20]));
        let mut store = Store::new();
        let mut model: BTreeSet<Vec<u8>> = BTreeSet::new();
        for block in blocks {
            let mut world = World::default();
            for (is_insert, number, tail) in block {
                let name = [&number.to_be_bytes()[..], &vec![0xAB; tail]].concat();
                if is_insert {
                    let was_new = with(&store, &mut world, |world| directory.insert(world, &name));
                    prop_assert_eq!(was_new, model.insert(name));
                } else {
                    let was_there = with(&store, &mut world, |world| directory.remove(world, &name));
                    prop_assert_eq!(was_there, model.remove(&name));
                }
            }
            let count = with(&store, &mut world, |world| directory.count(world));
            prop_assert_eq!(count, u64::try_from(model.len()).expect("fits"));
            commit(&mut store, world);
            check_pages(&store);
        }
        let mut world = World::default();
        for from in [vec![], vec![1, 0], vec![2]] {
            let listed = with(&store, &mut world, |world| directory.list(world, &from, 100));
            let expected: Vec<Vec<u8>> = model.range(from..).take(100).cloned().collect();
            prop_assert_eq!(listed.iter().map(|name| name.to_vec()).collect::<Vec<_>>(), expected);
        }
        let ranges: [(Vec<u8>, Vec<u8>); 5] =
            [(vec![], vec![]), (vec![], vec![1, 0]), (vec![0, 80], vec![1, 44, 0xAB]), (vec![1], vec![0, 9]), (vec![1], vec![9])];
        for (from, end) in ranges {
            let listed = with(&store, &mut world, |world| directory.list_until(world, &from, &end, 100));
            let expected: Vec<Vec<u8>> = model.iter().filter(|name| **name >= from && **name < end).take(100).cloned().collect();
            prop_assert_eq!(listed.iter().map(|name| name.to_vec()).collect::<Vec<_>>(), expected);
        }
        for limit in [0, 1, 65, 200] {
            let last = with(&store, &mut world, |world| directory.last(world, limit));
            let expected: Vec<Vec<u8>> = model.iter().rev().take(limit).cloned().collect();
            prop_assert_eq!(last.iter().map(|name| name.to_vec()).collect::<Vec<_>>(), expected);
        }
        for name in &model {
            with(&store, &mut world, |world| directory.remove(world, name));
        }
        commit(&mut store, world);
        prop_assert!(store.is_empty(), "an empty directory leaves nothing behind");
    }
}

/// Three levels: more names than two levels of full pages hold after ascending insertion.
#[test]
fn a_directory_grows_levels() {
    let directory = Directory::timers();
    let (store, mut world) = (Store::new(), World::default());
    for number in 0u32..6_000 {
        with(&store, &mut world, |world| directory.insert(world, &number.to_be_bytes()));
    }
    let listed = with(&store, &mut world, |world| directory.list(world, &5_990u32.to_be_bytes(), 100));
    assert_eq!(listed.len(), 10);
    assert_eq!(with(&store, &mut world, |world| directory.list(world, &[], usize::MAX)).len(), 6_000);
}

/// Names behind the end are not read, however many pages they fill and however few names each of these has.
#[test]
fn a_list_ends_before_what_nobody_asked_for() {
    let directory = Directory::timers();
    let (mut store, mut world) = (Store::new(), World::default());
    for number in 0u32..6_000 {
        with(&store, &mut world, |world| directory.insert(world, &number.to_be_bytes()));
    }
    for number in (100u32..6_000).filter(|number| number % 32 != 0) {
        with(&store, &mut world, |world| directory.remove(world, &number.to_be_bytes()));
    }
    commit(&mut store, world);
    let (mut world, mut read) = (World::default(), 0);
    let found = loop {
        match directory.list_until(&world, &[], &10u32.to_be_bytes(), 4_096) {
            Ok(found) => break found,
            Err(miss) => {
                let wanted = world.want(miss);
                read += wanted.len();
                wanted.into_iter().for_each(|digest| world.fill(&digest, store.get(&digest).cloned()));
            }
        }
    };
    assert_eq!(found.len(), 10);
    assert!(read < 10, "{read} nodes were read");
}

/// A long list is read in few rounds: each miss has everything done again, and one for each page would make the work grow as its square.
#[test]
fn a_long_list_is_asked_for_at_once() {
    let directory = Directory::timers();
    let (mut store, mut world) = (Store::new(), World::default());
    for number in 0u32..6_000 {
        with(&store, &mut world, |world| directory.insert(world, &number.to_be_bytes()));
    }
    commit(&mut store, world);
    for is_back in [false, true] {
        let (mut world, mut rounds) = (World::default(), 0);
        let found = with(&store, &mut world, |world| {
            rounds += 1;
            if is_back { directory.last(world, 5_000) } else { directory.list(world, &[], 5_000) }
        });
        assert_eq!(found.len(), 5_000);
        // 188 pages, half full.
        assert!(rounds < 30, "{rounds} rounds");
    }
}
