//! What the market costs, and that nobody gets work for nothing.

use super::*;
use commonware_codec::Encode as _;
use cowboy_testkit::chain::{address, parameters, sign, unsigned};
use cowboy_types::job::{Candidates, JobSpec};
use cowboy_types::units::{Cycles, Height};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_selection_costs_what_it_looks_at,
    work_off_the_chain_is_not_metered,
    the_longer_window_holds_the_payout,
    every_field_of_a_job,
    what_jobs_may_not_ask_for,
];

/// The n-th of many accounts.
fn crowd(number: u16) -> Address {
    let mut bytes = [0x55; 20];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    Address(bytes)
}

/// A market of one runner of the tests and a number of others.
fn crowded(count: u16) -> Market {
    let mut market = Market::with(1, |genesis| {
        let more = (0..count).map(|number| cowboy_chain::genesis::Funded { address: crowd(number), amount: Amount(cby(10_300)) });
        let accounts = genesis.accounts.iter().cloned().chain(more).collect();
        genesis.accounts = cowboy_types::List::new(accounts).expect("fits");
        genesis.parameters = parameters(&[("jobs.heartbeat_timeout", 86_400)]);
    });
    let registration = ask(REGISTRY, "register", &declaration(10), cby(10_000));
    let candidates: Vec<cowboy_chain::SignedTransaction> = (0..count)
        .map(|number| {
            let transaction = cowboy_types::Transaction { from: crowd(number), ..unsigned(1, 0, registration.clone()) };
            cowboy_chain::SignedTransaction::unchecked(transaction)
        })
        .collect();
    for batch in candidates.chunks(250) {
        let outcome = market.chain.block(batch.to_vec());
        assert!(outcome.receipts.len() == batch.len() && outcome.receipts.iter().all(Receipt::is_success), "the crowd registers");
    }
    market
}

/// Every runner that is looked at costs its cycles, before it is looked at: a delivery that cannot pay reads none (002 §7.4).
#[test]
fn a_selection_costs_what_it_looks_at() {
    let rows = cowboy_params::Params::GENESIS.jobs;
    let (mut few, mut many) = (crowded(9), crowded(999));
    let cost = |market: &mut Market, job: &serde_json::Value| market.chain.send(1, ask(DISPATCHER, "submit_job", job, 0)).cycles_used.0;
    let job = committee_job("majority_vote", 3);
    let (ten, thousand) = (cost(&mut few, &job), cost(&mut many, &job));
    assert_eq!(thousand - ten, 990 * rows.candidate, "each costs its cycles");
    assert!(thousand < 250_000, "{thousand} cycles for a thousand runners");
    let mut pooled = job.clone();
    pooled["required_runner_pool"] = "0x01".into();
    let (ten, thousand) = (cost(&mut few, &pooled), cost(&mut many, &pooled));
    assert_eq!(
        thousand - ten,
        990 * (rows.candidate + cowboy_params::Params::GENESIS.entitlements.check_cycles),
        "a refused job pays for what was looked at, too"
    );
    let nonce = many.chain.nonce(1);
    let instruction = ask(DISPATCHER, "submit_job", &job, 0);
    let cheap = sign(1, cowboy_types::Transaction { cycles_limit: Cycles(60_000), ..unsigned(1, nonce, instruction) });
    let receipt = many.chain.one(cheap);
    assert_eq!((slug(&receipt), receipt.cycles_used.0), ("out_of_cycles", 60_000));
}

/// Attack: where there are many runners, each submission has the chain keep their list for a day, which is longer than what the submission pays for. A cell is paid
/// for each of its bytes.
#[test]
fn candidates_that_are_kept_cost_cells() {
    let [few, many] = [9, 99].map(|count| {
        let mut market = crowded(count);
        let receipt = market.chain.send(1, ask(DISPATCHER, "submit_job", &committee_job("majority_vote", 3), 0));
        let kept: Candidates = market.chain.record(&dispatcher::state::candidates_key(&id_of(&receipt))).expect("a job has its candidates");
        assert_eq!(kept.candidates.len(), usize::from(count) + 1);
        (receipt.cells_used.0, u64::try_from(kept.encode().len()).expect("short"))
    });
    assert_eq!(many.0 - few.0, many.1 - few.1);
    assert!(many.1 - few.1 >= 90 * 20, "an address each, and more");
}

/// work off the chain is on no meter: bounds, usage and time change no receipt's cycles.
#[test]
fn work_off_the_chain_is_not_metered() {
    let mut costs = Vec::new();
    for (seconds, compute_ms) in [(1, 1), (14_000, 14_000_000)] {
        let mut market = Market::new(1);
        let mut job = simple_job();
        job["bounds"]["max_wall_time_seconds"] = seconds.into();
        job["timeout_blocks"] = (seconds + 5).into();
        job["max_price"] = cby(1_000).into();
        let submitted = market.chain.send(1, ask(DISPATCHER, "submit_job", &job, 0));
        let said = market.said(10, b"x").using(1, compute_ms);
        let done = market.submit_alone(&id_of(&submitted), &said);
        assert_eq!((slug(&submitted), slug(&done)), ("", ""));
        costs.push((submitted.cycles_used, done.cycles_used));
    }
    assert_eq!(costs[0], costs[1]);
}

/// a job's own window holds the payout where it is longer than the challenge's; 75 blocks where it names none.
#[test]
fn the_longer_window_holds_the_payout() {
    assert_eq!(cowboy_params::Params::GENESIS.jobs.dispute_window, 75);
    for (challenge, asked, expected) in [(10, 0, 75), (10, 200, 200), (100, 0, 100), (100, 20, 100)] {
        let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&[("jobs.challenge_window", challenge)]));
        let mut job = committee_job("economic_bond", 1);
        job["verification"]["dispute_window_blocks"] = asked.into();
        let id = market.submit(&job);
        market.result(&id, 10, b"x");
        let now = market.job(&id);
        let verified_at = now.outcome.expect("accepted").verified_at;
        assert_eq!(now.status_until, Height(verified_at.0 + expected), "{challenge} and {asked}");
    }
}

/// every field of a submission, `required_runner_pool` included, stands in the record as it was asked for.
#[test]
fn every_field_of_a_job() {
    let mut market = Market::new(1);
    let manifest = Value::dict([("entitlements", Value::Array(vec![Value::dict([("id", Value::text("http.fetch"))])]))]).encode();
    let job = serde_json::json!({
        "job_type": { "type": "Llm", "model_id": hex(&[3; 32]), "prompt": "hello", "x-later": [1] },
        "bounds": { "max_input_tokens": 11, "max_output_tokens": 12, "max_wall_time_ms": 13, "max_memory_mb": 14 },
        "result_schema": { "max_return_bytes": 15, "expected_execution_ms": 16, "data_format": "json" },
        "verification": {
            "mode": "structured_match", "runners": 3, "threshold": 2, "vote_field": "a.b", "checks": [{ "type": "field", "field": "c" }],
            "snapshot": "median", "snapshot_field": "d", "similarity_bps": 17, "tee_required": true, "dispute_window_blocks": 18,
        },
        "max_price": 1_000_019, "tip": 20, "timeout_blocks": 21,
        "callback": {
            "actor": hex(&address(1).0), "handler": "answer", "correlation_id": "22", "context": "0x23", "cycles": 200_024, "cells": 25,
            "max_fee_per_cycle": 26, "max_fee_per_cell": 27,
        },
        "required_runner_pool": "0x28", "requires": hex(&manifest), "toolchain_digest": hex(&[29; 32]), "seed": 30,
    });
    let request = map(&job).encode();
    let params = cowboy_params::Params::GENESIS;
    let price = cowboy_types::Price(1);
    let reading = dispatcher::lower::Offer::reading(&params, address(1));
    let offer = dispatcher::lower::Offer { max_fee_per_cycle: price, max_fee_per_cell: price, ..reading };
    let spec: JobSpec = dispatcher::lower::lower(&offer, &map(&job)).expect("a job");
    let verification = &spec.verification;
    let callback = spec.callback.as_ref().expect("an answer");
    let numbers = [
        spec.bounds.input_tokens.0,
        spec.bounds.output_tokens.0,
        spec.bounds.wall_ms.0,
        spec.bounds.memory_mb.0,
        spec.schema.max_return_bytes.0,
        spec.schema.expected_execution_ms.0,
        verification.similarity.0,
        verification.dispute_window.0,
        spec.max_price.0,
        spec.tip.0,
        spec.timeout_blocks.0,
        callback.cycles.0,
        callback.cells.0,
        callback.max_fee_per_cycle.0,
        callback.max_fee_per_cell.0,
        spec.seed.0,
        verification.runners.0,
        verification.threshold.0,
    ];
    assert_eq!(numbers, [11, 12, 13, 14, 15, 16, 17, 18, 1_000_019, 20, 21, 200_024, 25, 26, 27, 30, 3, 2]);
    let texts =
        [&spec.schema.data_format[..], &verification.vote_field, &verification.snapshot_field, &callback.handler, &callback.correlation];
    assert_eq!(texts, ["json", "a.b", "d", "answer", "22"]);
    assert_eq!((spec.kind.name(), verification.mode.slug(), verification.is_tee_required), ("Llm", "structured_match", true));
    assert_eq!((spec.model, spec.toolchain_digest, callback.actor), (Hash([3; 32]), Hash([29; 32]), address(1)));
    assert_eq!(
        (&callback.context[..], spec.required_runner_pool.as_deref(), &spec.requires[..]),
        (&[0x23][..], Some(&[0x28][..]), &manifest[..])
    );
    assert_eq!((verification.checks.len(), verification.snapshot.name()), (1, "Median"));
    assert_eq!(&spec.request[..], request, "with what is the runner's own");
    let mut open = job.clone();
    for name in ["required_runner_pool", "requires"] {
        open.as_object_mut().expect("a map").remove(name);
    }
    (open["callback"]["max_fee_per_cycle"], open["callback"]["max_fee_per_cell"]) = (10_000.into(), 10_000.into());
    open["verification"]["mode"] = "economic_bond".into();
    open["verification"]["runners"] = 1.into();
    open["verification"]["threshold"] = 0.into();
    let id = market.submit(&open);
    let stored: JobSpec = market.chain.record(&dispatcher::state::spec_key(&id)).expect("its record");
    assert_eq!((&stored.request[..], stored.seed.0), (&map(&open).encode()[..], 30), "the record is the submission");
}

/// what a chain without secrets and volumes cannot do is refused by name; containers run what governance allowed, without a network.
#[test]
fn what_jobs_may_not_ask_for() {
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut job = simple_job();
        change(&mut job);
        job
    };
    let container = |job: &mut serde_json::Value, fields: serde_json::Value| {
        job["job_type"] = fields;
        job["job_type"]["type"] = "Container".into();
        job["max_price"] = 1_000_000.into();
        job["bounds"] = serde_json::json!({});
        job["timeout_blocks"] = 400.into();
    };
    let image = |name: String| with(&|job| container(job, serde_json::json!({ "image": name })));
    let named = |digit: char| format!("alpine@sha256:{}", digit.to_string().repeat(64));
    let rows = [
        ("a tool", with(&|job| job["job_type"] = serde_json::json!({ "type": "Mcp", "server": "files", "tool": "read" })), ""),
        ("names without hashes", with(&|job| job["secrets"] = serde_json::json!(["api_key"])), "job_invalid"),
        ("no secrets", with(&|job| job["secrets"] = serde_json::json!([])), ""),
        (
            "volumes of the job's kind",
            with(&|job| job["job_type"]["volume_mounts"] = serde_json::json!([{ "volume": "v" }])),
            "job_unsupported",
        ),
        (
            "rules that cannot be read",
            with(&|job| job["job_type"]["extract"] = serde_json::json!([{ "name": "a", "type": "sql" }])),
            "job_invalid",
        ),
        ("an image by a tag", image("alpine:latest".to_string()), "container_invalid"),
        ("an image that nobody allowed", image(named('a')), "image_not_allowed"),
        ("an image in capitals", image(named('B')), "container_invalid"),
        ("an allowed image", image(named('b')), ""),
        (
            "an allowed image with a network",
            with(&|job| container(job, serde_json::json!({ "image": named('b'), "network": "host" }))),
            "container_invalid",
        ),
        (
            "any image in a trusted environment",
            with(&|job| {
                container(job, serde_json::json!({ "image": named('a') }));
                job["verification"]["tee_required"] = true.into();
            }),
            "",
        ),
    ];
    let mut market = Market::new(1);
    let mut all = declaration(10);
    all["kinds"] = serde_json::json!(["http", "mcp", "container"]);
    all["containers"] = serde_json::json!({ "cpu_millicores": 1_000, "memory_mib": 512, "scratch_mib": 1_024, "platforms": ["linux/amd64"], "volumes": true });
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "update", &all, 0))), "");
    let allow = serde_json::json!({ "digest": hex(&[0xBB; 32]), "allowed": true, "name": "alpine" });
    let registry = Address::system(cowboy_system::containers::NUMBER);
    assert_eq!(slug(&market.chain.send(2, ask(registry, "set_image", &allow, 0))), "system_unauthorized");
    assert!(market.chain.decide(cowboy_system::containers::NUMBER, "set_image", &map(&allow)));
    for (case, job, expected) in rows {
        let receipt = market.chain.send(1, ask(DISPATCHER, "submit_job", &job, 0));
        assert_eq!(slug(&receipt), expected, "{case}");
    }
}
