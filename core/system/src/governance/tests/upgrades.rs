//! Protocol versions: scheduled by decisions, applied at their height by everybody, and executable for ever (003 §11; decision 370).

use cowboy_chain::input::BlockInvalid;
use cowboy_chain::{BlockInput, ChainConfig, Mode, Outcome, SignedTransaction};
use cowboy_system::Versions;
use cowboy_system::auction::{self, Auction};
use cowboy_testkit::chain::{ALL, Chain, deployment, execution};
use cowboy_testkit::governance::{CBY, GOVERNANCE, about, ask, chain_of, later, propose, stage, upgrades, vote};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::Height;
use cowboy_types::{Abort, Address, error};
use std::sync::Arc;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_decision_schedules_a_version,
    schedules_that_are_refused,
    a_version_is_cancelled_until_it_applies,
    every_version_replays,
    methods_begin_with_a_version,
];

fn upgrade(version: u64, height: u64) -> Vec<(&'static str, Value)> {
    vec![("action", Value::text("upgrade")), ("version", Value::uint(version)), ("height", Value::uint(height))]
}

fn cancel(version: u64) -> Vec<(&'static str, Value)> {
    vec![("action", Value::text("cancel_upgrade")), ("version", Value::uint(version))]
}

fn all(actions: Vec<Vec<(&'static str, Value)>>) -> Vec<(&'static str, Value)> {
    vec![("actions", Value::Array(actions.into_iter().map(Value::dict).collect()))]
}

/// Proposes, votes and counts. Answers the proposal, which waits for its timelock.
fn queued(chain: &mut Chain, argument: Vec<(&str, Value)>) -> u64 {
    let id = propose(chain, argument, 25_000);
    for from in 1..=3 {
        assert!(vote(chain, from, id, "yes").is_success());
    }
    later(chain, 3_600);
    assert!(ask(chain, 6, "count", about(id), 0).is_success());
    id
}

/// The same, executed. Answers the proposal's stage.
fn decided(chain: &mut Chain, argument: Vec<(&str, Value)>) -> String {
    let id = queued(chain, argument);
    later(chain, 3_600);
    ask(chain, 6, "execute", about(id), 0);
    stage(chain, id)
}

/// The schedule, as `get_upgrades` answers it.
fn schedule(chain: &mut Chain) -> Vec<(u64, u64)> {
    let answer = ask(chain, 5, "get_upgrades", vec![], 0).return_data;
    let Ok(Value::Array(rows)) = cbor::decode(&answer) else { panic!("a list") };
    let number = |row: &Value, name| row.get(name).and_then(Value::as_u64).expect("a number");
    rows.iter().map(|row| (number(row, "version"), number(row, "height"))).collect()
}

/// The protocol version of the next block.
fn version(chain: &mut Chain) -> u8 {
    chain.block(vec![]).version
}

/// a version that a decision scheduled applies from its height on, not a block before, with everything that belongs to it.
#[test]
fn a_decision_schedules_a_version() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let at = chain.height.0 + 20_000;
    assert_eq!(ask(&mut chain, 5, "propose", upgrade(2, at), 1_000 * CBY).abort, Some(error::GOVERNANCE_DEPOSIT), "of tier 3");
    let id = queued(&mut chain, upgrade(2, at));
    later(&mut chain, 3_600);
    let executed = ask(&mut chain, 6, "execute", about(id), 0);
    let events: Vec<&str> = executed.events.iter().map(|event| &*event.name).collect();
    assert_eq!(events, ["upgrade.scheduled", "proposal.executed"]);
    assert_eq!(schedule(&mut chain), [(2, at)]);
    chain.height = Height(at - 2);
    assert_eq!((version(&mut chain), chain.height), (1, Height(at - 1)));
    assert!(chain.record::<Auction>(&auction::key()).is_none());
    assert_eq!((version(&mut chain), chain.height), (2, Height(at)));
    assert!(chain.record::<Auction>(&auction::key()).is_some(), "timers are auctioned from this block on");
    assert_eq!(version(&mut chain), 2);
}

/// versions that do not follow the others, heights that are too near, and callers that are no decision.
#[test]
fn schedules_that_are_refused() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let (refused, invalid) = (Some(error::UPGRADE_REFUSED), Some(error::INVALID_ARGUMENT));
    let far = chain.height.0 + 100_000;
    // The proposal is executed in the next block.
    let nearest = chain.height.0 + 1 + 7_200;
    let rows: Vec<(Vec<(&'static str, Value)>, Option<Abort>)> = vec![
        (upgrade(0, far), refused.clone()),
        (upgrade(1, far), refused.clone()),
        (upgrade(3, far), refused.clone()),
        (upgrade(255, far), refused.clone()),
        (upgrade(256, far), invalid.clone()),
        (upgrade(u64::MAX, far), invalid),
        (upgrade(2, 0), refused.clone()),
        (upgrade(2, chain.height.0), refused.clone()),
        (upgrade(2, nearest - 1), refused.clone()),
        (all(vec![upgrade(2, far), upgrade(2, far + 1)]), refused.clone()),
        (all(vec![upgrade(2, far), upgrade(3, far)]), refused.clone()),
        (all(vec![upgrade(3, far), upgrade(2, far + 1)]), refused.clone()),
        (cancel(2), refused.clone()),
        (cancel(1), refused),
        (all(vec![upgrade(2, far), upgrade(3, far + 1), cancel(3)]), None),
    ];
    for (place, (argument, expected)) in rows.into_iter().enumerate() {
        let height = chain.height;
        assert_eq!(ask(&mut chain, 5, "propose", argument, 25_000 * CBY).abort, expected, "row {place}");
        chain.height = height;
    }
    assert_eq!(ask(&mut chain, 5, "propose", upgrade(2, nearest), 25_000 * CBY).abort, None, "exactly the notice");
    let argument = Value::dict([("height", Value::uint(far)), ("version", Value::uint(2))]);
    let directly = vec![
        ("action", Value::text("call")),
        ("actor", Value::uint(9)),
        ("method", Value::text("schedule_upgrade")),
        ("argument", argument.clone()),
    ];
    assert_eq!(ask(&mut chain, 5, "propose", directly, 25_000 * CBY).abort, Some(error::PROPOSAL_ACTION));
    let mut deployers = Chain::new();
    for (from, method) in [(9, "schedule_upgrade"), (9, "cancel_upgrade"), (1, "schedule_upgrade")] {
        let receipt = deployers.send(from, execution(GOVERNANCE, method, &argument.encode(), 0));
        assert_eq!(receipt.abort, Some(error::SYSTEM_UNAUTHORIZED), "{method} of account {from}");
    }
    assert_eq!(stage_of_a_late_decision(&mut chain), "failed", "the votes took longer than the height leaves");
    assert_eq!(schedule(&mut chain), []);
}

/// What becomes of a decision whose height has come near while it waited.
fn stage_of_a_late_decision(chain: &mut Chain) -> String {
    let at = chain.height.0 + 2 * 3_600 + 7_000;
    decided(chain, upgrade(2, at))
}

/// A version is cancelled, and scheduled anew, as long as no block applied it: also in the block before its first one, which then
/// runs under the version before. Numbers of versions are not used up by being cancelled.
#[test]
fn a_version_is_cancelled_until_it_applies() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let at = chain.height.0 + 100_000;
    assert_eq!(decided(&mut chain, all(vec![upgrade(2, at), upgrade(3, at + 50_000)])), "executed");
    let (in_time, late) = (queued(&mut chain, cancel(2)), queued(&mut chain, cancel(3)));
    chain.height = Height(at - 2);
    assert!(ask(&mut chain, 6, "execute", about(in_time), 0).is_success());
    assert_eq!((chain.height, version(&mut chain)), (Height(at - 1), 1), "the block before the first of version 2 cancelled it");
    assert_eq!(schedule(&mut chain), [(3, at + 50_000)]);
    let again = chain.height.0 + 20_000;
    assert_eq!(ask(&mut chain, 5, "propose", upgrade(2, again), 25_000 * CBY).abort, Some(error::UPGRADE_REFUSED), "3 is scheduled");
    // A newer version took over the number of the one that was cancelled.
    assert_eq!(decided(&mut chain, all(vec![cancel(3), upgrade(3, again)])), "executed");
    ask(&mut chain, 6, "execute", about(late), 0);
    assert_eq!((stage(&mut chain, late).as_str(), schedule(&mut chain)), ("executed", vec![]), "a decision cancels the new height as well");
    let anew = upgrade(2, chain.height.0 + 30_000);
    assert_eq!(decided(&mut chain, anew), "executed");
    let begun = queued(&mut chain, cancel(2));
    let first = schedule_height(&mut chain);
    chain.height = Height(first - 1);
    ask(&mut chain, 6, "execute", about(begun), 0);
    assert_eq!((chain.height.0, stage(&mut chain, begun).as_str()), (first, "failed"), "it applies already");
    assert_eq!(version(&mut chain), 2);
}

fn schedule_height(chain: &mut Chain) -> u64 {
    schedule(chain).last().expect("one is scheduled").1
}

/// The chain as a build sees it that knows versions up to this one.
fn known(chain: &Chain, newest: u8) -> Arc<ChainConfig> {
    Arc::new(ChainConfig { versions: Versions::up_to(newest), ..(*chain.config).clone() })
}

/// A build that does not know the version of a height neither proposes nor verifies the block, says so, and changes nothing; a newer build
/// continues from the same state.
#[test]
fn unknown_versions_are_not_executed() {
    let mut chain = Chain::with(|genesis| genesis.calls = upgrades(&[(2, 3), (3, 5)]));
    chain.config = known(&chain, 1);
    assert_eq!((version(&mut chain), version(&mut chain)), (1, 1));
    let verify = |chain: &Chain| chain.run(chain.input(Mode::Verify { transactions: vec![] })).map(drop);
    let propose = |chain: &Chain| chain.run(chain.input(Mode::Propose { candidates: vec![], limits: Default::default() })).map(drop);
    let unknown = |height, version, newest| Err(BlockInvalid::Version { height: Height(height), version, newest });
    assert_eq!((verify(&chain), propose(&chain)), (unknown(3, 2, 1), unknown(3, 2, 1)));
    chain.config = known(&chain, 2);
    assert_eq!((version(&mut chain), version(&mut chain)), (2, 2));
    assert_eq!((verify(&chain), propose(&chain)), (unknown(5, 3, 2), unknown(5, 3, 2)));
    let words = verify(&chain).expect_err("it is unknown").to_string();
    assert_eq!(words, "height 5 runs under protocol version 3, and this build executes versions up to 2");
}

/// What a block was made of, and what came of it.
type Made = (BlockInput, Outcome);

/// A block and what it is verified with.
fn made(chain: &mut Chain, candidates: Vec<SignedTransaction>) -> Made {
    let input = chain.input(Mode::Verify { transactions: candidates.clone() });
    (input, chain.block(candidates))
}

/// a chain across a switch replays from genesis with the same outcomes block by block; under the other version its blocks come
/// out differently, which is what a rehearsal reports.
#[test]
fn every_version_replays() {
    let genesis = || Chain::with(|genesis| genesis.calls = upgrades(&[(2, 12)]));
    let mut chain = genesis();
    let script = "handler handle_timer\n burn 1000\nhandler run\n interval 2 'x' 20000 2000\n";
    let mut blocks = vec![];
    let deployed = cowboy_testkit::chain::signed(1, 0, deployment(script, Some(ALL), None, 1_000_000_000_000));
    blocks.push(made(&mut chain, vec![deployed]));
    let actor = blocks[0].1.receipts[0].created.expect("it is deployed");
    blocks.push(made(&mut chain, vec![cowboy_testkit::chain::signed(1, 1, execution(actor, "run", b"", 0))]));
    blocks.extend((0..18).map(|_| made(&mut chain, vec![])));
    let versions: Vec<u8> = blocks.iter().map(|(_, outcome)| outcome.version).collect();
    assert_eq!(versions, [[1; 11].as_slice(), &[2; 9]].concat());

    let mut archive = genesis();
    let mut differing = vec![];
    for (input, outcome) in &blocks {
        let other = if outcome.version == 1 { 2 } else { 1 };
        let rehearsed = archive.run(BlockInput { version: Some(other), ..input.clone() }).expect("both versions are known").0;
        if rehearsed.writes != outcome.writes {
            differing.push(archive.height.0 + 1);
        }
        let replayed = archive.run(input.clone()).expect("it was valid").0;
        assert_eq!((&replayed.writes, replayed.receipt_root), (&outcome.writes, outcome.receipt_root), "block {}", archive.height.0 + 1);
        archive.apply(&replayed);
    }
    assert_eq!(archive.state, chain.state);
    assert_eq!(differing, (1..=20).collect::<Vec<u64>>(), "the auction has a record of its own in each block of version 2");
}

/// Methods of system actors begin with a version.
#[test]
fn methods_begin_with_a_version() {
    let mut chain = Chain::with(|genesis| genesis.calls = upgrades(&[(2, 4)]));
    let asked = execution(Address::system(6), "get_timer_auction", &Value::Map(vec![]).encode(), 0);
    let answers: Vec<Option<Abort>> = (0..4).map(|_| chain.send(1, asked.clone()).abort).collect();
    assert_eq!(answers, [Some(error::UNAVAILABLE), Some(error::UNAVAILABLE), Some(error::UNAVAILABLE), None]);
}
