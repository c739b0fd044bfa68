//! The chain's permission check and this runner read one submission alike, whatever it looks like (000 §9.3; decision 302).

use super::{Limits, Task, guard::Guard, http, llm, mcp};
use crate::{
    config::{Config, McpServer},
    request::Request,
};
use cowboy_api::cbor;
use cowboy_system::offchain::{
    JobNeeds,
    lower::{self, Offer},
};
use cowboy_types::{Address, entitlement::domain, job::JobKind, keccak256};
use serde_json::{Map, Value as Json, json};

/// Numbers out of a seed.
struct Dice(cowboy_types::Hash);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = keccak256(&[&self.0.0]);
        let number = u64::from_le_bytes(self.0.0[..8].try_into().expect("eight bytes"));
        usize::try_from(number % sides as u64).expect("small")
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len())]
    }
}

/// Names of fields, known ones, aliases, and known ones in another case.
const NAMES: [&str; 35] = [
    "url",
    "URL",
    "Url",
    "urls",
    "uri",
    "host",
    "method",
    "headers",
    "body",
    "json",
    "extract",
    "selector",
    "prompt",
    "messages",
    "system_prompt",
    "model",
    "max_tokens",
    "maxTokens",
    "max_output_tokens",
    "seed",
    "task",
    "server",
    "tool",
    "arguments",
    "reaches",
    "input",
    "image",
    "command",
    "network",
    "env",
    "tee_type",
    "region",
    "gpu",
    "x-url",
    "stream",
];

/// Addresses, also such as two readers may read differently.
const URLS: [&str; 18] = [
    "https://allowed.example.com/a",
    "https://other.example.org/",
    "https://allowed.example.com@other.example.org/",
    "https://other.example.org\\@allowed.example.com/",
    "https://allowed.example.com:443/",
    "HTTPS://ALLOWED.example.com",
    "https://allowed.example.com\t.other.example.org/",
    "https:/other.example.org/",
    "https:///other.example.org/",
    "https://allowed.example.com#@other.example.org",
    "https://127.1/",
    "https://0x7f.1/",
    "https://allowed%2eexample.com/",
    "https://xn--bcher-kva.example/",
    "https://b\u{fc}cher.example/",
    " https://other.example.org/",
    "ftp://other.example.org/",
    "nonsense",
];

fn value(dice: &mut Dice, name: &str) -> Json {
    match (name.to_ascii_lowercase().as_str(), dice.roll(8)) {
        (_, 0) => json!(dice.roll(9_000)),
        ("url" | "urls" | "uri" | "host" | "x-url", _) => json!(dice.one(&URLS)),
        ("max_tokens" | "maxtokens" | "max_output_tokens" | "seed", _) => json!(dice.roll(9_000)),
        ("headers" | "arguments" | "env" | "json", _) => json!({ "url": dice.one(&URLS) }),
        ("messages", _) => json!([{ "role": "user", "content": "?" }]),
        ("reaches", _) => {
            json!([dice.one(&["allowed.example.com", "*.example.org", "*", "Allowed.example.com", "https://other.example.org/"])])
        }
        ("gpu" | "stream", _) => json!(true),
        ("tee_type", _) => json!(dice.one(&["sgx", "tdx", "dev"])),
        _ => json!(dice.one(&["allowed.example.com", "GET", "embedding", "https://other.example.org/"])),
    }
}

fn some_fields(dice: &mut Dice, most: usize) -> Map<String, Json> {
    let count = dice.roll(most + 1);
    let names: Vec<&str> = (0..count).map(|_| *dice.one(&NAMES)).collect();
    names.into_iter().map(|name| (name.to_string(), value(dice, name))).collect()
}

/// A submission that is nearly right: one of a kind with what it needs, and fields anywhere that may be known, doubled or none.
fn submission(dice: &mut Dice) -> Json {
    let needed = [("Http", "url"), ("Llm", "prompt"), ("Mcp", "server"), ("Custom", "tool"), ("Container", "image")];
    let (kind, first) = *dice.one(&needed);
    let first_value = value(dice, first);
    let is_message = dice.roll(2) == 0;
    let mut work = some_fields(dice, 2);
    if is_message {
        let (mut args, mut kwargs) = (Vec::new(), work);
        match dice.roll(3) {
            0 => drop(kwargs.insert(first.into(), first_value)),
            _ => args.push(first_value),
        }
        if dice.roll(4) == 0 {
            kwargs.insert("verify".into(), json!({ "mode": "none", "runners": 1 }));
        }
        let lower = kind.to_ascii_lowercase();
        let kind = *dice.one(&[&lower[..], "agent", kind]);
        let mut message = json!({ "kind": "runner_job", "job_type": kind, "payload": { "args": args, "kwargs": kwargs }, "cid": "1", "reply_handler": "h" });
        message.as_object_mut().expect("a map").extend(if dice.roll(6) == 0 { some_fields(dice, 1) } else { Map::new() });
        return message;
    }
    work.insert(first.into(), first_value);
    work.insert("type".into(), json!(kind));
    let mut job = json!({
        "job_type": work,
        "bounds": { "max_wall_time_ms": 1_000, "max_output_tokens": 500 },
        "result_schema": { "max_return_bytes": 100, "expected_execution_ms": 10, "data_format": "" },
        "verification": { "mode": "none" },
        "max_price": 1_000,
        "timeout_blocks": 30,
    });
    if dice.roll(3) == 0 {
        job["payload"] = Json::Object(some_fields(dice, 2));
    }
    let place = *dice.one(&["", "bounds", "verification"]);
    let more = if dice.roll(4) == 0 { some_fields(dice, 1) } else { Map::new() };
    let part = if place.is_empty() { &mut job } else { &mut job[place] };
    part.as_object_mut().expect("a map").extend(more);
    job
}

fn task(request: &Request, spec: &cowboy_types::job::JobSpec, hosts: Option<Vec<String>>) -> Task {
    let limits = Limits::of(spec, &Config::default());
    Task { request: request.clone(), hosts, limits, format: String::new(), is_semantic: false, model: spec.model, container: None }
}

/// The runner calls no tool of a server that reaches a host which the permission check did not see.
fn is_held(task: &Task, seen: &[String], submission: &Json) {
    for reached in ["allowed.example.com", "other.example.org", "*.example.org", "*"] {
        let server = McpServer { reaches: Some(vec![reached.to_string()]), ..McpServer::default() };
        let is_seen = seen.iter().any(|pattern| domain::covers(pattern, reached));
        assert_eq!(mcp::within(task, "shop", &server).is_ok(), is_seen, "{submission}: {reached} beside {seen:?}");
    }
    let is_any = seen.iter().any(|pattern| pattern == domain::ANY);
    assert_eq!(mcp::within(task, "shop", &McpServer::default()).is_ok(), is_any, "{submission}: a server of which nothing is known");
}

/// What the runner would reach and ask for, of a submission that the chain took: the host of its request, and the tokens of its question.
fn reached(request: &Request, spec: &cowboy_types::job::JobSpec, hosts: Option<Vec<String>>) -> (Option<String>, Option<u64>) {
    let task = task(request, spec, hosts);
    match request.kind {
        JobKind::Http => (http::first_host(&task), None),
        JobKind::Llm => (None, llm::tokens_asked(&task)),
        _ => (None, None),
    }
}

/// The host of the address of a web job, which this runner would ask.
fn asks(request: &Request) -> Result<String, String> {
    let url = http::address_of(request).map_err(|malformed| malformed.to_string())?;
    Guard::open(true).check(&url).map_err(|refusal| refusal.to_string())?;
    Ok(url.host_str().unwrap_or_default().to_owned())
}

/// Decision 736: the chain takes a web job where a runner asks its address, and both read the same host. Rows of `core/system`.
#[test]
fn addresses_are_read_as_on_the_chain() {
    let params = cowboy_params::Params::GENESIS;
    let rows = include_str!("../../../../core/system/src/market/address/rows.json");
    let rows: Vec<(String, Option<String>)> = serde_json::from_str(rows).expect("the rows are JSON");
    for (url, expected) in rows {
        let job = json!({ "job_type": "http", "payload": { "url": url }, "bounds": { "max_wall_time_ms": 1_000 },
            "result_schema": { "max_return_bytes": 100, "expected_execution_ms": 10, "data_format": "" },
            "verification": { "mode": "none" }, "max_price": 1_000, "timeout_blocks": 30 });
        let decoded = lower::decoded(&cbor::encode(&job)).expect("it is canonical");
        let taken = lower::read(&Offer::reading(&params, Address::ZERO), &decoded);
        assert_eq!(taken.is_ok(), expected.is_some(), "{url:?}: {:?}", taken.err());
        let request = Request { kind: JobKind::Http, fields: json!({ "url": url }).as_object().expect("fields").clone() };
        let found = asks(&request);
        assert_eq!(found.is_ok(), expected.is_some(), "{url:?}: {found:?}");
        let canonical = expected.map(|host| host.to_ascii_lowercase()).filter(|host| domain::is_canonical_host(host));
        if let Some(host) = canonical {
            assert_eq!(found, Ok(host), "{url:?}");
        }
    }
}

/// 000 §9.3: for every submission, either the permission check saw exactly what this runner does, or it is refused: the same fields, a host that
/// the needs name or the runner does not ask, and no more tokens.
#[test]
fn the_chain_saw_what_the_runner_does() {
    let params = cowboy_params::Params::GENESIS;
    let (mut dice, mut taken, mut asked, mut called) = (Dice(keccak256(&[b"readings"])), 0, 0, 0);
    for _ in 0..20_000 {
        let submission = submission(&mut dice);
        let bytes = cbor::encode(&submission);
        let Ok(decoded) = lower::decoded(&bytes) else { continue };
        let Ok((read, spec)) = lower::read(&Offer::reading(&params, Address::ZERO), &decoded) else { continue };
        taken += 1;
        let request = Request::read(&spec.request).expect("what the chain took a runner can read");
        assert_eq!((&request.kind, request.fields.keys().collect::<Vec<_>>()), (&read.kind, read.work.keys().collect()), "{submission}");
        let needs = JobNeeds::of(&read, &spec);
        let is_any = needs.hosts.iter().any(|host| host == domain::ANY);
        // The grant is as narrow as the check allows: exactly the hosts that the needs name.
        let hosts = if is_any { None } else { Some(needs.hosts.clone()) };
        if request.kind == JobKind::Http {
            asks(&request).unwrap_or_else(|reason| panic!("{submission}: {reason}"));
        }
        let (host, tokens) = reached(&request, &spec, hosts.clone());
        if let Some(host) = &host {
            asked += 1;
            assert!(is_any || needs.hosts.contains(host), "{submission}: {host} beside {needs:?}");
        }
        assert!(tokens.is_none_or(|tokens| Some(tokens) <= needs.tokens), "{submission}: {tokens:?} beside {needs:?}");
        if request.kind == JobKind::Mcp {
            called += usize::from(!is_any);
            is_held(&task(&request, &spec, hosts.clone()), &needs.hosts, &submission);
        }
        let is_bound = matches!(request.kind, JobKind::Custom | JobKind::Container);
        assert!(!is_bound || read.is_agent || needs.hosts.is_empty(), "{submission}");
        assert_eq!(needs.needs_tee, spec.verification.is_tee_required, "{submission}");
        assert_eq!(needs.tee_type.as_deref().unwrap_or(""), &spec.verification.tee_type[..], "{submission}");
    }
    assert!(
        taken > 500 && asked > 100 && called > 10,
        "{taken} taken, {asked} asked for a page, {called} called a tool with its hosts named"
    );
}
