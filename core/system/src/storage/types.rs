//! The records of rent.

pub use crate::rent_accounts::RentAccount;
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Hash, record};

record! {
    /// An actor whose storage was pruned: what it takes to bring it back.
    pub struct Dormancy {
        /// Rent that was not paid.
        pub debt: Amount,
        /// Chunks that were pruned.
        pub chunks: Count,
        /// Of them, those that are still missing.
        pub missing: Count,
        /// keccak256 folded over the chunks' hashes, in order: what the storage was.
        pub root: Hash,
        /// Whether all was pruned.
        pub is_pruned: bool,
    }
}
