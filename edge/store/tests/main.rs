//! The ledger, and proofs from the database of the state.

mod formats;
mod ledger;
mod proofs;
mod pruning;
mod records;
mod sections;
mod together;
