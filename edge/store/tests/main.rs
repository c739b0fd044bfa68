//! The ledger, and proofs from the database of the state.

mod ledger;
mod proofs;
mod records;
