//! Dealings of the key: who is drawn, who speaks, and what the chain accepts (decision 142).

use super::*;
use cowboy_state::Key;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_committee_is_seated,
    a_dealing_fails_without_its_members,
    a_few_never_hold_the_key_alone,
    whoever_is_slow_gets_its_share,
    outcomes_are_checked,
    the_key_outlives_its_committees,
];

/// four proxies are drawn, deal in five phases, and hold the key once enough confirm one outcome; everybody can see that it saw all.
#[test]
fn a_committee_is_seated() {
    let mut chain = quick();
    (2..=4).for_each(|number| register(&mut chain, number));
    chain.idle(8);
    assert_eq!(round(&chain), None, "three are too few");
    register(&mut chain, 5);
    let joining = until(&mut chain, Phase::Join);
    assert_eq!((joining.number, joining.players.len(), joining.dealers.len()), (Count(1), 4, 0));
    assert!(joining.players.is_sorted_by(|one, next| one.member.key < next.member.key));
    let nothing = outcome_of(&[]);
    let first = speakers(&joining)[0];
    assert_eq!(
        ask(&mut chain, 9, "join", [("key_id", Value::uint(1)), ("round", Value::uint(1)), ("key", bytes(&[1; 32]))], 0).abort,
        Some(error::NOT_IN_DEALING)
    );
    assert_eq!(speak(&mut chain, first, &Round { number: Count(2), ..joining.clone() }, &nothing).abort, Some(error::DEALING_PHASE));
    let confirming = deal(&mut chain);
    let keys = speakers(&joining).into_iter().zip(0..).fold(Hash::ZERO, |hash, (number, place)| phase_hash(&hash, place, &[number; 32]));
    let other = speakers(&joining).into_iter().zip(0..).fold(Hash::ZERO, |hash, (number, place)| phase_hash(&hash, place, &[number; 9]));
    let kept = |chain: &Chain, phase: Phase| (0..4).filter(|place| message(chain, phase, *place).is_some()).count();
    assert_eq!([Phase::Join, Phase::Deal, Phase::Ack, Phase::Log, Phase::Confirm].map(|phase| kept(&chain, phase)), [0, 4, 4, 4, 0]);
    assert_eq!(message(&chain, Phase::Ack, 1), Some([speakers(&joining)[1]; 9].to_vec()), "members read it with a proof");
    assert_eq!(confirming.hashes[..], [keys, other, other, other, Hash::ZERO], "everybody can see that it saw all");
    let polynomial = polynomial(3, 1);
    let outcome = outcome_of(&polynomial);
    let speakers = speakers(&confirming);
    assert_eq!(speak(&mut chain, speakers[0], &confirming, &outcome).abort, None);
    assert_eq!(speak(&mut chain, speakers[0], &confirming, &outcome).abort, Some(error::DEALING_SPOKEN));
    let another = outcome_of(&self::polynomial(3, 2));
    assert_eq!(speak(&mut chain, speakers[1], &confirming, &another).abort, None, "it counts for another outcome");
    assert_eq!(speak(&mut chain, speakers[2], &confirming, &outcome).abort, None);
    assert_eq!(key(&chain).master, None, "two equal confirmations are too few");
    let receipt = speak(&mut chain, speakers[3], &confirming, &outcome);
    assert_eq!(
        (receipt.abort.clone(), receipt.events.last().map(|event| event.name.to_string())),
        (None, Some("committee.seated".to_string()))
    );
    let seated = committee(&chain, 1).expect("it holds the key");
    assert_eq!(seated.confirmed, 0b1101, "whoever confirmed another outcome has no share of this one");
    assert_eq!([Phase::Deal, Phase::Ack, Phase::Log].map(|phase| kept(&chain, phase)), [0, 0, 0], "messages go with their dealing");
    assert_eq!(seated.members.iter().map(|member| number_of(member.address)).collect::<Vec<_>>(), speakers);
    assert_eq!((key(&chain).master, key(&chain).epoch, round(&chain)), (Some(Fixed(*point(&Scalar::from(77)).bytes())), Count(1), None));
    assert_eq!(ask(&mut chain, speakers[0], "leave", [], 0).abort, None);
    chain.height = Height(chain.height.0 + 604_800);
    assert_eq!(ask(&mut chain, speakers[0], "withdraw", [], 0).abort, Some(error::PROXY_STATE), "a member's stake stays");
}

/// Silence in a phase: of too many, the dealing fails and is repeated later; whoever is silent is drawn only where too few others can be.
#[test]
fn a_dealing_fails_without_its_members() {
    let mut chain = quick();
    (2..=6).for_each(|number| register(&mut chain, number));
    let joining = until(&mut chain, Phase::Join);
    let drawn = speakers(&joining);
    let spare = (2..=6).find(|number| !drawn.contains(number)).expect("four of five are drawn");
    let nothing = outcome_of(&[]);
    for from in &drawn[1..] {
        assert_eq!(speak(&mut chain, *from, &joining, &nothing).abort, None);
    }
    let failed = chain.idle(joining.ends_at.0 - chain.height.0);
    assert_eq!(events(&failed), ["dealing.failed"], "three players are too few");
    assert!(proxy(&chain, drawn[0]).excluded_until > chain.height);
    let again = until(&mut chain, Phase::Join);
    assert!((again.number, speakers(&again).contains(&drawn[0])) == (Count(2), false) && speakers(&again).contains(&spare));
    assert!(again.ends_at.0 - 8 > joining.ends_at.0 + 4, "after `secrets.retry` blocks");
    for from in speakers(&again) {
        assert_eq!(speak(&mut chain, from, &again, &nothing).abort, None);
    }
    let dealing = until(&mut chain, Phase::Deal);
    for from in &speakers(&dealing)[2..] {
        assert_eq!(speak(&mut chain, *from, &dealing, &nothing).abort, None);
    }
    chain.idle(dealing.ends_at.0 - chain.height.0);
    assert_eq!(round(&chain), None, "two dealers are too few");
    let last = until(&mut chain, Phase::Join);
    assert_eq!(speakers(&last).len(), 4, "with three that were silent, two others are too few");
}

/// Decision 570: whoever keeps others from speaking gets no committee of its own. With less than two thirds of those that were drawn a dealing fails, and
/// those that were silent are drawn again before a few are left among themselves. A member's messages have a lane of their own.
#[test]
fn a_few_never_hold_the_key_alone() {
    let mut chain = Chain::with(|genesis| {
        let rows: Vec<_> =
            quick_rows().into_iter().filter(|(name, _)| *name != "secrets.members").chain([("secrets.members", 7)]).collect();
        genesis.parameters = parameters(&rows);
    });
    (2..=8).for_each(|number| register(&mut chain, number));
    let joining = until(&mut chain, Phase::Join);
    let (drawn, nothing) = (speakers(&joining), outcome_of(&[]));
    assert_eq!(drawn.len(), 7);
    for from in &drawn[..4] {
        assert_eq!(speak(&mut chain, *from, &joining, &nothing).abort, None);
    }
    assert_eq!(events(&chain.idle(joining.ends_at.0 - chain.height.0)), ["dealing.failed"], "four of seven would hold the key alone");
    let again = until(&mut chain, Phase::Join);
    assert_eq!(speakers(&again).len(), 7, "four are less than two thirds of those that are up");
    for from in &speakers(&again)[..5] {
        let said = [("key_id", Value::uint(1)), ("round", Value::uint(again.number.0)), ("key", bytes(&[*from; 32]))];
        let join = execution(MANAGER, "join", &Value::dict(said).encode(), 0);
        let nonce = chain.nonce(*from);
        let outcome = chain.block(vec![cowboy_testkit::chain::signed(*from, nonce, join)]);
        assert!(outcome.receipts[0].is_success() && outcome.usage.user.cycles.0 == 0 && outcome.usage.runner.cycles.0 > 0);
    }
    assert_eq!(until(&mut chain, Phase::Deal).players.len(), 5);
}

/// A player that looks late in the last phase still counts. One that never confirms has no share: nobody demands anything of it, and it is not
/// blamed for not dealing.
#[test]
fn whoever_is_slow_gets_its_share() {
    let (mut chain, _) = seated();
    let confirming = deal(&mut chain);
    let (members, outcome) = (speakers(&confirming), outcome_of(&polynomial(3, 2)));
    for from in &members[..3] {
        assert_eq!(speak(&mut chain, *from, &confirming, &outcome).abort, None);
    }
    chain.idle(confirming.ends_at.0 - chain.height.0 - 1);
    assert_eq!((key(&chain).epoch, round(&chain).map(|round| round.spoke)), (Count(1), Some(0b0111)), "the phase lasts to its end");
    assert_eq!(speak(&mut chain, members[3], &confirming, &outcome).abort, None);
    assert_eq!((key(&chain).epoch, committee(&chain, 2).expect("it is seated").confirmed), (Count(2), 0b1111));
    let (mut chain, _) = seated_by(0b1011);
    let slow = committee(&chain, 1).expect("enough confirmed").members[2].address;
    assert_eq!(committee(&chain, 1).map(|committee| committee.confirmed), Some(0b1011));
    let excluded = proxy(&chain, number_of(slow)).excluded_until;
    assert!(excluded > chain.height, "silence in a dealing costs what it did");
    register(&mut chain, 6);
    let joining = until(&mut chain, Phase::Join);
    for from in speakers(&joining) {
        assert_eq!(speak(&mut chain, from, &joining, &outcome).abort, None);
    }
    let dealing = until(&mut chain, Phase::Deal);
    for from in speakers(&dealing).into_iter().filter(|from| *from != number_of(slow)) {
        assert_eq!(speak(&mut chain, from, &dealing, &outcome).abort, None);
    }
    until(&mut chain, Phase::Ack);
    assert_eq!(proxy(&chain, number_of(slow)).excluded_until, excluded, "it had nothing to deal");
}

/// What a member said, as the chain proves it while the dealing is under way.
fn message(chain: &Chain, phase: Phase, place: usize) -> Option<Vec<u8>> {
    let stored = chain.state.get(&state::message_key(1, phase, place).digest())?;
    Key::open(stored).map(|(_, body)| body.to_vec())
}

/// The number of members that have to answer follows from the state, the public key never changes, and the outcome is what was confirmed.
#[test]
fn outcomes_are_checked() {
    let (mut chain, first) = seated();
    let confirming = deal(&mut chain);
    let from = speakers(&confirming)[0];
    let mut other_key = polynomial(3, 2);
    other_key[0] = Scalar::from(78);
    let good = outcome_of(&polynomial(3, 2));
    let listed = |dealers: Vec<u8>, revealed: Vec<u16>| {
        let dealers = dealers.into_iter().map(|number| Fixed([number; 32])).collect();
        Outcome { dealers: List::new(dealers).expect("few"), revealed: List::new(revealed).expect("few"), ..good.clone() }
    };
    let rows = [
        ("a lower degree", outcome_of(&first[..2])),
        ("a higher degree", outcome_of(&polynomial(4, 2))),
        ("another key", outcome_of(&other_key)),
        ("nothing", outcome_of(&[])),
        ("dealers in no order", listed(vec![2, 1], vec![])),
        ("a place that nobody has", listed(vec![], vec![4])),
        ("a place twice", listed(vec![], vec![1, 1])),
    ];
    for (case, outcome) in rows {
        assert_eq!(speak(&mut chain, from, &confirming, &outcome).abort, Some(error::DEALING_OUTCOME), "{case}");
        chain.height = Height(confirming.ends_at.0 - 7);
    }
    let give = |digest: Hash, outcome: Vec<u8>| {
        [
            ("key_id", Value::uint(1)),
            ("round", Value::uint(confirming.number.0)),
            ("digest", bytes(&digest.0)),
            ("outcome", bytes(&outcome)),
        ]
    };
    let zero_top = [&good.encode()[..good.encode().len() - 98], &[0xC0], &[0; 95], &[0, 0]].concat();
    for (case, digest, encoded) in [
        ("another digest", Hash([1; 32]), good.encode().to_vec()),
        ("the identity element on top", good.digest(), zero_top),
        ("more bytes", good.digest(), [&good.encode()[..], &[0]].concat()),
    ] {
        assert_eq!(ask(&mut chain, from, "confirm", give(digest, encoded), 0).abort, Some(error::DEALING_OUTCOME), "{case}");
        chain.height = Height(confirming.ends_at.0 - 7);
    }
    assert_eq!(speak(&mut chain, from, &confirming, &good).abort, None);
}

/// another committee takes the key over. The one before answers a while longer, then its members are free.
#[test]
fn the_key_outlives_its_committees() {
    let (mut chain, _) = seated();
    let master = key(&chain).master;
    (6..=9).for_each(|number| register(&mut chain, number));
    (2..=5).for_each(|number| assert!(ask(&mut chain, number, "leave", [], 0).is_success()));
    assert!(key(&chain).draw_at.0 > chain.height.0, "the term is not over");
    seat(&mut chain, 2);
    assert_eq!((key(&chain).master, key(&chain).epoch), (master, Count(2)));
    let before = committee(&chain, 1).expect("it still answers");
    let since = committee(&chain, 2).expect("it holds the key").since;
    assert_eq!(before.until, Some(Height(since.0 + 60)));
    assert!(before.members.iter().all(|member| committee(&chain, 2).expect("seated").members.iter().all(|new| new.key != member.key)));
    chain.height = key(&chain).next_look.max(Height(since.0 + 61));
    (6..=9).for_each(|number| assert!(ask(&mut chain, number, "heartbeat", [], 0).is_success()));
    chain.idle(10);
    assert_eq!(committee(&chain, 1), None);
    assert_eq!(proxy(&chain, 2).seated_until, Height(since.0 + 60));
    let left = proxy(&chain, 2).left_at.expect("it left").0;
    assert!(left < since.0);
    chain.height = Height(since.0 + 60 + 604_798);
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND), "since its seat was over");
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, None);
}

/// The last committee of a key answers, and can be shown to have answered falsely, until its key is forgotten: the stake of its members is bound from then,
/// however long ago they left.
#[test]
fn a_seat_ends_with_its_key() {
    let rows = [&quick_rows()[..], &[("secrets.sunset", 100), ("secrets.unbonding", 60)]].concat();
    let mut chain = Chain::with(|genesis| {
        genesis.parameters = parameters(&rows);
        genesis.deployers = List::new(vec![address(9)]).expect("one");
    });
    (2..=5).for_each(|number| register(&mut chain, number));
    seat(&mut chain, 1);
    assert!(ask(&mut chain, 2, "leave", [], 0).is_success());
    assert_eq!(ask(&mut chain, 9, "rekey", [], 0).abort, None);
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::PROXY_STATE), "the key that was replaced still opens secrets");
    let record = key(&chain);
    chain.height = record.next_look.max(record.sunset.expect("it ends"));
    chain.idle(1);
    let forgotten = chain.height;
    assert_eq!((chain.record::<ReleaseKey>(&state::release_key(1)), committee(&chain, 1)), (None, None), "it goes with its sunset");
    for number in 2..=5 {
        assert_eq!(proxy(&chain, number).seated_until, forgotten, "{number}");
    }
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    chain.height = Height(forgotten.0 + 60 - 2);
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, None);
}
