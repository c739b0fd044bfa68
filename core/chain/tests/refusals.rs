//! Bad input, row by row: each is refused by its code and slug, and leaves nothing behind but the fee it paid.

use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_chain::admit::{Facts, Invalid};
use cowboy_chain::fees::BaseFees;
use cowboy_chain::lanes::Lane;
use cowboy_chain::order::Placed;
use cowboy_chain::{SignedTransaction, StateKey, admit};
use cowboy_params::Params;
use cowboy_state::records::keys;
use cowboy_state::{Key, Kind};
use cowboy_testkit::chain::{ALL, Chain, PROPOSER, address, deployment_of, execution, manifest, sign, signed, transfer, unsigned};
use cowboy_types::cbor::Value;
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::transaction::CoSignature;
use cowboy_types::units::{Amount, Cells, ChainId, Cycles, Height, Nonce, Price};
use cowboy_types::{Address, Hash, List, Transaction, error};
use std::collections::{BTreeMap, BTreeSet};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    bad_transactions_are_refused_by_name,
    a_used_nonce_is_refused_by_name,
    bad_source_is_refused_by_name,
    bad_calls_are_refused_by_name,
    an_actor_cannot_borrow_the_words_of_a_refusal,
    an_actor_past_its_share_waits_for_the_next_block,
    timers_past_the_share_wait_a_block,
    deliveries_are_fetched_ahead,
    events_and_messages_have_budgets_of_their_own,
    a_payload_of_the_wrong_shape_is_refused,
];

/// Bytes of a transaction of account 1, changed after it was signed.
fn tampered(change: impl FnOnce(&mut Transaction)) -> Vec<u8> {
    let mut transaction = transfer(1, 0, address(2), 5).transaction().clone();
    change(&mut transaction);
    transaction.encode().to_vec()
}

/// Bytes of a transaction of account 1, changed before it is signed.
fn honest(change: impl FnOnce(&mut Transaction)) -> Vec<u8> {
    let mut transaction = unsigned(1, 0, Instruction::System(System::Transfer { to: address(2), amount: Amount(5) }));
    change(&mut transaction);
    cowboy_testkit::chain::key(1).sign_transaction(&mut transaction);
    transaction.encode().to_vec()
}

/// What a node says to these bytes, on a fresh chain.
fn refusal(bytes: &[u8]) -> Option<Invalid> {
    let chain = Chain::new();
    let params = &chain.config.params;
    let base = Price(params.fees.base_fee_min);
    let facts = Facts { chain_id: ChainId(42), is_dev: false, params, base_fees: BaseFees { cycle: base, cell: base } };
    let judged = SignedTransaction::decode(bytes)
        .and_then(|signed| admit(&facts, Lane::User, &chain.account(signed.transaction().from), &signed).map(|_| ()));
    judged.err()
}

/// A-15, A-24 to A-31: bytes that make no transaction, and transactions that this chain does not take.
#[test]
fn bad_transactions_are_refused_by_name() {
    let good = honest(|_| {});
    let with = |place: usize, bytes: &[u8]| [&good[..place], bytes, &good[place + 1..]].concat();
    let mut high_s = transfer(1, 0, address(2), 5).transaction().clone();
    flip_s(&mut high_s.signature.0);
    let signers = |numbers: &[u8]| {
        let mut transaction = unsigned(1, 0, Instruction::System(System::Transfer { to: address(2), amount: Amount(5) }));
        let empty = |number: &u8| CoSignature { address: address(*number), signature: Default::default() };
        transaction.additional_signers = List::new(numbers.iter().map(empty).collect()).expect("few signers fit");
        let digest = transaction.digest();
        transaction.signature = cowboy_testkit::chain::key(1).sign(&digest);
        let signed: Vec<CoSignature> = numbers.iter().map(|number| cowboy_testkit::chain::key(*number).co_sign(&transaction)).collect();
        transaction.additional_signers = List::new(signed).expect("few signers fit");
        transaction.encode().to_vec()
    };
    let mut ascending = [2u8, 3, 4];
    ascending.sort_by_key(|number| address(*number));
    let [first, second, _] = ascending;
    let rows: Vec<(&str, Vec<u8>, u16, &str)> = vec![
        ("nothing", vec![], 1000, "not_canonical"),
        ("truncated (A-30)", good[..good.len() - 1].to_vec(), 1000, "not_canonical"),
        ("a trailing byte (A-15)", [&good[..], &[0]].concat(), 1000, "not_canonical"),
        ("a varint that is longer than it must be (A-15)", with(0, &[0xAA, 0x00]), 1000, "not_canonical"),
        ("an unknown category (A-15)", with(2, &[9]), 1000, "not_canonical"),
        ("an unknown instruction (A-15)", with(3, &[200]), 1000, "not_canonical"),
        ("random bytes", (0..200u8).map(|byte| byte.wrapping_mul(89)).collect(), 1000, "not_canonical"),
        ("too many bytes (A-31)", vec![0; 131_073], 1014, "transaction_too_large"),
        ("signers out of order (A-29)", signers(&[second, first]), 1012, "signers_unordered"),
        ("a signer twice (A-29)", signers(&[first, first]), 1012, "signers_unordered"),
        ("changed after signing (A-26)", tampered(|transaction| transaction.nonce = Nonce(1)), 1001, "invalid_signature"),
        ("by another key (A-26)", tampered(|transaction| transaction.from = address(2)), 1001, "invalid_signature"),
        ("s in the upper half (A-26)", high_s.encode().to_vec(), 1001, "invalid_signature"),
        ("v of 2 (A-26)", tampered(|transaction| transaction.signature.0[64] = 2), 1001, "invalid_signature"),
        ("another chain (A-28)", honest(|transaction| transaction.chain_id = ChainId(43)), 1010, "wrong_chain"),
        ("origin fields (A-22)", honest(|transaction| transaction.origin_tx_hash = Some(Hash::ZERO)), 1013, "origin_not_allowed"),
        ("a dev instruction elsewhere", honest(|transaction| transaction.instruction = set_balance()), 1017, "dev_only"),
        ("cycles above the lane (A-24)", honest(|transaction| transaction.cycles_limit = Cycles(22_222_223)), 1011, "limit_too_high"),
        ("cells above the block (A-24)", honest(|transaction| transaction.cells_limit = Cells(16_000_001)), 1011, "limit_too_high"),
        ("cycles below the base cost", honest(|transaction| transaction.cycles_limit = Cycles(20_999)), 1015, "limit_too_low"),
        ("a tip above the price", honest(|transaction| transaction.max_priority_fee_per_cell = Price(20_001)), 1016, "tip_above_max"),
        ("a fee beyond all CBY", honest(|transaction| transaction.max_fee_per_cycle = Price(u64::MAX)), 1007, "fee_overflow"),
        ("a price below the base fee", honest(|transaction| transaction.max_fee_per_cell = Price(9_999)), 1008, "base_fee_too_low"),
        ("a nonce ahead (A-27)", honest(|transaction| transaction.nonce = Nonce(1)), 1020, "nonce_gap"),
        (
            "no balance for the fee (A-25)",
            honest(|transaction| transaction.max_fee_per_cycle = Price(1_000_000_000)),
            1004,
            "insufficient_balance_for_fee",
        ),
        (
            "no balance for the value (A-25)",
            honest(|transaction| transaction.instruction = all_of_it()),
            1003,
            "insufficient_balance_for_value",
        ),
    ];
    assert_eq!(refusal(&good), None, "the transaction that the rows break is good");
    assert_eq!(refusal(&signers(&[first, second])), None, "and so it is with signers in order");
    for (what, bytes, code, slug) in rows {
        let abort = refusal(&bytes).unwrap_or_else(|| panic!("{what}: refused")).abort();
        assert_eq!((abort.code, error::row(abort.code).slug), (code, slug), "{what}");
    }
}

/// A-27: a nonce that was used.
#[test]
fn a_used_nonce_is_refused_by_name() {
    let mut chain = Chain::new();
    chain.one(transfer(1, 0, address(2), 5));
    let outcome = chain.block(vec![transfer(1, 0, address(2), 6)]);
    let abort = outcome.rejected[0].1.abort();
    assert_eq!((abort.code, error::row(abort.code).slug), (1002, "wrong_nonce"));
}

fn set_balance() -> Instruction {
    Instruction::Custom(cowboy_types::instruction::Custom::SetBalance { account: address(1), balance: Amount(1) })
}

fn all_of_it() -> Instruction {
    Instruction::System(System::Transfer { to: address(2), amount: Amount(1_000_000_000_000_000) })
}

/// The same signature with the other s: valid mathematics, refused form.
fn flip_s(signature: &mut [u8; 65]) {
    const ORDER: [u8; 32] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, 0xBA, 0xAE, 0xDC, 0xE6, 0xAF, 0x48,
        0xA0, 0x3B, 0xBF, 0xD2, 0x5E, 0x8C, 0xD0, 0x36, 0x41, 0x41,
    ];
    let mut borrow = 0i16;
    for place in (0..32).rev() {
        let difference = i16::from(ORDER[place]) - i16::from(signature[32 + place]) - borrow;
        borrow = i16::from(difference < 0);
        signature[32 + place] = u8::try_from(difference.rem_euclid(256)).expect("a remainder of 256 is a byte");
    }
    signature[64] ^= 1;
}

/// Records that a failed transaction may change: who paid, who was tipped, and the books of the block.
fn may_change(from: u8) -> BTreeSet<StateKey> {
    [Key::account(address(from)), Key::account(PROPOSER), keys::markets(), keys::supply()].iter().map(Key::digest).collect()
}

/// Sends an instruction that must fail, and checks that it left nothing: answers code, slug and exception.
fn failing(chain: &mut Chain, instruction: Instruction) -> (u16, &'static str, String) {
    let mut transaction = unsigned(1, chain.nonce(1), instruction);
    (transaction.cycles_limit, transaction.cells_limit) = (Cycles(20_000_000), Cells(4_000_000));
    let before: BTreeMap<StateKey, Bytes> = chain.state.clone();
    let outcome = chain.block(vec![sign(1, transaction)]);
    assert_eq!(outcome.rejected, vec![], "the transaction is included");
    let receipt = &outcome.receipts[0];
    let abort = receipt.abort.clone().expect("it fails");
    assert!(receipt.events.is_empty() && receipt.return_data.is_empty() && receipt.created.is_none());
    assert!(receipt.fee.burned > Amount(0), "what it used is paid");
    let allowed = may_change(1);
    for (key, stored) in &before {
        assert!(allowed.contains(key) || chain.state.get(key) == Some(stored), "nothing is changed: {:?}", Key::open(stored));
    }
    for (key, stored) in &chain.state {
        assert!(allowed.contains(key) || before.contains_key(key), "nothing is added: {:?}", Key::open(stored));
    }
    let exception = outcome.traces[0].calls.iter().find_map(|call| call.exception.clone()).unwrap_or_default();
    (abort.code, error::row(abort.code).slug, exception.name)
}

fn check_rows(rows: &[(&str, Instruction, u16, &str, &str)], mut chain: impl FnMut() -> Chain) {
    for (what, instruction, code, slug, exception) in rows {
        let (found, found_slug, raised) = failing(&mut chain(), instruction.clone());
        assert_eq!((found, found_slug, raised.as_str()), (*code, *slug, *exception), "{what}");
    }
}

fn deploy(source: &[u8]) -> Instruction {
    deployment_of(source, Some(manifest(ALL)), None, b"", 1_000_000_000)
}

/// A-72, A-73, A-74, A-75, A-76, A-77, A-79, A-80, A-81, A-82, A-84: source that makes no actor.
#[test]
fn bad_source_is_refused_by_name() {
    let rows = |sources: &[(&'static str, Vec<u8>, u16, &'static str, &'static str)]| -> Vec<_> {
        sources.iter().map(|(what, source, code, slug, exception)| (*what, deploy(source), *code, *slug, *exception)).collect()
    };
    let text = |source: &str| source.as_bytes().to_vec();
    let refused = (1102, "forbidden_source", "ForbiddenSource");
    let mut sources: Vec<(&'static str, Vec<u8>, u16, &'static str, &'static str)> = vec![
        ("not UTF-8", vec![0xFF, 0xFE, b'x'], 1103, "source_not_canonical", ""),
        ("not Python", text("fn main() {}\n"), 1101, "syntax_error", "SyntaxError"),
        ("half a function", text("def f(:\n    pass\n"), 1101, "syntax_error", "SyntaxError"),
        ("a body that raises", text("raise ValueError('no')\n"), 1104, "module_failed", "ValueError"),
        ("a body that calls the host", text("import pvm_host\npvm_host.set_state(b'a', b'b')\n"), 1104, "module_failed", "RuntimeError"),
        ("a body that never ends", text("while True:\n    pass\n"), 1005, "out_of_cycles", ""),
        ("a body that recurses", text("def f():\n    return f()\nf()\n"), 1104, "module_failed", "RecursionError"),
        ("a body of 10 MiB", text("x = [0] * (10 << 20)\n"), 1205, "out_of_memory", ""),
    ];
    let forbidden = [
        "import sys\n",
        "import os\n",
        "import inspect\n",
        "import concurrent.futures\n",
        "import multiprocessing\n",
        "eval('1')\n",
        "exec('1')\n",
        "compile('1', 'x', 'eval')\n",
        "globals()['x'] = 1\n",
        "import random\n",
        "import socket\n",
        "import time\n",
        "import datetime\n",
        "import threading\n",
        "import subprocess\n",
        "import gc\n",
        "import weakref\n",
        "import pickle\n",
        "from urllib import request\n",
        "import nowhere\n",
    ];
    sources.extend(forbidden.map(|source| (source, text(source), refused.0, refused.1, refused.2)));
    check_rows(&rows(&sources), Chain::new);
}

/// Handlers of one actor, each of which does one forbidden thing.
const ROGUE: &str = r#"
import pvm_host

def spin(payload):
    while True:
        pass

def recurse(payload):
    return recurse(payload)

def hoard(payload):
    rows = []
    while True:
        rows.append(bytes(65_536))

def fill(payload):
    for number in range(40):
        pvm_host.set_state(b"key" + bytes([number]), bytes(60_000))

def long_value(payload):
    pvm_host.set_state(b"key", bytes(65_537))

def long_key(payload):
    pvm_host.set_state(bytes(257), b"")

def past_timer(payload):
    pvm_host.set_state(b"mark", b"1")
    pvm_host.schedule_timer(1, b"")

def many_timers(payload):
    for number in range(1_025):
        pvm_host.schedule_timer(1_000_000, b"")

def foreign_timer(payload):
    pvm_host.schedule_timer_ex(1_000_000, b"", payload)

def fan_out(payload):
    for number in range(1_025):
        pvm_host.send_message(payload, b"")

def flood(payload):
    for number in range(17):
        pvm_host.send_message(payload, bytes(60_000))

def overdraw(payload):
    pvm_host.transfer_balance(payload, 2_000_000_000)

def long_event(payload):
    pvm_host.emit_event("e", bytes(4_097))

def long_return(payload):
    return bytes(65_537)

def wrong_type(payload):
    return 5

def not_built(payload):
    pvm_host.submit_job(b"job")

def cycle(payload):
    rows = []
    rows.append(rows)

def nobody(payload):
    pvm_host.call_actor(payload, "go", b"")

def announce(payload):
    for number in range(257):
        pvm_host.emit_event("e", b"")

def fine(payload):
    return payload

def _hidden(payload):
    return payload
"#;

/// A-51, A-65, A-66, A-84, A-90, A-97, A-98, A-118, A-120, A-164 and the rest: what handlers may not, each by its name.
#[test]
fn bad_calls_are_refused_by_name() {
    let mut base = Chain::new();
    let actor = base.send(1, deploy(ROGUE.as_bytes())).created.expect("the source is fine until called");
    assert_eq!(base.call(actor, "fine", b"x").return_data[..], *b"x");
    let other = address(3);
    let call = |handler: &str| execution(actor, handler, &other.0, 0);
    let host = "HostError";
    let rows = [
        ("no such handler", call("missing"), 1202, "unknown_handler", "cowboy_sdk.errors.UnknownHandlerError"),
        ("a private function", call("_hidden"), 1202, "unknown_handler", "cowboy_sdk.errors.UnknownHandlerError"),
        ("no actor", execution(Address([9; 20]), "x", b"", 0), 1203, "actor_not_found", ""),
        ("no such system method", execution(Address::system(6), "x", b"", 0), 1900, "unavailable", ""),
        ("a system method's wrong argument", execution(Address::system(9), "get_param", b"\xff", 0), 1215, "invalid_argument", ""),
        ("init after creation", call("init"), 1218, "init_only_once", ""),
        ("a loop without end", call("spin"), 1005, "out_of_cycles", ""),
        ("recursion without end", call("recurse"), 1201, "handler_raised", "RecursionError"),
        ("10 MiB", call("hoard"), 1205, "out_of_memory", ""),
        ("storage over quota", call("fill"), 1207, "storage_quota_exceeded", ""),
        ("a value too long", call("long_value"), 1249, "storage_entry_too_large", host),
        ("a key too long", call("long_key"), 1249, "storage_entry_too_large", host),
        ("a timer in the past", call("past_timer"), 1501, "timer_in_past", host),
        ("timers too many", call("many_timers"), 1502, "too_many_timers", host),
        ("a timer that another account pays", call("foreign_timer"), 1505, "bad_fee_payer", host),
        ("1,025 messages", call("fan_out"), 1508, "fanout_exceeded", ""),
        ("a full mailbox", call("flood"), 1509, "mailbox_full", ""),
        ("more than it has", call("overdraw"), 1211, "transfer_failed", host),
        ("an event too long", call("long_event"), 1213, "event_too_large", host),
        ("257 events", call("announce"), 1214, "too_many_events", ""),
        ("too much returned", call("long_return"), 1208, "return_too_large", ""),
        ("something else than bytes", call("wrong_type"), 1201, "handler_raised", "TypeError"),
        ("a reference cycle", call("cycle"), 1212, "determinism_error", "DeterminismError"),
        ("a call of nobody", call("nobody"), 1203, "actor_not_found", host),
    ];
    let copy = || Chain {
        config: base.config.clone(),
        state: base.state.clone(),
        height: base.height,
        timestamp: base.timestamp,
        rounds: 0,
        has_seeds: false,
    };
    check_rows(&rows, copy);
}

/// Decision 714: a key or value that is too long is refused with its length and the limit.
#[test]
fn lengths_are_named() {
    let rows = [
        ("long_key", "The key has 257 bytes; at most 256 are allowed."),
        ("long_value", "The value has 65537 bytes; at most 65536 are allowed."),
    ];
    for (handler, said) in rows {
        let mut chain = Chain::new();
        let actor = chain.send(1, deploy(ROGUE.as_bytes())).created.expect("the source is fine until called");
        let outcome = chain.block(vec![signed(1, chain.nonce(1), execution(actor, handler, b"", 0))]);
        let exception = outcome.traces[0].calls[0].exception.clone().expect("it raised");
        assert!(exception.message.ends_with(said), "{}", exception.message);
    }
}

/// A handler is unknown by the class of what the SDK raises, not by its words: an actor that borrows the words only raised.
#[test]
fn an_actor_cannot_borrow_the_words_of_a_refusal() {
    let source = b"from cowboy_sdk import ActorCallError\n\nclass UnknownHandlerError(Exception):\n    pass\n\nclass HostError(Exception):\n    pass\n\ndef one(payload):\n    raise ActorCallError(\"no handler 'one'\")\n\ndef two(payload):\n    raise UnknownHandlerError('no handler')\n\ndef three(payload):\n    raise HostError('timer_in_past')\n";
    let mut chain = Chain::new();
    let actor = chain.send(1, deploy(source)).created.expect("the source is fine");
    for handler in ["one", "two", "three"] {
        assert_eq!(chain.call(actor, handler, b"").abort, Some(error::HANDLER_RAISED), "{handler}");
    }
}

/// A-52: past its share of a block an actor runs while the lane has room that is not kept for others; then it waits for
/// the next block. Every validator holds to that, not only the proposer.
#[test]
fn an_actor_past_its_share_waits_for_the_next_block() {
    let rows = [
        ("lanes.user_cycles", 6_000_000),
        ("lanes.system_cycles", 1_000_000),
        ("lanes.runner_cycles", 550_000),
        ("lanes.timer_cycles", 550_000),
    ];
    let mut chain = Chain::with(|genesis| genesis.parameters = cowboy_testkit::chain::parameters(&rows));
    let greedy = chain.send(1, deployment("handler run\n burn 1000000\n")).created.expect("it is deployed");
    let modest = chain.send(2, deployment("handler run\n burn 1000\n")).created.expect("it is deployed");
    let call = |from: u8, nonce: u64, target: Address| {
        let mut transaction = unsigned(from, nonce, execution(target, "run", b"", 0));
        transaction.cycles_limit = Cycles(1_050_000);
        sign(from, transaction)
    };
    let nonces: Vec<u64> = (0..=9).map(|from| if from == 0 { 0 } else { chain.nonce(from) }).collect();
    let mut candidates: Vec<SignedTransaction> = (3..=9).map(|from| call(from, nonces[usize::from(from)], greedy)).collect();
    candidates.push(call(2, nonces[2], modest));
    let outcome = chain.block(candidates.clone());
    let ran = |target: Address| outcome.receipts.iter().filter(|receipt| receipt.target == target).count();
    // Room: 6,000,000 and what the other lanes leave, 2,100,000; 3,000,000 are kept for actors within their share.
    assert_eq!(ran(greedy), 4, "a burst runs while there is room beside what is kept");
    assert_eq!(ran(modest), 1, "who is within its share has room");
    assert!(outcome.rejected.iter().all(|(_, reason)| *reason == Invalid::DoesNotFit));

    // A body that takes them all is no block.
    let mut chain = Chain::with(|genesis| genesis.parameters = cowboy_testkit::chain::parameters(&rows));
    chain.send(1, deployment("handler run\n burn 1000000\n"));
    let mut all: Vec<Placed> = (3..=9).map(|from| Placed { signed: call(from, 0, greedy), lane: Lane::User }).collect();
    cowboy_chain::order::sort(&mut all, &chain.order_key());
    let all = all.into_iter().map(|placed| placed.signed).collect();
    let refused = chain.run(chain.input(cowboy_chain::Mode::Verify { transactions: all }));
    assert!(matches!(refused, Err(cowboy_chain::BlockInvalid::Transaction { reason: Invalid::DoesNotFit, .. })));
}

fn deployment(script: &str) -> Instruction {
    cowboy_testkit::chain::deployment(script, Some(ALL), None, 0)
}

/// Timers of an actor past its share wait a block, and none is lost (A-52, A-117).
#[test]
fn timers_past_the_share_wait_a_block() {
    let mut chain = Chain::new();
    let lines: String = (0..16).map(|number| format!(" timer 4 'n{number:02}'\n")).collect();
    let script = format!("handler set\n{lines}handler handle_timer\n burn 500000\n emit 'fired' $payload\n");
    let actor =
        chain.send(1, cowboy_testkit::chain::deployment(&script, Some(ALL), None, 1_000_000_000_000)).created.expect("it is deployed");
    chain.call(actor, "set", b"");
    chain.idle(1);
    assert_eq!(chain.height, Height(3));
    let fired: Vec<Vec<Vec<u8>>> = (0..3).map(|_| chain.idle(1).iter().map(|receipt| receipt.events[0].data.to_vec()).collect()).collect();
    let counts: Vec<usize> = fired.iter().map(Vec::len).collect();
    // 8,888,890 of the lane, half of it kept: a burst runs while 550,000 leave 4,444,445.
    assert_eq!(counts, [8, 8, 0]);
    let all: Vec<Vec<u8>> = fired.into_iter().flatten().collect();
    assert_eq!(all, (0..16).map(|number| format!("n{number:02}").into_bytes()).collect::<Vec<_>>(), "in their order");
}

/// The records that deliveries need are asked for together: rounds do not grow with the messages that wait.
#[test]
fn deliveries_are_fetched_ahead() {
    let rounds = |messages: usize| {
        let mut chain = Chain::new();
        let sends: String = (0..messages).map(|place| format!(" send @{} 'x'\n", 2 + place % 8)).collect();
        let actor = chain.deploy(&format!("handler run\n{sends}"));
        chain.call(actor, "run", b"");
        let before = chain.rounds;
        assert_eq!(chain.idle(1).len(), messages);
        chain.rounds - before
    };
    assert_eq!(rounds(40), rounds(8));
}

/// A-100: events have a budget of their own, much smaller than that of messages, and neither draws on the other's.
#[test]
fn events_and_messages_have_budgets_of_their_own() {
    let rows = &Params::GENESIS.execution;
    assert!(rows.events_per_delivery * 4 <= rows.fanout_per_tx);
    let source = b"import pvm_host\n\ndef both(payload):\n    for number in range(256):\n        pvm_host.emit_event('e', b'')\n    for number in range(1_024):\n        pvm_host.send_message(payload, b'')\n";
    let mut chain = Chain::new();
    let actor = chain.send(1, deploy(source)).created.expect("the source is fine");
    let mut transaction = unsigned(1, chain.nonce(1), execution(actor, "both", &address(3).0, 0));
    (transaction.cycles_limit, transaction.cells_limit) = (Cycles(20_000_000), Cells(4_000_000));
    let receipt = chain.one(sign(1, transaction));
    assert_eq!((receipt.abort.clone(), receipt.events.len()), (None, 256));
    assert_eq!(chain.all::<cowboy_state::records::Message>(Kind::Message).len(), 1_024);
}

/// A payload of the wrong shape is the handler's own error, and says what it wanted.
#[test]
fn a_payload_of_the_wrong_shape_is_refused() {
    let source = b"from cowboy_sdk import actor, public\n\n@actor\nclass Adder:\n    @public\n    def add(self, amount: int) -> int:\n        return amount + 1\n";
    let mut chain = Chain::new();
    let actor = chain.send(1, deploy(source)).created.expect("the source is fine");
    let rows: [&[u8]; 3] = [b"\xff", b"\x1b\x00", &Value::Array(vec![Value::uint(1), Value::uint(2)]).encode()];
    for payload in rows {
        let (code, slug, _) = failing(&mut chain, execution(actor, "add", payload, 0));
        assert_eq!((code, slug), (1201, "handler_raised"), "{payload:?}");
    }
    let nonce = chain.nonce(1);
    assert!(chain.one(signed(1, nonce, execution(actor, "add", &Value::uint(1).encode(), 0))).is_success());
    assert_eq!(Params::GENESIS.execution.burst_reserve, 5_000);
    assert!(chain.all::<cowboy_state::records::Message>(Kind::Message).is_empty());
}
