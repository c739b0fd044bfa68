//! Block in, state and receipts out: the state transition of the protocol.
//!
//! The crate does no I/O and waits for nothing. Whoever drives it (a node, a server, a test with a map)
//! owns an [`Execution`], [`Query`] or [`Simulation`] and drives it with [`resume::run`] or [`resume::run_async`]:
//!
//! ```ignore
//! let outcome = resume::run(&mut Execution::new(input), |keys| store.read(keys))??;
//! store.commit(outcome.writes);
//! ```
//!
//! Dropping an execution at any time is harmless: nothing happened.
//!
//! - [`input`]: what goes in and what comes out.
//! - [`admit`]: why a transaction is refused, in order.
//! - [`genesis`]: the first state.
//! - [`execution`]: the steps of a block.
//! - [`resume`]: what they have in common: asking for records, and continuing with them.
//! - [`query`]: reading a handler's answer, and trying a transaction.
//! - [`invariants`]: what holds between all records after a block.
//! - [`fees`], [`lanes`], [`order`]: prices, block space, and who goes first.
#![cfg_attr(not(test), warn(clippy::as_conversions))]

pub mod admit;
pub mod execution;
pub mod fees;
pub mod genesis;
pub mod input;
pub mod invariants;
pub mod lanes;
pub mod order;
pub mod query;
pub mod resume;

mod delivery;
pub mod engine;
mod journal;
pub mod supply;

pub use admit::{Admitted, Facts, Invalid, SignedTransaction, Standing, admit};
pub use cowboy_state::StateKey;
pub use cowboy_vm::STACK_BYTES;
pub use delivery::{canonical_source, message_id, nested_id, padded_salt};
pub use engine::Image;
pub use execution::{Execution, Ran};
pub use genesis::{GenesisConfig, genesis};
pub use input::{BlockInput, BlockInvalid, ChainConfig, Mode, Outcome, Trace};
pub use query::{Query, Simulation};
pub use resume::{Need, Resume};
