//! What arguments name: parameters and system actors.

use crate::actor::Actor;
use cowboy_params::{Params, Row};
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::{Address, Text, error};

/// The name of a parameter; one that no parameter has is refused.
pub(crate) type ParameterName = Text<64>;

/// The parameter of a name.
pub(super) fn named_row(name: &str) -> Step<&'static Row> {
    Ok(Params::row(name).ok_or(error::INVALID_ARGUMENT)?)
}

/// The system actor that a value names, by its address or its number.
pub(super) fn named_actor(actors: &'static [Actor], value: Option<&Value>) -> Step<u8> {
    let is_named = |number: u8| match value {
        Some(Value::Bytes(bytes)) => bytes[..] == Address::system(number).0[..],
        Some(value) => value.as_u64() == Some(u64::from(number)),
        None => false,
    };
    let actor = actors.iter().find(|actor| is_named(actor.number));
    Ok(actor.ok_or(error::ACTOR_NOT_FOUND)?.number)
}
