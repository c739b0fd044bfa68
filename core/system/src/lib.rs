//! The system actors: services of the protocol at reserved addresses (003 §9), one folder each.
//!
//! A folder has `mod.rs` (what the actor is, and the tables of its methods and events; see [`schema`]), and `handlers.rs` (read, check,
//! change, emit: in that order). Its `invariants.rs` says what holds between its records after every block; [`invariants`] lists these checks.
//! Instructions, `call` and `send` all enter through the same handlers, by the method's name.
//!
//! Absences: no system actor holds Python code; none calls an actor; none pays fees; none owes rent.
#![cfg_attr(not(test), warn(clippy::as_conversions))]

pub mod actor;
pub mod agenda;
pub mod auction;
pub mod basefee;
pub mod bidding;
mod calls;
pub mod containers;
pub mod council;
mod deposits;
pub mod dispatcher;
pub mod endpoint;
pub mod entitlements;
#[cfg(test)]
mod example;
pub mod gateways;
pub mod governance;
mod heartbeat;
pub mod instructions;
mod interface;
pub mod invariants;
mod lane_fee;
pub mod ledger;
pub mod market;
pub mod names;
pub mod offchain;
mod page;
pub mod pairing;
mod proposed;
pub mod protocol;
mod reader;
pub mod records;
pub mod registrations;
pub mod registry;
pub mod rent_accounts;
pub mod rent_rate;
pub mod requests;
mod room;
pub mod runners;
pub mod schema;
pub mod sdk;
pub mod secrets;
pub mod staking;
pub mod standstill;
pub mod storage;
mod stubs;
pub mod tee;
pub mod timers;
pub mod tokens;
pub mod treasury;
pub mod upkeep;
pub mod verifier;
pub mod volumes;

pub use actor::{Actor, Context, Draw, Forward, Method, Work};
pub use interface::interface;
pub use page::markdown;
pub use protocol::{FIRST_VERSION, Rules, Versions};
pub use registry::{ACTORS, call, is_duty};
pub use stubs::stubs;
