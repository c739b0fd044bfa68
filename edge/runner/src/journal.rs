//! What a runner must not forget: the results that it committed to, or is about to.
//!
//! A result is on the disk before its commitment is on the chain. So whoever kills the runner between the two, or between commitment and
//! revelation, kills no money: the next start finds the result and continues. The salt is derived from the runner's key, job and
//! report, and is not kept.
//!
//! Writes are gathered: whoever waits while one is fsynced goes together with the next.

use crate::report::OwnedReport;
use cowboy_api::HexAddress;
use cowboy_types::Hash;
use redb::{Database, Durability, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::Permissions,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::mpsc,
    thread::JoinHandle,
};
use tokio::sync::oneshot;

/// Job → its record as JSON.
const JOBS: TableDefinition<&[u8; 32], &[u8]> = TableDefinition::new("jobs");

/// Name → JSON: whose journal it is.
const ABOUT: TableDefinition<&str, &[u8]> = TableDefinition::new("about");

/// Memory that the journal's pages may take.
const CACHE_BYTES: usize = 1024 * 1024;

/// The most writes in one transaction.
const MOST_TOGETHER: usize = 1_024;

/// What is known of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What came of the work.
    pub report: OwnedReport,
    /// When it was kept: jobs that the chain has forgotten are forgotten here too.
    pub height: u64,
}

/// Whose journal a file is: another runner's, or another chain's, is not to be mixed up with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The runner.
    pub runner: HexAddress,
    /// The chain's genesis.
    pub genesis: cowboy_api::HexHash,
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{path}: {reason}\n  fix: free the disk, check permissions, and see that no other runner uses the folder")]
    File {
        /// The file's path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// It belongs to another runner or chain.
    #[error("{path} is the journal of {found} on another chain, or of another runner\n  fix: set another folder as runner.state")]
    Foreign {
        /// The file's path.
        path: PathBuf,
        /// Whose it is.
        found: String,
    },
    /// The thread that writes is gone.
    #[error("the journal is closed")]
    Closed,
}

enum Write {
    Keep(Hash, Box<Record>),
    Forget(Vec<Hash>),
}

type Order = (Write, oneshot::Sender<Result<(), String>>);

/// An open journal. Dropping it waits for its last write.
pub struct Journal {
    orders: Option<mpsc::Sender<Order>>,
    writer: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl Journal {
    /// Opens the journal in this folder, making it where there is none, and answers what it remembers.
    pub fn open(folder: &Path, owner: &Owner) -> Result<(Self, BTreeMap<Hash, Record>), JournalError> {
        let path = folder.join("journal.redb");
        let fail = |reason: String| JournalError::File { path: path.clone(), reason };
        std::fs::create_dir_all(folder).map_err(|error| fail(error.to_string()))?;
        let database = open(&path).map_err(|error| fail(error.to_string()))?;
        // Results are nobody else's before they are revealed. Containers have to get through the folder.
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(|error| fail(error.to_string()))?;
        if let Some(found) = claim(&database, owner).map_err(|error| fail(error.to_string()))? {
            return Err(JournalError::Foreign { path, found });
        }
        let records = read(&database).map_err(|error| fail(error.to_string()))?;
        let (orders, received) = mpsc::channel();
        let file = path.clone();
        let writer = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || serve(database, &file, &received))
            .map_err(|error| fail(error.to_string()))?;
        Ok((Self { orders: Some(orders), writer: Some(writer), path }, records))
    }

    /// Keeps what is known of a job. It is on the disk when this is done.
    pub async fn keep(&self, job: Hash, record: Record) -> Result<(), JournalError> {
        self.order(Write::Keep(job, Box::new(record))).await
    }

    /// Forgets jobs that are over.
    pub async fn forget(&self, jobs: Vec<Hash>) -> Result<(), JournalError> {
        self.order(Write::Forget(jobs)).await
    }

    async fn order(&self, write: Write) -> Result<(), JournalError> {
        let (done, waiting) = oneshot::channel();
        self.orders.as_ref().and_then(|orders| orders.send((write, done)).ok()).ok_or(JournalError::Closed)?;
        waiting.await.map_err(|_| JournalError::Closed)?.map_err(|reason| JournalError::File { path: self.path.clone(), reason })
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(writer) = self.writer.take() {
            // A panic in it was said by itself.
            let _ = writer.join();
        }
    }
}

/// Writes the owner's name into an empty journal. Answers the owner's where it is another's.
fn claim(database: &Database, owner: &Owner) -> Result<Option<String>, redb::Error> {
    let write = database.begin_write()?;
    let found: Option<Owner> = {
        let mut about = write.open_table(ABOUT)?;
        let found = about.get("owner")?.and_then(|bytes| serde_json::from_slice(bytes.value()).ok());
        if found.is_none() {
            about.insert("owner", serde_json::to_vec(owner).expect("an owner is JSON").as_slice())?;
        }
        write.open_table(JOBS)?;
        found
    };
    write.commit()?;
    Ok(found.filter(|found| found != owner).map(|found| found.runner.to_string()))
}

fn read(database: &Database) -> Result<BTreeMap<Hash, Record>, redb::Error> {
    let transaction = database.begin_read()?;
    let table = transaction.open_table(JOBS)?;
    let mut records = BTreeMap::new();
    for row in table.iter()? {
        let (job, bytes) = row?;
        match serde_json::from_slice(bytes.value()) {
            Ok(record) => drop(records.insert(Hash(*job.value()), record)),
            Err(error) => tracing::warn!(job = %Hash(*job.value()), %error, "a record of the journal cannot be read"),
        }
    }
    Ok(records)
}

fn open(path: &Path) -> Result<Database, redb::DatabaseError> {
    Database::builder().set_cache_size(CACHE_BYTES).create(path)
}

/// Writes what is ordered until nobody can order any more.
fn serve(database: Database, path: &Path, orders: &mpsc::Receiver<Order>) {
    let mut database = Some(database);
    while let Ok(first) = orders.recv() {
        let together: Vec<Order> = std::iter::once(first).chain(orders.try_iter()).take(MOST_TOGETHER).collect();
        let done = write(&mut database, path, together.iter().map(|(write, _)| write)).map_err(|error| error.to_string());
        for (_, waiting) in together {
            // Whoever does not wait any more does not want to know.
            let _ = waiting.send(done.clone());
        }
    }
}

/// Writes, into a file that is opened anew after a failure: the library refuses every write after the first that failed, also when the disk has room again.
fn write<'a>(database: &mut Option<Database>, path: &Path, writes: impl Iterator<Item = &'a Write>) -> Result<(), redb::Error> {
    let opened = match database.take() {
        Some(opened) => opened,
        None => open(path)?,
    };
    apply(&opened, writes)?;
    *database = Some(opened);
    Ok(())
}

fn apply<'a>(database: &Database, writes: impl Iterator<Item = &'a Write>) -> Result<(), redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate).map_err(redb::Error::from)?;
    {
        let mut table = transaction.open_table(JOBS)?;
        for write in writes {
            match write {
                Write::Keep(job, record) => {
                    table.insert(&job.0, serde_json::to_vec(record).expect("a record is JSON").as_slice())?;
                }
                Write::Forget(jobs) => {
                    for job in jobs {
                        table.remove(&job.0)?;
                    }
                }
            }
        }
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_api::Hex;
    use cowboy_types::Address;
    use redb::{StorageBackend, backends::InMemoryBackend};
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    fn owner(number: u8) -> Owner {
        Owner { runner: Hex(Address([number; 20])), genesis: Hex(Hash([7; 32])) }
    }

    fn record(output: &[u8]) -> Record {
        let usage = crate::execute::Usage::default();
        let report = OwnedReport { result: Some(Hex(output.to_vec())), usage, fault: 0, progress: 0, attestation: Hex(Vec::new()) };
        Record { report, height: 1 }
    }

    /// A disk that fails for as long as somebody wants it to.
    #[derive(Debug, Default)]
    struct Failing {
        memory: InMemoryBackend,
        fails: Arc<AtomicBool>,
    }

    impl Failing {
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

    /// Decision 687: a disk that was full is written to again as soon as it has room, without a restart.
    #[test]
    fn a_journal_goes_on_after_a_failure() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("journal.redb");
        drop(open(&path).expect("a new file"));
        let disk = Failing::default();
        let fails = disk.fails.clone();
        let mut database = Some(Database::builder().create_with_backend(disk).expect("there is room"));
        let job = Hash([3; 32]);
        let keep = [Write::Keep(job, Box::new(record(b"result")))];
        fails.store(true, Ordering::Relaxed);
        assert!(write(&mut database, &path, keep.iter()).is_err());
        assert!(database.is_none(), "the file is opened anew");
        write(&mut database, &path, keep.iter()).expect("there is room again");
        let kept = read(database.as_ref().expect("it is open")).expect("it can be read");
        assert_eq!(kept, BTreeMap::from([(job, record(b"result"))]));
    }

    #[tokio::test]
    async fn what_was_kept_is_there_after_a_restart() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let (journal, found) = Journal::open(folder.path(), &owner(1)).expect("a new journal");
        assert!(found.is_empty());
        let mode = cowboy_host::files::mode_for_others(&folder.path().join("journal.redb"));
        assert_eq!(mode, None, "nobody else reads results before they are revealed");
        let waiting = (0..20).map(|number| journal.keep(Hash([number; 32]), record(&[number])));
        for done in futures::future::join_all(waiting).await {
            done.expect("it is kept");
        }
        journal.forget((1..20).map(|number| Hash([number; 32])).collect()).await.expect("it is forgotten");
        drop(journal);
        let (journal, found) = Journal::open(folder.path(), &owner(1)).expect("the same journal");
        assert_eq!(found, BTreeMap::from([(Hash([0; 32]), record(&[0]))]));
        assert!(matches!(Journal::open(folder.path(), &owner(1)), Err(JournalError::File { .. })), "one process at a time");
        drop(journal);
        assert!(matches!(Journal::open(folder.path(), &owner(2)), Err(JournalError::Foreign { .. })));
    }
}
