//! Work that costs a node more time than its cycles say is priced, counted as modelled time, or bounded (decisions 390 and 391).

use super::permissions::{self, Permissions as _};
use commonware_codec::Encode as _;
use cowboy_chain::engine::Exception;
use cowboy_chain::input::{MAX_EXCEPTIONS, MAX_TOLD};
use cowboy_params::Params;
use cowboy_state::records::{ParameterChange, ParameterChanges, Timer, keys};
use cowboy_system::entitlements::state;
use cowboy_testkit::chain::{ALL, Chain, address, deployment_of, execution, manifest, parameters, sign, signed, unsigned};
use cowboy_types::cbor::Value;
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::permission::{Action, Constraints, Scope, role_id};
use cowboy_types::units::{Cells, Count, Cycles, Height, Price};
use cowboy_types::{Address, Blob, Hash, List, actors, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![arguments_of_system_methods_are_paid_for_before_they_are_decoded];

const GENESIS: Params = Params::GENESIS;

/// An argument of a system actor's method is paid for by its bytes before it is decoded, whoever calls; one that no transaction could
/// carry is refused. Else a few megabytes of small pairs occupy every validator for the price of a call.
#[test]
fn arguments_of_system_methods_are_paid_for_before_they_are_decoded() {
    let mut chain = Chain::new();
    let basefee = Address::system(actors::BASEFEE);
    let nested = |items: usize| Value::map([("x", Value::Array(vec![Value::uint(0); items]))]).encode();
    let small = chain.call(basefee, "get_basefee", &nested(1));
    let large = nested(20_000);
    let bytes = u64::try_from(large.len()).expect("fits");
    let nonce = chain.nonce(1);
    let outcome = chain.block(vec![signed(1, nonce, execution(basefee, "get_basefee", &large, 0))]);
    let used = outcome.receipts[0].cycles_used.0 - small.cycles_used.0;
    let paid = (bytes - GENESIS.costs.argument_free) * GENESIS.costs.argument_byte;
    assert_eq!(used, paid, "for {bytes} bytes");
    assert!(outcome.weight_ns >= bytes * GENESIS.weights.argument_byte);

    let script = format!("handler run\n try call {} 'get_basefee' $payload\n return $last\n", at(basefee));
    let caller = chain.deploy(&script);
    let mut transaction = unsigned(1, chain.nonce(1), execution(caller, "run", &large, 0));
    transaction.cycles_limit = Cycles(21_000 + 10_000);
    assert_eq!(chain.one(sign(1, transaction)).abort, Some(error::OUT_OF_CYCLES), "what is left does not pay for decoding it");

    for ask in ["pvm_host.call_actor(to, 'get_basefee', big, 0, 0, 0)", "pvm_host.send_message(to, big, 0, 'get_basefee')"] {
        let source = format!(
            "import pvm_host\n\ndef handle_message(payload):\n    to = bytes(19) + bytes([6])\n    big = bytes(131073)\n    {ask}\n    return b''\n"
        );
        let created = chain.send(1, deployment_of(source.as_bytes(), Some(manifest(ALL)), None, b"", 0)).created.expect("it is deployed");
        assert_eq!(chain.call(created, "", b"").abort, Some(error::INVALID_ARGUMENT), "{ask}");
    }
}

/// The cycles of a method count as time whoever calls it: a transaction or an instruction as an actor, whose VM counts them.
#[test]
fn cycles_of_methods_take_time() {
    let mut chain = Chain::new();
    let nonce = chain.nonce(1);
    let basefee = Address::system(actors::BASEFEE);
    let least = |cycles: u64| GENESIS.weights.delivery + cycles * cowboy_vm::CYCLE_WEIGHT;
    let called = chain.block(vec![signed(1, nonce, execution(basefee, "get_basefee", b"", 0))]);
    assert!(called.weight_ns >= least(GENESIS.execution.system_method_cycles), "{}", called.weight_ns);
    let cancel = Instruction::System(System::CancelTimer { timer: Hash::ZERO });
    let instructed = chain.block(vec![signed(1, nonce + 1, cancel)]);
    assert!(instructed.weight_ns >= least(GENESIS.intrinsic.system_cycles), "{}", instructed.weight_ns);
}

/// What the host answers an actor counts by its bytes and its values, and what a method returns costs cells beyond what its price covers.
#[test]
fn answers_are_paid_for_by_their_size() {
    let mut chain = Chain::new();
    let keys: String = (10..70).map(|number| format!(" set 'k{number}' ''\n")).collect();
    let actor = chain.deploy(&format!(
        "handler put\n set 'k' $payload\nhandler get\n get 'k'\nhandler fill\n{keys}handler few\n scan 'k10' 60\nhandler all\n scan 'k' 60\n"
    ));
    let weight = |chain: &mut Chain, handler: &str| {
        let nonce = chain.nonce(1);
        let outcome = chain.block(vec![signed(1, nonce, execution(actor, handler, b"", 0))]);
        assert_eq!(outcome.receipts[0].abort, None, "{handler}");
        outcome.weight_ns
    };
    chain.call(actor, "put", b"x");
    let small = weight(&mut chain, "get");
    chain.call(actor, "put", &[7; 60_001]);
    assert_eq!(weight(&mut chain, "get") - small, 60_000 * GENESIS.weights.answer_byte);
    chain.call(actor, "put", b"");
    assert!(chain.call(actor, "fill", b"").is_success());
    let few = weight(&mut chain, "few");
    assert!(weight(&mut chain, "all") - few >= 59 * 3 * GENESIS.weights.answer_value, "a pair, its key and its value for each");

    let registry = Address::system(actors::ENTITLEMENTS);
    let named = |name: &str| Value::map([("name", Value::text(name))]);
    let domains = |count: usize| Value::Array((0..count).map(|number| Value::text(format!("{number:060}.example.org"))).collect());
    let mut returned = Vec::new();
    for (name, count) in [("short", 1), ("wider", 100)] {
        let set = Value::map([("name", Value::text(name)), ("domains", domains(count))]);
        assert!(chain.decide(actors::ENTITLEMENTS, "set_domain_set", &set));
        let receipt = chain.call(registry, "get_domain_set", &named(name).encode());
        returned.push((receipt.cells_used.0, u64::try_from(receipt.return_data.len()).expect("fits")));
    }
    assert_eq!(returned[1].0 - returned[0].0, returned[1].1 - GENESIS.costs.argument_free, "{returned:?}");
}

/// A message whose origin is exhausted is delivered for nothing, but not for no time: a block takes as many as it has time for.
#[test]
fn exhausted_messages_take_the_time_of_a_block() {
    let each = GENESIS.weights.delivery + GENESIS.weights.call;
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("execution.block_weight", 10_000_000)]));
    let sender = chain.deploy(&format!("handler run\n{}", " send @3 '' 0 'go'\n".repeat(1_000)));
    let mut transaction = unsigned(1, chain.nonce(1), execution(sender, "run", b"", 0));
    transaction.cycles_limit = Cycles(21_000 + 1_000 * 90 + 10);
    assert!(chain.one(sign(1, transaction)).is_success());
    let mut left = 1_000;
    while left > 0 {
        let outcome = chain.block(vec![]);
        let count = outcome.receipts.len();
        assert!(outcome.receipts.iter().all(|receipt| receipt.abort == Some(error::ORIGIN_EXHAUSTED)));
        let most = 10_000_000 / 2 / each + 1;
        assert!((1..=most).contains(&u64::try_from(count).expect("fits")), "{count} in one block, at most {most}");
        left -= count;
    }
}

/// The first run of a code in a block counts the modelled time of its module body, which runs again wherever no cache holds its image.
#[test]
fn the_first_run_of_a_block_weighs_its_body() {
    let mut chain = Chain::new();
    let slow = "x = 0\nfor i in range(100000):\n    x += i\n\ndef handle_message(payload):\n    return b''\n";
    let created = chain.block(vec![{
        let mut transaction = unsigned(1, chain.nonce(1), deployment_of(slow.as_bytes(), Some(manifest(ALL)), None, b"", 0));
        transaction.cycles_limit = Cycles(20_000_000);
        sign(1, transaction)
    }]);
    let actor = created.receipts[0].created.expect("the body ends");
    let body = chain.actor(actor).body_weight.0;
    assert!(body > 1_000_000, "the body takes {body} ns");
    let nonce = chain.nonce(1);
    let call = |nonce| signed(1, nonce, execution(actor, "", b"", 0));
    let once = chain.block(vec![call(nonce)]).weight_ns;
    let twice = chain.block(vec![call(nonce + 1), call(nonce + 2)]).weight_ns;
    assert!(once > body && twice - once < body, "{once} {twice} {body}");
}

/// A module body runs under the bounds of genesis, whatever governance decided since: a node that makes an image anew gets the one that
/// others hold in a cache.
#[test]
fn images_do_not_depend_on_what_governance_decides_later() {
    let source = "x = [0] * 100000\nf = open('/tmp/x', 'w')\nf.write('y' * 200000)\nf.close()\n\ndef handle_message(payload):\n    return str(len(x)).encode()\n";
    let mut chain = Chain::new();
    let mut transaction = unsigned(1, chain.nonce(1), deployment_of(source.as_bytes(), Some(manifest(ALL)), None, b"", 0));
    transaction.cycles_limit = Cycles(20_000_000);
    let receipt = chain.one(sign(1, transaction));
    let actor = receipt.created.unwrap_or_else(|| panic!("{receipt:?}"));
    for (name, value) in [("execution.memory_per_call", 1_048_576), ("execution.scratch_bytes", 0)] {
        decided(&mut chain, name, value);
        // No image is kept between blocks here: each call makes it anew.
        let receipt = chain.call(actor, "", b"");
        assert_eq!(receipt.abort, None, "{name}");
        assert_eq!(receipt.return_data[..], *b"100000");
    }
}

/// What fills blocks by time and not by cycles raises the price of a cycle as well.
#[test]
fn the_base_fee_follows_the_fuller_of_cycles_and_time() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler go\n weigh 90000000\n");
    let nonce = chain.nonce(1);
    let outcome = chain.block((0..3).map(|place| signed(1, nonce + place, execution(actor, "go", b"", 0))).collect());
    assert!(outcome.usage.user.cycles.0 < GENESIS.fees.cycles_target / 10 && outcome.weight_ns > GENESIS.execution.block_weight / 2);
    let (now, next) = (outcome.base_fees.cycle, outcome.next_base_fees.cycle);
    assert_eq!(next, Price(now.0 + now.0 / GENESIS.fees.max_change_denominator), "as of a block that is full of cycles");
}

/// Whoever fills the time that transactions have leaves a part to timers and to jobs.
#[test]
fn transactions_leave_time_to_timers() {
    let mut chain = Chain::new();
    let heavy = chain.deploy("handler go\n weigh 90000000\n");
    let timed = chain.deploy("handler handle_timer\n set 'fired' 'y'\nhandler run\n timer 5 'x'\n");
    chain.call(timed, "run", b"");
    chain.idle(4 - chain.height.0);
    let candidates = (2..9).map(|from| signed(from, chain.nonce(from), execution(heavy, "go", b"", 0)));
    let outcome = chain.block(candidates.collect());
    assert_eq!(outcome.included.len(), 4, "the fourth begins before three quarters of the time are used, and ends beyond");
    assert_eq!(chain.stored(timed, "fired"), Some(b"y".to_vec()));
}

/// A timer's payload is paid for at each fire, and its bytes pay rent like others that the actor keeps.
#[test]
fn payloads_of_timers_are_paid_for() {
    let mut chain = Chain::new();
    let actor = chain.deploy(
        "handler handle_timer\nhandler run\n interval 2 $payload\n return $last\nhandler few\n try interval 2 $payload 0 9\n return $last\nhandler cancel\n cancel $payload\n",
    );
    let size = 60_000;
    let payload = vec![7; size];
    let reading = u64::try_from(size).expect("fits").div_ceil(GENESIS.costs.read_bytes_per_cell);
    assert_eq!(chain.call(actor, "few", &payload).return_data[..], *b"timer_limit", "nine cells do not pay for reading it");
    let id = chain.call(actor, "run", &payload).return_data.to_vec();
    assert_eq!(chain.actor(actor).timer_bytes, Count(60_000));
    let rent = chain.call(Address::system(actors::STORAGE), "get_rent", &Value::map([("actor", Value::Bytes(actor.0.to_vec()))]).encode());
    let rent = cowboy_types::cbor::decode(&rent.return_data).expect("CBOR");
    assert!(rent.get("per_epoch").and_then(Value::as_u64).is_some_and(|rent| rent > 0), "60,000 bytes are more than what is free");
    let timer = chain.all::<Timer>(cowboy_state::Kind::Timer)[0].1.clone();
    chain.idle(timer.height.0 - chain.height.0 - 1);
    let outcome = chain.block(vec![]);
    assert_eq!(outcome.receipts[0].cells_used, Cells(reading));
    assert!(outcome.weight_ns >= 60_000 * GENESIS.weights.payload_byte);
    // Nobody pays for reading it when it is cancelled: whoever reads it now finds another record.
    let payload = keys::timer_payload(&Hash(id[..].try_into().expect("an id")));
    chain.state.insert(payload.digest(), keys::queue().seal(b"")).expect("the payload is there");
    assert!(chain.call(actor, "cancel", &id).is_success());
    assert_eq!(chain.actor(actor).timer_bytes, Count(0));
    assert!(!chain.state.contains_key(&payload.digest()), "it is removed all the same");
}

/// Timers of an actor beyond its share never hide those of others, however many there are.
#[test]
fn timers_of_one_actor_do_not_hide_others() {
    let mut chain = Chain::with(|genesis| {
        genesis.parameters = parameters(&[
            ("timers.examined_per_block", 64),
            ("execution.actor_block_cycles", 100_000),
            ("execution.burst_reserve", 10_000),
        ]);
    });
    let lines: String = (0..100).map(|number| format!(" timer 6 'n{number}'\n")).collect();
    let many = chain.deploy(&format!("handler handle_timer\n burn 400000\nhandler run\n{lines}"));
    let other = chain.deploy("handler handle_timer\n set 'fired' 'y'\nhandler run\n timer 6 'x'\n");
    chain.call(many, "run", b"");
    chain.call(other, "run", b"");
    chain.idle(6 - chain.height.0);
    chain.idle(1);
    assert_eq!(chain.stored(other, "fired"), Some(b"y".to_vec()), "the next block looks at what the first did not");
}

/// Whoever raises another's bond pays the whole of it and the other is paid back: a bond is refunded to whoever paid it.
#[test]
fn a_bond_belongs_to_who_put_it_down() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler go\n");
    let base = GENESIS.execution.storage_quota_per_actor;
    let price = GENESIS.rent.bond_per_byte;
    let quota = |bytes: u64| Value::map([("actor", Value::Bytes(actor.0.to_vec())), ("quota", Value::uint(bytes))]).encode();
    let set = |chain: &mut Chain, from: u8, bytes: u64, value: u64| {
        chain.send(from, execution(Address::system(actors::STORAGE), "set_quota", &quota(bytes), value))
    };
    assert!(set(&mut chain, 1, base + 1, price).is_success());
    let owner = System::TransferActorOwnership { actor, owner: address(2) };
    assert!(chain.send(1, Instruction::System(owner)).is_success());
    assert_eq!(set(&mut chain, 2, base + 100, 99 * price).abort, Some(error::INVALID_ARGUMENT), "the difference is not enough");
    let before = chain.balance(address(1));
    assert!(set(&mut chain, 2, base + 100, 100 * price).is_success());
    assert_eq!(chain.balance(address(1)), before + price, "who was bonded first is paid back");
    let before = chain.balance(address(2));
    let lowered = set(&mut chain, 2, base, 0);
    assert!(lowered.is_success());
    assert_eq!(chain.balance(address(2)), before + 100 * price - spent(&lowered));
}

fn at(address: Address) -> String {
    address.to_string()
}

fn spent(receipt: &cowboy_types::Receipt) -> u64 {
    receipt.fee.burned.0 + receipt.fee.tip.0
}

/// Nobody pays for the texts of exceptions: a trace and the traces of a block keep a bounded number of their bytes.
#[test]
fn exceptions_of_a_block_take_bounded_space() {
    let source = "def handle_message(payload):\n    raise ValueError('y' * 100000)\n";
    let mut chain = Chain::new();
    let actor = chain.send(1, deployment_of(source.as_bytes(), Some(manifest(ALL)), None, b"", 0)).created.expect("it is deployed");
    let nonce = chain.nonce(1);
    let outcome = chain.block((0..100).map(|place| signed(1, nonce + place, execution(actor, "", b"", 0))).collect());
    assert!(outcome.receipts.iter().all(|receipt| receipt.abort == Some(error::HANDLER_RAISED)));
    let sizes: Vec<usize> =
        outcome.traces.iter().flat_map(|trace| &trace.calls).filter_map(|call| call.exception.as_ref()).map(Exception::size).collect();
    assert_eq!(sizes.len(), 100);
    assert!(sizes.iter().all(|size| *size <= MAX_EXCEPTIONS + 256) && sizes[0] > MAX_EXCEPTIONS / 4);
    assert!(sizes.iter().sum::<usize>() <= MAX_TOLD + 100 * 256, "{}", sizes.iter().sum::<usize>());
}

/// Walking the lists of the Entitlement Registry is paid for by the record.
#[test]
fn long_lists_of_permissions_are_paid_for() {
    let mut chain = Chain::new();
    let check = |chain: &mut Chain| {
        let argument = [("action", "custom:paint"), ("scope", "global")].map(|(name, text)| (name, Value::text(text)));
        let argument = Value::dict(argument.into_iter().chain([("grantee", Value::Bytes(address(3).0.to_vec()))]).collect::<Vec<_>>());
        let nonce = chain.nonce(4);
        let outcome = chain.block(vec![signed(4, nonce, execution(Address::system(actors::ENTITLEMENTS), "check", &argument.encode(), 0))]);
        assert_eq!(outcome.receipts[0].abort, None);
        (outcome.receipts[0].cycles_used.0, outcome.weight_ns)
    };
    let before = check(&mut chain);
    permissions::accept_from(&mut chain, 3, 1, true);
    for number in 0..20 {
        let granted =
            permissions::granting(address(3), &permissions::space(&format!("s{number}")), &permissions::paint(), &Constraints::default());
        assert_eq!(chain.send(1, granted).abort, None);
    }
    let after = check(&mut chain);
    assert_eq!(after.0 - before.0, 20 * GENESIS.costs.storage_read);
    let each = GENESIS.weights.record + GENESIS.costs.storage_read * cowboy_vm::CYCLE_WEIGHT;
    assert_eq!(after.1 - before.1, 20 * each);
}

/// A parameter as a decision of governance leaves it.
fn decided(chain: &mut Chain, name: &str, value: u64) {
    let (row, key) = (Params::row(name).expect("the parameter exists").id, keys::parameters());
    let changes = List::new(vec![ParameterChange { row, value }]).expect("one fits");
    chain.state.insert(key.digest(), key.seal(&ParameterChanges { changes }.encode()));
}

/// The argument of `create_role` for a role of an actor's own scope, with as many actions as fit, and the bytes of its operands.
fn large_role(actor: Address) -> (Vec<u8>, usize) {
    let handler = |number: u8| Action::ActorExecuteHandler { handler: Blob::new(vec![number; 256]).expect("a handler's name") };
    let actions: List<Action, 16> = List::new((0..16).map(handler).collect()).expect("sixteen fit");
    let scopes: List<Scope, 16> = List::new(vec![Scope::Actor { actor }]).expect("one fits");
    let operands = [
        ("actions", actions.encode().to_vec()),
        ("constraints", Constraints::default().encode().to_vec()),
        ("name", b"painter".to_vec()),
        ("scopes", scopes.encode().to_vec()),
    ];
    let bytes = operands.iter().map(|(_, operand)| operand.len()).sum();
    (Value::dict(operands.map(|(name, operand)| (name, Value::Bytes(operand)))).encode(), bytes)
}

/// Decision 744. Attack: an actor fills the state with roles, whose bytes cost no cells when it calls the registry, so that no bound of a block's bytes holds.
/// What it has the registry write costs what the instruction costs.
#[test]
fn calls_of_the_registry_cost_what_its_instructions_do() {
    let mut chain = Chain::new();
    let registry = at(Address::system(actors::ENTITLEMENTS));
    let actor = chain.deploy(&format!("handler run\n try call {registry} 'create_role' $payload 0\n return $last\n"));
    let (payload, operands) = large_role(actor);
    let receipt = chain.call(actor, "run", &payload);
    assert!(chain.record::<state::Role>(&state::role(&role_id(&actor, &permissions::name("painter")))).is_some());
    let cells = u64::try_from("run".len() + payload.len() + operands).expect("fits");
    assert!(receipt.cells_used.0 >= cells, "{} of {cells}", receipt.cells_used.0);
    let least =
        GENESIS.intrinsic.message_cycles + GENESIS.costs.call + GENESIS.execution.system_method_cycles + GENESIS.entitlements.role_cycles;
    assert!(receipt.cycles_used.0 >= least, "{} of {least}", receipt.cycles_used.0);
}

/// Decision 744. Strategy: somebody keeps bytes in roles, which nobody pays rent for. A role has a deposit, which comes back when it is removed; and it is
/// removed only once nobody has it, so that no assignment comes back with a role of the same name.
#[test]
fn a_role_has_a_deposit_until_it_is_removed() {
    let mut chain = Chain::new();
    let registry = Address::system(actors::ENTITLEMENTS);
    let deposit = GENESIS.rent.record_deposit;
    let make = || permissions::making("painter", vec![permissions::space("art")], vec![permissions::paint()], &Constraints::default());
    let ask = |chain: &mut Chain, from: u8, name: &str, role: &Hash| {
        permissions::method(chain, from, name, permissions::id_argument("role_id", role))
    };
    let before = chain.balance(address(1));
    let made = chain.send(1, make());
    let role = permissions::id_of(&made);
    let cost = made.fee.burned.0 + made.fee.tip.0;
    assert_eq!((chain.balance(address(1)), chain.balance(registry)), (before - cost - deposit, deposit));
    let assign = Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(4) });
    assert!(chain.send(1, assign).is_success());
    assert_eq!(ask(&mut chain, 1, "remove_role", &role), Some(error::ROLE_ASSIGNED), "it may still be accepted");
    assert_eq!(ask(&mut chain, 4, "accept_role", &role), None);
    assert_eq!(ask(&mut chain, 1, "remove_role", &role), Some(error::ROLE_ASSIGNED));
    assert_eq!(ask(&mut chain, 4, "renounce_role", &role), None);
    assert_eq!(ask(&mut chain, 2, "remove_role", &role), Some(error::GRANT_UNAUTHORIZED));
    assert_eq!(ask(&mut chain, 1, "remove_role", &role), None);
    assert_eq!((chain.balance(registry), ask(&mut chain, 1, "remove_role", &role)), (0, Some(error::ROLE_NOT_FOUND)));
    assert_eq!(permissions::id_of(&chain.send(1, make())), role, "its name is free again");
    assert!(!chain.allows(address(4), &permissions::space("art"), &permissions::paint()));
    let source = format!("handler run\n try call {} 'create_role' $payload 0\n return $last\nhandler poor\n", at(registry));
    let poor = chain.deploy_with(&source, ALL, 0);
    assert_eq!(chain.call(poor, "run", &large_role(poor).0).return_data[..], *b"record_deposit");
}

/// Decision 744: the deposit follows the bytes of the record, as a large role stands for as long as a small one.
#[test]
fn a_large_role_has_a_larger_deposit() {
    let mut chain = Chain::new();
    let registry = Address::system(actors::ENTITLEMENTS);
    let actor = chain.deploy("handler run\n");
    let before = chain.balance(address(1));
    let made = chain.call(registry, "create_role", &large_role(actor).0);
    assert_eq!(made.abort, None);
    let deposit = 5 * GENESIS.rent.record_deposit;
    assert_eq!(
        (chain.balance(address(1)), chain.balance(registry)),
        (before - spent(&made) - deposit, deposit),
        "it has more than 4,096 bytes"
    );
    let role = role_id(&address(1), &permissions::name("painter"));
    let removed = permissions::method(&mut chain, 1, "remove_role", permissions::id_argument("role_id", &role));
    assert_eq!((removed, chain.balance(registry)), (None, 0));
}

/// Decision 744: a call that cannot pay the price of what it writes is refused before the records are read.
#[test]
fn calls_of_the_registry_are_paid_for_before_their_work() {
    let make = |cells: Option<Cells>| {
        let mut chain = Chain::new();
        let actor = chain.deploy("handler run\n");
        let call = execution(Address::system(actors::ENTITLEMENTS), "create_role", &large_role(actor).0, 0);
        let mut transaction = unsigned(1, chain.nonce(1), call);
        transaction.cells_limit = cells.unwrap_or(transaction.cells_limit);
        let before = chain.rounds;
        (chain.one(sign(1, transaction)), chain.rounds - before)
    };
    let (made, rounds) = make(None);
    assert_eq!(made.abort, None);
    let (refused, fewer) = make(Some(Cells(made.cells_used.0 - 1)));
    assert_eq!(refused.abort, Some(error::OUT_OF_CELLS));
    assert!(fewer < rounds, "{fewer} rounds of reading, and {rounds} where the role is made");
}

/// Decision 744: a role that may not be taken back is over all the same when its span is. Then it can be revoked, accepted or not, and its deposit comes back.
#[test]
fn a_role_that_is_over_gives_its_deposit_back() {
    for is_accepted in [false, true] {
        let mut chain = Chain::new();
        let fixed = Constraints { revocable: false, valid_until: Some(Height(50)), ..Constraints::default() };
        let role = permissions::id_of(
            &chain.send(1, permissions::making("painter", vec![permissions::space("art")], vec![permissions::paint()], &fixed)),
        );
        let assign = Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(4) });
        assert!(chain.send(1, assign).is_success());
        if is_accepted {
            let accepted = permissions::method(&mut chain, 4, "accept_role", permissions::id_argument("role_id", &role));
            assert_eq!(accepted, None);
        }
        let revoke = || Instruction::System(System::EntitlementRevokeRole { role_id: role, assignee: address(4) });
        chain.height = Height(49);
        assert_eq!(chain.send(1, revoke()).abort, Some(error::NOT_REVOCABLE), "its last height");
        assert_eq!(chain.send(1, revoke()).abort, None, "the next one");
        let removed = permissions::method(&mut chain, 1, "remove_role", permissions::id_argument("role_id", &role));
        assert_eq!((removed, chain.balance(Address::system(actors::ENTITLEMENTS))), (None, 0));
    }
}

/// Decision 751: a role whose uses are all made serves nobody any more, also one that may not be taken back. It can be revoked, and its deposit comes back.
#[test]
fn a_role_that_is_used_up_gives_its_deposit_back() {
    let mut chain = Chain::new();
    let once = Constraints { revocable: false, max_uses: Count(1), ..Constraints::default() };
    let made = permissions::making("painter", vec![permissions::space("art")], vec![permissions::paint()], &once);
    let role = permissions::id_of(&chain.send(1, made));
    let assign = Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(4) });
    assert!(chain.send(1, assign).is_success());
    assert_eq!(permissions::method(&mut chain, 4, "accept_role", permissions::id_argument("role_id", &role)), None);
    let revoke = || Instruction::System(System::EntitlementRevokeRole { role_id: role, assignee: address(4) });
    assert_eq!(chain.send(1, revoke()).abort, Some(error::NOT_REVOCABLE), "a use is left");
    assert_eq!(chain.uses(1, address(4), &permissions::paint(), 0), None);
    assert_eq!(chain.send(1, revoke()).abort, None);
    let removed = permissions::method(&mut chain, 1, "remove_role", permissions::id_argument("role_id", &role));
    assert_eq!((removed, chain.balance(Address::system(actors::ENTITLEMENTS))), (None, 0));
}

/// The records of roles that are over are asked for together: rounds do not grow with them.
#[test]
fn roles_that_are_over_are_read_together() {
    let rounds = |roles: usize| {
        let mut chain = Chain::new();
        permissions::accept_from(&mut chain, 4, 1, true);
        let over = Constraints { valid_until: Some(Height(100)), ..Constraints::default() };
        let assigning = |chain: &mut Chain, name: &str, constraints: &Constraints| {
            let made = permissions::making(name, vec![permissions::space("art")], vec![permissions::paint()], constraints);
            let role_id = permissions::id_of(&chain.send(1, made));
            Instruction::System(System::EntitlementAssignRole { role_id, assignee: address(4) })
        };
        for number in 0..roles {
            let assign = assigning(&mut chain, &format!("r{number}"), &over);
            assert!(chain.send(1, assign).is_success());
        }
        let last = assigning(&mut chain, "last", &Constraints::default());
        chain.height = Height(100);
        let before = chain.rounds;
        assert!(chain.send(1, last).is_success());
        chain.rounds - before
    };
    assert_eq!(rounds(20), rounds(2));
}
