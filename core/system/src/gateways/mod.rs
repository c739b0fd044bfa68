//! 0x0F, Gateway Registry: who brings requests from outside, and the one door they come in by (004 §8.4, §9).
//!
//! - [`ingress`]: what an actor's manifest lets requests do.
//! - [`envelope`]: what a request is.
//! - [`types`], [`state`]: the records, and where they stand.
//! - [`api`]: the methods and events.
//! - [`handlers`]: registering, heartbeats, leaving, dispatch.
//! - [`answers`]: what gateways sign of answers to GET.
//! - [`evidence`]: what proves that a gateway cheated.
//! - [`repayment`]: what actors pay for their commands.
//! - [`pool`]: the share of name fees that gateways earn.
//!
//! Invariants: all stakes stand at one address without a key, and are what it holds; only a dispatch makes the registry the
//! sender of anything; a request id is delivered at most once while it is remembered.

pub mod answers;
pub(crate) mod api;
pub mod envelope;
pub(crate) mod evidence;
pub(crate) mod handlers;
pub mod ingress;
pub mod invariants;
pub mod pool;
pub mod repayment;
pub mod state;
pub mod types;

use crate::actor::{Actor, Arguments as _};

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::GATEWAYS;

/// The handler that takes requests from outside (004 §8.5).
pub const HANDLER: &str = "http.request";

/// The method that delivers them.
pub const DISPATCH: &str = api::Dispatch::METHOD.name;

/// The method that takes two answers of a gateway that contradict each other.
pub const REPORT_ANSWERS: &str = api::ReportAnswers::METHOD.name;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Gateway Registry",
    doc: "Gateways, their stakes and health, and the dispatch of requests from outside.",
    tables: &[api::METHODS],
    events: &[api::EVENTS],
    proposed: Some(evidence::proposed),
};
