//! The macros that declare maps and events.

use super::{Field, Form};
use cowboy_state::World;
use cowboy_types::cbor::Value;
use cowboy_types::{Address, Blob, Event, Text};

/// Declares a struct that is a map on the wire, or one that has the form of another. A field with a default may be absent.
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

            fn brief(&self) -> cowboy_types::cbor::Value {
                let fields: &[Option<(&'static str, cowboy_types::cbor::Value)>] = &[ $(
                    $crate::schema::brief_field(stringify!($field), &self.$field, $crate::schema::form!(@make $($default)?)),
                )* ];
                cowboy_types::cbor::Value::dict(fields.iter().flatten().cloned())
            }
        }
    };
    (
        $(#[$attribute:meta])*
        $vis:vis struct $Name:ident($Form:ty);
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Name(pub $Form);

        impl $crate::schema::Record for $Name {
            const FIELDS: &'static [$crate::schema::Field] = <$Form as $crate::schema::Record>::FIELDS;
        }

        impl $crate::schema::Form for $Name {
            const SHAPE: $crate::schema::Shape = <$Form as $crate::schema::Form>::SHAPE;

            fn read(value: &cowboy_types::cbor::Value) -> Result<Self, $crate::schema::Refused> {
                $crate::schema::Form::read(value).map(Self)
            }

            fn write(&self) -> cowboy_types::cbor::Value {
                $crate::schema::Form::write(&self.0)
            }

            fn brief(&self) -> cowboy_types::cbor::Value {
                $crate::schema::Form::brief(&self.0)
            }
        }
    };
    (@text) => { None };
    (@text $default:expr) => { Some(stringify!($default)) };
    (@make) => { None };
    (@make $default:expr) => { Some(|| $default) };
}

/// Declares the events of a system actor: for each its name and the struct of its data, which [`Emit::emit`] emits. Events with the same data
/// wrap one form: `"name" Data(Form)`. `of accounts` in the place of the actor's number declares events that it emits in the name of others
/// ([`EmitFor`]).
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

        $crate::schema::events! { @table [$(#[$about])*] $vis $EVENTS false $( [concat!($($doc),+)] $name $Data )+ }
    };
    (
        $(#[$about:meta])*
        $vis:vis $EVENTS:ident of accounts;
        $(
            $(#[doc = $doc:literal])+
            $name:literal $Data:ident $data:tt
        )+
    ) => {
        $(
            $crate::schema::events! { @data [$(#[doc = $doc])+] $Data $data }

            impl $crate::schema::EmitFor for $Data {
                const NAME: &'static str = $name;
            }
        )+

        $crate::schema::events! { @table [$(#[$about])*] $vis $EVENTS true $( [concat!($($doc),+)] $name $Data )+ }
    };
    (@table [$(#[$about:meta])*] $vis:vis $EVENTS:ident $is_of_account:literal $( [$doc:expr] $name:literal $Data:ident )+) => {
        $(#[$about])*
        $vis const $EVENTS: &[$crate::schema::EventRow] = &[ $( $crate::schema::EventRow {
            name: $name,
            doc: $doc,
            data: <$Data as $crate::schema::Record>::FIELDS,
            is_of_account: $is_of_account,
        }, )+ ];
    };
    (@data [$(#[$about:meta])+] $Data:ident { $( $(#[doc = $doc:literal])+ $field:ident: $Type:ty ),* $(,)? }) => {
        $crate::schema::form! {
            $(#[$about])+
            pub(crate) struct $Data { $( $(#[doc = $doc])+ $field: $Type ),* }
        }
    };
    (@data [$(#[$about:meta])+] $Data:ident ($Form:ty)) => {
        $crate::schema::form! {
            $(#[$about])+
            pub(crate) struct $Data($Form);
        }
    };
}

pub(crate) use {events, form};

/// An event of the protocol, from its parts. Every row of a table has a longest form that fits; data of anything else that did not fit would be left
/// out, because nothing that a block does may end the node.
fn event(emitter: Address, name: &'static str, data: &Value) -> Event {
    let name = Text::new(name).expect("event names of the protocol are short");
    Event::new(emitter, name, Blob::new(data.encode()).or_else(|| Blob::new(Value::Null.encode())).expect("null is short"))
}

/// An event of a system actor.
pub trait Emit: Form {
    /// The number of the actor that emits it.
    const EMITTER: u8;
    /// Its name.
    const NAME: &'static str;

    /// Emits it.
    fn emit(&self, world: &mut World) {
        world.push_event(self.event());
    }

    /// The event itself, for what is no delivery.
    fn event(&self) -> Event {
        event(Address::system(Self::EMITTER), Self::NAME, &self.write())
    }
}

/// An event that a system actor emits in the name of the account or actor that it is about.
pub(crate) trait EmitFor: Form {
    /// Its name.
    const NAME: &'static str;

    /// The event itself, of an account or an actor.
    fn event_of(&self, emitter: Address) -> Event {
        event(emitter, Self::NAME, &self.write())
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
    /// Whether it is emitted in the name of the account or actor that it is about, in the place of the system actor's.
    pub is_of_account: bool,
}
