//! Committees that disagree, and members that keep results back: neither stops a job for nothing (decision 309).

use super::*;
use cowboy_params::Params;
use cowboy_testkit::chain::{address, parameters};
use cowboy_types::job::{JobStatus, MAX_DRAWN, MAX_MEMBERS, Verdict};

fn quick(runners: u8) -> Market {
    Market::with(runners, |genesis| {
        genesis.parameters =
            parameters(&[("jobs.challenge_window", 10), ("jobs.dispute_window", 2), ("jobs.reveal_window", 12), ("jobs.crash_window", 4)])
    })
}

fn reputation(market: &Market, number: u8) -> u64 {
    runners_of(&market.chain)[&address(number)].reputation.0 / 1_000_000
}

/// What a member of the committee at a place reports.
type Says = fn(&Market, u8, usize) -> Said;

fn honest(market: &Market, number: u8, _: usize) -> Said {
    market.said(number, b"true")
}

/// The first two lie, the others do not.
fn two_lie(market: &Market, number: u8, place: usize) -> Said {
    market.said(number, if place < 2 { b"lie" } else { b"true" })
}

/// Everybody says something else.
fn all_differ(market: &Market, number: u8, _: usize) -> Said {
    market.said(number, &[b'a', number])
}

/// Half says one thing, half another.
fn tie(market: &Market, number: u8, place: usize) -> Said {
    market.said(number, if place.is_multiple_of(2) { b"one" } else { b"two" })
}

/// The first two claim that something outside failed.
fn two_fail(market: &Market, number: u8, place: usize) -> Said {
    if place < 2 { market.said(number, b"").failing(2, 10_000) } else { market.said(number, b"true") }
}

/// The first two fail the submitter's own check.
fn two_unfit(market: &Market, number: u8, place: usize) -> Said {
    market.said(number, if place < 2 { b"a bad one" } else { b"true" })
}

/// Draws the committee, and has it commit and reveal. Returns its members, and the events of the block of their reveals.
fn work(market: &mut Market, id: &Hash, says: Says) -> (Vec<u8>, Vec<String>) {
    let committee = market.draw(id);
    let said: Vec<Said> = committee.iter().enumerate().map(|(place, number)| says(market, *number, place)).collect();
    market.commit(id, &said);
    market.wait_for_members(id);
    let receipts = market.reveal(id, &said);
    assert!(receipts.iter().all(Receipt::is_success));
    (committee, announced(&receipts))
}

fn disagreeing(runners: u64, threshold: u64) -> serde_json::Value {
    let mut job = committee_job("majority_vote", runners);
    job["verification"]["threshold"] = threshold.into();
    job["verification"]["checks"] = serde_json::json!([{ "type": "contains_none", "texts": ["bad"] }]);
    job["max_price"] = cby(1).into();
    job
}

/// Two of five keep four from agreeing. A further committee, twice as large and one, none of the first, decides by a simple majority;
/// who agrees in either shares the price, who differs in either loses 5 points.
#[test]
fn a_further_committee_decides() {
    let mut market = quick(20);
    let id = market.submit(&disagreeing(4, 3));
    let (first, events) = work(&mut market, &id, tie);
    assert!(events.contains(&"CommitteeDrawn".to_string()), "runners hear that they were drawn: {events:?}");
    let asked = market.job(&id);
    assert_eq!((asked.attempt.0, asked.committee.0, asked.threshold.0, asked.earlier.len()), (1, 9, 5, 4));
    let (second, _) = work(&mut market, &id, |market, number, place| market.said(number, if place < 4 { b"one" } else { b"two" }));
    assert!(second.iter().all(|number| !first.contains(number)), "none of the first");
    let done = market.job(&id);
    assert_eq!(done.status, JobStatus::Verified, "five of nine");
    assert_eq!(done.outcome.as_ref().map(|outcome| (outcome.output, outcome.agreeing.0)), Some((keccak256(&[b"two"]), 7)));
    let wrong: Vec<u8> = [first[0], first[2]].into_iter().chain(second[..4].iter().copied()).collect();
    for (place, member) in done.all_members().enumerate() {
        let number = market.number(member.runner);
        let is_wrong = wrong.contains(&number);
        assert_eq!(member.verdict, if is_wrong { Verdict::Differs } else { Verdict::Accepted }, "place {place}");
        assert_eq!(member.paid.0 > 0, !is_wrong, "place {place}");
        assert_eq!(reputation(&market, number), if is_wrong { 95 } else { 100 }, "place {place}");
        assert_eq!(runners_of(&market.chain)[&member.runner].stake.0, cby(10_000), "no stake is slashed");
    }
    market.chain.idle(20);
    assert_eq!(market.job(&id).status, JobStatus::Settled);
}

/// Where nobody is left for a further committee, the simple majority of the first one stands, whether the others lie, claim a fault, or
/// fail a check on purpose. A tie fails, and so does a further committee without a majority; then everybody who revealed gets the least fee.
#[test]
fn a_third_stops_nothing() {
    let rows: [(&str, u8, u64, u64, Says, Option<&[u8]>); 5] = [
        ("two of five lie", 5, 5, 4, two_lie, Some(b"true")),
        ("two of five claim a fault", 5, 5, 4, two_fail, Some(b"true")),
        ("two of five fail the submitter's check", 5, 5, 4, two_unfit, Some(b"true")),
        ("a tie", 4, 4, 3, tie, None),
        ("everybody says something else", 3, 3, 2, all_differ, None),
    ];
    for (case, runners, committee, threshold, says, accepted) in rows {
        let mut market = quick(runners);
        let id = market.submit(&disagreeing(committee, threshold));
        let (members, _) = work(&mut market, &id, says);
        market.chain.idle(3);
        let done = market.job(&id);
        assert_eq!(done.outcome.as_ref().map(|outcome| outcome.output), accepted.map(|output| keccak256(&[output])), "{case}: {done:?}");
        if accepted.is_none() {
            assert_eq!((&done.reason[..], done.status.clone()), ("no_majority", JobStatus::Failed), "{case}");
            assert!(done.all_members().all(|member| member.paid.0 == 8_900_000), "{case}: the least fee");
            assert!(members.iter().all(|number| reputation(&market, *number) == 100), "{case}: nobody is blamed");
        } else {
            let honest = done.all_members().filter(|member| member.verdict == Verdict::Accepted && member.paid.0 > 0).count();
            assert_eq!(honest, 3, "{case}: who was honest is paid");
        }
    }
}

/// A further committee whose members do not commit leaves the decision to the first one's simple majority.
#[test]
fn a_further_committee_that_is_silent() {
    let mut market = quick(9);
    let id = market.submit(&disagreeing(5, 4));
    let (first, _) = work(&mut market, &id, two_lie);
    let silent = market.draw(&id);
    assert_eq!(silent.len(), 4);
    market.chain.idle(12);
    let done = market.job(&id);
    assert_eq!(done.outcome.map(|outcome| outcome.output), Some(keccak256(&[b"true"])));
    let low: Vec<u64> = first.iter().chain(&silent).map(|number| reputation(&market, *number)).collect();
    assert_eq!(low, [95, 95, 100, 100, 100, 95, 95, 95, 95], "liars and those who kept silent");
}

/// With a quorum nothing changes: one liar of three costs one draw.
#[test]
fn a_quorum_needs_no_further_committee() {
    let mut market = quick(9);
    let id = market.submit(&disagreeing(3, 2));
    work(&mut market, &id, honest);
    let done = market.job(&id);
    assert_eq!((done.status, done.attempt.0, done.earlier.len()), (JobStatus::Verified, 0, 0));
}

/// A crash that is claimed again and again costs, from the second within the window on, the price of the job whose result it keeps
/// back, and never more than silence.
#[test]
fn claimed_crashes_that_repeat() {
    for (price, costs) in [(cby(1_000), [0, cby(1_000), cby(1_000)]), (cby(4_000), [0, cby(2_500), cby(2_500)])] {
        let mut market = quick(3);
        for (turn, cost) in costs.into_iter().enumerate() {
            let mut job = committee_job("majority_vote", 3);
            job["max_price"] = price.into();
            let id = market.submit(&job);
            let committee = market.draw(&id);
            let said = market.say(&committee.iter().map(|number| (*number, &b"yes"[..])).collect::<Vec<_>>());
            market.commit(&id, &said);
            let stake = |market: &Market| runners_of(&market.chain)[&address(10)].stake.0;
            let before = stake(&market);
            let crash = serde_json::json!({ "job_id": hex(&id.0), "signal": "SIGKILL" });
            let receipt = market.chain.send(10, ask(VERIFIER, "attest_crash", &crash, 0));
            assert_eq!(slug(&receipt), "");
            market.wait_for_members(&id);
            let others: Vec<Said> = said.into_iter().filter(|said| said.number != 10).collect();
            market.reveal(&id, &others);
            market.chain.idle(30);
            assert_eq!(market.job(&id).status, JobStatus::Settled);
            let lost = before - stake(&market);
            assert!(lost >= cost && lost <= cost + before / 10_000, "turn {turn}, price {price}: {lost} of {cost}");
            // What was lost has to be put down again before the runner is drawn, and it is told so.
            let about = market.chain.send(1, ask(REGISTRY, "get_runner", &serde_json::json!({ "runner": hex(&address(10).0) }), 0));
            let health = cowboy_types::cbor::decode(&about.return_data).expect("canonical CBOR");
            let expected = if turn > 0 { "stake" } else { "healthy" };
            assert_eq!(health.get("health").and_then(Value::as_text), Some(expected));
            assert_eq!(announced(std::slice::from_ref(&receipt)).contains(&"RunnerBelowStake".to_string()), turn > 0);
            market.chain.send(10, ask(REGISTRY, "stake", &serde_json::json!({}), lost));
            assert_eq!(announced(&[receipt]).contains(&"CrashFined".to_string()), turn > 0);
        }
        assert!((84..=85).contains(&reputation(&market, 10)), "and five points each");
    }
}

/// Attack: a member attests a crash before it commits, and then looks at what the others reveal before it decides whether to open its own commitment. What it
/// committed to after the crash it opens, or its silence costs what anybody's does; a crash that it attests after that is its second one.
#[test]
fn a_crash_before_a_commitment_excuses_no_silence() {
    for (attests_again, cost) in [(false, cby(2_500)), (true, cby(1_000))] {
        let mut market = quick(3);
        let mut job = committee_job("majority_vote", 3);
        job["max_price"] = cby(1_000).into();
        let id = market.submit(&job);
        let committee = market.draw(&id);
        let said = market.say(&committee.iter().map(|number| (*number, &b"yes"[..])).collect::<Vec<_>>());
        let stake = |market: &Market| runners_of(&market.chain)[&address(10)].stake.0;
        let before = stake(&market);
        let crash = serde_json::json!({ "job_id": hex(&id.0), "signal": "SIGKILL" });
        let attest = |market: &mut Market| slug(&market.chain.send(10, ask(VERIFIER, "attest_crash", &crash, 0)));
        assert_eq!(attest(&mut market), "");
        assert_eq!(attest(&mut market), "wrong_phase", "once for each");
        market.commit(&id, &said);
        if attests_again {
            assert_eq!(attest(&mut market), "");
        }
        market.wait_for_members(&id);
        let others: Vec<Said> = said.into_iter().filter(|said| said.number != 10).collect();
        assert!(market.reveal(&id, &others).iter().all(Receipt::is_success));
        market.chain.idle(40);
        assert_eq!(market.job(&id).status, JobStatus::Settled, "the others are enough");
        let lost = before - stake(&market);
        assert!(lost >= cost && lost <= cost + before / 10_000, "{attests_again}: {lost} of {cost}");
    }
}

/// What a runner asked back is fined, too, so it counts: half of its stake being on its way out, a fine is no dearer.
#[test]
fn a_fine_counts_what_leaves() {
    let mut market = quick(3);
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "stake", &serde_json::json!({}), cby(10_000)))), "");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "unstake", &serde_json::json!({ "amount": cby(10_000) }), 0))), "");
    let stands = |market: &Market| {
        let runner = &runners_of(&market.chain)[&address(10)];
        runner.stake.0 + runner.unbonding.iter().map(|tranche| tranche.amount.0).sum::<u64>()
    };
    for cost in [0, cby(1_000)] {
        let mut job = committee_job("majority_vote", 3);
        job["max_price"] = cby(1_000).into();
        let id = market.submit(&job);
        let committee = market.draw(&id);
        let said = market.say(&committee.iter().map(|number| (*number, &b"yes"[..])).collect::<Vec<_>>());
        market.commit(&id, &said);
        let before = stands(&market);
        let crash = serde_json::json!({ "job_id": hex(&id.0), "signal": "SIGKILL" });
        assert_eq!(slug(&market.chain.send(10, ask(VERIFIER, "attest_crash", &crash, 0))), "");
        let lost = before - stands(&market);
        assert!(lost >= cost && lost <= cost + before / 10_000, "{lost} of {cost}");
    }
}

/// Whoever revealed has done its work: a crash after that is refused, and neither counted nor paid for, also where an aggregator revealed for it.
#[test]
fn a_crash_after_a_revelation_costs_nothing() {
    for is_aggregated in [true, false] {
        let mut market = quick(3);
        for _ in 0..2 {
            let mut job = committee_job("majority_vote", 3);
            job["max_price"] = cby(1_000).into();
            let id = market.submit(&job);
            let committee = market.draw(&id);
            let said = market.say(&committee.iter().map(|number| (*number, &b"yes"[..])).collect::<Vec<_>>());
            market.commit(&id, &said);
            let aggregator = market.number(market.job(&id).aggregator.expect("a committee has one"));
            let crashed = committee.iter().copied().find(|number| *number != aggregator).expect("there are three");
            let (first, rest): (Vec<Said>, Vec<Said>) = said.into_iter().partition(|said| said.number == crashed);
            if is_aggregated {
                assert_eq!(slug(&market.chain.send(aggregator, ask(VERIFIER, "submit_verified_result", &together(&id, &first), 0))), "");
            } else {
                market.wait_for_members(&id);
                assert!(market.reveal(&id, &first).iter().all(Receipt::is_success));
            }
            let before = runners_of(&market.chain)[&address(crashed)].clone();
            let crash = serde_json::json!({ "job_id": hex(&id.0), "signal": "SIGKILL" });
            assert_eq!(slug(&market.chain.send(crashed, ask(VERIFIER, "attest_crash", &crash, 0))), "wrong_phase");
            assert_eq!(runners_of(&market.chain)[&address(crashed)], before, "nothing is counted or lost");
            market.wait_for_members(&id);
            assert!(market.reveal(&id, &rest).iter().all(Receipt::is_success));
            market.chain.idle(30);
            let member = market.job(&id).members.iter().find(|member| member.runner == address(crashed)).cloned().expect("a member");
            assert!(market.job(&id).status == JobStatus::Settled && member.paid > Amount(0), "it is paid for its work");
        }
    }
}

/// Whatever governance makes of the rows, a job's record holds everybody whom all of its draws give it: the first, the retries, and the one
/// that decides a disagreement.
#[test]
fn every_draw_fits() {
    let most = |name| usize::try_from(Params::row(name).expect("a row").max).expect("a small number");
    let committee = most("jobs.committee_max").max(most("jobs.committee_fallback"));
    assert!(committee <= MAX_MEMBERS);
    assert!(committee * (most("jobs.retries") + 2) <= MAX_DRAWN);
}
