//! The room of volumes on the disk: what they have, and what comes just now.

use super::{Store, on_disk};
use cowboy_types::Hash;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of the disk that stay free: the index needs some when it changes.
const KEPT_FREE: u64 = 64 << 20;

/// Bytes on disk of each volume, about.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Those of its items.
    pub(super) used: BTreeMap<Hash, u64>,
    /// Those for which there is room, and which come just now.
    pub(super) coming: BTreeMap<Hash, u64>,
}

/// Room for an item that comes. It is given back when this is dropped: what was kept counts by itself then.
#[derive(Debug)]
pub(crate) struct Reserved {
    totals: Arc<Mutex<Totals>>,
    volume: Hash,
    bytes: u64,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(coming) = totals.coming.get_mut(&self.volume) {
            *coming = coming.saturating_sub(self.bytes);
            if *coming == 0 {
                totals.coming.remove(&self.volume);
            }
        }
    }
}

impl Store {
    /// Bytes of the disk that are free; 0 where that cannot be known.
    pub(crate) fn free(&self) -> u64 {
        cowboy_serve::free_bytes(&self.folder).unwrap_or(0)
    }

    /// Room for an item of this many bytes where a volume may have `most` on disk, with what comes beside it; none where it has not as much.
    ///
    /// # Errors
    ///
    /// If the disk is full.
    pub(crate) fn reserve(&self, volume: Hash, length: u64, most: u64) -> io::Result<Option<Reserved>> {
        let (bytes, free) = (on_disk(length), cowboy_serve::free_bytes(&self.folder)?);
        let mut totals = self.totals();
        let coming = totals.coming.values().fold(bytes, |sum, coming| sum.saturating_add(*coming));
        if free < KEPT_FREE.saturating_add(coming) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let own = totals.coming.get(&volume).copied().unwrap_or(0);
        let used = totals.used.get(&volume).copied().unwrap_or(0);
        if used.saturating_add(own).saturating_add(bytes) > most {
            return Ok(None);
        }
        totals.coming.insert(volume, own.saturating_add(bytes));
        Ok(Some(Reserved { totals: self.totals.clone(), volume, bytes }))
    }
}
