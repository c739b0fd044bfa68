//! Real Python on the real chain: the examples, and what only the VM can show.

use cowboy_chain::input::MAX_PRINTED;
use cowboy_testkit::chain::{ALL, Chain, address, deployment_of, execution, manifest_json, signed, unsigned};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Cycles};
use cowboy_types::{Address, Receipt, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    hello_greets,
    the_counter_counts,
    bad_python_fails_by_name,
    python_actors_call_and_send,
    python_spawns_python,
    python_uses_tokens,
    python_reads_its_runtime,
];

/// The answer of a handler, as JSON or CBOR text.
fn shown(receipt: &Receipt) -> String {
    assert_eq!(receipt.abort, None, "the handler returns");
    match cowboy_types::cbor::decode(&receipt.return_data) {
        Ok(Value::Integer(number)) => number.to_string(),
        Ok(Value::Text(text)) => text,
        Ok(other) => format!("{other:?}"),
        Err(_) => String::from_utf8_lossy(&receipt.return_data).into_owned(),
    }
}

/// The shipped examples on a chain.
trait Examples {
    /// Deploys an example with its manifest and its init handler, where it has one.
    fn example(&mut self, source: &str, manifest: &str) -> Address;
}

impl Examples for Chain {
    fn example(&mut self, source: &str, manifest: &str) -> Address {
        let init = source.contains("def init(").then_some("init");
        let instruction = deployment_of(source.as_bytes(), Some(manifest_json(manifest)), init, b"{}", 0);
        let mut transaction = unsigned(1, self.nonce(1), instruction);
        transaction.cycles_limit = Cycles(20_000_000);
        let outcome = self.block(vec![cowboy_testkit::chain::sign(1, transaction)]);
        let receipt = &outcome.receipts[0];
        assert_eq!(receipt.abort, None, "{:?}", outcome.traces[0]);
        receipt.created.expect("a deployment creates")
    }
}

macro_rules! example {
    ($chain:expr, $name:literal) => {
        $chain.example(
            include_str!(concat!("../../../examples/", $name, "/actor.py")),
            include_str!(concat!("../../../examples/", $name, "/manifest.json")),
        )
    };
}

/// A-91, A-92: deploy a Python actor, call it, read what it returns.
#[test]
fn hello_greets() {
    let mut chain = Chain::new();
    let hello = example!(chain, "hello");
    assert_eq!(shown(&chain.call(hello, "greet", &Value::text("Ada").encode())), "Hello, Ada!");
    assert_eq!(shown(&chain.call(hello, "greetings", b"")), "1");
}

/// Permissions, errors and events, by their names in the receipt.
#[test]
fn the_counter_counts() {
    let mut chain = Chain::new();
    let counter = example!(chain, "counter");
    let first = chain.call(counter, "increment", b"");
    assert_eq!(shown(&first), "1");
    assert_eq!(&first.events[0].name[..], "changed");
    assert_eq!(shown(&chain.call(counter, "add", &Value::uint(41).encode())), "42");
    let nonce = chain.nonce(2);
    let outcome = chain
        .block(vec![signed(2, nonce, execution(counter, "reset", b"", 0)), signed(2, nonce + 1, execution(counter, "nothing", b"", 0))]);
    assert_eq!(outcome.receipts[0].abort, Some(error::PERMISSION_DENIED));
    assert_eq!(outcome.receipts[1].abort, Some(error::UNKNOWN_HANDLER));
    let bad = chain.block(vec![signed(1, chain.nonce(1), execution(counter, "add", &Value::Integer(-1).encode(), 0))]);
    let exception = bad.traces[0].calls[0].exception.clone().expect("it raised");
    assert_eq!((exception.name.as_str(), exception.message.as_str()), ("ValueError", "amount must be a positive integer"));
    assert!(exception.traceback.iter().any(|line| line.contains("actor.py")), "{exception:?}");
    assert_eq!(shown(&chain.call(counter, "get", b"")), "42");
}

/// Decision 530: what a failed delivery noted is deleted, and nothing else that it did stays. A handler that another one calls notes
/// nothing, and neither does one that succeeds.
#[test]
fn noted_entries_go_even_if_the_delivery_fails() {
    let mut chain = Chain::new();
    let source = "from cowboy_sdk import actor, public, call
import pvm_host

@actor
class Keeper:
    @public
    def put(self, payload):
        pvm_host.set_state(b'noted', b'1')
        pvm_host.set_state(b'other', b'1')
        pvm_host.delete_state(b'new')

    @public
    def note(self, payload):
        pvm_host.delete_on_failure(b'noted')
        pvm_host.delete_on_failure(b'never there')
        pvm_host.set_state(b'other', b'2')
        pvm_host.set_state(b'new', b'2')
        if payload == 'fail':
            raise ValueError

    @public
    def outer(self, payload):
        try:
            call(self.address, 'note', 'fail')
        except Exception:
            pass
        if payload == 'fail':
            raise ValueError

    @public
    def held(self, payload):
        found = [pvm_host.get_state(key) for key in (b'noted', b'other', b'new')]
        return '-'.join(['none' if value is None else value.decode() for value in found])

    @public
    def reserved(self, payload):
        pvm_host.delete_on_failure(b'__INITIALIZED__')
";
    let keeper = chain.example(source, r#"{"entitlements": [{"id": "storage.kv"}]}"#);
    let text = |word: &str| Value::text(word).encode();
    // An actor that its own failed deployment takes with it has nothing to delete.
    let doomed = "import pvm_host\n\ndef init(payload):\n    pvm_host.delete_on_failure(b'a')\n    raise ValueError\n";
    let manifest = manifest_json(r#"{"entitlements": [{"id": "storage.kv"}]}"#);
    let receipt = chain.send(1, deployment_of(doomed.as_bytes(), Some(manifest), Some("init"), b"", 0));
    assert_eq!(receipt.abort, Some(error::HANDLER_RAISED));
    let rows = [
        ("note", "fail", Some(error::HANDLER_RAISED), "none-1-none"),
        ("note", "", None, "1-2-2"),
        ("outer", "", None, "1-1-none"),
        ("outer", "fail", Some(error::HANDLER_RAISED), "1-1-none"),
        ("reserved", "", Some(error::INVALID_ARGUMENT), "1-1-none"),
    ];
    for (method, payload, abort, held) in rows {
        chain.call(keeper, "put", b"");
        let stored = chain.actor(keeper).storage_bytes;
        let receipt = chain.call(keeper, method, &text(payload));
        assert_eq!((receipt.abort.clone(), shown(&chain.call(keeper, "held", b"")).as_str()), (abort, held), "{method} {payload}");
        if held.starts_with("none") {
            let freed = u64::try_from("noted".len() + 1).expect("a short name");
            assert_eq!(chain.actor(keeper).storage_bytes.0, stored.0 - freed, "its bytes are counted no more");
        }
    }
}

/// What handlers print stands in the trace of their delivery, each by itself, whether they fail or not, and bounded for all of them
/// together. Receipts do not have it.
#[test]
fn prints_stand_in_the_trace() {
    let mut chain = Chain::new();
    let source = "from cowboy_sdk import actor, public, call

@actor
class Talker:
    @public
    def talk(self, letter: str):
        print(letter * 3)
        try:
            call(self.address, 'fail', letter)
        except Exception:
            print('caught')

    @public
    def fail(self, letter: str):
        print('é' * 10)
        raise ValueError(letter)

    @public
    def shout(self, times: int):
        print('é' * times)
        self.talk('x')
";
    let deployment = deployment_of(source.as_bytes(), Some(cowboy_testkit::chain::manifest(ALL)), None, b"", 0);
    let outcome = chain.block(vec![signed(1, chain.nonce(1), deployment)]);
    let talker = outcome.receipts[0].created.expect("it is deployed");
    let mut printed = |handler: &str, argument: Value| {
        let nonce = chain.nonce(1);
        let outcome = chain.block(vec![signed(1, nonce, execution(talker, handler, &argument.encode(), 0))]);
        outcome.traces[0].calls.iter().map(|call| call.printed.clone()).collect::<Vec<_>>()
    };
    assert_eq!(printed("talk", Value::text("a")), ["aaa\ncaught\n".to_owned(), format!("{}\n", "é".repeat(10))]);
    assert_eq!(printed("fail", Value::text("b")), [format!("{}\n", "é".repeat(10))]);
    let cut = printed("shout", Value::uint(3_000));
    assert_eq!(cut.iter().map(String::len).sum::<usize>(), MAX_PRINTED - 1, "whole letters only: {cut:?}");
}

/// A-51, A-73, A-84: loops, memory and recursion end; forbidden and broken source is refused, each by its name.
#[test]
fn bad_python_fails_by_name() {
    let deploy = |chain: &mut Chain, source: &str| {
        let instruction = deployment_of(source.as_bytes(), Some(cowboy_testkit::chain::manifest(ALL)), None, b"", 0);
        let nonce = chain.nonce(1);
        chain.block(vec![signed(1, nonce, instruction)])
    };
    let rows = [
        ("def f(:\n    pass\n", error::SYNTAX_ERROR),
        ("import socket\n", error::FORBIDDEN_SOURCE),
        ("raise ValueError('no')\n", error::MODULE_FAILED),
        ("while True:\n    pass\n", error::OUT_OF_CYCLES),
        ("x = [0] * (10 << 20)\n", error::OUT_OF_MEMORY),
    ];
    for (source, expected) in rows {
        let mut chain = Chain::new();
        let outcome = deploy(&mut chain, source);
        assert_eq!(outcome.receipts[0].abort, Some(expected), "{source}");
        assert!(outcome.receipts[0].fee.burned > Amount(0));
    }
    let mut chain = Chain::new();
    let outcome = deploy(
        &mut chain,
        "def spin(payload):\n    while True:\n        pass\n\ndef deep(payload):\n    return deep(payload)\n\ndef fat(payload):\n    x = []\n    while True:\n        x.append(bytes(1000))\n",
    );
    let actor = outcome.receipts[0].created.expect("it is fine until called");
    assert_eq!(chain.call(actor, "spin", b"").abort, Some(error::OUT_OF_CYCLES));
    assert_eq!(chain.call(actor, "deep", b"").abort, Some(error::HANDLER_RAISED), "RecursionError (A-66)");
    assert_eq!(chain.call(actor, "fat", b"").abort, Some(error::OUT_OF_MEMORY));
}

/// A-90, A-93: two Python actors, a call and a message between them.
#[test]
fn python_actors_call_and_send() {
    const PEER: &str = "from cowboy_sdk import actor, public\n\n@actor\nclass Peer:\n    @public\n    def take(self, amount: int) -> int:\n        self.storage['sum'] = self.storage.get('sum', 0) + amount\n        return self.storage['sum']\n";
    const SENDER: &str = "from cowboy_sdk import actor, call, deferred, public, send\n\n@actor\nclass Sender:\n    @public\n    @deferred\n    def both(self, peer: str) -> int:\n        now = call(peer, 'take', 2)\n        send(peer, 3, handler='take')\n        return now\n";
    let mut chain = Chain::new();
    let manifest = r#"{"entitlements": [{"id": "storage.kv"}]}"#;
    let (peer, sender) = (chain.example(PEER, manifest), chain.example(SENDER, manifest));
    let nonce = chain.nonce(1);
    let outcome = chain.block(vec![signed(1, nonce, execution(sender, "both", &Value::text(peer.to_string()).encode(), 0))]);
    let receipt = outcome.receipts[0].clone();
    assert!(receipt.is_success(), "{:?}", outcome.traces[0]);
    assert_eq!(shown(&receipt), "2");
    let delivered = chain.idle(1);
    assert_eq!(delivered.len(), 1);
    assert_eq!(shown(&delivered[0]), "5");
    assert_eq!(delivered[0].fee.payer, address(1));
}

/// What the Python parent of the next test deploys.
const CHILD: &str = "from cowboy_sdk import actor, callable_by, public, OWNER\n\n@actor\nclass Child:\n    @public\n    def init(self, payload):\n        self.storage[\"note\"] = payload.decode()\n\n    @callable_by(OWNER)\n    def note(self):\n        return self.storage[\"note\"]\n";

/// A-104: a Python parent spawns a Python child, which is its own: with init, endowment and manifest.
#[test]
fn python_spawns_python() {
    let parent = "from cowboy_sdk import actor, call, deferred, public, spawn\n\n@actor\nclass Parent:\n    @public\n    @deferred\n    def breed(self, code: str):\n        child = spawn(code, b\"s\", \"init\", b\"hello\", [\"storage.kv\", \"econ.hold_balance\"], 7)\n        self.storage[\"child\"] = child\n        return child\n\n    @public\n    def ask(self):\n        return call(self.storage[\"child\"], \"note\")\n";
    let mut chain = Chain::new();
    let grants: &[(&str, &[(&str, u64)])] = &[("econ.hold_balance", &[]), ("econ.transfer", &[]), ("exec.spawn", &[]), ("storage.kv", &[])];
    let instruction = deployment_of(parent.as_bytes(), Some(cowboy_testkit::chain::manifest(grants)), None, b"", 100);
    let parent = chain.send(1, instruction).created.expect("the parent is deployed");
    let mut transaction = unsigned(1, chain.nonce(1), execution(parent, "breed", &Value::text(CHILD).encode(), 0));
    transaction.cycles_limit = Cycles(20_000_000);
    let outcome = chain.block(vec![cowboy_testkit::chain::sign(1, transaction)]);
    assert_eq!(outcome.receipts[0].abort, None, "{:?}", outcome.traces[0]);
    let salt = cowboy_chain::padded_salt(b"s").expect("a short salt");
    let child = Address::of_actor(&parent, &salt, &cowboy_types::keccak256(&[CHILD.as_bytes()]));
    assert_eq!((chain.actor(child).owner, chain.balance(child), chain.balance(parent)), (parent, 7, 93));
    assert_eq!(shown(&chain.call(parent, "ask", b"")), "hello");
    assert_eq!(chain.call(child, "note", b"").abort, Some(error::PERMISSION_DENIED), "only its owner may ask");
}

/// What an actor reads about a source that makes no child is the row of the table. The words of the compiler, which releases may change, and those of
/// the module's exception stand in the trace only (decision 757).
#[test]
fn actors_read_no_words_about_a_source() {
    let parent = "from cowboy_sdk import ActorCallError, actor, deferred, public, spawn\n\n@actor\nclass Parent:\n    @public\n    @deferred\n    def breed(self, code: str) -> str:\n        try:\n            spawn(code)\n        except ActorCallError as error:\n            return str(error)\n        return 'a child'\n";
    let mut chain = Chain::new();
    let parent = chain.example(parent, r#"{"entitlements": [{"id": "exec.spawn"}]}"#);
    let rows = [
        ("x = (\n", error::SYNTAX_ERROR, "SyntaxError"),
        ("import os\n", error::FORBIDDEN_SOURCE, "ForbiddenSource"),
        ("1 / 0\n", error::MODULE_FAILED, "ZeroDivisionError"),
    ];
    for (code, abort, class) in rows {
        let mut transaction = unsigned(1, chain.nonce(1), execution(parent, "breed", &Value::text(code).encode(), 0));
        transaction.cycles_limit = Cycles(20_000_000);
        let outcome = chain.block(vec![cowboy_testkit::chain::sign(1, transaction)]);
        let row = error::row(abort.code);
        assert_eq!(shown(&outcome.receipts[0]), format!("spawn() failed [{}]: {} {} {}", row.slug, row.what, row.why, row.fix));
        let told = outcome.traces[0].calls.iter().find_map(|call| call.exception.as_ref());
        assert_eq!(told.map(|exception| exception.name.as_str()), Some(class), "the trace has the words");
    }
}

/// A-297: a Python actor makes a token of more units than 64 bits count, and everything that the SDK offers for it.
#[test]
fn python_uses_tokens() {
    let source = "from cowboy_sdk import actor, deferred, public, runtime\n\n@actor\nclass Bank:\n    @public\n    @deferred\n    def run(self, other: str) -> str:\n        me = runtime.get_actor_address()\n        token = runtime.token_create('Gold', 'GLD', 18, 2**70, 2**71, None, '')\n        runtime.token_transfer(token, other, 2**69)\n        runtime.token_approve(token, other, 5)\n        runtime.token_mint(token, me, 2**70)\n        runtime.token_burn(token, 1)\n        try:\n            runtime.token_mint(token, me, 2)\n        except Exception as error:\n            refused = type(error).__name__\n        seen = [runtime.token_balance_of(token, me), runtime.token_balance_of(token, other), runtime.token_allowance(token, me, other), runtime.token_total_supply(token)]\n        return refused + ' ' + str([seen[0] == 2**70 + 2**69 - 1, seen[1] == 2**69, seen[2], seen[3] == 2**71 - 1, len(token)])\n";
    let mut chain = Chain::new();
    let bank = chain.example(source, r#"{"entitlements": [{"id": "econ.hold_balance"}]}"#);
    // The deposit of an allowance comes along.
    let run = execution(bank, "run", &Value::text(address(2).to_string()).encode(), 1_000_000_000);
    let mut transaction = unsigned(1, chain.nonce(1), run);
    transaction.cycles_limit = Cycles(20_000_000);
    let outcome = chain.block(vec![cowboy_testkit::chain::sign(1, transaction)]);
    assert_eq!(outcome.receipts[0].abort, None, "{:?}", outcome.traces[0]);
    assert_eq!(shown(&outcome.receipts[0]), "HostError [True, True, 5, True, 32]");
}

/// What the SDK asks the runtime for: how long a result is kept is the parameter.
#[test]
fn python_reads_its_runtime() {
    let mut chain = Chain::new();
    let source = "import pvm_host\nfrom cowboy_sdk import Actor, actor, public\n\n@actor\nclass Runtime(Actor):\n    @public\n    def kept(self) -> int:\n        return pvm_host.runtime_config()['result_ttl']\n";
    let actor = chain.example(source, include_str!("../../../examples/hello/manifest.json"));
    assert_eq!(shown(&chain.call(actor, "kept", b"")), "3600");
}
