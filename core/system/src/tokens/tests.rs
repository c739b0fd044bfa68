//! Tokens of the protocol (003 §17.3; ).

use cowboy_system::tokens::state::{self, Units};
use cowboy_testkit::chain::{Chain, address, execution};
use cowboy_testkit::market::{ask, hex};
use cowboy_types::cbor;
use cowboy_types::{Address, Hash, Receipt};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    tokens_move_as_their_owners_say,
    functions_have_their_prices,
    an_allowance_has_a_deposit,
    hooks_may_undo_transfers,
    minting_may_be_permitted,
];

/// What an owner puts down for an allowance.
const DEPOSIT: u64 = 1_000_000_000;

/// Where tokens are kept.
const TOKENS: Address = Address::system(0x06);

fn slug(receipt: &Receipt) -> &'static str {
    receipt.abort.as_ref().map_or("", |abort| cowboy_types::error::row(abort.code).slug)
}

fn id_of(receipt: &Receipt) -> Hash {
    assert_eq!(receipt.abort, None, "the token is made");
    Hash(cbor::decode(&receipt.return_data).expect("canonical").as_bytes().expect("bytes").try_into().expect("an id"))
}

fn balance(chain: &Chain, id: &Hash, account: Address) -> u128 {
    chain.record::<Units>(&state::balance_key(id, account)).map_or(0, |units| units.amount)
}

fn gold() -> serde_json::Value {
    serde_json::json!({ "name": "Gold", "symbol": "GLD", "decimals": 2, "initial_supply": 1_000, "max_supply": 5_000 })
}

/// made, moved, allowed, minted, burned, each by whom it may be, one row each.
#[test]
fn tokens_move_as_their_owners_say() {
    let mut chain = Chain::new();
    let rows = [
        ("no name", serde_json::json!({ "symbol": "X" }), "invalid_argument"),
        (
            "more than there may be",
            serde_json::json!({ "name": "X", "symbol": "X", "initial_supply": 2, "max_supply": 1 }),
            "invalid_argument",
        ),
        ("39 places", serde_json::json!({ "name": "X", "symbol": "X", "decimals": 39 }), "invalid_argument"),
    ];
    for (case, argument, expected) in rows {
        assert_eq!(slug(&chain.send(1, ask(TOKENS, "token_create", &argument, 0))), expected, "{case}");
    }
    let id = id_of(&chain.send(1, ask(TOKENS, "token_create", &gold(), 0)));
    assert_eq!(id, state::token_id(address(1), 0), "anybody can know the id before");
    let account = |number: u8| hex(&address(number).0);
    let rows = [
        (1, "token_transfer", serde_json::json!({ "to": account(2), "amount": 300 }), "", [700, 300, 0]),
        (2, "token_transfer", serde_json::json!({ "to": account(3), "amount": 301 }), "token_balance", [700, 300, 0]),
        (2, "token_transfer", serde_json::json!({ "to": account(2), "amount": 300 }), "", [700, 300, 0]),
        (
            3,
            "token_transfer_from",
            serde_json::json!({ "owner": account(2), "to": account(3), "amount": 1 }),
            "token_allowance",
            [700, 300, 0],
        ),
        (2, "token_approve", serde_json::json!({ "spender": account(3), "amount": 100 }), "", [700, 300, 0]),
        (3, "token_transfer_from", serde_json::json!({ "owner": account(2), "to": account(3), "amount": 60 }), "", [700, 240, 60]),
        (
            3,
            "token_transfer_from",
            serde_json::json!({ "owner": account(2), "to": account(3), "amount": 41 }),
            "token_allowance",
            [700, 240, 60],
        ),
        (2, "token_mint", serde_json::json!({ "to": account(2), "amount": 1 }), "missing_entitlement", [700, 240, 60]),
        (1, "token_mint", serde_json::json!({ "to": account(3), "amount": 4_000 }), "", [700, 240, 4_060]),
        (1, "token_mint", serde_json::json!({ "to": account(3), "amount": 1 }), "token_supply", [700, 240, 4_060]),
        (3, "token_burn", serde_json::json!({ "amount": 4_061 }), "token_balance", [700, 240, 4_060]),
        (3, "token_burn", serde_json::json!({ "amount": 4_060 }), "", [700, 240, 0]),
        (2, "token_transfer_ownership", serde_json::json!({ "owner": account(2) }), "not_owner", [700, 240, 0]),
        (1, "token_transfer_ownership", serde_json::json!({ "owner": account(2) }), "", [700, 240, 0]),
        (2, "token_mint", serde_json::json!({ "to": account(2), "amount": 5 }), "", [700, 245, 0]),
        (1, "token_transfer", serde_json::json!({ "to": account(2), "amount": -1 }), "invalid_argument", [700, 245, 0]),
        // Decision 694: nothing, in the name of somebody who did not allow it; and in one's own.
        (
            3,
            "token_transfer_from",
            serde_json::json!({ "owner": account(1), "to": account(3), "amount": 0 }),
            "token_allowance",
            [700, 245, 0],
        ),
        (3, "token_transfer_from", serde_json::json!({ "owner": account(2), "to": account(3), "amount": 0 }), "", [700, 245, 0]),
        (3, "token_transfer_from", serde_json::json!({ "owner": account(3), "to": account(1), "amount": 0 }), "", [700, 245, 0]),
    ];
    for (place, (number, method, mut argument, expected, balances)) in rows.into_iter().enumerate() {
        argument["token_id"] = hex(&id.0).into();
        let receipt = chain.send(number, ask(TOKENS, method, &argument, 0));
        assert_eq!(slug(&receipt), expected, "{place}: {method}");
        assert_eq!([1, 2, 3].map(|number| balance(&chain, &id, address(number))), balances, "{place}: {method}");
    }
    let nobody = serde_json::json!({ "token_id": hex(&[9; 32]), "to": account(2), "amount": 0 });
    assert_eq!(slug(&chain.send(1, ask(TOKENS, "token_transfer", &nobody, 0))), "token_not_found");
    let second = id_of(&chain.send(1, ask(TOKENS, "token_create", &gold(), 0)));
    assert_ne!(second, id, "the same again is another token");
}

/// each function has the price of 003 §17.3, in cycles and cells, and does what its method does.
#[test]
fn functions_have_their_prices() {
    let costs = cowboy_params::Params::GENESIS.costs;
    let script = "handler nothing\nhandler make\n token_create 'Gold' 'GLD' 2 1000 5000 none none\n return $last\n\
        handler transfer\n token_transfer $payload @2 5\nhandler approve\n token_approve $payload @3 7\n\
        handler mint\n token_mint $payload @2 5\nhandler burn\n token_burn $payload 5\n\
        handler balance\n token_balance_of $payload @2\nhandler allowance\n token_allowance $payload @2 @3\nhandler supply\n token_total_supply $payload\n\
        handler pull\n token_transfer_from $payload @1 @2 5\n";
    let mut chain = Chain::new();
    let actor = chain.deploy_with(script, &[("econ.hold_balance", &[])], DEPOSIT);
    let made = chain.call(actor, "make", b"");
    assert_eq!(made.abort, None);
    let id = Hash(made.return_data[..].try_into().expect("an id"));
    let to_one = serde_json::json!({ "token_id": hex(&id.0), "to": hex(&address(1).0), "amount": 0 });
    assert_eq!(slug(&chain.send(1, ask(TOKENS, "token_transfer", &to_one, 0))), "", "nobody needs tokens to move none");
    let base = chain.call(actor, "nothing", &id.0);
    let rows = [
        ("transfer", costs.token_transfer, costs.token_transfer_cells),
        ("approve", costs.token_approve, costs.token_approve_cells),
        ("mint", costs.token_mint, costs.token_transfer_cells),
        ("burn", costs.token_burn, costs.token_transfer_cells),
        ("balance", costs.token_balance_of, 0),
        ("allowance", costs.token_balance_of, 0),
        ("supply", costs.token_balance_of, 0),
    ];
    for (handler, cycles, cells) in rows {
        let receipt = chain.call(actor, handler, &id.0);
        assert_eq!(receipt.abort, None, "{handler}");
        // A line of the script costs ten cycles.
        let extra = u64::try_from(handler.len()).expect("short");
        let shorter = u64::try_from("nothing".len()).expect("short");
        assert_eq!(receipt.cycles_used.0 - base.cycles_used.0, cycles + 10, "{handler}");
        assert_eq!(receipt.cells_used.0 + shorter - base.cells_used.0 - extra, cells, "{handler}");
    }
    assert_eq!(balance(&chain, &id, address(2)), 10);
    assert_eq!(balance(&chain, &id, actor), 990);
    assert_eq!(slug(&chain.call(actor, "pull", &id.0)), "token_allowance", "who asks is the actor");
    let first = chain.call(actor, "nothing", b"");
    let again = chain.call(actor, "make", b"");
    assert_eq!(again.cycles_used.0 - first.cycles_used.0, costs.token_create + 10);
}

/// Decision 752: every byte that is kept of a token costs a cell, also those of the address where more is said of it.
#[test]
fn a_token_pays_for_each_of_its_texts() {
    let cells = |name: usize, uri: usize| {
        let (name, uri) = ("n".repeat(name), "u".repeat(uri));
        let mut chain = Chain::new();
        let actor = chain.deploy(&format!("handler make\n token_create '{name}' 'GLD' 2 1000 5000 none '{uri}'\n"));
        let receipt = chain.call(actor, "make", b"");
        assert_eq!(receipt.abort, None);
        receipt.cells_used.0
    };
    assert_eq!((cells(41, 200) - cells(1, 200), cells(1, 200) - cells(1, 50)), (40, 150));
}

/// Decision 368: an allowance takes room until it is used up or taken back, and its owner has a deposit in it for so long: the one that it was made
/// with, whatever governance asks for later.
#[test]
fn an_allowance_has_a_deposit() {
    let mut chain = Chain::new();
    let id = id_of(&chain.send(1, ask(TOKENS, "token_create", &gold(), 0)));
    let named = |more: serde_json::Value| {
        let mut argument = serde_json::json!({ "token_id": hex(&id.0) });
        argument.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        argument
    };
    let approve = |chain: &mut Chain, spender: u8, amount: u64| {
        let before = chain.balance(address(1));
        let argument = named(serde_json::json!({ "spender": hex(&address(spender).0), "amount": amount }));
        let receipt = chain.send(1, ask(TOKENS, "token_approve", &argument, 0));
        assert_eq!(receipt.abort, None);
        i128::from(before) - i128::from(chain.balance(address(1))) - i128::from(receipt.fee.burned.0 + receipt.fee.tip.0)
    };
    let deposit = i128::from(cowboy_params::Params::GENESIS.rent.record_deposit);
    let rows = [(3, 0, 0), (3, 50, deposit), (3, 70, 0), (4, 5, deposit), (4, 0, -deposit)];
    for (spender, amount, expected) in rows {
        assert_eq!(approve(&mut chain, spender, amount), expected, "{amount} for {spender}");
    }
    chain.move_parameter("rent.record_deposit", 5);
    assert_eq!((approve(&mut chain, 3, 80), approve(&mut chain, 5, 1)), (0, 5));
    let spend = |amount: u64| named(serde_json::json!({ "owner": hex(&address(1).0), "to": hex(&address(6).0), "amount": amount }));
    for (amount, back) in [(30, 0), (50, deposit)] {
        let before = chain.balance(address(1));
        assert_eq!(slug(&chain.send(3, ask(TOKENS, "token_transfer_from", &spend(amount), 0))), "");
        assert_eq!(i128::from(chain.balance(address(1))) - i128::from(before), back, "{amount} of 80");
    }
    assert_eq!(chain.balance(TOKENS), 5, "the other one's");
    let poor = chain.deploy_with("handler approve\n try token_approve $payload @3 7\n return $last\n", &[], 0);
    assert_eq!(&chain.call(poor, "approve", &id.0).return_data[..], b"record_deposit");
}

/// a hook is asked about every transfer, with 50,000 cycles at most; what it fails on did not happen.
#[test]
fn hooks_may_undo_transfers() {
    let rows = [
        ("one that agrees", "handler on_token_transfer\n burn 40000\n", "", [1, 999]),
        ("one that uses more", "handler on_token_transfer\n burn 60000\n", "out_of_cycles", [0, 1_000]),
        ("one that fails", "handler on_token_transfer\n raise\n", "handler_raised", [0, 1_000]),
        ("one that does not know it", "handler other\n", "unknown_handler", [0, 1_000]),
    ];
    for (case, script, expected, balances) in rows {
        let mut chain = Chain::new();
        let hook = chain.deploy_with(script, &[], 0);
        let mut token = gold();
        token["hook"] = hex(&hook.0).into();
        let id = id_of(&chain.send(1, ask(TOKENS, "token_create", &token, 0)));
        let transfer = serde_json::json!({ "token_id": hex(&id.0), "to": hex(&address(2).0), "amount": 1 });
        assert_eq!(slug(&chain.send(1, ask(TOKENS, "token_transfer", &transfer, 0))), expected, "{case}");
        assert_eq!([2, 1].map(|number| balance(&chain, &id, address(number))), balances, "{case}");
        // The same from inside an actor, which may catch it.
        let holder = chain.deploy_with("handler give\n try token_transfer $payload @3 1\n", &[], 0);
        let fund = serde_json::json!({ "token_id": hex(&id.0), "hook": null });
        assert_eq!(slug(&chain.send(1, ask(TOKENS, "token_set_hook", &fund, 0))), "");
        let fund = serde_json::json!({ "token_id": hex(&id.0), "to": hex(&holder.0), "amount": 10 });
        assert_eq!(slug(&chain.send(1, ask(TOKENS, "token_transfer", &fund, 0))), "");
        let back = serde_json::json!({ "token_id": hex(&id.0), "hook": hex(&hook.0) });
        assert_eq!(slug(&chain.send(1, ask(TOKENS, "token_set_hook", &back, 0))), "");
        assert_eq!(chain.send(1, execution(holder, "give", &id.0, 0)).abort, None, "{case}: the actor continues");
        assert_eq!(balance(&chain, &id, address(3)), balances[0], "{case}, from an actor");
    }
}

/// 002 §7.6: a permission for a token is a way to mint beside its owner, who grants it.
#[test]
fn minting_may_be_permitted() {
    use commonware_codec::Encode as _;
    use cowboy_types::permission::{Action, Constraints, Scope};
    let mut chain = Chain::new();
    let id = id_of(&chain.send(1, ask(TOKENS, "token_create", &gold(), 0)));
    let encoded = |bytes: bytes::Bytes| cowboy_types::Blob::new(bytes.to_vec()).expect("short");
    let grant = |constraints: &Constraints| {
        cowboy_types::Instruction::System(cowboy_types::System::EntitlementGrant {
            grantee: address(2),
            scope: encoded(Scope::Token { token: id }.encode()),
            action: encoded(Action::TokenMint.encode()),
            constraints: cowboy_types::Blob::new(constraints.encode().to_vec()).expect("short"),
        })
    };
    let constraints = Constraints { max_total_amount: Some(cowboy_types::Amount(10)), ..Constraints::default() };
    assert_eq!(slug(&chain.send(3, grant(&constraints))), "grant_unauthorized", "a token is its owner's");
    assert_eq!(slug(&chain.send(1, grant(&constraints))), "");
    let mint = serde_json::json!({ "token_id": hex(&id.0), "to": hex(&address(2).0), "amount": 6 });
    assert_eq!(slug(&chain.send(2, ask(TOKENS, "token_mint", &mint, 0))), "");
    assert_eq!(slug(&chain.send(2, ask(TOKENS, "token_mint", &mint, 0))), "permission_unusable", "ten in all");
    assert_eq!(balance(&chain, &id, address(2)), 6);
}

/// A maximum of 2^64 − 1 is one, although tokens have 128 bits; and who has none mints what 64 bits do not hold more than once.
#[test]
fn the_largest_maximum_is_a_maximum() {
    use commonware_codec::Encode as _;
    use cowboy_types::permission::{Action, Constraints, Scope};
    let largest = Some(cowboy_types::Amount(u64::MAX));
    let rows = [
        (Constraints { max_total_amount: largest, ..Constraints::default() }, "permission_unusable", 0),
        (Constraints { max_amount_per_use: largest, ..Constraints::default() }, "permission_unusable", 0),
        (Constraints::default(), "", 2 << 64),
    ];
    for (constraints, expected, minted) in rows {
        let mut chain = Chain::new();
        let mut token = gold();
        token["max_supply"] = hex(&u128::MAX.to_be_bytes()).into();
        let id = id_of(&chain.send(1, ask(TOKENS, "token_create", &token, 0)));
        let encoded = |bytes: bytes::Bytes| cowboy_types::Blob::new(bytes.to_vec()).expect("short");
        let grant = cowboy_types::Instruction::System(cowboy_types::System::EntitlementGrant {
            grantee: address(2),
            scope: encoded(Scope::Token { token: id }.encode()),
            action: encoded(Action::TokenMint.encode()),
            constraints: cowboy_types::Blob::new(constraints.encode().to_vec()).expect("short"),
        });
        assert_eq!(slug(&chain.send(1, grant)), "");
        let mint = serde_json::json!({ "token_id": hex(&id.0), "to": hex(&address(2).0), "amount": hex(&(1u128 << 64).to_be_bytes()) });
        for _ in 0..2 {
            assert_eq!(slug(&chain.send(2, ask(TOKENS, "token_mint", &mint, 0))), expected, "{constraints:?}");
        }
        assert_eq!(balance(&chain, &id, address(2)), minted);
    }
}
