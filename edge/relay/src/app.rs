//! What all parts of a relay share.

use crate::behaviour::Behaviour;
use crate::looks::Looks;
use crate::metrics::{Metrics, Standing};
use crate::received::Received;
use crate::signed::SignedRoots;
use crate::store::Store;
use cowboy_service::{Chain, Failures, Key};
use cowboy_types::{Address, Hash};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Requests without a failure of the store until one is logged again at once. Those that only read succeed while the disk is full.
const CALM: u32 = 10_000;

/// A relay: the chain, its store, its key.
pub(crate) struct App {
    pub(crate) chain: Arc<Chain>,
    pub(crate) store: Arc<Store>,
    pub(crate) key: Key,
    pub(crate) address: Address,
    pub(crate) looks: Looks,
    pub(crate) metrics: Metrics,
    pub(crate) behaviour: Arc<dyn Behaviour>,
    pub(crate) signed: SignedRoots,
    height: AtomicU64,
    /// Why the store could not do what clients asked for, as the log has it.
    unstored: Mutex<Failures>,
    pub(crate) received: Received,
}

impl App {
    pub(crate) fn new(chain: Arc<Chain>, store: Arc<Store>, key: Key, address: Address, behaviour: Arc<dyn Behaviour>) -> Self {
        let (looks, metrics) = (Looks::new(), Metrics::new());
        let unstored = Mutex::new(Failures::lasting(CALM));
        let (signed, height, received) = (SignedRoots::default(), AtomicU64::new(0), Received::default());
        Self { chain, store, key, address, looks, metrics, behaviour, signed, height, unstored, received }
    }

    /// Notes whether the store did what a client asked for. However many ask, the log has it now and then.
    pub(crate) fn note_stored(&self, failure: Option<&io::Error>) {
        let mut unstored = self.unstored.lock().unwrap_or_else(PoisonError::into_inner);
        match failure {
            Some(error) if unstored.is_logged(error) => tracing::error!(%error, "the store cannot be used"),
            Some(_) => {}
            None => {
                unstored.is_over();
            }
        }
    }

    /// The slice that proves a part of a shard; none where the shard is not there.
    pub(crate) fn slice(&self, volume: Hash, shard: &Hash, start: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
        if self.behaviour.has(shard) { self.store.slice(volume, shard, start, length) } else { Ok(None) }
    }

    /// All numbers, as Prometheus reads them.
    pub(crate) fn page(&self) -> String {
        let standing = Standing { height: self.height(), used: self.store.used(), free: self.store.free() };
        self.metrics.page(standing)
    }

    /// Blocks for which what no root names is kept.
    pub(crate) fn kept_for(&self) -> u64 {
        self.chain.params().rent.orphan_shard_ttl
    }

    /// Notes a height that the chain proved.
    pub(crate) fn note_height(&self, height: u64) {
        self.height.fetch_max(height, Ordering::Relaxed);
    }

    /// The highest height that was proved.
    pub(crate) fn height(&self) -> u64 {
        self.height.load(Ordering::Relaxed)
    }
}
