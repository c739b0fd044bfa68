//! Runners that cheat, and submitters that do: each meets its rule (issue: adversaries; ).

use super::*;
use cowboy_testkit::chain::{address, parameters};
use cowboy_testkit::market::{attestation, work_attested};
use cowboy_types::cbor;
use cowboy_types::job::{JobStatus, Verdict, salt};
use std::collections::BTreeMap;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_copied_commitment,
    revelations_that_are_refused,
    the_aggregator,
    an_attested_crash,
    collusion,
    withheld_revelations,
    challenges,
    reproduction,
    attestations,
    faults,
    usage,
    a_check_that_nobody_passes,
    the_submitters_own_check,
    a_callback_that_always_traps,
    the_answer_of_a_failure,
    jobs_are_forgotten,
    a_revelation_that_comes_late,
    grinding_job_ids_gains_nothing,
];

/// A market with short windows.
pub(super) fn quick(runners: u8) -> Market {
    Market::with(runners, |genesis| {
        genesis.parameters = parameters(&[
            ("jobs.challenge_window", 10),
            ("jobs.dispute_window", 2),
            ("jobs.dispute_max", 30),
            ("jobs.reveal_window", 12),
            ("jobs.crash_window", 4),
        ])
    })
}

fn stake_of(market: &Market, number: u8) -> u64 {
    runners_of(&market.chain)[&address(number)].stake.0
}

/// A job of three whose committee is drawn.
fn drawn(market: &mut Market) -> (Hash, Vec<u8>) {
    let id = market.submit(&committee_job("majority_vote", 3));
    let committee = market.draw(&id);
    (id, committee)
}

/// who copies another's commitment cannot open it, for the salt names the other: it counts as not revealed, and a quarter
/// of the stake is burned.
#[test]
fn a_copied_commitment() {
    let mut market = quick(3);
    let (id, committee) = drawn(&mut market);
    let said = market.say(&[(committee[0], b"yes"), (committee[1], b"yes")]);
    let mut copy = said[0].clone();
    copy.number = committee[2];
    let transactions = [(&said[0], committee[0]), (&said[1], committee[1]), (&said[0], committee[2])].map(|(said, number)| {
        let argument = serde_json::json!({ "job_id": hex(&id.0), "commitment": hex(&said.commitment().0) });
        signed(number, market.chain.nonce(number), ask(VERIFIER, "commit", &argument, 0))
    });
    assert!(market.chain.block(transactions.to_vec()).receipts.iter().all(Receipt::is_success), "the chain sees three commitments");
    market.wait_for_members(&id);
    market.reveal(&id, &said);
    // The copier saw output and salt; with its own address in the salt nothing fits, with the other's it is not its own.
    let own = market.reveal(&id, &[copy.clone()]);
    assert_eq!(slug(&own[0]), "commitment_mismatch");
    let mut argument = copy.revelation(&id);
    argument["salt"] = hex(&salt(&said[0].secret, &address(committee[0]))).into();
    let stolen = market.chain.send(committee[2], ask(VERIFIER, "reveal", &argument, 0));
    assert_eq!(slug(&stolen), "commitment_mismatch");
    let before = stake_of(&market, committee[2]);
    let receipts = market.chain.idle(30);
    assert!(announced(&receipts).contains(&"NonRevealSlash".to_string()));
    assert_eq!(
        stake_of(&market, committee[2]),
        before - before / 4,
        "25% (A-222), burned whole (A-223): the supply is checked by the harness"
    );
    let record = &runners_of(&market.chain)[&address(committee[2])];
    assert_eq!(record.reputation.0, 0, "and the reputation is gone");
    let job = market.job(&id);
    assert_eq!(job.status, JobStatus::Settled, "the honest two are two thirds");
}

/// what is not the committed bytes, not signed, too long, too early, twice, or not a member's.
#[test]
fn revelations_that_are_refused() {
    let mut market = quick(4);
    let (id, committee) = drawn(&mut market);
    let outsider = market.runners.iter().copied().find(|number| !committee.contains(number)).expect("one was not drawn");
    let said = market.say(&[(committee[0], b"yes"), (committee[1], b"yes"), (committee[2], &[7; 1_025])]);
    let early = market.reveal(&id, &said[..1]);
    assert_eq!(slug(&early[0]), "wrong_phase");
    let commit = |market: &mut Market, number: u8, commitment: Hash| {
        let argument = serde_json::json!({ "job_id": hex(&id.0), "commitment": hex(&commitment.0) });
        slug(&market.chain.send(number, ask(VERIFIER, "commit", &argument, 0)))
    };
    assert_eq!(commit(&mut market, outsider, said[0].commitment()), "not_a_member");
    assert_eq!(commit(&mut market, committee[0], Hash::ZERO), "wrong_phase");
    assert_eq!(commit(&mut market, committee[0], said[0].commitment()), "");
    assert_eq!(commit(&mut market, committee[0], said[1].commitment()), "already_done");
    market.commit(&id, &said[1..]);
    assert_eq!(commit(&mut market, committee[0], said[0].commitment()), "wrong_phase", "all committed, so the next phase begins");
    market.wait_for_members(&id);
    let mut other = said[0].clone();
    other.output = b"no".to_vec();
    assert_eq!(slug(&market.reveal(&id, &[other])[0]), "commitment_mismatch", "something else than what was committed to");
    let mut forged = said[0].revelation(&id);
    forged["signature"] = said[1].revelation(&id)["signature"].clone();
    assert_eq!(slug(&market.chain.send(committee[0], ask(VERIFIER, "reveal", &forged, 0))), "result_signature");
    assert_eq!(slug(&market.reveal(&id, &said[2..])[0]), "result_too_large", "one byte more than the job takes");
    assert_eq!(slug(&market.reveal(&id, &said[..1])[0]), "");
    assert_eq!(slug(&market.reveal(&id, &said[..1])[0]), "already_done");
    let unsaid = Said { number: outsider, ..said[0].clone() };
    assert_eq!(slug(&market.reveal(&id, &[unsaid])[0]), "not_a_member");
}

/// the aggregator speaks first and for all; its bonus comes out of the runners' 89%. Silent, it is passed over.
#[test]
fn the_aggregator() {
    for is_silent in [false, true] {
        let mut market = quick(3);
        let (id, committee) = drawn(&mut market);
        let aggregator = market.number(market.job(&id).aggregator.expect("one of the committee"));
        let said = market.say(&[(committee[0], b"yes"), (committee[1], b"yes"), (committee[2], b"yes")]);
        market.commit(&id, &said);
        let others: Vec<Said> = said.iter().filter(|said| said.number != aggregator).cloned().collect();
        assert_eq!(slug(&market.reveal(&id, &others[..1])[0]), "wrong_phase", "the aggregator's time comes first");
        let together = together(&id, &said);
        assert_eq!(slug(&market.chain.send(others[0].number, ask(VERIFIER, "submit_verified_result", &together, 0))), "not_a_member");
        if is_silent {
            market.wait_for_members(&id);
            assert!(market.reveal(&id, &others).iter().all(Receipt::is_success));
            market.chain.idle(10);
            let job = market.job(&id);
            assert_eq!(job.status, JobStatus::Verified, "two of three are enough");
            let member = job.members.iter().find(|member| member.runner == address(aggregator)).expect("a member");
            assert_eq!((member.verdict.clone(), member.paid.0), (Verdict::Unrevealed, 0));
            continue;
        }
        let receipt = market.chain.send(aggregator, ask(VERIFIER, "submit_verified_result", &together, 0));
        assert_eq!(receipt.abort, None);
        let job = market.job(&id);
        assert_eq!(job.status, JobStatus::Verified);
        // Three of 1,000 each: 2,670 for the runners, 45 of it for the aggregator, the tip in three parts.
        let paid = |number: u8| job.members.iter().find(|member| member.runner == address(number)).expect("a member").paid.0;
        assert_eq!(job.members.iter().map(|member| member.paid.0).sum::<u64>(), 2_670 + 500);
        assert_eq!(
            paid(aggregator) - paid(others[0].number).min(paid(others[1].number)),
            45 + if job.members[0].runner == address(aggregator) { 2 } else { 0 }
        );
    }
}

/// a crash that is attested in time costs reputation, never stake.
#[test]
fn an_attested_crash() {
    for attests_late in [false, true] {
        let mut market = quick(3);
        let (id, committee) = drawn(&mut market);
        let said = market.say(&[(committee[0], b"yes"), (committee[1], b"yes"), (committee[2], b"yes")]);
        market.commit(&id, &said);
        let crash = serde_json::json!({ "job_id": hex(&id.0), "signal": "SIGKILL" });
        if !attests_late {
            assert_eq!(slug(&market.chain.send(committee[2], ask(VERIFIER, "attest_crash", &crash, 0))), "");
        }
        market.wait_for_members(&id);
        market.reveal(&id, &said[..2]);
        market.chain.idle(8);
        if attests_late {
            assert_eq!(slug(&market.chain.send(committee[2], ask(VERIFIER, "attest_crash", &crash, 0))), "", "within the crash window");
        }
        market.chain.idle(20);
        assert_eq!(stake_of(&market, committee[2]), cby(10_000));
        let record = &runners_of(&market.chain)[&address(committee[2])];
        assert_eq!((record.reputation.0 / 1_000_000, record.crashes.0), (95, 1));
        assert_eq!(slug(&market.chain.send(committee[2], ask(VERIFIER, "attest_crash", &crash, 0))), "wrong_phase");
    }
}

/// two that collude lose below the threshold, and are paid nothing; at the threshold they win: that is what the mode's number
/// means. Where neither they nor the honest reach it, nothing is accepted, nobody is paid, and all of them are left out of the next draw.
#[test]
fn collusion() {
    let rows = [
        ("one of three", 3, 2, 1, Some(&b"true"[..])),
        ("two of three, at the threshold", 3, 2, 2, Some(b"lie")),
        ("two of five, three must agree", 5, 3, 2, Some(b"true")),
        ("two of five, and two are enough: three are more", 5, 2, 2, Some(b"true")),
        ("two of five, four must agree", 5, 4, 2, None),
    ];
    for (case, runners, threshold, liars, accepted) in rows {
        let mut market = quick(10);
        let mut asked = committee_job("majority_vote", runners);
        asked["verification"]["threshold"] = threshold.into();
        let id = market.submit(&asked);
        let committee = market.draw(&id);
        let outputs: Vec<(u8, &[u8])> =
            (0..).zip(&committee).map(|(place, number)| (*number, if place < liars { &b"lie"[..] } else { b"true" })).collect();
        let said = market.say(&outputs);
        market.commit(&id, &said);
        market.wait_for_members(&id);
        market.reveal(&id, &said);
        let job = market.job(&id);
        assert_eq!(job.outcome.as_ref().map(|outcome| outcome.output), accepted.map(|output| keccak256(&[output])), "{case}");
        if accepted.is_none() {
            assert_eq!(job.attempt.0, 1, "{case}");
            assert!(committee.iter().all(|number| job.excluded.contains(&address(*number))), "{case}");
            assert!(job.members.iter().all(|member| !committee.contains(&market.number(member.runner))), "{case}");
        }
        for (member, (_, output)) in job.members.iter().zip(&outputs).filter(|_| accepted.is_some()) {
            let agrees = Some(*output) == accepted;
            assert_eq!(member.verdict, if agrees { Verdict::Accepted } else { Verdict::Differs }, "{case}");
            assert_eq!(member.paid > Amount(0), agrees, "{case}");
        }
    }
}

/// who commits and never reveals loses a quarter of the stake, all of it burned, whether it is one, whose silence changes nothing, or
/// two, whose silence keeps the job from its threshold: then it is drawn again without them, and the submitter pays nothing for it.
#[test]
fn withheld_revelations() {
    for (silent, is_accepted) in [(1, true), (2, false)] {
        let mut market = quick(3);
        let (id, committee) = drawn(&mut market);
        let outputs: Vec<(u8, &[u8])> = committee.iter().map(|number| (*number, &b"yes"[..])).collect();
        let said = market.say(&outputs);
        market.commit(&id, &said);
        market.wait_for_members(&id);
        market.reveal(&id, &said[silent..]);
        let receipts = market.chain.idle(40);
        let slashes = announced(&receipts).iter().filter(|name| *name == "NonRevealSlash").count();
        assert_eq!(slashes, silent, "each of the silent, once");
        for (place, number) in committee.iter().enumerate() {
            assert_eq!(stake_of(&market, *number), if place < silent { cby(7_500) } else { cby(10_000) });
            let is_low = runners_of(&market.chain)[&address(*number)].reputation.0 == 0;
            assert_eq!(is_low, place < silent, "and the reputation is gone");
        }
        let job = market.job(&id);
        assert_eq!(job.status, if is_accepted { JobStatus::Settled } else { JobStatus::Failed }, "{silent} are silent");
        assert_eq!(job.escrow, Amount(0), "the harness checks that nothing of it is lost");
        assert!(is_accepted || job.members.iter().all(|member| member.paid == Amount(0)));
    }
}

/// a claim with a bond stops the payout; upheld it slashes 30% and gives bond and pay back, rejected it costs the bond,
/// undecided a tenth of it.
#[test]
fn challenges() {
    for decision in [Some(true), Some(false), None] {
        let mut market = quick(3);
        let (id, committee) = drawn(&mut market);
        let said = market.say(&[(committee[0], b"a"), (committee[1], b"a"), (committee[2], b"a")]);
        market.commit(&id, &said);
        market.wait_for_members(&id);
        market.reveal(&id, &said);
        let claim = serde_json::json!({ "job_id": hex(&id.0), "runner": hex(&address(committee[0]).0), "claim": "made up" });
        assert_eq!(slug(&market.chain.send(2, ask(VERIFIER, "challenge", &claim, cby(99)))), "challenge_refused", "a bond is 100 CBY");
        let before = market.chain.balance(address(2));
        let receipt = market.chain.send(2, ask(VERIFIER, "challenge", &claim, cby(100)));
        assert_eq!(receipt.abort, None);
        let fee = receipt.fee.burned.0 + receipt.fee.tip.0;
        assert_eq!(market.job(&id).status, JobStatus::Disputed);
        if let Some(upheld) = decision {
            let argument = serde_json::json!({ "job_id": hex(&id.0), "upheld": upheld });
            assert_eq!(slug(&market.chain.send(2, ask(VERIFIER, "decide_challenge", &argument, 0))), "system_unauthorized");
            assert_eq!(market.council_decides(&argument), "");
        }
        market.chain.idle(31);
        let job = market.job(&id);
        assert_eq!(job.status, JobStatus::Settled, "{decision:?}");
        let (stake, bond) = (stake_of(&market, committee[0]), before - fee - market.chain.balance(address(2)));
        match decision {
            Some(true) => {
                assert_eq!(stake, cby(7_000), "30% for proven dishonesty (decision 42)");
                assert_eq!(job.members.iter().filter(|member| member.verdict == Verdict::Dishonest).count(), 1);
                assert!(bond < cby(1), "the bond came back: {bond}");
            }
            Some(false) => {
                assert_eq!(stake, cby(10_000));
                assert!(bond >= cby(100), "the bond is gone");
            }
            None => {
                assert_eq!(stake, cby(10_000));
                assert!((cby(10)..cby(11)).contains(&bond), "nobody decided: a tenth of the bond is burned: {bond}");
            }
        }
    }
}

/// Deterministic results are checked by doing the work again: another result of a fresh committee proves the first a lie.
#[test]
fn reproduction() {
    for (again, is_upheld) in [(&b"truth"[..], true), (b"lie", false)] {
        let mut market = quick(6);
        let mut job = committee_job("deterministic", 2);
        job["verification"]["tee_required"] = true.into();
        job["toolchain_digest"] = hex(&[5; 32]).into();
        let id = market.submit(&job);
        let first = market.draw(&id);
        work_attested(&mut market, &id, &first, b"lie");
        assert_eq!(market.job(&id).status, JobStatus::Verified);
        let receipt = market.chain.send(2, ask(VERIFIER, "reproduce", &serde_json::json!({ "job_id": hex(&id.0) }), cby(100)));
        assert_eq!(receipt.abort, None);
        let retrial = id_of(&receipt);
        let second = market.draw(&retrial);
        assert!(second.iter().all(|number| !first.contains(number)), "a fresh committee");
        assert_eq!(second.len(), 4, "as large as it can be");
        work_attested(&mut market, &retrial, &second, again);
        // If the challenge is not upheld, the window continues with its remaining blocks.
        market.chain.idle(12);
        let disputed = market.job(&id);
        assert_eq!(disputed.status, JobStatus::Settled);
        for number in first {
            assert_eq!(stake_of(&market, number), if is_upheld { cby(7_000) } else { cby(10_000) });
        }
    }
}

/// without an attestation a job that asks for one takes nothing; one that names another model costs the stake.
#[test]
fn attestations() {
    let mut market = quick(3);
    let mut job = simple_job();
    job["job_type"] = serde_json::json!({ "type": "Llm", "model_id": hex(&[3; 32]) });
    job["bounds"]["max_output_tokens"] = 10.into();
    job["verification"]["tee_required"] = true.into();
    let rows = [("none", None, 0), ("of another model", Some(Hash([4; 32])), 3_000), ("of the job's", Some(Hash([3; 32])), 0)];
    for (case, model, lost) in rows {
        let id = market.submit(&job);
        let number = market.committee(&id)[0];
        let before = stake_of(&market, number);
        let mut said = market.said(number, b"answer");
        if let Some(model) = model {
            let statement = attestation(&said, Some(model));
            said = said.attested(statement);
        }
        assert_eq!(slug(&market.submit_alone(&id, &said)), "", "{case}");
        assert_eq!(stake_of(&market, number), before - cby(lost), "{case}");
        let is_accepted = market.job(&id).outcome.is_some();
        assert_eq!(is_accepted, model == Some(Hash([3; 32])), "{case}");
    }
}

/// enough members that report the same fault are paid a part of what they would have asked, for the time that the chain saw
/// them held, whatever they claim; the rest goes back.
#[test]
fn faults() {
    let rows = [
        ("malformed input", 1, [10_000, 10_000, 10_000], "actor_fault", 33_333 * 3),
        ("an API that is down, half done", 2, [5_000, 5_000, 9_000], "external_fault", 500 * 3),
        ("too tight bounds, nothing done", 3, [0, 0, 10_000], "impossible", 0),
    ];
    for (case, fault, progress, reason, gross) in rows {
        let mut market = quick(3);
        let (id, committee) = drawn(&mut market);
        let reports = committee.iter().zip(progress).map(|(number, progress)| market.said(*number, b"").failing(fault, progress));
        let said: Vec<Said> = reports.collect();
        market.commit(&id, &said);
        market.wait_for_members(&id);
        assert!(market.reveal(&id, &said).iter().all(Receipt::is_success), "{case}");
        let job = market.job(&id);
        assert_eq!((job.status.clone(), &job.reason[..]), (JobStatus::Failed, reason), "{case}");
        let paid: u64 = job.members.iter().map(|member| member.paid.0).sum();
        assert!(paid.abs_diff(gross * 89 / 100) <= 3, "{case}: {paid} of {gross}");
    }
    let mut market = quick(1);
    let mut job = simple_job();
    job["max_price"] = cby(1).into();
    job["bounds"]["max_wall_time_seconds"] = 5.into();
    let id = market.submit(&job);
    let said = market.said(10, b"").failing(2, 10_000);
    assert_eq!(slug(&market.submit_alone(&id, &said)), "");
    assert_eq!(market.job(&id).members[0].paid.0, 178, "one second of five, of 1,000 for a request");
}

/// usage times the rates at the draw, within the job's bounds; more than twice the expected time is reviewed.
#[test]
fn usage() {
    let rows = [(1_000, 1_u64, 890, false), (2_000, 1, 890, false), (2_001, 1, 890, true), (10, 1_000_000_000_000, 890, false)];
    for (compute_ms, requests, paid, flagged) in rows {
        let mut market = quick(1);
        let mut job = simple_job();
        job["tip"] = 0.into();
        job["bounds"]["max_wall_time_seconds"] = 5.into();
        let id = market.submit(&job);
        let mut dear = declaration(10);
        dear["rates"]["http_request_base"] = 80_000.into();
        assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "update", &dear, 0))), "");
        let said = market.said(10, b"x").using(requests, compute_ms);
        assert_eq!(slug(&market.submit_alone(&id, &said)), "");
        assert_eq!(market.job(&id).members[0].paid.0, paid);
        assert_eq!(runners_of(&market.chain)[&address(10)].is_flagged, flagged, "{compute_ms} ms");
    }
}

/// A check that nobody passes is the job's fault: whoever delivered gets the least fee and loses no reputation, the answers
/// are not for nothing. Once somebody passes it, in a later draw too, those who failed it are at fault.
#[test]
fn a_check_that_nobody_passes() {
    let schema = |word: &str| serde_json::json!([{ "type": "json_schema", "schema": format!("{{\"const\":\"{word}\"}}") }]);
    let reputation = |market: &Market, number: u8| runners_of(&market.chain)[&address(number)].reputation.0 / 1_000_000;
    for passes in [false, true] {
        let mut market = quick(5);
        let mut job = simple_job();
        job["max_price"] = cby(1).into();
        job["verification"]["checks"] = schema("secret");
        let before = market.chain.balance(address(1));
        let receipt = market.chain.send(1, ask(DISPATCHER, "submit_job", &job, 0));
        let (id, fee) = (id_of(&receipt), receipt.fee.burned.0 + receipt.fee.tip.0);
        let started: BTreeMap<u8, u64> = market.runners.iter().map(|number| (*number, market.chain.balance(address(*number)))).collect();
        let mut failed = Vec::new();
        for _ in 0..if passes { 2 } else { 4 } {
            let number = market.draw(&id)[0];
            let receipt = market.result(&id, number, b"\"honest\"");
            assert_eq!(slug(&receipt), "");
            failed.push((number, receipt.fee.burned.0 + receipt.fee.tip.0));
        }
        if passes {
            let number = market.draw(&id)[0];
            market.result(&id, number, b"\"secret\"");
            assert_eq!(market.job(&id).status, JobStatus::Settled);
            assert!(failed.iter().all(|(number, _)| reputation(&market, *number) == 95), "they failed what another passed");
            continue;
        }
        let done = market.job(&id);
        assert_eq!((done.status.clone(), &done.reason[..]), (JobStatus::Failed, "actor_fault"));
        for (number, fee) in failed {
            assert_eq!(reputation(&market, number), 100, "nobody is blamed");
            assert_eq!(market.chain.balance(address(number)), started[&number] - fee + 8_900_000, "89% of the least fee");
        }
        assert_eq!(before - fee - market.chain.balance(address(1)), 4 * 10_000_000, "four answers cost four least fees");
    }
}

/// A check of the submitter's own is no objective failure: the result is paid the least fee at once, and not asked for again.
#[test]
fn the_submitters_own_check() {
    let mut market = quick(5);
    let mut job = simple_job();
    job["max_price"] = cby(1).into();
    job["verification"]["checks"] = serde_json::json!([{ "type": "contains_all", "texts": ["secret"] }]);
    let id = market.submit(&job);
    let number = market.draw(&id)[0];
    assert_eq!(slug(&market.result(&id, number, b"honest")), "");
    let done = market.job(&id);
    assert_eq!((done.status.clone(), &done.reason[..], done.attempt.0), (JobStatus::Failed, "checks_failed", 0));
    assert_eq!((done.members[0].verdict.clone(), done.members[0].paid.0), (Verdict::Unfit, 8_900_000));
    assert_eq!(runners_of(&market.chain)[&address(number)].reputation.0, 100_000_000);
    // In a committee the others' result stands, and the one that is unfit gets the least fee, as far as its part of the price goes.
    let mut market = quick(3);
    let mut job = committee_job("majority_vote", 3);
    job["verification"]["checks"] = serde_json::json!([{ "type": "contains_none", "texts": ["bad"] }]);
    let id = market.submit(&job);
    let committee = market.draw(&id);
    let said = market.say(&[(committee[0], b"good"), (committee[1], b"good"), (committee[2], b"bad")]);
    market.commit(&id, &said);
    market.wait_for_members(&id);
    market.reveal(&id, &said);
    let done = market.job(&id);
    assert_eq!(done.status, JobStatus::Verified);
    assert_eq!((done.members[2].verdict.clone(), done.members[2].paid.0), (Verdict::Unfit, 33_333 * 89 / 100));
}

/// a handler that always fails on its answer costs its payer, not the runner, and is counted.
#[test]
fn a_callback_that_always_traps() {
    let mut market = quick(1);
    let script = "handler ask\n job $payload\n return $last\nhandler answer\n trap\n";
    let actor = market.chain.deploy_with(script, &[("econ.hold_balance", &[]), ("http.fetch", &[])], cby(1_000));
    let mut job = simple_job();
    job["callback"] = serde_json::json!({ "actor": hex(&actor.0), "handler": "answer" });
    let asked = market.chain.call(actor, "ask", &map(&job).encode());
    let id = Hash(asked.return_data[..].try_into().expect("an id"));
    market.result(&id, 10, b"x");
    assert_eq!(market.job(&id).status, JobStatus::Settled, "the runner is paid before");
    let receipts = market.chain.idle(1);
    assert!(receipts[0].abort.is_some());
    let patron: cowboy_types::job::Patron = market.chain.record(&dispatcher::state::patron_key(actor)).expect("remembered");
    assert_eq!((patron.jobs.0, patron.failed_callbacks.0), (1, 1));
}

/// an answer of failure has the published form.
#[test]
fn the_answer_of_a_failure() {
    let mut market = quick(1);
    let script = "handler ask\n job $payload\n return $last\nhandler answer\n set 'answer' $payload\n";
    let grants: &[(&str, &[(&str, u64)])] = &[("econ.hold_balance", &[]), ("http.fetch", &[]), ("storage.kv", &[])];
    let actor = market.chain.deploy_with(script, grants, cby(1_000));
    let mut job = simple_job();
    job["timeout_blocks"] = 6.into();
    job["callback"] = serde_json::json!({ "actor": hex(&actor.0), "handler": "answer", "correlation_id": "7" });
    market.chain.call(actor, "ask", &map(&job).encode());
    market.chain.idle(8);
    let answer = cbor::decode(&market.chain.stored(actor, "answer").expect("the answer came")).expect("canonical");
    let result = answer.get("result").expect("a result");
    assert_eq!(result.get("kind").and_then(Value::as_text), Some("job_failed"));
    assert_eq!(result.get("reason").and_then(Value::as_text), Some("no_replacement_available"));
    assert_eq!(answer.get("status").and_then(Value::as_text), Some("failed"));
}

/// A job that is over is forgotten, with everything of it.
#[test]
fn jobs_are_forgotten() {
    let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&[("jobs.retention", 10)]));
    let records = |market: &Market| {
        let opened = market.chain.state.values().map(|stored| cowboy_state::Key::open(stored).expect("the state holds sealed records").0);
        opened.filter(|key| key.address == DISPATCHER && key.kind != cowboy_state::Kind::Account).count()
    };
    let before = records(&market);
    let id = market.submit(&simple_job());
    market.result(&id, 10, b"x");
    assert!(records(&market) > before + 4);
    market.chain.idle(12);
    assert!(jobs_of(&market.chain).is_empty());
    assert_eq!(records(&market), before + 3, "the requester is remembered, the epoch's committees, and the number of draws");
}

/// a revelation that comes after its window is refused, and the stake is slashed as if it had never come.
#[test]
fn a_revelation_that_comes_late() {
    let mut market = quick(3);
    let (id, committee) = drawn(&mut market);
    let said = market.say(&[(committee[0], b"yes"), (committee[1], b"yes"), (committee[2], b"yes")]);
    market.commit(&id, &said);
    market.wait_for_members(&id);
    market.reveal(&id, &said[..2]);
    market.chain.idle(12);
    assert_eq!(slug(&market.reveal(&id, &said[2..])[0]), "wrong_phase");
    market.chain.idle(20);
    assert_eq!(stake_of(&market, committee[2]), cby(7_500));
    assert_eq!(market.job(&id).status, JobStatus::Settled);
}

/// Nobody predicts a committee of several: when the job is bound, the seed that draws it does not exist, and there is no reason to
/// prefer one id to another. A submitter that grinds two hundred ids until its own runner would be drawn under what is known gains nothing.
#[test]
fn grinding_job_ids_gains_nothing() {
    use cowboy_system::dispatcher::selection;
    use cowboy_types::job::Candidate;
    use cowboy_types::units::Height;
    let pool: Vec<Candidate> = (1..=10).map(|number| Candidate { runner: Address([number; 20]), weight: 7_070_000 }).collect();
    let mine = pool[3].runner;
    let drawn = |seed: &[u8], id: &Hash| selection::select(&pool, &selection::seed(seed, id, Height(7)), 3).contains(&mine);
    let (mut ground, mut lucky) = (0, 0);
    for round in 0..400u64 {
        let known = keccak256(&[b"known", &round.to_le_bytes()]);
        let later = keccak256(&[b"later", &round.to_le_bytes()]);
        let ids = (0..200u64).map(|nonce| keccak256(&[b"id", &round.to_le_bytes(), &nonce.to_le_bytes()]));
        let best = ids.into_iter().find(|id| drawn(&known.0, id)).expect("one of two hundred is drawn under a seed that is known");
        ground += 1;
        lucky += usize::from(drawn(&later.0, &best));
    }
    // Three of ten are 120 of 400; four standard deviations are 37.
    assert_eq!(ground, 400);
    assert!(lucky.abs_diff(120) < 37, "{lucky} of 400");
    let mut market = quick(5);
    let id = market.submit(&committee_job("majority_vote", 3));
    let job = market.job(&id);
    assert!(job.members.is_empty() && job.seed == Hash::ZERO, "nobody is drawn when the job is bound");
    assert!(job.draw_view.0 > market.chain.height.0 + 1, "and the round that will draw is not over");
}
