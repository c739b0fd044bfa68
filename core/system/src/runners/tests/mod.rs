//! The runner registry: stake, models, reputation and delegation (002 §3; 003 §5).

pub(crate) mod delegation;
mod models;
pub(crate) mod registry;
mod slashes;

use cowboy_system::{dispatcher, runners};
use cowboy_testkit::market::*;
use cowboy_types::cbor::Value;
use cowboy_types::{Hash, Instruction, keccak256};
