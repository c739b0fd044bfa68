//! The table of all system actors, and the way into their methods.

use crate::actor::{Actor, Context};
use crate::{basefee, containers, dispatcher, entitlements, gateways, governance, names, runners, storage, tee, treasury, verifier};
use cowboy_state::{Miss, Step};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::Height;
use cowboy_types::{Address, actors, error};

const fn reserved(number: u8, name: &'static str, doc: &'static str) -> Actor {
    Actor { number, name, doc, tables: &[], events: &[] }
}

/// Every system actor of 003 §9, ascending.
pub static ACTORS: &[Actor] = &[
    runners::ACTOR,
    dispatcher::ACTOR,
    verifier::ACTOR,
    reserved(actors::SECRETS, "Secrets Manager", "Threshold release of secrets."),
    tee::ACTOR,
    basefee::ACTOR,
    entitlements::ACTOR,
    treasury::ACTOR,
    governance::ACTOR,
    storage::ACTOR,
    reserved(actors::RELAYS, "Relay Registry", "Storage relays."),
    reserved(actors::SESSIONS, "Session Actor", "Payment sessions."),
    reserved(actors::STREAMS, "Stream Key Manager", "Paid streams."),
    names::ACTOR,
    gateways::ACTOR,
    reserved(actors::RECEIPTS, "Receipt Registry", "Receipts of domain actions."),
    containers::ACTOR,
    reserved(actors::PAYMENTS, "PaymentGate", "HTTP payments."),
    reserved(actors::BANK, "BankActor", "Card accounts of agents."),
    reserved(actors::EVENTS, "Event Subscription", "The market of subscriptions."),
    #[cfg(test)]
    crate::example::ACTOR,
];

/// The system actor at an address.
pub fn at(address: Address) -> Option<&'static Actor> {
    // Almost every address is no system actor's: that is seen at once.
    if !address.is_reserved() {
        return None;
    }
    ACTORS.iter().find(|actor| Address::system(actor.number) == address)
}

/// Runs a method of a system actor. The argument is a canonical CBOR map, or nothing; so is the answer.
pub fn call(context: &mut Context<'_>, target: Address, method: &str, payload: &[u8]) -> Step<Vec<u8>> {
    let actor = at(target).ok_or(error::ACTOR_NOT_FOUND)?;
    context.require_running(actor.number)?;
    // A message without a handler's name goes where messages without one go.
    let method = if method.is_empty() { "handle_message" } else { method };
    let method = actor.method(method).ok_or(error::UNAVAILABLE)?;
    let argument = match payload {
        b"" | b"{}" => Value::Map(Vec::new()),
        bytes => {
            let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            if size > context.params.execution.transaction_bytes {
                return Err(error::INVALID_ARGUMENT.into());
            }
            // Before it is decoded: a byte of it may become a value of its own.
            let (costs, weights) = (&context.params.costs, &context.params.weights);
            let paid = size.saturating_sub(costs.argument_free);
            context.spend(paid.saturating_mul(costs.argument_byte), size.saturating_mul(weights.argument_byte))?;
            cbor::decode(bytes).map_err(|_| error::INVALID_ARGUMENT)?
        }
    };
    Ok(method.call(context, &argument)?.encode())
}

/// A proposal was made that calls a method, and takes effect by `until` if it is accepted: a claim that it decides stays open until then.
pub fn propose(context: &mut Context<'_>, actor: u8, method: &str, argument: &[u8], until: Height) -> Result<(), Miss> {
    if actor == verifier::NUMBER && method == "decide_challenge" {
        verifier::challenges::wait_for_vote(context, argument, until)?;
    }
    Ok(())
}
