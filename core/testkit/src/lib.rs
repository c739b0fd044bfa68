//! A chain in a map, for tests of the protocol.
//!
//! [`chain::Chain`] makes blocks as a node makes them and verifies each in the other way in which blocks are run. After every block it checks
//! the invariants of all records. [`market::Market`] is a chain with runners, and [`governance`] has one with validators that vote.
//!
//! Tests are also scenarios: a [`suite!`] runs them again to compare each block with what is recorded, and to show what each parameter
//! changes.

pub mod chain;
mod decisions;
pub mod dice;
mod effects;
pub mod governance;
mod invariants;
pub mod market;
mod queries;
mod recording;
pub mod records;
mod runs;
mod script;
mod seen;
mod suite;

pub use suite::{Scenario, Suite};
