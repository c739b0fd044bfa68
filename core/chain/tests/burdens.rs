//! What would stand in the state, or be done in blocks, for nothing (decisions 751 and 752).

use cowboy_params::Params;
use cowboy_state::records::Timer;
use cowboy_state::{Directory, Kind};
use cowboy_system::ACTORS;
use cowboy_system::actor::Keeping;
use cowboy_system::schema::Shape;
use cowboy_system::storage::types::RentAccount;
use cowboy_system::storage::{rent, state};
use cowboy_testkit::chain::{ALL, Chain, deployment_of, execution, manifest, parameters};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Hash, actors};

/// A chain with an actor whose interval failed and is paused.
fn paused() -> (Chain, Address, Hash, Timer) {
    let mut chain = Chain::new();
    let script = "handler run\n interval 2 'x' 0 0 1\n return $last\nhandler handle_timer\n raise\nhandler again\n try resume $payload\n return $last\n";
    let actor = chain.deploy(script);
    let id = Hash(chain.call(actor, "run", b"").return_data[..].try_into().expect("an interval's id"));
    chain.idle(2);
    let timer = only_timer(&chain);
    assert!(timer.interval.as_ref().is_some_and(|interval| interval.is_paused));
    (chain, actor, id, timer)
}

fn only_timer(chain: &Chain) -> Timer {
    let mut timers = chain.all::<Timer>(Kind::Timer);
    assert_eq!(timers.len(), 1);
    timers.remove(0).1
}

/// Strategy: an actor brings an interval back to life that has expired and waits for its removal. It stays expired, as a timer does whose last height is moved.
#[test]
fn an_interval_that_has_expired_is_not_resumed() {
    let (mut chain, actor, id, timer) = paused();
    chain.height = Height(timer.expires_at.0 - 1);
    assert!(chain.call(actor, "again", &id.0).is_success());
    let resumed = only_timer(&chain);
    assert_eq!((resumed.height, resumed.interval.map(|interval| interval.is_paused)), (Height(timer.expires_at.0 + 2), Some(false)));
    let (mut chain, actor, id, timer) = paused();
    chain.height = timer.expires_at;
    assert_eq!(chain.call(actor, "again", &id.0).return_data[..], *b"timer_expired");
    assert!(chain.all::<Timer>(Kind::Timer).is_empty(), "the same block removes it");
}

/// A manifest that lets an actor fetch from many domains: 13 KB.
fn large_manifest() -> Vec<u8> {
    let domains = (0..200).map(|number| Value::text(format!("{number:03}{}.example.com", "x".repeat(50)))).collect();
    let params = Value::map([("allowlist_domains", Value::Array(domains))]);
    let grant = Value::map([("id", Value::text("http.fetch")), ("params", params)]);
    Value::map([("entitlements", Value::Array(vec![grant]))]).encode()
}

/// Strategy: somebody keeps bytes in the manifests of actors, which pay rent for code and storage only. A manifest is counted with these, beyond the bytes that
/// are free.
#[test]
fn nobody_keeps_bytes_cheaper_in_a_manifest_than_in_storage() {
    let mut chain = Chain::new();
    let deploy = |chain: &mut Chain, code: &[u8], manifest: Vec<u8>| {
        let receipt = chain.send(1, deployment_of(code, Some(manifest), None, b"", 0));
        receipt.created.expect("it is deployed")
    };
    let small = deploy(&mut chain, b"#script\nhandler get\n", manifest(ALL));
    assert_eq!((rent::billable(&Params::GENESIS, &chain.actor(small)), chain.names(Directory::rents()).len()), (0, 0));
    let large = large_manifest();
    let bytes = u64::try_from(large.len()).expect("short");
    let actor = deploy(&mut chain, b"#script\nhandler other\n", large);
    let record = chain.actor(actor);
    assert_eq!(record.manifest_bytes.0, bytes);
    assert_eq!(rent::billable(&Params::GENESIS, &record), record.code_bytes.0 + bytes - Params::GENESIS.rent.free_bytes);
    assert_eq!(chain.names(Directory::rents()).len(), 1, "it pays rent from its deployment on");
}

/// Attack: somebody prepays a base unit of rent for each of many actors that owe nothing, so that blocks look at them in every rent epoch, for ever. Cost: a
/// transaction for each, once. Such an actor is looked at once, and again when it owes something: what was prepaid waits for that.
#[test]
fn an_actor_that_owes_nothing_is_looked_at_once() {
    let rows = [("rent.epoch", 100), ("rent.rate", 365_000), ("rent.free_bytes", 1_000)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let actor = chain.deploy("handler put\n set 'k' $payload\n");
    let prepay = |chain: &mut Chain| {
        let argument = Value::map([("actor", Value::Bytes(actor.0.to_vec()))]).encode();
        assert!(chain.send(3, execution(Address::system(actors::STORAGE), "prepay", &argument, 1)).is_success());
    };
    let account = |chain: &Chain| chain.record(&state::account_key(actor)).map(|account: RentAccount| (account.next_at, account.prepaid));
    let collect = |chain: &mut Chain, height: u64| {
        chain.height = Height(height - 1);
        chain.idle(1);
    };
    prepay(&mut chain);
    assert_eq!(account(&chain), Some((Height(100), Amount(1))));
    collect(&mut chain, 100);
    assert_eq!(account(&chain), Some((rent::NEVER, Amount(1))), "no block looks at it any more");
    prepay(&mut chain);
    assert_eq!(account(&chain), Some((Height(200), Amount(2))), "whoever prepays has it looked at once");
    collect(&mut chain, 200);
    assert_eq!(account(&chain), Some((rent::NEVER, Amount(2))));
    assert!(chain.call(actor, "put", &[7; 2_000]).is_success());
    assert_eq!(account(&chain), Some((Height(300), Amount(2))), "it owes rent from now on");
    collect(&mut chain, 300);
    assert_eq!(account(&chain), Some((Height(400), Amount(0))), "what was prepaid goes first");
}

/// Decision 766. Strategy: actors keep no more than is free, and write nothing any more, so that they owe nothing however little governance makes free later, or
/// however much a timer counts. Blocks look at all of them then, as many in each as rent is collected of, also at those that something was prepaid for.
#[test]
fn actors_owe_rent_once_fewer_bytes_are_free() {
    for (name, value) in [("rent.free_bytes", 1_000), ("intrinsic.timer_cells", 10_000)] {
        let rows = [("rent.epoch", 100), ("rent.rate", 365_000), ("rent.free_bytes", 10_000), ("rent.collections_per_block", 1)];
        let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
        let tenants = [1, 2, 3].map(|number| {
            let script = format!("handler put{number}\n set 'k' $payload\n timer 1000000 'x'\nhandler handle_timer\n set 'fired' 'x'\n");
            let actor = chain.deploy(&script);
            assert_eq!(chain.call(actor, &format!("put{number}"), &[7; 2_000]).abort, None);
            actor
        });
        let argument = Value::map([("actor", Value::Bytes(tenants[0].0.to_vec()))]).encode();
        assert!(chain.send(3, execution(Address::system(actors::STORAGE), "prepay", &argument, 1)).is_success());
        chain.height = Height(99);
        chain.idle(1);
        let places = |chain: &Chain| {
            let account = |actor: &Address| chain.record::<RentAccount>(&state::account_key(*actor)).map(|account| account.next_at);
            tenants.each_ref().map(account)
        };
        assert_eq!(places(&chain), [Some(rent::NEVER), None, None], "they owe nothing");
        chain.move_parameter(name, value);
        for owing in 1..=3 {
            chain.idle(1);
            let found = places(&chain).into_iter().filter(|place| *place == Some(Height(200))).count();
            assert_eq!(found, owing, "{name}");
        }
    }
}

/// Decision 766. Strategy: an actor gets its bytes by `redeploy`, which nothing is stored with. It owes rent for them as for those of its deployment.
#[test]
fn a_manifest_that_is_redeployed_owes_rent() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("entitlements.deprecation_window", 100)]));
    let granted = manifest(&[("storage.kv", &[])]);
    let receipt = chain.send(1, deployment_of(b"#script\nhandler get\n", Some(granted), None, b"", 0));
    let actor = receipt.created.expect("it is deployed");
    let from = chain.height.0 + 2;
    let removal = Value::map([("id", Value::text("storage.kv")), ("from", Value::uint(from))]);
    assert!(chain.decide(actors::ENTITLEMENTS, "deprecate", &removal));
    chain.idle(from + 102 - chain.height.0);
    assert_eq!(chain.names(Directory::rents()).len(), 0);
    let argument = Value::map([("actor", Value::Bytes(actor.0.to_vec())), ("manifest", Value::Bytes(large_manifest()))]).encode();
    assert_eq!(chain.send(1, execution(Address::system(actors::ENTITLEMENTS), "redeploy", &argument, 0)).abort, None);
    let account: Option<RentAccount> = chain.record(&state::account_key(actor));
    assert_eq!(account.map(|account| account.next_at), Some(Height(Params::GENESIS.rent.epoch)));
}

/// Decision 752: an address pays for the bytes of its list of grantors whenever it writes it, and whoever prepays somebody's rent for the account that this makes.
#[test]
fn records_that_grow_by_calls_pay_for_their_bytes() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler get\n");
    let mut cells = |to: u8, method: &str, argument: Value, value: u64| {
        let receipt = chain.send(1, execution(Address::system(to), method, &argument.encode(), value));
        assert_eq!(receipt.abort, None, "{method}");
        receipt.cells_used.0
    };
    let accept = |number: u8| Value::map([("grantor", Value::Bytes(vec![number; 20])), ("accepted", Value::Bool(true))]);
    let used = [1, 2, 3].map(|number| cells(actors::ENTITLEMENTS, "accept_from", accept(number), 0));
    assert_eq!([used[1] - used[0], used[2] - used[1]], [20, 20], "an address more each time");
    let of_actor = Value::map([("actor", Value::Bytes(actor.0.to_vec()))]);
    let looked = cells(actors::STORAGE, "get_rent", of_actor.clone(), 0);
    let prepaid = cells(actors::STORAGE, "prepay", of_actor, 1);
    assert!(prepaid > looked + 20, "an account names who posted a bond, beside its sums: {prepaid} and {looked}");
}

/// Decision 752. Attack: an actor has system actors keep its bytes, for which its calls pay no cells, so that a block writes more than its cells allow. A method
/// that keeps what it is given charges a cell for each byte, whoever calls, and also where it fails.
#[test]
fn methods_charge_a_cell_for_each_byte_that_they_keep() {
    let mut seen = 0;
    for (actor, method) in ACTORS.iter().flat_map(|actor| actor.methods().map(move |method| (actor, method))) {
        let shape = |shape: Shape| if let Shape::Optional(inner) = shape { *inner } else { shape };
        let field = method.arguments.iter().find(|field| matches!(shape(field.shape), Shape::Text(_) | Shape::Bytes(_)));
        let Some(field) = field.filter(|_| method.keeping == Keeping::Kept) else { continue };
        let cells = |bytes: usize| {
            let is_text = matches!(shape(field.shape), Shape::Text(_));
            let value = if is_text { Value::text("x".repeat(bytes)) } else { Value::Bytes(vec![7; bytes]) };
            let call = execution(Address::system(actor.number), method.name, &Value::map([(field.name, value)]).encode(), 0);
            Chain::new().send(1, call).cells_used.0
        };
        // As many are those of the transaction.
        assert_eq!(cells(140) - cells(100), 40 + 40, "{}: {}", actor.name, method.name);
        seen += 1;
    }
    assert!(seen > 5, "{seen} methods");
    // A proposal may have the fields of its only action in the place of a list.
    let cells = |bytes: usize| {
        let fields = [("action", Value::text("call")), ("argument", Value::Bytes(vec![7; bytes]))];
        let call = execution(Address::system(actors::GOVERNANCE), "propose", &Value::map(fields).encode(), 0);
        Chain::new().send(1, call).cells_used.0
    };
    assert_eq!(cells(140) - cells(100), 40 + 40);
}
