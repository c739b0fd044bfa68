//! What a chain looks at when nobody complains: crashes that pile up, answers that say nothing, jobs that are due at once.

use super::*;
use cowboy_system::verifier::similarity::Embedded;
use cowboy_testkit::chain::address;
use cowboy_types::cbor;
use cowboy_types::job::JobStatus;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    crashes_in_a_row_are_reviewed,
    similar_answers_agree_by_default,
    an_answer_has_to_vary,
    due_jobs_move_within_the_block,
];

/// Lets the one runner of a market attest that it crashed, in a job of its own.
fn crash(market: &mut Market) {
    let id = market.submit(&simple_job());
    market.draw(&id);
    let argument = serde_json::json!({ "job_id": hex(&id.0), "signal": "SIGKILL" });
    assert_eq!(slug(&market.chain.send(10, ask(VERIFIER, "attest_crash", &argument, 0))), "");
    market.chain.idle(20);
}

/// Whether the registry says that the runner is to be looked at.
fn is_flagged(market: &mut Market) -> bool {
    let argument = serde_json::json!({ "runner": hex(&address(10).0) });
    let receipt = market.chain.send(1, ask(REGISTRY, "get_runner", &argument, 0));
    let found = cbor::decode(&receipt.return_data).expect("canonical CBOR");
    found.get("is_flagged") == Some(&Value::Bool(true))
}

/// Five crashes within a thousand blocks, and the runner is flagged.
#[test]
fn crashes_in_a_row_are_reviewed() {
    let mut market = Market::new(1);
    for number in 1..=5 {
        crash(&mut market);
        assert_eq!(is_flagged(&mut market), number == 5, "after {number} crashes");
        market.heal(10);
    }
}

/// Three answers to a job, committed and revealed.
fn answered(job: &serde_json::Value, output: impl Fn(usize) -> Vec<u8>) -> (Market, Hash) {
    let mut market = Market::new(3);
    let id = market.submit(job);
    let outputs: Vec<(u8, Vec<u8>)> = market.draw(&id).into_iter().enumerate().map(|(place, number)| (number, output(place))).collect();
    let outputs: Vec<(u8, &[u8])> = outputs.iter().map(|(number, output)| (*number, &output[..])).collect();
    let said = market.say(&outputs);
    market.commit(&id, &said);
    market.wait_for_members(&id);
    market.reveal(&id, &said);
    (market, id)
}

/// A job that does not say how similar answers have to be gets the parameter's share.
#[test]
fn similar_answers_agree_by_default() {
    let job = committee_job("semantic_similarity", 3);
    let embedding = [[100, 0], [100, 30], [100, 40]];
    let output = |place: usize| Embedded { answer: vec![b'a'], model: Hash::ZERO, embedding: embedding[place].to_vec() }.write();
    let (market, id) = answered(&job, output);
    assert!(market.job(&id).outcome.is_some(), "the angles between them are small");
}

/// A long answer that hardly varies says nothing, whatever the committee agrees on.
#[test]
fn an_answer_has_to_vary() {
    let dull: Vec<u8> = (0..100).map(|place| if place % 20 == 0 { b'b' } else { b'a' }).collect();
    for (output, is_accepted) in [
        (dull, false),
        (b"a sentence of a hundred bytes is enough for it, as it has most of the letters and so varies a lot".to_vec(), true),
    ] {
        let (market, id) = answered(&committee_job("majority_vote", 3), |_| output.clone());
        assert_eq!(market.job(&id).outcome.is_some(), is_accepted, "{}", String::from_utf8_lossy(&output));
    }
}

/// All jobs that are due at a height move in its block, while they are fewer than a block moves.
#[test]
fn due_jobs_move_within_the_block() {
    let mut market = Market::new(1);
    let nonce = market.chain.nonce(1);
    let submissions = (0..20).map(|more| signed(1, nonce + more, ask(DISPATCHER, "submit_job", &simple_job(), 0)));
    let outcome = market.chain.block(submissions.collect());
    let ids: Vec<Hash> = outcome.receipts[..20].iter().map(id_of).collect();
    market.chain.idle(30);
    assert!(ids.iter().all(|id| market.job(id).status != JobStatus::Assigned), "nobody did them, and they have ended");
}
