//! Gateways: registering, health, leaving, dispatch, the pool, evidence (004 §8.4, §9).

mod evidence;
mod judged;
mod order;
mod payers;
pub(crate) mod web;

use cowboy_params::Params;
use cowboy_system::gateways::envelope::request_id;
use cowboy_system::gateways::{NUMBER, state, types::Gateway};
use cowboy_testkit::chain::{Chain, address, deployment_of, execution, parameters};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::Height;
use cowboy_types::{Abort, Address, Hash, Receipt, error};
use evidence::{a_gateway_that_cheats_is_slashed, answers_that_contradict_each_other_are_slashed};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_gateway_registers_and_stays_up,
    a_gateway_leaves,
    a_request_is_dispatched,
    dispatches_are_refused,
    request_ids_belong_to_a_gateway_and_a_target,
    a_command_has_a_ceiling,
    an_actor_pays_for_its_commands,
    request_ids_are_forgotten,
    the_pool_is_shared_out,
    a_gateway_that_cheats_is_slashed,
    answers_that_contradict_each_other_are_slashed,
];

const REGISTRY: Address = Address::system(NUMBER);
const CBY: u64 = 1_000_000_000;
const STAKE: u64 = 10_000 * CBY;
const WEB: &[(&str, &[(&str, u64)])] = &[("ingress.http", &[("max_request_bytes", 100)]), ("storage.kv", &[])];
const SCRIPT: &str = "handler http.request\n context\n set 'seen' $payload\n return $0\nhandler quiet\n return 'x'\n";

fn ask<const N: usize>(chain: &mut Chain, from: u8, method: &str, argument: [(&str, Value); N], value: u64) -> Receipt {
    chain.send(from, execution(REGISTRY, method, &Value::map(argument).encode(), value))
}

fn place() -> [(&'static str, Value); 2] {
    [("endpoint", Value::text("gw.example.com")), ("http_port", Value::uint(443))]
}

fn register(chain: &mut Chain, from: u8, stake: u64) {
    assert_eq!(ask(chain, from, "register_gateway", place(), stake).abort, None);
}

fn gateway(chain: &Chain, number: u8) -> Gateway {
    chain.record(&state::gateway_key(address(number))).expect("it is registered")
}

fn is_active(chain: &mut Chain, number: u8) -> bool {
    let receipt = ask(chain, 1, "is_active_gateway", [("address", Value::Bytes(address(number).0.to_vec()))], 0);
    cbor::decode(&receipt.return_data).expect("CBOR") == Value::Bool(true)
}

/// The n-th request that a gateway brings to an actor of the chain, and the salt of its id.
fn request(chain: &Chain, from: u8, target: Address, number: u8, method: &str, body: &[u8]) -> (Value, [u8; 32]) {
    request_on(chain.config.genesis, from, target, number, method, body)
}

/// The same on the chain with this genesis hash.
fn request_on(genesis: Hash, from: u8, target: Address, number: u8, method: &str, body: &[u8]) -> (Value, [u8; 32]) {
    let envelope = Value::map([
        ("body", Value::Bytes(body.to_vec())),
        ("headers", Value::Map(vec![])),
        ("host", Value::text("mysite.cowboy.network")),
        ("method", Value::text(method)),
        ("path", Value::text("/api")),
        ("query", Value::Map(vec![])),
        ("request_id", Value::text(request_id(genesis, address(from), target, &[number; 32]))),
    ]);
    (envelope, [number; 32])
}

fn dispatch_argument(target: Address, (envelope, salt): (Value, [u8; 32])) -> [(&'static str, Value); 3] {
    [("target", Value::Bytes(target.0.to_vec())), ("envelope", envelope), ("salt", Value::Bytes(salt.to_vec()))]
}

fn dispatch(chain: &mut Chain, from: u8, target: Address, request: (Value, [u8; 32])) -> Receipt {
    ask(chain, from, "dispatch", dispatch_argument(target, request), 0)
}

/// A gateway's n-th POST to an actor.
fn post(chain: &mut Chain, from: u8, target: Address, number: u8) -> Receipt {
    let request = request(chain, from, target, number, "POST", b"");
    dispatch(chain, from, target, request)
}

/// a stake of 10,000 CBY and a place; a heartbeat fills the health, each block takes one, and none is inactive.
#[test]
fn a_gateway_registers_and_stays_up() {
    assert_eq!((Params::GENESIS.gateways.stake_min, Params::GENESIS.gateways.health), (STAKE, 3_600));
    let mut chain = Chain::new();
    let at = |endpoint: &str, port: u64| [("endpoint", Value::text(endpoint)), ("http_port", Value::uint(port))];
    let rows: [([(&str, Value); 2], u64, Option<Abort>); 10] = [
        (at("gw.example.com", 0), STAKE, Some(error::GATEWAY_ENDPOINT)),
        (at("gw.example.com", 65_536), STAKE, Some(error::GATEWAY_ENDPOINT)),
        (at("GW.example.com", 443), STAKE, Some(error::GATEWAY_ENDPOINT)),
        (at("https://gw", 443), STAKE, Some(error::GATEWAY_ENDPOINT)),
        (at("", 443), STAKE, Some(error::GATEWAY_ENDPOINT)),
        (at("2001:db8:0:0::1", 443), STAKE, Some(error::GATEWAY_ENDPOINT)),
        (at("::ffff:c000:201", 443), STAKE, Some(error::GATEWAY_ENDPOINT)),
        (place(), STAKE - 1, Some(error::GATEWAY_STAKE)),
        (at("2001:db8::1", 443), STAKE, None),
        (place(), STAKE, Some(error::GATEWAY_EXISTS)),
    ];
    for (argument, value, expected) in rows {
        let shown = format!("{argument:?}");
        assert_eq!(ask(&mut chain, 2, "register_gateway", argument, value).abort, expected, "{shown}");
    }
    assert_eq!(chain.balance(state::stakes()), STAKE);
    assert!(is_active(&mut chain, 2) && !is_active(&mut chain, 3));
    assert!(ask(&mut chain, 2, "set_endpoint", place(), 0).is_success());
    let since = gateway(&chain, 2).last_heartbeat.0;
    chain.height = Height(since + 3_598);
    assert!(is_active(&mut chain, 2), "one block of health is left");
    assert!(!is_active(&mut chain, 2), "none is");
    assert!(ask(&mut chain, 2, "heartbeat", [], 0).is_success());
    assert!(is_active(&mut chain, 2), "it is full again");
    assert_eq!(gateway(&chain, 2).health(&Params::GENESIS, chain.height), 3_599);
    assert_eq!(ask(&mut chain, 3, "heartbeat", [], 0).abort, Some(error::GATEWAY_UNKNOWN));
    assert!(ask(&mut chain, 2, "add_stake", [], 5).is_success());
    assert_eq!(ask(&mut chain, 2, "draw", [("amount", Value::uint(6))], 0).abort, Some(error::GATEWAY_STAKE));
    assert!(ask(&mut chain, 2, "draw", [("amount", Value::uint(5))], 0).is_success());
    assert_eq!((gateway(&chain, 2).stake.0, chain.balance(state::stakes())), (STAKE, STAKE));
}

/// leaving takes 604,800 blocks from when a gateway became inactive.
#[test]
fn a_gateway_leaves() {
    let mut chain = Chain::new();
    register(&mut chain, 2, STAKE);
    register(&mut chain, 3, STAKE);
    assert_eq!(ask(&mut chain, 4, "unstake", [], 0).abort, Some(error::GATEWAY_UNKNOWN));
    assert!(ask(&mut chain, 2, "unstake", [], 0).is_success());
    let until = chain.height.0 + 604_800;
    assert_eq!(gateway(&chain, 2).leaving, Some(Height(until)));
    assert!(!is_active(&mut chain, 2), "at once");
    assert_eq!(ask(&mut chain, 2, "heartbeat", [], 0).abort, Some(error::GATEWAY_STATE));
    assert_eq!(ask(&mut chain, 2, "unstake", [], 0).abort, Some(error::STILL_BOUND));
    chain.height = Height(until - 1);
    let before = chain.balance(address(2));
    let receipt = ask(&mut chain, 2, "unstake", [], 0);
    assert_eq!(chain.balance(address(2)), before + STAKE - receipt.fee.burned.0 - receipt.fee.tip.0);
    assert_eq!(chain.record::<Gateway>(&state::gateway_key(address(2))), None);
    let asleep = gateway(&chain, 3).last_heartbeat.0 + 3_600;
    assert!(chain.height.0 < asleep + 604_800);
    assert!(ask(&mut chain, 3, "unstake", [], 0).is_success());
    assert_eq!(gateway(&chain, 3).leaving, Some(Height(asleep + 604_800)), "since its health ran out");
    register(&mut chain, 2, STAKE);
    assert_eq!(chain.balance(state::stakes()), 2 * STAKE);
}

/// an active gateway's request reaches the handler in the same transaction, from the registry; the gateway pays.
#[test]
fn a_request_is_dispatched() {
    let mut chain = Chain::new();
    let actor = chain.deploy_with(SCRIPT, WEB, 0);
    register(&mut chain, 2, STAKE);
    let sent = request(&chain, 2, actor, 1, "POST", b"hello");
    let receipt = dispatch(&mut chain, 2, actor, sent.clone());
    let request = sent.0.clone();
    assert_eq!((receipt.abort.clone(), receipt.target, receipt.sender), (None, REGISTRY, address(2)));
    assert_eq!(receipt.fee.payer, address(2));
    assert_eq!(chain.stored(actor, "seen"), Some(request.encode()), "the handler got the request's canonical bytes");
    let context = String::from_utf8(receipt.return_data.to_vec()).expect("text");
    assert!(context.contains(&format!("{:?}", REGISTRY.0.to_vec())), "ctx.sender is 0x…0F: {context}");
    assert_eq!(receipt.events[0].name.to_string(), "http.dispatched");
    let spoofed = chain.send(3, execution(actor, "http.request", &request.encode(), 0));
    let context = String::from_utf8(spoofed.return_data.to_vec()).expect("text");
    assert!(!context.contains(&format!("{:?}", REGISTRY.0.to_vec())), "nobody else can be the registry: {context}");
    assert_eq!(dispatch(&mut chain, 2, actor, sent).abort, Some(error::REQUEST_REPEATED), "a request id counts once");
}

/// what is not dispatched, in order of precedence.
#[test]
fn dispatches_are_refused() {
    let mut chain = Chain::new();
    let actor = chain.deploy_with(SCRIPT, WEB, 0);
    let closed = chain.deploy("handler http.request\n return 'x'\n");
    register(&mut chain, 2, STAKE);
    let long = [b'x'; 101];
    let rows = [
        (3, actor, request(&chain, 3, actor, 1, "POST", b""), error::UNAUTHORIZED_GATEWAY),
        (3, closed, (Value::Null, [1; 32]), error::UNAUTHORIZED_GATEWAY),
        (2, closed, request(&chain, 2, closed, 1, "POST", b""), error::INGRESS_MISSING),
        (2, address(7), request(&chain, 2, address(7), 1, "POST", b""), error::INGRESS_MISSING),
        (2, actor, (Value::Null, [1; 32]), error::INGRESS_INVALID),
        (2, actor, request(&chain, 2, actor, 1, "GET", b""), error::INGRESS_METHOD),
        (2, actor, request(&chain, 2, actor, 1, "DELETE", b""), error::INGRESS_METHOD),
        (2, actor, request(&chain, 2, actor, 1, "OPTIONS", b""), error::INGRESS_METHOD),
        (2, actor, request(&chain, 2, actor, 1, "POST", &long), error::INGRESS_TOO_LARGE),
    ];
    for (from, target, request, expected) in rows {
        assert_eq!(dispatch(&mut chain, from, target, request.clone()).abort, Some(expected), "{request:?}");
    }
    let wide = chain.deploy_with(
        "handler http.request\n return 'wide'\n",
        &[("ingress.http", &[("max_request_bytes", 4_096)]), ("storage.kv", &[])],
        0,
    );
    let long = request(&chain, 2, wide, 3, "POST", &[b'x'; 2_000]);
    assert!(dispatch(&mut chain, 2, wide, long).is_success(), "as much as the manifest says");
    let failing = chain.deploy_with("handler http.request\n set 'a' 'b'\n raise\n", WEB, 0);
    let receipt = post(&mut chain, 2, failing, 1);
    assert_eq!((receipt.abort.clone(), chain.stored(failing, "a")), (Some(error::HANDLER_RAISED), None));
    assert!(post(&mut chain, 2, actor, 1).is_success(), "what failed may be tried again");
    let payable = ask(&mut chain, 2, "dispatch", [("target", Value::Null)], 5);
    assert_eq!(payable.abort, Some(error::NOT_PAYABLE));
    let since = gateway(&chain, 2).last_heartbeat.0;
    chain.height = Height(since + 3_600);
    assert_eq!(post(&mut chain, 2, actor, 2).abort, Some(error::UNAUTHORIZED_GATEWAY), "no health is left");
}

/// Decisions 178, 765: a gateway cannot use up the id of a request that another one is about to bring, nor one of another target, nor bring one of another chain.
#[test]
fn request_ids_belong_to_a_gateway_and_a_target() {
    let mut chain = Chain::new();
    let (actor, other) = (chain.deploy_with(SCRIPT, WEB, 0), chain.deploy_with("handler http.request\n return 'x'\n", WEB, 0));
    register(&mut chain, 2, STAKE);
    register(&mut chain, 3, STAKE);
    let seen = request(&chain, 2, actor, 1, "POST", b"");
    for (from, target) in [(3, actor), (3, other), (2, other)] {
        let receipt = dispatch(&mut chain, from, target, seen.clone());
        assert_eq!(receipt.abort, Some(error::REQUEST_ID_FOREIGN), "{from} {target}");
    }
    let elsewhere = request_on(Hash([9; 32]), 2, actor, 1, "POST", b"");
    assert_eq!(dispatch(&mut chain, 2, actor, elsewhere).abort, Some(error::REQUEST_ID_FOREIGN), "of another chain");
    let unsalted = [("target", Value::Bytes(actor.0.to_vec())), ("envelope", seen.0.clone())];
    assert_eq!(ask(&mut chain, 2, "dispatch", unsalted, 0).abort, Some(error::INVALID_ARGUMENT));
    assert_eq!(dispatch(&mut chain, 2, actor, seen.clone()).abort, None);
    assert_eq!(dispatch(&mut chain, 2, actor, seen).abort, Some(error::REQUEST_REPEATED));
}

/// What governance says a command may use at most, whatever its gateway signs for.
#[test]
fn a_command_has_a_ceiling() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("gateways.command_cycles_max", 100_000)]));
    let burning = chain.deploy_with("handler http.request\n burn 90000\n return 'x'\nhandler own\n burn 110000\n return 'x'\n", WEB, 0);
    let wasteful = chain.deploy_with("handler http.request\n burn 110000\n return 'x'\n", WEB, 0);
    register(&mut chain, 2, STAKE);
    assert_eq!(post(&mut chain, 2, burning, 1).abort, None);
    assert_eq!(post(&mut chain, 2, wasteful, 1).abort, Some(error::OUT_OF_CYCLES));
    assert_eq!(chain.send(2, execution(burning, "own", b"", 0)).abort, None, "other calls have their transaction's limit");
}

/// A manifest with these parameters of `ingress.http`.
fn paying(params: Vec<(&'static str, Value)>) -> Vec<u8> {
    let grant = |id: &str, params: Vec<(&'static str, Value)>| Value::map([("id", Value::text(id)), ("params", Value::dict(params))]);
    let grants = Value::Array(vec![grant("econ.hold_balance", vec![]), grant("ingress.http", params)]);
    Value::map([("entitlements", grants)]).encode()
}

/// Decision 581: an actor that names no bound pays no more in a period than the parameter says, whatever its balance is.
#[test]
fn an_actor_that_names_no_bound_has_one() {
    let rows = [("gateways.fee_period", 100), ("gateways.max_fees_default", 1_000)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    register(&mut chain, 2, STAKE);
    let script = b"#script\nhandler http.request\n burn 50000\n return 'x'\n";
    let deployment = deployment_of(script, Some(paying(vec![("pays", Value::text("actor"))])), None, b"", CBY);
    let actor = chain.send(1, deployment).created.expect("a deployment creates");
    let paid: Vec<u64> = (1..=3)
        .map(|number| {
            // The third is of another period.
            chain.height = Height(if number == 3 { (chain.height.0 / 100 + 1) * 100 } else { chain.height.0 });
            let before = chain.balance(actor);
            assert_eq!(post(&mut chain, 2, actor, number).abort, None);
            before - chain.balance(actor)
        })
        .collect();
    assert_eq!(paid, [1_000, 0, 1_000]);
}

/// Decisions 178 and 329: the actor pays the base fees of commands that succeed, within its bound and its balance; tips stay the gateway's.
#[test]
fn an_actor_pays_for_its_commands() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("gateways.fee_period", 100)]));
    let by_actor = ("pays", Value::text("actor"));
    register(&mut chain, 2, STAKE);
    let mut deploy = |params, end: &str| {
        let script = format!("#script\nhandler http.request\n burn 50000\n {end}\n");
        let receipt = chain.send(1, deployment_of(script.as_bytes(), Some(paying(params)), None, b"", CBY));
        assert_eq!(receipt.abort, None);
        receipt.created.expect("a deployment creates")
    };
    let payer = deploy(vec![by_actor.clone()], "return 'all'");
    let bound = deploy(vec![by_actor.clone(), ("max_fees", Value::uint(1_000))], "return 'some'");
    let failing = deploy(vec![by_actor], "raise");
    let free = deploy(vec![("pays", Value::text("gateway"))], "return 'none'");
    let mut cost = |actor: Address, number: u8| {
        let before = [chain.balance(actor), chain.balance(address(2))];
        let receipt = post(&mut chain, 2, actor, number);
        let paid = before[0] - chain.balance(actor);
        assert_eq!(before[1] - chain.balance(address(2)), receipt.fee.burned.0 + receipt.fee.tip.0 - paid, "no CBY comes or goes");
        let said = receipt.events.iter().find(|event| event.name.to_string() == "gateway.repaid");
        assert_eq!(said.is_some(), paid > 0);
        (paid, receipt.fee.burned.0, chain.height.0)
    };
    let (paid, burned, _) = cost(payer, 1);
    assert_eq!((paid, burned > 1_000), (burned, true), "all that was burned, and no tip");
    assert_eq!((cost(free, 1).0, cost(failing, 1).0), (0, 0));
    let (first, _, height) = cost(bound, 1);
    assert_eq!((first, cost(bound, 2).0), (1_000, 0), "the bound of the period");
    chain.height = Height((height / 100 + 1) * 100);
    let mut cost = |actor: Address, number: u8| {
        let before = chain.balance(actor);
        post(&mut chain, 2, actor, number);
        before - chain.balance(actor)
    };
    assert_eq!(cost(bound, 3), 1_000, "a new period");
    for number in 2.. {
        let paid = cost(payer, number);
        if paid < burned {
            break;
        }
        assert!(number < 100, "it had one CBY");
    }
}

/// Request ids are forgotten in time, so that they never pile up.
#[test]
fn request_ids_are_forgotten() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("gateways.requests_kept", 100)]));
    let actor = chain.deploy_with(SCRIPT, WEB, 0);
    register(&mut chain, 2, STAKE);
    for number in 1..=5 {
        assert!(post(&mut chain, 2, actor, number).is_success());
    }
    chain.height = Height(chain.height.0 + 101);
    assert!(post(&mut chain, 2, actor, 6).is_success());
    assert_eq!(chain.names(state::requests()).len(), 3, "three went, one came");
    assert_eq!(post(&mut chain, 2, actor, 1).abort, None, "a forgotten id is new");
    assert_eq!(chain.names(state::requests()).len(), 2);
}

/// the pool is shared out each epoch by stake times uptime.
#[test]
fn the_pool_is_shared_out() {
    let rows = [("consensus.epoch", 600), ("gateways.health", 300)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    register(&mut chain, 2, 3 * STAKE);
    register(&mut chain, 3, STAKE);
    register(&mut chain, 4, STAKE);
    let pool = state::pool();
    let actor = chain.deploy_with(SCRIPT, WEB, 0);
    let argument = Value::map([
        ("name", Value::text("mysite")),
        ("actor_address", Value::Bytes(actor.0.to_vec())),
        ("duration_blocks", Value::uint(31_536_000)),
    ]);
    assert!(chain.send(1, execution(Address::system(0x0E), "register", &argument.encode(), 10 * CBY)).is_success());
    assert_eq!(chain.balance(pool), 2 * CBY);
    chain.height = Height(300);
    for number in [2, 3] {
        assert!(ask(&mut chain, number, "heartbeat", [], 0).is_success());
    }
    let before: Vec<u64> = [2, 3, 4].iter().map(|number| chain.balance(address(*number))).collect();
    chain.height = Height(599);
    chain.idle(1);
    let paid: Vec<u64> = [2, 3, 4].iter().zip(before).map(|(number, before)| chain.balance(address(*number)) - before).collect();
    let weights: [u128; 3] = [30_000 * 599, 10_000 * 598, 10_000 * 300];
    let total: u128 = weights.iter().sum();
    let expected: Vec<u64> = weights.iter().map(|weight| u64::try_from(u128::from(2 * CBY) * weight / total).expect("fits")).collect();
    assert_eq!(paid, expected, "three times the stake; half the time up");
    assert!(chain.balance(pool) < 3, "what does not divide waits");
    assert_eq!(chain.names(state::active()).len(), 2, "the one without health is off the list");
    assert!(ask(&mut chain, 4, "heartbeat", [], 0).is_success());
    assert_eq!(chain.names(state::active()).len(), 3, "and back on it");
}
