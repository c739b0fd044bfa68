//! What a job must say, and in which forms it may be said.

use super::*;
use cowboy_testkit::chain::{address, deployment_of, manifest_json};
use cowboy_types::job::{JobKind, Mode};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    jobs_that_are_none,
    value_beside_a_job_comes_back,
    ids,
    the_published_message,
    a_job_has_one_reading,
    hostile_submissions,
    nobody_skips,
];

/// A-203 to A-206, A-214, A-218, A-219: every rule of a submission, one row each.
#[test]
fn jobs_that_are_none() {
    let change = |path: &[&str], value: serde_json::Value| {
        let mut job = committee_job("majority_vote", 3);
        let mut at = &mut job;
        for name in path {
            at = &mut at[*name];
        }
        *at = value;
        job
    };
    let null = serde_json::Value::Null;
    let rows = [
        ("as it is", change(&["tip"], 0.into()), ""),
        ("no kind", change(&["job_type"], null.clone()), "job_invalid"),
        ("an unknown kind", change(&["job_type"], "Mining".into()), "job_invalid"),
        ("a kind by its name alone", change(&["job_type"], "mcp".into()), ""),
        ("a model without room for an answer", change(&["job_type"], "llm".into()), "job_invalid"),
        ("no time", change(&["bounds", "max_wall_time_seconds"], 0.into()), "job_invalid"),
        ("no bounds", change(&["bounds"], null.clone()), "job_invalid"),
        ("no price", change(&["max_price"], 0.into()), "job_invalid"),
        ("a price and a tip beyond all CBY", change(&["tip"], u64::MAX.into()), "job_invalid"),
        ("a negative price", change(&["max_price"], (-1).into()), "job_invalid"),
        ("no timeout", change(&["timeout_blocks"], 0.into()), "job_invalid"),
        ("too long a timeout", change(&["timeout_blocks"], 14_401.into()), "job_invalid"),
        ("as short as it may be", change(&["timeout_blocks"], 6.into()), ""),
        ("a runner that uses its time could not answer", change(&["timeout_blocks"], 5.into()), "job_timeout"),
        (
            "bounds that exclude each other",
            change(&["verification", "checks"], serde_json::json!([{ "type": "length_bounds", "min": 10, "max": 5 }])),
            "job_contradiction",
        ),
        (
            "longer than it may be",
            change(&["verification", "checks"], serde_json::json!([{ "type": "length_bounds", "min": 1_025 }])),
            "job_contradiction",
        ),
        (
            "a range of nothing",
            change(&["verification", "checks"], serde_json::json!([{ "type": "numeric_range", "field": "a", "min": 2, "max": 1 }])),
            "job_contradiction",
        ),
        (
            "more than bytes can vary",
            change(&["verification", "checks"], serde_json::json!([{ "type": "entropy_check", "min_millibits": 8_001 }])),
            "job_contradiction",
        ),
        (
            "there, and not there",
            change(
                &["verification", "checks"],
                serde_json::json!([{ "type": "contains_all", "texts": ["a cat"] }, { "type": "contains_none", "texts": ["cat"] }]),
            ),
            "job_contradiction",
        ),
        (
            "a format of nothing",
            change(&["result_schema", "data_format"], r#"{"type":"string","minLength":2,"maxLength":1}"#.into()),
            "job_contradiction",
        ),
        (
            "a member that cannot be",
            change(
                &["verification", "checks"],
                serde_json::json!([{ "type": "json_schema", "schema": r#"{"type":"object","required":["a"],"properties":{"a":false}}"# }]),
            ),
            "job_contradiction",
        ),
        ("no schema", change(&["result_schema"], null.clone()), "job_invalid"),
        ("no size", change(&["result_schema", "max_return_bytes"], 0.into()), "job_invalid"),
        ("the largest size", change(&["result_schema", "max_return_bytes"], 65_536.into()), ""),
        ("64 KiB and one", change(&["result_schema", "max_return_bytes"], 65_537.into()), "job_invalid"),
        ("no expected time", change(&["result_schema", "expected_execution_ms"], 0.into()), "job_invalid"),
        ("no format", change(&["result_schema", "data_format"], null.clone()), "job_invalid"),
        ("an unknown format", change(&["result_schema", "data_format"], "xml".into()), "job_invalid"),
        ("a schema that cannot be decided", change(&["result_schema", "data_format"], r#"{"pattern":"(a+)+"}"#.into()), "job_invalid"),
        ("a schema", change(&["result_schema", "data_format"], r#"{"type":"object"}"#.into()), ""),
        ("an unknown mode", change(&["verification", "mode"], "zk".into()), "job_invalid"),
        ("two runners for a vote", change(&["verification", "runners"], 2.into()), "job_invalid"),
        ("ten runners", change(&["verification", "runners"], 10.into()), "job_invalid"),
        ("more runners than there are", change(&["verification", "runners"], 9.into()), ""),
        ("more must agree than work", change(&["verification", "threshold"], 4.into()), "job_invalid"),
        ("one is no agreement", change(&["verification", "threshold"], 1.into()), "job_invalid"),
        ("an unknown check", change(&["verification", "checks"], serde_json::json!([{ "type": "custom" }])), "job_invalid"),
        (
            "seventeen checks",
            change(&["verification", "checks"], vec![serde_json::json!({ "type": "length_bounds" }); 17].into()),
            "job_invalid",
        ),
        ("three for a runner alone", committee_job("economic_bond", 3), "job_invalid"),
        ("the same bytes without an environment", committee_job("deterministic", 3), "job_invalid"),
        ("an answer to somebody else's actor", change(&["callback"], serde_json::json!({ "actor": hex(&address(2).0) })), "job_invalid"),
        ("an answer to oneself", change(&["callback"], serde_json::json!({ "actor": hex(&address(1).0) })), ""),
        (
            "an answer with too few cycles",
            change(&["callback"], serde_json::json!({ "actor": hex(&address(1).0), "cycles": 101_999 })),
            "job_invalid",
        ),
        ("more than the submitter has", change(&["max_price"], cby(4_000).into()), ""),
    ];
    for (case, job, expected) in rows {
        let mut market = Market::new(5);
        let receipt = market.chain.send(1, ask(DISPATCHER, "submit_job", &job, 0));
        assert_eq!(slug(&receipt), expected, "{case}");
    }
    let mut market = Market::new(5);
    let mut dear = committee_job("majority_vote", 3);
    dear["tip"] = cby(2_000_000).into();
    assert_eq!(market.refused(&dear), "job_escrow");
    assert_eq!(market.refused(&serde_json::json!([1])), "job_invalid");
}

/// An answer costs at least the base fees (decision 557), and what can be repeated is decided by the submission alone (decisions 584 and 621).
#[test]
fn what_a_submitter_would_take_from_others() {
    let answer = |field: &str, price: u64| {
        let mut job = simple_job();
        job["callback"] = serde_json::json!({ "actor": hex(&address(1).0), field: price });
        job
    };
    let mut container = repeated(serde_json::json!({ "type": "Container", "image": format!("alpine@sha256:{}", "a".repeat(64)) }));
    (container["bounds"], container["timeout_blocks"], container["max_price"]) = (serde_json::json!({}), 14_000.into(), cby(50).into());
    let named = hex(&[3; 32]);
    let model = |mut work: serde_json::Value| {
        (work["type"], work["prompt"]) = ("Llm".into(), "a number?".into());
        let mut job = repeated(work);
        job["bounds"]["max_output_tokens"] = 10.into();
        job
    };
    let rows = [
        ("cycles for nothing", answer("max_fee_per_cycle", 0), "job_invalid"),
        ("cells below their base fee", answer("max_fee_per_cell", 9_999), "job_invalid"),
        ("cells at their base fee", answer("max_fee_per_cell", 10_000), ""),
        ("bytes that a server decides", repeated(serde_json::json!({ "type": "Http", "url": "https://example.com" })), "job_invalid"),
        ("bytes that a clock decides", container, "job_invalid"),
        (
            "bytes that a server beside the runner decides",
            repeated(serde_json::json!({ "type": "Mcp", "server": "local", "tool": "now", "reaches": [] })),
            "job_invalid",
        ),
        ("bytes that a tool decides", repeated(serde_json::json!({ "type": "Custom", "tool": "sum" })), ""),
        ("a model that samples", model(serde_json::json!({ "model_id": named, "temperature": 1 })), "job_invalid"),
        ("a model that may sample", model(serde_json::json!({ "model_id": named })), "job_invalid"),
        ("any model", model(serde_json::json!({ "temperature": 0 })), "job_invalid"),
        ("a named model that does not sample", model(serde_json::json!({ "model_id": named, "temperature": 0 })), ""),
    ];
    for (case, job, expected) in rows {
        let mut market = Market::new(5);
        assert_eq!(slug(&market.chain.send(1, ask(DISPATCHER, "submit_job", &job, 0))), expected, "{case}");
    }
}

/// A job whose result can be repeated, so that everybody answers for it.
fn repeated(job_type: serde_json::Value) -> serde_json::Value {
    let mut job = committee_job("deterministic", 2);
    job["job_type"] = job_type;
    job["verification"]["tee_required"] = true.into();
    job["toolchain_digest"] = hex(&[5; 32]).into();
    job
}

/// A value that came along goes back: the escrow is what the job says.
#[test]
fn value_beside_a_job_comes_back() {
    let mut market = Market::new(1);
    let before = market.chain.balance(address(1));
    let receipt = market.chain.send(1, ask(DISPATCHER, "submit_job", &simple_job(), cby(7)));
    assert_eq!(receipt.abort, None);
    assert_eq!(market.chain.balance(address(1)), before - 100_500 - receipt.fee.burned.0 - receipt.fee.tip.0);
}

/// Decision 128: the i-th job of a delivery has its own id; a client knows them all before.
#[test]
fn ids() {
    let mut market = Market::new(2);
    let actor = market.chain.deploy_with(
        "handler twice\n job $payload\n job $payload\n return $last\n",
        &[("econ.hold_balance", &[]), ("http.fetch", &[])],
        cby(1),
    );
    let nonce = market.chain.nonce(1);
    let transaction = signed(1, nonce, execution(actor, "twice", &map(&simple_job()).encode(), 0));
    let digest = *transaction.digest();
    let receipt = market.chain.one(transaction);
    let height = market.chain.height;
    let expected: Vec<Hash> = (0..2).map(|number| dispatcher::handlers::job_id(&digest, height, number)).collect();
    assert_eq!(receipt.return_data[..], expected[1].0);
    let mut found: Vec<Hash> = jobs_of(&market.chain).into_keys().collect();
    found.sort_unstable();
    let mut sorted = expected;
    sorted.sort_unstable();
    assert_eq!(found, sorted);
}

/// Decision 129: the published SDK's message is a job with the parameters' price, schema and one runner; kwargs say otherwise.
#[test]
fn the_published_message() {
    let mut market = Market::new(3);
    let script = "handler ask\n send 0x0000000000000000000000000000000000000002 $payload\nhandler on_reply\n set 'answer' $payload\n";
    let grants: &[(&str, &[(&str, u64)])] = &[("econ.hold_balance", &[]), ("oracle.llm", &[]), ("storage.kv", &[])];
    let actor = market.chain.deploy_with(script, grants, cby(1_000));
    let message = serde_json::json!({
        "kind": "runner_job", "job_type": "llm", "cid": "00ff", "reply_handler": "on_reply",
        "payload": { "args": ["hello"], "kwargs": { "max_tokens": 16, "max_input_tokens": 16, "tip": 7 } },
    });
    market.chain.call(actor, "ask", &map(&message).encode());
    market.chain.idle(1);
    let (id, job) = jobs_of(&market.chain).into_iter().next().expect("a job");
    let spec: cowboy_types::job::JobSpec = market.chain.record(&dispatcher::state::spec_key(&id)).expect("its spec");
    assert_eq!((spec.kind, spec.verification.mode, job.members.len()), (JobKind::Llm, Mode::None, 1));
    assert_eq!((spec.max_price.0, spec.tip.0, spec.schema.max_return_bytes.0), (1_000_000_000, 7, 65_536));
    assert_eq!(job.submitter, actor);
    let runner = market.number(job.members[0].runner);
    assert_eq!(market.result(&id, runner, b"hello yourself").abort, None);
    market.chain.idle(1);
    let answer = cowboy_types::cbor::decode(&market.chain.stored(actor, "answer").expect("the answer came")).expect("canonical");
    assert_eq!(answer.get("cid").and_then(Value::as_text), Some("00ff"));
    assert_eq!(answer.get("result").and_then(Value::as_text), Some("hello yourself"));
    let ungranted = market.chain.deploy_with(&format!("{script}handler other\n"), &[("econ.hold_balance", &[])], cby(1_000));
    assert_eq!(slug(&market.chain.call(ungranted, "ask", &map(&message).encode())), "missing_entitlement");
}

/// Decision 181: an actor whose manifest names one host, and ten tokens, has nothing else fetched or asked by naming a field
/// twice; the hosts of its manifest travel with the job.
#[test]
fn a_job_has_one_reading() {
    let mut market = Market::new(3);
    let manifest = manifest_json(
        r#"{"entitlements":[{"id":"econ.hold_balance"},{"id":"http.fetch","params":{"allowlist_domains":["allowed.example.com"]}},{"id":"oracle.llm","params":{"max_tokens":10}}]}"#,
    );
    let receipt = market.chain.send(1, deployment_of(b"#script\nhandler ask\n job $payload\n", Some(manifest), None, b"", cby(1_000)));
    let actor = receipt.created.expect("a deployment creates");
    let (good, bad) = ("https://allowed.example.com/a", "https://other.example.org/a");
    let job = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut job = simple_job();
        job["job_type"] = serde_json::json!({ "type": "Http", "url": good });
        change(&mut job);
        job
    };
    let message = |kind: &str, args: serde_json::Value, kwargs: serde_json::Value| {
        serde_json::json!({
            "kind": "runner_job", "job_type": kind, "cid": "00", "reply_handler": "ask", "payload": { "args": args, "kwargs": kwargs },
        })
    };
    let more = |name: &str, value: serde_json::Value, mut message: serde_json::Value| {
        message[name] = value;
        message
    };
    let rows = [
        ("as the manifest says", job(&|_| ()), ""),
        ("another host", job(&|job| job["job_type"]["url"] = bad.into()), "missing_entitlement"),
        (
            "the good one at the top",
            job(&|job| {
                job["job_type"]["url"] = bad.into();
                job["url"] = good.into();
            }),
            "job_field",
        ),
        ("the bad one in the payload", job(&|job| job["payload"] = serde_json::json!({ "url": bad })), "job_field"),
        (
            "the good one in a list",
            job(&|job| {
                job["job_type"] = serde_json::json!({ "type": "Http", "urls": [good] });
                job["payload"] = serde_json::json!({ "url": bad });
            }),
            "job_field",
        ),
        (
            "a list by name, the bad one by place",
            message("http", serde_json::json!([bad]), serde_json::json!({ "urls": [good] })),
            "job_field",
        ),
        (
            "the good one at the message's top",
            more("url", good.into(), message("http", serde_json::json!([bad]), serde_json::json!({}))),
            "job_field",
        ),
        (
            "tokens at the message's top",
            more("max_tokens", 5.into(), message("llm", serde_json::json!(["hello"]), serde_json::json!({ "max_tokens": 4_000 }))),
            "job_field",
        ),
        (
            "more tokens than granted",
            message("llm", serde_json::json!(["hello"]), serde_json::json!({ "max_tokens": 11 })),
            "entitlement_quota_exceeded",
        ),
        (
            "a tool, whose server may reach any host",
            message("mcp", serde_json::json!(["shop", "find"]), serde_json::json!({ "url": good })),
            "missing_entitlement",
        ),
        ("another model's stream", job(&|job| job["job_type"]["stream"] = true.into()), "job_field"),
        ("a bound that is none", job(&|job| job["bounds"]["max_gas"] = 1.into()), "job_field"),
        ("the runner's own", job(&|job| job["x-note"] = 1.into()), ""),
    ];
    for (case, job, expected) in rows {
        assert_eq!(slug(&market.chain.call(actor, "ask", &map(&job).encode())), expected, "{case}");
    }
    let specs: Vec<cowboy_types::job::JobSpec> =
        jobs_of(&market.chain).keys().map(|id| market.chain.record(&dispatcher::state::spec_key(id)).expect("its spec")).collect();
    let hosts =
        |spec: &cowboy_types::job::JobSpec| spec.hosts.as_ref().map(|hosts| hosts.iter().map(|host| host.to_string()).collect::<Vec<_>>());
    assert!(!specs.is_empty() && specs.iter().all(|spec| hosts(spec) == Some(vec!["allowed.example.com".to_string()])), "{specs:?}");
    let id = market.submit(&simple_job());
    let spec: cowboy_types::job::JobSpec = market.chain.record(&dispatcher::state::spec_key(&id)).expect("its spec");
    assert_eq!(spec.hosts, None, "an account has no manifest");
}

/// What nobody answers with: bytes at random are refused, and never panic.
#[test]
fn hostile_submissions() {
    use cowboy_system::dispatcher::lower::{Offer, decoded};
    let params = cowboy_params::Params::GENESIS;
    let offer = Offer::reading(&params, address(1));
    let lower =
        |offer: &Offer<'_>, bytes: &[u8]| decoded(bytes).and_then(|submission| cowboy_system::dispatcher::lower::lower(offer, &submission));
    let good = map(&committee_job("structured_match", 3)).encode();
    assert!(lower(&offer, &good).is_ok());
    for place in 0..good.len() {
        for byte in [0x00, 0x1B, 0x5B, 0x7F, 0x9B, 0xBF, 0xF6, 0xFF] {
            let mut bytes = good.clone();
            bytes[place] = byte;
            let _ = lower(&offer, &bytes);
        }
        let _ = lower(&offer, &good[..place]);
    }
    let deep = [vec![0x81; 10_000], vec![0x00]].concat();
    assert!(lower(&offer, &deep).is_err());
}

/// A-200: there is no way to skip a job; who does not work times out.
#[test]
fn nobody_skips() {
    let methods = cowboy_system::ACTORS.iter().flat_map(cowboy_system::Actor::methods).map(|method| method.name);
    assert!(methods.into_iter().all(|name| !name.contains("skip")));
}

/// A job whose timeout its bounds do not fit into is refused; who asks can be told both numbers.
#[test]
fn the_timeout_and_what_it_has_to_be() {
    use cowboy_system::dispatcher::lower::{Offer, timeouts};
    let params = cowboy_params::Params::GENESIS;
    let offer = Offer::reading(&params, address(1));
    for (wall_ms, timeout, least) in [(1_000, 5, 6), (1_001, 7, 7), (60_000, 1, 65)] {
        let mut job = simple_job();
        job["bounds"] = serde_json::json!({ "max_wall_time_ms": wall_ms });
        job["timeout_blocks"] = timeout.into();
        assert_eq!(timeouts(&offer, &map(&job)), Ok((timeout, least)));
    }
}

/// What refuses a timeout says both numbers: in the trace of a transaction, and to an actor that submits the job.
#[test]
fn a_refused_timeout_says_what_it_has_to_be() {
    let mut market = Market::new(3);
    let mut job = simple_job();
    job["timeout_blocks"] = 5.into();
    let actor = market.chain.deploy_with(
        "handler ask\n job $payload\n",
        &[("econ.hold_balance", &[]), ("econ.transfer", &[]), ("http.fetch", &[])],
        cby(100),
    );
    let expected = "timeout_blocks is 5; the wall time that the bounds allow needs at least 6.";
    for call in [ask(DISPATCHER, "submit_job", &job, 0), execution(actor, "ask", &map(&job).encode(), 0)] {
        let outcome = market.chain.block(vec![signed(1, market.chain.nonce(1), call)]);
        assert_eq!(slug(&outcome.receipts[0]), "job_timeout");
        let exception = outcome.traces[0].calls[0].exception.clone().expect("the trace says why");
        assert!(exception.message.ends_with(expected), "{}", exception.message);
    }
}

/// 000 §9.3: a tool's job names the hosts that the tool reaches in their canonical form, or none.
#[test]
fn hosts_of_tools() {
    let mut market = Market::new(3);
    let rows = [
        (serde_json::json!(["https://a.com"]), "job_invalid"),
        (serde_json::json!("a.com"), "job_invalid"),
        (serde_json::json!(["a.com"]), ""),
    ];
    for (hosts, expected) in rows {
        let mut job = simple_job();
        job["job_type"] = serde_json::json!({ "type": "Mcp", "server": "shop", "tool": "find", "reaches": hosts });
        assert_eq!(market.refused(&job), expected, "{job}");
    }
}
