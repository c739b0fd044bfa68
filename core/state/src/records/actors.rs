//! The records of actors.

use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, Hash, record, variants};

variants! {
    /// Whether an actor runs.
    pub enum ActorStatus {
        /// It runs.
        0 Active,
        /// An entitlement it needs was removed (000 §9.11).
        1 NonExecutable,
        /// Its storage was pruned for unpaid rent.
        2 Dormant,
    }
}

record! {
    /// What the protocol knows of an actor.
    pub struct Actor {
        /// Who may hand it on and act as OWNER.
        pub owner: Address,
        /// The deployer's address.
        pub creator: Address,
        /// Keccak-256 of its canonical source; zero for a system actor, which has none.
        pub code_hash: Hash,
        /// Bytes of that source.
        pub code_bytes: Count,
        /// Bytes of its manifest, and of the history of those that it had before.
        pub manifest_bytes: Count,
        /// Modelled execution time of its module body, in ns. Its first run in a block counts that, whatever a cache holds.
        pub body_weight: Count,
        /// Whether it runs.
        pub status: ActorStatus,
        /// The height of its deployment.
        pub created_at: Height,
        /// Bytes of its keys and values.
        pub storage_bytes: Count,
        /// The most of them it may have; zero means the parameter.
        pub storage_quota: Count,
        /// The last rent epoch that was collected.
        pub rent_epoch: Count,
        /// Messages it ever sent; the next one's nonce.
        pub messages_sent: Count,
        /// Timers it ever scheduled; the next one's nonce.
        pub timers_set: Count,
        /// Timers that are live.
        pub timers_live: Count,
        /// Bytes of their payloads.
        pub timer_bytes: Count,
        /// Actors it ever deployed.
        pub children: Count,
    }
}

impl Actor {
    /// An actor that runs, belongs to whoever deployed it, and has done nothing yet. It says nothing of its source and of its age.
    pub fn new(creator: Address) -> Self {
        Self {
            owner: creator,
            creator,
            code_hash: Hash::ZERO,
            code_bytes: Count::ZERO,
            manifest_bytes: Count::ZERO,
            body_weight: Count::ZERO,
            status: ActorStatus::Active,
            created_at: Height::ZERO,
            storage_bytes: Count::ZERO,
            storage_quota: Count::ZERO,
            rent_epoch: Count::ZERO,
            messages_sent: Count::ZERO,
            timers_set: Count::ZERO,
            timers_live: Count::ZERO,
            timer_bytes: Count::ZERO,
            children: Count::ZERO,
        }
    }
}
