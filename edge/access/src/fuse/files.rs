//! Reading and writing files. A file that is written lies in the spool as a whole, and is committed in the background once it is closed.

use super::names::{errno, parent};
use super::staged::{BLOCK, Node, Open, Staged};
use super::tree::Mounted;
use crate::fault::Fault;
use bytes::Bytes;
use cowboy_cli::volumes::Files;
use cowboy_host::clock;
use cowboy_volume::Entry;
use cowboy_volumes::Path;
use cowboy_volumes::code::OBJECT_BYTES;
use fuser::Errno;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use tokio::sync::{Mutex, Notify};

/// How often a write that found the spool full is tried once more after the room for it was made.
const MAX_TURNS: usize = 100;

impl Mounted {
    /// Opens something, and answers its handle.
    pub(super) fn opened(&self, open: Open) -> u64 {
        let handle = self.next.get();
        self.next.set(handle.wrapping_add(1));
        if let Open::Staged(staged, true) = &open {
            staged.writers.set(staged.writers.get().saturating_add(1));
        }
        self.open.borrow_mut().insert(handle, open);
        handle
    }

    pub(super) fn handle(&self, handle: u64) -> Result<Open, Errno> {
        self.open.borrow().get(&handle).cloned().ok_or(Errno::EBADF)
    }

    /// Refuses who may not write a file of this path.
    pub(super) fn may_write(&self, path: &str) -> Result<Path, Errno> {
        // A partition has files, and is none.
        let path = Path::new(path).ok_or(Errno::EACCES)?;
        self.engine.may_write(&path.partition()).map_err(|fault| errno(&fault))?;
        Ok(path)
    }

    /// A file in the spool: the one that is there already, or a new one with the content of `entry`, as far as it is kept.
    pub(super) async fn stage(&self, path: &str, entry: Option<&Entry>, keep: u64) -> Result<Rc<Staged>, Errno> {
        if let Some(staged) = self.staged_at(path) {
            return Ok(staged);
        }
        let full = self.may_write(path)?;
        let mut tries = 0..Files::MERGES;
        let (mut spooled, mut newest) = (self.spool.file().await.map_err(|fault| errno(&fault))?, entry.cloned());
        while let Some(entry) = newest.clone().filter(|entry| entry.meta.size.min(keep) > 0) {
            self.heard(self.engine.spool(&entry, 0..entry.meta.size.min(keep), &spooled, |_| {}).await)?;
            // What was committed while it was fetched is not written over.
            match self.committed(path).await? {
                Some(standing) if standing.leaf.write_id != entry.leaf.write_id || standing.meta.hash != entry.meta.hash => {
                    tries.next().ok_or(Errno::EBUSY)?;
                    (spooled, newest) = (self.spool.file().await.map_err(|fault| errno(&fault))?, Some(standing));
                }
                _ => break,
            }
        }
        let (entry, kept) = (newest.as_ref(), newest.as_ref().map_or(0, |entry| entry.meta.size.min(keep)));
        let staged = Rc::new(Staged {
            path: RefCell::new(Some(path.to_owned())),
            spooled,
            kind: entry.map_or_else(|| Files::kind_of(&full), |entry| entry.meta.kind.clone()),
            is_dirty: Cell::new(entry.is_none_or(|entry| kept < entry.meta.size)),
            writers: Cell::new(0),
            written_ms: Cell::new(entry.map_or_else(clock::now_ms, |entry| entry.meta.written_ms)),
            committed: Cell::new(entry.map(|entry| entry.meta.hash)),
            tried: RefCell::default(),
            sent: RefCell::default(),
            storing: Mutex::default(),
            failures: Cell::default(),
            is_tried: Cell::default(),
            again: Notify::new(),
        });
        let _held = self.hold_removal(path).await;
        // Somebody else may have opened it meanwhile.
        if let Some(found) = self.staged_at(path) {
            return Ok(found);
        }
        // What is read at the path is not what was removed there.
        if let Some(removed) = self.supersede(path).filter(|_| entry.is_none()) {
            staged.committed.set(Some(removed));
        }
        self.staged.borrow_mut().insert(path.to_owned(), staged.clone());
        Ok(staged)
    }

    /// Makes a file, and opens it for writing.
    pub(super) async fn create(&self, path: &str) -> Result<(Node, u64), Errno> {
        self.may_write(path)?;
        if self.node(parent(path)).await? != Node::Folder {
            return Err(Errno::ENOTDIR);
        }
        match self.node(path).await {
            Ok(_) => return Err(Errno::EEXIST),
            Err(error) if error == Errno::ENOENT => {}
            Err(error) => return Err(error),
        }
        let staged = self.stage(path, None, 0).await?;
        Ok((staged.node(), self.opened(Open::Staged(staged.clone(), true))))
    }

    /// Opens a file.
    pub(super) async fn open(self: &Rc<Self>, path: &str, writes: bool, truncates: bool) -> Result<u64, Errno> {
        if self.node(path).await? == Node::Folder {
            return Err(Errno::EISDIR);
        }
        if let Some(staged) = self.staged_at(path).filter(|_| !writes) {
            return Ok(self.opened(Open::Staged(staged, false)));
        }
        let entry = self.committed(path).await?;
        if !writes {
            return Ok(self.opened(Open::Entry(Rc::new(entry.ok_or(Errno::ENOENT)?))));
        }
        self.may_write(path)?;
        let staged = self.stage(path, entry.as_ref(), if truncates { 0 } else { u64::MAX }).await?;
        // From now on it is kept, also where it is committed meanwhile.
        let handle = self.opened(Open::Staged(staged.clone(), true));
        if truncates && let Err(error) = self.resize(&staged, 0).await {
            self.close(handle);
            return Err(error);
        }
        Ok(handle)
    }

    /// A part of what is open, as much of it as there is.
    pub(super) async fn read(&self, handle: u64, offset: u64, size: u32) -> Result<Vec<u8>, Errno> {
        let part = offset..offset.checked_add(u64::from(size)).ok_or(Errno::EINVAL)?;
        match self.handle(handle)? {
            Open::Staged(staged, _) => staged.spooled.read(part).await.map_err(|fault| errno(&fault)),
            Open::Entry(entry) => self.heard(self.read_entry(&entry, part).await),
            Open::Folder(_) => Err(Errno::EISDIR),
        }
    }

    /// A part of a committed file, out of blocks that are fetched once.
    async fn read_entry(&self, entry: &Entry, part: Range<u64>) -> Result<Vec<u8>, Fault> {
        let part = part.start.min(entry.meta.size)..part.end.min(entry.meta.size);
        let (record, mut bytes) = (entry.record(), Vec::new());
        for number in part.start / BLOCK..part.end.div_ceil(BLOCK) {
            let start = number.saturating_mul(BLOCK);
            let end = start.saturating_add(BLOCK).min(entry.meta.size);
            let place = self.blocks.place(record, number);
            let block = place.get_or_try_init(|| self.engine.part(entry, start..end)).await?;
            let within = |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX).min(block.len());
            bytes.extend_from_slice(&block[within(part.start)..within(part.end)]);
        }
        Ok(bytes)
    }

    /// Writes into a file, at its end where no offset is given. Answers how much.
    pub(super) async fn write(self: &Rc<Self>, handle: u64, offset: Option<u64>, bytes: Bytes) -> Result<u32, Errno> {
        let Open::Staged(staged, true) = self.handle(handle)? else { return Err(Errno::EBADF) };
        let length = u32::try_from(bytes.len()).map_err(|_| Errno::EINVAL)?;
        let offset = offset.unwrap_or_else(|| staged.spooled.length());
        if offset.checked_add(u64::from(length)).is_none_or(|end| end > OBJECT_BYTES) {
            return Err(Errno::EFBIG);
        }
        let mut written = staged.spooled.write(offset, bytes.clone()).await;
        let is_without_room = |written: &Result<(), Fault>| written.as_ref().is_err_and(Fault::is_without_room);
        if is_without_room(&written) {
            self.make_room().await;
            // Room is free once whatever ran in the background has let go of what it committed.
            for _ in 0..MAX_TURNS {
                written = staged.spooled.write(offset, bytes.clone()).await;
                if !is_without_room(&written) {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        written.map_err(|fault| errno(&fault))?;
        staged.touch();
        Ok(length)
    }

    /// Waits until what is closed is committed: its room in the spool is free then.
    async fn make_room(self: &Rc<Self>) {
        let closed: Vec<Rc<Staged>> = self.staged.borrow().values().filter(|staged| staged.writers.get() == 0).cloned().collect();
        // What fails was noted, and keeps its room.
        let _ = futures::future::join_all(closed.iter().map(|staged| self.store(staged))).await;
    }

    pub(super) async fn resize(&self, staged: &Staged, size: u64) -> Result<(), Errno> {
        if size > OBJECT_BYTES {
            return Err(Errno::EFBIG);
        }
        if staged.spooled.length() != size {
            staged.spooled.resize(size).await.map_err(|fault| errno(&fault))?;
            staged.touch();
        }
        Ok(())
    }

    /// Cuts a file, or makes it longer with zeros. One that nobody has open for writing is committed at once.
    pub(super) async fn truncate(self: &Rc<Self>, path: &str, size: u64) -> Result<(), Errno> {
        if size > OBJECT_BYTES {
            return Err(Errno::EFBIG);
        }
        self.may_write(path)?;
        if self.node(path).await? == Node::Folder {
            return Err(Errno::EISDIR);
        }
        let entry = self.committed(path).await?;
        let staged = self.stage(path, entry.as_ref(), size).await?;
        // As if it were open: it is kept, also where it is committed meanwhile.
        let handle = self.opened(Open::Staged(staged.clone(), true));
        let resized = self.resize(&staged, size).await;
        self.close(handle);
        resized
    }

    /// What is open is from now on what is written at the same place, where somebody writes there: the kernel knows one length of both.
    pub(super) fn follow(&self, number: u64, handle: u64) {
        let staged = self.path(number).ok().and_then(|path| self.staged_at(&path));
        if let (Some(staged), Some(open)) = (staged, self.open.borrow_mut().get_mut(&handle))
            && matches!(open, Open::Entry(_) | Open::Staged(_, false))
        {
            *open = Open::Staged(staged, false);
        }
    }

    /// What is at a number. Whoever has a file open that was removed keeps it.
    pub(super) async fn known(&self, number: u64, handle: Option<u64>) -> Result<Node, Errno> {
        let found = match self.path(number) {
            Ok(path) => self.node(&path).await,
            Err(error) => Err(error),
        };
        match (found, handle.and_then(|handle| self.handle(handle).ok())) {
            (Ok(node), _) => Ok(node),
            (Err(_), Some(Open::Staged(staged, _))) => Ok(staged.node()),
            (Err(_), Some(Open::Entry(entry))) => Ok(Node::File { size: entry.meta.size, written_ms: entry.meta.written_ms }),
            (Err(error), _) => Err(error),
        }
    }

    /// Commits what was written to a file that is open, whoever wrote it.
    pub(super) async fn sync(self: &Rc<Self>, number: u64, handle: u64) -> Result<(), Errno> {
        self.follow(number, handle);
        match self.handle(handle)? {
            Open::Staged(staged, _) => self.store(&staged).await.map_err(|fault| errno(&fault)),
            _ => Ok(()),
        }
    }

    /// Commits everything, and says where that fails.
    pub(super) async fn sync_all(self: &Rc<Self>) -> Result<(), Errno> {
        self.settle().await;
        if self.failed.borrow().is_empty() { Ok(()) } else { Err(Errno::EIO) }
    }

    /// Ends a handle. What was written is committed in the background.
    pub(super) fn close(self: &Rc<Self>, handle: u64) {
        let closed = self.open.borrow_mut().remove(&handle);
        if let Some(Open::Staged(staged, true)) = closed {
            staged.writers.set(staged.writers.get().saturating_sub(1));
            self.store_when_closed(&staged);
        }
    }

    /// Gives up the content of a file that was removed or replaced.
    pub(super) fn give_up(&self, staged: &Staged) {
        staged.path.replace(None);
        self.count_failures(staged, 0);
        staged.again.notify_one();
    }

    /// Forgets the content of a file that is committed or removed.
    pub(super) fn unstage(&self, path: &str, staged: &Rc<Staged>) {
        let mut all = self.staged.borrow_mut();
        if all.get(path).is_some_and(|found| Rc::ptr_eq(found, staged)) {
            all.remove(path);
        }
    }

    /// Commits everything that was changed, and waits for it.
    pub(super) async fn settle(self: &Rc<Self>) {
        let all: Vec<Rc<Staged>> = self.staged.borrow().values().cloned().collect();
        let stores = all.iter().map(|staged| self.store(staged));
        // What fails was noted.
        let _ = futures::future::join_all(stores).await;
        self.finish_removals().await;
        self.engine.settle().await;
    }
}
