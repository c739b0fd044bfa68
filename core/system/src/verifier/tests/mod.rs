//! The result verifier: how results are judged, reviewed and disputed (002 §9; 003 §5).

mod disagreement;
pub(crate) mod disputes;
pub(crate) mod modes;
mod reports;
mod retrials;
pub(crate) mod review;

use cowboy_system::verifier;
use cowboy_testkit::chain::signed;
use cowboy_testkit::market::*;
use cowboy_types::cbor::Value;
use cowboy_types::units::Amount;
use cowboy_types::{Hash, Receipt, keccak256};
