//! The records of rent.

use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, record};

record! {
    /// What an actor owes for its storage, and what it has put down.
    pub struct RentAccount {
        /// The height at which rent is collected next; its place in the directory of collections. A height, because governance may change how
        /// long an epoch is.
        pub next_at: Height,
        /// Paid ahead; held by 0x0A.
        pub prepaid: Amount,
        /// Rent of epochs that were not paid, each at its own rate.
        pub debt: Amount,
        /// How many those are.
        pub unpaid: Count,
        /// The bond for a quota beyond the base; held by 0x0A.
        pub bond: Amount,
        /// The address that posted it.
        pub poster: Address,
    }
}

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
