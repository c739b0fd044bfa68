//! Runners that have themselves slashed, for the part of slashed stake that governance may give to whoever asked for the job (003 §8.4).

use super::*;
use cowboy_testkit::chain::{address, parameters};

/// What the submitter of a job gains whose runner proves that it ran another model, where others delegated this much to that runner. Half of slashed
/// stake goes to the submitter.
fn gained(delegated: u64) -> u64 {
    let rows = [("jobs.slash_burn", 5_000), ("jobs.slash_submitter", 5_000)];
    let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&rows));
    if delegated > 0 {
        let about = serde_json::json!({ "runner": hex(&address(10).0) });
        assert_eq!(slug(&market.chain.send(2, ask(REGISTRY, "delegate", &about, delegated))), "");
    }
    let mut job = simple_job();
    job["job_type"] = serde_json::json!({ "type": "Llm", "model_id": hex(&[3; 32]) });
    job["bounds"]["max_output_tokens"] = 10.into();
    job["verification"]["tee_required"] = true.into();
    let id = market.submit(&job);
    let before = market.chain.balance(address(1));
    let said = market.said(10, b"answer");
    let statement = cowboy_testkit::market::attestation(&said, Some(Hash([4; 32])));
    assert_eq!(slug(&market.submit_alone(&id, &said.attested(statement))), "");
    assert_eq!(runners_of(&market.chain)[&address(10)].stake.0, cby(7_000), "three tenths of its own are slashed");
    market.chain.balance(address(1)) - before
}

/// Attack: a runner with others' stake behind it lies to a job of its own, and has the submitter's part of all that is slashed. With a tenth of the stake it
/// would gain 15,000 CBY where it loses 3,000. Cost, since the part is of its own stake alone: what it does not get back of that (decision 592).
#[test]
fn delegated_stake_pays_no_submitter() {
    let alone = gained(0);
    assert!((cby(1_500)..cby(1_501)).contains(&alone), "half of three tenths of 10,000 CBY, and what is left of the job's price: {alone}");
    assert_eq!(gained(cby(90_000)), alone, "nine times as much of others changes nothing");
}
