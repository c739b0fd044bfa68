//! What a runner must not forget: the results that it committed to, or is about to.
//!
//! A result is on the disk before its commitment is on the chain. So whoever kills the runner between the two, or between commitment and
//! revelation, kills no money: the next start finds the result and continues. The salt is derived from the runner's key, job and
//! report, and is not kept.
//!
//! Writes are gathered: whoever waits while one is fsynced goes together with the next.

use crate::report::OwnedReport;
use cowboy_api::HexAddress;
use cowboy_service::Failures;
use cowboy_types::Hash;
use redb::{
    Database, DatabaseError, Durability, ReadableDatabase as _, ReadableTable as _, StorageBackend, StorageError, TableDefinition,
    TableError, backends::InMemoryBackend,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::Permissions,
    io::{self, ErrorKind},
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
    /// Opens the journal in this folder, making it where there is none, and answers what it remembers. One that has an owner is read on a full disk, too.
    pub fn open(folder: &Path, owner: &Owner) -> Result<(Self, BTreeMap<Hash, Record>), JournalError> {
        Self::open_with(open, folder, owner)
    }

    /// The same, with what opens its file to be written.
    fn open_with(
        open: impl FnOnce(&Path) -> Result<Database, DatabaseError>,
        folder: &Path,
        owner: &Owner,
    ) -> Result<(Self, BTreeMap<Hash, Record>), JournalError> {
        let path = folder.join("journal.redb");
        let fail = |reason: String| JournalError::File { path: path.clone(), reason };
        std::fs::create_dir_all(folder).map_err(|error| fail(error.to_string()))?;
        let (database, is_writable) = match open(&path) {
            Ok(database) => (database, true),
            Err(error) if is_full(&error) => {
                // A file that has no owner has no results either.
                let copied = copy(&path).ok().filter(|copied| matches!(owner_of(copied), Ok(Some(_))));
                let copied = copied.ok_or_else(|| fail(error.to_string()))?;
                tracing::warn!(file = %path.display(), %error, "the journal is only read; new results wait until it can be written");
                (copied, false)
            }
            Err(error) => return Err(fail(error.to_string())),
        };
        // Results are nobody else's before they are revealed. Containers have to get through the folder.
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(|error| fail(error.to_string()))?;
        if let Some(found) = claim(&database, owner).map_err(|error| fail(error.to_string()))? {
            return Err(JournalError::Foreign { path, found });
        }
        let records = read(&database).map_err(|error| fail(error.to_string()))?;
        Ok((Self::begin(Some(database).filter(|_| is_writable), path)?, records))
    }

    /// Starts the thread that writes to a file. It opens one that is not open.
    fn begin(database: Option<Database>, path: PathBuf) -> Result<Self, JournalError> {
        let (orders, received) = mpsc::channel();
        let file = path.clone();
        let writer = std::thread::Builder::new().name("journal".into()).spawn(move || serve(database, &file, &received));
        match writer {
            Ok(writer) => Ok(Self { orders: Some(orders), writer: Some(writer), path }),
            Err(error) => Err(JournalError::File { path, reason: error.to_string() }),
        }
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

/// Writes the owner's name into an empty journal. Answers the owner's where it is another's. One that has an owner is only read.
fn claim(database: &Database, owner: &Owner) -> Result<Option<String>, redb::Error> {
    if let Some(found) = owner_of(database)? {
        return Ok(Some(found).filter(|found| found != owner).map(|found| found.runner.to_string()));
    }
    let write = database.begin_write()?;
    write.open_table(ABOUT)?.insert("owner", serde_json::to_vec(owner).expect("an owner is JSON").as_slice())?;
    write.open_table(JOBS)?;
    write.commit()?;
    Ok(None)
}

/// Whose journal it is; nobody's where it is new.
fn owner_of(database: &Database) -> Result<Option<Owner>, redb::Error> {
    let about = match database.begin_read()?.open_table(ABOUT) {
        Ok(about) => about,
        Err(TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let found = about.get("owner")?;
    Ok(found.and_then(|bytes| serde_json::from_slice(bytes.value()).ok()))
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

/// Opens a file to be written, which is written at once: the library notes in it that it is open.
fn open(path: &Path) -> Result<Database, DatabaseError> {
    Database::builder().set_cache_size(CACHE_BYTES).create(path)
}

/// Whether a file cannot be opened because its disk has no room.
fn is_full(error: &DatabaseError) -> bool {
    let DatabaseError::Storage(StorageError::Io(error)) = error else { return false };
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// What is in a file, to be read while the disk is full. What a runner that was killed left half written is repaired in memory.
fn copy(path: &Path) -> Result<Database, redb::Error> {
    Ok(Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(memory(&std::fs::read(path)?)?)?)
}

/// These bytes as a file in memory.
fn memory(bytes: &[u8]) -> io::Result<InMemoryBackend> {
    let memory = InMemoryBackend::new();
    StorageBackend::set_len(&memory, bytes.len() as u64)?;
    StorageBackend::write(&memory, 0, bytes)?;
    Ok(memory)
}

/// Writes what is ordered until nobody can order any more.
fn serve(mut database: Option<Database>, path: &Path, orders: &mpsc::Receiver<Order>) {
    let mut failures = Failures::default();
    while let Ok(first) = orders.recv() {
        let together: Vec<Order> = std::iter::once(first).chain(orders.try_iter()).take(MOST_TOGETHER).collect();
        let done = write(&mut database, path, together.iter().map(|(write, _)| write)).map_err(|error| error.to_string());
        match &done {
            Err(error) if failures.is_logged(error) => {
                tracing::error!(file = %path.display(), %error, "the journal cannot be written; results wait for it, and no other work is begun");
            }
            Err(_) => {}
            Ok(()) if failures.is_over() => tracing::info!(file = %path.display(), "the journal is written again"),
            Ok(()) => {}
        }
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
pub(crate) mod failing;

#[cfg(test)]
mod tests {
    use super::{failing::Failing, *};
    use cowboy_api::Hex;
    use cowboy_types::Address;
    use std::sync::atomic::Ordering;

    fn owner(number: u8) -> Owner {
        Owner { runner: Hex(Address([number; 20])), genesis: Hex(Hash([7; 32])) }
    }

    fn record(output: &[u8]) -> Record {
        let usage = crate::execute::Usage::default();
        let report = OwnedReport { result: Some(Hex(output.to_vec())), usage, fault: 0, progress: 0, attestation: Hex(Vec::new()) };
        Record { report, height: 1 }
    }

    /// Decision 739: a runner that starts while the disk is full has the results that it has to reveal, also where it was killed before. It keeps others once
    /// there is room.
    #[tokio::test]
    async fn a_journal_is_read_on_a_full_disk() {
        let (folder, new) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let (path, job) = (folder.path().join("journal.redb"), Hash([3; 32]));
        let full = |path: &Path| {
            let disk = Failing::holding(&std::fs::read(path).expect("it is there"));
            disk.fails.store(true, Ordering::Relaxed);
            Database::builder().create_with_backend(disk)
        };
        let (journal, _) = Journal::open(folder.path(), &owner(1)).expect("a new journal");
        journal.keep(job, record(b"result")).await.expect("there is room");
        let of_a_killed_one = std::fs::read(&path).expect("it is there");
        drop(journal);
        for left in [std::fs::read(&path).expect("it is there"), of_a_killed_one] {
            std::fs::write(&path, left).expect("it is written");
            let (journal, found) = Journal::open_with(full, folder.path(), &owner(1)).expect("it can be read");
            assert_eq!(found, BTreeMap::from([(job, record(b"result"))]));
            assert!(matches!(Journal::open_with(full, folder.path(), &owner(2)), Err(JournalError::Foreign { .. })));
            journal.keep(Hash([4; 32]), record(b"next")).await.expect("there is room again");
            drop(journal);
            let (_, found) = Journal::open(folder.path(), &owner(1)).expect("nobody else has it");
            assert_eq!(found.len(), 2);
        }
        std::fs::write(new.path().join("journal.redb"), "").expect("it is written");
        let Err(refused) = Journal::open_with(full, new.path(), &owner(1)) else { panic!("whose it is has to be written") };
        assert!(refused.to_string().contains("no storage space"), "{refused}");
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
