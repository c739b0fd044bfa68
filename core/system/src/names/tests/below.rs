//! Who decides about what is below a name (decision 555).

use super::{CBY, REGISTRY, YEAR, ask, of, read, register, registration, resolve, site};
use cowboy_testkit::chain::{Chain, address, deployment, execution, parameters};
use cowboy_types::cbor::Value;
use cowboy_types::error;
use cowboy_types::units::Height;

/// Whoever has a name has all below it: what its seller kept there for nothing goes, and what somebody paid for stays until it ends.
#[test]
fn a_sold_name_comes_with_what_is_below() {
    let mut chain = Chain::new();
    let (site, shop) = (site(&mut chain, 2), site(&mut chain, 4));
    assert_eq!(register(&mut chain, 2, "mysite", site, YEAR, 10 * CBY), None);
    let policy = |number| Value::map([of("mysite"), ("policy", Value::uint(number))]);
    assert!(ask(&mut chain, 2, "set_subdomain_policy", &policy(2), 0).is_success());
    assert_eq!(register(&mut chain, 4, "shop.mysite", shop, YEAR, 10 * CBY), None);
    assert_eq!(register(&mut chain, 2, "login.mysite", site, YEAR, 0), None);
    let sale = Value::map([of("mysite"), ("new_owner", Value::Bytes(address(3).0.to_vec()))]);
    assert!(ask(&mut chain, 2, "transfer", &sale, 0).is_success());
    let release = |chain: &mut Chain, from: u8, name: &str| ask(chain, from, "release", &Value::map([of(name)]), 0).abort;
    assert_eq!(release(&mut chain, 3, "shop.mysite"), Some(error::NAME_NOT_OWNER), "it was paid for");
    assert_eq!(release(&mut chain, 3, "login.mysite"), None, "it came with the name");
    assert_eq!(chain.balance(REGISTRY), 0, "its deposit is back");
}

/// Attack: who sells a name has had an actor that may not hold CBY put down the deposit for a name below it. The buyer's release returns the deposit to that actor, failed
/// for that, and the seller's actor answered below the buyer's name for good. The name goes, and the deposit is the actor's (decision 731).
#[test]
fn a_payer_that_may_hold_no_deposit_keeps_no_name() {
    let mut chain = Chain::new();
    let script = format!("handler http.request\n return 'page'\nhandler name\n call {REGISTRY} 'register' $payload 5000000 none 0\n");
    let deployed = chain.send(2, deployment(&script, Some(&[("ingress.http", &[])]), None, 0));
    let actor = deployed.created.expect("it is deployed");
    assert_eq!(register(&mut chain, 2, "mysite", actor, YEAR, 10 * CBY), None);
    let below = registration("login.mysite", actor, YEAR).encode();
    assert_eq!(chain.send(2, execution(actor, "name", &below, CBY)).abort, None);
    assert_eq!((chain.balance(actor), chain.balance(REGISTRY)), (0, CBY), "the actor put down the deposit");
    let sale = Value::map([of("mysite"), ("new_owner", Value::Bytes(address(3).0.to_vec()))]);
    assert!(ask(&mut chain, 2, "transfer", &sale, 0).is_success());
    assert_eq!(ask(&mut chain, 3, "release", &Value::map([of("login.mysite")]), 0).abort, None);
    assert_eq!((chain.balance(actor), chain.balance(REGISTRY)), (CBY, 0));
}

/// Attack: somebody pays for a name below another one while its policy is open, and renews it for ever, also once the owner lets nobody in any more or has sold the
/// name. What was paid for stays until it ends, and is renewed as the policy says then (decision 765).
#[test]
fn a_term_below_a_name_is_renewed_as_its_policy_says() {
    let mut chain = Chain::new();
    let (root, shop) = (site(&mut chain, 2), site(&mut chain, 4));
    assert_eq!(register(&mut chain, 2, "mysite", root, YEAR, 10 * CBY), None);
    let set_policy = |chain: &mut Chain, number: u64| {
        let policy = Value::map([of("mysite"), ("policy", Value::uint(number))]);
        assert!(ask(chain, 2, "set_subdomain_policy", &policy, 0).is_success());
    };
    let renew = |chain: &mut Chain, from: u8| {
        let renewal = Value::map([of("shop.mysite"), ("duration_blocks", Value::uint(2_592_000))]);
        ask(chain, from, "renew", &renewal, CBY).abort
    };
    set_policy(&mut chain, 2);
    assert_eq!(register(&mut chain, 4, "shop.mysite", shop, YEAR / 2, 10 * CBY), None);
    assert_eq!((renew(&mut chain, 4), renew(&mut chain, 5)), (None, None), "anybody may pay");
    set_policy(&mut chain, 0);
    assert_eq!((renew(&mut chain, 4), renew(&mut chain, 2)), (Some(error::NAME_POLICY), None), "the owner decides");
    set_policy(&mut chain, 1);
    assert_eq!((renew(&mut chain, 4), renew(&mut chain, 2)), (Some(error::NAME_POLICY), Some(error::NAME_POLICY)), "the actor does");
    assert_eq!(resolve(&mut chain, "shop.mysite"), Some(shop), "what was paid for stays");
}

/// A name below another one costs as much as a long one, however short the name above is.
#[test]
fn a_quote_below_a_name_is_what_it_costs() {
    let mut chain = Chain::new();
    for (name, fee) in [("abc", 1_000), ("shop.abc", 10), ("abc.mysite", 10)] {
        let quoted = read(&mut chain, "quote", [of(name), ("duration_blocks", Value::uint(YEAR))]);
        assert_eq!(quoted.get("fee").and_then(Value::as_u64), Some(fee * CBY), "{name}");
    }
}

/// Nobody takes a name below one that its owner may still renew, though the policy further up would allow it.
#[test]
fn nothing_is_taken_below_a_name_in_grace() {
    let rows = [("names.grace", 1_000), ("names.renewal_min", 1)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let (root, shop, thief) = (site(&mut chain, 2), site(&mut chain, 4), site(&mut chain, 5));
    assert_eq!(register(&mut chain, 2, "mysite", root, YEAR, 10 * CBY), None);
    let open = Value::map([of("mysite"), ("policy", Value::uint(2))]);
    assert!(ask(&mut chain, 2, "set_subdomain_policy", &open, 0).is_success());
    assert_eq!(register(&mut chain, 4, "shop.mysite", shop, 500, CBY), None);
    chain.height = Height(chain.height.0 + 600);
    let pay = |chain: &mut Chain| register(chain, 5, "pay.shop.mysite", thief, 500, CBY);
    assert_eq!(pay(&mut chain), Some(error::NAME_POLICY));
    chain.height = Height(chain.height.0 + 1_000);
    assert_eq!(pay(&mut chain), None, "it cannot be renewed any more");
}
