//! What all parts of a relay share.

use crate::behaviour::Behaviour;
use crate::looks::Looks;
use crate::metrics::{Metrics, Standing};
use crate::store::Store;
use cowboy_service::{Chain, Failures, Key};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    height: AtomicU64,
    /// Why the store could not do what clients asked for, as the log has it.
    unstored: Mutex<Failures>,
    /// Bytes of shards that came by each capability since its last commit, and what it had committed then.
    received: Mutex<Received>,
}

/// By capability: what it had committed, and bytes that came since.
type Received = BTreeMap<(Hash, Fixed<16>), (u64, u64)>;

impl App {
    pub(crate) fn new(chain: Arc<Chain>, store: Arc<Store>, key: Key, address: Address, behaviour: Arc<dyn Behaviour>) -> Self {
        let (looks, metrics) = (Looks::new(), Metrics::new());
        let unstored = Mutex::new(Failures::lasting(CALM));
        Self { chain, store, key, address, looks, metrics, behaviour, height: AtomicU64::new(0), unstored, received: Mutex::default() }
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

    /// Counts bytes of a shard that are about to come by a capability, over all connections; none where it does not cover them: `committed` bytes of
    /// files stand by it, and it covers shards of `covered` bytes until the next commit.
    pub(crate) fn receive(
        &self,
        volume: Hash,
        capability: Fixed<16>,
        (committed, covered): (u64, u64),
        length: u64,
    ) -> Option<Receiving<'_>> {
        let mut received = self.received();
        let (before, sum) = received.entry((volume, capability)).or_default();
        if *before != committed {
            (*before, *sum) = (committed, 0);
        }
        let more = sum.checked_add(length).filter(|more| *more <= covered)?;
        *sum = more;
        Some(Receiving { app: self, of: (volume, capability), committed, length })
    }

    fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of a shard that comes by a capability. They count no more when this is dropped, unless the shard was kept.
pub(crate) struct Receiving<'a> {
    app: &'a App,
    of: (Hash, Fixed<16>),
    committed: u64,
    length: u64,
}

impl Receiving<'_> {
    /// Counts the bytes until the capability's next commit.
    pub(crate) fn kept(mut self) {
        self.length = 0;
    }
}

impl Drop for Receiving<'_> {
    fn drop(&mut self) {
        let mut received = self.app.received();
        // After a commit the count began anew, without these.
        if let Some((_, sum)) = received.get_mut(&self.of).filter(|(committed, _)| *committed == self.committed) {
            *sum = sum.saturating_sub(self.length);
        }
    }
}
