//! Runners: stake, what they say of themselves, health, reputation, leaving; published models.

use super::*;
use cowboy_system::runners::{handlers, reputation, state};
use cowboy_testkit::chain::{address, parameters, signed};
use cowboy_types::job::{Runner, Tranche};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{List, Receipt};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    stake_stands_for_the_largest_job,
    the_registry_is_bounded,
    leaving_takes_its_time,
    heartbeats,
    filters,
    reputation_moves_to_the_last_score,
    models,
];

fn runner(market: &Market, number: u8) -> Runner {
    market.chain.record(&state::runner_key(address(number))).expect("a runner")
}

/// max(10,000 CBY, 1.5 × the largest job); refusals in their order.
#[test]
fn stake_stands_for_the_largest_job() {
    let mut market = Market::new(0);
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut declaration = declaration(10);
        change(&mut declaration);
        declaration
    };
    let rows = [
        ("no key", with(&|map| drop(map.as_object_mut().expect("a map").remove("result_key"))), cby(10_000), "invalid_argument"),
        ("a kind that is none", with(&|map| map["kinds"] = serde_json::json!(["mining"])), cby(10_000), "invalid_argument"),
        ("no kinds", with(&|map| map["kinds"] = serde_json::json!([])), cby(10_000), "invalid_argument"),
        ("no jobs at once", with(&|map| map["max_concurrent"] = 0.into()), cby(10_000), "invalid_argument"),
        ("an environment that is none", with(&|map| map["tee"] = serde_json::json!(["vm"])), cby(10_000), "invalid_argument"),
        ("less than the floor", declaration(10), cby(10_000) - 1, "stake_too_low"),
        (
            "less than 1.5 times the largest job",
            with(&|map| map["rates"]["max_job_value"] = cby(6_667).into()),
            cby(10_000),
            "stake_too_low",
        ),
        ("exactly 1.5 times", with(&|map| map["rates"]["max_job_value"] = cby(10_000).into()), cby(15_000), ""),
        ("twice", declaration(10), cby(10_000), "runner_exists"),
    ];
    for (case, declaration, stake, expected) in rows {
        let receipt = market.chain.send(10, ask(REGISTRY, "register", &declaration, stake));
        assert_eq!(slug(&receipt), expected, "{case}");
    }
    let registered = runner(&market, 10);
    assert_eq!((registered.stake.0, registered.kinds), (cby(15_000), 0b0010_1110), "A-186: stake and kinds are on chain");
    assert_eq!(registered.rates.max_job_value.0, cby(10_000));
    let larger = with(&|map| map["rates"]["max_job_value"] = cby(10_001).into());
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "update", &larger, 0))), "stake_too_low");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "stake", &serde_json::json!({}), cby(2)))), "");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "update", &larger, 0))), "");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "update", &larger, 5))), "not_payable");
}

/// Decision 713: a runner that lost stake still says where it is reached and what it does. It cannot take larger jobs: not at once, and not by taking smaller
/// ones first.
#[test]
fn who_lost_stake_stays_reachable() {
    let mut market = Market::new(1);
    let key = state::runner_key(address(10));
    let update = |market: &mut Market, largest: u64| {
        let mut declaration = declaration(10);
        declaration["endpoint"] = "moved.example.com".into();
        declaration["rates"]["max_job_value"] = largest.into();
        slug(&market.chain.send(10, ask(REGISTRY, "update", &declaration, 0)))
    };
    let mut record = runner(&market, 10);
    let largest = record.rates.max_job_value.0;
    // What is missing waits to be withdrawn.
    record.stake.0 -= 1;
    record.unbonding = List::new(vec![Tranche { amount: Amount(1), release: Height(u64::MAX) }]).expect("one fits");
    market.chain.state.insert(key.digest(), key.seal(&commonware_codec::Encode::encode(&record)));
    assert_eq!(update(&mut market, largest), "");
    let profile: cowboy_types::job::Profile = market.chain.record(&state::profile_key(address(10))).expect("a runner has one");
    assert_eq!((&*profile.endpoint, runner(&market, 10).stake), ("moved.example.com", record.stake));
    assert_eq!(update(&mut market, largest + 1), "stake_too_low");
    assert_eq!(update(&mut market, largest - 1), "");
    assert_eq!(update(&mut market, largest), "stake_too_low");
    assert_eq!(market.refused(&simple_job()), "no_candidates", "it is drawn for nothing");
}

/// The registry is bounded.
#[test]
fn the_registry_is_bounded() {
    let mut market = Market::with(16, |genesis| genesis.parameters = parameters(&[("jobs.runners", 16)]));
    assert_eq!(slug(&market.chain.send(40, ask(REGISTRY, "register", &declaration(40), cby(10_000)))), "registry_full");
}

/// Decision 582: a runner that left makes room in a full registry once its stake is free, and is paid.
#[test]
fn who_left_makes_room() {
    let rows = [("jobs.runners", 16), ("consensus.unbonding", 3_600)];
    let mut market = Market::with(16, |genesis| genesis.parameters = parameters(&rows));
    let enter = |market: &mut Market| slug(&market.chain.send(40, ask(REGISTRY, "register", &declaration(40), cby(10_000))));
    assert_eq!(slug(&market.chain.send(12, ask(REGISTRY, "leave", &serde_json::json!({}), 0))), "");
    let release = runner(&market, 12).unbonding[0].release;
    market.chain.height = Height(release.0 - 2);
    assert_eq!(enter(&mut market), "registry_full", "its stake can still be slashed");
    let before = market.chain.balance(address(12));
    assert_eq!(enter(&mut market), "");
    assert_eq!(market.chain.balance(address(12)), before + cby(10_000));
    let registered = runners_of(&market.chain);
    assert_eq!((registered.len(), registered.contains_key(&address(12))), (16, false));
}

/// Decision 597: in a full registry the idle runner with the least stake gives way to one with more. Its stake answers for it until it is free, and it may
/// come back with more stake than another has.
#[test]
fn the_lowest_stake_gives_way() {
    let rows = [("jobs.runners", 16), ("consensus.unbonding", 3_600)];
    let mut market = Market::with(16, |genesis| genesis.parameters = parameters(&rows));
    let none = serde_json::json!({});
    for number in (10..26).filter(|number| *number != 17) {
        assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "stake", &none, cby(5)))), "");
    }
    let places = |market: &Market| {
        let names = market.chain.names(state::directory());
        let has = |number: u8| names.iter().any(|name| name[..] == address(number).0);
        (names.len(), has(17), has(40))
    };
    let enter = |market: &mut Market, stake: u64| slug(&market.chain.send(40, ask(REGISTRY, "register", &declaration(40), stake)));
    assert_eq!((enter(&mut market, cby(10_000)), places(&market)), ("registry_full", (16, true, false)));
    assert_eq!((enter(&mut market, cby(10_001)), places(&market)), ("", (16, false, true)));
    let gone = runner(&market, 17);
    assert!(gone.is_leaving && gone.stake.0 == 0 && gone.unbonding[0].amount.0 == cby(10_000), "{gone:?}");
    assert_eq!(slug(&market.chain.send(17, ask(REGISTRY, "withdraw", &none, 0))), "unbonding");
    let more = |market: &mut Market, stake: u64| slug(&market.chain.send(17, ask(REGISTRY, "stake", &none, stake)));
    assert_eq!((more(&mut market, cby(10_001)), places(&market)), ("registry_full", (16, false, true)));
    assert_eq!((more(&mut market, cby(10_002)), places(&market)), ("", (16, true, false)));
    market.chain.height = gone.unbonding[0].release;
    assert_eq!(slug(&market.chain.send(17, ask(REGISTRY, "withdraw", &none, 0))), "");
    let back = runner(&market, 17);
    assert_eq!((back.stake.0, back.unbonding.len(), back.is_leaving), (cby(10_002), 0, false));
}

/// Decision 606: of runners with less stake than a newcomer, one that has a job under way goes after the idle ones, though these have more.
#[test]
fn who_works_goes_last() {
    let mut market = Market::with(16, |genesis| genesis.parameters = parameters(&[("jobs.runners", 16)]));
    market.submit(&simple_job());
    let busy = (10..26).find(|number| runner(&market, *number).active_jobs > Count::ZERO).expect("one is drawn");
    let stake = |number: u8| {
        let nonce = market.chain.nonce(number);
        signed(number, nonce, ask(REGISTRY, "stake", &serde_json::json!({}), cby(1)))
    };
    let staking: Vec<_> = (10..26).filter(|number| *number != busy).map(stake).collect();
    assert!(market.chain.block(staking).receipts.iter().all(Receipt::is_success));
    assert_eq!(enter(&mut market, 40, cby(10_002)), "");
    assert!(!gone(&market).contains(&busy), "an idle one makes room");
    assert_eq!(enter(&mut market, 41, cby(10_001)), "");
    assert!(gone(&market).contains(&busy), "nobody else has less");
}

/// Registers one more runner. Answers why it failed, if it did.
fn enter(market: &mut Market, number: u8, stake: u64) -> &'static str {
    slug(&market.chain.send(number, ask(REGISTRY, "register", &declaration(number), stake)))
}

/// Which of the first sixteen runners have no place in the registry.
fn gone(market: &Market) -> Vec<u8> {
    let names = market.chain.names(state::directory());
    (10..26).filter(|number| !names.iter().any(|name| name[..] == address(*number).0)).collect()
}

/// The cheapest job that the runners of these tests take, with time to do it in.
fn cheap_job() -> serde_json::Value {
    let mut job = simple_job();
    (job["max_price"], job["tip"], job["timeout_blocks"]) = (1_000.into(), 0.into(), 200.into());
    job
}

/// A full registry of sixteen runners, each of which has one of these jobs: an operator keeps its runners busy at the price of their own work.
fn all_busy() -> (Market, Vec<Hash>) {
    let rows = [("jobs.runners", 16), ("consensus.unbonding", 3_600)];
    let mut market = Market::with(16, |genesis| genesis.parameters = parameters(&rows));
    for number in 10..26 {
        let mut one = declaration(number);
        one["max_concurrent"] = 1.into();
        assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "update", &one, 0))), "");
    }
    let mut jobs = Vec::new();
    for _ in 10..26 {
        let id = market.submit(&cheap_job());
        assert_eq!(market.draw(&id).len(), 1);
        jobs.push(id);
    }
    assert!((10..26).all(|number| runner(&market, number).active_jobs == Count(1)));
    (market, jobs)
}

/// Decision 606: runners that keep themselves busy do not close a full registry. One gives way to each newcomer with more stake: it is in no draw any more,
/// the job that it has is done and paid, and its stake is bound like that of one that left.
#[test]
fn work_of_ones_own_keeps_no_place() {
    let (mut market, mut jobs) = all_busy();
    assert_eq!((enter(&mut market, 40, cby(10_000)), gone(&market)), ("registry_full", vec![]), "nobody has less");
    assert_eq!((enter(&mut market, 40, cby(10_000) + 1), gone(&market)), ("", vec![25]), "the one that came last");
    let left = runner(&market, 25);
    assert_eq!((left.is_leaving, left.stake.0, left.unbonding[0].amount.0, left.active_jobs), (true, 0, cby(10_000), Count(1)));
    market.runners.push(40);
    let next = market.submit(&cheap_job());
    assert_eq!(market.draw(&next), [40]);
    jobs.push(next);
    for id in &jobs {
        let number = market.committee(id)[0];
        let before = market.chain.balance(address(number));
        let done = market.result(id, number, b"an answer");
        assert_eq!(slug(&done), "");
        assert_eq!(market.chain.balance(address(number)) + done.fee.burned.0 + done.fee.tip.0, before + 890, "{number} is paid");
    }
    let none = serde_json::json!({});
    assert_eq!(slug(&market.chain.send(25, ask(REGISTRY, "withdraw", &none, 0))), "unbonding");
    market.chain.height = left.unbonding[0].release;
    let before = market.chain.balance(address(25));
    let receipt = market.chain.send(25, ask(REGISTRY, "withdraw", &none, 0));
    assert_eq!(slug(&receipt), "");
    assert_eq!(market.chain.balance(address(25)) + receipt.fee.burned.0 + receipt.fee.tip.0, before + cby(10_000));
    assert_eq!(market.chain.record::<Runner>(&state::runner_key(address(25))), None);
}

/// Decision 606: whoever wants others out of the registry binds more stake than theirs for each of them, for as long as theirs is bound. One that leaves at
/// once makes room for the next newcomer before anybody else does.
#[test]
fn each_place_costs_a_stake() {
    let (mut market, _) = all_busy();
    for (number, out) in [(40, vec![25]), (41, vec![24, 25])] {
        assert_eq!((enter(&mut market, number, cby(10_000) + 1), gone(&market)), ("", out), "one for each newcomer");
    }
    let none = serde_json::json!({});
    assert_eq!(slug(&market.chain.send(40, ask(REGISTRY, "leave", &none, 0))), "");
    assert_eq!(slug(&market.chain.send(40, ask(REGISTRY, "withdraw", &none, 0))), "unbonding");
    assert!(runner(&market, 40).unbonding[0].release > runner(&market, 25).unbonding[0].release);
    assert_eq!((enter(&mut market, 42, cby(10_000) + 2), gone(&market)), ("", vec![24, 25]), "no other goes");
    let names = market.chain.names(state::directory());
    let has = |number: u8| names.iter().any(|name| name[..] == address(number).0);
    assert_eq!((names.len(), has(40), has(41), has(42)), (16, false, true, true));
}

/// Decision 606: where governance lowered the limit, a newcomer takes the place of one runner all the same. The number falls as runners leave by themselves.
#[test]
fn a_lowered_limit_puts_nobody_out() {
    let rows = [("jobs.runners", 18), ("consensus.unbonding", 3_600)];
    let mut market = Market::with(18, |genesis| genesis.parameters = parameters(&rows));
    let none = serde_json::json!({});
    for number in (10..28).filter(|number| *number != 17) {
        assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "stake", &none, cby(5)))), "");
    }
    market.chain.move_parameter("jobs.runners", 16);
    let places = |market: &Market| market.chain.names(state::directory()).len();
    assert_eq!((enter(&mut market, 40, cby(10_001)), places(&market), gone(&market)), ("", 18, vec![17]), "one has less, and goes");
    assert_eq!((enter(&mut market, 41, cby(10_001)), places(&market)), ("registry_full", 18), "nobody else has less");
    assert_eq!(slug(&market.chain.send(12, ask(REGISTRY, "leave", &none, 0))), "");
    market.chain.height = runner(&market, 12).unbonding[0].release;
    assert_eq!(slug(&market.chain.send(12, ask(REGISTRY, "withdraw", &none, 0))), "");
    assert_eq!((enter(&mut market, 41, cby(10_001)), places(&market)), ("registry_full", 17), "its place is nobody's");
}

/// stake leaves after 7 days, can be slashed until then, and the last of it removes the runner.
#[test]
fn leaving_takes_its_time() {
    let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&[("consensus.unbonding", 3_600)]));
    let none = serde_json::json!({});
    market.chain.send(10, ask(REGISTRY, "stake", &none, cby(500)));
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "unstake", &serde_json::json!({ "amount": cby(501) }), 0))), "stake_too_low");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "unstake", &serde_json::json!({ "amount": cby(500) }), 0))), "");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "withdraw", &none, 0))), "unbonding");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "leave", &none, 0))), "");
    assert_eq!(market.refused(&simple_job()), "no_candidates", "who leaves is not drawn");
    let left = runner(&market, 10);
    assert_eq!((left.stake.0, left.unbonding.len()), (0, 2));
    let release = left.unbonding[1].release;
    // A dev chain of tests jumps: the clock and the heights between do not matter here.
    market.chain.height = Height(release.0 - 1);
    let before = market.chain.balance(address(10));
    let receipt = market.chain.send(10, ask(REGISTRY, "withdraw", &none, 0));
    assert_eq!(receipt.abort, None);
    assert_eq!(market.chain.balance(address(10)), before + cby(10_500) - receipt.fee.burned.0 - receipt.fee.tip.0);
    assert!(runners_of(&market.chain).is_empty(), "gone");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "heartbeat", &none, 0))), "runner_not_found");
}

/// Who leaves stays only with the stake that registering takes: a record with nothing behind it would hold its number in the registry for ever, and
/// every job pays for looking at it.
#[test]
fn nobody_stays_without_stake() {
    let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&[("consensus.unbonding", 3_600)]));
    let none = serde_json::json!({});
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "leave", &none, 0))), "");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "stake", &none, 0))), "stake_too_low");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "stake", &none, cby(9_999)))), "stake_too_low");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "stake", &none, cby(10_000)))), "");
    assert!(!runner(&market, 10).is_leaving);
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "leave", &none, 0))), "");
    market.chain.height = Height(market.chain.height.0 + 4_000);
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "withdraw", &none, 0))), "");
    assert!(runners_of(&market.chain).is_empty(), "gone");
}

/// 300 blocks without a heartbeat make a runner unhealthy; the next heartbeat heals it.
#[test]
fn heartbeats() {
    let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&[("jobs.heartbeat_timeout", 10)]));
    market.chain.idle(10);
    assert_eq!(market.refused(&simple_job()), "no_candidates");
    let beat = market.chain.send(10, ask(REGISTRY, "heartbeat", &serde_json::json!({}), 0));
    assert_eq!(beat.abort, None);
    market.submit(&simple_job());
}

/// every filter by itself leaves a runner out.
#[test]
fn filters() {
    let change = |path: &[&str], value: serde_json::Value| {
        let mut job = simple_job();
        let mut at = &mut job;
        for name in path {
            at = &mut at[*name];
        }
        *at = value;
        job
    };
    let image = serde_json::json!({ "type": "Container", "image": format!("alpine@sha256:{}", "a".repeat(64)) });
    let mut container = change(&["job_type"], image);
    (container["bounds"], container["timeout_blocks"]) = (serde_json::json!({}), 400.into());
    container["verification"]["tee_required"] = true.into();
    let rows = [
        ("as it is", simple_job(), ""),
        ("a kind that nobody does", container, "no_candidates"),
        ("too cheap", change(&["max_price"], 999.into()), "no_candidates"),
        ("cheap enough", change(&["max_price"], 1_000.into()), ""),
        ("more than the largest job", change(&["max_price"], (cby(5_000) + 1).into()), "no_candidates"),
        ("a pool that nobody is in", change(&["required_runner_pool"], "0x01".into()), "no_candidates"),
        ("requirements that are no manifest", change(&["requires"], "0xa0".into()), "job_invalid"),
    ];
    for (case, job, expected) in rows {
        let mut market = Market::new(1);
        let receipt = market.chain.send(1, ask(DISPATCHER, "submit_job", &job, 0));
        assert_eq!(slug(&receipt), expected, "{case}");
    }
    // Concurrency: one job at once.
    let mut market = Market::new(1);
    let mut one = declaration(10);
    one["max_concurrent"] = 1.into();
    market.chain.send(10, ask(REGISTRY, "update", &one, 0));
    market.submit(&simple_job());
    market.chain.send(11, ask(REGISTRY, "register", &declaration(11), cby(10_000)));
    let second = market.submit(&simple_job());
    assert_eq!(market.job(&second).candidates, Count(1), "the first runner has a job already");
    // Environment.
    let mut market = Market::new(0);
    let mut without = declaration(11);
    without["tee"] = serde_json::json!([]);
    market.chain.send(11, ask(REGISTRY, "register", &without, cby(10_000)));
    market.runners.push(11);
    let mut job = simple_job();
    job["verification"]["tee_required"] = true.into();
    assert_eq!(market.refused(&job), "no_candidates");
    // Reputation below 50 puts on probation, whose end a heartbeat makes count: repeated failures, not one.
    let mut job = simple_job();
    job["timeout_blocks"] = 6.into();
    for failure in 1..=10 {
        let id = market.submit(&job);
        assert_eq!(market.draw(&id), [11]);
        market.chain.idle(6);
        let points = reputation::points(&cowboy_params::Params::GENESIS.jobs, &runner(&market, 11), market.chain.height);
        assert!((94 - 5 * (failure - 1)..=100 - 5 * failure).contains(&points), "five points at once: {points} after {failure}");
    }
    let low = runner(&market, 11);
    assert_eq!(low.probation_until.0, market.chain.height.0 + 3_600);
    assert_eq!(market.refused(&simple_job()), "no_candidates");
    market.chain.height = low.probation_until;
    assert_eq!(slug(&market.chain.send(11, ask(REGISTRY, "heartbeat", &serde_json::json!({}), 0))), "");
    market.submit(&simple_job());
}

/// What a runner says of itself is kept, and costs a cell for each byte besides those of the transaction.
#[test]
fn what_is_kept_of_a_runner_costs_cells() {
    let mut market = Market::new(1);
    let mut cells = |length: usize| {
        let mut declaration = declaration(10);
        declaration["endpoint"] = "e".repeat(length).into();
        let receipt = market.chain.send(10, ask(REGISTRY, "update", &declaration, 0));
        assert_eq!(slug(&receipt), "");
        receipt.cells_used.0
    };
    assert_eq!(cells(120) - cells(30), 90 + 90);
}

/// half of the way to the last score in 1,209,600 blocks.
#[test]
fn reputation_moves_to_the_last_score() {
    let rows = &cowboy_params::Params::GENESIS.jobs;
    let mut record = runner(&Market::new(1), 10);
    reputation::set(&mut record, Height(0), 50);
    reputation::score(rows, &mut record, Height(0), reputation::SUCCESS);
    let table = [(0, 50), (604_800, 64), (1_209_600, 75), (2_419_200, 87), (120_960_000, 100)];
    for (height, expected) in table {
        assert_eq!(reputation::points(rows, &record, Height(height)), expected, "at {height}");
    }
    handlers::fail(rows, &mut record, Height(1_209_600), 5);
    let table = [(1_209_600, 70), (2_419_200, 35), (4_838_400, 8)];
    for (height, expected) in table {
        assert_eq!(reputation::points(rows, &record, Height(height)), expected, "after a failure, at {height}");
    }
    assert_eq!(record.jobs_failed, Count(1));
}

/// a model's id is keccak256(weights ‖ arch ‖ tokenizer ‖ license); the deposit comes back; governance flags and bans.
#[test]
fn models() {
    let mut market = Market::new(1);
    let part = |number: u8| hex(&[number; 32]);
    let model = serde_json::json!({ "weights": part(1), "arch": part(2), "tokenizer": part(3), "license": part(4), "name": "small" });
    let id = keccak256(&[&[1; 32], &[2; 32], &[3; 32], &[4; 32]]);
    assert_eq!(slug(&market.chain.send(2, ask(REGISTRY, "publish_model", &model, cby(999)))), "stake_too_low");
    let published = market.chain.send(2, ask(REGISTRY, "publish_model", &model, cby(1_000)));
    let answer = cowboy_types::cbor::decode(&published.return_data).expect("canonical");
    assert_eq!(answer.get("model_id").and_then(Value::as_bytes), Some(&id.0[..]));
    assert_eq!(slug(&market.chain.send(3, ask(REGISTRY, "publish_model", &model, cby(1_000)))), "model_exists");
    let named = serde_json::json!({ "model_id": hex(&id.0) });
    assert_eq!(slug(&market.chain.send(3, ask(REGISTRY, "retire_model", &named, 0))), "not_owner");
    let mut job = simple_job();
    job["job_type"] = serde_json::json!({ "type": "Llm", "model_id": hex(&id.0) });
    job["bounds"]["max_output_tokens"] = 10.into();
    market.submit(&job);
    let ban = serde_json::json!({ "model_id": hex(&id.0), "status": 2 });
    assert_eq!(slug(&market.chain.send(2, ask(REGISTRY, "set_model_status", &ban, 0))), "system_unauthorized");
    assert!(market.chain.decide(runners::NUMBER, "set_model_status", &map(&ban)));
    assert_eq!(market.refused(&job), "model_not_found", "a banned model is no job's");
    assert_eq!(slug(&market.chain.send(2, ask(REGISTRY, "retire_model", &named, 0))), "model_not_found");
    let flag = serde_json::json!({ "model_id": hex(&id.0), "status": 1 });
    assert!(market.chain.decide(runners::NUMBER, "set_model_status", &map(&flag)));
    let before = market.chain.balance(address(2));
    let retired = market.chain.send(2, ask(REGISTRY, "retire_model", &named, 0));
    assert_eq!(market.chain.balance(address(2)), before + cby(1_000) - retired.fee.burned.0 - retired.fee.tip.0);
}

/// Decision 398: a registration names at most 16 kinds and 16 environments, which are read before the stake is taken.
#[test]
fn what_a_runner_names_is_bounded() {
    for (field, name) in [("kinds", "http"), ("tee", "dev")] {
        for (count, expected) in [(17, "invalid_argument"), (16, "")] {
            let mut market = Market::new(0);
            let mut declaration = declaration(10);
            declaration[field] = vec![name; count].into();
            let receipt = market.chain.send(10, ask(REGISTRY, "register", &declaration, cby(10_000)));
            assert_eq!(slug(&receipt), expected, "{count} {field}");
        }
    }
    let mut market = Market::new(0);
    let before = market.chain.balance(address(10));
    let mut declaration = declaration(10);
    declaration["kinds"] = vec!["http"; 17].into();
    let receipt = market.chain.send(10, ask(REGISTRY, "register", &declaration, cby(10_000)));
    let fee = receipt.fee.burned.0 + receipt.fee.tip.0;
    assert_eq!(before - market.chain.balance(address(10)), fee, "the stake stays where it was");
}
