//! Deployment, calls, storage, events, value and entitlements, as the host sees them.

use cowboy_testkit::chain::{ALL, Chain, address, deployment, execution, manifest, parameters, signed};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::units::{Amount, Cells, Cycles};
use cowboy_types::{Abort, Address, Blob, error, keccak256};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    an_actor_is_deployed_at_its_address_once,
    source_is_canonicalised,
    a_failing_init_takes_the_deployment_with_it,
    init_runs_in_the_creation_only,
    a_call_is_metered_exactly,
    a_failed_call_leaves_nothing_but_its_fee,
    return_data_is_bounded,
    events_are_announced,
    an_actor_without_grants_has_nothing,
    value_passes_through_an_actor_that_may_not_hold_it,
    transfers_stay_within_their_grant,
    storage_stays_within_its_quota,
    scans_are_ordered_and_bounded,
    calls_roll_back_like_the_evm,
    calls_nest_32_deep,
    hooks_nest_as_deep_as_calls,
    spawning_is_bounded_by_the_grant,
    only_the_owner_hands_an_actor_on,
    system_actors_answer_through_call_and_execute,
    an_actor_recovers_a_signer,
    a_bad_manifest_refuses_the_deployment,
    the_host_charges_its_prices,
    later_handlers_see_fresh_state,
    what_the_state_knows_of_an_address,
];

/// the address follows from creator, salt and canonical source, and is taken once.
#[test]
fn an_actor_is_deployed_at_its_address_once() {
    let mut chain = Chain::new();
    let receipt = chain.send(1, deployment("handler a\n", Some(ALL), None, 0));
    let code_hash = keccak256(&[b"#script\nhandler a\n"]);
    let expected = Address::of_actor(&address(1), &Default::default(), &code_hash);
    assert_eq!(receipt.created, Some(expected));
    let record = chain.actor(expected);
    assert_eq!((record.owner, record.creator, record.code_hash), (address(1), address(1), code_hash));
    let again = chain.send(1, deployment("handler a\n", Some(ALL), None, 0));
    assert_eq!(again.abort, Some(error::ADDRESS_TAKEN));
    let with_crlf = chain.send(1, deployment("handler a\r\n", Some(ALL), None, 0));
    assert_eq!(with_crlf.abort, Some(error::ADDRESS_TAKEN), "line ends are canonicalised first (A-5)");
    let by_other = chain.send(2, deployment("handler a\n", Some(ALL), None, 0));
    assert!(by_other.is_success(), "another creator, another address");
}

/// A-5, row by row.
#[test]
fn source_is_canonicalised() {
    let rows: [(&[u8], Option<&str>); 5] = [
        (b"a\r\nb\rc\n", Some("a\nb\nc\n")),
        ("\u{FEFF}x".as_bytes(), Some("x")),
        ("e\u{301}".as_bytes(), Some("\u{e9}")),
        (b"\xff", None),
        (b"", Some("")),
    ];
    for (code, expected) in rows {
        assert_eq!(cowboy_chain::canonical_source(code).as_deref(), expected);
    }
    assert_eq!(cowboy_chain::padded_salt(&[7; 33]), None);
    assert_eq!(cowboy_chain::padded_salt(&[7]).map(|salt| (salt.0[0], salt.0[31])), Some((7, 0)));
}

/// deploy and init happen both or neither.
#[test]
fn a_failing_init_takes_the_deployment_with_it() {
    let mut chain = Chain::new();
    let before = chain.balance(address(1));
    let receipt = chain.send(1, deployment("handler init\n set 'a' 'b'\n raise\n", Some(ALL), Some("init"), 500));
    assert_eq!(receipt.abort, Some(error::HANDLER_RAISED));
    assert_eq!(receipt.created, None);
    assert!(chain.all::<cowboy_state::records::Actor>(cowboy_state::Kind::Actor).iter().all(|(key, _)| key.address.is_reserved()));
    let spent = receipt.fee.burned.0 + receipt.fee.tip.0;
    assert_eq!(chain.balance(address(1)), before - spent, "the endowment came back, the fee did not");
}

/// Decision 111: init runs in the creation of its actor, and nobody can call it later.
#[test]
fn init_runs_in_the_creation_only() {
    let mut chain = Chain::new();
    let script = "handler init\n set 'a' 'b'\n";
    let with = chain.send(1, deployment(script, Some(ALL), Some("init"), 0)).created.expect("init succeeds");
    assert_eq!(chain.stored(with, "a"), Some(b"b".to_vec()));
    let without = chain.send(2, deployment(script, Some(ALL), None, 0)).created.expect("no init is asked for");
    for actor in [with, without] {
        assert_eq!(chain.call(actor, "init", b"").abort, Some(error::INIT_ONLY_ONCE));
    }
}

/// what a call costs, to the cycle and the cell.
#[test]
fn a_call_is_metered_exactly() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler put\n set 'key' 'value'\n return 'done'\nhandler get\n get 'key'\n return $last\n");
    let put = chain.call(actor, "put", b"xx");
    // The script engine takes 10 cycles a line; a new key is written twice: itself, and its name in the directory.
    assert_eq!(put.cycles_used, Cycles(21_000 + 2 * 10 + 2 * 200));
    assert_eq!(put.cells_used, Cells(3 + 2 + (3 + 5) + 3 + 4), "handler, payload, key and value, name, return data");
    let again = chain.call(actor, "put", b"xx");
    assert_eq!(again.cycles_used, Cycles(21_000 + 2 * 10 + 200));
    let get = chain.call(actor, "get", b"");
    assert_eq!(get.return_data[..], *b"value");
    assert_eq!(
        (get.cycles_used, get.cells_used),
        (Cycles(21_000 + 2 * 10 + 100), Cells(3 + 1 + 5)),
        "a read is a hundredth of a cell a byte, rounded up"
    );
}

/// what fails is undone whole, and what it used is paid.
#[test]
fn a_failed_call_leaves_nothing_but_its_fee() {
    let rows: [(&str, Abort); 6] = [
        ("set 'a' 'b'\n emit 'e' 'x'\n pay @3 5\n send @3 'x'\n raise", error::HANDLER_RAISED),
        ("set 'a' 'b'\n burn 99000000", error::OUT_OF_CYCLES),
        ("set 'a' 'b'\n trap", error::OUT_OF_MEMORY),
        ("set 'a' 'b'\n charge 99000000", error::OUT_OF_CYCLES),
        ("set 'a' 'b'\n pay @3 99000000000000000", error::TRANSFER_FAILED),
        ("set '__INITIALIZED__' 'b'", error::INVALID_ARGUMENT),
    ];
    for (script, expected) in rows {
        let mut chain = Chain::new();
        let actor = chain.deploy(&format!("handler run\n {script}\n"));
        let (balance, other) = (chain.balance(actor), chain.balance(address(3)));
        let receipt = chain.call(actor, "run", b"");
        assert_eq!(receipt.abort, Some(expected.clone()), "{script}");
        assert!(receipt.events.is_empty() && chain.stored(actor, "a").is_none());
        assert_eq!((chain.balance(actor), chain.balance(address(3))), (balance, other));
        assert_eq!(receipt.fee.burned.0, receipt.cycles_used.0 * receipt.fee.cycle_price.0.min(10_000) + receipt.cells_used.0 * 10_000);
        if expected == error::OUT_OF_CYCLES {
            assert_eq!(receipt.cycles_used, Cycles(5_000_000), "all of the limit is used");
        }
    }
}

/// what a handler returns stands in the receipt; more than 64 KiB does not.
#[test]
fn return_data_is_bounded() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler echo\n return $payload\n");
    assert_eq!(chain.call(actor, "echo", &[7; 65_536]).return_data.len(), 65_536);
    assert_eq!(chain.call(actor, "echo", &[7; 65_537]).abort, Some(error::RETURN_TOO_LARGE));
}

/// events stand in the receipt, with name, data and price.
#[test]
fn events_are_announced() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler run\n emit 'hello' 'abc'\nhandler big\n try emit 'e' $payload\n return $last\n");
    let receipt = chain.call(actor, "run", b"");
    assert_eq!((receipt.events.len(), receipt.events[0].emitter, &receipt.events[0].data[..]), (1, actor, &b"abc"[..]));
    assert_eq!(receipt.cycles_used, Cycles(21_000 + 20 + 500 + 15));
    assert_eq!(receipt.cells_used, Cells(3 + 2));
    assert_eq!(chain.call(actor, "big", &[0; 4_097]).return_data[..], *b"event_too_large");
    assert_eq!(chain.call(actor, "big", &[0; 4_096]).events.len(), 1);
}

/// without a grant each of these ends the handler, whatever it would catch.
#[test]
fn an_actor_without_grants_has_nothing() {
    let mut chain = Chain::new();
    let script = "handler kv\n try set 'a' 'b'\nhandler read\n try get 'a'\nhandler scan\n try scan 'a'\nhandler pay\n try pay @3 1\nhandler send\n try send @3 'x' 1\nhandler timer\n try timer 1000 'x'\nhandler spawn\n try spawn 'x'\nhandler nothing\n";
    let actor = chain.deploy_with(script, &[], 0);
    for handler in ["kv", "read", "scan", "pay", "send", "timer", "spawn"] {
        assert_eq!(chain.call(actor, handler, b"").abort, Some(error::MISSING_ENTITLEMENT), "{handler}");
    }
    assert!(chain.call(actor, "nothing", b"").is_success());
    let paid = chain.send(1, execution(actor, "nothing", b"", 5));
    assert_eq!(paid.abort, Some(error::MISSING_ENTITLEMENT), "it may not keep CBY");
    let transfer = chain.send(1, Instruction::System(System::Transfer { to: actor, amount: Amount(5) }));
    assert_eq!(transfer.abort, Some(error::BAD_RECIPIENT));
}

/// CBY may pass through an actor that may not hold any.
#[test]
fn value_passes_through_an_actor_that_may_not_hold_it() {
    let mut chain = Chain::new();
    let actor = chain.deploy_with("handler forward\n pay @3 5\n", &[("econ.transfer", &[])], 0);
    let before = chain.balance(address(3));
    assert!(chain.send(1, execution(actor, "forward", b"", 5)).is_success());
    assert_eq!((chain.balance(address(3)), chain.balance(actor)), (before + 5, 0));
    assert_eq!(chain.send(1, execution(actor, "forward", b"", 6)).abort, Some(error::MISSING_ENTITLEMENT), "one unit would stay");
}

/// quotas of econ.transfer, a transfer and a block at a time.
#[test]
fn transfers_stay_within_their_grant() {
    let mut chain = Chain::new();
    let grants: &[(&str, &[(&str, u64)])] = &[("econ.hold_balance", &[]), ("econ.transfer", &[("max_amount", 10), ("max_per_block", 25)])];
    let actor = chain.deploy_with("handler big\n pay @3 11\nhandler run\n pay @3 10\n pay @3 10\nhandler more\n pay @3 6\n", grants, 1_000);
    assert_eq!(chain.call(actor, "big", b"").abort, Some(error::ENTITLEMENT_QUOTA));
    let nonce = chain.nonce(1);
    let both = chain.block(vec![signed(1, nonce, execution(actor, "run", b"", 0)), signed(1, nonce + 1, execution(actor, "more", b"", 0))]);
    assert_eq!(both.receipts[0].abort, None);
    assert_eq!(both.receipts[1].abort, Some(error::ENTITLEMENT_QUOTA), "26 in one block is one too many");
    assert!(chain.call(actor, "more", b"").is_success(), "the next block counts anew");
}

/// the actor's quota, and storage.kv's max_bytes.
#[test]
fn storage_stays_within_its_quota() {
    let mut chain =
        Chain::with(|genesis| genesis.parameters = cowboy_testkit::chain::parameters(&[("execution.storage_quota_per_actor", 65_536)]));
    let script = "handler put\n set 'k' $payload\nhandler more\n set 'l' $payload\nhandler free\n delete 'k'\n";
    let free = chain.deploy(script);
    assert!(chain.call(free, "put", &[1; 60_000]).is_success());
    assert_eq!(chain.call(free, "more", &[1; 6_000]).abort, Some(error::QUOTA_EXCEEDED));
    assert!(chain.call(free, "put", &[1; 10]).is_success(), "shrinking always may");
    assert!(chain.call(free, "more", &[1; 6_000]).is_success());
    assert!(chain.call(free, "free", b"").is_success());
    assert_eq!(chain.actor(free).storage_bytes.0, 6_001);
    let bound = chain.deploy_with(&format!("{script}\nhandler other\n"), &[("storage.kv", &[("max_bytes", 100)])], 0);
    assert!(chain.call(bound, "put", &[1; 99]).is_success());
    assert_eq!(chain.call(bound, "put", &[1; 100]).abort, Some(error::ENTITLEMENT_QUOTA));
}

/// Prefix scans: ascending, only the prefix, only short keys, up to the limit.
#[test]
fn scans_are_ordered_and_bounded() {
    let mut chain = Chain::new();
    let long = "p".repeat(65);
    let puts: String = (0..40).map(|number| format!(" set 'p{number:02}' '{number}'\n")).collect();
    let actor = chain.deploy(&format!("handler put\n{puts} set '{long}' 'x'\n set 'q' 'x'\nhandler scan\n scan 'p' 3\n return $last\nhandler all\n scan 'p' 1000\n return $last\n"));
    assert!(chain.call(actor, "put", b"").is_success());
    let shown = |receipt: cowboy_types::Receipt| String::from_utf8(receipt.return_data.to_vec()).expect("text");
    let three = chain.call(actor, "scan", b"");
    assert_eq!(three.cycles_used, Cycles(21_000 + 20 + 500 + 50 * 3));
    assert_eq!(shown(three).matches("List").count(), 1 + 3);
    let all = shown(chain.call(actor, "all", b""));
    assert_eq!(all.matches("List").count(), 1 + 40, "the long key and the other prefix are left out");
}

/// Decision 134: a callee that fails is undone and paid, and its caller continues; a caller that fails undoes both.
#[test]
fn calls_roll_back_like_the_evm() {
    let mut chain = Chain::new();
    let callee = chain.deploy("handler good\n set 'a' 'x'\n return 'ok'\nhandler bad\n set 'a' 'y'\n raise\nhandler burn\n burn 999999999\nhandler send\n send @3 'x'\n raise\n");
    let at = format!("0x{}", callee.to_string().trim_start_matches("0x"));
    let caller = chain.deploy(&format!(
        "handler good\n call {at} 'good' '' 50000\n return $last\nhandler bad\n set 'b' '1'\n try call {at} 'bad' '' 50000\n return $last\nhandler both\n call {at} 'good' '' 50000\n raise\nhandler burn\n try call {at} 'burn' '' 40000\n return $last\nhandler deepsend\n try call {at} 'send' '' 50000\n send @3 'y'\nhandler nobody\n try call @3 'good' '' 1000\n return $last\n"
    ));
    let good = chain.call(caller, "good", b"");
    assert_eq!(good.return_data[..], *b"ok");
    assert_eq!(chain.stored(callee, "a").as_deref(), Some(&b"x"[..]));
    assert_eq!(chain.call(caller, "bad", b"").return_data[..], *b"handler_raised");
    assert_eq!((chain.stored(callee, "a").as_deref(), chain.stored(caller, "b").as_deref()), (Some(&b"x"[..]), Some(&b"1"[..])));
    assert!(!chain.call(caller, "both", b"").is_success());
    let burned = chain.call(caller, "burn", b"");
    assert_eq!(burned.return_data[..], *b"out_of_cycles");
    assert_eq!(burned.cycles_used, Cycles(21_000 + 20 + 1_000 + 40_000), "a failed call's cycles stay spent");
    let sent = chain.call(caller, "deepsend", b"");
    assert!(sent.is_success());
    assert_eq!(
        chain.all::<cowboy_state::records::Message>(cowboy_state::Kind::Message).len(),
        1,
        "the failed call's message is gone with it"
    );
    assert_eq!(chain.call(caller, "nobody", b"").return_data[..], *b"actor_not_found");
}

/// 32 actors may wait for each other, the 33rd call is refused.
#[test]
fn calls_nest_32_deep() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler run\n self\n set 'depth' 'x'\n try call $0 'run' '' 9999999\n return $last\n");
    let outcome = {
        let nonce = chain.nonce(1);
        chain.block(vec![signed(1, nonce, execution(actor, "run", b"", 0))])
    };
    assert!(outcome.receipts[0].is_success());
    assert_eq!(outcome.traces[0].calls.len(), 32);
    assert_eq!(outcome.traces[0].calls[31].depth, 31);
    assert_eq!(outcome.receipts[0].return_data[..], *b"call_depth_exceeded");
}

/// Attack: an actor that is the hook of its own token has transfers call it within each other, deeper than calls may nest. Decision 780: a hook nests as a
/// call does, and a transfer whose hook would nest deeper is refused and undone.
#[test]
fn hooks_nest_as_deep_as_calls() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("costs.token_hook", 1_000_000)]));
    let own = "token_create 'a' 'b' 0 0 0 $0 ''";
    let actor = chain.deploy(&format!(
        "handler make\n self\n {own}\n set 'id' $1\nhandler on_token_transfer\n get 'id'\n try token_transfer $0 @2 0\nhandler run\n get 'id'\n token_transfer $0 @2 0\n"
    ));
    assert!(chain.call(actor, "make", b"").is_success());
    let nonce = chain.nonce(1);
    let outcome = chain.block(vec![signed(1, nonce, execution(actor, "run", b"", 0))]);
    assert_eq!((outcome.receipts[0].abort.clone(), outcome.traces[0].calls.len()), (None, 32));
    assert_eq!(outcome.receipts[0].events.len(), 31, "the handler at the bottom moved nothing");
}

/// children within max_children, with grants within the parent's inheritable ones.
#[test]
fn spawning_is_bounded_by_the_grant() {
    let mut chain = Chain::new();
    let grants: &[(&str, &[(&str, u64)])] =
        &[("econ.transfer", &[]), ("exec.spawn", &[("max_children", 1)]), ("storage.kv", &[("max_bytes", 100)])];
    let child =
        |bytes: u64| manifest(&[("storage.kv", &[("max_bytes", bytes)])]).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let code: String = b"#script\nhandler init\n set 'a' 'b'\n".iter().map(|byte| format!("{byte:02x}")).collect();
    let script = format!(
        "handler wide\n try spawn 0x{code} 'w' 'init' '' 0x{} 0\n return $last\nhandler run\n spawn 0x{code} 's' 'init' '' 0x{} 0\n return $last\nhandler more\n try spawn 0x{code} 't' '' '' none\n",
        child(101),
        child(100)
    );
    let parent = chain.deploy_with(&script, grants, 0);
    assert_eq!(chain.call(parent, "wide", b"").return_data[..], *b"missing_entitlement");
    let receipt = chain.call(parent, "run", b"");
    let born = Address(receipt.return_data[..].try_into().expect("an address"));
    assert_eq!((chain.actor(born).creator, chain.actor(parent).children.0), (parent, 1));
    assert_eq!(chain.stored(born, "a").as_deref(), Some(&b"b"[..]), "init ran");
    assert_eq!(chain.call(parent, "more", b"").abort, Some(error::ENTITLEMENT_QUOTA));
}

/// Ownership moves by the owner's transaction only (decision 112).
#[test]
fn only_the_owner_hands_an_actor_on() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler who\n owner\n return $last\n");
    let hand_on = |owner: u8| Instruction::System(System::TransferActorOwnership { actor, owner: address(owner) });
    assert_eq!(chain.send(2, hand_on(2)).abort, Some(error::NOT_OWNER));
    assert!(chain.send(1, hand_on(2)).is_success());
    assert_eq!(chain.call(actor, "who", b"").return_data[..], address(2).0);
    assert_eq!(chain.send(1, hand_on(1)).abort, Some(error::NOT_OWNER));
}

/// System actors answer by the specification's names, and what is not built says so.
#[test]
fn system_actors_answer_through_call_and_execute() {
    let mut chain = Chain::new();
    let supply = chain.send(1, execution(Address::system(8), "get_supply", b"", 0));
    let value = cowboy_types::cbor::decode(&supply.return_data).expect("CBOR");
    assert_eq!(value.get("genesis").and_then(|genesis| genesis.as_u64()), Some(1_000_000_000_000_000_000));
    let through = chain.deploy("handler run\n call 0x0000000000000000000000000000000000000008 'get_supply' '' 0\n return $last\nhandler job\n try job 'x'\n return $last\n");
    let inner = chain.call(through, "run", b"");
    assert!(cowboy_types::cbor::decode(&inner.return_data).is_ok());
    assert_eq!(chain.send(1, execution(Address::system(4), "register", b"", 0)).abort, Some(error::UNAVAILABLE));
    assert_eq!(chain.call(through, "job", b"").return_data[..], *b"invalid_argument");
}

/// an Ethereum signature over a digest, by a host call; and 000's parameters as the actor sees them.
#[test]
fn an_actor_recovers_a_signer() {
    let mut chain = Chain::new();
    let digest = keccak256(&[b"typed data"]);
    let mut signature = cowboy_testkit::chain::key(5).sign(&digest).0;
    signature[64] += 27;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let actor = chain.deploy(&format!(
        "handler run\n recover 0x{} 0x{}\n return $last\nhandler grant\n grant 'storage.kv'\n return $last\n",
        hex(&digest.0),
        hex(&signature)
    ));
    let receipt = chain.call(actor, "run", b"");
    assert_eq!(receipt.return_data[..], address(5).0);
    assert_eq!(receipt.cycles_used, Cycles(21_000 + 20 + 10_000));
    assert_eq!(chain.call(actor, "grant", b"").return_data[..], *b"Map([])");
}

/// a manifest that is not one refuses the deployment, each reason by its name.
#[test]
fn a_bad_manifest_refuses_the_deployment() {
    let mut chain = Chain::new();
    let rows: [(Vec<u8>, Abort); 6] = [
        (vec![0xA0], error::MANIFEST_INVALID),
        (manifest(&[("storage.disk", &[])]), error::ENTITLEMENT_UNKNOWN),
        (manifest(&[("sys.upgrade", &[])]), error::SYSTEM_ENTITLEMENT_UNAUTHORIZED),
        (manifest(&[("storage.kv", &[("max_files", 1)])]), error::ENTITLEMENT_PARAM),
        (manifest(&[("storage.kv", &[]), ("storage.kv", &[])]), error::ENTITLEMENT_DUPLICATE),
        (manifest(&[("storage.kv", &[]), ("exec.spawn", &[])]), error::ENTITLEMENTS_UNSORTED),
    ];
    for (bytes, expected) in rows {
        let mut instruction = deployment("handler a\n", Some(ALL), None, 0);
        if let Instruction::Actor(cowboy_types::instruction::Actor::Deploy { manifest, .. }) = &mut instruction {
            *manifest = Blob::new(bytes);
        }
        assert_eq!(chain.send(1, instruction).abort, Some(expected));
    }
}

/// what each host function costs an actor, in cycles and cells, beside the line that calls it.
#[test]
fn the_host_charges_its_prices() {
    let key = ed25519_consensus::SigningKey::from([7; 32]);
    let signature = key.sign(b"message").to_bytes();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let verify = format!("verify 2 0x{} b'message' 0x{}", hex(key.verification_key().as_ref()), hex(&signature));
    let rows: [(&str, u64, u64); 14] = [
        ("send @3 'abcd'", 80, 4),
        ("send @3 'abcd' 0 'go'", 80, 6),
        ("timer 1000 'abcd'", 200, 64 + 4),
        ("cancel 0x0000000000000000000000000000000000000000000000000000000000000000", 200, 0),
        ("height", 100, 0),
        ("context", 100, 0),
        ("self", 0, 0),
        ("charge 123", 123, 0),
        ("random 'label'", 1_000, 0),
        (&verify, 5_000, 0),
        ("pay @3 1", 1_000, 0),
        ("balance", 100, 0),
        ("get 'nothing'", 100, 0),
        ("delete 'nothing'", 200, 7),
    ];
    let handlers: String = rows.iter().enumerate().map(|(place, (line, ..))| format!("handler h{place:02}\n {line}\n")).collect();
    let mut chain = Chain::new();
    let actor = chain.deploy(&handlers);
    for (place, (line, cycles, cells)) in rows.iter().enumerate() {
        let receipt = chain.call(actor, &format!("h{place:02}"), b"");
        assert_eq!(receipt.abort, None, "{line}");
        // Two lines of the script engine, and the three bytes of the handler's name.
        assert_eq!((receipt.cycles_used, receipt.cells_used), (Cycles(21_000 + 20 + cycles), Cells(3 + cells)), "{line}");
    }
}

/// a later handler sees the state of its own block, not that of the block which sent the message.
#[test]
fn later_handlers_see_fresh_state() {
    let mut chain = Chain::new();
    let actor = chain.deploy(
        "handler ask\n set 'a' 'old'\n self\n send $1 '' 0 'look'\nhandler change\n set 'a' 'new'\nhandler look\n get 'a'\n return $last\n",
    );
    let nonce = chain.nonce(1);
    chain.block(vec![signed(1, nonce, execution(actor, "ask", b"", 0)), signed(1, nonce + 1, execution(actor, "change", b"", 0))]);
    assert_eq!(chain.idle(1)[0].return_data[..], *b"new");
}

/// an address has nonce and balance; an actor beside them its code's hash, storage and record; neither code
/// nor manifest changes once deployed.
#[test]
fn what_the_state_knows_of_an_address() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler put\n set 'a' 'b'\nhandler again\n get 'a'\n");
    chain.call(actor, "put", b"");
    let record = chain.actor(actor);
    let code = chain.state[&cowboy_state::records::keys::code(&record.code_hash).digest()].clone();
    let manifest = chain.state[&cowboy_state::Key::of(cowboy_state::Kind::Manifest, actor).digest()].clone();
    assert_eq!(record.storage_bytes.0, 2);
    chain.call(actor, "again", b"");
    assert_eq!(chain.state[&cowboy_state::records::keys::code(&record.code_hash).digest()], code);
    assert_eq!(chain.state[&cowboy_state::Key::of(cowboy_state::Kind::Manifest, actor).digest()], manifest);
    assert!(chain.account(address(1)).nonce.0 > 0 && chain.balance(actor) > 0);
}
