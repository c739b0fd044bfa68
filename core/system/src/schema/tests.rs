use super::{Form, Record, Refused, Shape, form};
use cowboy_types::cbor::Value;
use cowboy_types::{Address, Hash, List, Text};

form! {
    /// A pair of nested maps.
    struct Outer {
        /// A map.
        inner: Inner,
        /// A number that may be absent.
        times: u64 = 3,
        /// An address that may be null.
        to: Option<Address>,
        /// A field that has the name of an inner one.
        name: Side = Side,
    }
}

/// One of two words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Side;

impl Form for Side {
    const SHAPE: Shape = Shape::Word(&["left", "right"]);

    fn read(_: &Value) -> Result<Self, Refused> {
        Ok(Self)
    }

    fn write(&self) -> Value {
        Value::text("left")
    }
}

form! {
    /// The inner map.
    struct Inner {
        /// At most three bytes.
        name: Text<3>,
        /// At most two amounts.
        amounts: List<u128, 2>,
    }
}

fn inner(name: &str, amounts: Vec<Value>) -> Value {
    Value::map([("name", Value::text(name)), ("amounts", Value::Array(amounts))])
}

#[test]
fn a_refusal_names_the_field() {
    let address = |length: usize| Value::Bytes(vec![7; length]);
    let outer = |inner: Value, to: Value| Value::map([("inner", inner), ("to", to)]);
    let rows = [
        (outer(inner("abc", vec![]), address(20)), None),
        (outer(inner("abcd", vec![]), Value::Null), Some("inner.name")),
        (outer(inner("abc", vec![Value::Null]), Value::Null), Some("inner.amounts")),
        (outer(inner("abc", vec![Value::uint(1); 3]), Value::Null), Some("inner.amounts")),
        (outer(inner("abc", vec![Value::Integer(-1)]), Value::Null), Some("inner.amounts")),
        (outer(Value::uint(1), Value::Null), Some("inner.name")),
        (outer(inner("abc", vec![]), address(19)), Some("to")),
        (Value::map([("to", Value::Null)]), Some("inner")),
        (Value::Null, Some("inner")),
    ];
    for (value, refused) in rows {
        let path = Outer::read(&value).err().map(|refused| refused.path.join("."));
        assert_eq!(path.as_deref(), refused, "{value:?}");
    }
}

/// Decision 781: whatever the tables do not declare is found, also within other fields.
#[test]
fn what_is_not_declared_is_found() {
    let with = |inner: Value, name: &'static str, value: Value| Value::dict([("inner", inner), (name, value)]);
    let plain = || inner("abc", vec![Value::uint(1)]);
    let longer = Value::dict([("amounts", Value::Array(vec![])), ("name", Value::text("abc")), ("note", Value::uint(1))]);
    let rows = [
        (with(plain(), "times", Value::uint(4)), false),
        (with(plain(), "to", Value::Null), false),
        (with(plain(), "note", Value::Null), true),
        (with(longer, "times", Value::uint(4)), true),
        (Value::Bytes(vec![7; 9]), true),
    ];
    for (value, expected) in rows {
        assert_eq!(Outer::SHAPE.has_undeclared(&value), expected, "{value:?}");
    }
}

#[test]
fn what_is_written_is_read() {
    let large = u128::MAX;
    let inner = Inner { name: Text::new("abc").expect("it fits"), amounts: List::new(vec![0, large]).expect("it fits") };
    for to in [None, Some(Address([9; 20]))] {
        let outer = Outer { inner: inner.clone(), times: 4, to, name: Side };
        assert_eq!(Outer::read(&outer.write()), Ok(outer));
    }
    let absent = Value::map([("inner", inner.write())]);
    assert_eq!(Outer::read(&absent), Ok(Outer { inner, times: 3, to: None, name: Side }));
}

/// The field of an inner map is not taken for one of the same name outside.
#[test]
fn a_refusal_says_what_was_expected() {
    let refused = |path: &[&'static str], is_missing| Refused { path: path.to_vec(), is_missing }.text(Outer::FIELDS);
    assert_eq!(refused(&["name"], true), "argument `name`: missing, expected one of left | right");
    assert_eq!(refused(&["inner", "name"], false), "argument `inner.name`: expected text of at most 3 bytes");
    assert_eq!(refused(&["inner", "amounts"], false), "argument `inner.amounts`: expected a list of at most 2: integer of 128 bits");
    assert_eq!(refused(&["times"], false), "argument `times`: expected an integer");
    assert_eq!(refused(&["to"], false), "argument `to`: expected an address or null");
    assert_eq!(refused(&[], false), "argument: expected a map {inner, times, to, name}");
}

/// The most bytes that a value of this shape is encoded to; none where nothing bounds it.
fn longest(shape: Shape) -> Option<usize> {
    let string = |most: usize| (most > 0).then_some(head(most) + most);
    match shape {
        Shape::Null | Shape::Bool => Some(1),
        Shape::Number => Some(head(usize::MAX)),
        Shape::Units => string(17),
        Shape::Text(most) | Shape::Bytes(most) => string(most),
        Shape::Fixed(length) => string(length),
        Shape::Word(words) => words.iter().filter_map(|word| string(word.len())).max(),
        Shape::Address => string(Address::ZERO.0.len()),
        Shape::Hash => string(Hash::ZERO.0.len()),
        Shape::Any => None,
        Shape::Optional(inner) => longest(*inner),
        Shape::List(inner, most) => Some(head(most) + most * longest(*inner)?),
        Shape::Map(fields) => longest_map(fields),
    }
}

fn longest_map(fields: &[super::Field]) -> Option<usize> {
    let field = |field: &super::Field| Some(head(field.name.len()) + field.name.len() + longest(field.shape)?);
    fields.iter().try_fold(head(fields.len()), |sum, one| Some(sum + field(one)?))
}

/// The bytes before a string of `count` bytes, or before a list of `count` items (RFC 8949 §3).
fn head(count: usize) -> usize {
    match count {
        0..24 => 1,
        24..0x100 => 2,
        0x100..0x1_0000 => 3,
        0x1_0000..0x1_0000_0000 => 5,
        _ => 9,
    }
}

/// Whatever an event says, it fits: one that did not would end every node that runs the block.
#[test]
fn every_event_has_a_longest_form_that_fits() {
    let rows = crate::registry::ACTORS.iter().flat_map(|actor| actor.events.iter().copied().flatten());
    let too_long: Vec<_> = rows
        .map(|row| (row.name, longest_map(row.data)))
        .filter(|(_, longest)| longest.is_none_or(|longest| longest > cowboy_types::receipt::MAX_EVENT_BYTES))
        .collect();
    assert_eq!(too_long, []);
}
