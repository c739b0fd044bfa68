//! Who makes room in a full registry of relays (decision 582).

use super::proofs::answer_but;
use super::*;
use cowboy_testkit::chain::signed;
use cowboy_types::Abort;

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
    let listed = chain.names(state::relays());
    let gone: Vec<u8> = KEEPERS.filter(|number| !listed.iter().any(|name| name[..] == address(*number).0)).collect();
    assert_eq!((listed.len(), gone), (7, vec![keeper]));
    assert_eq!(enter(&mut chain, OWNER), Some(error::RELAYS_FULL), "the others are up");
    assert_eq!(ask(&mut chain, keeper, RELAYS, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    chain.height = Height(evicted.left_at.expect("it was evicted").0 + 60);
    assert_eq!(ask(&mut chain, keeper, RELAYS, "withdraw", [], 0).abort, None);
    assert!(!is_registered(&chain, keeper));
}

/// Decision 597: in a full registry the idle relay with the least stake gives way to one with more, and leaves with its stake when that is free. One that
/// keeps something stays.
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
    let listed = chain.names(state::relays());
    let gone: Vec<u8> = KEEPERS.filter(|number| !listed.iter().any(|name| name[..] == address(*number).0)).collect();
    assert_eq!((listed.len(), gone), (7, vec![idle]));
    assert_eq!(ask(&mut chain, idle, RELAYS, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    chain.height = Height(relay(&chain, idle).left_at.expect("it left").0 + 60);
    assert_eq!(ask(&mut chain, idle, RELAYS, "withdraw", [], 0).abort, None);
    assert!(!is_registered(&chain, idle));
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
