//! Stake of others behind a runner (002 §4; CIP-13): it counts, it can be slashed, and it comes back.

use super::*;
use cowboy_params::Params;
use cowboy_testkit::chain::{address, parameters};
use cowboy_types::units::{Amount, Height};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    delegated_stake_counts,
    strangers_keep_no_stake_in,
    delegated_stake_is_slashed,
    delegators_outlive_their_runner,
];

fn runner(market: &Market, number: u8) -> runners::Runner {
    runners_of(&market.chain)[&address(number)].clone()
}

fn about(number: u8) -> serde_json::Value {
    serde_json::json!({ "runner": hex(&address(number).0) })
}

fn delegate(market: &mut Market, from: u8, to: u8, amount: u64) -> &'static str {
    slug(&market.chain.send(from, ask(REGISTRY, "delegate", &about(to), amount)))
}

/// What a call pays its sender, without fees.
fn gained(market: &mut Market, number: u8, call: Instruction) -> (&'static str, u64) {
    let before = market.chain.balance(address(number));
    let receipt = market.chain.send(number, call);
    let fee = receipt.fee.burned.0 + receipt.fee.tip.0;
    (slug(&receipt), market.chain.balance(address(number)) + fee - before)
}

/// What a runner weighs in the draw of a job that is submitted now.
fn weight(market: &mut Market) -> u64 {
    let mut job = simple_job();
    // Longer than the test: a failure would cost reputation, which weighs, too.
    job["timeout_blocks"] = 100.into();
    let id = market.submit(&job);
    let candidates: cowboy_types::job::Candidates = market.chain.record(&dispatcher::state::candidates_key(&id)).expect("the snapshot");
    candidates.candidates[0].weight
}

/// What a runner asks back, or puts in.
fn asks(market: &mut Market, method: &str, argument: &serde_json::Value, value: u64) -> &'static str {
    slug(&market.chain.send(10, ask(REGISTRY, method, argument, value)))
}

/// Delegated stake counts in the draw; nine tenths of all may be others', and no more.
#[test]
fn delegated_stake_counts() {
    let mut market = Market::new(1);
    let rows = [
        ("nothing", 10, 0, "delegation_refused"),
        ("to nobody", 50, cby(1), "runner_not_found"),
        ("nine times the runner's own", 10, cby(90_000), ""),
        ("a unit more", 10, 1, "delegation_refused"),
    ];
    for (case, to, amount, expected) in rows {
        assert_eq!(delegate(&mut market, 2, to, amount), expected, "{case}");
    }
    assert_eq!(runner(&market, 10).delegated.0, cby(90_000));
    assert_eq!(weight(&mut market), 100_000_000, "100,000 whole CBY times the root of 100");
}

/// Decision 721: a stranger that delegates all that a runner's own stake allows does not keep that stake in. What exceeds the multiple counts in no draw and
/// for no job, is slashed with the rest, and may be asked back at any time.
#[test]
fn strangers_keep_no_stake_in() {
    let mut market = Market::new(1);
    assert_eq!(delegate(&mut market, 2, 10, cby(90_000)), "");
    let amount = |amount: u64| serde_json::json!({ "amount": amount });
    assert_eq!(asks(&mut market, "unstake", &amount(cby(5_000)), 0), "", "half of its own");
    assert_eq!((runner(&market, 10).stake.0, runner(&market, 10).delegated.0), (cby(5_000), cby(90_000)));
    assert_eq!(weight(&mut market), 50_000_000, "ten times its own, however much was delegated");
    assert_eq!(delegate(&mut market, 3, 10, 1), "delegation_refused", "it would not count");
    assert_eq!(asks(&mut market, "unstake", &amount(cby(4_000) + 1), 0), "stake_too_low", "less than its jobs ask for");
    assert_eq!(asks(&mut market, "unstake", &amount(cby(4_000)), 0), "");
    assert_eq!(weight(&mut market), 10_000_000);
    let mut excess = about(10);
    excess["amount"] = cby(81_000).into();
    assert_eq!(slug(&market.chain.send(2, ask(REGISTRY, "undelegate", &excess, 0))), "");
    assert_eq!(weight(&mut market), 10_000_000, "it had not counted");
    assert_eq!(delegate(&mut market, 2, 10, 1), "delegation_refused", "nine times its own is still there");
    // One that left comes back with what its jobs ask for.
    assert_eq!(asks(&mut market, "leave", &serde_json::json!({}), 0), "");
    assert_eq!(asks(&mut market, "stake", &serde_json::json!({}), cby(1_000) - 1), "stake_too_low");
    assert_eq!(asks(&mut market, "stake", &serde_json::json!({}), cby(1_000)), "");
    assert_eq!(weight(&mut market), 10_000_000);
}

/// A slash takes from the runner and from everybody behind it alike, also from what was asked back.
#[test]
fn delegated_stake_is_slashed() {
    let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&[("consensus.unbonding", 3_600)]));
    for (number, amount) in [(2, 6_000), (3, 3_000)] {
        assert_eq!(delegate(&mut market, number, 10, cby(amount)), "");
    }
    let mut half = about(10);
    half["amount"] = cby(3_000).into();
    assert_eq!(slug(&market.chain.send(2, ask(REGISTRY, "undelegate", &half, 0))), "");
    half["amount"] = (cby(3_000) + 1).into();
    assert_eq!(slug(&market.chain.send(2, ask(REGISTRY, "undelegate", &half, 0))), "delegation_refused", "more than is left");
    assert_eq!(gained(&mut market, 2, ask(REGISTRY, "withdraw_delegation", &about(10), 0)).0, "unbonding");
    let mut job = simple_job();
    job["job_type"] = serde_json::json!({ "type": "Llm", "model_id": hex(&[3; 32]) });
    job["bounds"]["max_output_tokens"] = 10.into();
    job["verification"]["tee_required"] = true.into();
    let id = market.submit(&job);
    let said = market.said(10, b"answer");
    let statement = cowboy_testkit::market::attestation(&said, Some(Hash([4; 32])));
    assert_eq!(slug(&market.submit_alone(&id, &said.attested(statement))), "");
    let slashed = runner(&market, 10);
    assert_eq!((slashed.stake.0, slashed.delegated.0), (cby(7_000), cby(4_200)), "30% of each");
    // Who comes after the slash has what it brings, and no part in the loss.
    assert_eq!(delegate(&mut market, 4, 10, cby(1_400)), "");
    for (number, worth) in [(2, 2_100), (3, 2_100), (4, 1_400)] {
        let mut asked = about(10);
        asked["delegator"] = hex(&address(number).0).into();
        let answer = market.chain.send(5, ask(REGISTRY, "get_delegation", &asked, 0));
        let answer = cowboy_types::cbor::decode(&answer.return_data).expect("canonical");
        assert_eq!(answer.get("amount").and_then(Value::as_u64), Some(cby(worth)), "of {number}");
    }
    market.chain.height = Height(market.chain.height.0 + 3_600);
    let withdrawn = gained(&mut market, 2, ask(REGISTRY, "withdraw_delegation", &about(10), 0));
    assert_eq!(withdrawn, ("", cby(2_100)), "what was asked back was slashed, too");
}

/// A runner that is gone leaves nothing behind that could be slashed: everything may be taken out, and a new registration begins anew.
#[test]
fn delegators_outlive_their_runner() {
    let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&[("consensus.unbonding", 3_600)]));
    assert_eq!(delegate(&mut market, 2, 10, cby(500)), "");
    let first = runner(&market, 10).registered_at;
    let none = serde_json::json!({});
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "leave", &none, 0))), "");
    assert_eq!(delegate(&mut market, 3, 10, cby(1)), "delegation_refused", "it leaves");
    market.chain.height = Height(market.chain.height.0 + 3_600);
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "withdraw", &none, 0))), "");
    assert!(runners_of(&market.chain).is_empty(), "gone");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "register", &declaration(10), cby(10_000)))), "");
    assert_eq!(runner(&market, 10).delegated.0, 0, "another runner at the same address");
    let mut old = about(10);
    old["registered_at"] = first.0.into();
    assert_eq!(gained(&mut market, 2, ask(REGISTRY, "withdraw_delegation", &old, 0)), ("", cby(500)));
    assert_eq!(gained(&mut market, 2, ask(REGISTRY, "withdraw_delegation", &old, 0)).0, "unbonding", "once");
}

/// Decision 592: what a proof cost comes out of the runner's own stake. What others stood for it with pays nobody: a claimant may be one with the runner,
/// and with who did the work again.
#[test]
fn delegators_pay_for_no_proof() {
    let mut market = Market::new(1);
    assert_eq!(delegate(&mut market, 2, 10, cby(90_000)), "");
    let (mut world, height) = (cowboy_state::World::default(), market.chain.height.next());
    let entitled = runners::handlers::Entitled { address: address(3), cost: Amount(cby(20_000)) };
    let slashed = loop {
        let checkpoint = world.checkpoint();
        match runners::handlers::slash(&mut world, &Params::GENESIS, height, address(10), 3_000, entitled) {
            Ok(slashed) => break slashed,
            Err(miss) => {
                world.rollback(&checkpoint);
                for key in world.want(miss) {
                    world.fill(&key, market.chain.state.get(&key).cloned());
                }
            }
        }
    };
    assert_eq!((slashed.amount.0, slashed.cost.0), (cby(30_000), cby(3_000)), "three tenths of all, and of its own");
}
