//! Proxies, dealings and releases while governance pauses 0x04 (decision 734).

use super::*;
use cowboy_system::standstill::SECRETS;

/// A chain with a secret, and a release of it of which answers are demanded. Answers the release, and who has to answer, with the answers.
fn demanded() -> (Chain, Hash, Vec<(u8, [u8; 192])>) {
    let (mut chain, polynomial) = seated();
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    let id = release(&mut chain);
    let argument = [("release_id", bytes(&id.0)), ("served", Value::uint(0))];
    assert_eq!(ask(&mut chain, OWNER, "demand", argument, Params::GENESIS.secrets.demand_bond).abort, None);
    let demand = release_record(&chain, &id).and_then(|release| release.demand).expect("it is demanded");
    let (key, ..) = transport();
    let of = |place: usize| (number_of(demand.members[place]), answer(&polynomial, place, &sealed_to, &key));
    let answers = indices(demand.due).map(of).collect();
    (chain, id, answers)
}

fn serve(chain: &mut Chain, id: &Hash, (from, answer): &(u8, [u8; 192])) -> Option<Abort> {
    ask(chain, *from, "serve", [("release_id", bytes(&id.0)), ("answer", bytes(answer))], 0).abort
}

fn stakes(chain: &Chain) -> Vec<u64> {
    (2..=5).map(|number| proxy(chain, number).stake.0).collect()
}

/// A pause that is longer than every time costs neither members nor the recipient anything: afterwards the demand is answered, and the release closed, in
/// the time that was left.
#[test]
fn a_pause_costs_a_member_nothing() {
    let (mut chain, id, answers) = demanded();
    chain.pause(&[0x04], 200);
    assert_eq!(serve(&mut chain, &id, &answers[0]), Some(error::SYSTEM_ACTOR_PAUSED));
    chain.idle(199);
    for answer in &answers {
        assert_eq!(serve(&mut chain, &id, answer), None);
    }
    chain.idle(30);
    assert_eq!((stakes(&chain), proxy(&chain, answers[0].0).demands.len()), (vec![STAKE; 4], 0));
    let closing = [("release_id", bytes(&id.0)), ("epoch", Value::uint(1)), ("served", Value::uint(0b111))];
    assert_eq!(ask(&mut chain, OWNER, "close_release", closing, 0).abort, None);
}

/// Silence costs what it does in the block in which the time is over without the pauses, of which every one counts.
#[test]
fn a_pause_is_no_way_out() {
    let (mut chain, id, answers) = demanded();
    let made_at = chain.height.0;
    let window = Params::GENESIS.secrets.demand_window;
    for blocks in [100, 40] {
        chain.pause(&[0x04], blocks);
        chain.idle(blocks + 5);
    }
    chain.idle(made_at + window + 140 - 1 - chain.height.0);
    assert_eq!(stakes(&chain), vec![STAKE; 4], "it may still be answered");
    let receipts = chain.idle(1);
    assert!(events(&receipts).contains(&"release.demand_over".to_owned()), "{:?}", events(&receipts));
    assert_eq!(stakes(&chain).iter().filter(|stake| **stake < STAKE).count(), answers.len());
    assert_eq!(serve(&mut chain, &id, &answers[0]), Some(error::RELEASE_STATE));
}

/// A dealing continues where it stood: nobody counts as silent in a phase, or as absent, for a time in which nobody could speak.
#[test]
fn a_dealing_waits_for_the_end_of_a_pause() {
    let rows = [&quick_rows()[..], &[("secrets.alive", 300)]].concat();
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    (2..=5).for_each(|number| register(&mut chain, number));
    let joining = until(&mut chain, Phase::Join);
    chain.pause(&[0x04], 400);
    chain.idle(400);
    assert_eq!(round(&chain), Some(joining));
    seat(&mut chain, 1);
    let still = chain.record(&SECRETS.key()).unwrap_or_default();
    for number in 2..=5 {
        let record = proxy(&chain, number);
        assert!(record.is_able(&chain.config.params, &still, chain.height), "{record:?}");
        assert_eq!(record.excluded_until, Height::ZERO);
    }
}

/// Stake is bound, and a penalty lasts, for as long as without the pause.
#[test]
fn a_pause_shortens_nothing() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("secrets.unbonding", 50), ("secrets.exclusion", 20)]));
    (2..=3).for_each(|number| register(&mut chain, number));
    let excluded = Proxy { excluded_until: Height(chain.height.0 + 20), ..proxy(&chain, 3) };
    let key = state::proxy_key(address(3));
    chain.state.insert(key.digest(), key.seal(&excluded.encode()));
    assert_eq!(ask(&mut chain, 2, "leave", [], 0).abort, None);
    let left_at = chain.height.0;
    chain.pause(&[0x04], 100);
    chain.idle(100);
    let still = chain.record(&SECRETS.key()).unwrap_or_default();
    assert_eq!(excluded.drawn_after(&chain.config.params, &still), Height(excluded.excluded_until.0 + 100));
    chain.height = Height(left_at + 100 + 50 - 2);
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, None);
}

/// The key that a newer one replaced opens what is sealed to it until its sunset without the pause, so that nobody loses what it had no time to seal again.
#[test]
fn a_sunset_waits_for_the_end_of_a_pause() {
    let rows = [&quick_rows()[..], &[("secrets.sunset", 100)]].concat();
    let mut chain = Chain::with(|genesis| {
        genesis.parameters = parameters(&rows);
        genesis.deployers = List::new(vec![address(9)]).expect("one");
    });
    (2..=5).for_each(|number| register(&mut chain, number));
    seat(&mut chain, 1);
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    assert_eq!(ask(&mut chain, 9, "rekey", [], 0).abort, None);
    let sunset = key(&chain).sunset.expect("it ends").0;
    chain.pause(&[0x04], 150);
    chain.idle(150);
    release(&mut chain);
    chain.height = Height(sunset + 150);
    let (transport, proof, _) = transport();
    let argument = [("name_hash", bytes(&[8; 32])), ("transport", bytes(&transport.0)), ("proof", bytes(&proof.0))];
    assert_eq!(ask(&mut chain, OWNER, "release_to_owner", argument, 0).abort, Some(error::NO_RELEASE_KEY));
}

/// The stake of a member is bound from when it had to answer for the last time, also where a pause moved that.
#[test]
fn a_seat_ends_after_the_pause() {
    let (mut chain, _) = seated();
    (6..=9).for_each(|number| register(&mut chain, number));
    (2..=5).for_each(|number| assert!(ask(&mut chain, number, "leave", [], 0).is_success()));
    seat(&mut chain, 2);
    let until = committee(&chain, 1).and_then(|committee| committee.until).expect("it answers a while longer").0;
    chain.pause(&[0x04], 50);
    chain.idle(50);
    assert!(chain.height.0 < until + 50, "it had not ended before");
    chain.height = key(&chain).next_look.max(Height(until + 51));
    (6..=9).for_each(|number| assert!(ask(&mut chain, number, "heartbeat", [], 0).is_success()));
    chain.idle(10);
    assert_eq!((committee(&chain, 1), proxy(&chain, 2).seated_until), (None, Height(until + 50)));
}
