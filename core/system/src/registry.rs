//! The table of all system actors.

use crate::actor::Actor;
use crate::calls;
pub use crate::calls::{Argument, call};
use crate::{
    basefee, containers, dispatcher, entitlements, gateways, governance, names, runners, secrets, storage, tee, treasury, verifier, volumes,
};
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
