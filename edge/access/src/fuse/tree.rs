//! What is in the mounted folder: the files that the chain has, and what was changed here and is not committed yet.
//!
//! Volumes have no folders but those of their files. One that is made here, or whose last file was removed here, is there until the volume is unmounted.

use super::files::{Blocks, Open, Staged};
use super::names::{Numbers, child, errno, within};
use crate::engine::{Engine, Listing};
use crate::fault::Fault;
use crate::spool::Spool;
use cowboy_console::output::Output;
use cowboy_volume::Entry;
use cowboy_volumes::Name;
use fuser::Errno;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;

/// For how long what was seen of a partition is believed to stand.
pub(super) const FRESH: Duration = Duration::from_secs(1);

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
    /// Files that were removed here, and may still be in what is known of the volume.
    pub(super) removed: RefCell<BTreeSet<String>>,
    /// Tells whoever waits that a removal is final.
    pub(super) unlinked: Notify,
    /// What is open, by its handle.
    pub(super) open: RefCell<BTreeMap<u64, Open>>,
    pub(super) next: Cell<u64>,
    pub(super) blocks: Blocks,
    /// What could not be committed, and why.
    pub(super) failed: RefCell<BTreeMap<String, String>>,
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
    pub(super) fn new(engine: Rc<Engine>, spool: Spool, output: Output) -> Rc<Self> {
        Rc::new(Self {
            engine,
            spool,
            output,
            numbers: RefCell::default(),
            folders: RefCell::default(),
            staged: RefCell::default(),
            removed: RefCell::default(),
            unlinked: Notify::new(),
            open: RefCell::default(),
            next: Cell::new(1),
            blocks: Blocks::default(),
            failed: RefCell::default(),
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

    /// The files of a path's partition; none where it is not there.
    async fn listing(&self, path: &str) -> Result<Option<Rc<Listing>>, Errno> {
        match self.engine.listing(&partition(path)?, FRESH).await {
            Ok(listing) => Ok(Some(listing)),
            Err(Fault::NoPartition(_)) => Ok(None),
            Err(fault) => Err(errno(&fault)),
        }
    }

    /// A file that is committed, and not removed here.
    pub(super) async fn committed(&self, path: &str) -> Result<Option<Entry>, Errno> {
        let listing = self.listing(path).await?;
        let is_removed = self.removed.borrow().contains(path);
        Ok(listing.and_then(|listing| listing.get(path).cloned()).filter(|_| !is_removed))
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
        if !path.contains('/') {
            return Ok(Node::Folder);
        }
        let removed = self.removed.borrow();
        if let Some(entry) = listing.get(path).filter(|_| !removed.contains(path)) {
            return Ok(Node::File { size: entry.meta.size, written_ms: entry.meta.written_ms });
        }
        let mut below = files_below(&listing, path);
        if below.any(|file| !removed.contains(file)) { Ok(Node::Folder) } else { Err(Errno::ENOENT) }
    }

    /// The names in a folder, and whether each is one itself.
    pub(super) async fn names(&self, folder: &str) -> Result<BTreeMap<String, bool>, Errno> {
        if self.node(folder).await? != Node::Folder {
            return Err(Errno::ENOTDIR);
        }
        let mut found = BTreeMap::new();
        if folder.is_empty() {
            let partitions = self.engine.partitions().await.map_err(|fault| errno(&fault))?;
            found.extend(partitions.into_iter().map(|name| (name.as_str().to_owned(), true)));
        } else if let Some(listing) = self.listing(folder).await? {
            let removed = self.removed.borrow();
            let there = files_below(&listing, folder).filter(|file| !removed.contains(*file)).filter_map(|file| within(folder, file));
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
            Ok(()) => drop(self.failed.borrow_mut().remove(path)),
            Err(fault) => {
                self.output.progress(format_args!("{path} is not committed: {fault}"));
                self.failed.borrow_mut().insert(path.to_owned(), fault.to_string());
            }
        }
    }
}

/// The files that lie in a folder, at any depth.
fn files_below<'a>(listing: &'a Listing, folder: &'a str) -> impl Iterator<Item = &'a String> {
    listing.range(format!("{folder}/")..).map(|(path, _)| path).take_while(move |path| is_below(folder, path))
}
