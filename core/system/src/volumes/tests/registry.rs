//! Who makes room in a full registry of relays (decisions 582, 597 and 606).

use super::proofs::{answer_but, run};
use super::*;
use cowboy_params::Params;
use cowboy_system::secrets;
use cowboy_system::standstill::Standstill;
use cowboy_system::volumes::offered;
use cowboy_testkit::chain::{signed, transfer};
use cowboy_types::{Abort, Amount};

fn enter(chain: &mut Chain, from: u8) -> Option<Abort> {
    let argument = registration(chain, from);
    ask(chain, from, RELAYS, "register_relay", argument, STAKE).abort
}

fn is_registered(chain: &Chain, number: u8) -> bool {
    chain.record::<Relay>(&state::relay_key(address(number))).is_some()
}

/// A relay that left, or that is not heard of, makes room once its stake answers for nothing, and is paid.
#[test]
fn who_is_gone_makes_room() {
    let mut chain = kept_with(&[("volumes.relays", 7), ("volumes.unbonding", 2_000)]);
    assert_eq!(enter(&mut chain, STRANGER), Some(error::RELAYS_FULL));
    assert_eq!(ask(&mut chain, 2, RELAYS, "leave", [], 0).abort, None);
    let left_at = relay(&chain, 2).left_at.expect("it left").0;
    let silent_at = relay(&chain, 3).last_heartbeat.0 + 400;
    for (gone, gone_at, newcomer) in [(2, left_at, STRANGER), (3, silent_at, OWNER)] {
        chain.height = Height(gone_at + 2_000 - 2);
        assert_eq!(enter(&mut chain, newcomer), Some(error::RELAYS_FULL), "{gone} is bound");
        let before = chain.balance(address(gone));
        assert_eq!(enter(&mut chain, newcomer), None, "{gone} is not");
        assert_eq!(chain.balance(address(gone)) - before, STAKE);
        assert!(!is_registered(&chain, gone) && is_registered(&chain, newcomer));
        heartbeat(&mut chain, 4..=8);
    }
}

/// A relay that was evicted loses its slots, and having lost stake gives way to a newcomer at once; what is left of its stake is bound like that of one
/// that left. Those that keep something stay.
#[test]
fn who_was_evicted_makes_room() {
    let (mut chain, volume_id, files) = filled_with(&[("volumes.relays", 7), ("volumes.unbonding", 60)]);
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 0);
    while relay(&chain, keeper).left_at.is_none() {
        answer_but(&mut chain, keeper, &[(volume_id, &files)]);
        chain.idle(1);
        assert!(chain.height.0 < 300, "it misses every round");
    }
    assert_eq!(enter(&mut chain, STRANGER), None, "it has less stake");
    let evicted = relay(&chain, keeper);
    assert!(evicted.is_idle() && evicted.stake.0 < STAKE, "{evicted:?}");
    assert_eq!((chain.names(state::relays()).len(), gone(&chain)), (7, vec![keeper]));
    assert_eq!(enter(&mut chain, OWNER), Some(error::RELAYS_FULL), "the others are up");
    assert_eq!(ask(&mut chain, keeper, RELAYS, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    chain.height = Height(evicted.left_at.expect("it was evicted").0 + 60);
    assert_eq!(ask(&mut chain, keeper, RELAYS, "withdraw", [], 0).abort, None);
    assert!(!is_registered(&chain, keeper));
}

/// Decision 597: in a full registry the idle relay with the least stake gives way to one with more, and leaves with its stake when that is free. Those that
/// keep something have no more stake, and stay.
#[test]
fn the_lowest_stake_gives_way() {
    let (mut chain, volume_id, _) = filled_with(&[("volumes.relays", 7), ("volumes.unbonding", 60)]);
    let slots = volume(&chain, &volume_id).expect("it is there").slots.len();
    let keepers: Vec<u8> = (0..slots).map(|slot| holder(&volume(&chain, &volume_id).expect("it is there"), slot)).collect();
    let idle: Vec<u8> = KEEPERS.filter(|number| !keepers.contains(number)).collect();
    let [idle] = idle[..] else { panic!("seven relays have six slots: {keepers:?}") };
    let with = |chain: &mut Chain, stake: u64| {
        let argument = registration(chain, STRANGER);
        ask(chain, STRANGER, RELAYS, "register_relay", argument, stake).abort
    };
    assert_eq!(with(&mut chain, STAKE), Some(error::RELAYS_FULL), "nobody has less");
    while chain.record::<Round>(&state::round_key(address(idle))).is_some() {
        chain.idle(1);
    }
    assert_eq!(with(&mut chain, STAKE + 1), None);
    assert_eq!((chain.names(state::relays()).len(), gone(&chain)), (7, vec![idle]));
    assert_eq!(ask(&mut chain, idle, RELAYS, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    chain.height = Height(relay(&chain, idle).left_at.expect("it left").0 + 60);
    assert_eq!(ask(&mut chain, idle, RELAYS, "withdraw", [], 0).abort, None);
    assert!(!is_registered(&chain, idle));
}

/// Registers one more relay, which asks for more than the volume of these tests pays and so is given no slot of it. Answers why it failed, if it did.
fn enter_dear(chain: &mut Chain, from: u8, stake: u64) -> Option<Abort> {
    let mut argument = registration(chain, from);
    argument[7].1 = Value::uint(451);
    ask(chain, from, RELAYS, "register_relay", argument, stake).abort
}

/// Says where a relay is reached, with this capacity and a price that the volume of these tests pays. Answers why it failed, if it did.
fn update(chain: &mut Chain, from: u8, capacity: u64) -> Option<Abort> {
    let argument = [
        ("endpoint", Value::text("::1")),
        ("port", Value::uint(443)),
        ("certificate", bytes(&[7; 32])),
        ("capacity", Value::uint(capacity)),
        ("ask", Value::uint(450)),
    ];
    ask(chain, from, RELAYS, "update_relay", argument, 0).abort
}

/// Decision 606: a relay that gave way adds no stake, so it needs none to say where it is reached. It still has the room that its slots need.
#[test]
fn who_gave_way_stays_reachable() {
    let (mut chain, _, _) = filled_with(&[("volumes.relays", 7)]);
    let beyond_its_stake: u64 = 10_001 << 30;
    assert_eq!(update(&mut chain, 2, beyond_its_stake), Some(error::RELAY_STAKE));
    for newcomer in [STRANGER, OWNER] {
        assert_eq!(enter_dear(&mut chain, newcomer, STAKE + 1), None);
    }
    let has_slots = |record: &Relay| record.gave_way_at.is_some() && record.left_at.is_none();
    let moved = KEEPERS.into_iter().find(|number| has_slots(&relay(&chain, *number))).expect("the idle one went first, and then this one");
    assert_eq!(update(&mut chain, moved, beyond_its_stake), None);
    assert_eq!(update(&mut chain, moved, 1), Some(error::RELAY_STAKE));
}

/// Decision 713: a relay that lost stake still says where it is reached and what it asks. It is given no slots, and cannot offer more bytes: not at once, and
/// not by offering less first.
#[test]
fn who_lost_stake_stays_reachable() {
    let mut chain = kept();
    let change = |chain: &mut Chain, stake: u64| {
        let place = state::relay_key(address(2));
        let mut record = relay(chain, 2);
        record.stake.0 = stake;
        chain.state.insert(place.digest(), place.seal(&record.encode()));
    };
    let offered = relay(&chain, 2).capacity;
    change(&mut chain, STAKE - 1);
    assert_eq!(update(&mut chain, 2, offered), None);
    let moved = relay(&chain, 2);
    assert_eq!((&*moved.endpoint, moved.capacity, moved.stake.0), ("::1", offered, STAKE - 1));
    assert!(!moved.is_eligible(&chain.config.params, &Standstill::default(), chain.height), "an update restores no stake");
    assert_eq!(update(&mut chain, 2, offered + 1), Some(error::RELAY_STAKE));
    assert_eq!(update(&mut chain, 2, offered - 1), None);
    assert_eq!(update(&mut chain, 2, offered), Some(error::RELAY_STAKE));
    change(&mut chain, STAKE);
    assert_eq!(update(&mut chain, 2, offered), None, "with the stake it offers more");
}

/// Which of the first seven relays have no place in the registry.
fn gone(chain: &Chain) -> Vec<u8> {
    let listed = chain.names(state::relays());
    KEEPERS.filter(|number| !listed.iter().any(|name| name[..] == address(*number).0)).collect()
}

/// The relays that serve the slots of a volume.
fn serving(chain: &Chain, id: &Hash) -> Vec<Address> {
    volume(chain, id).expect("it is there").slots.iter().filter_map(Slot::serving).collect()
}

/// Some epochs, in which every relay answers what is due.
fn epochs(chain: &mut Chain, count: u64, id: Hash, files: &Files) {
    for _ in 0..count {
        let end = volume(chain, &id).expect("it is there").paid_to.0 + 50;
        while chain.height.0 < end {
            run(chain, 1, &[(id, files)]);
        }
    }
}

/// Blocks until one of these relays is given a slot of a volume. Answers which relay it is, and the slot.
fn until_given(chain: &mut Chain, id: Hash, files: &Files, to: &[Address]) -> (Address, u64) {
    for _ in 0..30 {
        let slots = volume(chain, &id).expect("it is there").slots;
        let given = slots.iter().zip(0..).find_map(|(slot, place)| Some((slot.relay.filter(|relay| to.contains(relay))?, place)));
        if let Some(given) = given {
            return given;
        }
        run(chain, 1, &[(id, files)]);
    }
    panic!("the last round of a relay is short");
}

/// Decision 606: relays that keep a volume of their own do not close a full registry. The one with the least stake gives way to each newcomer with more. It
/// serves, proves and is paid as before. It has left with its whole stake once it asked for that and others have its slots, or once its last slot ended.
#[test]
fn a_volume_of_ones_own_keeps_no_place() {
    let (mut chain, volume_id, files) = filled_with(&[("volumes.relays", 7), ("volumes.unbonding", 60)]);
    let own = serving(&chain, &volume_id);
    let idle = KEEPERS.into_iter().find(|number| !own.contains(&address(*number))).expect("seven relays have six slots");
    assert_eq!(ask(&mut chain, idle, RELAYS, "add_stake", [], 2).abort, None);
    assert_eq!(enter_dear(&mut chain, STRANGER, STAKE), Some(error::RELAYS_FULL), "nobody has less");
    for newcomer in [STRANGER, OWNER] {
        assert_eq!(enter_dear(&mut chain, newcomer, STAKE + 1), None);
    }
    let gone = gone(&chain);
    let places = chain.names(state::relays()).len();
    assert_eq!((places, gone.len(), gone.contains(&idle)), (7, 2, false), "one for each newcomer");
    assert_eq!(ask(&mut chain, gone[0], RELAYS, "add_stake", [], CBY).abort, Some(error::RELAY_STATE), "it has no place");
    assert_eq!(ask(&mut chain, gone[0], RELAYS, "withdraw", [], 0).abort, Some(error::RELAY_STATE), "it keeps something");

    let left = |chain: &Chain| gone.iter().copied().filter(|number| relay(chain, *number).left_at.is_some()).collect::<Vec<u8>>();
    let balances = |chain: &Chain| gone.iter().map(|number| chain.balance(address(*number))).collect::<Vec<u64>>();
    epochs(&mut chain, 2, volume_id, &files);
    let before = balances(&chain);
    chain.height = Height(volume(&chain, &volume_id).expect("it is there").paid_to.0 + 49);
    chain.idle(1);
    assert_eq!((serving(&chain, &volume_id), left(&chain)), (own.clone(), vec![]), "nobody lost a slot");
    assert!(balances(&chain).iter().zip(&before).all(|(after, before)| after > before), "both are paid");

    assert_eq!(ask(&mut chain, gone[0], RELAYS, "leave", [], 0).abort, None);
    let (_, slot) = until_given(&mut chain, volume_id, &files, &[address(idle)]);
    assert_eq!(own[usize::try_from(slot).expect("few")], address(gone[0]), "its slot, and no other");
    let roots = ("roots", Value::Array(vec![bytes(&files.top().root().0)]));
    let argument = [("volume", bytes(&volume_id.0)), ("slot", Value::uint(slot)), roots];
    assert_eq!(ask(&mut chain, idle, RELAYS, "take_slot", argument, 0).abort, None);
    assert_eq!((serving(&chain, &volume_id).len(), left(&chain)), (6, vec![gone[0]]));
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "delete_volume", [("volume", bytes(&volume_id.0))], 0).abort, None);
    run(&mut chain, 25, &[(volume_id, &files)]);
    assert_eq!((volume(&chain, &volume_id).is_none(), left(&chain)), (true, gone.clone()), "they keep nothing any more");
    for number in gone {
        let record = relay(&chain, number);
        assert_eq!((record.stake.0, record.misses.0, record.is_idle()), (STAKE, 0, true), "{number} lost nothing");
        chain.height = Height(chain.height.0.max(record.left_at.expect("it left").0 + 60));
        assert_eq!(ask(&mut chain, number, RELAYS, "withdraw", [], 0).abort, None);
        assert!(!is_registered(&chain, number));
    }
}

/// Decision 606: somebody with more stake than all relays takes every place, and is given no slot that another relay serves, however many epochs end. A
/// slot comes to it only when its relay leaves.
#[test]
fn who_outbids_all_is_given_no_slot_of_theirs() {
    let (mut chain, volume_id, files) = filled_with(&[("volumes.relays", 7)]);
    let own = serving(&chain, &volume_id);
    let outbidding = 10..=16;
    let fund = |(number, nonce)| transfer(OWNER, nonce, address(number), 6_000 * CBY);
    let funds = outbidding.clone().zip(chain.nonce(OWNER)..).map(fund).collect();
    assert!(chain.block(funds).receipts.iter().all(Receipt::is_success));
    for number in outbidding.clone() {
        run(&mut chain, 1, &[(volume_id, &files)]);
        let argument = registration(&chain, number);
        assert_eq!(ask(&mut chain, number, RELAYS, "register_relay", argument, STAKE + 1).abort, None);
    }
    assert_eq!(gone(&chain), KEEPERS.collect::<Vec<u8>>(), "nobody else has a place");
    epochs(&mut chain, 4, volume_id, &files);
    assert_eq!(serving(&chain, &volume_id), own, "each slot is where it was");
    let has_something = |number: u8| !relay(&chain, number).has_no_slots();
    assert_eq!(outbidding.clone().find(|number| has_something(*number)), None);

    let leaver = own[0];
    assert_eq!(ask(&mut chain, number_of(leaver), RELAYS, "leave", [], 0).abort, None);
    let newcomers: Vec<Address> = outbidding.clone().map(address).collect();
    let (_, slot) = until_given(&mut chain, volume_id, &files, &newcomers);
    assert_eq!((slot, serving(&chain, &volume_id)), (0, own[1..].to_vec()));
    for number in outbidding {
        assert_eq!(ask(&mut chain, number, RELAYS, "leave", [], 0).abort, None);
    }
    run(&mut chain, 20, &[(volume_id, &files)]);
    assert_eq!(serving(&chain, &volume_id), own[1..], "it leaves with the slot that it was to rebuild");
}

/// Decision 606: where governance lowered the limit, a newcomer takes the place of one relay all the same. The number falls as relays leave by themselves.
#[test]
fn a_lowered_limit_puts_nobody_out() {
    let mut chain = kept_with(&[("volumes.relays", 7), ("volumes.unbonding", 60)]);
    for number in KEEPERS.filter(|number| *number != 4) {
        assert_eq!(ask(&mut chain, number, RELAYS, "add_stake", [], 2).abort, None);
    }
    chain.move_parameter("volumes.relays", 5);
    let places = |chain: &Chain| chain.names(state::relays()).len();
    assert_eq!((enter_dear(&mut chain, STRANGER, STAKE + 1), gone(&chain), places(&chain)), (None, vec![4], 7), "one has less, and goes");
    assert_eq!((enter_dear(&mut chain, OWNER, STAKE + 1), places(&chain)), (Some(error::RELAYS_FULL), 7), "nobody else has less");
    assert_eq!(ask(&mut chain, 2, RELAYS, "leave", [], 0).abort, None);
    chain.height = Height(relay(&chain, 2).left_at.expect("it left").0 + 60);
    assert_eq!(ask(&mut chain, 2, RELAYS, "withdraw", [], 0).abort, None);
    assert_eq!((enter_dear(&mut chain, OWNER, STAKE + 1), places(&chain)), (Some(error::RELAYS_FULL), 6), "its place is nobody's");
}

/// Why no relay takes a slot: a relay that lost stake is up, is not eligible, and is counted where a volume has too few.
#[test]
fn who_takes_no_slot_is_counted() {
    let mut chain = kept();
    let change = |chain: &mut Chain, number: u8, change: fn(&mut Relay)| {
        let place = state::relay_key(address(number));
        let mut record = relay(chain, number);
        change(&mut record);
        chain.state.insert(place.digest(), place.seal(&record.encode()));
    };
    change(&mut chain, 2, |relay| relay.stake.0 -= 1);
    change(&mut chain, 3, |relay| relay.ask.0 += 1);
    change(&mut chain, 4, |relay| relay.capacity = MIB);
    let shown = view(&mut chain, RELAYS, "get_relay", [("address", bytes(&address(2).0))]);
    let of = |name: &str| shown.get(name).cloned();
    assert_eq!((of("is_healthy"), of("is_eligible")), (Some(Value::Bool(true)), Some(Value::Bool(false))));
    let argument = Value::dict(creation("memory", "public", 8 * MIB)).encode();
    let outcome = chain.block(vec![signed(OWNER, chain.nonce(OWNER), execution(STORAGE, "create_volume", &argument, 2 * CBY))]);
    assert_eq!(outcome.receipts[0].abort, Some(error::VOLUME_RELAYS));
    let said = outcome.traces[0].calls[0].exception.clone().expect("the trace says why").message;
    let counts = "1 short of volumes.relay_stake, 1 asking more than max_price, 1 without the room";
    assert_eq!(said, format!("It needs 6 relays, and 4 can take a slot; the others are {counts}."));
}

/// Decision 713: a relay whose stake does not suffice for what is configured, or that has given out more, says the capacity that the chain knows.
#[test]
fn a_capacity_that_would_be_refused_is_not_said() {
    const GIB: u64 = 1 << 30;
    let params = Params::GENESIS;
    let there = |reserved: u64| Relay {
        stake: Amount(params.volumes.relay_stake),
        capacity: GIB,
        reserved,
        ..Relay::new(Height::ZERO, Height::ZERO)
    };
    let rows = [(there(0), 2 * GIB, 2 * GIB), (there(0), u64::MAX, GIB), (there(GIB), GIB / 2, GIB), (there(0), GIB / 2, GIB / 2)];
    for (relay, configured, expected) in rows {
        assert_eq!(offered(&params, &relay, configured), expected, "{relay:?}: {configured}");
    }
}

/// Attack: somebody has many relays looked at in one block. Cost: stakes that come back. Victim: everyone, if these blocks took longer. They do not: looks
/// have what is left of a block's time, and one of them comes in a full block, so that nobody holds proofs and payments up either (decision 722).
#[test]
fn looks_share_a_blocks_time() {
    let mut chain = kept_with(&[("execution.block_weight", 10_000_000), ("weights.record", 50_000)]);
    let slow = chain.deploy("handler go\n weigh 20000000\n");
    // All of them are silent.
    chain.height = Height(chain.height.0 + 1_000);
    let waiting = |chain: &Chain| KEEPERS.filter(|number| relay(chain, *number).next_look <= chain.height.next()).count();
    assert_eq!(waiting(&chain), 7);
    let nonce = chain.nonce(1);
    let full = chain.block(vec![signed(1, nonce, execution(slow, "go", b"", 0))]);
    assert!(full.receipts[0].is_success());
    assert_eq!(waiting(&chain), 6, "one look in a block that is full");
    let mut weights = Vec::new();
    while waiting(&chain) > 0 {
        let before = waiting(&chain);
        let weight = chain.block(Vec::new()).weight_ns;
        let looks = u64::try_from(before - waiting(&chain)).expect("few");
        assert!(looks > 0, "it continues");
        weights.push((looks, weight));
    }
    let each = weights[0].1 / weights[0].0;
    assert_eq!(weights, [(3, 3 * each), (3, 3 * each)], "looks fill blocks");
    assert!(2 * each < 10_000_000 && 3 * each >= 10_000_000, "and no more: the look under way ends");
}

/// What 0x04 looks at in a full block keeps nothing of 0x0B waiting: each agenda has a floor of its own (decision 722).
#[test]
fn no_agenda_waits_for_another() {
    let mut chain = kept_with(&[("execution.block_weight", 10_000_000), ("weights.record", 50_000)]);
    let slow = chain.deploy("handler go\n weigh 20000000\n");
    let key = signing_key(OWNER);
    let proof = signer(OWNER).sign(&cowboy_secrets::proxy::proof_message(&chain.config.genesis, address(OWNER), &key)).to_bytes();
    let registration = [
        ("endpoint", Value::text("proxy.example.com")),
        ("port", Value::uint(443)),
        ("certificate", bytes(&[7; 32])),
        ("key", bytes(&key.0)),
        ("proof", bytes(&proof)),
    ];
    let manager = Address::system(secrets::NUMBER);
    assert_eq!(ask(&mut chain, OWNER, manager, "register_proxy", registration, 10_000 * CBY).abort, None);
    // The first proxy begins the first key. It and all relays are due.
    chain.height = Height(chain.height.0 + 1_000);
    let nonce = chain.nonce(1);
    let full = chain.block(vec![signed(1, nonce, execution(slow, "go", b"", 0))]);
    assert!(full.receipts[0].is_success());
    let key: secrets::types::ReleaseKey = chain.record(&secrets::state::release_key(1)).expect("the first key");
    let relays = KEEPERS.filter(|number| relay(&chain, *number).next_look > chain.height).count();
    assert_eq!((key.next_look > chain.height, relays), (true, 1), "one look of each");
}
