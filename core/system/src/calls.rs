//! The way into the methods of system actors, by the table in the context.

use crate::actor::{Actor, Context, Work};
use crate::proposed::{Notice, ProposedCall};
use cowboy_params::Params;
use cowboy_state::{Miss, Step};
use cowboy_types::cbor::{self, Value};
use cowboy_types::{Address, error};

/// The argument of a method.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// As it came. It is paid for before it is decoded.
    Encoded(&'a [u8]),
    /// Decoded by the caller, who has paid [`Argument::price`] for it.
    Decoded(&'a Value),
}

impl Argument<'_> {
    /// What decoding an argument costs, which must be paid first: a byte of it may become a value of its own (decision 390).
    pub fn price(params: &Params, bytes: &[u8]) -> Work {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let paid = size.saturating_sub(params.costs.argument_free);
        let cycles = paid.saturating_mul(params.costs.argument_byte);
        Work { cycles, cells: 0, weight: size.saturating_mul(params.weights.argument_byte) }
    }

    /// Decodes an argument that is paid for: canonical CBOR, or nothing.
    pub fn decode(bytes: &[u8]) -> Step<Value> {
        match bytes {
            b"" | b"{}" => Ok(Value::Map(Vec::new())),
            bytes => Ok(cbor::decode(bytes).map_err(|_| error::INVALID_ARGUMENT)?),
        }
    }
}

/// The system actor at an address.
pub(crate) fn at(actors: &'static [Actor], address: Address) -> Option<&'static Actor> {
    // Almost every address is no system actor's: that is seen at once.
    if !address.is_reserved() {
        return None;
    }
    actors.iter().find(|actor| Address::system(actor.number) == address)
}

/// Runs a method of a system actor. The argument is a canonical CBOR map, or nothing; so is the answer.
pub fn call(context: &mut Context<'_>, target: Address, method: &str, argument: Argument<'_>) -> Step<Vec<u8>> {
    let actor = at(context.actors, target).ok_or(error::ACTOR_NOT_FOUND)?;
    context.require_running(actor.number)?;
    // A message without a handler's name goes where messages without one go.
    let method = if method.is_empty() { "handle_message" } else { method };
    let method = actor.method_in(context.rules.version, method).ok_or(error::UNAVAILABLE)?;
    let answer = match argument {
        Argument::Decoded(argument) => method.call(context, argument)?,
        Argument::Encoded(bytes) => {
            if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > context.params.execution.transaction_bytes {
                return Err(error::INVALID_ARGUMENT.into());
            }
            let price = Argument::price(context.params, bytes);
            context.spend(price.cycles, price.weight)?;
            method.call(context, &Argument::decode(bytes)?)?
        }
    };
    let answer = answer.encode();
    // As what a handler returns, beyond what the method's own price covers (003 §4.1).
    let size = u64::try_from(answer.len()).unwrap_or(u64::MAX);
    context.charge_cells(size.saturating_sub(context.params.costs.argument_free));
    Ok(answer)
}

/// A proposal that calls a method was made, or is over. The method's actor learns it, and answers whether it keeps something open for one that was made.
pub(crate) fn note(context: &mut Context<'_>, actor: u8, call: ProposedCall<'_>, notice: Notice) -> Result<bool, Miss> {
    let noted = context.actors.iter().find(|one| one.number == actor).and_then(|actor| actor.proposed);
    noted.map_or(Ok(false), |noted| noted(context, call, notice))
}
