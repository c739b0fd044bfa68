//! What a submitter is told of a job that is refused: the field and what it has to be, or whom the filters removed. Jobs on pages are not refused.

use super::*;
use cowboy_system::dispatcher::lower::{Mistake, Offer, lower};
use cowboy_system::dispatcher::request::Request;
use cowboy_system::secrets::jobs::{checked, require_used};
use cowboy_testkit::chain::address;
use cowboy_types::job::JobSpec;
use serde_json::json;

fn read(job: &serde_json::Value) -> Result<JobSpec, Mistake> {
    let params = cowboy_params::Params::GENESIS;
    lower(&Offer::reading(&params, address(1)), &map(job))
}

/// What the trace of a refused submission says.
fn explanation_of(market: &mut Market, job: &serde_json::Value) -> String {
    let call = ask(DISPATCHER, "submit_job", job, 0);
    let outcome = market.chain.block(vec![signed(1, market.chain.nonce(1), call)]);
    outcome.traces[0].calls[0].exception.clone().expect("the trace says why").message
}

/// Every rule names its field: one row for each way in which a field is wrong.
#[test]
fn fields_are_named() {
    let checks = |check: serde_json::Value| json!({ "mode": "none", "checks": [check] });
    let rows = [
        ("verification", json!({ "mode": "majority" }), "verification.mode: it has to be none, economic_bond, majority_vote,"),
        ("verification", json!({ "mode": "majority_vote", "runners": 2 }), "runners is 2; the mode majority_vote takes 3 to 9"),
        ("verification", json!({ "mode": "none", "runners": 3 }), "runners is 3; the mode none takes 1,"),
        (
            "verification",
            checks(json!({ "type": "numeric_tolerance", "field": "a" })),
            "numeric_tolerance.tolerance is missing: it has to be",
        ),
        ("verification", checks(json!({ "type": "custom" })), "checks: no check of a job has the type \"custom\"."),
        ("verification", checks(json!({ "type": "length_bounds", "min": 9, "max": 1 })), "checks[0]: no result of at most 1024 bytes"),
        ("bounds", json!(null), "bounds.max_wall_time_seconds is missing: it has to be a whole number, 0 or more."),
        ("result_schema", json!(null), "result_schema is missing: it has to be {max_return_bytes,"),
        ("max_price", json!("1 CBY"), "max_price: it has to be a whole number, 0 or more."),
        ("max_price", json!(0), "max_price is 0; it has to be more."),
        ("timeout_blocks", json!(14_401), "timeout_blocks is 14401; it has to be from 1 to 14400."),
        ("timeout_blocks", json!(5), "timeout_blocks is 5; the wall time that the bounds allow needs at least 6."),
        ("callback", json!({ "actor": "0x01" }), "callback.actor: it has to be 20 bytes."),
        ("draw", json!("mine"), "draw: it has to be immediate or delayed."),
        (
            "callback",
            json!({ "actor": hex(&address(1).0), "cells": 4_000_001 }),
            "callback.cells is 4000001; it has to be from 0 to 4000000.",
        ),
        ("job_type", json!("Http"), "url: it has to be an address that begins with http:// or https:// and a host, without"),
        ("job_type", json!({ "type": "Http", "url": 1 }), "url: it has to be an address"),
        ("job_type", json!({ "type": "Http", "url": "ftp://example.com/" }), "url: it has to be an address"),
        ("job_type", json!({ "type": "Http", "url": "https:///a" }), "url: it has to be an address"),
        ("job_type", json!({ "type": "Http", "url": "https://user:word@example.com/" }), "url: it has to be an address"),
        ("extract", json!([{ "name": "a", "type": "css", "rule": "b" }]), "extract: it has to be left out unless data_format is json"),
        ("nonsense", json!(1), "the field \"nonsense\" is unknown in the job; leave it out, or name it x-nonsense for the runner alone"),
        ("bounds", json!({ "max_time": 1 }), "the field \"max_time\" is unknown in bounds; leave it out, or name it x-max_time"),
        ("private_attachments", json!([1]), "private_attachments: leave it out of this kind of job."),
    ];
    for (field, value, expected) in rows {
        let mut job = simple_job();
        job[field] = value;
        let mistake = read(&job).expect_err("it is refused");
        assert!(mistake.explanation.starts_with(expected), "{}", mistake.explanation);
    }
    let message = json!({
        "kind": "runner_job", "job_type": "llm", "cid": "00ff", "reply_handler": "on_reply",
        "payload": { "args": ["hello"], "kwargs": { "verify": { "mode": "zk" } } },
    });
    let mistake = read(&message).expect_err("it is refused");
    assert!(mistake.explanation.starts_with("verify.mode: it has to be none"), "{}", mistake.explanation);
    let mut long = simple_job();
    long["a".repeat(10_000)] = json!(1);
    assert!(read(&long).expect_err("it is refused").explanation.len() <= 400, "a name of the submitter's is not repeated in full");
}

/// The trace has the explanation, also of what the reading alone does not show.
#[test]
fn traces_say_why() {
    let with = |field: &str, value: serde_json::Value| {
        let mut job = simple_job();
        job[field] = value;
        job
    };
    let cheap = "Of 1 registered runners the filters removed 1 for the price; 0 are left, and the job needs 1. From a max_price of 1000 on one more takes it.";
    let pool = "the filters removed 1 for the runner pool; 0 are left, and the job needs 1.";
    let rows = [
        (with("bounds", json!({})), "bounds.max_wall_time_seconds is missing: it has to be a whole number, 0 or more."),
        (with("callback", json!({ "actor": hex(&address(2).0) })), "it has to be the submitter, or an actor that it owns."),
        (with("requires", json!("0xa0")), "requires: it has to be a manifest in canonical CBOR."),
        (with("max_price", json!(999)), cheap),
        (with("required_runner_pool", json!("0x01")), pool),
    ];
    for (job, expected) in rows {
        let said = explanation_of(&mut Market::new(1), &job);
        assert!(said.ends_with(expected), "{said}");
    }
}

/// The jobs on a page. A client puts the hashes of names in the place of the names of secrets.
fn jobs_on(page: &str) -> Vec<serde_json::Value> {
    let digest = format!("sha256:{}", "a".repeat(64));
    let blocks = page.split("```json\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    let jobs = blocks.map(|(text, _)| serde_json::from_str(&text.replace("sha256:DIGEST", &digest)).expect("JSON"));
    let mut jobs: Vec<serde_json::Value> = jobs.collect();
    jobs.retain(|job| job.get("job_type").is_some());
    for secret in jobs.iter_mut().filter_map(|job| job.get_mut("secrets")?.as_array_mut()).flatten() {
        *secret = json!({ "name_hash": hex(&[8; 32]), "as": secret.as_str().expect("a name") });
    }
    jobs
}

#[test]
fn jobs_on_pages_are_complete() {
    let jobs = jobs_on(include_str!("../../../../../docs/jobs.md"));
    let kinds: Vec<&str> = jobs.iter().map(|job| read(job).unwrap_or_else(|mistake| panic!("{mistake}: {job}")).kind.name()).collect();
    assert_eq!(kinds, ["Http", "Llm", "Mcp", "Container"]);
    let jobs = jobs_on(include_str!("../../../../../docs/secrets.md"));
    assert_eq!(jobs.len(), 1);
    for job in &jobs {
        read(job).unwrap_or_else(|mistake| panic!("{mistake}: {job}"));
        let request = Request::of(map(job)).expect("it was read");
        let asked = checked(&request).unwrap_or_else(|mistake| panic!("{mistake}: {job}"));
        assert_eq!((asked.len(), require_used(&request, &asked)), (1, Ok(())));
    }
}
