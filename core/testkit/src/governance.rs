//! A chain that its validators and its council govern, and the methods with which they do.

use crate::chain::{Chain, execution, parameters, validator, validators};
use cowboy_chain::genesis::GenesisCall;
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Blob, List, Receipt, Text};

/// Base units of a CBY.
pub const CBY: u64 = 1_000_000_000;
/// The governance actor.
pub const GOVERNANCE: Address = Address::system(cowboy_types::actors::GOVERNANCE);

/// Calls a method of governance.
pub fn ask(chain: &mut Chain, from: u8, method: &str, argument: Vec<(&str, Value)>, value: u64) -> Receipt {
    let mut pairs: Vec<(Value, Value)> = argument.into_iter().map(|(name, value)| (Value::text(name), value)).collect();
    pairs.sort_by_key(|(name, _)| (name.encode().len(), name.encode()));
    chain.send(from, execution(GOVERNANCE, method, &Value::Map(pairs).encode(), value))
}

/// No deployers; validators 1 to 4 with these stakes in units of 100,000 CBY; times as short as rows allow.
pub fn chain_of(stakes: [u64; 4]) -> Chain {
    Chain::with(|genesis| {
        genesis.deployers = List::default();
        genesis.validators = validators((1..).zip(&stakes).map(|(number, stake)| validator(number, Amount(stake * 100_000 * CBY))));
        genesis.parameters = parameters(&[
            ("governance.timelock", 3_600),
            ("governance.timelock_fast", 600),
            ("governance.voting_0", 3_600),
            ("governance.voting_3", 3_600),
            ("governance.voting_fast", 600),
        ]);
    })
}

/// A proposal to set a parameter.
pub fn set_parameter(name: &str, value: u64) -> Vec<(&'static str, Value)> {
    vec![("action", Value::text("set_parameter")), ("name", Value::text(name)), ("value", Value::uint(value))]
}

/// Proposes; answers the number.
pub fn propose(chain: &mut Chain, argument: Vec<(&str, Value)>, deposit: u64) -> u64 {
    let receipt = ask(chain, 5, "propose", argument, deposit * CBY);
    assert_eq!(receipt.abort, None, "it is proposed");
    cowboy_types::cbor::decode(&receipt.return_data).ok().and_then(|value| value.as_u64()).expect("a number")
}

/// The argument of methods about a proposal.
pub fn about(id: u64) -> Vec<(&'static str, Value)> {
    vec![("proposal", Value::uint(id))]
}

/// Votes on a proposal.
pub fn vote(chain: &mut Chain, from: u8, id: u64, choice: &str) -> Receipt {
    ask(chain, from, "vote", [about(id), vec![("choice", Value::text(choice))]].concat(), 0)
}

/// The stage of a proposal, as governance shows it.
pub fn stage(chain: &mut Chain, id: u64) -> String {
    let receipt = ask(chain, 5, "get_proposal", about(id), 0);
    let shown = cowboy_types::cbor::decode(&receipt.return_data).expect("CBOR");
    shown.get("stage").and_then(Value::as_text).expect("a text").to_string()
}

/// Lets blocks pass in which nothing happens, without making them.
pub fn later(chain: &mut Chain, blocks: u64) {
    chain.height = Height(chain.height.0 + blocks);
}

/// The value of a parameter, as governance shows it.
pub fn param(chain: &mut Chain, name: &str) -> u64 {
    let receipt = ask(chain, 5, "get_param", vec![("name", Value::text(name))], 0);
    cowboy_types::cbor::decode(&receipt.return_data).ok().and_then(|value| value.as_u64()).expect("a number")
}

/// Calls of a genesis that schedule protocol versions, each for a height.
pub fn upgrades(versions: &[(u8, u64)]) -> List<GenesisCall, 1024> {
    let call = |(version, height): &(u8, u64)| {
        let argument = Value::dict([("height", Value::uint(*height)), ("version", Value::uint(u64::from(*version)))]).encode();
        GenesisCall {
            sender: GOVERNANCE,
            actor: 9,
            method: Text::new("schedule_upgrade").expect("it fits"),
            argument: Blob::new(argument).expect("it fits"),
            value: Amount::ZERO,
        }
    };
    List::new(versions.iter().map(call).collect()).expect("few")
}
