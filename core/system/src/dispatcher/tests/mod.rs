//! The job dispatcher: submission, draws, queues, costs, and runners, requesters and callers that do as a test says (002; 003 §5).

pub(crate) mod adversaries;
mod anomalies;
pub(crate) mod costs;
mod mistakes;
mod order;
pub(crate) mod path;
pub(crate) mod provides;
pub(crate) mod queue;
pub(crate) mod refused;
pub(crate) mod selection;
mod simulation;
mod standstill;
mod strategies;
pub(crate) mod submission;
pub(crate) mod waiting;

use cowboy_system::dispatcher;
use cowboy_testkit::chain::{execution, key, signed};
use cowboy_testkit::market::*;
use cowboy_types::cbor::Value;
use cowboy_types::job::{Job, Usage};
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, Hash, Instruction, Receipt, keccak256};
