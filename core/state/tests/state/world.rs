//! The journal against copies of a map.

use bytes::Bytes;
use cowboy_state::{Checkpoint, Key, Kind, SentMessage, World};
use cowboy_types::units::Amount;
use cowboy_types::{Address, Event, Hash};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn key(number: u8) -> Key {
    Key::of(Kind::Account, Address([number; 20]))
}

/// What a map has at a place, as the bytes of a record.
fn one(map: &BTreeMap<u8, u8>, place: u8) -> Option<Bytes> {
    map.get(&place).map(|value| Bytes::from(vec![*value]))
}

/// A world that knows that nothing is there.
fn empty_world() -> World {
    let mut world = World::default();
    let miss = world.require(&(0..8).map(key).collect::<Vec<_>>()).expect_err("nothing was fetched");
    for digest in world.want(miss) {
        world.fill(&digest, None);
    }
    world
}

/// Records, announcements and messages, as they should be.
type Model = (BTreeMap<u8, u8>, usize, u64);

#[derive(Clone, Debug)]
enum Act {
    Put(u8, Option<u8>),
    Announce,
    Message,
    Checkpoint,
    Rollback,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0u8..8, prop::option::of(any::<u8>())).prop_map(|(key, value)| Act::Put(key, value)),
        1 => Just(Act::Announce),
        1 => Just(Act::Message),
        2 => Just(Act::Checkpoint),
        2 => Just(Act::Rollback),
    ]
}

proptest! {
    /// A rolled back checkpoint leaves no trace: not in records, not in announcements, not in the count of messages.
    #[test]
    fn a_rollback_is_a_copy_put_back(acts in prop::collection::vec(act(), 0..200)) {
        let mut world = empty_world();
        let mut model = Model::default();
        let mut saved: Vec<(Checkpoint, Model)> = Vec::new();
        for act in acts {
            match act {
                Act::Put(place, value) => {
                    world.put(key(place), value.map(|value| Bytes::from(vec![value])));
                    match value { Some(value) => model.0.insert(place, value), None => model.0.remove(&place) };
                }
                Act::Announce => {
                    world.push_event(Event::new(Address::ZERO, Default::default(), Default::default()));
                    model.1 += 1;
                }
                Act::Message => {
                    let (receipt, id, target) = (Hash::ZERO, Hash::ZERO, Address::ZERO);
                    world.note_message(SentMessage { receipt, id, target, handler: String::new(), value: Amount::ZERO });
                    model.2 += 1;
                }
                Act::Checkpoint => saved.push((world.checkpoint(), model.clone())),
                Act::Rollback => {
                    if let Some((checkpoint, copy)) = saved.pop() {
                        world.rollback(&checkpoint);
                        model = copy;
                    }
                }
            }
            for place in 0..8 {
                let held = world.get(&key(place)).expect("known").map(|bytes| bytes[0]);
                prop_assert_eq!(held, model.0.get(&place).copied());
            }
            prop_assert_eq!((world.announcements(), world.messages()), (model.1, model.2));
        }
        prop_assert_eq!(world.writes().len(), model.0.len(), "only what differs from before is written");
        for (checkpoint, copy) in &saved {
            let differs = |place: &u8| copy.0.get(place) != model.0.get(place);
            let expected: Vec<_> = (0..8).filter(differs).map(|place| (key(place), one(&copy.0, place), one(&model.0, place))).collect();
            prop_assert_eq!(world.changes_since(checkpoint, &[Kind::Account], usize::MAX), expected);
            prop_assert_eq!(world.changes_since(checkpoint, &[Kind::Storage], usize::MAX), vec![]);
            prop_assert!(world.changes_since(checkpoint, &[Kind::Account], 2).len() <= 2);
        }
    }
}

/// Undoing a record that was written without being fetched does not make it one that is not there.
#[test]
fn what_was_not_fetched_stays_unknown() {
    let mut world = World::default();
    let checkpoint = world.checkpoint();
    world.put(key(1), Some(Bytes::from_static(b"new")));
    world.put(key(1), None);
    world.put(key(1), Some(Bytes::from_static(b"newer")));
    world.rollback(&checkpoint);
    let miss = world.get(&key(1)).expect_err("the store was not asked");
    for digest in world.want(miss) {
        world.fill(&digest, Some(key(1).seal(b"old")));
    }
    assert_eq!(world.get(&key(1)), Ok(Some(&Bytes::from_static(b"old"))));
    assert!(world.writes().is_empty());
}

/// What another record says is there is erased without being fetched; a rollback forgets that, and what was written in this block is only gone.
#[test]
fn records_are_erased_unread() {
    let mut world = World::default();
    let checkpoint = world.checkpoint();
    world.erase(key(1));
    assert_eq!(world.get(&key(1)), Ok(None));
    assert_eq!(world.writes().into_iter().collect::<Vec<_>>(), [(key(1).digest(), None)]);
    world.rollback(&checkpoint);
    assert!(world.get(&key(1)).is_err() && world.writes().is_empty());

    world.put(key(2), Some(Bytes::from_static(b"new")));
    world.erase(key(2));
    assert!(world.writes().is_empty(), "nothing was there before the block");
    world.rollback(&checkpoint);
    let miss = world.get(&key(3)).expect_err("the store was not asked");
    for digest in world.want(miss) {
        world.fill(&digest, Some(key(3).seal(b"old")));
    }
    world.erase(key(3));
    assert_eq!(world.writes().into_iter().collect::<Vec<_>>(), [(key(3).digest(), None)]);
    world.rollback_all();
    assert_eq!(world.get(&key(3)), Ok(Some(&Bytes::from_static(b"old"))));
}

/// What was never fetched is missed, all of it together; what was fetched is not.
#[test]
fn misses_are_batched() {
    let mut world = World::default();
    let keys: Vec<Key> = (0..5).map(key).collect();
    let miss = world.require(&keys).expect_err("nothing was fetched");
    assert_eq!(miss.0.len(), 5);
    let digests = world.want(miss);
    for (place, digest) in digests.iter().enumerate() {
        let stored = (place == 3).then(|| keys[3].seal(b"x"));
        world.fill(digest, stored);
    }
    assert_eq!(world.require(&keys), Ok(()));
    assert_eq!(world.get(&keys[3]), Ok(Some(&Bytes::from_static(b"x"))));
    assert_eq!(world.get(&keys[0]), Ok(None));
    assert!(world.get(&key(9)).is_err());
    assert!(world.writes().is_empty(), "reading changes nothing");
}
