//! Entitlements at work: the gate of every id, upgrades, spawning, removal, redeployment (000 §6 to §9).

pub(crate) mod burdens;
pub(crate) mod open_permissions;
pub(crate) mod permissions;

use cowboy_state::records::ActorStatus;
use cowboy_system::entitlements::state::{ManifestHistory, manifest_history};
use cowboy_testkit::chain::{ALL, Chain, address, deployment, deployment_of, execution, manifest, manifest_json, parameters, signed};
use cowboy_types::cbor::Value;
use cowboy_types::permission::{Action, Constraints, Scope};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::{Abort, Address, Receipt, error, keccak256};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    every_request_has_its_gate,
    manifests_and_permissions_are_apart,
    requests_count_over_an_execution,
    domain_sets_are_governed,
    system_actors_upgrade_in_place,
    children_belong_to_their_parents,
    a_removed_entitlement_stops_its_holders,
    a_removal_is_announced_bit_by_bit,
    messages_to_an_actor_that_stands_still_fail,
    a_redeployed_child_stays_within_its_parent,
    deprecations_are_listed,
    grants_are_never_lent,
];

fn hex(bytes: &[u8]) -> String {
    format!("0x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// The message that the SDK sends to the Dispatcher.
fn job(kind: &str, argument: &str, kwargs: Vec<(&str, Value)>) -> String {
    let payload = Value::map([("args", Value::Array(vec![Value::text(argument)])), ("kwargs", Value::dict(kwargs))]);
    let message = [
        ("kind", Value::text("runner_job")),
        ("job_type", Value::text(kind)),
        ("payload", payload),
        ("cid", Value::text("a")),
        ("reply_handler", Value::text("b")),
    ];
    hex(&Value::map(message).encode())
}

fn of_json(chain: &mut Chain, script: &str, json: &str) -> Address {
    let manifest = manifest_json(&format!(r#"{{"entitlements":{json}}}"#));
    // A handler that nobody calls makes another address of the same script with other grants.
    let source = format!("#script\n{script}handler {}\n", hex(&keccak256(&[json.as_bytes()]).0));
    let receipt = chain.send(1, deployment_of(source.as_bytes(), Some(manifest), None, b"", 0));
    assert_eq!(receipt.abort, None, "{json}");
    receipt.created.expect("a deployment creates")
}

fn system(number: u8) -> String {
    hex(&Address::system(number).0)
}

/// A call of 0x07 by an account.
fn ask(chain: &mut Chain, from: u8, method: &str, argument: &Value) -> Receipt {
    chain.send(from, execution(Address::system(7), method, &argument.encode(), 0))
}

/// A-254, A-263, A-264, A-180: the gate of every id that a request to another part needs: without the grant, with it, and one beyond it.
#[test]
fn every_request_has_its_gate() {
    let http = job("http", "https://a.com/x", vec![]);
    let llm = job("llm", "hello", vec![("max_tokens", Value::uint(10))]);
    let gpu = job("custom", "x", vec![("min_vram_gb", Value::uint(16))]);
    let tee = job("custom", "x", vec![("tee_type", Value::text("sgx"))]);
    let region = job("custom", "x", vec![("region", Value::text("eu"))]);
    let asset = hex(&Value::map([("asset", Value::text("wETH"))]).encode());
    let contract = hex(&Value::map([("contract", Value::Bytes(vec![1; 20]))]).encode());
    let to = |number: u8, payload: &str| format!("try send {} {payload}", system(number));
    // A line, a grant that is enough, and a grant that is not, with why.
    let rows: [(String, &str, &str, Abort); 12] = [
        (
            to(2, &http),
            r#"[{"id":"http.fetch","params":{"allowlist_domains":["a.com"]}}]"#,
            r#"[{"id":"http.fetch","params":{"allowlist_domains":["b.com"]}}]"#,
            error::MISSING_ENTITLEMENT,
        ),
        (
            format!("try job {http}"),
            r#"[{"id":"http.fetch","params":{"allowlist_domains":["*"]}}]"#,
            r#"[{"id":"http.fetch","params":{"max_requests":0}}]"#,
            error::ENTITLEMENT_QUOTA,
        ),
        (
            format!("try call {} 'submit_job' {http}", system(2)),
            r#"[{"id":"http.fetch"}]"#,
            r#"[{"id":"http.fetch","params":{"domain_set":"price_feeds"}}]"#,
            error::MISSING_ENTITLEMENT,
        ),
        (
            to(2, &llm),
            r#"[{"id":"oracle.llm","params":{"max_tokens":10}}]"#,
            r#"[{"id":"oracle.llm","params":{"max_tokens":9}}]"#,
            error::ENTITLEMENT_QUOTA,
        ),
        (
            to(2, &gpu),
            r#"[{"id":"accel.gpu","params":{"min_vram_gb":16}}]"#,
            r#"[{"id":"accel.gpu","params":{"min_vram_gb":15}}]"#,
            error::ENTITLEMENT_QUOTA,
        ),
        (
            to(2, &tee),
            r#"[{"id":"sec.tee_required","params":{"tee_type":"sgx"}}]"#,
            r#"[{"id":"sec.tee_required","params":{"tee_type":"sev"}}]"#,
            error::MISSING_ENTITLEMENT,
        ),
        (
            to(2, &region),
            r#"[{"id":"sec.data_residency","params":{"region":"eu"}}]"#,
            r#"[{"id":"sec.data_residency","params":{"region":"us"}}]"#,
            error::MISSING_ENTITLEMENT,
        ),
        (
            "try blob 'abcde'".to_string(),
            r#"[{"id":"storage.blob","params":{"max_bytes":5}}]"#,
            r#"[{"id":"storage.blob","params":{"max_bytes":4}}]"#,
            error::ENTITLEMENT_QUOTA,
        ),
        (to(0x0A, "'put'"), r#"[{"id":"storage.blob"}]"#, r#"[{"id":"storage.kv"}]"#, error::MISSING_ENTITLEMENT),
        (
            to(0x14, &asset),
            r#"[{"id":"bridge.asset","params":{"allowlist_assets":["wETH"]}}]"#,
            r#"[{"id":"bridge.asset","params":{"allowlist_assets":["DAI"]}}]"#,
            error::MISSING_ENTITLEMENT,
        ),
        (
            to(0x14, &contract),
            r#"[{"id":"bridge.subscribe_event"}]"#,
            r#"[{"id":"bridge.subscribe_event","params":{"allowlist_contracts":[]}}]"#,
            error::MISSING_ENTITLEMENT,
        ),
        ("try upgrade 'x'".to_string(), "", r#"[{"id":"storage.kv"}]"#, error::MISSING_ENTITLEMENT),
    ];
    let mut chain = Chain::new();
    for (line, enough, too_little, expected) in rows {
        let script = format!("handler run\n {line}\n");
        let without = chain.deploy_with(&script, &[], 0);
        assert_eq!(chain.call(without, "run", b"").abort, Some(error::MISSING_ENTITLEMENT), "{line}");
        let little = of_json(&mut chain, &script, too_little);
        assert_eq!(chain.call(little, "run", b"").abort, Some(expected), "{line} with {too_little}");
        if !enough.is_empty() {
            let granted = of_json(&mut chain, &script, enough);
            assert_eq!(chain.call(granted, "run", b"").abort, None, "{line} with {enough}");
        }
    }
}

/// A-264: max_requests counts over an execution, however often it comes back to the actor, and anew in the next.
#[test]
fn requests_count_over_an_execution() {
    let line = format!("send {} {}", system(2), job("http", "https://a.com", vec![]));
    let script = format!(
        "handler one\n {line}\nhandler two\n {line}\n {line}\nhandler three\n {line}\n {line}\n {line}\nhandler inner\n {line}\n self\n try call $1 'two' '' 90000\n return $last\n"
    );
    let mut chain = Chain::new();
    let actor = of_json(&mut chain, &script, r#"[{"id":"http.fetch","params":{"max_requests":2}}]"#);
    assert_eq!(chain.call(actor, "two", b"").abort, None);
    assert_eq!(chain.call(actor, "two", b"").abort, None, "the next execution counts anew");
    assert_eq!(chain.call(actor, "three", b"").abort, Some(error::ENTITLEMENT_QUOTA), "one too many");
    let inner = chain.call(actor, "inner", b"");
    assert_eq!((inner.abort, &inner.return_data[..]), (None, &b"entitlement_quota_exceeded"[..]), "coming back is the same execution");
}

/// A-253 (000 §8.4): governance replaces what a curated set reaches; nobody else may, and names nobody defined are refused.
#[test]
fn domain_sets_are_governed() {
    let mut chain = Chain::new();
    let script = format!("handler run\n send {} {}\n", system(2), job("http", "https://a.example.org", vec![]));
    let actor = of_json(&mut chain, &script, r#"[{"id":"http.fetch","params":{"domain_set":"price_feeds"}}]"#);
    assert_eq!(chain.call(actor, "run", b"").abort, Some(error::MISSING_ENTITLEMENT));
    let set = |name: &str, domains: &[&str]| {
        Value::map([("name", Value::text(name)), ("domains", Value::Array(domains.iter().map(|domain| Value::text(*domain)).collect()))])
    };
    assert_eq!(ask(&mut chain, 1, "set_domain_set", &set("price_feeds", &["*"])).abort, Some(error::SYSTEM_UNAUTHORIZED));
    assert!(!chain.decide(7, "set_domain_set", &set("price_feeds", &["A.com"])), "one form of each domain");
    assert!(!chain.decide(7, "set_domain_set", &set("Price Feeds", &["a.com"])), "and of each name");
    assert!(chain.decide(7, "set_domain_set", &set("price_feeds", &["*.example.org"])));
    assert_eq!(chain.call(actor, "run", b"").abort, None);
    let unknown = manifest_json(r#"{"entitlements":[{"id":"http.fetch","params":{"domain_set":"mine"}}]}"#);
    let deploy = deployment_of(b"#script\nhandler a\n", Some(unknown), None, b"", 0);
    assert_eq!(chain.send(1, deploy.clone()).abort, Some(error::ENTITLEMENT_PARAM));
    assert!(chain.decide(7, "set_domain_set", &set("mine", &["a.com"])));
    assert_eq!(chain.send(1, deploy).abort, None, "now there is such a set");
}

/// A-262, A-261: system deployers alone deploy with sys.upgrade; what they deployed replaces its own code and keeps everything else;
/// the entitlement is never lost and never gained.
#[test]
fn system_actors_upgrade_in_place() {
    let mut chain = Chain::with(|genesis| genesis.deployers = cowboy_types::List::new(vec![address(9)]).expect("one fits"));
    let grants: &[(&str, &[(&str, u64)])] = &[("storage.kv", &[]), ("sys.upgrade", &[])];
    let without = hex(&manifest(&[("storage.kv", &[])]));
    let with = hex(&manifest(&[("storage.kv", &[("max_bytes", 500)]), ("sys.upgrade", &[])]));
    let next = b"#script\nhandler version\n get 'a'\n return $last\nhandler again\n set 'a' 'more'\n";
    let script = format!(
        "handler init\n set 'a' 'kept'\nhandler lose\n try upgrade {0} {without}\n return $last\nhandler bad\n try upgrade 0xff\n return $last\nhandler routes\n try upgrade {0} none 'x'\n return $last\nhandler go\n upgrade {0} {with}\n return 'old'\n",
        hex(next)
    );
    let refused = chain.send(1, deployment(&script, Some(grants), Some("init"), 0));
    assert_eq!(refused.abort, Some(error::SYSTEM_ENTITLEMENT_UNAUTHORIZED));
    let actor = chain.send(9, deployment(&script, Some(grants), Some("init"), 0)).created.expect("account 9 is a system deployer");
    for (handler, expected) in [("lose", "system_entitlement_unauthorized"), ("bad", "source_not_canonical"), ("routes", "unavailable")] {
        assert_eq!(chain.call(actor, handler, b"").return_data[..], *expected.as_bytes(), "{handler}");
    }
    let before = chain.actor(actor);
    let upgraded = chain.call(actor, "go", b"");
    assert_eq!(&upgraded.return_data[..], b"old", "the handler under way continues with the old code");
    assert_eq!(&*upgraded.events[0].name, "ActorUpgraded");
    let after = chain.actor(actor);
    assert_eq!((after.code_hash, after.owner, after.created_at), (keccak256(&[next]), before.owner, before.created_at));
    assert_eq!(chain.call(actor, "version", b"").return_data[..], *b"kept");
    assert_eq!(chain.call(actor, "go", b"").abort, Some(error::UNKNOWN_HANDLER), "the old handlers are gone");
    let history: ManifestHistory = chain.record(&manifest_history(actor)).expect("the manifest changed");
    assert_eq!((history.past.len(), history.past[0].since, history.past[0].until), (1, before.created_at, upgraded_at(&chain, 3)));
}

/// The height of some blocks ago.
fn upgraded_at(chain: &Chain, ago: u64) -> cowboy_types::Height {
    cowboy_types::Height(chain.height.0 - ago + 1)
}

/// A-104, A-260, A-254: a child belongs to its parent, begins with the endowment, runs init, and never has more than the parent may pass on;
/// neither has its child.
#[test]
fn children_belong_to_their_parents() {
    let mut chain = Chain::new();
    let grants: &[(&str, &[(&str, u64)])] = &[
        ("econ.hold_balance", &[]),
        ("econ.transfer", &[]),
        ("exec.spawn", &[("max_children", 2)]),
        ("storage.kv", &[("max_bytes", 100)]),
    ];
    let leaf = hex(b"#script\nhandler init\n set 'a' $payload\nhandler raise\n raise\n");
    let fits = hex(&manifest(&[("econ.hold_balance", &[]), ("exec.spawn", &[("max_children", 1)]), ("storage.kv", &[("max_bytes", 60)])]));
    let holds = hex(&manifest(&[("storage.kv", &[("max_bytes", 60)])]));
    let wide = hex(&manifest(&[("storage.kv", &[("max_bytes", 61)])]));
    let transfers = hex(&manifest(&[("econ.transfer", &[])]));
    let child = hex(
        format!("#script\nhandler init\n set 'b' 'c'\nhandler wide\n try spawn {leaf} '' 'init' 'x' {wide}\n return $last\nhandler grow\n spawn {leaf} '' 'init' 'x' {holds}\n return $last\nhandler more\n try spawn {leaf} 'more' 'init' 'x' {holds}\n").as_bytes(),
    );
    let parent = chain.deploy_with(
        &format!(
            "handler go\n spawn {child} 'salt' 'init' '' {fits} 700\n return $last\nhandler poor\n try spawn {child} 'poor' 'init' '' {holds} 1\n return $last\nhandler transfers\n try spawn {leaf} '' '' '' {transfers}\n return $last\nhandler fails\n try spawn {leaf} 'f' 'raise' '' {holds}\n return $last\n"
        ),
        grants,
        10_000,
    );
    assert_eq!(chain.call(parent, "transfers", b"").return_data[..], *b"missing_entitlement", "econ.transfer is not inheritable");
    assert_eq!(chain.call(parent, "fails", b"").return_data[..], *b"handler_raised");
    assert_eq!(chain.actor(parent).children.0, 0, "a child whose init failed was never born");
    assert_eq!(chain.call(parent, "poor", b"").abort, Some(error::MISSING_ENTITLEMENT), "a child that may not hold CBY gets none");
    let born = Address(chain.call(parent, "go", b"").return_data[..].try_into().expect("an address"));
    let record = chain.actor(born);
    assert_eq!((record.creator, record.owner, chain.balance(born), chain.balance(parent)), (parent, parent, 700, 9_300));
    assert_eq!(chain.stored(born, "b").as_deref(), Some(&b"c"[..]));
    assert_eq!(chain.call(born, "wide", b"").return_data[..], *b"missing_entitlement");
    let grandchild = Address(chain.call(born, "grow", b"").return_data[..].try_into().expect("an address"));
    assert_eq!((chain.actor(grandchild).creator, chain.stored(grandchild, "a").as_deref()), (born, Some(&b"x"[..])));
    assert_eq!(chain.call(born, "more", b"").abort, Some(error::ENTITLEMENT_QUOTA), "one child is its most");
}

fn removal_chain(sweep: u64) -> Chain {
    let rows = [("entitlements.deprecation_window", 100), ("entitlements.sweep_per_block", sweep)];
    Chain::with(|genesis| genesis.parameters = parameters(&rows))
}

fn deprecation(id: &str, from: u64) -> Value {
    Value::map([("id", Value::text(id)), ("from", Value::uint(from))])
}

/// A-265, A-266, A-267: deprecated by governance alone, with a warning event at deployment, works during its window, and is removed at
/// H + window + 1: holders emit that they no longer run, keep state and balance, receive nothing; after redeployment they run again.
#[test]
fn a_removed_entitlement_stops_its_holders() {
    let mut chain = removal_chain(256);
    let script = "handler put\n set 'a' 'b'\nhandler tick\n self\n";
    let holder = chain.deploy(script);
    let other = chain.deploy_with("handler tick\n self\n", &[("exec.spawn", &[])], 0);
    assert!(chain.call(holder, "put", b"").is_success());
    let from = chain.height.0 + 12;
    assert_eq!(ask(&mut chain, 1, "deprecate", &deprecation("storage.kv", from)).abort, Some(error::SYSTEM_UNAUTHORIZED));
    for (id, at, case) in [("storage.disk", from, "unknown"), ("sys.upgrade", from, "never revoked"), ("storage.kv", 1, "in the past")] {
        assert!(!chain.decide(7, "deprecate", &deprecation(id, at)), "{case}");
    }
    assert!(chain.decide(7, "deprecate", &deprecation("storage.kv", from + 1)));
    assert!(!chain.decide(7, "deprecate", &deprecation("storage.kv", from + 2)), "once");
    let removed_at = from + 1 + 100 + 1;
    let early = chain.send(1, deployment("handler early\n", Some(ALL), None, 0));
    assert!(early.is_success());
    let warned = |receipt: &Receipt| receipt.events.iter().any(|event| &*event.name == "DeprecatedEntitlementUsed");
    while chain.height.0 < from {
        chain.idle(1);
    }
    let deployed = chain.send(1, deployment("handler late\n", Some(ALL), None, 0));
    assert_eq!((warned(&early), warned(&deployed)), (false, true));
    let balance = chain.balance(holder);
    let silent = chain.idle(removed_at - 2 - chain.height.0);
    assert!(silent.iter().all(|receipt| receipt.kind != ReceiptKind::Protocol));
    assert!(chain.call(holder, "put", b"").is_success(), "it works through the last block of the window");
    assert_eq!(chain.height.0, removed_at - 1);
    let removal = chain.idle(1);
    assert_eq!(removal.len(), 1);
    let still: Vec<Address> = removal[0].events.iter().map(|event| event.emitter).collect();
    assert_eq!(removal[0].kind, ReceiptKind::Protocol);
    assert!(still.contains(&holder) && still.len() == 3 && !still.contains(&other), "all holders and nobody else");
    assert!(removal[0].events.iter().all(|event| &*event.name == "ActorNonExecutable"));
    assert_eq!(chain.actor(holder).status, ActorStatus::NonExecutable);
    assert_eq!(chain.call(holder, "tick", b"").abort, Some(error::ACTOR_NON_EXECUTABLE));
    assert!(chain.call(other, "tick", b"").is_success());
    assert_eq!((chain.balance(holder), chain.stored(holder, "a").as_deref()), (balance, Some(&b"b"[..])));
    assert_eq!(chain.send(1, deployment("handler gone\n", Some(ALL), None, 0)).abort, Some(error::ENTITLEMENT_UNKNOWN));
    assert!(chain.idle(3).is_empty(), "emitted once");
    redeploys(&mut chain, holder, other);
}

/// Redeployment of an actor that stands still (decision 51).
fn redeploys(chain: &mut Chain, holder: Address, other: Address) {
    let next = |actor: Address, grants: &[(&str, &[(&str, u64)])]| {
        Value::map([("actor", Value::Bytes(actor.0.to_vec())), ("manifest", Value::Bytes(manifest(grants)))])
    };
    let kept: &[(&str, &[(&str, u64)])] = &[("econ.hold_balance", &[]), ("timer.schedule", &[])];
    let rows: [(u8, Address, &[(&str, &[(&str, u64)])], Option<Abort>); 6] = [
        (2, holder, kept, Some(error::NOT_OWNER)),
        (1, other, kept, Some(error::MANIFEST_IMMUTABLE)),
        (1, holder, ALL, Some(error::ENTITLEMENT_UNKNOWN)),
        (1, holder, &[("sys.upgrade", &[])], Some(error::SYSTEM_ENTITLEMENT_UNAUTHORIZED)),
        (1, holder, kept, None),
        (1, holder, kept, Some(error::MANIFEST_IMMUTABLE)),
    ];
    let code = chain.actor(holder).code_hash;
    for (place, (from, actor, grants, expected)) in rows.into_iter().enumerate() {
        assert_eq!(ask(chain, from, "redeploy", &next(actor, grants)).abort, expected, "row {place}");
    }
    let record = chain.actor(holder);
    assert_eq!((record.status, record.code_hash), (ActorStatus::Active, code));
    assert!(chain.call(holder, "tick", b"").is_success());
    assert_eq!(chain.call(holder, "put", b"").abort, Some(error::MISSING_ENTITLEMENT));
    let history: ManifestHistory = chain.record(&manifest_history(holder)).expect("the manifest changed (A-270)");
    assert_eq!((history.past[0].since, &history.past[0].manifest[..]), (record.created_at, &manifest(ALL)[..]));
}

/// A-265: however many hold it, a block looks at few; that they do not run does not wait for it.
#[test]
fn a_removal_is_announced_bit_by_bit() {
    let mut chain = removal_chain(1);
    let actors: Vec<Address> = (0..3).map(|number| chain.deploy_with(&format!("handler h{number}\n"), &[("storage.kv", &[])], 0)).collect();
    let from = chain.height.0 + 1;
    assert!(chain.decide(7, "deprecate", &deprecation("storage.kv", from)));
    let last = from + 100;
    assert!(chain.idle(last - chain.height.0).is_empty());
    let calls: Vec<_> = (0..3).map(|place| (chain.nonce(1) + place, actors[usize::try_from(place).expect("small")], place)).collect();
    let calls = calls.iter().map(|(nonce, actor, place)| signed(1, *nonce, execution(*actor, &format!("h{place}"), b"", 0))).collect();
    let outcome = chain.block(calls);
    let transactions: Vec<_> = outcome.receipts.iter().filter(|receipt| receipt.kind == ReceiptKind::Transaction).collect();
    assert!(transactions.iter().all(|receipt| receipt.abort == Some(error::ACTOR_NON_EXECUTABLE)));
    let mut announced: Vec<Address> =
        outcome.receipts.iter().filter(|receipt| receipt.kind == ReceiptKind::Protocol).map(|receipt| receipt.events[0].emitter).collect();
    assert_eq!(announced.len(), 1);
    announced.extend(chain.idle(4).iter().flat_map(|receipt| receipt.events.iter().map(|event| event.emitter)));
    let mut expected = actors;
    expected.sort();
    assert_eq!(announced, expected, "by address, one a block");
}

/// A-265: what waits for an actor that no longer runs is refunded to its sender.
#[test]
fn messages_to_an_actor_that_stands_still_fail() {
    let mut chain = removal_chain(256);
    let holder = chain.deploy("handler handle_message\n");
    let sender = chain.deploy_with(
        &format!("handler go\n send {} 'x' 5 'tick'\n", hex(&holder.0)),
        &[("econ.hold_balance", &[]), ("econ.transfer", &[])],
        100,
    );
    let from = chain.height.0 + 1;
    assert!(chain.decide(7, "deprecate", &deprecation("storage.kv", from)));
    chain.idle(from + 100 - chain.height.0);
    assert!(chain.call(sender, "go", b"").is_success());
    let delivered = chain.idle(1);
    assert_eq!(delivered[0].abort, Some(error::ACTOR_NON_EXECUTABLE));
    assert_eq!(chain.balance(sender), 100);
}

/// A child that is redeployed stays within what its parent may pass on (000 §7).
#[test]
fn a_redeployed_child_stays_within_its_parent() {
    let mut chain = removal_chain(256);
    let leaf = hex(b"#script\nhandler go\n self\n");
    let grants: &[(&str, &[(&str, u64)])] =
        &[("exec.spawn", &[("max_children", 2)]), ("storage.kv", &[]), ("timer.schedule", &[("max_timers", 3)])];
    let held = hex(&manifest(&[("storage.kv", &[])]));
    let parent = chain.deploy_with(
        &format!(
            "handler spawn\n spawn {leaf} '' '' '' {held}\n return $last\nhandler ask\n try call {} 'redeploy' $payload 0\n return $last\n",
            system(7)
        ),
        grants,
        0,
    );
    let child = Address(chain.call(parent, "spawn", b"").return_data[..].try_into().expect("an address"));
    // The parent itself must keep running: it loses nothing.
    let lone = Value::map([("id", Value::text("storage.kv")), ("from", Value::uint(chain.height.0 + 1))]);
    assert!(chain.decide(7, "deprecate", &lone));
    chain.idle(102);
    let next = |grants: &[(&str, &[(&str, u64)])]| {
        Value::map([("actor", Value::Bytes(child.0.to_vec())), ("manifest", Value::Bytes(manifest(grants)))])
    };
    assert_eq!(chain.call(parent, "ask", &next(&[]).encode()).abort, Some(error::ACTOR_NON_EXECUTABLE), "the parent stands still too");
    let own = Value::map([("actor", Value::Bytes(parent.0.to_vec())), ("manifest", Value::Bytes(manifest(&grants_without_storage())))]);
    assert!(ask(&mut chain, 1, "redeploy", &own).is_success());
    let rows: [(&[(&str, &[(&str, u64)])], &str); 3] = [
        (&[("timer.schedule", &[("max_timers", 4)])], "missing_entitlement"),
        (&[("econ.transfer", &[])], "missing_entitlement"),
        (&[("timer.schedule", &[("max_timers", 3)])], "\u{f6}"),
    ];
    for (grants, expected) in rows {
        let answer = chain.call(parent, "ask", &next(grants).encode());
        if expected == "\u{f6}" {
            assert_eq!(answer.return_data[..], [0xF6], "CBOR's null");
        } else {
            assert_eq!(answer.return_data[..], *expected.as_bytes());
        }
    }
    assert!(chain.call(child, "go", b"").is_success());
}

fn grants_without_storage() -> [(&'static str, &'static [(&'static str, u64)]); 2] {
    [("exec.spawn", &[("max_children", 2)]), ("timer.schedule", &[("max_timers", 3)])]
}

/// A-270: governance lists what is and will be removed.
#[test]
fn deprecations_are_listed() {
    let mut chain = removal_chain(256);
    let from = chain.height.0 + 3;
    for id in ["timer.schedule", "http.fetch"] {
        assert!(chain.decide(7, "deprecate", &deprecation(id, from)));
    }
    let listed = cowboy_types::cbor::decode(&ask(&mut chain, 1, "deprecations", &Value::Map(vec![])).return_data).expect("CBOR");
    let Value::Array(rows) = listed else { unreachable!("a list") };
    let shown: Vec<_> =
        rows.iter().map(|row| (row.get("id").and_then(Value::as_text), row.get("removed_at").and_then(Value::as_u64))).collect();
    assert_eq!(shown, [(Some("http.fetch"), Some(from + 101)), (Some("timer.schedule"), Some(from + 101))]);
}

/// A-254: nobody borrows another's grant: whoever is called acts by its own manifest, whoever calls gains nothing.
#[test]
fn grants_are_never_lent() {
    let mut chain = Chain::new();
    let fetch = job("http", "https://a.com", vec![]);
    let lines = format!("handler kv\n set 'a' 'b'\nhandler pay\n pay @3 1\nhandler job\n send {} {fetch}\n", system(2));
    let rich = of_json(
        &mut chain,
        &lines,
        r#"[{"id":"econ.hold_balance"},{"id":"econ.transfer"},{"id":"exec.spawn"},{"id":"http.fetch"},{"id":"storage.kv"}]"#,
    );
    let handlers = ["kv", "pay", "job"];
    let through: String =
        handlers.iter().map(|name| format!("handler {name}\n try call {} '{name}' '' 90000\n return $last\n", hex(&rich.0))).collect();
    let own: String = lines.replace("handler ", "handler own_");
    let poor = chain.deploy_with(&format!("{through}{own}"), &[], 0);
    for name in handlers {
        assert_eq!(chain.call(poor, &format!("own_{name}"), b"").abort, Some(error::MISSING_ENTITLEMENT), "{name}");
    }
    assert_eq!(chain.call(poor, "kv", b"").abort, None);
    assert_eq!((chain.stored(rich, "a").is_some(), chain.stored(poor, "a").is_none()), (true, true), "the callee wrote its own storage");
    assert_eq!(chain.call(poor, "pay", b"").return_data[..], *b"transfer_failed", "and pays out of its own balance, which is empty");
    // The other way round: a caller's grants do not reach into what it calls.
    let lender = chain.deploy_with(&format!("handler go\n try call {} 'own_kv' '' 90000\n return $last\n", hex(&poor.0)), ALL, 0);
    assert_eq!(chain.call(lender, "go", b"").return_data[..], *b"missing_entitlement");
}

/// Decision 49.
#[test]
fn manifests_and_permissions_are_apart() {
    let mut chain = Chain::new();
    let actor = chain.deploy_with("handler put\n try set 'a' 'b'\n", &[("econ.hold_balance", &[])], 0);
    assert!(chain.send(1, permissions::granting(actor, &Scope::Actor { actor }, &Action::All, &Constraints::default())).is_success());
    assert_eq!(chain.call(actor, "put", b"").abort, Some(error::MISSING_ENTITLEMENT), "a permission is no entitlement (decision 49)");
    let granted = chain.deploy_with("handler put\n set 'a' 'b'\n", ALL, 0);
    assert!(chain.call(granted, "put", b"").is_success());
}
