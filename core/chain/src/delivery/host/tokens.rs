//! Tokens as actors use them (003 §17.3): each function is the method of 0x06 of the same name, with the method's fields as its parameters.

use super::{Arguments, forms};
use crate::delivery::frames::{Price, Reply, SystemCall};
use crate::delivery::{Machine, Step};
use crate::engine::HostFn;
use cowboy_system::basefee;
use cowboy_system::registry::Argument;
use cowboy_types::Address;
use cowboy_types::cbor;
use cowboy_types::units::Amount;

impl Machine {
    /// A function of tokens.
    pub(super) fn token(&mut self, function: HostFn, arguments: Arguments<'_>) -> Step<Reply> {
        let method = basefee::ACTOR.method(function.row().name).expect("every function of tokens is a method");
        let argument = super::read!(forms::map(method.arguments, |place| arguments.at(place)));
        let target = Address::system(basefee::NUMBER);
        let (sender, checkpoint) = (self.actor_address(), self.world.checkpoint());
        let payload = argument.encode();
        let argument = Argument::Encoded(&payload);
        let answer = self.call_system(SystemCall { sender, target, method: method.name, argument, value: Amount::ZERO })?;
        let price = Price::default().with_work(answer.work);
        match answer.result {
            // The hook's frame undoes the transfer where it fails.
            Ok(_) if answer.forward.is_some() => {
                let forward = answer.forward.expect("it was just seen");
                self.enter_forwarded(target, &forward, u64::MAX, price, checkpoint)
            }
            Ok(data) => {
                let result = cbor::decode(&data).expect("a system actor returns canonical CBOR");
                Ok(Reply::Value(forms::result(method.result, &result), price))
            }
            Err(abort) => {
                self.world.rollback(&checkpoint);
                Reply::refuse(abort, price)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_system::schema::Shape;
    use cowboy_vm::HOST_FUNCTIONS;

    /// A function of tokens is a method with the same parameters, all of which have a form in Python.
    #[test]
    fn functions_are_methods() {
        let rows: Vec<_> = HOST_FUNCTIONS.iter().filter(|row| row.name.starts_with("token_")).collect();
        assert!(!rows.is_empty());
        for row in rows {
            let method = basefee::ACTOR.method(row.name).expect("a function of tokens is a method");
            let parameters = row.signature.split(", ").count();
            assert_eq!(parameters, method.arguments.len(), "{}", row.name);
            assert!(method.arguments.iter().all(|field| !matches!(field.shape, Shape::Any | Shape::Optional(Shape::Any))), "{}", row.name);
        }
    }
}
