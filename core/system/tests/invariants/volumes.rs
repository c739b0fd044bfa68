//! Records of volumes and relays that break a rule.

use super::{ID, State, WHO, each_breaks, list};
use cowboy_system::volumes::directory::{Entries, LEVELS, Sums};
use cowboy_system::volumes::types::{Partition, Relay, Slot, Volume};
use cowboy_system::volumes::{self, state};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, actors};
use cowboy_volumes::Name;

/// The volume of the state, and the relay of its first slot.
fn first(chain: &cowboy_testkit::chain::Chain) -> (Hash, Address, Hash) {
    let id = Name::new("memory").expect("a name").volume(cowboy_testkit::chain::address(1));
    let volume: Volume = chain.record(&state::volume_key(&id)).expect("it was created");
    (id, volume.slots[0].relay.expect("each slot has a relay"), volume.partitions[0].partition)
}

#[test]
fn versions_of_keys() {
    let chain = crate::volumes::everything();
    let (id, _, partition) = first(&chain);
    let older = move |state: &mut State| {
        state.change(&state::partition_key(&id, &partition), |partition: &mut Partition| partition.key_version -= 1);
    };
    let later = move |state: &mut State| {
        state.change(&state::partition_key(&id, &partition), |partition: &mut Partition| partition.key_version = (2 << 16) + 1);
    };
    let next = move |state: &mut State| state.change(&state::volume_key(&id), |volume: &mut Volume| volume.generation = Count(2));
    each_breaks(
        &chain.state,
        chain.height,
        volumes::invariants::check,
        &[
            ("no root is under a newer key than its partition had", &older),
            ("no partition had a key of a generation that is yet to begin", &later),
            ("a volume is of the newest generation of its id", &next),
        ],
    );
}

#[test]
fn relays_that_gave_way() {
    let chain = crate::volumes::everything();
    let (_, relay, _) = first(&chain);
    let listed: Relay = chain.record(&state::relay_key(relay)).expect("it is registered");
    let gone = Relay { gave_way_at: Some(Height(1)), slots: 0, reserved: 0, stake: Amount::ZERO, demands: list(Vec::new()), ..listed };
    each_breaks(
        &chain.state,
        chain.height,
        volumes::invariants::check,
        &[
            ("a relay that gave way has no place", &|state| {
                state.change(&state::relay_key(relay), |relay: &mut Relay| relay.gave_way_at = Some(Height(1)));
            }),
            ("a relay that gave way and keeps nothing has left", &|state| state.put(&state::relay_key(WHO), &gone)),
        ],
    );
}

#[test]
fn slots_that_are_behind() {
    let chain = crate::volumes::everything();
    let (id, ..) = first(&chain);
    let behind = move |state: &mut State| {
        state.change(&state::volume_key(&id), |volume: &mut Volume| {
            let mut slots = volume.slots.clone().into_vec();
            slots[0].behind_since = Some(Height(1));
            volume.slots = list(slots);
        });
    };
    let rule = "a relay is behind with a slot that it serves and lacks bytes of";
    each_breaks(&chain.state, chain.height, volumes::invariants::check, &[(rule, &behind)]);
}

#[test]
fn records_of_volumes() {
    let chain = crate::volumes::everything();
    let (id, relay, partition) = first(&chain);
    let volume = |change: fn(&mut Volume)| move |state: &mut State| state.change(&state::volume_key(&id), change);
    let of_relay = |change: fn(&mut Relay)| move |state: &mut State| state.change(&state::relay_key(relay), change);
    let slot = |change: fn(&mut Slot)| {
        move |state: &mut State| {
            state.change(&state::volume_key(&id), |volume: &mut Volume| {
                let mut slots = volume.slots.clone().into_vec();
                change(&mut slots[0]);
                volume.slots = list(slots);
            });
        }
    };
    each_breaks(
        &chain.state,
        chain.height,
        volumes::invariants::check,
        &[
            ("0x0B has stakes, bonds and the pool", &|state| state.empty(Address::system(actors::RELAYS))),
            ("every relay is listed", &|state| state.insert(state::relays(), &WHO.0)),
            ("the agenda has every volume, relay, demand and capability of a job", &volume(|volume| volume.next_look = Height(1))),
            ("the agenda has nothing else", &|state| state.insert(state::agenda(), &ID.0)),
            ("a volume has the slots of its code", &volume(|volume| volume.code.parity = 1)),
            (
                "the slots of a volume are of different relays",
                &volume(|volume| {
                    let mut slots = volume.slots.clone().into_vec();
                    slots[1].relay = slots[0].relay;
                    volume.slots = list(slots);
                }),
            ),
            ("a relay's directory has its slots", &slot(|slot| slot.place = Some(1))),
            ("a relay counts its slots", &of_relay(|relay| relay.slots = 2)),
            ("a relay's sums are of its slots", &move |state| {
                state.change(&state::page_key(relay, LEVELS, 0), |sums: &mut Sums| sums.sums = list(vec![1]));
            }),
            ("a relay's record names its demands", &of_relay(|relay| relay.demands = list(vec![ID]))),
            ("a relay reserves the quotas of its slots", &of_relay(|relay| relay.reserved = 1)),
            ("every partition belongs to a volume", &move |state| state.drop(&state::partition_key(&id, &partition))),
            (
                "partitions ascend",
                &volume(|volume| {
                    let turned = volume.partitions.iter().rev().cloned().collect();
                    volume.partitions = list(turned);
                }),
            ),
            ("a volume lists the roots of its partitions", &move |state| {
                state.change(&state::partition_key(&id, &partition), |partition: &mut Partition| partition.root.top.leaves = 9);
            }),
            ("a slot counts the bytes that its relay did not acknowledge", &slot(|slot| slot.missing += 1)),
            ("a volume counts its capabilities", &volume(|volume| volume.capabilities = Count(2))),
            ("a volume is listed with its owner", &volume(|volume| volume.owner = WHO)),
        ],
    );
    // What the rows above need beside: an entry of a directory is of one volume, and a volume's bytes are counted.
    let broken = |change: &dyn Fn(&mut State)| {
        let mut state = State(chain.state.clone());
        change(&mut state);
        cowboy_system::records::Records::open(&state.0, chain.height).and_then(|records| volumes::invariants::check(&records)).is_err()
    };
    assert!(broken(&|state| state.change(&state::page_key(relay, 0, 0), |page: &mut Entries| page.entries = list(Vec::new()))));
    assert!(broken(&volume(|volume| volume.bytes += 64)));
    assert!(broken(&|state| state.drop(&state::relay_key(relay))));
    let escrow = |state: &mut State| state.change(&state::volume_key(&id), |volume: &mut Volume| volume.escrow = Amount(u64::MAX));
    let mut state = State(chain.state.clone());
    escrow(&mut state);
    let records = cowboy_system::records::Records::open(&state.0, chain.height).expect("records are sealed");
    assert!(cowboy_system::storage::invariants::check(&records).is_err(), "0x0A does not have as much");
}
