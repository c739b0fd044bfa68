//! The whole path of a job: asked for, drawn, done, verified, answered, paid.

use super::*;
use cowboy_testkit::chain::{ALL, address};
use cowboy_types::job::JobStatus;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_job_of_one_runner,
    a_job_of_three_runners,
    a_job_that_nobody_does_fails_by_itself,
    entitlements_gate_jobs,
];

/// An actor that asks the Dispatcher with its payload, and keeps the answer.
const ASKER: &str = "handler ask\n job $payload\n return $last\nhandler answer\n set 'answer' $payload\n emit 'answered' 'x'\n";

const GRANTS: &[(&str, &[(&str, u64)])] =
    &[("econ.hold_balance", &[]), ("econ.transfer", &[]), ("http.fetch", &[]), ("oracle.llm", &[]), ("storage.kv", &[])];

/// What a result costs is split by the parameters of the block that accepted it: where governance raises the treasury's part before the payout, it
/// gets at most what the runners were not promised.
#[test]
fn a_split_outlives_its_parameters() {
    let mut market = Market::new(3);
    let mut job = committee_job("economic_bond", 1);
    (job["max_price"], job["tip"]) = (1_000.into(), 0.into());
    let id = market.submit(&job);
    let runner = market.draw(&id)[0];
    assert_eq!(slug(&market.result(&id, runner, b"an answer")), "");
    market.chain.move_parameter("jobs.payout_treasury", 2_000);
    let (before, treasury) = (market.chain.balance(address(runner)), market.chain.balance(Address::system(8)));
    market.chain.idle(market.job(&id).status_until.0 - market.chain.height.0);
    assert_eq!(market.job(&id).status, JobStatus::Settled);
    assert_eq!(market.chain.balance(address(runner)) - before, 890);
    assert_eq!(market.chain.balance(Address::system(8)) - treasury, 110, "a tenth that would have been burned, too");
}

/// Messages that take all of the time that a block has for them keep no answer waiting (decision 594).
#[test]
fn messages_leave_time_to_answers() {
    let mut market = Market::new(3);
    let heavy = market.chain.deploy("handler go\n weigh 90000000\n");
    let sends = format!(" send {} '' 0 'go'\n", hex(&heavy.0)).repeat(20);
    let sender = market.chain.deploy(&format!("handler run\n{sends}"));
    let asker = market.chain.deploy_with(ASKER, GRANTS, cby(1_000));
    let mut job = simple_job();
    job["callback"] = serde_json::json!({ "actor": hex(&asker.0), "handler": "answer" });
    let id = Hash(market.chain.call(asker, "ask", &map(&job).encode()).return_data[..].try_into().expect("an id"));
    let runner = market.committee(&id)[0];
    assert!(market.chain.call(sender, "run", b"").is_success());
    market.result(&id, runner, b"an answer");
    assert_eq!(market.job(&id).status, JobStatus::Settled);
    let receipts = market.chain.idle(1);
    let count = |kind: cowboy_types::ReceiptKind| receipts.iter().filter(|receipt| receipt.kind == kind).count();
    assert_eq!((count(cowboy_types::ReceiptKind::Message), count(cowboy_types::ReceiptKind::Callback)), (2, 1));
    assert_eq!(announced(&receipts), ["answered"]);
}

/// Jobs of an actor whose answers may each use all cells that a single one gets. Their runners deliver in one block.
fn large_answers(market: &mut Market, asker: Address, count: usize) -> Vec<Hash> {
    let mut job = simple_job();
    let cells = cowboy_params::Params::GENESIS.delivery_cells();
    job["callback"] = serde_json::json!({ "actor": hex(&asker.0), "handler": "answer", "cells": cells });
    let argument = map(&job).encode();
    let ids: Vec<Hash> =
        (0..count).map(|_| Hash(market.chain.call(asker, "ask", &argument).return_data[..].try_into().expect("an id"))).collect();
    let (mut nonces, mut results) = (std::collections::BTreeMap::new(), Vec::new());
    for id in &ids {
        let runner = market.committee(id)[0];
        let nonce = nonces.entry(runner).or_insert_with(|| market.chain.nonce(runner));
        results.push(signed(runner, *nonce, ask(VERIFIER, "submit_result", &market.said(runner, b"x").alone(id), 0)));
        *nonce += 1;
    }
    assert!(market.chain.block(results).receipts.iter().all(|receipt| receipt.is_success()));
    ids
}

/// Attack: an account has an answer sent to an actor that it owns, and hands the actor on before it comes. Its new owner would get an answer of the market to
/// what it never asked. What was held for the answer goes back to whoever asked.
#[test]
fn an_actor_that_was_handed_on_gets_no_answer() {
    for to in [None, Some(7)] {
        let mut market = Market::new(3);
        let asker = market.chain.deploy_with(ASKER, GRANTS, cby(1_000));
        let mut job = simple_job();
        job["callback"] = serde_json::json!({ "actor": hex(&asker.0), "handler": "answer" });
        let id = market.submit(&job);
        let runner = market.committee(&id)[0];
        if let Some(owner) = to {
            let handed = cowboy_types::System::TransferActorOwnership { actor: asker, owner: address(owner) };
            assert_eq!(slug(&market.chain.send(1, Instruction::System(handed))), "");
        }
        assert_eq!(slug(&market.result(&id, runner, b"an answer")), "");
        let (before, held) = (market.chain.balance(address(1)), market.job(&id).callback_held.0);
        let receipts = market.chain.idle(1);
        let came = if to.is_none() { vec!["answered"] } else { Vec::new() };
        assert_eq!(announced(&receipts), came, "handed to {to:?}");
        assert_eq!(market.job(&id).callback_held, Amount(0));
        if to.is_some() {
            assert_eq!((market.chain.balance(address(1)) - before, receipts.len()), (held, 0), "all of it");
        }
    }
}

/// Decision 677: who asks for all cells that an answer may have keeps no other answer waiting for them.
#[test]
fn a_large_answer_keeps_nobody_waiting() {
    let mut market = Market::new(3);
    let asker = market.chain.deploy_with(ASKER, GRANTS, cby(1_000));
    large_answers(&mut market, asker, 5);
    assert_eq!(announced(&market.chain.idle(1)), ["answered"; 5], "all in one block");
    assert!(market.chain.idle(2).is_empty());
}

/// Decision 677: an answer for which too little was left is put back, comes first in the next block, and pays there for its try.
#[test]
fn an_answer_that_is_put_back_pays_for_its_try() {
    let mut market = Market::new(3);
    let sets = " set 'a' $0\n".repeat(42);
    let script = format!("handler ask\n job $payload\n return $last\nhandler to\n set 'x' $payload\nhandler answer\n get 'x'\n{sets}");
    let asker = market.chain.deploy_with(&script, GRANTS, cby(1_000));
    assert!(market.chain.call(asker, "to", &[7; 60_000]).is_success());
    large_answers(&mut market, asker, 2);
    let balance = market.chain.balance(asker);
    // Its actor sees to it that the second one ends at once in the next block.
    let nonce = market.chain.nonce(1);
    let first = market.chain.block(vec![signed(1, nonce, execution(asker, "to", b"", 0))]).receipts;
    let answers = |receipts: &[Receipt]| -> Vec<Receipt> {
        receipts.iter().filter(|receipt| receipt.kind == cowboy_types::ReceiptKind::Callback).cloned().collect()
    };
    let second = answers(&market.chain.idle(1));
    let first = answers(&first);
    assert_eq!((first.len(), second.len()), (1, 1));
    assert!(first[0].is_success() && second[0].is_success());
    let share = cowboy_params::Params::GENESIS.delivery_cells();
    let left = share - first[0].cells_used.0;
    assert!((2_500_000..share).contains(&first[0].cells_used.0), "{:?}", first[0].cells_used);
    assert_eq!(second[0].cells_used.0, left, "what it used of what was left");
    let burned = first[0].fee.burned.0 + second[0].fee.burned.0;
    let held = 2 * 20_000 * (1_000_000 + share);
    assert_eq!(market.chain.balance(asker), balance + held - burned, "all else comes back");
}

/// one runner, at once; the answer comes in the next block with its correlation id; 89/10/1, the tip
/// whole, and everything else back.
#[test]
fn a_job_of_one_runner() {
    let mut market = Market::new(3);
    let actor = market.chain.deploy_with(ASKER, GRANTS, cby(1_000));
    let mut job = simple_job();
    job["callback"] = serde_json::json!({ "actor": hex(&actor.0), "handler": "answer", "correlation_id": "c-7", "context": "0x0102" });
    let before = market.chain.balance(actor);
    let asked = market.chain.call(actor, "ask", &map(&job).encode());
    assert_eq!(asked.abort, None);
    let id = Hash(asked.return_data[..].try_into().expect("an id"));
    let held = 100_000 + 500 + 1_000_000 * 20_000 + 150_000 * 20_000;
    assert_eq!(market.chain.balance(actor), before - held, "price, tip and the callback's most are held");

    let drawn = market.job(&id);
    assert_eq!(
        (drawn.status.clone(), drawn.members.len()),
        (JobStatus::Assigned, 1),
        "one runner is drawn in the submission's block (A-194)"
    );
    let runner = market.number(drawn.members[0].runner);
    let (runner_before, treasury_before) = (market.chain.balance(address(runner)), market.chain.balance(Address::system(8)));
    let done = market.result(&id, runner, b"an answer");
    assert_eq!(done.abort, None);
    assert_eq!(market.job(&id).status, JobStatus::Settled, "mode none pays at once (decision 98)");
    // The runner asks 1,000 for a request.
    let earned = 890 + 500;
    assert_eq!(market.chain.balance(address(runner)), runner_before + earned - done.fee.burned.0 - done.fee.tip.0);
    assert_eq!(market.chain.balance(Address::system(8)), treasury_before + 10);

    let receipts = market.chain.idle(1);
    let answered = &receipts[0];
    assert_eq!((answered.kind.clone(), answered.sender, answered.origin), (cowboy_types::ReceiptKind::Callback, VERIFIER, id));
    assert_eq!(announced(&receipts), ["answered"]);
    let answer = cowboy_types::cbor::decode(&market.chain.stored(actor, "answer").expect("kept")).expect("canonical");
    assert_eq!(answer.get("cid").and_then(Value::as_text), Some("c-7"));
    assert_eq!(answer.get("result").and_then(Value::as_text), Some("an answer"));
    assert_eq!(answer.get("context").and_then(Value::as_bytes), Some(&[1u8, 2][..]));
    assert_eq!(market.chain.balance(actor), before - 1_000 - 500 - answered.fee.burned.0, "what was not used came back");
}

/// three runners commit, then reveal; the majority is accepted, who differs is not paid.
#[test]
fn a_job_of_three_runners() {
    let mut market = Market::new(5);
    let id = market.submit(&committee_job("majority_vote", 3));
    assert_eq!(market.job(&id).status, JobStatus::Drawing, "the seed does not exist yet");
    let committee = market.draw(&id);
    assert_eq!(committee.len(), 3);
    let said = market.say(&[(committee[0], b"yes"), (committee[1], b"yes"), (committee[2], b"no")]);
    market.commit(&id, &said);
    assert_eq!(market.job(&id).status, JobStatus::Revealing, "all committed");
    market.wait_for_members(&id);
    let receipts = market.reveal(&id, &said);
    assert!(announced(&receipts).contains(&"JobVerified".to_string()), "{:?}", announced(&receipts));
    let job = market.job(&id);
    assert_eq!(job.status, JobStatus::Verified);
    let paid: Vec<u64> = job.members.iter().map(|member| member.paid.0).collect();
    assert_eq!(paid.iter().sum::<u64>(), 2 * 890 + 500, "two are paid, and share the tip");
    let before = market.chain.balance(address(committee[0]));
    market.chain.idle(900);
    let job = market.job(&id);
    assert_eq!((job.status.clone(), job.escrow), (JobStatus::Settled, Amount(0)));
    assert_eq!(market.chain.balance(address(committee[0])) - before, paid[0]);
}

/// nobody works; the job is drawn again without them, fails by itself, and all of the escrow comes back.
#[test]
fn a_job_that_nobody_does_fails_by_itself() {
    let mut market = Market::new(9);
    let before = market.chain.balance(address(1));
    let mut job = committee_job("majority_vote", 3);
    job["timeout_blocks"] = 6.into();
    let receipt = market.chain.send(1, ask(DISPATCHER, "submit_job", &job, 0));
    let (id, fee) = (id_of(&receipt), receipt.fee.burned.0 + receipt.fee.tip.0);
    let first = market.draw(&id);
    let mut receipts = market.chain.idle(6);
    assert_eq!(market.job(&id).attempt.0, 1, "drawn again");
    let second = market.committee(&id);
    assert!(first.iter().all(|runner| !second.contains(runner)), "who timed out is left out (A-197)");
    receipts.extend(market.chain.idle(20));
    let job = market.job(&id);
    assert_eq!((job.status.clone(), &job.reason[..]), (JobStatus::Failed, "no_replacement_available"));
    assert!(announced(&receipts).contains(&"JobFailed".to_string()));
    assert_eq!(market.chain.balance(address(1)), before - fee, "the whole escrow is back");
    for runner in first {
        let record = &runners_of(&market.chain)[&address(runner)];
        assert_eq!(record.reputation.0 / 1_000_000, 95, "a timeout costs five points (A-197)");
    }
}

/// An actor without the entitlement of the job's kind asks for nothing (000 §9).
#[test]
fn entitlements_gate_jobs() {
    let mut market = Market::new(3);
    let actor = market.chain.deploy_with(ASKER, ALL, cby(1_000));
    let asked = market.chain.call(actor, "ask", &map(&simple_job()).encode());
    assert_eq!(slug(&asked), "missing_entitlement");
}
