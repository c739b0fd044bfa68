//! Decisions: two chambers, a timelock, a council, and what they may not do (003 §11, §13.1).

pub(crate) mod government;
mod relations;
pub(crate) mod upgrades;

use cowboy_testkit::chain::{Chain, address};
use cowboy_testkit::governance::{CBY, about, ask, chain_of, later, param, propose, set_parameter, stage, vote};
use cowboy_types::cbor::Value;
use cowboy_types::error;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_parameter_is_moved_by_a_decision,
    both_chambers_must_agree,
    what_nobody_may_decide,
    the_council_stops_and_shortens,
    the_treasury_spends_by_decision,
    inflation_takes_two_thirds_of_stake_and_heads,
    inflation_moves_two_points_a_year,
];

/// a parameter moves when both chambers agreed and the timelock is over, and its history tells.
#[test]
fn a_parameter_is_moved_by_a_decision() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let id = propose(&mut chain, set_parameter("rent.rate", 2_000_000), 1_000);
    assert_eq!(vote(&mut chain, 6, id, "yes").abort, Some(error::SYSTEM_UNAUTHORIZED), "no stake, no vote");
    for (from, choice) in [(1, "yes"), (2, "no"), (3, "yes"), (2, "yes")] {
        assert!(vote(&mut chain, from, id, choice).is_success());
    }
    assert_eq!(ask(&mut chain, 6, "count", about(id), 0).abort, Some(error::GOVERNANCE_STAGE), "the time is not over");
    later(&mut chain, 3_600);
    assert_eq!(vote(&mut chain, 1, id, "no").abort, Some(error::GOVERNANCE_STAGE), "now it is");
    let before = chain.balance(address(5));
    assert!(ask(&mut chain, 6, "count", about(id), 0).is_success());
    assert_eq!(chain.balance(address(5)), before + 1_000 * CBY, "the deposit is back");
    assert_eq!(ask(&mut chain, 6, "execute", about(id), 0).abort, Some(error::GOVERNANCE_STAGE), "the timelock");
    later(&mut chain, 3_600);
    assert!(ask(&mut chain, 6, "execute", about(id), 0).is_success());
    assert_eq!((param(&mut chain, "rent.rate"), stage(&mut chain, id).as_str()), (2_000_000, "executed"));
    assert_eq!(ask(&mut chain, 6, "execute", about(id), 0).abort, Some(error::GOVERNANCE_STAGE), "once");
    let history = ask(&mut chain, 5, "get_history", vec![("name", Value::text("rent.rate"))], 0);
    let Ok(Value::Array(entries)) = cowboy_types::cbor::decode(&history.return_data) else { panic!("a list") };
    assert_eq!(entries[0].get("value").and_then(Value::as_u64), Some(2_000_000));
    let rows = &cowboy_params::Params::GENESIS.governance;
    assert_eq!((rows.timelock, rows.timelock_fast), (7 * 86_400, 6 * 3_600), "7 days and 6 hours");
}

/// stake alone decides nothing, nor do heads; and too few votes cost the deposit.
#[test]
fn both_chambers_must_agree() {
    let rows: [([u64; 4], &[(u8, &str)], &str); 5] = [
        ([9, 1, 1, 1], &[(1, "yes"), (2, "no"), (3, "no")], "rejected"),
        ([9, 1, 1, 1], &[(1, "no"), (2, "yes"), (3, "yes"), (4, "yes")], "rejected"),
        ([9, 1, 1, 1], &[(1, "yes"), (2, "yes"), (3, "no")], "queued"),
        ([90, 1, 1, 1], &[(2, "yes"), (3, "yes")], "rejected"),
        ([1, 1, 1, 1], &[(1, "abstain"), (2, "yes")], "queued"),
    ];
    for (place, (stakes, votes, expected)) in rows.into_iter().enumerate() {
        let mut chain = chain_of(stakes);
        let id = propose(&mut chain, set_parameter("rent.rate", 2), 1_000);
        let before = chain.balance(address(5));
        for (from, choice) in votes {
            assert!(vote(&mut chain, *from, id, choice).is_success());
        }
        later(&mut chain, 3_600);
        assert!(ask(&mut chain, 6, "count", about(id), 0).is_success());
        assert_eq!(chain.balance(address(5)) > before, place != 3, "row {place}: a deposit is burned where too few vote");
        assert_eq!(stage(&mut chain, id), expected, "row {place}");
    }
}

/// tiers by row, ranges, fixed rows, and inflation by two points at most.
#[test]
fn what_nobody_may_decide() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let rows = [
        ("economics.inflation_year_1", 1_000, 25_000, None),
        ("economics.inflation_floor", 401, 25_000, Some(error::INVALID_ARGUMENT)),
        ("economics.inflation_year_1", 1_001, 25_000, Some(error::INVALID_ARGUMENT)),
        ("economics.inflation_cap", 1_000, 25_000, Some(error::INVALID_ARGUMENT)),
        ("rent.epoch", 1, 1_000, Some(error::INVALID_ARGUMENT)),
        ("nothing.here", 1, 1_000, Some(error::INVALID_ARGUMENT)),
        ("rent.orphan_shard_ttl", 43_199, 1_000, Some(error::INVALID_ARGUMENT)),
        ("rent.orphan_shard_ttl", 43_200, 1_000, None),
        ("timers.fairness_window", 70, 1_000, Some(error::GOVERNANCE_DEPOSIT)),
        ("timers.fairness_window", 70, 25_000, None),
        ("jobs.slash_burn", 9_000, 1_000, Some(error::GOVERNANCE_DEPOSIT)),
        ("jobs.slash_burn", 9_000, 25_000, None),
        ("rent.rate", 5, 25_000, Some(error::GOVERNANCE_DEPOSIT)),
        ("rent.rate", 5, 1_000, None),
    ];
    for (name, value, deposit, expected) in rows {
        assert_eq!(ask(&mut chain, 5, "propose", set_parameter(name, value), deposit * CBY).abort, expected, "{name} = {value}");
    }
}

/// seven of nine stop what waits, and shorten the way of tier 3; six do not, and nobody else does.
#[test]
fn the_council_stops_and_shortens() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let members = Value::Array((1..=9).map(|number| Value::Bytes(address(number).0.to_vec())).collect());
    let council = propose(&mut chain, vec![("action", Value::text("set_council")), ("members", members)], 25_000);
    for from in 1..=3 {
        vote(&mut chain, from, council, "yes");
    }
    later(&mut chain, 3_600);
    ask(&mut chain, 6, "count", about(council), 0);
    assert_eq!(ask(&mut chain, 6, "cancel", about(council), 0).abort, Some(error::SYSTEM_UNAUTHORIZED), "there is no council yet");
    later(&mut chain, 3_600);
    assert!(ask(&mut chain, 6, "execute", about(council), 0).is_success());

    let routine = propose(&mut chain, set_parameter("rent.rate", 7), 1_000);
    assert_eq!(ask(&mut chain, 1, "fast_track", about(routine), 0).abort, Some(error::GOVERNANCE_STAGE), "tier 0 is never quick");
    let urgent = propose(&mut chain, set_parameter("jobs.slash_burn", 9_000), 25_000);
    for from in 1..=7 {
        let receipt = ask(&mut chain, from, "fast_track", about(urgent), 0);
        assert_eq!(receipt.return_data[..], Value::Bool(from == 7).encode()[..], "the seventh decides");
    }
    for from in 1..=3 {
        vote(&mut chain, from, urgent, "yes");
    }
    later(&mut chain, 600);
    assert!(ask(&mut chain, 6, "count", about(urgent), 0).is_success());
    for from in 1..=6 {
        ask(&mut chain, from, "cancel", about(urgent), 0);
    }
    assert_eq!(stage(&mut chain, urgent), "queued", "six are too few");
    later(&mut chain, 600);
    assert!(ask(&mut chain, 6, "execute", about(urgent), 0).is_success(), "after six hours' worth of timelock");

    for from in 1..=3 {
        vote(&mut chain, from, routine, "yes");
    }
    later(&mut chain, 3_600);
    ask(&mut chain, 6, "count", about(routine), 0);
    for from in 1..=7 {
        ask(&mut chain, from, "cancel", about(routine), 0);
    }
    assert_eq!(stage(&mut chain, routine), "cancelled");
    later(&mut chain, 3_600);
    assert_eq!(ask(&mut chain, 6, "execute", about(routine), 0).abort, Some(error::GOVERNANCE_STAGE));
}

/// Attack: seven members of the council cancel each proposal that names another council, for the price of seven calls, so that they stay for good. They
/// cannot; what else a proposal does beside that, they cancel with it.
#[test]
fn no_council_keeps_itself_in_office() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let council_from = |first: u8| {
        let members = (first..first + 9).map(|number| Value::Bytes(address(number).0.to_vec())).collect();
        vec![("action", Value::text("set_council")), ("members", Value::Array(members))]
    };
    let queued = |chain: &mut Chain, argument: Vec<(&str, Value)>| {
        let id = propose(chain, argument, 25_000);
        for from in 1..=3 {
            assert!(vote(chain, from, id, "yes").is_success());
        }
        later(chain, 3_600);
        assert!(ask(chain, 6, "count", about(id), 0).is_success());
        id
    };
    let first = queued(&mut chain, council_from(1));
    later(&mut chain, 3_600);
    assert!(ask(&mut chain, 6, "execute", about(first), 0).is_success());

    let both = Value::Array([council_from(20), set_parameter("jobs.slash_burn", 9_000)].map(Value::dict).to_vec());
    let previewed = |chain: &mut Chain, argument: Vec<(&str, Value)>| {
        let receipt = ask(chain, 5, "preview", argument, 0);
        let shown = cowboy_types::cbor::decode(&receipt.return_data).expect("CBOR");
        shown.get("is_cancellable").cloned()
    };
    assert_eq!(previewed(&mut chain, vec![("actions", both.clone())]), Some(Value::Bool(true)));
    assert_eq!(previewed(&mut chain, council_from(20)), Some(Value::Bool(false)), "a preview says it");
    let more = queued(&mut chain, vec![("actions", both)]);
    let alone = queued(&mut chain, council_from(20));
    for from in 1..=7 {
        assert_eq!(ask(&mut chain, from, "cancel", about(more), 0).abort, None);
        assert_eq!(ask(&mut chain, from, "cancel", about(alone), 0).abort, Some(error::PROPOSAL_ACTION));
    }
    later(&mut chain, 3_600);
    assert!(ask(&mut chain, 6, "execute", about(alone), 0).is_success());
    assert_eq!([more, alone].map(|id| stage(&mut chain, id)), ["cancelled", "executed"]);
    assert_eq!(ask(&mut chain, 1, "cancel", about(alone), 0).abort, Some(error::GOVERNANCE_STAGE));
}

/// The treasury spends by decision; what it has not it does not spend, and the proposal says that it failed.
#[test]
fn the_treasury_spends_by_decision() {
    for (amount, expected) in [(5, "executed"), (200_000_000 * CBY, "failed")] {
        let mut chain = chain_of([1, 1, 1, 1]);
        let to = Value::Bytes(address(8).0.to_vec());
        let action =
            vec![("action", Value::text("disburse")), ("bucket", Value::text("treasury")), ("to", to), ("amount", Value::uint(amount))];
        let id = propose(&mut chain, action, 25_000);
        for from in 1..=3 {
            vote(&mut chain, from, id, "yes");
        }
        later(&mut chain, 3_600);
        ask(&mut chain, 6, "count", about(id), 0);
        later(&mut chain, 3_600);
        let before = chain.balance(address(8));
        assert!(ask(&mut chain, 6, "execute", about(id), 0).is_success());
        assert_eq!(stage(&mut chain, id), expected);
        assert_eq!(chain.balance(address(8)) - before, if expected == "executed" { amount } else { 0 });
    }
}

/// Moves a row of inflation by these votes. Answers the proposal's stage.
fn decide(chain: &mut Chain, name: &str, value: u64, yes: &[u8], no: &[u8]) -> String {
    let id = propose(chain, set_parameter(name, value), 25_000);
    for (from, choice) in yes.iter().map(|from| (*from, "yes")).chain(no.iter().map(|from| (*from, "no"))) {
        assert!(vote(chain, from, id, choice).is_success());
    }
    later(chain, 3_600);
    assert!(ask(chain, 6, "count", about(id), 0).is_success());
    later(chain, 3_600);
    ask(chain, 6, "execute", about(id), 0);
    stage(chain, id)
}

/// inflation moves by two thirds of all stake and of all heads, those that did not vote included.
#[test]
fn inflation_takes_two_thirds_of_stake_and_heads() {
    let rows: [([u64; 4], &[u8], &[u8], &str); 5] = [
        ([1, 1, 1, 1], &[1, 2], &[], "rejected"),
        ([1, 1, 1, 1], &[1, 2, 3], &[4], "executed"),
        ([8, 1, 1, 1], &[1, 2], &[], "rejected"),
        ([5, 1, 1, 1], &[2, 3, 4], &[], "rejected"),
        ([2, 2, 1, 1], &[1, 2, 3], &[4], "executed"),
    ];
    for (place, (stakes, yes, no, expected)) in rows.into_iter().enumerate() {
        let mut chain = chain_of(stakes);
        assert_eq!(decide(&mut chain, "economics.inflation_year_2", 700, yes, no), expected, "row {place}");
    }
    let mut chain = chain_of([1, 1, 1, 1]);
    assert_eq!(decide(&mut chain, "economics.security_floor", 1_000, &[1, 2], &[]), "rejected", "the trigger too");
}

/// two points in any year, whatever the number of decisions: not 8, 10, 8, 6, 4 in 42 days.
#[test]
fn inflation_moves_two_points_a_year() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let all = [1, 2, 3, 4];
    let step = |value: u64, expected: &str, chain: &mut Chain| {
        let refused = ask(chain, 5, "propose", set_parameter("economics.inflation_year_1", value), 25_000 * CBY);
        match expected {
            "refused" => assert_eq!(refused.abort, Some(error::INVALID_ARGUMENT), "{value}"),
            _ => assert_eq!(decide(chain, "economics.inflation_year_1", value, &all, &[]), expected, "{value}"),
        }
    };
    step(1_000, "executed", &mut chain);
    step(700, "refused", &mut chain);
    step(900, "executed", &mut chain);
    step(800, "executed", &mut chain);
    step(700, "refused", &mut chain);
    // Two that were proposed together: the second is looked at again when it takes effect.
    let (one, two) = (
        propose(&mut chain, set_parameter("economics.inflation_floor", 0), 25_000),
        propose(&mut chain, set_parameter("economics.inflation_floor", 300), 25_000),
    );
    for (from, id) in all.iter().flat_map(|from| [(*from, one), (*from, two)]) {
        assert!(vote(&mut chain, from, id, "yes").is_success());
    }
    later(&mut chain, 3_600);
    assert!([one, two].iter().all(|id| ask(&mut chain, 6, "count", about(*id), 0).is_success()));
    later(&mut chain, 3_600);
    assert!([one, two].iter().all(|id| ask(&mut chain, 6, "execute", about(*id), 0).is_success()));
    assert_eq!((stage(&mut chain, one).as_str(), stage(&mut chain, two).as_str()), ("executed", "failed"));
    later(&mut chain, 31_536_000);
    step(700, "executed", &mut chain);
}
