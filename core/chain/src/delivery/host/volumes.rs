//! Volumes as actors use them (decision 607): each function is the method of 0x0A of the same name, called with its fields as parameters.

use super::{Arguments, forms};
use crate::delivery::frames::Reply;
use crate::delivery::{Machine, Step};
use crate::engine::{HostFn, HostValue};
use cowboy_system::storage;
use cowboy_types::Address;
use cowboy_types::cbor;
use cowboy_types::units::Amount;
use cowboy_vm::HostRow;

/// The parameter for the CBY that go along with a call.
const VALUE: &str = "value";

/// The place of a parameter of a function, where it has one of this name.
fn place(row: &HostRow, name: &str) -> Option<usize> {
    row.signature.split(", ").position(|parameter| parameter.trim_end_matches('=') == name)
}

impl Machine {
    /// A function of volumes. Costs what a call of the method costs.
    pub(super) fn volume(&mut self, function: HostFn, arguments: Arguments<'_>) -> Step<Reply> {
        let row = function.row();
        let method = storage::ACTOR.method(row.name).expect("every function of volumes is a method");
        let parameter = |field: usize| {
            let name = method.arguments.get(field).map_or("", |field| field.name);
            place(row, name).map_or(&HostValue::None, |place| arguments.at(place))
        };
        let argument = super::read!(forms::map(method.arguments, parameter));
        let value = match place(row, VALUE) {
            Some(place) => Amount(super::read!(arguments.number(place))),
            None => Amount::ZERO,
        };
        let target = Address::system(storage::NUMBER);
        Ok(match self.call(target, method.name, &argument.encode(), 0, value)? {
            Reply::Value(HostValue::Bytes(data), price) => {
                let result = cbor::decode(&data).expect("a system actor returns canonical CBOR");
                Reply::Value(forms::result(method.result, &result), price)
            }
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A function of volumes is a method with the same parameters, and CBY where the method takes them.
    #[test]
    fn functions_are_methods() {
        for function in [HostFn::CreateVolume, HostFn::DeleteVolume, HostFn::BlobRef] {
            let row = function.row();
            let method = storage::ACTOR.method(row.name).expect("a function of volumes is a method");
            let mut fields: BTreeSet<&str> = method.arguments.iter().map(|field| field.name).collect();
            if method.is_payable {
                fields.insert(VALUE);
            }
            let parameters: BTreeSet<&str> = row.signature.split(", ").map(|parameter| parameter.trim_end_matches('=')).collect();
            assert_eq!(parameters, fields, "{}", row.name);
        }
    }
}
