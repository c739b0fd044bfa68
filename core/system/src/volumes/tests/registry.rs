//! Who makes room in a full registry of relays (decision 582).

use super::proofs::answer_but;
use super::*;
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

/// A relay that was evicted loses its slots, and makes room after the unbonding time like one that left. Those that keep something stay.
#[test]
fn who_was_evicted_makes_room() {
    let (mut chain, volume_id, files) = filled_with(&[("volumes.relays", 7), ("volumes.unbonding", 60)]);
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 0);
    while relay(&chain, keeper).left_at.is_none() {
        answer_but(&mut chain, keeper, &[(volume_id, &files)]);
        chain.idle(1);
        assert!(chain.height.0 < 300, "it misses every round");
    }
    assert_eq!(enter(&mut chain, STRANGER), Some(error::RELAYS_FULL), "it was evicted only now");
    chain.idle(3);
    let evicted = relay(&chain, keeper);
    assert!(evicted.is_idle(), "{evicted:?}");
    chain.height = Height(evicted.left_at.expect("it was evicted").0 + 60);
    let before = chain.balance(address(keeper));
    assert_eq!(enter(&mut chain, STRANGER), None);
    assert_eq!(chain.balance(address(keeper)) - before, evicted.stake.0);
    let gone: Vec<u8> = KEEPERS.filter(|number| !is_registered(&chain, *number)).collect();
    assert_eq!(gone, [keeper]);
    assert_eq!(enter(&mut chain, OWNER), Some(error::RELAYS_FULL), "the others are up");
}
