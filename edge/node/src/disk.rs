//! The engine's files, and which of their writes wait for the disk.
//!
//! The engine waits for the disk after each vote and each certificate of a round, before anybody sees it. A validator of a dev chain that signs alone has nobody who could see a
//! vote: what leaves it are final blocks. So its record of votes is not synced by itself, but together with whatever other file of the engine is synced next, which are
//! the proposed block, the certificates of the round and the final block
//! ([decision 776](../../../docs/decisions/0776-a-lone-validators-record-is-synced-with-its-blocks.md)).

use crate::votes::RECORD;
use commonware_runtime::{Blob, BlobVersion, Error, Handle, IoBufs, IoBufsMut, ReadOptions, WriteOptions};
use futures::{Stream, future::try_join};
use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Files of a record that are made before the engine asks for them, at most: one, unless it asks for others.
const MADE_AHEAD: usize = 4;

/// Whether a partition is a record of votes.
pub(crate) fn is_record(partition: &str) -> bool {
    partition.starts_with(RECORD)
}

/// What an opened file is: the file, its size, and its version.
pub(crate) type Opened<B> = (B, u64, BlobVersion);

/// Files of the record with writes that are not on the disk yet.
struct Unsynced<B>(Mutex<Writes<B>>);

struct Writes<B> {
    count: u64,
    /// Each file with the number of its last write.
    files: Vec<(Arc<B>, u64)>,
}

impl<B> Default for Unsynced<B> {
    fn default() -> Self {
        Self(Mutex::new(Writes { count: 0, files: Vec::new() }))
    }
}

impl<B: Blob> Unsynced<B> {
    fn lock(&self) -> MutexGuard<'_, Writes<B>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a write.
    fn note(&self, file: &Arc<B>) {
        let mut writes = self.lock();
        writes.count += 1;
        let count = writes.count;
        let place = writes.files.iter().position(|(known, _)| Arc::ptr_eq(known, file));
        match place {
            Some(place) => writes.files[place].1 = count,
            None => writes.files.push((file.clone(), count)),
        }
    }

    fn files(&self) -> Vec<(Arc<B>, u64)> {
        self.lock().files.clone()
    }

    /// Forgets files that are synced, but for those that were written to since.
    fn forget(&self, synced: &[(Arc<B>, u64)]) {
        let is_synced = |(file, last): &(Arc<B>, u64)| synced.iter().any(|(other, until)| Arc::ptr_eq(file, other) && last == until);
        self.lock().files.retain(|write| !is_synced(write));
    }

    /// Syncs all of them.
    async fn sync(&self) -> Result<(), Error> {
        let files = self.files();
        for (file, _) in &files {
            file.sync().await?;
        }
        self.forget(&files);
        Ok(())
    }
}

/// A file of the engine.
pub struct EngineFile<B> {
    file: Arc<B>,
    /// None where every file is synced by itself.
    unsynced: Option<Arc<Unsynced<B>>>,
    is_of_record: bool,
}

impl<B: Blob> EngineFile<B> {
    /// A file that is synced by itself where there is no record, and otherwise together with it. `is_of_record` says that it is one of the record's.
    pub(crate) fn new(file: B, record: Option<&Record<B>>, is_of_record: bool) -> Self {
        Self { file: Arc::new(file), unsynced: record.map(|record| record.unsynced.clone()), is_of_record }
    }

    /// Where a write of this file is noted in place of being synced.
    fn deferring(&self) -> Option<&Unsynced<B>> {
        self.unsynced.as_deref().filter(|_| self.is_of_record)
    }

    /// Syncs the record's writes, as this file is about to be.
    async fn sync_record(&self) -> Result<(), Error> {
        match &self.unsynced {
            Some(unsynced) => unsynced.sync().await,
            None => Ok(()),
        }
    }
}

impl<B: Blob> Blob for EngineFile<B> {
    async fn read_at_buf(
        &self,
        offset: u64,
        len: usize,
        bufs: impl Into<IoBufsMut> + Send,
        options: ReadOptions,
    ) -> Result<IoBufsMut, Error> {
        self.file.read_at_buf(offset, len, bufs, options).await
    }

    async fn read_at(&self, offset: u64, len: usize, options: ReadOptions) -> Result<IoBufsMut, Error> {
        self.file.read_at(offset, len, options).await
    }

    fn read_many(&self, ranges: &[(u64, usize)], options: ReadOptions) -> impl Stream<Item = Result<(usize, IoBufsMut), Error>> + Send {
        self.file.read_many(ranges, options)
    }

    async fn start_read_many(&self, ranges: &[(u64, usize)], options: ReadOptions) -> Handle<Vec<IoBufsMut>> {
        self.file.start_read_many(ranges, options).await
    }

    async fn write_at(&self, offset: u64, bufs: impl Into<IoBufs> + Send, options: WriteOptions) -> Result<(), Error> {
        let is_synced = options.contains(WriteOptions::SYNC);
        if let Some(unsynced) = self.deferring() {
            self.file.write_at(offset, bufs, options.without(WriteOptions::SYNC)).await?;
            if is_synced {
                unsynced.note(&self.file);
            }
            return Ok(());
        }
        let write = self.file.write_at(offset, bufs, options);
        if is_synced { try_join(write, self.sync_record()).await.map(|_| ()) } else { write.await }
    }

    async fn resize(&self, len: u64) -> Result<(), Error> {
        self.file.resize(len).await
    }

    async fn sync(&self) -> Result<(), Error> {
        if let Some(unsynced) = self.deferring() {
            unsynced.note(&self.file);
            return Ok(());
        }
        try_join(self.file.sync(), self.sync_record()).await.map(|_| ())
    }

    async fn start_sync(&self) -> Handle<()> {
        if let Some(unsynced) = self.deferring() {
            unsynced.note(&self.file);
            return Handle::ready(Ok(()));
        }
        let own = self.file.start_sync().await;
        let Some(unsynced) = self.unsynced.clone() else { return own };
        let files = unsynced.files();
        if files.is_empty() {
            return own;
        }
        let mut begun = Vec::new();
        for (file, _) in &files {
            begun.push(file.start_sync().await);
        }
        Handle::from_future(async move {
            own.await?;
            for sync in begun {
                sync.await?;
            }
            unsynced.forget(&files);
            Ok(())
        })
    }
}

/// The record of a validator that signs alone.
pub(crate) struct Record<B: Send + 'static> {
    unsynced: Arc<Unsynced<B>>,
    ahead: Mutex<Vec<Ahead<B>>>,
}

/// A file that is made before the engine asks for it: to make one takes three waits for the disk, and each round has its own.
struct Ahead<B: Send + 'static> {
    partition: String,
    name: Vec<u8>,
    opening: Handle<Result<Opened<B>, Error>>,
}

impl<B: Send + 'static> Default for Record<B> {
    fn default() -> Self {
        Self { unsynced: Arc::default(), ahead: Mutex::default() }
    }
}

impl<B: Blob> Record<B> {
    fn ahead(&self) -> MutexGuard<'_, Vec<Ahead<B>>> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of this name, where it was made ahead.
    pub(crate) fn take(&self, partition: &str, name: &[u8]) -> Option<Handle<Result<Opened<B>, Error>>> {
        let mut ahead = self.ahead();
        let place = ahead.iter().position(|file| file.partition == partition && file.name == name)?;
        Some(ahead.swap_remove(place).opening)
    }

    /// Makes the file of the round after this one.
    pub(crate) fn make_next(&self, partition: &str, name: &[u8], open: impl FnOnce(String, Vec<u8>) -> Handle<Result<Opened<B>, Error>>) {
        let round = name.try_into().ok().map(u64::from_be_bytes);
        let Some(next) = round.and_then(|round| round.checked_add(1)) else { return };
        let (partition, name) = (partition.to_owned(), next.to_be_bytes().to_vec());
        let mut ahead = self.ahead();
        if ahead.len() < MADE_AHEAD {
            let opening = open(partition.clone(), name.clone());
            ahead.push(Ahead { partition, name, opening });
        }
    }

    /// Syncs the record. No file of it is held open here afterwards.
    pub(crate) async fn sync(&self) -> Result<(), Error> {
        self.unsynced.sync().await
    }

    /// Ends what is under way in a partition that is about to be removed.
    pub(crate) async fn settle(&self, partition: &str) -> Result<(), Error> {
        let all = mem::take(&mut *self.ahead());
        let (here, elsewhere): (Vec<_>, Vec<_>) = all.into_iter().partition(|file| file.partition == partition);
        *self.ahead() = elsewhere;
        for file in here {
            // A file that could not be made is none.
            let _ = file.opening.await;
        }
        self.sync().await
    }
}

#[cfg(test)]
mod tests;
