//! A volume in memory: what tests have in the place of relays and a chain.

use crate::engine::Engine;
use crate::fault::Fault;
use crate::spool::{Body, Spool};
use crate::store::{About, Edit, Sent, Space, Store};
use async_trait::async_trait;
use cowboy_cli::volumes::Rights;
use cowboy_types::wire::Fixed;
use cowboy_types::{Blob, Hash, List, Text, blake3};
use cowboy_volume::Entry;
use cowboy_volume::segments::Meta;
use cowboy_volumes::{Leaf, Name, Path};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// All that the account may do.
pub(crate) const OWNER: Rights = Rights { partition: None, reads: true, writes: true, removes: true };

static WRITES: AtomicU64 = AtomicU64::new(0);

/// A spool of at most this many bytes, in the folder of temporary files.
pub(crate) fn spool(most: u64) -> Spool {
    Spool::open(&std::env::temp_dir(), most).expect("there is such a folder")
}

/// An entry of a file with this content.
pub(crate) fn entry(path: &str, content: &[u8]) -> Entry {
    let meta = Meta {
        path: Text::new(path).expect("a path is short"),
        size: u64::try_from(content.len()).expect("it is short"),
        hash: blake3(&[content]),
        written_ms: 1_700_000_000_123,
        kind: Text::new("text/plain").expect("it is short"),
    };
    let leaf = Leaf {
        tag: Fixed([0; 32]),
        // No two writes have the same.
        write_id: Fixed(u128::from(WRITES.fetch_add(1, Ordering::Relaxed)).to_be_bytes()),
        ciphertext_bytes: meta.size,
        shard_bytes: 0,
        shards: List::default(),
        meta: Blob::default(),
    };
    Entry { meta, leaf }
}

/// What a partition has.
#[derive(Clone, Default)]
struct Partition {
    files: BTreeMap<String, Entry>,
    commits: u64,
}

/// What a test sees of a volume, and makes of it.
pub(crate) struct Kept {
    partitions: RefCell<BTreeMap<Name, Partition>>,
    /// Contents that were sent, by their hashes.
    contents: RefCell<BTreeMap<Hash, Vec<u8>>>,
    /// What somebody else commits before the next commit: it comes second.
    pub(crate) before: RefCell<Vec<(&'static str, &'static [u8])>>,
    /// How many changes each commit had.
    pub(crate) commits: RefCell<Vec<usize>>,
    /// The most bytes of all files.
    pub(crate) quota: Cell<u64>,
    /// Whether nothing can be committed.
    pub(crate) is_broken: Cell<bool>,
    /// Whether nobody hears of the next commit: it is made, and is to be made anew.
    pub(crate) is_unheard: Cell<bool>,
    /// Whether the next commit is made and seems to fail.
    pub(crate) is_deaf: Cell<bool>,
    /// Why nothing can be committed, where that is no matter of time.
    pub(crate) refusal: RefCell<Option<Fault>>,
    /// How many commits were tried.
    pub(crate) tries: Cell<usize>,
    /// How many files were sent.
    pub(crate) sends: Cell<usize>,
    /// Whether the relays have lost what was sent and not committed.
    pub(crate) is_lost: Cell<bool>,
    /// How many turns of other tasks a list takes, once it is read.
    pub(crate) turns: Cell<usize>,
}

/// A volume in memory.
pub(crate) struct Memory {
    kept: Rc<Kept>,
    rights: Rights,
}

impl Kept {
    /// Puts files as somebody else does.
    pub(crate) fn put(&self, files: &[(&str, &[u8])]) {
        for (path, content) in files {
            let (path, entry) = (Path::new(path).expect("a path"), entry(path, content));
            self.contents.borrow_mut().insert(entry.meta.hash, content.to_vec());
            let mut partitions = self.partitions.borrow_mut();
            let partition = partitions.entry(path.partition()).or_default();
            partition.files.insert(path.as_str().to_owned(), entry);
            partition.commits += 1;
        }
    }

    /// The content of a file.
    pub(crate) fn content(&self, path: &str) -> Option<Vec<u8>> {
        let partitions = self.partitions.borrow();
        let entry = partitions.get(&Path::new(path)?.partition())?.files.get(path)?;
        self.contents.borrow().get(&entry.meta.hash).cloned()
    }

    /// Paths of all files.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.partitions.borrow().values().flat_map(|partition| partition.files.keys().cloned()).collect()
    }

    /// Forgets the contents of all files: who reads them reads nothing.
    #[cfg(test)]
    pub(crate) fn forget_contents(&self) {
        self.contents.borrow_mut().clear();
    }

    fn used(&self) -> u64 {
        self.partitions.borrow().values().flat_map(|partition| partition.files.values()).map(|entry| entry.meta.size).sum()
    }
}

/// An engine over a volume in memory, for an account with these rights, and what a test sees of it.
pub(crate) fn engine(rights: Rights, is_read_only: bool) -> (Rc<Engine>, Rc<Kept>) {
    let kept = Rc::new(Kept {
        partitions: RefCell::default(),
        contents: RefCell::default(),
        before: RefCell::default(),
        commits: RefCell::default(),
        quota: Cell::new(1 << 30),
        is_broken: Cell::new(false),
        is_unheard: Cell::new(false),
        is_deaf: Cell::new(false),
        refusal: RefCell::default(),
        tries: Cell::new(0),
        sends: Cell::new(0),
        is_lost: Cell::new(false),
        turns: Cell::new(0),
    });
    (Engine::new(Box::new(Memory { kept: kept.clone(), rights }), is_read_only), kept)
}

/// Another engine over the same volume, as after a restart.
#[cfg(test)]
pub(crate) fn again(kept: &Rc<Kept>) -> Rc<Engine> {
    Engine::new(Box::new(Memory { kept: kept.clone(), rights: OWNER }), false)
}

fn root_of(partition: &Partition) -> Hash {
    blake3(&[&partition.commits.to_be_bytes()])
}

#[async_trait(?Send)]
impl Store for Memory {
    fn rights(&self) -> Rights {
        self.rights
    }

    async fn names(&self) -> Result<Vec<Name>, Fault> {
        let partitions = self.kept.partitions.borrow();
        Ok(partitions.iter().filter(|(_, partition)| !partition.files.is_empty()).map(|(name, _)| name.clone()).collect())
    }

    async fn has_files(&self, partition: &Name) -> Result<bool, Fault> {
        Ok(self.kept.partitions.borrow().get(partition).is_some_and(|partition| !partition.files.is_empty()))
    }

    async fn root(&self, partition: &Name) -> Result<Option<Hash>, Fault> {
        Ok(self.kept.partitions.borrow().get(partition).map(root_of))
    }

    async fn list(&self, partition: &Name) -> Result<Vec<Entry>, Fault> {
        let read = self.kept.partitions.borrow().get(partition).cloned().unwrap_or_default();
        for _ in 0..self.kept.turns.get() {
            tokio::task::yield_now().await;
        }
        Ok(read.files.into_values().collect())
    }

    async fn find(&self, path: &Path) -> Result<Option<Entry>, Fault> {
        let partitions = self.kept.partitions.borrow();
        Ok(partitions.get(&path.partition()).and_then(|partition| partition.files.get(path.as_str()).cloned()))
    }

    async fn read(&self, entry: &Entry, part: Range<u64>, out: &mut (dyn AsyncWrite + Unpin)) -> Result<(), Fault> {
        let content = self.kept.contents.borrow().get(&entry.meta.hash).cloned().unwrap_or_default();
        let within = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(content.len());
        Ok(out.write_all(&content[within(part.start)..within(part.end)]).await?)
    }

    async fn send(&self, path: &Path, body: &Body, about: &About) -> Result<Sent, Fault> {
        self.kept.sends.set(self.kept.sends.get() + 1);
        let content = body.bytes().await;
        let mut entry = entry(path.as_str(), &content);
        (entry.meta.written_ms, entry.meta.kind) = (about.written_ms, about.kind.clone());
        self.kept.contents.borrow_mut().insert(entry.meta.hash, content);
        Ok(Sent { entry, height: 0 })
    }

    async fn is_sent(&self, sent: &Sent) -> Result<bool, Fault> {
        Ok(!self.kept.is_lost.get() && self.kept.contents.borrow().contains_key(&sent.entry.meta.hash))
    }

    async fn commit(&self, partition: &Name, edits: &[Edit], on: Option<Hash>) -> Result<Option<Hash>, Fault> {
        // As a transaction, it takes a while.
        tokio::task::yield_now().await;
        self.kept.tries.set(self.kept.tries.get() + 1);
        let before = self.kept.before.take();
        self.kept.put(&before);
        if self.kept.is_broken.get() {
            return Err(Fault::outside("no relay answers"));
        }
        if let Some(refusal) = self.kept.refusal.borrow().clone() {
            return Err(refusal);
        }
        let mut partitions = self.kept.partitions.borrow_mut();
        if partitions.get(partition).map(root_of) != on {
            return Ok(None);
        }
        let mut changed = partitions.get(partition).cloned().unwrap_or_default();
        for edit in edits {
            match edit {
                Edit::Put(entry) => drop(changed.files.insert(entry.meta.path.to_string(), (**entry).clone())),
                Edit::Remove(path) => drop(changed.files.remove(path.as_str())),
            }
        }
        let used: u64 = changed.files.values().map(|entry| entry.meta.size).sum();
        if used > self.kept.quota.get() {
            return Err(Fault::OverQuota("the volume has no room".to_owned()));
        }
        changed.commits += 1;
        self.kept.commits.borrow_mut().push(edits.len());
        let root = root_of(&changed);
        partitions.insert(partition.clone(), changed);
        if self.kept.is_deaf.take() {
            return Err(Fault::outside("nobody says what came of the transaction"));
        }
        Ok(Some(root).filter(|_| !self.kept.is_unheard.take()))
    }

    async fn space(&self) -> Result<Space, Fault> {
        Ok(Space { quota: self.kept.quota.get(), used: self.kept.used() })
    }
}

/// Runs a test on a thread of its own tasks, as the program does.
pub(crate) fn locally(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, test);
}
