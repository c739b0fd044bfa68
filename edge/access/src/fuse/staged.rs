//! What is at a path, what is open, and what of both lies on this computer. The tree and whatever changes it are made of these.

use crate::spool::Spooled;
use crate::store::{About, Sent};
use cowboy_host::clock;
use cowboy_types::{Hash, Text};
use cowboy_volume::Entry;
use cowboy_volumes::Path;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{Mutex, Notify, OnceCell};

/// Bytes of a file that are fetched at once: a few stripes.
pub(super) const BLOCK: u64 = 1 << 20;

/// Blocks that are kept.
const BLOCKS: usize = 64;

/// Contents of a file that are remembered as tried.
const MAX_TRIED: usize = 64;

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A folder.
    Folder,
    /// A file.
    File {
        /// Its length.
        size: u64,
        /// When it was written: ms since 1970.
        written_ms: u64,
    },
}

/// A block of a file, with the file's record and the block's number.
type Block = (Hash, u64, Rc<OnceCell<Vec<u8>>>);

/// Blocks of files that were read, those that were read last at the end.
#[derive(Default)]
pub(super) struct Blocks(RefCell<VecDeque<Block>>);

impl Blocks {
    /// The place of a block of the file with this record. Another writer may name the same content for a file that has another one.
    pub(super) fn place(&self, record: Hash, number: u64) -> Rc<OnceCell<Vec<u8>>> {
        let mut blocks = self.0.borrow_mut();
        let known = blocks.iter().position(|(of, block, _)| *of == record && *block == number);
        let found = known.and_then(|at| blocks.remove(at)).map_or_else(Rc::default, |(_, _, place)| place);
        blocks.push_back((record, number, found.clone()));
        if blocks.len() > BLOCKS {
            blocks.pop_front();
        }
        found
    }
}

/// What is open.
#[derive(Clone)]
pub(super) enum Open {
    /// A file with a content of this computer, and whether it may be written.
    Staged(Rc<Staged>, bool),
    /// A file as it was committed.
    Entry(Rc<Entry>),
    /// The names in a folder, and whether each is one itself.
    Folder(Rc<Vec<(String, bool)>>),
}

/// A file with a content of this computer.
pub(super) struct Staged {
    /// Where it is; nowhere once it was removed.
    pub(super) path: RefCell<Option<String>>,
    pub(super) spooled: Arc<Spooled>,
    pub(super) kind: Text<64>,
    /// Whether something was written since it was sent.
    pub(super) is_dirty: Cell<bool>,
    /// How many may write.
    pub(super) writers: Cell<usize>,
    pub(super) written_ms: Cell<u64>,
    /// The content at its path that was committed last, as far as this program knows.
    pub(super) committed: Cell<Option<Hash>>,
    /// Contents of which a commit was tried since, the newest last: any of them may have been committed without this program hearing of it.
    pub(super) tried: RefCell<Vec<Hash>>,
    /// What was sent last and is not committed, as long as nothing is written.
    pub(super) sent: RefCell<Option<Sent>>,
    /// Held while it is sent and committed.
    pub(super) storing: Mutex<()>,
    /// How often its commit failed since the last one that was made.
    pub(super) failures: Cell<u32>,
    /// Whether it is being committed in the background, again and again until it is committed.
    pub(super) is_tried: Cell<bool>,
    /// Ends the wait before it is tried again.
    pub(super) again: Notify,
}

impl Staged {
    pub(super) fn node(&self) -> Node {
        Node::File { size: self.spooled.length(), written_ms: self.written_ms.get() }
    }

    /// Whether nobody has it open for writing. One that was removed is committed nowhere.
    pub(super) fn is_closed(&self) -> bool {
        self.writers.get() == 0 && self.path.borrow().is_some()
    }

    /// Whether it is at a path.
    pub(super) fn is_at(&self, path: &str) -> bool {
        self.path.borrow().as_deref() == Some(path)
    }

    /// What is said of it when it is sent.
    pub(super) fn about(&self) -> About {
        About { written_ms: self.written_ms.get(), kind: self.kind.clone() }
    }

    /// What relays have of it from an earlier try, where that is what would be sent now.
    pub(super) fn sent_as(&self, path: &Path, about: &About) -> Option<Sent> {
        let sent = self.sent.borrow().clone()?;
        let meta = &sent.entry.meta;
        let is_same = &*meta.path == path.as_str() && meta.written_ms == about.written_ms && meta.kind == about.kind;
        is_same.then_some(sent)
    }

    /// Notes what was sent and is to be committed next.
    pub(super) fn keep_sent(&self, sent: Sent) {
        let content = sent.entry.meta.hash;
        let mut tried = self.tried.borrow_mut();
        tried.retain(|other| *other != content);
        if tried.len() >= MAX_TRIED {
            tried.remove(0);
        }
        tried.push(content);
        // What was written while it was sent may be in it or not.
        self.sent.replace(Some(sent).filter(|_| !self.is_dirty.get()));
    }

    /// Whether its writer has seen a content at its path, or put it there.
    pub(super) fn knows(&self, content: &Hash) -> bool {
        self.committed.get().as_ref() == Some(content) || self.tried.borrow().contains(content)
    }

    /// Notes that a content of it is committed at its path.
    pub(super) fn is_now(&self, content: Hash) {
        self.forget_committed();
        self.committed.set(Some(content));
    }

    /// Takes over what the writer of another file has seen at the path: this one comes in its place.
    pub(super) fn follow(&self, other: &Self) {
        self.committed.set(other.committed.get());
        self.tried.borrow_mut().clone_from(&other.tried.borrow());
    }

    /// Forgets what was committed or tried at its path: it has another one.
    pub(super) fn forget_committed(&self) {
        self.committed.set(None);
        self.tried.borrow_mut().clear();
        self.sent.replace(None);
    }

    /// Notes that something was written.
    pub(super) fn touch(&self) {
        self.sent.replace(None);
        self.is_dirty.set(true);
        self.written_ms.set(clock::now_ms());
    }
}

/// A file that was removed here, and may still be in the volume.
pub(super) struct Removal {
    pub(super) path: Path,
    /// Its content, where it was committed. Another content at its path is another file.
    pub(super) content: Cell<Option<Hash>>,
    /// Contents of it of which a commit was tried: any of them may have been committed as well.
    pub(super) tried: RefCell<Vec<Hash>>,
    /// How often its removal failed.
    pub(super) failures: Cell<u32>,
    /// Whether a commit of it failed before it was removed: another writer's file may have come there since, so that the first try takes no other content either.
    pub(super) was_failing: Cell<bool>,
    /// Held while it is committed, and by whoever puts another file in its place.
    pub(super) trying: Arc<Mutex<()>>,
}

impl Removal {
    pub(super) fn new(path: Path, content: Option<Hash>, failures: u32) -> Rc<Self> {
        let (content, failures) = (Cell::new(content), Cell::new(failures));
        Rc::new(Self { path, content, tried: RefCell::default(), failures, was_failing: Cell::default(), trying: Arc::default() })
    }

    /// Whether it removes whatever is at its path: until it failed, if no commit of the file did.
    pub(super) fn removes_anything(&self) -> bool {
        self.failures.get() == 0 && !self.was_failing.get()
    }

    /// Whether a content at its path is one that it removes.
    pub(super) fn removes(&self, content: &Hash) -> bool {
        self.removes_anything() || self.content.get().as_ref() == Some(content) || self.tried.borrow().contains(content)
    }
}
