//! A runner's report is one thing: commitment and signature cover all of it, and whoever carries it can change nothing (decision 173).

use super::*;
use cowboy_testkit::chain::{address, parameters};
use cowboy_types::job::{JobStatus, Verdict};

/// What an aggregator does with another member's report.
type Tampering = (&'static str, fn(&mut serde_json::Value));

/// Every part of a report of a result, and of one of a fault, dropped, changed or added.
const TAMPERINGS: [Tampering; 7] = [
    ("the usage is dropped", |item| drop_field(item, "usage")),
    ("the usage is changed", |item| item["usage"]["requests"] = 0.into()),
    ("the attestation is dropped", |item| drop_field(item, "attestation")),
    ("the attestation is another", |item| item["attestation"] = "0x00".into()),
    ("the fault is dropped for a result", |item| {
        drop_field(item, "fault");
        drop_field(item, "progress");
        item["output"] = 0.into();
    }),
    ("the fault is another", |item| item["fault"] = 1.into()),
    ("the progress is changed", |item| item["progress"] = 0.into()),
];

fn drop_field(item: &mut serde_json::Value, name: &str) {
    item.as_object_mut().expect("a map").remove(name);
}

/// an aggregator that drops or changes a part of another's report opens nothing. The others then reveal for themselves, and
/// their own reports count.
#[test]
fn an_aggregator_changes_nothing() {
    for (case, tamper) in TAMPERINGS {
        let is_about_faults = case.contains("fault") || case.contains("progress");
        let mut market = Market::with(3, |genesis| genesis.parameters = parameters(&[("jobs.reveal_window", 12)]));
        let mut job = committee_job("majority_vote", 3);
        job["verification"]["tee_required"] = true.into();
        let id = market.submit(&job);
        let committee = market.draw(&id);
        let aggregator = market.number(market.job(&id).aggregator.expect("one of the committee"));
        let report = |number: &u8| match is_about_faults && *number != aggregator {
            true => market.said(*number, b"").failing(2, 10_000),
            false => {
                let said = market.said(*number, b"yes");
                let statement = cowboy_testkit::market::attestation(&said, None);
                said.attested(statement)
            }
        };
        let said: Vec<Said> = committee.iter().map(report).collect();
        market.commit(&id, &said);
        for victim in said.iter().enumerate().filter(|(_, said)| said.number != aggregator).map(|(place, _)| place) {
            let mut argument = together(&id, &said);
            tamper(&mut argument["reveals"][victim]);
            let receipt = market.chain.send(aggregator, ask(VERIFIER, "submit_verified_result", &argument, 0));
            assert_eq!(slug(&receipt), "commitment_mismatch", "{case}");
        }
        market.wait_for_members(&id);
        let others: Vec<Said> = said.iter().filter(|said| said.number != aggregator).cloned().collect();
        assert!(market.reveal(&id, &others).iter().all(Receipt::is_success), "{case}");
        market.chain.idle(12);
        let done = market.job(&id);
        let of_others = || done.members.iter().filter(|member| member.runner != address(aggregator));
        let expected = if is_about_faults { Verdict::Excused } else { Verdict::Accepted };
        assert!(of_others().all(|member| member.verdict == expected && member.paid.0 > 0), "{case}: {:?}", done.members);
        assert_eq!(done.status, if is_about_faults { JobStatus::Failed } else { JobStatus::Verified }, "{case}");
    }
}

/// A result that several members reveal is kept once. Where an aggregator submits it again, together with a report that is refused, in the block
/// in which the results are judged, what the others revealed stays.
#[test]
fn a_refused_aggregation_removes_nothing() {
    let mut market = Market::with(3, |genesis| genesis.parameters = parameters(&[("jobs.reveal_window", 12)]));
    let id = market.submit(&committee_job("majority_vote", 3));
    let committee = market.draw(&id);
    let aggregator = market.number(market.job(&id).aggregator.expect("one of the committee"));
    let said = market.say(&committee.iter().map(|number| (*number, &b"yes"[..])).collect::<Vec<_>>());
    market.commit(&id, &said);
    market.wait_for_members(&id);
    let (own, others): (Vec<Said>, Vec<Said>) = said.iter().cloned().partition(|said| said.number == aggregator);
    assert!(market.reveal(&id, &others).iter().all(Receipt::is_success));
    market.chain.idle(market.job(&id).reveal_until.0 - 1 - market.chain.height.0);
    let again = together(&id, &[own, others].concat());
    let receipt = market.chain.send(aggregator, ask(VERIFIER, "submit_verified_result", &again, 0));
    assert_eq!(slug(&receipt), "already_done");
    assert_eq!(market.job(&id).status, JobStatus::Verified, "two of three agree");
    market.chain.idle(1_000);
    assert_eq!(market.job(&id).status, JobStatus::Settled);
}

/// A signature is of one report of one job on one chain. Alone, a runner's report can only come from itself; still, a signature
/// that was given for another job, another chain or the bare result is none.
#[test]
fn a_signature_is_of_one_job_on_one_chain() {
    let mut market = Market::new(1);
    let (first, second) = (market.submit(&simple_job()), market.submit(&simple_job()));
    let said = market.said(10, b"x");
    let elsewhere = Said { genesis: Hash([1; 32]), ..said.clone() };
    let bare = hex(&result_key(10).sign(b"x").to_bytes());
    let rows = [
        ("of the other job", said.alone(&second)["signature"].clone()),
        ("of another chain", elsewhere.alone(&first)["signature"].clone()),
        ("of the bare result", bare.into()),
        ("of other usage", said.clone().using(1, 1).alone(&first)["signature"].clone()),
    ];
    for (case, signature) in rows {
        let mut argument = said.alone(&first);
        argument["signature"] = signature;
        assert_eq!(slug(&market.chain.send(10, ask(VERIFIER, "submit_result", &argument, 0))), "result_signature", "{case}");
    }
    assert_eq!(slug(&market.submit_alone(&first, &said)), "");
}

/// A report is of a result or of a fault, never of both, and a progress belongs to a fault.
#[test]
fn a_report_is_of_a_result_or_of_a_fault() {
    let mut market = Market::new(1);
    let id = market.submit(&simple_job());
    let fault = market.said(10, b"").failing(2, 5_000).alone(&id);
    let result = market.said(10, b"x").alone(&id);
    type Change = fn(&mut serde_json::Value);
    let rows: [(&serde_json::Value, Change); 6] = [
        (&result, |argument| argument["progress"] = 1.into()),
        (&result, |argument| argument["fault"] = 2.into()),
        (&result, |argument| drop_field(argument, "output")),
        (&fault, |argument| argument["fault"] = 4.into()),
        (&fault, |argument| argument["progress"] = 10_001.into()),
        (&fault, |argument| argument["output"] = "0x00".into()),
    ];
    for (place, (argument, change)) in rows.into_iter().enumerate() {
        let mut argument = argument.clone();
        change(&mut argument);
        assert_eq!(slug(&market.chain.send(10, ask(VERIFIER, "submit_result", &argument, 0))), "invalid_argument", "row {place}");
    }
}
