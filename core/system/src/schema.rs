//! The typed arguments, results and events of system actors, and the tables that declare them.
//!
//! A method or an event is declared once, as a row of `methods!` or `events!` in its actor's folder. The struct that a handler receives,
//! decoding with the name of the refused field, the shape in `docs/methods.md`, and the permission check before the handler derive from it.
//!
//! On the wire an argument is a canonical CBOR map. A field that is null counts as absent, and fields that are not declared are ignored.

use cowboy_state::World;
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, ChainId, Count, Height, Price, TimestampMs};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Event, Hash, List, Text};

/// What a value looks like on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing.
    Null,
    /// A truth value.
    Bool,
    /// An integer from 0 to 2⁶⁴ − 1.
    Number,
    /// An integer from 0 to 2¹²⁸ − 1: 16 bytes, big-endian, where it does not fit 64 bits.
    Units,
    /// A text of at most this many bytes.
    Text(usize),
    /// One of a few texts.
    Word(&'static [&'static str]),
    /// A byte string of at most this many bytes; 0 where only the transaction's size bounds it.
    Bytes(usize),
    /// A byte string of exactly this many bytes.
    Fixed(usize),
    /// The 20 bytes of an address.
    Address,
    /// The 32 bytes of a hash or an id.
    Hash,
    /// Any value: the method's text says which.
    Any,
    /// The shape, or null.
    Optional(&'static Shape),
    /// A list of at most this many.
    List(&'static Shape, usize),
    /// A map with these fields.
    Map(&'static [Field]),
}

/// A field of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// What it says.
    pub doc: &'static str,
    /// What its value looks like.
    pub shape: Shape,
    /// The value where it is absent, as Rust spells it; none where it is required.
    pub default: Option<&'static str>,
}

/// A field that is missing or does not have its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The field's name; empty where the whole value has another shape.
    pub field: &'static str,
}

impl Refused {
    /// What is wrong with an argument of this shape, in a sentence.
    pub fn text(&self, arguments: &Shape) -> String {
        let Shape::Map(fields) = arguments else { return format!("The argument is not: {arguments}.") };
        match fields.iter().find(|field| field.name == self.field) {
            Some(field) => format!("The argument `{}` is missing or is not: {}.", self.field, field.shape),
            None => format!("The field `{}` of an argument is missing or has another form.", self.field),
        }
    }
}

/// A type with one form on the wire.
pub trait Form: Sized {
    /// What it looks like.
    const SHAPE: Shape;

    /// The value of these bytes, where they have the shape.
    fn read(value: &Value) -> Result<Self, Refused>;

    /// The value on the wire.
    fn write(&self) -> Value;

    /// The value of an absent field of this type; none where it must be there.
    fn absent() -> Option<Self> {
        None
    }
}

const REFUSED: Refused = Refused { field: "" };

/// A field of a map: `default` stands for an absent one.
pub fn field<T: Form>(map: &Value, name: &'static str, default: Option<fn() -> T>) -> Result<T, Refused> {
    match map.get(name).filter(|value| **value != Value::Null) {
        Some(value) => T::read(value).map_err(|inner| if inner.field.is_empty() { Refused { field: name } } else { inner }),
        None => default.map(|make| make()).or_else(T::absent).ok_or(Refused { field: name }),
    }
}

impl Form for () {
    const SHAPE: Shape = Shape::Null;

    fn read(value: &Value) -> Result<Self, Refused> {
        if *value == Value::Null { Ok(()) } else { Err(REFUSED) }
    }

    fn write(&self) -> Value {
        Value::Null
    }
}

impl Form for Value {
    const SHAPE: Shape = Shape::Any;

    fn read(value: &Value) -> Result<Self, Refused> {
        Ok(value.clone())
    }

    fn write(&self) -> Value {
        self.clone()
    }
}

impl Form for bool {
    const SHAPE: Shape = Shape::Bool;

    fn read(value: &Value) -> Result<Self, Refused> {
        if let Value::Bool(truth) = value { Ok(*truth) } else { Err(REFUSED) }
    }

    fn write(&self) -> Value {
        Value::Bool(*self)
    }
}

macro_rules! numbers {
    ($($Type:ty: $make:expr, $take:expr;)+) => { $(
        impl Form for $Type {
            const SHAPE: Shape = Shape::Number;

            fn read(value: &Value) -> Result<Self, Refused> {
                value.as_u64().and_then($make).ok_or(REFUSED)
            }

            fn write(&self) -> Value {
                Value::uint($take(self))
            }
        }
    )+ };
}

numbers! {
    u64: Some, |number: &u64| *number;
    u8: |number| u8::try_from(number).ok(), |number: &u8| u64::from(*number);
    Amount: |number| Some(Amount(number)), |amount: &Amount| amount.0;
    ChainId: |number| Some(ChainId(number)), |id: &ChainId| id.0;
    Count: |number| Some(Count(number)), |count: &Count| count.0;
    Height: |number| Some(Height(number)), |height: &Height| height.0;
    Price: |number| Some(Price(number)), |price: &Price| price.0;
    TimestampMs: |number| Some(TimestampMs(number)), |time: &TimestampMs| time.0;
}

impl Form for u128 {
    const SHAPE: Shape = Shape::Units;

    fn read(value: &Value) -> Result<Self, Refused> {
        match value {
            Value::Integer(number) => u128::try_from(*number).map_err(|_| REFUSED),
            Value::Bytes(bytes) => Ok(u128::from_be_bytes(bytes[..].try_into().map_err(|_| REFUSED)?)),
            _ => Err(REFUSED),
        }
    }

    fn write(&self) -> Value {
        u64::try_from(*self).map_or_else(|_| Value::Bytes(self.to_be_bytes().to_vec()), Value::uint)
    }
}

macro_rules! fixed_bytes {
    ($($Type:ty: $shape:expr, $make:expr;)+) => { $(
        impl Form for $Type {
            const SHAPE: Shape = $shape;

            fn read(value: &Value) -> Result<Self, Refused> {
                value.as_bytes().and_then(|bytes| bytes.try_into().ok()).map($make).ok_or(REFUSED)
            }

            fn write(&self) -> Value {
                Value::Bytes(self.0.to_vec())
            }
        }
    )+ };
}

fixed_bytes! {
    Address: Shape::Address, Address;
    Hash: Shape::Hash, Hash;
}

impl<const N: usize> Form for Fixed<N> {
    const SHAPE: Shape = Shape::Fixed(N);

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_bytes().and_then(|bytes| bytes.try_into().ok()).map(Fixed).ok_or(REFUSED)
    }

    fn write(&self) -> Value {
        Value::Bytes(self.0.to_vec())
    }
}

impl<const MAX: usize> Form for Text<MAX> {
    const SHAPE: Shape = Shape::Text(MAX);

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_text().and_then(Text::new).ok_or(REFUSED)
    }

    fn write(&self) -> Value {
        Value::text(self.to_string())
    }
}

impl<const MAX: usize> Form for Blob<MAX> {
    const SHAPE: Shape = Shape::Bytes(MAX);

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_bytes().and_then(|bytes| Blob::new(bytes.to_vec())).ok_or(REFUSED)
    }

    fn write(&self) -> Value {
        Value::Bytes(self.to_vec())
    }
}

impl Form for Vec<u8> {
    const SHAPE: Shape = Shape::Bytes(0);

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_bytes().map(<[u8]>::to_vec).ok_or(REFUSED)
    }

    fn write(&self) -> Value {
        Value::Bytes(self.clone())
    }
}

impl<T: Form> Form for Option<T> {
    const SHAPE: Shape = Shape::Optional(&T::SHAPE);

    fn read(value: &Value) -> Result<Self, Refused> {
        if *value == Value::Null { Ok(None) } else { T::read(value).map(Some) }
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, Form::write)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Form, const MAX: usize> Form for List<T, MAX> {
    const SHAPE: Shape = Shape::List(&T::SHAPE, MAX);

    fn read(value: &Value) -> Result<Self, Refused> {
        let Value::Array(items) = value else { return Err(REFUSED) };
        if items.len() > MAX {
            return Err(REFUSED);
        }
        List::new(items.iter().map(T::read).collect::<Result<Vec<T>, Refused>>()?).ok_or(REFUSED)
    }

    fn write(&self) -> Value {
        Value::Array(self.iter().map(Form::write).collect())
    }
}

/// Declares a struct that is a map on the wire. A field with a default may be absent.
macro_rules! form {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $Name:ident {
            $( $(#[doc = $doc:literal])+ $field:ident: $Type:ty $(= $default:expr)? ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $vis struct $Name { $( $(#[doc = $doc])+ pub $field: $Type, )* }

        impl $crate::schema::Form for $Name {
            const SHAPE: $crate::schema::Shape = $crate::schema::Shape::Map(&[ $( $crate::schema::Field {
                name: stringify!($field),
                doc: concat!($($doc),+),
                shape: <$Type as $crate::schema::Form>::SHAPE,
                default: $crate::schema::form!(@text $($default)?),
            }, )* ]);

            fn read(_map: &cowboy_types::cbor::Value) -> Result<Self, $crate::schema::Refused> {
                Ok(Self { $( $field: $crate::schema::field(_map, stringify!($field), $crate::schema::form!(@make $($default)?))?, )* })
            }

            fn write(&self) -> cowboy_types::cbor::Value {
                cowboy_types::cbor::Value::dict([ $( (stringify!($field), $crate::schema::Form::write(&self.$field)), )* ])
            }
        }
    };
    (@text) => { None };
    (@text $default:expr) => { Some(stringify!($default)) };
    (@make) => { None };
    (@make $default:expr) => { Some(|| $default) };
}

/// Declares the methods of a system actor: for each its name, the struct of its arguments, its properties (see [`crate::Method`]), the
/// shape of its result, its handler, and the rows of `costs` with its cycles and cells, where it has some.
macro_rules! methods {
    (
        $(#[$about:meta])*
        $vis:vis $METHODS:ident;
        $(
            $(#[doc = $doc:literal])+
            $name:literal $Arguments:ident [$($property:ident),*] {
                $( $(#[doc = $field_doc:literal])+ $field:ident: $Type:ty $(= $default:expr)? ),* $(,)?
            } -> $Result:ty = $handler:path $([$cycles:ident $(, $cells:ident)?])?;
        )+
    ) => {
        $(
            $crate::schema::form! {
                $(#[doc = $doc])+
                pub(crate) struct $Arguments { $( $(#[doc = $field_doc])+ $field: $Type $(= $default)? ),* }
            }
        )+

        $(#[$about])*
        $vis const $METHODS: &[$crate::Method] = &[ $(
            $crate::Method::typed(
                $name,
                concat!($($doc),+),
                &<$Arguments as $crate::schema::Form>::SHAPE,
                &<$Result as $crate::schema::Form>::SHAPE,
                |context, argument| {
                    let arguments = <$Arguments as $crate::schema::Form>::read(argument).map_err(|refused| context.refuse(refused))?;
                    $(
                        context.charge(context.params.costs.$cycles, 0);
                        $( context.charge_cells(context.params.costs.$cells); )?
                    )?
                    let result: $Result = $handler(context, arguments)?;
                    Ok($crate::schema::Form::write(&result))
                },
            ) $( .$property() )*,
        )+ ];
    };
}

/// Declares the events of a system actor: for each its name and the struct of its data, which [`Emit::emit`] emits.
macro_rules! events {
    (
        $(#[$about:meta])*
        $vis:vis $EVENTS:ident by $number:path;
        $(
            $(#[doc = $doc:literal])+
            $name:literal $Data:ident { $( $(#[doc = $field_doc:literal])+ $field:ident: $Type:ty ),* $(,)? }
        )+
    ) => {
        $(
            $crate::schema::form! {
                $(#[doc = $doc])+
                pub(crate) struct $Data { $( $(#[doc = $field_doc])+ $field: $Type ),* }
            }

            impl $crate::schema::Emit for $Data {
                const EMITTER: u8 = $number;
                const NAME: &'static str = $name;
            }
        )+

        $(#[$about])*
        $vis const $EVENTS: &[$crate::schema::EventRow] = &[ $(
            $crate::schema::EventRow { name: $name, doc: concat!($($doc),+), data: &<$Data as $crate::schema::Form>::SHAPE },
        )+ ];
    };
}

pub(crate) use {events, form, methods};

/// Emits an event as a system actor.
pub fn announce(world: &mut World, number: u8, name: &'static str, data: &Value) {
    let event = Event {
        emitter: Address::system(number),
        name: Text::new(name).expect("event names of the protocol are short"),
        data: Blob::new(data.encode()).expect("events of the protocol are short"),
    };
    world.announce(event);
}

/// An event of a system actor.
pub trait Emit: Form {
    /// The number of the actor that emits it.
    const EMITTER: u8;
    /// Its name.
    const NAME: &'static str;

    /// Emits it.
    fn emit(&self, world: &mut World) {
        announce(world, Self::EMITTER, Self::NAME, &self.write());
    }
}

/// A row of the table of an actor's events.
#[derive(Clone, Copy, Debug)]
pub struct EventRow {
    /// Its name.
    pub name: &'static str,
    /// When it is emitted.
    pub doc: &'static str,
    /// What its data look like.
    pub data: &'static Shape,
}

#[cfg(test)]
mod tests {
    use super::*;

    form! {
        /// A pair of nested maps.
        struct Outer {
            /// A map.
            inner: Inner,
            /// A number that may be absent.
            times: u64 = 3,
            /// An address that may be null.
            to: Option<Address>,
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
            (outer(inner("abcd", vec![]), Value::Null), Some("name")),
            (outer(inner("abc", vec![Value::Null]), Value::Null), Some("amounts")),
            (outer(inner("abc", vec![Value::uint(1); 3]), Value::Null), Some("amounts")),
            (outer(inner("abc", vec![Value::Integer(-1)]), Value::Null), Some("amounts")),
            (outer(Value::uint(1), Value::Null), Some("name")),
            (outer(inner("abc", vec![]), address(19)), Some("to")),
            (Value::map([("to", Value::Null)]), Some("inner")),
            (Value::Null, Some("inner")),
        ];
        for (value, refused) in rows {
            assert_eq!(Outer::read(&value).err().map(|refused| refused.field), refused, "{value:?}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let large = u128::MAX;
        let inner = Inner { name: Text::new("abc").expect("it fits"), amounts: List::new(vec![0, large]).expect("it fits") };
        for to in [None, Some(Address([9; 20]))] {
            let outer = Outer { inner: inner.clone(), times: 4, to };
            assert_eq!(Outer::read(&outer.write()), Ok(outer));
        }
        let absent = Value::map([("inner", inner.write())]);
        assert_eq!(Outer::read(&absent), Ok(Outer { inner, times: 3, to: None }));
    }
}
