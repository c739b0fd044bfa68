//! What the tables of the system actors' methods promise, method by method.

use cowboy_system::ACTORS;
use cowboy_testkit::chain::{Chain, execution, signed};
use cowboy_testkit::governance::upgrades;
use cowboy_types::cbor::Value;
use cowboy_types::{Address, error};

/// No method keeps CBY that it did not ask for: one that is not payable refuses them, and they are back with the sender.
#[test]
fn what_is_not_payable_takes_nothing() {
    // Under version 1 some methods are unknown.
    let mut chain = Chain::with(|genesis| genesis.calls = upgrades(&[(2, 1)]));
    for actor in ACTORS {
        let target = Address::system(actor.number);
        for method in actor.methods().filter(|method| !method.is_payable) {
            let before = chain.balance(target);
            let receipt = chain.send(1, execution(target, method.name, &[], 1));
            assert_eq!(receipt.abort, Some(error::NOT_PAYABLE), "{} of {}", method.name, actor.name);
            // Other parts of a block may pay it; the CBY that came along are not among them.
            assert!(chain.balance(target) <= before || target == Address::system(0x08), "{} of {}", method.name, actor.name);
        }
    }
}

/// Decision 179: what governance alone may do is refused to everybody else.
#[test]
fn what_is_governed_is_for_governance() {
    let mut chain = Chain::new();
    for actor in ACTORS {
        for method in actor.methods().filter(|method| method.is_governed) {
            let receipt = chain.send(1, execution(Address::system(actor.number), method.name, &[], 0));
            assert_eq!(receipt.abort, Some(error::SYSTEM_UNAUTHORIZED), "{} of {}", method.name, actor.name);
        }
    }
}

/// 003 §17.3: creating or moving tokens costs the same cells by whichever way a method is reached.
#[test]
fn a_transaction_pays_for_the_cells_of_tokens() {
    let mut chain = Chain::new();
    let create = |name: &str| Value::map([("name", Value::text(name)), ("symbol", Value::text("T"))]).encode();
    let (short, long) = (create("A"), create("AAAA"));
    let costs = chain.config.params.costs.clone();
    let mut cells = |payload: &[u8]| chain.send(1, execution(Address::system(0x06), "token_create", payload, 0)).cells_used.0;
    let first = cells(&short);
    // Three bytes more of the transaction, and three of the name.
    assert_eq!(cells(&long), first + 6);
    assert!(first > costs.token_create_cells);
}

/// A trace names the argument that a method refused; the receipt keeps the code alone.
#[test]
fn a_trace_names_the_refused_argument() {
    let mut chain = Chain::new();
    let payload = Value::map([("name", Value::text("A")), ("symbol", Value::text("T")), ("decimals", Value::text("nine"))]).encode();
    let outcome = chain.block(vec![signed(1, 0, execution(Address::system(0x06), "token_create", &payload, 0))]);
    assert_eq!(outcome.receipts[0].abort, Some(error::INVALID_ARGUMENT));
    let exception = outcome.traces[0].calls[0].exception.as_ref().map(|exception| exception.message.clone());
    assert_eq!(exception.as_deref(), Some("argument `decimals`: expected an integer"));
}
