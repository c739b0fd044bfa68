//! The table of all system actors.

use crate::actor::Actor;
use crate::calls;
pub use crate::calls::{Argument, call};
use crate::{
    basefee, containers, dispatcher, entitlements, gateways, governance, names, runners, secrets, storage, tee, treasury, verifier, volumes,
};
use cowboy_state::{Miss, World};
use cowboy_types::{Address, actors};

const fn reserved(number: u8, name: &'static str, doc: &'static str) -> Actor {
    Actor { number, name, doc, tables: &[], events: &[], proposed: None }
}

/// Every system actor of 003 §9, ascending.
pub static ACTORS: &[Actor] = &[
    runners::ACTOR,
    dispatcher::ACTOR,
    verifier::ACTOR,
    secrets::ACTOR,
    tee::ACTOR,
    basefee::ACTOR,
    entitlements::ACTOR,
    treasury::ACTOR,
    governance::ACTOR,
    storage::ACTOR,
    volumes::RELAYS,
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
    calls::at(ACTORS, address)
}

/// Whether a call is one that its sender, a registered runner, proxy or relay, has to make in time: it does not wait for the transactions of others
/// (decision 570).
pub fn is_duty(world: &World, sender: Address, target: Address, method: &str) -> Result<bool, Miss> {
    let Some(actor) = at(target).filter(|actor| actor.method(method).is_some_and(|method| method.is_duty)) else { return Ok(false) };
    match actor.number {
        runners::NUMBER => Ok(runners::state::find(world, sender)?.is_some()),
        secrets::NUMBER => Ok(secrets::state::proxy(world, sender)?.is_some()),
        actors::RELAYS => Ok(volumes::state::relay(world, sender)?.is_some()),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::ACTORS;
    use crate::actor::Keeping;
    use crate::schema::Shape;

    /// Decision 752: a method that takes texts, byte strings or lists from anybody says what becomes of their bytes, so that none stores bytes that nobody
    /// pays for; and no other says it.
    #[test]
    fn every_method_says_what_becomes_of_the_bytes_that_it_takes() {
        for actor in ACTORS {
            for method in actor.methods().filter(|method| !method.is_view && !method.is_governed) {
                let does_take = method.is_open || Shape::Map(method.arguments).is_variable();
                assert_eq!(method.keeping != Keeping::Unsaid, does_take, "{}: {}", actor.name, method.name);
            }
        }
    }
}
