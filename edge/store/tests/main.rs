//! The ledger and its folder, and proofs from the database of the state.

mod folder;
mod formats;
mod ledger;
mod proofs;
mod pruning;
mod records;
mod sections;
mod together;
