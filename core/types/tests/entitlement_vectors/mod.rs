//! The published vectors of grants: the rows that the tests check, and their JSON.
#![allow(dead_code, reason = "the example that prints them uses a part")]

use cowboy_types::cbor::Value;
use cowboy_types::entitlement::{Attestation, Bounds, Grants};
use cowboy_types::signing::PrivateKey;
use cowboy_types::units::Height;
use cowboy_types::{Hash, keccak256};

/// A list of grants as JSON, and the slug of why it is refused. `{"bytes": "0x…"}` stands for a byte string.
pub(crate) const MANIFESTS: &[(&str, &str)] = &[
    ("[]", "valid"),
    (r#"[{"id":"storage.kv"}]"#, "valid"),
    (r#"[{"id":"storage.kv","params":{}}]"#, "valid"),
    (
        r#"[{"id":"econ.transfer","params":{"max_amount":1000}},{"id":"http.fetch","params":{"allowlist_domains":["api.coingecko.com"]}},{"id":"oracle.llm","params":{"max_tokens":2000}},{"id":"storage.kv","params":{"max_bytes":1048576}},{"id":"timer.schedule","params":{"max_timers":10}}]"#,
        "valid",
    ),
    (r#"[{"id":"storage.kv"},{"id":"econ.transfer"}]"#, "entitlements_unsorted"),
    (r#"[{"id":"storage.kv"},{"id":"storage.kv"}]"#, "entitlement_duplicate"),
    (r#"[{"id":"storage.disk"}]"#, "entitlement_unknown"),
    (r#"[{"id":"Storage.kv"}]"#, "entitlement_unknown"),
    (r#"[{"id":""}]"#, "entitlement_unknown"),
    (r#"["storage.kv"]"#, "manifest_invalid"),
    (r#"[{"params":{}}]"#, "manifest_invalid"),
    (r#"[{"id":"storage.kv","note":1}]"#, "manifest_invalid"),
    (r#"[{"id":1}]"#, "manifest_invalid"),
    (r#"[{"id":"storage.kv","params":[]}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"storage.kv","params":{"max_files":1}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"storage.kv","params":{"max_bytes":"1"}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"storage.kv","params":{"max_bytes":-1}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"storage.kv","params":{"max_bytes":18446744073709551615}}]"#, "valid"),
    (r#"[{"id":"econ.hold_balance","params":{"max_amount":1}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"http.fetch","params":{"allowlist_domains":["api.example.com","*","*.example.org"]}}]"#, "valid"),
    (r#"[{"id":"http.fetch","params":{"allowlist_domains":["xn--exmple-cua.com"],"domain_set":"price_feeds","max_requests":3}}]"#, "valid"),
    (r#"[{"id":"http.fetch","params":{"allowlist_domains":"*"}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"http.fetch","params":{"allowlist_domains":["API.example.com"]}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"http.fetch","params":{"allowlist_domains":["exämple.com"]}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"http.fetch","params":{"allowlist_domains":["https://example.com"]}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"http.fetch","params":{"allowlist_domains":["example.com."]}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"http.fetch","params":{"domain_set":"Price Feeds"}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"http.fetch","params":{"domain_set":""}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"ingress.http","params":{"allowlist_methods":["GET","POST"],"max_query_cycles":1}}]"#, "valid"),
    (r#"[{"id":"ingress.http","params":{"allowlist_methods":["*"]}}]"#, "valid"),
    (r#"[{"id":"ingress.http","params":{"allowlist_methods":["BREW"]}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"ingress.http","params":{"max_query_cycles":0}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"sec.data_residency","params":{"region":"eu"}},{"id":"sec.tee_required","params":{"tee_type":"sgx"}}]"#, "valid"),
    (r#"[{"id":"sec.data_residency","params":{"region":"moon"}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"sec.tee_required","params":{"tee_type":"abacus"}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"bridge.asset","params":{"allowlist_assets":["wETH","*"]}}]"#, "valid"),
    (r#"[{"id":"bridge.asset","params":{"allowlist_assets":[""]}}]"#, "entitlement_param_invalid"),
    (r#"[{"id":"bridge.asset","params":{"allowlist_assets":[1]}}]"#, "entitlement_param_invalid"),
    (
        r#"[{"id":"bridge.subscribe_event","params":{"allowlist_contracts":[{"bytes":"0x1111111111111111111111111111111111111111"}]}}]"#,
        "valid",
    ),
    (
        r#"[{"id":"bridge.subscribe_event","params":{"allowlist_contracts":[{"bytes":"0x11111111111111111111111111111111111111"}]}}]"#,
        "entitlement_param_invalid",
    ),
    (
        r#"[{"id":"bridge.subscribe_event","params":{"allowlist_contracts":["0x1111111111111111111111111111111111111111"]}}]"#,
        "entitlement_param_invalid",
    ),
];

/// What an actor requires, what a runner provides, and whether they match.
pub(crate) const MATCHES: &[(&str, &str, bool)] = &[
    ("[]", "[]", true),
    (r#"[{"id":"storage.kv"},{"id":"timer.schedule"}]"#, "[]", true),
    (r#"[{"id":"oracle.llm"}]"#, "[]", false),
    (r#"[{"id":"oracle.llm"}]"#, r#"[{"id":"oracle.llm"}]"#, true),
    (r#"[{"id":"oracle.llm","params":{"max_tokens":2000}}]"#, r#"[{"id":"oracle.llm","params":{"max_tokens":2000}}]"#, true),
    (r#"[{"id":"oracle.llm","params":{"max_tokens":2001}}]"#, r#"[{"id":"oracle.llm","params":{"max_tokens":2000}}]"#, false),
    (r#"[{"id":"oracle.llm","params":{"max_tokens":2001}}]"#, r#"[{"id":"oracle.llm"}]"#, true),
    (r#"[{"id":"oracle.llm"}]"#, r#"[{"id":"oracle.llm","params":{"max_tokens":2000}}]"#, true),
    (
        r#"[{"id":"oracle.llm","params":{"max_requests":2,"max_tokens":10}}]"#,
        r#"[{"id":"oracle.llm","params":{"max_requests":1,"max_tokens":10}}]"#,
        false,
    ),
    (r#"[{"id":"accel.gpu","params":{"min_vram_gb":24}}]"#, r#"[{"id":"accel.gpu","params":{"min_vram_gb":80}}]"#, true),
    (r#"[{"id":"accel.gpu","params":{"min_vram_gb":24}}]"#, r#"[{"id":"accel.gpu","params":{"min_vram_gb":16}}]"#, false),
    (
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"]}}]"#,
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["*"]}}]"#,
        true,
    ),
    (
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"]}}]"#,
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["*.a.com"]}}]"#,
        false,
    ),
    (
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["x.a.com"]}}]"#,
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["*.a.com","a.com"]}}]"#,
        true,
    ),
    (
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["*.a.com"]}}]"#,
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["x.a.com"]}}]"#,
        false,
    ),
    (
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com","b.org"]}}]"#,
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"]}}]"#,
        false,
    ),
    (r#"[{"id":"http.fetch"}]"#, r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"]}}]"#, false),
    (r#"[{"id":"http.fetch"}]"#, r#"[{"id":"http.fetch","params":{"allowlist_domains":["*"]}}]"#, true),
    (
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"],"domain_set":"government_us"}}]"#,
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["*.gov","a.com"]}}]"#,
        true,
    ),
    (
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"],"domain_set":"government_us"}}]"#,
        r#"[{"id":"http.fetch","params":{"domain_set":"government_us"}}]"#,
        false,
    ),
    (
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["irs.gov"]}}]"#,
        r#"[{"id":"http.fetch","params":{"domain_set":"government_us"}}]"#,
        true,
    ),
    (
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"],"domain_set":"social_apis"}}]"#,
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["*"]}}]"#,
        true,
    ),
    (r#"[{"id":"sec.tee_required","params":{"tee_type":"sgx"}}]"#, r#"[{"id":"sec.tee_required","params":{"tee_type":"sgx"}}]"#, true),
    (r#"[{"id":"sec.tee_required","params":{"tee_type":"sgx"}}]"#, r#"[{"id":"sec.tee_required","params":{"tee_type":"tdx"}}]"#, false),
    (r#"[{"id":"sec.tee_required","params":{"tee_type":"sgx"}}]"#, r#"[{"id":"sec.tee_required"}]"#, false),
    (r#"[{"id":"sec.tee_required"}]"#, r#"[{"id":"sec.tee_required","params":{"tee_type":"tdx"}}]"#, true),
    (r#"[{"id":"sec.data_residency","params":{"region":"eu"}}]"#, r#"[{"id":"sec.data_residency","params":{"region":"us"}}]"#, false),
    (r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"]}},{"id":"oracle.llm"}]"#, r#"[{"id":"oracle.llm"}]"#, false),
];

/// What a child asks for, what its parent has, and whether it may be spawned.
pub(crate) const CHILDREN: &[(&str, &str, bool)] = &[
    ("[]", "[]", true),
    (r#"[{"id":"storage.kv"}]"#, "[]", false),
    (r#"[{"id":"storage.kv"}]"#, r#"[{"id":"storage.kv"}]"#, true),
    (r#"[{"id":"storage.kv","params":{"max_bytes":100}}]"#, r#"[{"id":"storage.kv","params":{"max_bytes":100}}]"#, true),
    (r#"[{"id":"storage.kv","params":{"max_bytes":101}}]"#, r#"[{"id":"storage.kv","params":{"max_bytes":100}}]"#, false),
    (r#"[{"id":"storage.kv"}]"#, r#"[{"id":"storage.kv","params":{"max_bytes":100}}]"#, false),
    (r#"[{"id":"storage.kv","params":{"max_bytes":101}}]"#, r#"[{"id":"storage.kv"}]"#, true),
    (r#"[{"id":"econ.hold_balance"}]"#, r#"[{"id":"econ.hold_balance"}]"#, true),
    (r#"[{"id":"econ.transfer"}]"#, r#"[{"id":"econ.transfer"}]"#, false),
    (r#"[{"id":"oracle.llm"}]"#, r#"[{"id":"oracle.llm"}]"#, false),
    (r#"[{"id":"accel.gpu"}]"#, r#"[{"id":"accel.gpu"}]"#, false),
    (r#"[{"id":"bridge.asset"}]"#, r#"[{"id":"bridge.asset"}]"#, false),
    (r#"[{"id":"ingress.http"}]"#, r#"[{"id":"ingress.http"}]"#, false),
    (r#"[{"id":"sys.upgrade"}]"#, r#"[{"id":"sys.upgrade"}]"#, false),
    (r#"[{"id":"exec.spawn","params":{"max_children":2}}]"#, r#"[{"id":"exec.spawn","params":{"max_children":3}}]"#, true),
    (r#"[{"id":"timer.schedule","params":{"max_timers":4}}]"#, r#"[{"id":"timer.schedule","params":{"max_timers":3}}]"#, false),
    (
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["x.a.com"]}}]"#,
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["*.a.com"]}}]"#,
        true,
    ),
    (r#"[{"id":"http.fetch"}]"#, r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"]}}]"#, false),
    (
        r#"[{"id":"http.fetch","params":{"domain_set":"government_us"}}]"#,
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["*.gov"]}}]"#,
        false,
    ),
    (
        r#"[{"id":"http.fetch","params":{"domain_set":"government_us"}}]"#,
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"],"domain_set":"government_us"}}]"#,
        true,
    ),
    (r#"[{"id":"http.fetch","params":{"domain_set":"government_us"}}]"#, r#"[{"id":"http.fetch"}]"#, true),
    (r#"[{"id":"sec.tee_required","params":{"tee_type":"sgx"}}]"#, r#"[{"id":"sec.tee_required"}]"#, true),
    (r#"[{"id":"sec.tee_required","params":{"tee_type":"sgx"}}]"#, r#"[{"id":"sec.tee_required","params":{"tee_type":"sev"}}]"#, false),
];

/// The value of JSON as vectors write it.
pub(crate) fn from_json(json: &str) -> Value {
    value(&serde_json::from_str(json).expect("a vector is JSON"))
}

fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => match number.as_u64() {
            Some(number) => Value::uint(number),
            None => Value::Integer(number.as_i64().expect("vectors hold integers").into()),
        },
        serde_json::Value::String(text) => Value::text(text.clone()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(value).collect()),
        serde_json::Value::Object(pairs) => match pairs.get("bytes").and_then(serde_json::Value::as_str) {
            Some(digits) => Value::Bytes(hex::decode(digits.trim_start_matches("0x")).expect("hex")),
            None => Value::dict(pairs.iter().map(|(name, item)| (name.as_str(), value(item)))),
        },
    }
}

/// The manifest of a list of grants.
pub(crate) fn manifest(json: &str) -> Vec<u8> {
    Value::map([("entitlements", from_json(json))]).encode()
}

/// The attestation of the vectors, not signed yet.
pub(crate) fn attestation(key: &PrivateKey) -> Attestation {
    let capabilities = from_json(
        r#"[{"id":"http.fetch","params":{"allowlist_domains":["*"]}},{"id":"oracle.llm","params":{"max_tokens":100000}},{"id":"sec.tee_required","params":{"tee_type":"sgx"}}]"#,
    );
    Attestation {
        runner_id: key.address(),
        capabilities: Grants::read(Bounds { bytes: 16_384, grants: 64, items: 256, version: u8::MAX }, &capabilities)
            .expect("the vector is valid"),
        valid_from: Height(1_700_000),
        valid_until: Height(1_710_000),
        evidence_hash: Some(keccak256(&[b"a bundle of quotes"])),
        signature: Default::default(),
    }
}

fn hex0x(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

fn read(json: &str) -> serde_json::Value {
    serde_json::from_str(json).expect("a vector is JSON")
}

/// All of it, for other programs.
pub(crate) fn json() -> String {
    let manifests: Vec<_> = MANIFESTS
        .iter()
        .map(|(json, result)| serde_json::json!({ "entitlements": read(json), "cbor": hex0x(&manifest(json)), "result": result }))
        .collect();
    let matches: Vec<_> = MATCHES
        .iter()
        .map(
            |(required, provided, result)| serde_json::json!({ "requires": read(required), "provides": read(provided), "matches": result }),
        )
        .collect();
    let children: Vec<_> = CHILDREN
        .iter()
        .map(|(child, parent, result)| serde_json::json!({ "child": read(child), "parent": read(parent), "allowed": result }))
        .collect();
    let key = PrivateKey::from_bytes([7; 32]).expect("a key");
    let mut signed = attestation(&key);
    signed.sign(&key);
    let mut without = attestation(&key);
    without.evidence_hash = None;
    without.sign(&key);
    let attestations: Vec<_> = [signed, without]
        .iter()
        .map(|attestation| {
            serde_json::json!({
                "private_key": hex0x(&key.to_bytes()),
                "runner_id": attestation.runner_id.to_string(),
                "valid_from": attestation.valid_from.0,
                "valid_until": attestation.valid_until.0,
                "evidence_hash": attestation.evidence_hash.map(|hash: Hash| hash.to_string()),
                "preimage": hex0x(&attestation.preimage()),
                "digest": attestation.digest().to_string(),
                "signature": hex0x(&attestation.signature.0),
                "record": hex0x(&attestation.encode()),
            })
        })
        .collect();
    let mut all = serde_json::json!({ "manifests": manifests, "matches": matches, "children": children, "attestations": attestations });
    // Whichever order the map of JSON keeps.
    all.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&all).expect("JSON is text");
    text.push('\n');
    text
}
