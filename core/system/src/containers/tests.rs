//! What jobs say of their containers, which images may run, and who has room for one (decisions 162 to 166).

use cowboy_params::{Containers, Params};
use cowboy_system::containers::NUMBER;
use cowboy_system::offchain::classes;
use cowboy_system::offchain::container::{ContainerJob, Output, Source};
use cowboy_system::offchain::request::Request;
use cowboy_testkit::chain::execution;
use cowboy_testkit::market::*;
use cowboy_types::cbor::Value;
use cowboy_types::job::{JobSpec, Resources};
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash, error};
use serde_json::{Value as Json, json};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![a_runner_needs_the_room, a_job_has_its_limits, requests_are_paid_for];

const REGISTRY_OF_IMAGES: Address = Address::system(NUMBER);

fn image(digit: char) -> String {
    format!("tools/count@sha256:{}", digit.to_string().repeat(64))
}

/// A job of a container with these fields.
pub(crate) fn job(fields: Json) -> Json {
    let mut job = simple_job();
    job["job_type"] = json!({ "type": "Container", "image": image('b') });
    for (name, value) in fields.as_object().expect("a map") {
        job["job_type"][name] = value.clone();
    }
    (job["bounds"], job["timeout_blocks"], job["max_price"]) = (json!({}), 14_000.into(), cby(50).into());
    job
}

fn read(fields: Json) -> Result<ContainerJob, String> {
    let request = Request::of(map(&job(fields))).expect("a job");
    ContainerJob::read(&request, &Params::GENESIS.containers).map_err(|wrong| wrong.field.to_owned())
}

fn resources(cpu: u64, memory: u64, scratch: u64, seconds: u64) -> Resources {
    Resources { cpu_millicores: Count(cpu), memory_mib: Count(memory), scratch_mib: Count(scratch), seconds: Count(seconds) }
}

/// A market of runners of containers with these capacities, in which image b may run.
fn market(capacities: &[(u64, u64, u64)]) -> Market {
    let mut market = Market::new(u8::try_from(capacities.len()).expect("few"));
    offer(&mut market, capacities);
    market
}

/// Has the runners of a market offer containers with these capacities, and allows image b.
pub(crate) fn offer(market: &mut Market, capacities: &[(u64, u64, u64)]) {
    for (number, (cpu, memory, scratch)) in (10..).zip(capacities) {
        let mut declared = declaration(number);
        declared["kinds"] = json!(["container"]);
        declared["rates"] = json!({ "compute_second": 1, "memory_mb": 1, "max_job_value": cby(5_000) });
        declared["containers"] =
            json!({ "cpu_millicores": cpu, "memory_mib": memory, "scratch_mib": scratch, "platforms": ["linux/amd64"], "volumes": true });
        assert_eq!(market.chain.send(number, ask(REGISTRY, "update", &declared, 0)).abort, None);
    }
    let allowed = json!({ "digest": hex(&[0xBB; 32]), "allowed": true, "name": "count" });
    assert!(market.chain.decide(NUMBER, "set_image", &map(&allowed)));
}

/// A-234: every field has one form.
#[test]
fn fields_have_their_forms() {
    let all = read(json!({
        "source": "oci://registry.example.com:5000/tools/count", "command": ["count", "--all"], "env": { "LANG": "C" }, "class": "medium",
        "platform": "linux/arm64", "network": { "allow": ["b.example.com", "a.example.com"] }, "stdin": "input", "output": "file",
    }))
    .expect("a container");
    assert_eq!(all.name, "tools/count");
    assert_eq!(all.source, Source::Registry { host: "registry.example.com:5000".into(), name: "tools/count".into() });
    assert_eq!((all.command.len(), all.env.len(), all.platforms), (2, 1, 2));
    assert_eq!(all.resources, resources(2_000, 2_048, 5_120, 600));
    assert_eq!(all.hosts, ["a.example.com", "b.example.com"]);
    assert_eq!((&all.stdin[..], all.output), (&b"input"[..], Output::File));
    let id = with_field(with_field(mount(), "volume", json!(hex(&[1; 32]))), "as", json!("theirs"));
    let written = with_field(with_field(mount(), "mode", json!("rw")), "max_bytes", json!(5));
    let mounts = read(json!({ "volumes": [id, written] })).expect("a container").mounts;
    let names: Vec<_> =
        mounts.iter().map(|mount| (mount.name.as_str(), mount.partition.as_str(), mount.mode.letters(), mount.max_bytes)).collect();
    assert_eq!(names, [("theirs", "notes", "r", 0), ("memory", "notes", "rw", 5)]);
    let stored = read(json!({ "source": format!("volume:{}/images/tools", "0f".repeat(32)) })).expect("a container");
    assert_eq!(stored.source, Source::Volume { id: Hash([15; 32]), path: "images/tools".into() });
    let nothing = read(json!({})).expect("a container");
    assert_eq!((nothing.source, nothing.output, nothing.platforms), (Source::Runner, Output::Stdout, 3));
    assert_eq!(nothing.resources, resources(1_000, 512, 1_024, 300));
    assert_eq!(read(json!({ "resources": own() })).map(|job| job.resources), Ok(resources(1, 4, 1, 1)));
}

/// A partition that a container reads.
fn mount() -> Json {
    json!({ "volume": "memory", "partition": "notes", "mode": "r" })
}

fn with_field(mut value: Json, name: &str, field: Json) -> Json {
    value[name] = field;
    value
}

/// The least that a container may have.
fn own() -> Json {
    json!({ "cpu_millicores": 1, "memory_mib": 4, "scratch_mib": 1, "max_duration_sec": 1 })
}

/// What has another form is refused by its name.
#[test]
fn wrong_fields_are_named() {
    let with = |name: &str, value: Json| {
        let mut resources = own();
        resources[name] = value;
        json!({ "resources": resources })
    };
    let hosts: Vec<String> = (0..33).map(|number| format!("h{number}.example.com")).collect();
    let rows = [
        ("image", json!({ "image": "alpine:latest" })),
        ("image", json!({ "image": image('B') })),
        ("image", json!({ "image": format!("@sha256:{}", "b".repeat(64)) })),
        ("image", json!({ "image": format!("{}0", image('b')) })),
        ("image", json!({ "image": 7 })),
        ("source", json!({ "source": "http://registry.example.com/a" })),
        ("source", json!({ "source": "oci://registry.example.com" })),
        ("source", json!({ "source": "oci://Registry.example.com/a" })),
        ("source", json!({ "source": "oci://registry.example.com/../a" })),
        ("source", json!({ "source": "oci://registry.example.com:05/a" })),
        ("source", json!({ "source": "volume:memory/images" })),
        ("source", json!({ "source": format!("volume:{}", "0f".repeat(32)) })),
        ("source", json!({ "source": format!("volume:{}/images", "0F".repeat(32)) })),
        ("source", json!({ "source": format!("volume:{}/../images", "0f".repeat(32)) })),
        ("source", json!({ "source": format!("volume:{}/{}", "0f".repeat(32), ["a"; 250].join("/")) })),
        ("command", json!({ "command": "count" })),
        ("command", json!({ "command": ["count", 1] })),
        ("command", json!({ "command": ["a\0b"] })),
        ("command", json!({ "command": vec!["a"; 257] })),
        ("command", json!({ "command": vec!["a".repeat(10_000); 7] })),
        ("env", json!({ "env": ["A=b"] })),
        ("env", json!({ "env": { "COWBOY_TASK_ID": "0" } })),
        ("env", json!({ "env": { "A=B": "c" } })),
        ("env", json!({ "env": { "1A": "c" } })),
        ("env", json!({ "env": { "A": 1 } })),
        ("env", json!({ "env": { "A": "b\0" } })),
        ("class", json!({ "class": "huge" })),
        ("class", json!({ "class": 1 })),
        ("resources", json!({ "class": "small", "resources": own() })),
        ("resources", with("gpu", 1.into())),
        ("resources", with("memory_mib", 3.into())),
        ("resources", with("cpu_millicores", 16_001.into())),
        ("resources", with("scratch_mib", 0.into())),
        ("resources", with("max_duration_sec", 7_201.into())),
        ("resources", json!({ "resources": { "cpu_millicores": 1 } })),
        ("platform", json!({ "platform": "windows/amd64" })),
        ("network", json!({ "network": "host" })),
        ("network", json!({ "network": { "allow": [] } })),
        ("network", json!({ "network": { "allow": ["*.example.com"] } })),
        ("network", json!({ "network": { "allow": ["169.254.169.254"] } })),
        ("network", json!({ "network": { "allow": ["a.example.com", "a.example.com"] } })),
        ("network", json!({ "network": { "allow": hosts } })),
        ("network", json!({ "network": { "allow": ["a.example.com"], "deny": [] } })),
        ("stdin", json!({ "stdin": "a".repeat(65_537) })),
        ("stdin", json!({ "stdin": 1 })),
        ("output", json!({ "output": "stderr" })),
        ("volumes", json!({ "volumes": "memory" })),
        ("volumes", json!({ "volumes": vec![mount(); 2] })),
        ("volumes", json!({ "volumes": (0..5).map(|number| with_field(mount(), "as", json!(format!("m{number}")))).collect::<Vec<_>>() })),
        ("volumes", json!({ "volumes": [with_field(mount(), "mode", json!("x"))] })),
        ("volumes", json!({ "volumes": [with_field(mount(), "mode", json!("rw"))] })),
        ("volumes", json!({ "volumes": [with_field(mount(), "as", json!("../etc"))] })),
        ("volumes", json!({ "volumes": [with_field(mount(), "partition", json!(".."))] })),
        ("volumes", json!({ "volumes": [with_field(mount(), "volume", json!(hex(&[1; 32])))] })),
        ("volumes", json!({ "volumes": [with_field(mount(), "path", json!("a"))] })),
    ];
    for (field, fields) in rows {
        assert_eq!(read(fields.clone()), Err(field.to_owned()), "{fields}");
    }
}

/// A runner is drawn where it gives one container what the job asks for, by its class or by numbers.
#[test]
fn a_runner_needs_the_room() {
    for (place, name) in classes::NAMES.into_iter().enumerate() {
        let given = [(1_000, 512, 1_024), (2_000, 2_048, 5_120), (4_000, 8_192, 20_480)][place];
        let mut market = market(&[given]);
        let id = market.submit(&job(json!({ "class": name })));
        let spec: JobSpec = market.chain.record(&cowboy_system::dispatcher::state::spec_key(&id)).expect("its record");
        let asked = spec.resources.expect("a container has resources");
        assert_eq!((asked.cpu_millicores.0, asked.memory_mib.0, asked.scratch_mib.0), given, "{name}");
        assert_eq!(spec.bounds.wall_ms.0, [300, 600, 1_800][place] * 1_000, "{name}");
        assert_eq!(spec.bounds.memory_mb, asked.memory_mib);
        // One less of anything is too little.
        for (cpu, memory, scratch) in [(1, 0, 0), (0, 1, 0), (0, 0, 1)] {
            let less = (given.0 - cpu, given.1 - memory, given.2 - scratch);
            assert_eq!(self::market(&[less]).refused(&job(json!({ "class": name }))), "no_candidates", "{name} of {less:?}");
        }
        let class = market.chain.send(1, execution(REGISTRY_OF_IMAGES, "get_class", &map(&json!({ "name": name })).encode(), 0));
        let class = cowboy_types::cbor::decode(&class.return_data).expect("CBOR");
        assert_eq!(class.get("memory_mib").and_then(Value::as_u64), Some(given.1));
    }
    // Programs are for a platform.
    let mut market = self::market(&[(1_000, 512, 1_024)]);
    market.submit(&job(json!({ "platform": "linux/amd64" })));
    assert_eq!(market.refused(&job(json!({ "platform": "linux/arm64" }))), "no_candidates");
    // A runner of containers says what it gives, and nobody else does.
    let mut silent = declaration(10);
    silent["kinds"] = json!(["container"]);
    let mut idle = declaration(10);
    idle["containers"] = json!({ "cpu_millicores": 1, "memory_mib": 1, "scratch_mib": 1, "platforms": ["linux/amd64"], "volumes": true });
    let mut nowhere = silent.clone();
    nowhere["containers"] = json!({ "cpu_millicores": 1, "memory_mib": 1, "scratch_mib": 1, "platforms": [], "volumes": true });
    for declared in [silent, idle, nowhere] {
        assert_eq!(market.chain.send(10, ask(REGISTRY, "update", &declared, 0)).abort, Some(error::INVALID_ARGUMENT));
    }
}

/// The most that a job may ask for is a matter of rows; the time that it asks for has to fit its timeout; the limits stand in one place.
#[test]
fn a_job_has_its_limits() {
    let Containers { cpu_max, memory_max, scratch_max, seconds_max, .. } = Params::GENESIS.containers;
    assert_eq!((cpu_max, memory_max, scratch_max, seconds_max), (16_000, 65_536, 204_800, 7_200));
    let mut market = market(&[(cpu_max, memory_max, scratch_max)]);
    let largest =
        json!({ "cpu_millicores": cpu_max, "memory_mib": memory_max, "scratch_mib": scratch_max, "max_duration_sec": seconds_max });
    market.submit(&job(json!({ "resources": largest })));
    for name in ["cpu_millicores", "memory_mib", "scratch_mib", "max_duration_sec"] {
        let mut more = largest.clone();
        more[name] = (more[name].as_u64().expect("a number") + 1).into();
        assert_eq!(market.refused(&job(json!({ "resources": more }))), "container_invalid", "{name}");
    }
    for (class, seconds) in classes::NAMES.into_iter().zip([300, 600, 1_800]) {
        let mut short = job(json!({ "class": class }));
        short["timeout_blocks"] = (seconds + 5).into();
        market.submit(&short);
        short["timeout_blocks"] = (seconds + 4).into();
        assert_eq!(market.refused(&short), "job_timeout", "{class}");
    }
    // What a container writes to volumes is kept within blocks of their own, and until then it is memory of the runner, as files are.
    let written = |mode: &str, max_bytes: u64| json!([{ "volume": "memory", "partition": "notes", "mode": mode, "max_bytes": max_bytes }]);
    for (mode, least) in [("r", 305), ("w", 365), ("rw", 365)] {
        let mut short = job(json!({ "volumes": written(mode, 1) }));
        for (timeout, expected) in [(least - 1, "job_timeout"), (least, "volume_not_found")] {
            short["timeout_blocks"] = timeout.into();
            assert_eq!(market.refused(&short), expected, "{mode} in {timeout}");
        }
    }
    let mut twice = job(json!({}));
    twice["bounds"] = json!({ "max_wall_time_seconds": 10 });
    assert_eq!(market.refused(&twice), "job_field");
    twice["bounds"] = json!({ "max_memory_mb": 10 });
    assert_eq!(market.refused(&twice), "job_field");
}

/// The requests of a container's program are paid for beside its time, up to a number of them.
#[test]
fn requests_are_paid_for() {
    assert_eq!(Params::GENESIS.containers.requests, 1_000);
    for (requests, gross) in [(0, 1_000), (5, 1_035), (1_000, 8_000), (1_000_000_000_000, 8_000)] {
        let mut market = market(&[(1_000, 512, 1_024)]);
        let mut declared = declaration(10);
        declared["kinds"] = json!(["container"]);
        declared["rates"] = json!({ "compute_second": 1_000, "http_request_base": 7, "max_job_value": cby(5_000) });
        declared["containers"] =
            json!({ "cpu_millicores": 1_000, "memory_mib": 512, "scratch_mib": 1_024, "platforms": ["linux/amd64"], "volumes": true });
        assert_eq!(market.chain.send(10, ask(REGISTRY, "update", &declared, 0)).abort, None);
        let mut job = job(json!({ "network": { "allow": ["a.example.com"] } }));
        job["tip"] = 0.into();
        let id = market.submit(&job);
        let said = market.said(10, b"x").using(requests, 1_000);
        assert_eq!(market.submit_alone(&id, &said).abort, None);
        assert_eq!(market.job(&id).members[0].paid.0, gross * 89 / 100, "{requests} requests");
    }
}

/// 003 §12.2, decision 164: where several runners have to find the same, a container has no network, unless environments are trusted.
#[test]
fn several_runners_reach_nothing() {
    let mut market = market(&[(1_000, 512, 1_024); 3]);
    let mut several = job(json!({ "network": { "allow": ["a.example.com"] } }));
    market.submit(&several);
    several["verification"] = json!({ "mode": "majority_vote", "runners": 3 });
    assert_eq!(market.refused(&several), "container_invalid");
    several["job_type"]["network"] = "none".into();
    market.submit(&several);
}

/// What governance decided is listed, ascending by digest, in pages; deciding again changes the row.
#[test]
fn decisions_are_listed() {
    let mut market = market(&[]);
    for number in (0..70_u8).rev().chain([7]) {
        let decided = json!({ "digest": hex(&[number; 32]), "allowed": number != 7, "name": format!("image {number}") });
        assert!(market.chain.decide(NUMBER, "set_image", &map(&decided)));
    }
    let mut page = |first: Option<u8>| {
        let first = first.map(|number| hex(&[number; 32]));
        let answer = market.chain.send(1, execution(REGISTRY_OF_IMAGES, "list_images", &map(&json!({ "first": first })).encode(), 0));
        let Ok(Value::Array(rows)) = cowboy_types::cbor::decode(&answer.return_data) else { panic!("a list: {answer:?}") };
        let row = |row: &Value| {
            let digest = row.get("digest").and_then(Value::as_bytes).and_then(|digest| digest.first().copied());
            (digest.expect("a digest"), row.get("allowed") == Some(&Value::Bool(true)))
        };
        rows.iter().map(row).collect::<Vec<_>>()
    };
    let expected: Vec<(u8, bool)> = (0..70).chain([0xBB]).map(|number| (number, number != 7)).collect();
    assert_eq!(page(None), expected[..64]);
    assert_eq!(page(Some(63)), expected[63..]);
    assert_eq!(page(Some(0xBC)), []);
}
