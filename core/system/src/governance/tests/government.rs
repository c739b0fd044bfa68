//! What decisions reach: every system actor, without a deployer's key (003 §11; decision 179).

use cowboy_system::governance::published::GROUPS;
use cowboy_system::treasury::vesting::MONTH_MS;
use cowboy_testkit::chain::{Chain, address, execution, key, parameters, unsigned};
use cowboy_testkit::governance::{CBY, GOVERNANCE, about, ask, chain_of, later, param, propose, set_parameter, stage, vote};
use cowboy_types::actors::BASEFEE as TOKENS;
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::Cycles;
use cowboy_types::{Address, List, Receipt, error, keccak256};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![the_council_pauses_an_actor_until_the_vote, agreements_on_pauses_expire];

fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

/// An action that calls a method of a system actor.
fn call(actor: u8, method: &str, argument: Vec<(&str, Value)>) -> Value {
    Value::dict([
        ("action", Value::text("call")),
        ("actor", bytes(&Address::system(actor).0)),
        ("argument", Value::dict(argument)),
        ("method", Value::text(method)),
    ])
}

fn all(actions: Vec<Value>) -> Vec<(&'static str, Value)> {
    vec![("actions", Value::Array(actions))]
}

/// An action about one system actor.
fn on_actor(action: &str, actor: u8) -> Vec<(&'static str, Value)> {
    vec![("action", Value::text(action)), ("actor", Value::uint(u64::from(actor)))]
}

/// Votes for a proposal until it is executed. Answers where it stands then.
fn carry(chain: &mut Chain, id: u64) -> String {
    for from in 1..=3 {
        assert!(vote(chain, from, id, "yes").is_success());
    }
    later(chain, 3_600);
    assert!(ask(chain, 6, "count", about(id), 0).is_success());
    later(chain, 3_600);
    assert!(ask(chain, 6, "execute", about(id), 0).is_success());
    stage(chain, id)
}

fn decide(chain: &mut Chain, argument: Vec<(&str, Value)>, deposit: u64) -> String {
    let id = propose(chain, argument, deposit);
    carry(chain, id)
}

/// Asks a method that reads.
fn read(chain: &mut Chain, actor: u8, method: &str, argument: Vec<(&str, Value)>) -> Value {
    let receipt = chain.send(5, execution(Address::system(actor), method, &Value::dict(argument).encode(), 0));
    assert_eq!(receipt.abort, None, "{method}");
    cbor::decode(&receipt.return_data).expect("answers are CBOR")
}

/// On a network whose genesis names no deployer a decision reaches models, trusted environments, images, domains, entitlements,
/// beneficiaries, single timers and what runners' pay burns.
#[test]
fn a_decision_reaches_every_actor() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let parts = ["weights", "arch", "tokenizer", "license"].map(|part| (part, bytes(&keccak256(&[part.as_bytes()]).0)));
    let model = Value::dict(parts.into_iter().chain([("name", Value::text("a model"))])).encode();
    let published = chain.send(5, execution(Address::system(0x01), "publish_model", &model, 1_000 * CBY));
    let id = cbor::decode(&published.return_data).ok().and_then(|answer| answer.get("model_id").cloned()).expect("it is published");
    let sleeper = chain.deploy("handler run\n timer 100000 'x'\n return $last\n");
    let timer = bytes(&chain.call(sleeper, "run", b"").return_data);
    let timers = |chain: &Chain| chain.all::<cowboy_state::records::Timer>(cowboy_state::Kind::Timer).len();
    assert_eq!(timers(&chain), 1);
    let (digest, measured) = (("digest", bytes(&[7; 32])), ("measurement", bytes(&[5; 144])));
    let nitro = ("environment", Value::text("nitro"));
    let (name, allowed) = (|name: &str| ("name", Value::text(name)), |name| (name, Value::Bool(true)));
    let team = ("bucket", Value::text("team"));
    let actions = vec![
        call(0x01, "set_model_status", vec![("model_id", id.clone()), ("status", Value::uint(2))]),
        call(0x03, "set_embedding_model", vec![("model_id", id.clone())]),
        call(0x05, "set_policy", vec![nitro.clone(), measured.clone(), allowed("accepted"), name("a program")]),
        call(0x06, "cancel_timer", vec![("timer_id", timer)]),
        call(0x07, "deprecate", vec![("id", Value::text("storage.kv")), ("from", Value::uint(1_000_000))]),
        call(0x07, "set_domain_set", vec![name("weather"), ("domains", Value::Array(vec![Value::text("api.weather.gov")]))]),
        call(0x08, "set_beneficiary", vec![team.clone(), ("beneficiary", bytes(&address(7).0))]),
        call(0x11, "set_image", vec![digest.clone(), allowed("allowed"), name("alpine")]),
        Value::dict(set_parameter("jobs.payout_burn", 900)),
    ];
    assert_eq!(decide(&mut chain, all(actions), 25_000), "executed");
    assert_eq!(read(&mut chain, 0x01, "get_model", vec![("model_id", id)]).get("status").and_then(Value::as_u64), Some(2));
    assert_eq!(read(&mut chain, 0x05, "get_policy", vec![nitro, measured]).get("accepted"), Some(&Value::Bool(true)));
    assert_eq!(timers(&chain), 0, "the timer is gone");
    assert!(matches!(read(&mut chain, 0x07, "deprecations", vec![]), Value::Array(rows) if rows.len() == 1));
    assert!(matches!(read(&mut chain, 0x07, "get_domain_set", vec![name("weather")]), Value::Array(rows) if rows.len() == 1));
    assert_eq!(read(&mut chain, 0x08, "get_vesting", vec![team]).get("beneficiary"), Some(&bytes(&address(7).0)));
    assert_eq!(read(&mut chain, 0x11, "get_image", vec![digest]).get("allowed"), Some(&Value::Bool(true)));
    assert_eq!(param(&mut chain, "jobs.payout_burn"), 900);
    // After its cliff of a year the bucket pays whom the decision named.
    chain.timestamp.0 += 13 * MONTH_MS;
    let before = chain.balance(address(7));
    let team = Value::dict([("bucket", Value::text("team"))]).encode();
    assert_eq!(chain.send(5, execution(Address::system(0x08), "release", &team, 0)).abort, None);
    assert!(chain.balance(address(7)) > before, "vesting is released");
}

/// what the instructions 48, 49 and 50 do, the validators decide: a timer that is not theirs is extended and cancelled, and the
/// limits of all are moved. The roots of a trusted environment are theirs, too.
#[test]
fn a_decision_moves_timers_limits_and_roots() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let actor = chain.deploy("handler run\n timer 100000 'x'\n return $last\nhandler handle_timer\n");
    let timers = [0, 1].map(|_| bytes(&chain.call(actor, "run", b"").return_data));
    let of = |id: &Value| ("timer_id", id.clone());
    let limits = [
        ("gc_cycles_per_block", 1_000_000),
        ("max_cells_per_fire", 200_000),
        ("max_cycles_per_fire", 300_000),
        ("max_timers_per_actor", 7),
        ("max_ttl_blocks", 200_000),
    ];
    let nitro = ("environment", Value::text("nitro"));
    let actions = vec![
        call(0x05, "set_roots", vec![nitro.clone(), ("roots", Value::Array(vec![bytes(b"a certificate")]))]),
        call(0x06, "cancel_timer", vec![of(&timers[0])]),
        call(0x06, "extend_timer", vec![of(&timers[1]), ("expires_at", Value::uint(150_000))]),
        call(0x09, "update_timer_config", limits.map(|(name, value)| (name, Value::uint(value))).to_vec()),
    ];
    assert_eq!(decide(&mut chain, all(actions), 25_000), "executed");
    let left = chain.all::<cowboy_state::records::Timer>(cowboy_state::Kind::Timer);
    assert_eq!(left.iter().map(|(_, timer)| timer.expires_at.0).collect::<Vec<_>>(), [150_000]);
    assert_eq!(read(&mut chain, 0x05, "get_roots", vec![nitro]), Value::Array(vec![bytes(b"a certificate")]));
    let rows = ["cleanup_cycles", "cells_per_fire", "cycles_per_fire", "timers_per_actor", "ttl_blocks"];
    for (row, (_, value)) in rows.iter().zip(limits) {
        assert_eq!(param(&mut chain, &format!("timers.{row}")), value, "{row}");
    }
}

/// Decision 179: one action that fails undoes the others.
#[test]
fn a_decision_is_made_whole_or_not_at_all() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let before = param(&mut chain, "rent.rate");
    let digest = ("digest", bytes(&[7; 32]));
    let image = vec![digest.clone(), ("allowed", Value::Bool(true)), ("name", Value::text("alpine"))];
    let unknown = call(0x06, "extend_timer", vec![("timer_id", bytes(&[9; 32])), ("expires_at", Value::uint(9))]);
    let actions = vec![Value::dict(set_parameter("rent.rate", 7)), call(0x11, "set_image", image), unknown];
    assert_eq!(decide(&mut chain, all(actions), 1_000), "failed");
    assert_eq!(param(&mut chain, "rent.rate"), before);
    assert_eq!(read(&mut chain, 0x11, "get_image", vec![digest]), Value::Null);
}

/// A decision by which 0x09 would put down a deposit of its own, for an allowance, spends those of open proposals: it fails, and each goes where it
/// belongs.
#[test]
fn a_decision_spends_no_deposits() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let token = Value::dict([("name", Value::text("a token")), ("symbol", Value::text("A"))]).encode();
    let created = chain.send(5, execution(Address::system(TOKENS), "token_create", &token, 0));
    assert_eq!(created.abort, None);
    let id = cbor::decode(&created.return_data).expect("it is CBOR");
    let allowance = vec![("token_id", id), ("spender", bytes(&address(5).0)), ("amount", Value::uint(1))];
    let spending = propose(&mut chain, all(vec![call(TOKENS, "token_approve", allowance)]), 25_000);
    let open = propose(&mut chain, set_parameter("rent.rate", 7), 1_000);
    assert_eq!(carry(&mut chain, spending), "failed");
    assert_eq!(ask(&mut chain, 6, "count", about(open), 0).abort, None);
    assert_eq!(chain.balance(GOVERNANCE), 0, "each deposit went where it belongs");
}

/// Decision 179: a proposal has the strictest tier of its actions, and what governance cannot do is refused by name.
#[test]
fn tiers_are_of_what_is_touched() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let image = || call(0x11, "set_image", vec![]);
    let rows = [
        (all(vec![image()]), 1_000, None),
        (all(vec![Value::dict(set_parameter("rent.rate", 7)), image()]), 1_000, None),
        (all(vec![image(), call(0x05, "set_policy", vec![])]), 1_000, Some(error::GOVERNANCE_DEPOSIT)),
        (all(vec![image(), call(0x05, "set_policy", vec![])]), 25_000, None),
        (all(vec![call(0x08, "disburse", vec![])]), 1_000, Some(error::GOVERNANCE_DEPOSIT)),
        (on_actor("circuit_break", 0x02), 25_000, None),
        (on_actor("circuit_break", 0x09), 25_000, Some(error::PROPOSAL_ACTION)),
        (on_actor("resume", 0x42), 25_000, Some(error::ACTOR_NOT_FOUND)),
        (on_actor("upgrade", 0x02), 25_000, Some(error::INVALID_ARGUMENT)),
        (on_actor("restart", 0x02), 25_000, Some(error::INVALID_ARGUMENT)),
        (vec![("name", Value::text("rent.rate"))], 25_000, Some(error::INVALID_ARGUMENT)),
        (all(vec![]), 25_000, Some(error::PROPOSAL_ACTION)),
        (all(vec![image(); 17]), 25_000, Some(error::INVALID_ARGUMENT)),
        (all(vec![call(0x09, "execute", about(0))]), 25_000, Some(error::PROPOSAL_ACTION)),
        (all(vec![call(0x09, "propose", vec![])]), 25_000, Some(error::PROPOSAL_ACTION)),
        (all(vec![call(0x11, "no_such_method", vec![])]), 25_000, Some(error::UNAVAILABLE)),
    ];
    for (place, (argument, deposit, expected)) in rows.into_iter().enumerate() {
        assert_eq!(ask(&mut chain, 5, "propose", argument, deposit * CBY).abort, expected, "row {place}");
    }
}

/// Names accounts 1 to 9 as the council.
fn council(chain: &mut Chain) {
    let members = Value::Array((1..=9).map(|number| bytes(&address(number).0)).collect());
    assert_eq!(decide(chain, vec![("action", Value::text("set_council")), ("members", members)], 25_000), "executed");
}

/// A call of the token registry that anybody may make. Answers why it fails.
fn supply(chain: &mut Chain) -> Option<cowboy_types::Abort> {
    chain.send(5, execution(Address::system(0x06), "get_basefee", b"", 0)).abort
}

/// Seven members of the council pause 0x06. Answers the number of the vote.
fn pause(chain: &mut Chain) -> u64 {
    for from in 1..=7 {
        assert_eq!(supply(chain), None, "{} are too few", from - 1);
        let receipt = ask(chain, from, "circuit_break", vec![("actor", Value::uint(6))], 0);
        assert_eq!(receipt.return_data[..], Value::Bool(from == 7).encode()[..], "the seventh decides");
    }
    assert_eq!(supply(chain), Some(error::SYSTEM_ACTOR_PAUSED));
    let Value::Array(pauses) = read(chain, 0x09, "get_pauses", vec![]) else { panic!("a list") };
    assert_eq!(pauses.len(), 1);
    pauses[0].get("proposal").and_then(Value::as_u64).expect("the pause has its vote")
}

fn voting_ends(chain: &mut Chain, id: u64) -> u64 {
    read(chain, 0x09, "get_proposal", about(id)).get("height").and_then(Value::as_u64).expect("it is voted on")
}

/// the council pauses one actor at once. The pause ends with the vote that rejects it, or with its time, unless it was ratified.
#[test]
fn the_council_pauses_an_actor_until_the_vote() {
    let mut chain = chain_of([1, 1, 1, 1]);
    assert_eq!(ask(&mut chain, 1, "circuit_break", vec![("actor", Value::uint(6))], 0).abort, Some(error::SYSTEM_UNAUTHORIZED));
    council(&mut chain);
    assert_eq!(ask(&mut chain, 1, "circuit_break", vec![("actor", Value::uint(9))], 0).abort, Some(error::PROPOSAL_ACTION));

    let rejected = pause(&mut chain);
    assert_eq!(ask(&mut chain, 1, "circuit_break", vec![("actor", Value::uint(6))], 0).abort, Some(error::PROPOSAL_ACTION), "once");
    for from in 1..=3 {
        assert!(vote(&mut chain, from, rejected, "no").is_success());
    }
    let end = voting_ends(&mut chain, rejected);
    assert!(end < chain.height.0 + 604_800, "the vote ends before the pause does");
    chain.height.0 = end;
    assert_eq!(supply(&mut chain), Some(error::SYSTEM_ACTOR_PAUSED));
    assert!(ask(&mut chain, 6, "count", about(rejected), 0).is_success());
    assert_eq!((supply(&mut chain), stage(&mut chain, rejected).as_str()), (None, "rejected"), "it ends at once");

    let forgotten = pause(&mut chain);
    let begun = chain.height.0;
    for from in 1..=3 {
        assert!(vote(&mut chain, from, forgotten, "yes").is_success());
    }
    later(&mut chain, 604_800 - 20);
    assert_eq!(supply(&mut chain), Some(error::SYSTEM_ACTOR_PAUSED));
    chain.height.0 = begun + 604_800;
    assert_eq!(supply(&mut chain), None, "7 days are over, and nobody counted");
    assert!(ask(&mut chain, 6, "count", about(forgotten), 0).is_success());
    assert_eq!((supply(&mut chain), stage(&mut chain, forgotten).as_str()), (None, "failed"), "too late");

    let ratified = pause(&mut chain);
    for from in 1..=3 {
        assert!(vote(&mut chain, from, ratified, "yes").is_success());
    }
    chain.height.0 = voting_ends(&mut chain, ratified);
    assert!(ask(&mut chain, 6, "count", about(ratified), 0).is_success());
    assert_eq!(stage(&mut chain, ratified), "executed");
    later(&mut chain, 700_000);
    assert_eq!(supply(&mut chain), Some(error::SYSTEM_ACTOR_PAUSED), "until a decision resumes it");
    assert_eq!(decide(&mut chain, on_actor("resume", 0x06), 25_000), "executed");
    assert_eq!(supply(&mut chain), None);
}

/// Decision 331: what a member of the council agreed to a day ago does not count, until it says so again.
#[test]
fn agreements_on_pauses_expire() {
    let mut chain = chain_of([1, 1, 1, 1]);
    council(&mut chain);
    let want = |chain: &mut Chain, from: u8| {
        let receipt = ask(chain, from, "circuit_break", vec![("actor", Value::uint(6))], 0);
        assert_eq!(receipt.abort, None);
        receipt.return_data[..] == Value::Bool(true).encode()[..]
    };
    assert!((1..=4).all(|from| !want(&mut chain, from)));
    chain.height.0 += 50_000;
    assert!((5..=6).all(|from| !want(&mut chain, from)));
    chain.height.0 += 40_000;
    assert!(!want(&mut chain, 7), "the first four are too old");
    assert!((1..=3).all(|from| !want(&mut chain, from)) && !want(&mut chain, 3), "nobody counts twice");
    assert_eq!(supply(&mut chain), None);
    assert!(want(&mut chain, 4), "seven within a day");
    assert_eq!(supply(&mut chain), Some(error::SYSTEM_ACTOR_PAUSED));
}

/// A paused actor answers governance, which may have to repair it, and no instruction goes around the pause.
#[test]
fn a_paused_actor_answers_governance_only() {
    let mut chain = chain_of([1, 1, 1, 1]);
    assert_eq!(decide(&mut chain, on_actor("circuit_break", 0x11), 25_000), "executed");
    let digest = ("digest", bytes(&[7; 32]));
    let asked = |chain: &mut Chain| -> Receipt {
        chain.send(5, execution(Address::system(0x11), "get_image", &Value::dict([digest.clone()]).encode(), 0))
    };
    assert_eq!(asked(&mut chain).abort, Some(error::SYSTEM_ACTOR_PAUSED));
    let image = vec![digest.clone(), ("allowed", Value::Bool(true)), ("name", Value::text("alpine"))];
    assert_eq!(decide(&mut chain, all(vec![call(0x11, "set_image", image)]), 1_000), "executed");
    assert_eq!(decide(&mut chain, all(vec![Value::dict(on_actor("resume", 0x11))]), 25_000), "executed");
    assert!(asked(&mut chain).is_success());
}

/// Who executes a decision with too few cycles does not make it fail for ever.
#[test]
fn a_decision_is_not_spent_by_too_few_cycles() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let many = (0..16u8).map(|number| {
        call(0x11, "set_image", vec![("digest", bytes(&[number; 32])), ("allowed", Value::Bool(true)), ("name", Value::text("alpine"))])
    });
    let id = propose(&mut chain, all(many.collect()), 1_000);
    for from in 1..=3 {
        assert!(vote(&mut chain, from, id, "yes").is_success());
    }
    later(&mut chain, 3_600);
    assert!(ask(&mut chain, 6, "count", about(id), 0).is_success());
    later(&mut chain, 3_600);
    let nonce = chain.nonce(6);
    let mut short = unsigned(6, nonce, execution(GOVERNANCE, "execute", &Value::dict(about(id)).encode(), 0));
    short.cycles_limit = Cycles(30_000);
    key(6).sign_transaction(&mut short);
    let receipt = chain.one(cowboy_testkit::chain::sign(6, short));
    assert_eq!(receipt.abort, Some(error::OUT_OF_CYCLES));
    assert_eq!(stage(&mut chain, id), "queued");
    assert!(ask(&mut chain, 6, "execute", about(id), 0).is_success());
    assert_eq!(stage(&mut chain, id), "executed");
}

/// A preview tells what a decision would do, and does nothing.
#[test]
fn a_preview_leaves_nothing() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let to = ("to", bytes(&address(8).0));
    let pay = |amount: u64| {
        Value::dict([("action", Value::text("disburse")), ("bucket", Value::text("treasury")), to.clone(), ("amount", Value::uint(amount))])
    };
    let before = (chain.balance(address(8)), param(&mut chain, "rent.rate"));
    let actions = all(vec![Value::dict(set_parameter("rent.rate", 7)), pay(5)]);
    let shown = read(&mut chain, 0x09, "preview", actions);
    let Some(Value::Array(events)) = shown.get("events") else { panic!("events: {shown:?}") };
    let names: Vec<_> = events.iter().filter_map(|event| event.get("name").and_then(Value::as_text)).collect();
    assert_eq!(names, ["parameter.moved", "vesting.disbursed"]);
    assert_eq!((shown.get("error"), shown.get("tier").and_then(Value::as_u64)), (Some(&Value::Null), Some(3)));
    assert_eq!((shown.get("refusal"), shown.get("is_cancellable")), (Some(&Value::Null), Some(&Value::Bool(true))));
    let shown = read(&mut chain, 0x09, "preview", all(vec![pay(200_000_000 * CBY)]));
    assert_eq!(shown.get("error").and_then(Value::as_text), Some("transfer_failed"));
    assert_eq!((chain.balance(address(8)), param(&mut chain, "rent.rate")), before);
}

/// values stand at the keys of 003 §13.1, from genesis on, and follow what is decided; the rate of rent by a proposal of
/// tier 0.
#[test]
fn values_stand_at_their_keys() {
    let mut chain = chain_of([1, 1, 1, 1]);
    let value = |chain: &Chain, key: &str| chain.stored(GOVERNANCE, key).map(|bytes| cbor::decode(&bytes).expect("CBOR"));
    for (key, rows) in GROUPS {
        let group = value(&chain, key).expect("it is there from genesis on");
        for row in *rows {
            assert_eq!(group.get(row).and_then(Value::as_u64), Some(param(&mut chain, row)), "{key}: {row}");
        }
    }
    assert_eq!(value(&chain, "system:gov:param:rent.rate"), None);
    assert_eq!(decide(&mut chain, set_parameter("rent.rate", 2_000_000), 1_000), "executed");
    assert_eq!(value(&chain, "system:gov:param:rent.rate"), Some(Value::uint(2_000_000)));
    let group = value(&chain, "system:cip4:rent_config").expect("it is there");
    assert_eq!(group.get("rent.rate").and_then(Value::as_u64), Some(2_000_000));
}

/// A chain begins with a council and with calls, and a genesis whose calls fail makes no chain.
#[test]
fn genesis_begins_with_a_council_and_calls() {
    use cowboy_chain::genesis::{GenesisCall, GenesisError};
    let image = |method: &str| GenesisCall {
        sender: GOVERNANCE,
        actor: 0x11,
        method: cowboy_types::Text::new(method).expect("short"),
        argument: cowboy_types::Blob::new(
            Value::dict([("digest", bytes(&[7; 32])), ("allowed", Value::Bool(true)), ("name", Value::text("alpine"))]).encode(),
        )
        .expect("short"),
        value: cowboy_types::Amount::ZERO,
    };
    let mut members: Vec<Address> = (1..=9).map(address).collect();
    members.sort();
    let mut kept = None;
    let mut chain = Chain::with(|genesis| {
        genesis.deployers = List::default();
        genesis.council = List::new(members.clone()).expect("nine fit");
        genesis.calls = List::new(vec![image("set_image")]).expect("one fits");
        genesis.parameters = parameters(&[]);
        kept = Some(genesis.clone());
    });
    assert_eq!(read(&mut chain, 0x11, "get_image", vec![("digest", bytes(&[7; 32]))]).get("allowed"), Some(&Value::Bool(true)));
    assert_eq!(ask(&mut chain, 1, "circuit_break", vec![("actor", Value::uint(6))], 0).abort, None, "it is of the council");
    let config = kept.expect("the genesis was made");
    let mut wrong = config.clone();
    wrong.calls = List::new(vec![image("no_such_method")]).expect("one fits");
    assert!(matches!(cowboy_chain::genesis::genesis(&wrong), Err(GenesisError::Call { index: 0, .. })));
    let mut wrong = config;
    wrong.council = List::new(members[..8].to_vec()).expect("eight fit");
    assert!(matches!(cowboy_chain::genesis::genesis(&wrong), Err(GenesisError::Council { members: 8, size: 9 })));
}
