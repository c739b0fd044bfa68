//! The index's file, which is opened anew after a failure (decision 730).

use super::failed;
use redb::Database;
use std::io;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The index. The library refuses what comes after the first failure of a file, also when the disk has room again.
pub(super) struct Index {
    path: PathBuf,
    /// None after a failure.
    database: RwLock<Option<Database>>,
}

impl Index {
    /// Opens the file, and makes it where it is missing.
    ///
    /// # Errors
    ///
    /// If it cannot be made or read, or another process has it.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let database = Database::create(&path).map_err(failed)?;
        Ok(Self { path, database: RwLock::new(Some(database)) })
    }

    /// Does a piece of work, whose transactions end with it. Where it fails, the file is closed, and opened anew for the next one.
    ///
    /// # Errors
    ///
    /// If the work fails, or the file cannot be opened.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Database) -> io::Result<T>) -> io::Result<T> {
        let database = self.opened()?;
        let done = match database.as_ref() {
            Some(database) => work(database),
            None => Err(io::Error::other("the index failed just now")),
        };
        drop(database);
        if done.is_err() {
            *self.write() = None;
        }
        done
    }

    fn opened(&self) -> io::Result<RwLockReadGuard<'_, Option<Database>>> {
        let database = self.read();
        if database.is_some() {
            return Ok(database);
        }
        drop(database);
        let mut database = self.write();
        if database.is_none() {
            // A file that is gone is not made anew: all that the relay has would be missing in it.
            *database = Some(Database::open(&self.path).map_err(failed)?);
        }
        drop(database);
        Ok(self.read())
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<Database>> {
        self.database.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<Database>> {
        self.database.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use redb::{ReadableDatabase as _, StorageBackend, TableDefinition, backends::InMemoryBackend};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    const ROWS: TableDefinition<'_, u64, u64> = TableDefinition::new("rows");

    /// A disk that is full for as long as somebody wants it to be.
    #[derive(Debug, Default)]
    struct Disk {
        memory: InMemoryBackend,
        is_full: Arc<AtomicBool>,
    }

    impl Disk {
        fn require_room(&self) -> io::Result<()> {
            if self.is_full.load(Ordering::Relaxed) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl StorageBackend for Disk {
        fn len(&self) -> io::Result<u64> {
            StorageBackend::len(&self.memory)
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            StorageBackend::read(&self.memory, offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.require_room()?;
            StorageBackend::set_len(&self.memory, len)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.require_room()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.require_room()?;
            StorageBackend::write(&self.memory, offset, data)
        }
    }

    fn put(index: &Index, number: u64) -> io::Result<()> {
        index.with(|database| {
            let writing = database.begin_write().map_err(failed)?;
            writing.open_table(ROWS).map_err(failed)?.insert(number, number).map_err(failed)?;
            writing.commit().map_err(failed)
        })
    }

    fn get(index: &Index, number: u64) -> io::Result<Option<u64>> {
        index.with(|database| {
            let reading = database.begin_read().map_err(failed)?;
            let rows = reading.open_table(ROWS).map_err(failed)?;
            Ok(rows.get(number).map_err(failed)?.map(|row| row.value()))
        })
    }

    /// Decision 730: a disk that was full is written to and read from again as soon as it has room, without a restart.
    #[test]
    fn an_index_continues_after_a_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut index = Index::open(folder.path().join("index.redb")).expect("a new file");
        put(&index, 1).expect("there is room");
        let disk = Disk::default();
        let is_full = disk.is_full.clone();
        let failing = Database::builder().create_with_backend(disk).expect("there is room");
        // The file is closed, and what is used until the failure stands in its place.
        *index.database.get_mut().expect("no thread panicked") = Some(failing);
        is_full.store(true, Ordering::Relaxed);
        assert_eq!(put(&index, 2).expect_err("there is no room").kind(), io::ErrorKind::StorageFull);
        put(&index, 3).expect("the file is opened anew");
        let found = [1, 2, 3].map(|number| get(&index, number).expect("it is read"));
        assert_eq!(found, [Some(1), None, Some(3)]);
    }
}
