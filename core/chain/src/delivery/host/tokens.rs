//! Tokens as actors use them (003 §17.3): each function is the method of 0x06 of the same name, with the method's fields as its parameters.

use super::Arguments;
use crate::delivery::frames::{Price, Reply, SystemCall};
use crate::delivery::{Machine, Step};
use crate::vm_driver::{HostFn, HostValue};
use cowboy_system::basefee;
use cowboy_system::schema::{Field, Form, Shape};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::Amount;
use cowboy_types::{Abort, Address, error};

impl Machine {
    /// A function of tokens.
    pub(super) fn token(&mut self, function: HostFn, arguments: Arguments<'_>) -> Step<Reply> {
        let method = basefee::ACTOR.method(function.row().name).expect("every function of tokens is a method");
        let Shape::Map(fields) = method.arguments else { return Err(error::INTERNAL.into()) };
        let argument = super::read!(argument_of(fields, arguments));
        let target = Address::system(basefee::NUMBER);
        let (sender, checkpoint) = (self.actor_address(), self.world.checkpoint());
        let payload = argument.encode();
        let answer = self.call_system(SystemCall { sender, target, method: method.name, payload: &payload, value: Amount::ZERO })?;
        let price = Price::default().with_work(answer.work);
        match answer.result {
            // The hook's frame undoes the transfer where it fails.
            Ok(_) if answer.forward.is_some() => {
                let forward = answer.forward.expect("it was just seen");
                self.enter_forwarded(target, &forward, u64::MAX, price, checkpoint)
            }
            Ok(data) => Ok(Reply::Value(host_value(method.result, &data), price)),
            Err(abort) => {
                self.world.rollback(&checkpoint);
                Reply::refuse(abort, price)
            }
        }
    }
}

/// A method's argument, from the arguments of a host function by place. What is left out is absent.
fn argument_of(fields: &[Field], arguments: Arguments<'_>) -> Result<Value, Abort> {
    let mut pairs = Vec::with_capacity(fields.len());
    for (place, field) in fields.iter().enumerate() {
        if !arguments.is_absent(place) {
            pairs.push((field.name, value_of(&field.shape, arguments, place)?));
        }
    }
    Ok(Value::dict(pairs))
}

fn value_of(shape: &Shape, arguments: Arguments<'_>, place: usize) -> Result<Value, Abort> {
    match shape {
        Shape::Optional(inner) => value_of(inner, arguments, place),
        Shape::Number => arguments.number(place).map(Value::uint),
        Shape::Units => Ok(arguments.at(place).as_u128().ok_or(error::INVALID_ARGUMENT)?.write()),
        Shape::Text(_) => arguments.text(place).map(Value::text),
        _ => arguments.bytes(place).map(|bytes| Value::Bytes(bytes.to_vec())),
    }
}

/// A result as Python sees it.
fn host_value(shape: &Shape, data: &[u8]) -> HostValue {
    let Ok(value) = cbor::decode(data) else { return HostValue::None };
    match (shape, &value) {
        (Shape::Units, _) => u128::read(&value).map_or(HostValue::None, HostValue::int),
        (_, Value::Bytes(bytes)) => HostValue::Bytes(bytes.clone()),
        _ => HostValue::None,
    }
}
