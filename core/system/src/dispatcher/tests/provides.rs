//! Who may be drawn by what they provide: attestations, registrations, pools (000 §6, §8; 002 §7.3).

use super::*;
use commonware_codec::Encode as _;
use cowboy_system::runners::attestations::{self, RunnerAttestation};
use cowboy_testkit::chain::{address, parameters};
use cowboy_types::Blob;
use cowboy_types::entitlement::{Attestation, Bounds, Grants};
use cowboy_types::job::Candidates;
use cowboy_types::permission::{Action, Constraints, Scope};
use cowboy_types::units::Height;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    attestations_are_checked_before_they_are_kept,
    candidates_provide_what_the_submitter_requires,
    pools_bound_the_candidates,
    a_retrial_requires_what_the_job_did,
];

/// An actor that hands its payload to the Dispatcher.
const ASKER: &str = "handler ask\n try job $payload\n return $last\n";

fn manifest(json: &serde_json::Value) -> Value {
    map(&serde_json::json!({ "entitlements": json }))
}

fn attestation(number: u8, capabilities: &serde_json::Value, from: u64, until: u64) -> Attestation {
    let mut attestation = Attestation {
        runner_id: address(number),
        capabilities: Grants::read(Bounds { bytes: 16_384, grants: 64, items: 256, version: u8::MAX }, &map(capabilities))
            .expect("valid grants"),
        valid_from: Height(from),
        valid_until: Height(until),
        evidence_hash: None,
        signature: Default::default(),
    };
    attestation.sign(&key(number));
    attestation
}

/// What jobs require of runners, and what runners attest.
trait Requirements {
    fn attest(&mut self, from: u8, attestation: &Attestation) -> &'static str;

    /// Deploys an actor that asks, with these grants beside those for money.
    fn asker(&mut self, grants: &serde_json::Value) -> Address;

    /// The accounts that may be drawn for an actor's job, or why there are none.
    fn candidates(&mut self, actor: Address, job: &serde_json::Value) -> Result<Vec<u8>, String>;
}

impl Requirements for Market {
    fn attest(&mut self, from: u8, attestation: &Attestation) -> &'static str {
        let argument = serde_json::json!({ "attestation": hex(&attestation.encode()) });
        slug(&self.chain.send(from, ask(REGISTRY, "attest", &argument, 0)))
    }

    fn asker(&mut self, grants: &serde_json::Value) -> Address {
        let mut all = vec![serde_json::json!({ "id": "econ.hold_balance" }), serde_json::json!({ "id": "econ.transfer" })];
        all.extend(grants.as_array().expect("a list").iter().cloned());
        all.sort_by_key(|grant| grant["id"].to_string());
        let manifest = manifest(&serde_json::Value::Array(all)).encode();
        let tag: String = keccak256(&[&manifest]).0.iter().map(|byte| format!("{byte:02x}")).collect();
        let code = format!("#script\n{ASKER}handler x{tag}\n");
        let receipt = self.chain.send(1, cowboy_testkit::chain::deployment_of(code.as_bytes(), Some(manifest), None, b"", cby(100)));
        receipt.created.expect("the actor is deployed")
    }

    fn candidates(&mut self, actor: Address, job: &serde_json::Value) -> Result<Vec<u8>, String> {
        let receipt = self.chain.call(actor, "ask", &map(job).encode());
        if receipt.abort.is_some() {
            return Err(slug(&receipt).to_string());
        }
        let Ok(id) = <[u8; 32]>::try_from(&receipt.return_data[..]) else {
            return Err(String::from_utf8_lossy(&receipt.return_data).into_owned());
        };
        let list: Candidates = self.chain.record(&dispatcher::state::candidates_key(&Hash(id))).expect("a submission keeps its candidates");
        let mut numbers: Vec<u8> = list.candidates.iter().map(|candidate| self.number(candidate.runner)).collect();
        numbers.sort();
        Ok(numbers)
    }
}

/// a runner's own, signed, for heights to come; everything else is refused, so that nothing else is ever matched.
#[test]
fn attestations_are_checked_before_they_are_kept() {
    let mut market = Market::new(2);
    let grants = serde_json::json!([{ "id": "http.fetch", "params": { "allowlist_domains": ["*"] } }]);
    let now = market.chain.height.0;
    let good = attestation(10, &grants, 1, now + 100);
    let mut forged = good.clone();
    forged.valid_until = Height(now + 1_000);
    let mut of_other = good.clone();
    of_other.sign(&key(11));
    let many: Vec<serde_json::Value> = (0..200).map(|host| format!("host-{host}.example.com").into()).collect();
    let many = serde_json::json!([{ "id": "http.fetch", "params": { "allowlist_domains": many } }]);
    let rows: [(u8, Attestation, &str); 8] = [
        (1, attestation(1, &grants, 1, now + 100), "runner_not_found"),
        (11, good.clone(), "attestation_invalid"),
        (10, forged, "attestation_invalid"),
        (10, of_other, "attestation_invalid"),
        (10, attestation(10, &grants, 1, now), "attestation_invalid"),
        (10, attestation(10, &grants, now + 100, now + 99), "attestation_invalid"),
        (10, attestation(10, &many, 1, now + 100), "invalid_argument"),
        (10, good.clone(), ""),
    ];
    for (place, (from, attestation, expected)) in rows.into_iter().enumerate() {
        assert_eq!(market.attest(from, &attestation), expected, "row {place}");
    }
    let asked = market.chain.send(1, ask(REGISTRY, "get_attestation", &serde_json::json!({ "runner": hex(&address(10).0) }), 0));
    assert_eq!(cowboy_types::cbor::decode(&asked.return_data), Ok(Value::Bytes(good.encode())), "kept as it was signed");
    let none = market.chain.send(1, ask(REGISTRY, "get_attestation", &serde_json::json!({ "runner": hex(&address(11).0) }), 0));
    assert_eq!(slug(&none), "attestation_invalid");
}

/// Who registers again after it was gone provides what it says then, and nobody pays for what it attested before.
#[test]
fn attestations_end_with_their_runner() {
    let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&[("consensus.unbonding", 3_600)]));
    let none = serde_json::json!({});
    let kept = |market: &Market| market.chain.record::<RunnerAttestation>(&attestations::key(address(10))).is_some();
    let until = market.chain.height.0 + 100_000;
    assert_eq!(market.attest(10, &attestation(10, &serde_json::json!([{ "id": "http.fetch" }]), 1, until)), "");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "leave", &none, 0))), "");
    assert!(kept(&market), "who leaves still answers for its jobs");
    market.chain.height = Height(market.chain.height.0 + 4_000);
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "withdraw", &none, 0))), "");
    assert!(!kept(&market), "it went with its runner");
}

/// what the submitter's manifest requires of runners, each candidate provides: by its attestation while that lasts, else by its
/// registration.
#[test]
fn candidates_provide_what_the_submitter_requires() {
    let mut market = Market::new(4);
    let hosts = |domains: &[&str]| serde_json::json!([{ "id": "http.fetch", "params": { "allowlist_domains": domains } }]);
    let now = market.chain.height.0;
    assert_eq!(market.attest(10, &attestation(10, &hosts(&["*"]), 1, now + 1_000)), "");
    assert_eq!(market.attest(11, &attestation(11, &hosts(&["other.com"]), 1, now + 1_000)), "");
    assert_eq!(market.attest(12, &attestation(12, &hosts(&["*.com"]), 1, now + 12)), "");
    let narrow = market.asker(&hosts(&["example.com"]));
    let wide = market.asker(&serde_json::json!([{ "id": "http.fetch" }]));
    let sgx = market.asker(&serde_json::json!([{ "id": "http.fetch" }, { "id": "sec.tee_required", "params": { "tee_type": "sgx" } }]));
    // Long enough that nobody times out, and loses reputation, in this test.
    let mut job = simple_job();
    job["timeout_blocks"] = 600.into();
    assert_eq!(market.candidates(narrow, &job), Ok(vec![10, 12, 13]), "11 reaches another host only");
    assert_eq!(market.candidates(wide, &job), Ok(vec![10, 13]), "an actor that may fetch anywhere needs runners that do");
    assert_eq!(market.candidates(sgx, &job), Err("no_candidates".to_string()), "nobody has that environment");
    market.chain.idle(10);
    assert_eq!(market.candidates(narrow, &job), Ok(vec![10, 13]), "12's attestation expired, and its registration does not speak for it");
    let mut more = job.clone();
    more["requires"] = hex(&manifest(&serde_json::json!([{ "id": "accel.gpu", "params": { "min_vram_gb": 24 } }])).encode()).into();
    assert_eq!(market.candidates(narrow, &more), Err("no_candidates".to_string()));
    let gpu = serde_json::json!([{ "id": "accel.gpu", "params": { "min_vram_gb": 80 } }, { "id": "http.fetch" }]);
    let until = market.chain.height.0 + 1_000;
    assert_eq!(market.attest(11, &attestation(11, &gpu, 1, until)), "");
    assert_eq!(market.candidates(narrow, &more), Ok(vec![11]), "the job's own requirement (A-264)");
    more["requires"] = "0xff".into();
    assert_eq!(market.candidates(narrow, &more), Err("job_invalid".to_string()));
}

/// A job that names a GPU or a region, anywhere that it may, is drawn to runners that provide it by attestation or registration, and to nobody
/// else.
#[test]
fn a_gpu_and_a_region_are_required_of_who_is_drawn() {
    let mut market = Market::new(4);
    let until = market.chain.height.0 + 10_000;
    let gpu = |gigabytes: u64| serde_json::json!({ "id": "accel.gpu", "params": { "min_vram_gb": gigabytes } });
    let [fetch, eu] = [("http.fetch", serde_json::json!({})), ("sec.data_residency", serde_json::json!({ "region": "eu" }))]
        .map(|(id, params)| serde_json::json!({ "id": id, "params": params }));
    for (number, provides) in [(10, serde_json::json!([gpu(24), fetch])), (11, serde_json::json!([gpu(80), fetch, eu]))] {
        assert_eq!(market.attest(number, &attestation(number, &provides, 1, until)), "");
    }
    let mut in_eu = declaration(12);
    in_eu["regions"] = serde_json::json!(["eu"]);
    assert_eq!(slug(&market.chain.send(12, ask(REGISTRY, "update", &in_eu, 0))), "");
    let rows: [(&str, serde_json::Value, &[u8]); 5] = [
        ("gpu", true.into(), &[10, 11]),
        ("min_vram_gb", 48.into(), &[11]),
        ("min_vram_gb", 100.into(), &[]),
        ("region", "eu".into(), &[11, 12]),
        ("region", "us".into(), &[]),
    ];
    for (name, value, expected) in rows {
        for inside in ["", "job_type", "bounds", "verification"] {
            let mut job = simple_job();
            let at = if inside.is_empty() { &mut job } else { &mut job[inside] };
            at[name] = value.clone();
            if expected.is_empty() {
                assert_eq!(market.refused(&job), "no_candidates", "{inside} {name} {value}");
                continue;
            }
            let id = market.submit(&job);
            let drawn = market.draw(&id)[0];
            let list: Candidates = market.chain.record(&dispatcher::state::candidates_key(&id)).expect("its candidates");
            let mut found: Vec<u8> = list.candidates.iter().map(|candidate| market.number(candidate.runner)).collect();
            found.sort_unstable();
            assert_eq!((&found[..], expected.contains(&drawn)), (expected, true), "{inside} {name} {value}");
            assert_eq!(slug(&market.result(&id, drawn, b"done")), "");
        }
    }
}

/// a job of a pool is for its members; a job of none is for everybody.
#[test]
fn pools_bound_the_candidates() {
    let mut market = Market::new(3);
    let actor = market.asker(&serde_json::json!([{ "id": "http.fetch" }]));
    let mut job = simple_job();
    job["required_runner_pool"] = hex(b"eu").into();
    assert_eq!(market.candidates(actor, &job), Err("no_candidates".to_string()), "nobody was let in");
    let pool = Blob::new(b"eu".to_vec()).expect("short");
    let encoded = |value: bytes::Bytes| Value::Bytes(value.to_vec());
    for (runner, valid_until) in [(10, None), (12, Some(Height(market.chain.height.0 + 5)))] {
        let grant = Value::map([
            ("grantee", Value::Bytes(address(runner).0.to_vec())),
            ("scope", encoded(Scope::RunnerPool { pool: pool.clone() }.encode())),
            ("action", encoded(Action::RunnerJoinPool { pool: pool.clone() }.encode())),
            ("constraints", encoded(Constraints { valid_until, ..Constraints::default() }.encode())),
        ]);
        assert!(market.chain.decide(0x07, "grant", &grant));
    }
    assert_eq!(market.candidates(actor, &job), Ok(vec![10, 12]));
    market.chain.idle(4);
    assert_eq!(market.candidates(actor, &job), Ok(vec![10]), "a membership ended");
    assert_eq!(market.candidates(actor, &simple_job()), Ok(vec![10, 11, 12]), "an open job is open");
}

/// Work that is done again requires what the first did: who challenges has no say in who may judge.
#[test]
fn a_retrial_requires_what_the_job_did() {
    let mut market = Market::new(7);
    let now = market.chain.height.0;
    let eu = serde_json::json!([{ "id": "http.fetch" }, { "id": "sec.data_residency", "params": { "region": "eu" } }, { "id": "sec.tee_required" }]);
    for number in [10, 11, 12, 13, 14] {
        assert_eq!(market.attest(number, &attestation(number, &eu, 1, now + 10_000)), "");
    }
    let actor = market.asker(&eu);
    let mut job = committee_job("deterministic", 2);
    job["verification"]["tee_required"] = true.into();
    job["toolchain_digest"] = hex(&[5; 32]).into();
    job["timeout_blocks"] = 600.into();
    assert_eq!(market.candidates(actor, &job), Ok(vec![10, 11, 12, 13, 14]));
    let id = *jobs_of(&market.chain).keys().next().expect("a job");
    let first = market.draw(&id);
    cowboy_testkit::market::work_attested(&mut market, &id, &first, b"x");
    let receipt = market.chain.send(2, ask(VERIFIER, "reproduce", &serde_json::json!({ "job_id": hex(&id.0) }), cby(100)));
    assert_eq!(receipt.abort, None, "an account without any manifest challenges");
    let retrial = cowboy_testkit::market::id_of(&receipt);
    let list: Candidates = market.chain.record(&dispatcher::state::candidates_key(&retrial)).expect("its candidates");
    let mut again: Vec<u8> = list.candidates.iter().map(|candidate| market.number(candidate.runner)).collect();
    again.sort_unstable();
    let expected: Vec<u8> = [10, 11, 12, 13, 14].into_iter().filter(|number| !first.contains(number)).collect();
    assert_eq!(again, expected, "15 and 16 are not where the job must be done");
}
