//! Values of the VM as arguments of system methods, and their results as values of the VM.

use crate::engine::{F64, HostValue};
use cowboy_system::schema::{Field, Form as _, Shape};
use cowboy_types::cbor::Value;
use cowboy_types::{Abort, error};

/// A map with these fields, from values in the order of the fields. A field whose value is `None` is absent.
///
/// # Errors
///
/// `INVALID_ARGUMENT` for a value that does not have its field's shape.
pub(super) fn map<'a>(fields: &[Field], values: impl Fn(usize) -> &'a HostValue) -> Result<Value, Abort> {
    let mut pairs = Vec::with_capacity(fields.len());
    for (place, field) in fields.iter().enumerate() {
        let value = values(place);
        if *value != HostValue::None {
            pairs.push((field.name, argument(field.shape, value)?));
        }
    }
    Ok(Value::dict(pairs))
}

/// A value as an argument. Recursive: as deep as the shape, whose depth the tables of methods fix.
fn argument(shape: Shape, value: &HostValue) -> Result<Value, Abort> {
    let read = match (shape, value) {
        (Shape::Null | Shape::Optional(_), HostValue::None) => Some(Value::Null),
        (Shape::Optional(inner), value) => return argument(*inner, value),
        (Shape::Bool, HostValue::Bool(truth)) => Some(Value::Bool(*truth)),
        (Shape::Number, value) => value.as_u64().map(Value::uint),
        (Shape::Units, value) => value.as_u128().map(|units| units.write()),
        (Shape::Text(_) | Shape::Word(_), HostValue::Str(text)) => Some(Value::text(text.clone())),
        (Shape::Bytes(_) | Shape::Fixed(_) | Shape::Address | Shape::Hash, value) => {
            super::bytes(value).map(|bytes| Value::Bytes(bytes.to_vec()))
        }
        (Shape::List(inner, _), HostValue::List(items)) => {
            return Ok(Value::Array(items.iter().map(|item| argument(*inner, item)).collect::<Result<_, _>>()?));
        }
        (Shape::Map(fields), HostValue::Map(pairs)) => {
            let named = |name: &str| pairs.iter().find(|(key, _)| key.as_str() == Some(name)).map_or(&HostValue::None, |(_, value)| value);
            return map(fields, |place| fields.get(place).map_or(&HostValue::None, |field| named(field.name)));
        }
        // No host function takes just any value: the tests go through their arguments.
        (Shape::Null | Shape::Bool | Shape::Text(_) | Shape::Word(_) | Shape::List(..) | Shape::Map(_) | Shape::Any, _) => None,
    };
    read.ok_or(error::INVALID_ARGUMENT)
}

/// A result of this shape as Python sees it: an integer of 128 bits is one, whichever form it has on the wire. Recursive: as deep as the shape.
pub(super) fn result(shape: Shape, value: &Value) -> HostValue {
    match (shape, value) {
        (Shape::Units, value) => u128::read(value).map_or_else(|_| any(value), HostValue::int),
        (Shape::Optional(inner), value) if *value != Value::Null => result(*inner, value),
        (Shape::List(inner, _), Value::Array(items)) => HostValue::List(items.iter().map(|item| result(*inner, item)).collect()),
        (Shape::Map(fields), value) => {
            let field = |field: &Field| {
                let value = value.get(field.name).map_or(HostValue::None, |value| result(field.shape, value));
                (HostValue::Str(field.name.to_string()), value)
            };
            HostValue::Map(fields.iter().map(field).collect())
        }
        (_, value) => any(value),
    }
}

/// A value as Python sees it. Recursive: as deep as CBOR may be nested.
pub(super) fn any(value: &Value) -> HostValue {
    match value {
        Value::Null => HostValue::None,
        Value::Bool(truth) => HostValue::Bool(*truth),
        Value::Integer(number) => HostValue::int(*number),
        Value::Bignum { negative, magnitude } => HostValue::bignum(*negative, magnitude),
        Value::Float(bits) => HostValue::Float(F64(*bits)),
        Value::Bytes(bytes) => HostValue::Bytes(bytes.clone()),
        Value::Text(text) => HostValue::Str(text.clone()),
        Value::Array(items) => HostValue::List(items.iter().map(any).collect()),
        Value::Map(pairs) => HostValue::Map(pairs.iter().map(|(key, value)| (any(key), any(value))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INNER: &[Field] = &[Field { name: "n", doc: "", shape: Shape::Units, default: None }];

    /// Every shape, with a value of the VM and the one on the wire.
    fn rows() -> Vec<(Shape, HostValue, Value)> {
        let text = |text: &str| HostValue::Str(text.to_string());
        let bytes = |length: usize| (HostValue::Bytes(vec![7; length]), Value::Bytes(vec![7; length]));
        let large = u128::MAX;
        let mut rows = vec![
            (Shape::Null, HostValue::None, Value::Null),
            (Shape::Bool, HostValue::Bool(true), Value::Bool(true)),
            (Shape::Number, HostValue::int(7u64), Value::uint(7)),
            (Shape::Units, HostValue::int(7u64), Value::uint(7)),
            (Shape::Units, HostValue::int(large), Value::Bytes(large.to_be_bytes().to_vec())),
            (Shape::Text(3), text("abc"), Value::text("abc")),
            (Shape::Word(&["on", "off"]), text("on"), Value::text("on")),
            (Shape::Optional(&Shape::Number), HostValue::None, Value::Null),
            (Shape::Optional(&Shape::Number), HostValue::int(7u64), Value::uint(7)),
            (Shape::List(&Shape::Bool, 2), HostValue::List(vec![HostValue::Bool(false)]), Value::Array(vec![Value::Bool(false)])),
            (Shape::Map(INNER), HostValue::Map(vec![(text("n"), HostValue::int(7u64))]), Value::map([("n", Value::uint(7))])),
        ];
        for (shape, length) in [(Shape::Bytes(9), 3), (Shape::Fixed(4), 4), (Shape::Address, 20), (Shape::Hash, 32)] {
            let (host, wire) = bytes(length);
            rows.push((shape, host, wire));
        }
        rows
    }

    #[test]
    fn values_of_every_shape_go_both_ways() {
        for (shape, host, wire) in rows() {
            assert_eq!(argument(shape, &host), Ok(wire.clone()), "{shape}");
            assert_eq!(result(shape, &wire), host, "{shape}");
        }
    }

    #[test]
    fn values_of_another_shape_are_refused() {
        let float = HostValue::Float(F64(0));
        for (shape, ..) in rows() {
            assert_eq!(argument(shape, &float), Err(error::INVALID_ARGUMENT), "{shape}");
        }
    }

    #[test]
    fn any_value_is_one_of_python() {
        let bignum = |negative, magnitude: &[u8]| any(&Value::Bignum { negative, magnitude: magnitude.to_vec() });
        assert_eq!(bignum(false, &[0xFF; 16]), HostValue::int(u128::MAX));
        assert_eq!(bignum(true, &[0xFF; 8]), HostValue::int(-(1i128 << 64)));
        assert_eq!(any(&Value::Integer(-1)), HostValue::int(-1));
        assert_eq!(any(&Value::Float(5)), HostValue::Float(F64(5)));
    }
}
