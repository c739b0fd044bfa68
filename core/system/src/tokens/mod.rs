//! Fungible tokens of the protocol (003 §9, §17.3): they live at 0x06 beside the base fees, with keys of their own.
//!
//! Invariant: a token's supply is the sum of its balances, and never more than its most.
//!
//! An actor that a token names as its hook is asked about every transfer, and undoes it by failing; it may use a capped number of cycles.

pub(crate) mod api;
pub mod handlers;
pub mod invariants;
pub use crate::ledger as state;
