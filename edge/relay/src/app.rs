//! What all parts of a relay share.

use crate::store::Store;
use cowboy_service::{Chain, Key};
use cowboy_types::Address;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A relay: the chain, its store, its key.
pub(crate) struct App {
    pub(crate) chain: Arc<Chain>,
    pub(crate) store: Arc<Store>,
    pub(crate) key: Key,
    pub(crate) address: Address,
    height: AtomicU64,
}

impl App {
    pub(crate) fn new(chain: Arc<Chain>, store: Arc<Store>, key: Key, address: Address) -> Self {
        Self { chain, store, key, address, height: AtomicU64::new(0) }
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
