//! The macros that declare maps and events.

use super::{Field, Form};
use cowboy_state::World;
use cowboy_types::cbor::Value;
use cowboy_types::{Address, Blob, Event, Text};

/// Declares a struct that is a map on the wire. A field with a default may be absent.
macro_rules! form {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $Name:ident {
            $( $(#[doc = $doc:literal])+ $field:ident: $Type:ty $(= $default:expr)? ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Name { $( $(#[doc = $doc])+ pub $field: $Type, )* }

        impl $crate::schema::Record for $Name {
            const FIELDS: &'static [$crate::schema::Field] = &[ $( $crate::schema::Field {
                name: stringify!($field),
                doc: concat!($($doc),+),
                shape: <$Type as $crate::schema::Form>::SHAPE,
                default: $crate::schema::form!(@text $($default)?),
            }, )* ];
        }

        impl $crate::schema::Form for $Name {
            const SHAPE: $crate::schema::Shape = $crate::schema::Shape::Map(<Self as $crate::schema::Record>::FIELDS);

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

/// Declares the events of a system actor: for each its name and the struct of its data, which [`Emit::emit`] emits. Events with the same data
/// wrap one form: `"name" Data(Form)`.
macro_rules! events {
    (
        $(#[$about:meta])*
        $vis:vis $EVENTS:ident by $number:path;
        $(
            $(#[doc = $doc:literal])+
            $name:literal $Data:ident $data:tt
        )+
    ) => {
        $(
            $crate::schema::events! { @data [$(#[doc = $doc])+] $Data $data }

            impl $crate::schema::Emit for $Data {
                const EMITTER: u8 = $number;
                const NAME: &'static str = $name;
            }
        )+

        $(#[$about])*
        $vis const $EVENTS: &[$crate::schema::EventRow] = &[ $(
            $crate::schema::EventRow { name: $name, doc: concat!($($doc),+), data: <$Data as $crate::schema::Record>::FIELDS },
        )+ ];
    };
    (@data [$(#[$about:meta])+] $Data:ident { $( $(#[doc = $doc:literal])+ $field:ident: $Type:ty ),* $(,)? }) => {
        $crate::schema::form! {
            $(#[$about])+
            pub(crate) struct $Data { $( $(#[doc = $doc])+ $field: $Type ),* }
        }
    };
    (@data [$(#[$about:meta])+] $Data:ident ($Form:ty)) => {
        $(#[$about])+
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct $Data(pub $Form);

        impl $crate::schema::Record for $Data {
            const FIELDS: &'static [$crate::schema::Field] = <$Form as $crate::schema::Record>::FIELDS;
        }

        impl $crate::schema::Form for $Data {
            const SHAPE: $crate::schema::Shape = <$Form as $crate::schema::Form>::SHAPE;

            fn read(value: &cowboy_types::cbor::Value) -> Result<Self, $crate::schema::Refused> {
                $crate::schema::Form::read(value).map(Self)
            }

            fn write(&self) -> cowboy_types::cbor::Value {
                $crate::schema::Form::write(&self.0)
            }
        }
    };
}

pub(crate) use {events, form};

/// Emits an event as a system actor.
pub fn announce(world: &mut World, number: u8, name: &'static str, data: &Value) {
    world.announce(event(number, name, data));
}

/// An event of a system actor, from its parts. Every row of a table has a longest form that fits; data of anything else that did not fit would be left
/// out, because nothing that a block does may end the node.
pub(crate) fn event(number: u8, name: &'static str, data: &Value) -> Event {
    Event {
        emitter: Address::system(number),
        name: Text::new(name).expect("event names of the protocol are short"),
        data: Blob::new(data.encode()).or_else(|| Blob::new(Value::Null.encode())).expect("null is short"),
    }
}

/// An event of a system actor.
pub trait Emit: Form {
    /// The number of the actor that emits it.
    const EMITTER: u8;
    /// Its name.
    const NAME: &'static str;

    /// Emits it.
    fn emit(&self, world: &mut World) {
        world.announce(self.event());
    }

    /// The event itself, for what is no delivery.
    fn event(&self) -> Event {
        event(Self::EMITTER, Self::NAME, &self.write())
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
    pub data: &'static [Field],
}
