//! Names: registering, renewing, expiring, names below names (004 §7).

mod below;
mod pages;

use cowboy_state::records::{Supply, keys};
use cowboy_system::names::{NUMBER, domains, state};
use cowboy_testkit::chain::{Chain, address, deployment, execution, parameters};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::Height;
use cowboy_types::{Abort, Address, Instruction, Receipt, System, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_name_is_registered,
    names_are_refused,
    an_actor_registers_itself,
    a_name_lives_expires_and_is_released,
    only_the_owner_changes_a_name,
    names_stand_below_names,
    a_name_below_dies_with_the_name_above,
    a_name_below_is_released,
    a_lookup_lists_own_names,
    a_name_costs_a_year,
    domains_are_claimed,
];

const REGISTRY: Address = Address::system(NUMBER);
const TREASURY: Address = Address::system(0x08);
const CBY: u64 = 1_000_000_000;
const YEAR: u64 = 31_536_000;
/// What an actor with a page may.
const WEB: &[(&str, &[(&str, u64)])] = &[("econ.hold_balance", &[]), ("econ.transfer", &[]), ("ingress.http", &[]), ("storage.kv", &[])];
const SCRIPT: &str = "handler http.request\n return 'page'\nhandler name\n call @0E 'register' $payload 0 0 20000000000\n return $last\n";

fn ask(chain: &mut Chain, from: u8, method: &str, argument: &Value, value: u64) -> Receipt {
    chain.send(from, execution(REGISTRY, method, &argument.encode(), value))
}

fn of(name: &str) -> (&'static str, Value) {
    ("name", Value::text(name))
}

fn registration(name: &str, actor: Address, blocks: u64) -> Value {
    Value::map([of(name), ("actor_address", Value::Bytes(actor.0.to_vec())), ("duration_blocks", Value::uint(blocks))])
}

fn register(chain: &mut Chain, from: u8, name: &str, actor: Address, blocks: u64, value: u64) -> Option<Abort> {
    ask(chain, from, "register", &registration(name, actor, blocks), value).abort
}

fn answer(receipt: &Receipt) -> Value {
    assert_eq!(receipt.abort, None);
    cbor::decode(&receipt.return_data).expect("CBOR")
}

/// What a method answers without changing anything.
fn read<const N: usize>(chain: &mut Chain, method: &str, argument: [(&str, Value); N]) -> Value {
    answer(&ask(chain, 1, method, &Value::map(argument), 0))
}

fn resolve(chain: &mut Chain, name: &str) -> Option<Address> {
    let found = read(chain, "resolve", [of(name)]);
    found.as_bytes().map(|bytes| Address(bytes.try_into().expect("an address")))
}

fn lookup(chain: &mut Chain, actor: Address) -> Vec<String> {
    let Value::Array(names) = read(chain, "lookup", [("actor_address", Value::Bytes(actor.0.to_vec()))]) else { unreachable!("a list") };
    names.iter().map(|name| name.as_text().expect("a text").to_string()).collect()
}

fn site(chain: &mut Chain, from: u8) -> Address {
    chain.send(from, deployment(SCRIPT, Some(WEB), None, 0)).created.expect("it is deployed")
}

fn burned(chain: &Chain) -> u64 {
    chain.record::<Supply>(&keys::supply()).expect("genesis wrote the supply").burned.0
}

/// an actor's owner registers; the record, the split of the fee and the change are exact.
#[test]
fn a_name_is_registered() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("names.duration_min", YEAR / 2)]));
    let actor = site(&mut chain, 2);
    let pool = cowboy_system::gateways::state::pool();
    let (treasury, gateways) = (chain.balance(TREASURY), chain.balance(pool));
    let (before, was_burned) = (chain.balance(address(2)), burned(&chain));
    let receipt = ask(&mut chain, 2, "register", &registration("mysite", actor, YEAR / 2), 9 * CBY);
    let record = answer(&receipt);
    assert_eq!(chain.balance(TREASURY) - treasury, CBY / 2, "a tenth to the protocol");
    assert_eq!(chain.balance(pool) - gateways, CBY, "a fifth to the gateways");
    let fees = before - chain.balance(address(2)) - 5 * CBY;
    assert_eq!(fees, receipt.fee.burned.0 + receipt.fee.tip.0, "five CBY for half a year; the other four came back");
    assert_eq!(burned(&chain) - was_burned, 7 * CBY / 2 + receipt.fee.burned.0);
    assert_eq!(chain.balance(REGISTRY), 0);
    let number = |name: &str| record.get(name).and_then(Value::as_u64);
    let height = chain.height.0;
    assert_eq!((number("registered_at"), number("expires_at")), (Some(height), Some(height + YEAR / 2)));
    assert_eq!(number("subdomain_policy"), Some(1), "A-313: the actor's, unless said otherwise");
    assert_eq!(record.get("owner").and_then(Value::as_bytes), Some(&address(2).0[..]));
    assert_eq!(record.get("actor_address").and_then(Value::as_bytes), Some(&actor.0[..]));
    assert_eq!(resolve(&mut chain, "mysite"), Some(actor));
    assert_eq!(resolve(&mut chain, "other"), None);
    assert_eq!(lookup(&mut chain, actor), ["mysite"]);
    assert_eq!(receipt.events.iter().map(|event| event.name.to_string()).collect::<Vec<_>>(), ["name.registered"]);
}

/// who may not register what, row by row.
#[test]
fn names_are_refused() {
    let mut chain = Chain::new();
    let actor = site(&mut chain, 2);
    let closed = chain.deploy("handler x\n return 'x'\n");
    let fee = 10 * CBY;
    assert_eq!(register(&mut chain, 2, "taken-name", actor, YEAR, fee), None);
    let long = format!("{}.{}", "a".repeat(40), "b".repeat(40));
    let rows = [
        (2, &long[..], actor, YEAR, fee, error::NAME_NOT_FOUND),
        (2, "no", actor, YEAR, fee, error::NAME_INVALID),
        (2, "xn--abc", actor, YEAR, fee, error::NAME_INTERNATIONAL),
        (2, "site-1", actor, 0, fee, error::NAME_DURATION),
        (2, "site-1", actor, 10 * YEAR + 1, 200 * CBY, error::NAME_DURATION),
        (1, "site-1", closed, YEAR, fee, error::NAME_TARGET),
        (2, "site-1", address(7), YEAR, fee, error::NAME_TARGET),
        (2, "www", actor, YEAR, 1_000 * CBY, error::NAME_RESERVED),
        (3, "site-1", actor, YEAR, fee, error::NAME_FOREIGN_ACTOR),
        (2, "taken-name", actor, YEAR, fee, error::NAME_TAKEN),
        (2, "site-1", actor, YEAR, fee - 1, error::NAME_FEE),
        (2, "abc", actor, YEAR, 1_000 * CBY - 1, error::NAME_FEE),
        (2, "below.site-1", actor, YEAR, fee, error::NAME_NOT_FOUND),
    ];
    for (from, name, target, blocks, value, expected) in rows {
        let held = chain.balance(REGISTRY);
        assert_eq!(register(&mut chain, from, name, target, blocks, value), Some(expected), "{name}");
        assert_eq!(chain.balance(REGISTRY), held, "a refused call costs its fee and nothing else");
    }
    assert_eq!(ask(&mut chain, 2, "register", &Value::map([of("site-1")]), fee).abort, Some(error::INVALID_ARGUMENT));
    assert!(chain.decide(0x0E, "register", &registration("www", actor, YEAR)), "governance holds the reserved names, and pays nothing");
    assert_eq!(resolve(&mut chain, "www"), Some(actor));
    assert!(!chain.decide(0x0E, "register", &registration("site-1", actor, YEAR)), "others have their price for all");
}

/// an actor registers for itself.
#[test]
fn an_actor_registers_itself() {
    let mut chain = Chain::new();
    let script = SCRIPT.replace("@0E", &REGISTRY.to_string());
    let actor = chain.send(2, deployment(&script, Some(WEB), None, 100 * CBY)).created.expect("it is deployed");
    let argument = registration("itself", actor, YEAR).encode();
    assert!(chain.send(3, execution(actor, "name", &argument, 0)).is_success());
    assert_eq!(resolve(&mut chain, "itself"), Some(actor));
    assert_eq!(chain.balance(actor), 90 * CBY, "what it paid too much came back");
    let record: cowboy_system::names::types::Registration = chain.record(&state::key("itself")).expect("it is registered");
    assert_eq!(record.owner, actor);
}

/// Decision 177: a name is not taken for a moment, with a grace of thirty days behind it: squatting costs a year's price. What
/// stands below a name, and renewals, may be shorter.
#[test]
fn a_name_costs_a_year() {
    let mut chain = Chain::new();
    let actor = site(&mut chain, 2);
    for blocks in [1, YEAR / 2, YEAR - 1] {
        assert_eq!(register(&mut chain, 2, "google", actor, blocks, 10 * CBY), Some(error::NAME_DURATION), "{blocks} blocks");
    }
    assert_eq!(register(&mut chain, 2, "google", actor, YEAR, 10 * CBY - 1), Some(error::NAME_FEE), "the whole year is paid");
    assert_eq!(register(&mut chain, 2, "google", actor, YEAR, 10 * CBY), None);
    let renewal = |blocks: u64| Value::map([of("google"), ("duration_blocks", Value::uint(blocks))]);
    assert_eq!(ask(&mut chain, 2, "renew", &renewal(2_592_000 - 1), 10 * CBY).abort, Some(error::NAME_DURATION));
    assert_eq!(ask(&mut chain, 2, "renew", &renewal(2_592_000), 10 * CBY).abort, None);
    assert!(read(&mut chain, "quote", [of("google"), ("duration_blocks", Value::uint(2_592_000))]).get("fee").is_some());
}

/// renewal counts from the expiry; grace; the auction; then free again.
#[test]
fn a_name_lives_expires_and_is_released() {
    let rows = [("names.grace", 100), ("names.auction", 100), ("names.duration_min", 1), ("names.renewal_min", 1)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let (first, second) = (site(&mut chain, 2), site(&mut chain, 3));
    let year = YEAR;
    assert_eq!(register(&mut chain, 2, "mysite", first, 1_000, 10 * CBY), None);
    let expiry = chain.height.0 + 1_000;
    let renewal = Value::map([of("mysite"), ("duration_blocks", Value::uint(500))]);
    assert_eq!(ask(&mut chain, 4, "renew", &renewal, 0).abort, Some(error::NAME_FEE));
    let record = answer(&ask(&mut chain, 4, "renew", &renewal, CBY));
    assert_eq!(record.get("expires_at").and_then(Value::as_u64), Some(expiry + 500), "from the expiry, whoever pays");
    let expiry = expiry + 500;
    let quote = |chain: &mut Chain| {
        let found = read(chain, "quote", [of("mysite"), ("duration_blocks", Value::uint(year))]);
        (
            found.get("stage").and_then(Value::as_text).expect("a stage").to_string(),
            found.get("fee").and_then(Value::as_u64).expect("a fee"),
        )
    };

    chain.height = Height(expiry - 2);
    assert_eq!(resolve(&mut chain, "mysite"), Some(first), "the last block in which it counts");
    assert_eq!(resolve(&mut chain, "mysite"), None, "the first in which it does not");
    assert_eq!(lookup(&mut chain, first), Vec::<String>::new());
    assert_eq!(quote(&mut chain).0, "grace");
    assert_eq!(register(&mut chain, 3, "mysite", second, year, 1_000 * CBY), Some(error::NAME_TAKEN));
    let transfer = Value::map([of("mysite"), ("new_owner", Value::Bytes(vec![7; 20]))]);
    assert_eq!(ask(&mut chain, 2, "transfer", &transfer, 0).abort, Some(error::NAME_NOT_FOUND));
    assert!(ask(&mut chain, 2, "renew", &renewal, CBY).is_success(), "grace is for renewing");
    assert_eq!(resolve(&mut chain, "mysite"), Some(first));

    let expiry = expiry + 500;
    chain.height = Height(expiry + 100 - 1);
    assert_eq!(quote(&mut chain), ("auction".to_string(), 100 * CBY), "ten times at first");
    assert_eq!(ask(&mut chain, 2, "renew", &renewal, CBY).abort, Some(error::NAME_NOT_FOUND), "too late");
    assert_eq!(register(&mut chain, 3, "mysite", second, 10, 20 * CBY), Some(error::NAME_FEE), "a short term costs as much");
    chain.height = Height(expiry + 150 - 1);
    assert_eq!(quote(&mut chain), ("auction".to_string(), 55 * CBY), "half way");
    assert_eq!(register(&mut chain, 3, "mysite", second, year, 60 * CBY), None);
    assert_eq!((resolve(&mut chain, "mysite"), lookup(&mut chain, second)), (Some(second), vec!["mysite".to_string()]));
    assert_eq!(lookup(&mut chain, first), Vec::<String>::new());

    chain.height = Height(chain.height.0 + year + 200);
    assert_eq!(quote(&mut chain), ("free".to_string(), 10 * CBY));
    assert_eq!(register(&mut chain, 2, "mysite", first, year, 10 * CBY), None);
}

/// only the owner changes a name; the new owner does afterwards.
#[test]
fn only_the_owner_changes_a_name() {
    let mut chain = Chain::new();
    let (first, second) = (site(&mut chain, 2), site(&mut chain, 3));
    let closed = chain.deploy("handler x\n return 'x'\n");
    assert_eq!(register(&mut chain, 2, "mysite", first, YEAR, 10 * CBY), None);
    let transfer = Value::map([of("mysite"), ("new_owner", Value::Bytes(address(4).0.to_vec()))]);
    let point = |actor: Address| Value::map([of("mysite"), ("actor_address", Value::Bytes(actor.0.to_vec()))]);
    let policy = |number| Value::map([of("mysite"), ("policy", Value::uint(number))]);
    let rows = [
        (3, "transfer", transfer.clone(), Some(error::NAME_NOT_OWNER)),
        (3, "set_actor", point(second), Some(error::NAME_NOT_OWNER)),
        (3, "set_subdomain_policy", policy(2), Some(error::NAME_NOT_OWNER)),
        (2, "set_actor", point(closed), Some(error::NAME_TARGET)),
        (2, "set_subdomain_policy", policy(3), Some(error::INVALID_ARGUMENT)),
        (2, "set_actor", point(second), None),
        (2, "set_subdomain_policy", policy(2), None),
        (2, "transfer", transfer, None),
        (2, "set_subdomain_policy", policy(0), Some(error::NAME_NOT_OWNER)),
        (4, "set_subdomain_policy", policy(0), None),
    ];
    for (from, method, argument, expected) in rows {
        assert_eq!(ask(&mut chain, from, method, &argument, 0).abort, expected, "{method} by {from}");
    }
    assert_eq!(resolve(&mut chain, "mysite"), Some(second));
    let shown = read(&mut chain, "get_name", [of("mysite")]);
    assert_eq!(shown.get("subdomain_policy").and_then(Value::as_u64), Some(0));
    assert_eq!(shown.get("owner").and_then(Value::as_bytes), Some(&address(4).0[..]));
    assert_eq!(ask(&mut chain, 4, "set_subdomain_policy", &policy(1), 5).abort, Some(error::NOT_PAYABLE));
}

/// A reverse lookup lists what the actor or its owner owns: names that others point at it, at no cost where they stand below names of theirs,
/// take nobody's place in it.
#[test]
fn a_lookup_lists_own_names() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("names.lookup_max", 2)]));
    let (site, other) = (site(&mut chain, 2), site(&mut chain, 3));
    for (from, name, actor) in [(2, "site-a", site), (3, "evil-site", other)] {
        assert_eq!(register(&mut chain, from, name, actor, YEAR, 50 * CBY), None);
    }
    let policy = Value::map([of("evil-site"), ("policy", Value::uint(0))]);
    assert!(ask(&mut chain, 3, "set_subdomain_policy", &policy, 0).is_success());
    for name in ["aaa.evil-site", "aab.evil-site", "aac.evil-site"] {
        assert_eq!(register(&mut chain, 3, name, site, YEAR, 0), None, "anybody may point a name there");
    }
    let point = Value::map([of("evil-site"), ("actor_address", Value::Bytes(site.0.to_vec()))]);
    assert!(ask(&mut chain, 3, "set_actor", &point, 0).is_success());
    assert_eq!(resolve(&mut chain, "aaa.evil-site"), Some(site));
    assert_eq!(lookup(&mut chain, site), ["site-a"]);
    let hand_over = |name: &str, to: u8| Value::map([of(name), ("new_owner", Value::Bytes(address(to).0.to_vec()))]);
    for name in ["aaa.evil-site", "aab.evil-site", "aac.evil-site", "evil-site"] {
        assert!(ask(&mut chain, 3, "transfer", &hand_over(name, 2), 0).is_success());
    }
    assert_eq!(
        lookup(&mut chain, site),
        ["site-a"],
        "decision 620: what is given away is not listed, though it leads to the actor of whom it was given"
    );
    assert!(ask(&mut chain, 2, "set_actor", &point, 0).is_success());
    assert_eq!(lookup(&mut chain, site), ["evil-site", "site-a"], "as soon as its owner points it there");
    let renewal = Value::map([of("evil-site"), ("duration_blocks", Value::uint(YEAR))]);
    assert!(ask(&mut chain, 3, "renew", &renewal, 50 * CBY).is_success());
    assert_eq!(lookup(&mut chain, site), ["evil-site", "site-a"], "whoever pays for it");
    assert!(ask(&mut chain, 2, "transfer", &hand_over("site-a", 3), 0).is_success());
    assert_eq!(lookup(&mut chain, site), ["evil-site"], "and no longer");
    let sale = Instruction::System(System::TransferActorOwnership { actor: site, owner: address(4) });
    assert!(chain.send(2, sale).is_success());
    assert_eq!(lookup(&mut chain, site), Vec::<String>::new(), "the names of the former owner fill no list of the new one");
}

/// who may name what is below, under each policy; the longest registered suffix answers.
#[test]
fn names_stand_below_names() {
    let mut chain = Chain::new();
    let (root, sub, other) = (site(&mut chain, 2), site(&mut chain, 3), site(&mut chain, 4));
    assert_eq!(register(&mut chain, 2, "mysite", root, YEAR, 10 * CBY), None);
    let set = |chain: &mut Chain, name: &str, from: u8, number: u64| {
        let argument = Value::map([of(name), ("policy", Value::uint(number))]);
        assert_eq!(ask(chain, from, "set_subdomain_policy", &argument, 0).abort, None);
    };
    assert_eq!(register(&mut chain, 2, "blog.mysite", sub, YEAR, 0), Some(error::NAME_POLICY), "the actor's own business");
    set(&mut chain, "mysite", 2, 0);
    let before = chain.balance(address(2));
    let receipt = ask(&mut chain, 2, "register", &registration("blog.mysite", sub, YEAR), 10 * CBY);
    let record = answer(&receipt);
    let fees = receipt.fee.burned.0 + receipt.fee.tip.0;
    assert_eq!(chain.balance(address(2)), before - fees - CBY, "for who holds the name above there is no fee, but a deposit");
    let root_expiry = chain.record::<cowboy_system::names::types::Registration>(&state::key("mysite")).expect("registered").expires_at;
    assert_eq!(record.get("expires_at").and_then(Value::as_u64), Some(root_expiry.0), "as long as the name above");
    assert_eq!(register(&mut chain, 3, "shop.mysite", other, YEAR, 10 * CBY), Some(error::NAME_POLICY));
    assert_eq!(register(&mut chain, 2, "blog.mysite", other, YEAR, 0), Some(error::NAME_TAKEN));
    let rows = [("mysite", root), ("blog.mysite", sub), ("deep.blog.mysite", sub), ("shop.mysite", root), ("x-1.y-2.mysite", root)];
    for (name, expected) in rows {
        assert_eq!(resolve(&mut chain, name), Some(expected), "{name}");
    }
    set(&mut chain, "mysite", 2, 2);
    assert_eq!(register(&mut chain, 4, "shop.mysite", other, YEAR, 0), Some(error::NAME_FEE), "others pay under an open policy");
    assert_eq!(register(&mut chain, 3, "shop.mysite", other, YEAR, 10 * CBY), Some(error::NAME_FOREIGN_ACTOR));
    assert_eq!(register(&mut chain, 4, "shop.mysite", other, YEAR / 2, 5 * CBY), None);
    assert_eq!(resolve(&mut chain, "shop.mysite"), Some(other));
    let renewal = Value::map([of("shop.mysite"), ("duration_blocks", Value::uint(YEAR / 2))]);
    assert_eq!(ask(&mut chain, 4, "renew", &renewal, 5 * CBY).abort, None);
    let renewal = Value::map([of("blog.mysite"), ("duration_blocks", Value::uint(YEAR))]);
    assert_eq!(ask(&mut chain, 2, "renew", &renewal, 10 * CBY).abort, Some(error::NAME_NOT_FOUND), "it lasts with the name above");
    assert_eq!(register(&mut chain, 4, "deep.blog.mysite", other, YEAR, 10 * CBY), Some(error::NAME_POLICY), "the nearest name decides");
    assert_eq!(lookup(&mut chain, other), ["shop.mysite"]);
}

/// A name below another dies with it, and does not come back when the name above is somebody else's.
#[test]
fn a_name_below_dies_with_the_name_above() {
    let rows = [("names.grace", 100), ("names.auction", 100), ("names.duration_min", 1)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let (root, sub) = (site(&mut chain, 2), site(&mut chain, 3));
    assert_eq!(register(&mut chain, 2, "mysite", root, 1_000, CBY), None);
    let argument = Value::map([of("mysite"), ("policy", Value::uint(0))]);
    assert!(ask(&mut chain, 2, "set_subdomain_policy", &argument, 0).is_success());
    assert_eq!(register(&mut chain, 2, "blog.mysite", sub, YEAR, 0), None);
    chain.height = Height(chain.height.0 + 1_000);
    assert_eq!((resolve(&mut chain, "blog.mysite"), resolve(&mut chain, "mysite")), (None, None));
    chain.height = Height(chain.height.0 + 300);
    assert_eq!(register(&mut chain, 3, "mysite", sub, YEAR, 10 * CBY), None);
    assert_eq!(resolve(&mut chain, "blog.mysite"), Some(sub), "by the name above");
    assert_eq!(lookup(&mut chain, sub), ["mysite"], "and not by the old record");
    assert!(ask(&mut chain, 3, "set_subdomain_policy", &argument, 0).is_success());
    assert_eq!(register(&mut chain, 3, "blog.mysite", root, YEAR, 0), None, "the new owner takes its place");
    assert_eq!(resolve(&mut chain, "blog.mysite"), Some(root));
    assert_eq!(chain.balance(REGISTRY), CBY, "the new one's deposit; the old one's went back");
}

/// Decision 368: the record of a name below another one that costs no fee has a deposit, which comes back to whoever paid it once the name is
/// released: by its owner, or by anybody when the name above is gone for good.
#[test]
fn a_name_below_is_released() {
    let rows = [("names.grace", 100), ("names.auction", 100), ("names.duration_min", 1)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let site = site(&mut chain, 2);
    assert_eq!(register(&mut chain, 2, "mysite", site, 1_000, CBY), None);
    let policy = Value::map([of("mysite"), ("policy", Value::uint(0))]);
    assert!(ask(&mut chain, 2, "set_subdomain_policy", &policy, 0).is_success());
    for name in ["one.mysite", "two.mysite"] {
        assert_eq!(register(&mut chain, 2, name, site, YEAR, 0), None);
    }
    let hand_over = Value::map([of("two.mysite"), ("new_owner", Value::Bytes(address(4).0.to_vec()))]);
    assert!(ask(&mut chain, 2, "transfer", &hand_over, 0).is_success());
    let release = |chain: &mut Chain, from: u8, name: &str| {
        let before = chain.balance(address(2));
        let receipt = ask(chain, from, "release", &Value::map([of(name)]), 0);
        let fees = if from == 2 { receipt.fee.burned.0 + receipt.fee.tip.0 } else { 0 };
        (receipt.abort, chain.balance(address(2)) + fees - before)
    };
    assert_eq!(release(&mut chain, 2, "mysite"), (Some(error::NAME_POLICY), 0), "names that were paid for end by themselves");
    assert_eq!(release(&mut chain, 5, "two.mysite"), (Some(error::NAME_NOT_OWNER), 0), "a stranger");
    assert_eq!(release(&mut chain, 2, "one.mysite"), (None, CBY));
    assert_eq!(release(&mut chain, 2, "one.mysite"), (Some(error::NAME_NOT_FOUND), 0), "once");
    assert_eq!((resolve(&mut chain, "one.mysite"), lookup(&mut chain, site)), (Some(site), vec!["mysite".to_string()]));
    let expires = chain.record::<cowboy_system::names::types::Registration>(&state::key("mysite")).expect("registered").expires_at;
    chain.height = Height(expires.0 + 50);
    assert_eq!(release(&mut chain, 5, "two.mysite"), (Some(error::NAME_NOT_OWNER), 0), "the name above may still be renewed");
    chain.height = Height(expires.0 + 100);
    assert_eq!(release(&mut chain, 5, "two.mysite"), (None, CBY), "to whoever paid it, by anybody");
    assert_eq!(chain.balance(REGISTRY), 0);
}

/// What came along with a method, in the tests of claims.
const DEPOSIT: u64 = CBY;

fn about(name: &str, domain: &str) -> Value {
    Value::map([of(name), ("domain", Value::text(domain))])
}

fn claim(chain: &mut Chain, from: u8, name: &str, domain: &str) -> Receipt {
    ask(chain, from, "claim_domain", &about(name, domain), DEPOSIT)
}

/// A chain on which the accounts 2 and 3 have a name.
fn with_two_names() -> Chain {
    let mut chain = Chain::new();
    for (from, name) in [(2, "mysite"), (3, "another")] {
        let actor = site(&mut chain, from);
        assert_eq!(register(&mut chain, from, name, actor, YEAR, 10 * CBY), None);
    }
    chain
}

/// Decision 333: the owner of a name claims domains, which others may claim as well; a claim ends with the registration and when the
/// name is handed on, and what is without effect anybody removes. Decision 362: the record names the owner.
#[test]
fn domains_are_claimed() {
    let mut chain = with_two_names();
    let shop = "shop.example.com";
    let rows = [
        (3, "claim_domain", about("mysite", shop), DEPOSIT, Some(error::NAME_NOT_OWNER)),
        (2, "claim_domain", about("nobody", shop), DEPOSIT, Some(error::NAME_NOT_FOUND)),
        (2, "claim_domain", about("mysite", "Shop.example.com"), DEPOSIT, Some(error::DOMAIN_INVALID)),
        (2, "claim_domain", about("mysite", "*.example.com"), DEPOSIT, Some(error::DOMAIN_INVALID)),
        (2, "claim_domain", about("mysite", "other.cowboy.network"), DEPOSIT, Some(error::DOMAIN_INVALID)),
        (2, "claim_domain", Value::map([of("mysite")]), DEPOSIT, Some(error::INVALID_ARGUMENT)),
        (2, "claim_domain", about("mysite", shop), DEPOSIT - 1, Some(error::DOMAIN_DEPOSIT)),
        (2, "release_domain", about("mysite", shop), 0, Some(error::NAME_NOT_FOUND)),
        (2, "claim_domain", about("mysite", shop), DEPOSIT, None),
        (2, "claim_domain", about("mysite", shop), DEPOSIT, Some(error::DOMAIN_CLAIMED)),
        (3, "claim_domain", about("another", shop), DEPOSIT, None),
        (3, "release_domain", about("mysite", shop), 0, Some(error::NAME_NOT_OWNER)),
    ];
    for (place, (from, method, argument, value, expected)) in rows.into_iter().enumerate() {
        assert_eq!(ask(&mut chain, from, method, &argument, value).abort, expected, "row {place}");
    }
    let claims = |chain: &mut Chain, name: &str| answer(&ask(chain, 1, "claims_domain", &about(name, shop), 0)) == Value::Bool(true);
    assert!(claims(&mut chain, "mysite") && claims(&mut chain, "another") && !claims(&mut chain, "nobody"));
    let counted = |chain: &Chain| chain.record::<cowboy_types::units::Count>(&domains::claims_key(shop)).map(|count| count.0);
    assert_eq!(counted(&chain), Some(2));
    for number in 1..=16 {
        let receipt = claim(&mut chain, 2, "mysite", &format!("n{number}.example.com"));
        assert_eq!(receipt.abort, (number == 16).then_some(error::DOMAIN_LIMIT), "{number}");
    }
    let proof = |owner: u8| format!("cowboy1 chain=42 name=mysite owner={}", address(owner));
    assert_eq!(ask(&mut chain, 2, "release_domain", &about("mysite", "n1.example.com"), 0).abort, None);
    assert_eq!(answer(&claim(&mut chain, 2, "mysite", "b.example.com")).as_text(), Some(&*proof(2)));

    let to = ("new_owner", Value::Bytes(address(3).0.to_vec()));
    assert_eq!(ask(&mut chain, 2, "transfer", &Value::map([of("mysite"), to]), 0).abort, None);
    assert!(!claims(&mut chain, "mysite"), "the new owner did not say so");
    assert_eq!(answer(&claim(&mut chain, 3, "mysite", shop)).as_text(), Some(&*proof(3)), "who then does needs a new record");
    assert!(claims(&mut chain, "mysite"));
    assert_eq!(counted(&chain), Some(2), "it was counted already");
    assert_eq!(ask(&mut chain, 7, "release_domain", &about("mysite", "n2.example.com"), 0).abort, None, "of the former owner: anybody");
    assert_eq!(ask(&mut chain, 3, "release_domain", &about("mysite", shop), 0).abort, None);
    chain.height = Height(chain.height.0 + YEAR);
    assert!(!claims(&mut chain, "another"), "the name expired");
    assert_eq!(ask(&mut chain, 7, "release_domain", &about("another", shop), 0).abort, None);
    assert_eq!(counted(&chain), None);
}

/// Decision 362: every claim has its deposit at 0x0E, which goes back to whoever made it, whoever ends it; what is paid too much comes
/// back at once, and what fails takes nothing.
#[test]
fn claims_have_deposits() {
    let mut chain = with_two_names();
    // What an account has beside its fees.
    let held = |chain: &mut Chain, account: u8, act: &dyn Fn(&mut Chain) -> Receipt| {
        let before = chain.balance(address(account));
        let receipt = act(chain);
        let paid = if receipt.fee.payer == address(account) { receipt.fee.burned.0 + receipt.fee.tip.0 } else { 0 };
        (receipt.abort, i128::from(chain.balance(address(account))) + i128::from(paid) - i128::from(before))
    };
    let deposit = i128::from(DEPOSIT);
    let claim_with = |value: u64| move |chain: &mut Chain| ask(chain, 2, "claim_domain", &about("mysite", "a.example.com"), value);
    assert_eq!(held(&mut chain, 2, &claim_with(DEPOSIT - 1)), (Some(error::DOMAIN_DEPOSIT), 0));
    assert_eq!(held(&mut chain, 2, &claim_with(3 * DEPOSIT)), (None, -deposit));
    assert_eq!(held(&mut chain, 2, &claim_with(DEPOSIT)), (Some(error::DOMAIN_CLAIMED), 0));
    assert_eq!(chain.balance(REGISTRY), DEPOSIT);
    let to = ("new_owner", Value::Bytes(address(3).0.to_vec()));
    assert_eq!(ask(&mut chain, 2, "transfer", &Value::map([of("mysite"), to]), 0).abort, None);
    let taken_over = |chain: &mut Chain| claim(chain, 3, "mysite", "a.example.com");
    assert_eq!(held(&mut chain, 2, &taken_over), (None, deposit), "a claim of the new owner takes its place");
    assert_eq!(chain.balance(REGISTRY), DEPOSIT);
    let released = |chain: &mut Chain| ask(chain, 3, "release_domain", &about("mysite", "a.example.com"), 0);
    assert_eq!(held(&mut chain, 3, &released), (None, deposit));
    assert_eq!(claim(&mut chain, 3, "another", "a.example.com").abort, None);
    chain.height = Height(chain.height.0 + YEAR);
    let cleaned = |chain: &mut Chain| ask(chain, 7, "release_domain", &about("another", "a.example.com"), 0);
    assert_eq!(held(&mut chain, 3, &cleaned), (None, deposit), "of an expired name: anybody, for whoever made it");
    assert_eq!(chain.balance(REGISTRY), 0);
}
