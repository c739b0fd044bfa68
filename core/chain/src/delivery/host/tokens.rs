//! Tokens as actors use them (003 §17.3): each function is the method of 0x06 of the same name, at its own price.

use super::{Arguments, length, read};
use crate::delivery::frames::{Price, Reply, SystemCall};
use crate::delivery::{Machine, Step};
use crate::vm_driver::{HostFn, HostValue};
use cowboy_system::basefee;
use cowboy_system::tokens::handlers::number;
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::Amount;
use cowboy_types::{Abort, Address, error};

/// The arguments of the functions that take nothing but ids, addresses and a number.
const SHAPES: [(HostFn, &str, &[&str]); 8] = [
    (HostFn::TokenTransfer, "token_transfer", &["token_id", "to", "amount"]),
    (HostFn::TokenApprove, "token_approve", &["token_id", "spender", "amount"]),
    (HostFn::TokenTransferFrom, "token_transfer_from", &["token_id", "owner", "to", "amount"]),
    (HostFn::TokenMint, "token_mint", &["token_id", "to", "amount"]),
    (HostFn::TokenBurn, "token_burn", &["token_id", "amount"]),
    (HostFn::TokenBalanceOf, "token_balance_of", &["token_id", "account"]),
    (HostFn::TokenAllowance, "token_allowance", &["token_id", "owner", "spender"]),
    (HostFn::TokenTotalSupply, "token_total_supply", &["token_id"]),
];

impl Machine {
    /// A function of tokens other than their creation.
    pub(super) fn token(&mut self, function: HostFn, arguments: Arguments<'_>) -> Step<Reply> {
        let shape = SHAPES.iter().find(|(known, _, _)| *known == function);
        let (_, method, names) = shape.expect("every function of tokens has a row");
        let argument = read!(argument_of(names, arguments));
        let costs = &self.environment.params.costs;
        let cells = match function {
            HostFn::TokenTransfer | HostFn::TokenMint | HostFn::TokenBurn => costs.token_transfer_cells,
            HostFn::TokenTransferFrom => costs.token_transfer_from_cells,
            HostFn::TokenApprove => costs.token_approve_cells,
            _ => 0,
        };
        self.ask_tokens(method, &argument, cells)
    }

    /// (name, symbol, decimals, initial supply, max supply, hook, metadata): makes a token; answers its id.
    pub(super) fn token_create(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (name, symbol) = (read!(arguments.text(0)), read!(arguments.text(1)));
        let mut pairs = vec![("name", Value::text(name)), ("symbol", Value::text(symbol))];
        if !arguments.is_absent(2) {
            pairs.push(("decimals", Value::uint(read!(arguments.number(2)))));
        }
        for (place, key) in [(3, "initial_supply"), (4, "max_supply")] {
            if !arguments.is_absent(place) {
                pairs.push((key, number(read!(amount(arguments, place)))));
            }
        }
        if !arguments.is_absent(5) {
            pairs.push(("hook", Value::Bytes(read!(arguments.address(5)).0.to_vec())));
        }
        pairs.push(("metadata_uri", Value::text(read!(arguments.text_or_empty(6)))));
        let cells = self.environment.params.costs.token_create_cells;
        let cells = cells.saturating_add(length(name.as_bytes())).saturating_add(length(symbol.as_bytes()));
        self.ask_tokens("token_create", &Value::dict(pairs), cells)
    }

    fn ask_tokens(&mut self, method: &str, argument: &Value, cells: u64) -> Step<Reply> {
        let target = Address::system(basefee::NUMBER);
        let (sender, checkpoint) = (self.actor_address(), self.world.checkpoint());
        let payload = argument.encode();
        let answer = self.call_system(SystemCall { sender, target, method, payload: &payload, value: Amount::ZERO })?;
        let mut price = Price::cycles(answer.work.cycles).with_cells(cells);
        price.weight = price.weight.saturating_add(answer.work.weight);
        match answer.result {
            // The hook's frame undoes the transfer where it fails.
            Ok(_) if answer.forward.is_some() => {
                let forward = answer.forward.expect("it was just seen");
                self.enter_forwarded(target, &forward, u64::MAX, price, checkpoint)
            }
            Ok(data) => Ok(Reply::Value(host_value(&data), price)),
            Err(abort) => {
                self.world.rollback(&checkpoint);
                Reply::refuse(abort, price)
            }
        }
    }
}

fn amount(arguments: Arguments<'_>, place: usize) -> Result<u128, Abort> {
    arguments.at(place).as_u128().ok_or(error::INVALID_ARGUMENT)
}

fn argument_of(names: &[&'static str], arguments: Arguments<'_>) -> Result<Value, Abort> {
    let value = |(place, name): (usize, &&'static str)| {
        let value = match *name {
            "amount" => number(amount(arguments, place)?),
            _ => Value::Bytes(arguments.bytes(place)?.to_vec()),
        };
        Ok((*name, value))
    };
    Ok(Value::dict(names.iter().enumerate().map(value).collect::<Result<Vec<_>, Abort>>()?))
}

/// An answer of 0x06 as Python sees it: a number of tokens may be larger than CBOR's integers.
fn host_value(data: &[u8]) -> HostValue {
    match cbor::decode(data) {
        Ok(Value::Integer(number)) => HostValue::Int(number.into()),
        Ok(Value::Bytes(bytes)) => match <[u8; 16]>::try_from(&bytes[..]) {
            Ok(number) => HostValue::Int(u128::from_be_bytes(number).into()),
            Err(_) => HostValue::Bytes(bytes),
        },
        _ => HostValue::None,
    }
}
