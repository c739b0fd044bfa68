//! What all parts of a relay share.

use crate::looks::Looks;
use crate::store::Store;
use cowboy_service::{Chain, Key};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A relay: the chain, its store, its key.
pub(crate) struct App {
    pub(crate) chain: Arc<Chain>,
    pub(crate) store: Arc<Store>,
    pub(crate) key: Key,
    pub(crate) address: Address,
    pub(crate) looks: Looks,
    height: AtomicU64,
    /// Bytes of shards that came by each capability since its last commit, and what it had committed then.
    received: Mutex<BTreeMap<(Hash, Fixed<16>), (u64, u64)>>,
}

impl App {
    pub(crate) fn new(chain: Arc<Chain>, store: Arc<Store>, key: Key, address: Address) -> Self {
        Self { chain, store, key, address, looks: Looks::new(), height: AtomicU64::new(0), received: Mutex::default() }
    }

    /// Notes a height that the chain proved.
    pub(crate) fn note_height(&self, height: u64) {
        self.height.fetch_max(height, Ordering::Relaxed);
    }

    /// The highest height that was proved.
    pub(crate) fn height(&self) -> u64 {
        self.height.load(Ordering::Relaxed)
    }

    /// Counts bytes of a shard that are about to come by a capability, over all connections. False where it does not cover them: `committed` bytes of
    /// files stand by it, and it covers shards of `covered` bytes until the next commit.
    pub(crate) fn receive(&self, volume: Hash, capability: Fixed<16>, (committed, covered): (u64, u64), length: u64) -> bool {
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, sum) = received.entry((volume, capability)).or_default();
        if *before != committed {
            (*before, *sum) = (committed, 0);
        }
        let more = sum.saturating_add(length);
        let is_covered = more <= covered;
        if is_covered {
            *sum = more;
        }
        is_covered
    }
}
