//! A disk without room, for tests.

use super::Journal;
use redb::{Database, StorageBackend, backends::InMemoryBackend};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A disk that fails for as long as somebody wants it to.
#[derive(Debug, Default)]
pub(crate) struct Failing {
    memory: InMemoryBackend,
    /// Whether it has no room.
    pub(crate) fails: Arc<AtomicBool>,
}

impl Failing {
    /// A disk whose file has these bytes.
    pub(crate) fn holding(bytes: &[u8]) -> Self {
        Self { memory: super::memory(bytes).expect("there is room"), fails: Arc::default() }
    }

    fn require_room(&self) -> std::io::Result<()> {
        match self.fails.load(Ordering::Relaxed) {
            true => Err(std::io::ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }
}

impl StorageBackend for Failing {
    fn len(&self) -> std::io::Result<u64> {
        StorageBackend::len(&self.memory)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        StorageBackend::read(&self.memory, offset, out)
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.require_room()?;
        StorageBackend::set_len(&self.memory, len)
    }

    fn sync_data(&self) -> std::io::Result<()> {
        self.require_room()
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.require_room()?;
        StorageBackend::write(&self.memory, offset, data)
    }
}

impl Journal {
    /// A journal that fails with each write until a file can be made at this path, where a folder stands.
    pub(crate) fn failing(path: &Path) -> Self {
        let disk = Failing::default();
        let fails = disk.fails.clone();
        let database = Database::builder().create_with_backend(disk).expect("there is room");
        fails.store(true, Ordering::Relaxed);
        std::fs::create_dir(path).expect("nothing is there");
        Self::begin(Some(database), path.to_owned()).expect("a thread")
    }
}
