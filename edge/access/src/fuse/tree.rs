//! What is in the mounted folder: the files that the chain has, and what was changed here and is not committed yet.
//!
//! Volumes have no folders but those of their files. One that is made here, or whose last file was removed here, is there until the volume is unmounted.

use super::journal::Journal;
use super::names::{Numbers, child, errno, within};
use super::outage::Outage;
use super::staged::{Blocks, Node, Open, Removal, Staged};
use crate::engine::{Engine, Listing};
use crate::fault::Fault;
use crate::metrics::Metrics;
use crate::spool::Spool;
use cowboy_console::output::Output;
use cowboy_volume::Entry;
use cowboy_volumes::Name;
use fuser::Errno;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// For how long what was seen of a partition is believed to stand.
pub(super) const FRESH: Duration = Duration::from_secs(1);

/// After how long a removal or a commit that failed is tried again. That is doubled with each failure.
const RETRY: Duration = Duration::from_secs(1);

/// A mounted volume.
pub(super) struct Mounted {
    pub(super) engine: Rc<Engine>,
    pub(super) spool: Spool,
    pub(super) output: Output,
    pub(super) numbers: RefCell<Numbers>,
    /// Folders without files that are there nevertheless.
    pub(super) folders: RefCell<BTreeSet<String>>,
    /// Files with a content of this computer, by path.
    pub(super) staged: RefCell<BTreeMap<String, Rc<Staged>>>,
    /// Files that were removed here, and may still be in the volume, or in what is known of it.
    pub(super) removed: RefCell<BTreeMap<String, Rc<Removal>>>,
    /// Those whose removal failed, for the next mount.
    pub(super) journal: Journal,
    /// After how long a removal or a commit that failed once is tried again.
    pub(super) retry: Cell<Duration>,
    pub(super) metrics: Arc<Metrics>,
    /// What is open, by its handle.
    pub(super) open: RefCell<BTreeMap<u64, Open>>,
    pub(super) next: Cell<u64>,
    pub(super) blocks: Blocks,
    /// What could not be committed, and why.
    pub(super) failed: RefCell<BTreeMap<String, String>>,
    /// How many files wait for a commit after one that failed.
    pub(super) waiting: Cell<usize>,
    /// Whether it was said that the volume cannot be read.
    pub(super) outage: Outage,
}

/// Whether a path lies in a folder, at any depth.
fn is_below(folder: &str, path: &str) -> bool {
    within(folder, path).is_some()
}

/// The partition of a path.
pub(super) fn partition(path: &str) -> Result<Name, Errno> {
    Name::new(path.split('/').next().unwrap_or_default()).ok_or(Errno::EINVAL)
}

impl Mounted {
    pub(super) fn new(engine: Rc<Engine>, spool: Spool, journal: Journal, metrics: Arc<Metrics>, output: Output) -> Rc<Self> {
        Rc::new(Self {
            engine,
            spool,
            output,
            numbers: RefCell::default(),
            folders: RefCell::default(),
            staged: RefCell::default(),
            removed: RefCell::default(),
            journal,
            retry: Cell::new(RETRY),
            metrics,
            open: RefCell::default(),
            next: Cell::new(1),
            blocks: Blocks::default(),
            failed: RefCell::default(),
            waiting: Cell::default(),
            outage: Outage::default(),
        })
    }

    /// The path that a number stands for.
    pub(super) fn path(&self, number: u64) -> Result<String, Errno> {
        self.numbers.borrow().path(number)
    }

    /// The path of a name in the folder that a number stands for.
    pub(super) fn child(&self, folder: u64, name: &OsStr) -> Result<String, Errno> {
        child(&self.path(folder)?, name)
    }

    /// What the kernel is answered to an access. A failure of the chain or of relays is said, once a minute.
    pub(super) fn heard<T>(&self, answer: Result<T, Fault>) -> Result<T, Errno> {
        answer.map_err(|fault| {
            if matches!(fault, Fault::Outside(_)) && self.outage.is_said(Instant::now()) {
                self.output.progress(format_args!("the volume cannot be read: {}", fault.headline()));
            }
            errno(&fault)
        })
    }

    /// The files of a path's partition; none where it is not there.
    async fn listing(&self, path: &str) -> Result<Option<Rc<Listing>>, Errno> {
        match self.engine.listing(&partition(path)?, FRESH).await {
            Err(Fault::NoPartition(_)) => Ok(None),
            listing => self.heard(listing).map(Some),
        }
    }

    /// A file that is committed, and not removed here.
    pub(super) async fn committed(&self, path: &str) -> Result<Option<Entry>, Errno> {
        let listing = self.listing(path).await?;
        Ok(listing.and_then(|listing| listing.get(path).cloned()).filter(|entry| !self.is_removed(path, entry)))
    }

    /// A file with a content of this computer.
    pub(super) fn staged_at(&self, path: &str) -> Option<Rc<Staged>> {
        self.staged.borrow().get(path).cloned()
    }

    /// Whether something of this computer makes a path a folder.
    fn has_folder(&self, path: &str) -> bool {
        let (folders, staged) = (self.folders.borrow(), self.staged.borrow());
        folders.contains(path) || folders.iter().chain(staged.keys()).any(|other| is_below(path, other))
    }

    /// What is at a path.
    pub(super) async fn node(&self, path: &str) -> Result<Node, Errno> {
        if path.is_empty() {
            return Ok(Node::Folder);
        }
        if let Some(staged) = self.staged_at(path) {
            return Ok(staged.node());
        }
        if self.has_folder(path) {
            return Ok(Node::Folder);
        }
        let listing = self.listing(path).await?.ok_or(Errno::ENOENT)?;
        // A partition without files is there where it was made, or lost its files, here.
        if !path.contains('/') && self.engine.is_made(&partition(path)?) {
            return Ok(Node::Folder);
        }
        if let Some(entry) = listing.get(path).filter(|entry| !self.is_removed(path, entry)) {
            return Ok(Node::File { size: entry.meta.size, written_ms: entry.meta.written_ms });
        }
        let mut below = files_below(&listing, path);
        if below.any(|(file, entry)| !self.is_removed(file, entry)) { Ok(Node::Folder) } else { Err(Errno::ENOENT) }
    }

    /// The names in a folder, and whether each is one itself.
    pub(super) async fn names(&self, folder: &str) -> Result<BTreeMap<String, bool>, Errno> {
        if self.node(folder).await? != Node::Folder {
            return Err(Errno::ENOTDIR);
        }
        let mut found = BTreeMap::new();
        if folder.is_empty() {
            let partitions = self.heard(self.engine.partitions().await)?;
            found.extend(partitions.into_iter().map(|name| (name.as_str().to_owned(), true)));
        } else if let Some(listing) = self.listing(folder).await? {
            let there = files_below(&listing, folder).filter(|(file, entry)| !self.is_removed(file, entry));
            let there = there.filter_map(|(file, _)| within(folder, file));
            found.extend(there.map(|(name, is_file)| (name.to_owned(), !is_file)));
        }
        let staged = self.staged.borrow();
        found.extend(staged.keys().filter_map(|file| within(folder, file)).map(|(name, is_file)| (name.to_owned(), !is_file)));
        let folders = self.folders.borrow();
        found.extend(folders.iter().filter_map(|inner| within(folder, inner)).map(|(name, _)| (name.to_owned(), true)));
        Ok(found)
    }

    /// Keeps the folders of a path where they lose their last file.
    pub(super) fn keep_folders(&self, path: &str) {
        let mut folders = self.folders.borrow_mut();
        folders.extend(path.match_indices('/').filter_map(|(end, _)| path.get(..end)).map(str::to_owned));
    }

    /// Remembers why something could not be committed, or that it is by now.
    pub(super) fn note(&self, path: &str, done: &Result<(), Fault>) {
        match done {
            Ok(()) => {
                self.failed.borrow_mut().remove(path);
                self.try_again(path);
            }
            Err(fault) => {
                let reason = fault.to_string();
                let before = self.failed.borrow_mut().insert(path.to_owned(), reason.clone());
                // The same reason is said once.
                if before.is_none_or(|before| before != reason) {
                    let and = if fault.may_pass() { "" } else { ", and is not tried again by itself" };
                    self.output.progress(format_args!("{path} is not committed{and}: {}", fault.headline()));
                }
            }
        }
    }

    /// Has the files of a path's partition tried again whose commit failed and may succeed: another commit to it was made.
    pub(super) fn try_again(&self, path: &str) {
        let (name, failed) = (path.split('/').next(), self.failed.borrow());
        for other in failed.keys().filter(|other| other.split('/').next() == name) {
            if let Some(staged) = self.staged_at(other) {
                staged.again.notify_one();
            }
        }
    }

    /// What is not committed at the end, by the reasons for it.
    pub(super) fn left_over(&self) -> Option<String> {
        let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, reason) in self.failed.borrow().iter() {
            reasons.entry(reason.clone()).or_default().push(path.clone());
        }
        let said = |(reason, paths): (String, Vec<String>)| format!("{}: {reason}", paths.join(", "));
        let lines: Vec<String> = reasons.into_iter().map(said).collect();
        (!lines.is_empty()).then(|| format!("not committed:\n{}", lines.join("\n")))
    }
}

/// The files that lie in a folder, at any depth.
fn files_below<'a>(listing: &'a Listing, folder: &'a str) -> impl Iterator<Item = (&'a String, &'a Entry)> {
    listing.range(format!("{folder}/")..).take_while(move |(path, _)| is_below(folder, path))
}
