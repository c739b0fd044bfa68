//! Work that an attacker could have done for nothing: what is decoded and compared on behalf of a delivery or of a job is counted before it
//! is done (decisions 393 and 394), and evictions, removals of expired timers and of entitlements share a block's time with everything else (decisions 692, 722, 781).

use cowboy_params::Params;
use cowboy_state::records::Timer;
use cowboy_state::{Directory, Kind};
use cowboy_system::storage::rent;
use cowboy_testkit::chain::{ALL, Chain, deployment, deployment_of, execution, manifest, manifest_json, parameters, signed};
use cowboy_testkit::market::{Market, VERIFIER, ask, simple_job};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Count, Cycles, Height};
use cowboy_types::{Address, actors, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![lists_of_manifests_are_short, judging_is_bounded_by_its_comparisons];

const GENESIS: Params = Params::GENESIS;

const DISPATCHER: Address = Address::system(actors::DISPATCHER);

/// A manifest that lists `assets` assets of 60 bytes.
fn listing(assets: usize) -> Vec<u8> {
    let names: Vec<String> = (0..assets).map(|number| format!("\"{number:060}\"")).collect();
    let grant = format!(r#"{{"id":"bridge.asset","params":{{"allowlist_assets":[{}]}}}}"#, names.join(","));
    manifest_json(&format!(r#"{{"entitlements":[{grant},{{"id":"econ.hold_balance"}}]}}"#))
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).expect("fits")
}

/// Modelled time of a block with one call of account 1.
fn weight_of(chain: &mut Chain, target: Address, handler: &str, payload: &[u8]) -> u64 {
    let nonce = chain.nonce(1);
    let outcome = chain.block(vec![signed(1, nonce, execution(target, handler, payload, 0))]);
    assert_eq!(outcome.receipts[0].abort, None, "{handler}");
    outcome.weight_ns
}

/// The first time that a delivery reads an actor's manifest, its bytes count: else a loop of calls has megabytes of lists decoded for the
/// price of calls. Further calls of the delivery do not count them again, and each delivery does, whatever the block has decoded.
#[test]
fn manifests_count_by_their_bytes() {
    let mut chain = Chain::new();
    let script = b"#script\nhandler go\n";
    let (short, long) = (manifest(&[("econ.hold_balance", &[])]), listing(200));
    let plain = chain.send(1, deployment_of(script, Some(short.clone()), None, b"", 0)).created.expect("deployed");
    let listed = chain.send(1, deployment_of(b"#script\nhandler go\n\n", Some(long.clone()), None, b"", 0)).created.expect("deployed");
    let more = (size(&long) - size(&short)) * GENESIS.weights.argument_byte;
    let each = |chain: &mut Chain, target| weight_of(chain, target, "go", b"");
    let (one, other) = (each(&mut chain, plain), each(&mut chain, listed));
    let source = GENESIS.weights.source_byte;
    assert_eq!(other - one, more + source, "called by a transaction, with a byte of source more");

    let calls = |target: Address, count: usize| format!("handler run\n{}", format!(" call {target} 'go' ''\n").repeat(count));
    let callers: Vec<Address> =
        [(plain, 1), (plain, 3), (listed, 1), (listed, 3)].map(|(to, count)| chain.deploy(&calls(to, count))).to_vec();
    let weights: Vec<u64> = callers.iter().map(|caller| weight_of(&mut chain, *caller, "run", b"")).collect();
    assert_eq!(weights[2] - weights[0], more + source, "called once");
    assert_eq!(weights[3] - weights[1], more + source, "called three times in one delivery");
    let nonce = chain.nonce(1);
    let twice = |to| vec![signed(1, nonce, execution(to, "go", b"", 0)), signed(1, nonce + 1, execution(to, "go", b"", 0))];
    let both = chain.block(twice(listed)).weight_ns;
    assert!(both >= 2 * size(&long) * GENESIS.weights.argument_byte, "each delivery counts it: {both}");
}

/// So does whoever is paid, whose manifest says whether it may keep what it got.
#[test]
fn manifests_of_payees_count() {
    let mut chain = Chain::new();
    let (short, long) = (manifest(&[("econ.hold_balance", &[])]), listing(200));
    let mut paid = |code: &[u8], manifest: &Vec<u8>| {
        let actor = chain.send(1, deployment_of(code, Some(manifest.clone()), None, b"", 0)).created.expect("deployed");
        let nonce = chain.nonce(1);
        chain.block(vec![cowboy_testkit::chain::transfer(1, nonce, actor, 1)]).weight_ns
    };
    let (one, other) = (paid(b"#script\nhandler go\n", &short), paid(b"#script\nhandler to\n", &long));
    assert_eq!(other - one, (size(&long) - size(&short)) * GENESIS.weights.argument_byte);
}

/// A list of a manifest has a bound of its own, whatever the bytes of the manifest: a value of a byte takes as long as a long one.
#[test]
fn lists_of_manifests_are_short() {
    let mut chain = Chain::new();
    let most = usize::try_from(GENESIS.entitlements.list_items).expect("fits");
    let stars = |count: usize| {
        let grant = format!(r#"{{"id":"bridge.asset","params":{{"allowlist_assets":[{}]}}}}"#, vec![r#""*""#; count].join(","));
        manifest_json(&format!(r#"{{"entitlements":[{grant}]}}"#))
    };
    let mut deploy = |count, code: &[u8]| chain.send(1, deployment_of(code, Some(stars(count)), None, b"", 0)).abort;
    assert_eq!(deploy(most, b"#script\nhandler a\n"), None);
    assert_eq!(deploy(most + 1, b"#script\nhandler b\n"), Some(error::ENTITLEMENT_PARAM));
}

/// The manifest of a child counts before it is decoded, also where nothing is created.
#[test]
fn manifests_of_children_count() {
    let mut chain = Chain::new();
    let code: String = b"#script\nhandler c\n".iter().map(|byte| format!("{byte:02x}")).collect();
    let spawner = chain.deploy(&format!("handler go\n try spawn 0x{code} '' '' '' $payload\n return $last\n"));
    let (short, long) = (manifest(&[("sys.upgrade", &[])]), listing(200));
    let (one, other) = (weight_of(&mut chain, spawner, "go", &short), weight_of(&mut chain, spawner, "go", &long));
    // The texts of the two refusals differ by a few bytes.
    assert!(other - one + 500 >= 2 * (size(&long) - size(&short)) * GENESIS.weights.argument_byte, "{one} {other}");
}

/// An actor pays for its own lists by the byte when it asks for them.
#[test]
fn lists_that_an_actor_reads_are_paid_for() {
    let mut chain = Chain::new();
    let mut ask = |assets: usize, script: &[u8]| {
        let actor = chain.send(1, deployment_of(script, Some(listing(assets)), None, b"", 0)).created.expect("deployed");
        let nonce = chain.nonce(1);
        let outcome = chain.block(vec![signed(1, nonce, execution(actor, "go", b"", 0))]);
        assert_eq!(outcome.receipts[0].abort, None);
        outcome.receipts[0].cycles_used.0
    };
    let (one, other) =
        (ask(10, b"#script\nhandler go\n grant 'bridge.asset'\n"), ask(110, b"#script\nhandler go\n grant 'bridge.asset' \n"));
    assert!(other - one >= 100 * 62 * GENESIS.costs.argument_byte, "{one} {other}");
}

/// What is sent to the Dispatcher is looked at by the gate, and paid for by its bytes before, whatever method is named; a method that
/// takes it costs what it does for everybody else.
#[test]
fn the_gate_is_paid_before_it_decodes() {
    let mut chain = Chain::new();
    let items = |count: usize| Value::map([("x", Value::Array(vec![Value::Map(Vec::new()); count]))]).encode();
    let (small, large) = (items(1), items(60_000));
    let paid = (size(&large) - GENESIS.costs.argument_free) * GENESIS.costs.argument_byte;
    for ask in ["try call TO 'x' $payload", "try call TO 'submit_job' $payload", "try send TO $payload 0 'x'", "try job $payload"] {
        let ask = ask.replace("TO", &DISPATCHER.to_string());
        let actor = chain.deploy(&format!("handler run\n {ask}\n return $last\n"));
        let nonce = chain.nonce(1);
        let mut run = |place: u64, payload: &[u8]| {
            let outcome = chain.block(vec![signed(1, nonce + place, execution(actor, "run", payload, 0))]);
            assert_eq!(outcome.receipts[0].abort, None, "{ask}");
            // A message is delivered in a block of its own.
            chain.idle(1);
            (outcome.receipts[0].cycles_used.0, outcome.weight_ns)
        };
        let (before, after) = (run(0, &small), run(1, &large));
        assert_eq!(after.0 - before.0, paid, "{ask}: once, for {} bytes", large.len());
        assert!(after.1 - before.1 >= (size(&large) - size(&small)) * GENESIS.weights.argument_byte, "{ask}");
    }
    // Too little is left for decoding it: nothing is decoded.
    let actor = chain.deploy(&format!("handler run\n try call {DISPATCHER} 'x' $payload\n return $last\n\n"));
    let mut transaction = cowboy_testkit::chain::unsigned(1, chain.nonce(1), execution(actor, "run", &large, 0));
    transaction.cycles_limit = cowboy_types::units::Cycles(21_000 + paid - 1);
    let receipt = chain.one(cowboy_testkit::chain::sign(1, transaction));
    assert_eq!((receipt.abort, receipt.cycles_used.0), (Some(error::OUT_OF_CYCLES), 21_000 + paid - 1));
}

/// A job says how its results are judged, and that takes time which no proposer can leave out: it is bounded by the comparisons that the
/// checks make for the longest results, paid for at submission, and a step counts it for the results that there are.
#[test]
fn judging_is_bounded_by_its_comparisons() {
    let mut market = Market::new(3);
    let listed = |values: usize| {
        let values: Vec<String> = (0..values).map(|value| value.to_string()).collect();
        format!(r#"{{"items":{{"enum":[{}]}}}}"#, values.join(","))
    };
    let job = |format: &str, checks: usize, longest: u64, mode: &str| {
        let mut job = simple_job();
        let check = serde_json::json!({ "type": "json_schema", "schema": listed(100) });
        let runners = if mode == "none" { 1 } else { 3 };
        job["verification"] = serde_json::json!({ "mode": mode, "runners": runners, "checks": vec![check; checks] });
        job["result_schema"]["data_format"] = format.into();
        job["result_schema"]["max_return_bytes"] = longest.into();
        job
    };
    // What three members and a further committee may return to sixteen checks is more than a block should judge.
    assert_eq!(market.refused(&job("json", 16, 65_536, "structured_match")), "job_invalid");
    assert_eq!(market.refused(&job("json", 2, 65_536, "structured_match")), "");

    let mut weights = Vec::new();
    let mut cycles = Vec::new();
    for (format, checks) in [("json", 0), (listed(1_000).as_str(), 15)] {
        let receipt = market.chain.send(1, ask(DISPATCHER, "submit_job", &job(format, checks, 65_536, "none"), 0));
        assert_eq!(receipt.abort, None);
        let id = cowboy_testkit::market::id_of(&receipt);
        cycles.push(receipt.cycles_used.0);
        let member = market.draw(&id)[0];
        let output = format!("[{}1]", "1,".repeat(4_999));
        let said = market.said(member, output.as_bytes());
        let transaction = signed(member, market.chain.nonce(member), ask(VERIFIER, "submit_result", &said.alone(&id), 0));
        let outcome = market.chain.block(vec![transaction]);
        assert!(outcome.receipts.iter().all(cowboy_types::Receipt::is_success));
        assert_eq!(market.job(&id).status, cowboy_types::job::JobStatus::Settled, "the step ran");
        weights.push(outcome.weight_ns);
    }
    // Ten comparisons for a value of the longer list, and seven for each of the other fifteen.
    let (steps, bytes) = (11 + 15 * 8, 10_001);
    assert!(weights[1] - weights[0] >= steps * 5 * bytes, "{weights:?}");
    assert!(cycles[1] - cycles[0] >= 10 * 65_536 / 32 * GENESIS.jobs.verify_word, "{cycles:?}");
}

/// Decision 559: a fire costs a call whatever its handler may use, so that nobody takes the time of a block with fires of one cycle; and a timer
/// that waits pays rent.
#[test]
fn a_fire_pays_for_its_call() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler handle_timer\n emit 'fired' 'x'\nhandler both\n try interval 3 'x' 1199\n try interval 3 'x' 1200\n");
    assert!(chain.call(actor, "both", b"").is_success());
    let timers = chain.all::<Timer>(Kind::Timer);
    assert_eq!(timers.iter().map(|(_, timer)| timer.cycles_limit).collect::<Vec<_>>(), [Cycles(1_200)], "one cycle less was refused");
    chain.idle(2);
    let outcome = chain.block(vec![]);
    let fired = &outcome.receipts[0];
    assert_eq!((fired.cycles_used, fired.abort.as_ref()), (Cycles(1_200), Some(&error::OUT_OF_CYCLES)));
    assert!(outcome.weight_ns >= GENESIS.weights.delivery + GENESIS.weights.call, "it took as much time as any delivery");
    let mut record = chain.actor(actor);
    record.storage_bytes = Count(1 << 20);
    let with_one = rent::billable(&GENESIS, &record);
    record.timers_live = Count(0);
    assert_eq!(with_one - rent::billable(&GENESIS, &record), GENESIS.intrinsic.timer_cells);
}

/// Attack: somebody has many small actors that pay no rent evicted at one height, on a chain whose rows allow many evictions in a block. Cost: a deployment
/// for each. Victim: everyone, if these blocks took longer. They do not: evictions have what is left of a block's time, and one step in a full block, so
/// that nobody holds them up either.
#[test]
fn evictions_share_a_blocks_time() {
    const STEP: u64 = 1_000_000;
    let rows = [
        ("execution.block_weight", 10 * STEP),
        ("rent.collections_per_block", 10_000),
        ("rent.epoch", 100),
        ("rent.eviction_epochs", 1),
        ("rent.free_bytes", 1_000),
        ("rent.grace_epochs", 0),
        ("rent.prunings_per_block", 1_000),
        ("rent.rate", 365_000),
        ("rent.warning_epochs", 0),
        ("weights.rent_step", STEP),
    ];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let slow = chain.deploy("handler go\n weigh 20000000\n");
    for number in 0..31 {
        let script = format!("handler get\n return '{number}{}'\n", "x".repeat(2_000));
        assert!(chain.send(1, deployment(&script, Some(ALL), None, 0)).created.is_some());
    }
    let evicted = |chain: &Chain| chain.names(Directory::evictions()).len();
    chain.height = Height(99);
    let full = weight_of(&mut chain, slow, "go", b"");
    assert_eq!((full / STEP, evicted(&chain)), (21, 1), "one step in a block that is full");
    let mut steps = |left: usize| {
        let outcome = chain.block(Vec::new());
        assert_eq!(evicted(&chain), left, "actors that were evicted, and of which something is left");
        outcome.weight_ns / STEP
    };
    assert_eq!([11, 21, 31].map(&mut steps), [10; 3], "collections fill blocks, and no more");
    assert_eq!([21, 11, 1, 0, 0].map(&mut steps), [10, 10, 10, 1, 0], "so does the removal of what was left");
}

/// Attack: somebody has many timers expire at one height. Cost: what scheduling them cost. Victim: everyone, if these blocks took longer. They do not:
/// removals have the timers' part of a block's time, and one step in a full block, so that nobody holds them up either (decision 722).
#[test]
fn expiries_share_a_blocks_time() {
    const STEP: u64 = 2_000_000;
    let rows = [("execution.block_weight", 5 * STEP), ("timers.ttl_blocks", 1_000), ("weights.record", STEP / 8)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let slow = chain.deploy("handler go\n weigh 20000000\n");
    let lines: String = (0..30).map(|number| format!(" timer 9 'n{number}'\n")).collect();
    let actor = chain.deploy(&format!("handler run\n{lines}"));
    assert!(chain.call(actor, "run", b"").is_success());
    chain.height = Height(2_000);
    let full = weight_of(&mut chain, slow, "go", b"");
    assert_eq!((full / STEP, chain.actor(actor).timers_live), (11, Count(29)), "one removal in a block that is full");
    let mut steps = |left: u64| {
        let outcome = chain.block(Vec::new());
        assert_eq!(chain.actor(actor).timers_live, Count(left), "timers that are left");
        outcome.weight_ns / STEP
    };
    assert_eq!([24, 19, 14, 9, 4, 0, 0].map(&mut steps), [5, 5, 5, 5, 5, 4, 0], "removals fill blocks, and no more");
}

/// A step that removes what an evicted actor left counts each record, and every byte that it reads.
#[test]
fn pruning_counts_what_it_reads() {
    let rows =
        [("rent.epoch", 100), ("rent.eviction_epochs", 1), ("rent.free_bytes", 0), ("rent.grace_epochs", 0), ("rent.warning_epochs", 0)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let script = "handler put\n set 'a' $payload\n set 'b' $payload\n";
    let actor = chain.send(1, deployment(script, Some(ALL), None, 0)).created.expect("deployed");
    assert_eq!(chain.call(actor, "put", &[7; 30_000]).abort, None);
    chain.height = Height(99);
    let weights = &GENESIS.weights;
    // The collection that evicts it, a chunk with both entries, and the end.
    let expected = 3 * weights.rent_step + 2 * weights.record + 60_000 * weights.signed_byte;
    assert_eq!(chain.block(Vec::new()).weight_ns, expected);
}

/// Looks at actors after the removal of an entitlement count, and take no more of a block than an agenda has (decision 781): whoever sees the removal coming can
/// deploy many actors with long manifests.
#[test]
fn removals_of_entitlements_share_the_time() {
    let rows = [
        ("entitlements.deprecation_window", 100),
        ("execution.block_weight", 10_000_000),
        ("execution.delivery_weight", 10_000_000),
        ("weights.record", 1_000_000),
    ];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    for number in 0..7 {
        chain.deploy_with(&format!("handler h{number}\n"), &[("storage.kv", &[])], 0);
    }
    let from = chain.height.0 + 1;
    let argument = Value::map([("id", Value::text("storage.kv")), ("from", Value::uint(from))]);
    assert!(chain.decide(actors::ENTITLEMENTS, "deprecate", &argument));
    assert!(chain.idle(from + 100 - chain.height.0).is_empty());
    // Each look takes three records and a little more, and none begins once ten were taken.
    let announced: Vec<(usize, u64)> = (0..3)
        .map(|_| {
            let outcome = chain.block(Vec::new());
            (outcome.receipts.iter().map(|receipt| receipt.events.len()).sum(), outcome.weight_ns / 3_000_000)
        })
        .collect();
    assert_eq!(announced, [(4, 4), (3, 3), (0, 0)]);
}
