//! Removing, renaming, and folders.

use super::names::{errno, parent};
use super::staged::{Node, Staged};
use super::tree::{Mounted, partition};
use crate::engine::{Condition, Order};
use crate::fault::Fault;
use crate::spool::Body;
use crate::store::{About, Edit};
use cowboy_cli::volumes::Files;
use cowboy_types::Hash;
use cowboy_volumes::Path;
use fuser::Errno;
use std::rc::Rc;
use std::time::Duration;

impl Mounted {
    /// Removes a file. That is committed in the background, with others.
    pub(super) async fn unlink(self: &Rc<Self>, path: &str) -> Result<(), Errno> {
        if self.node(path).await? == Node::Folder {
            return Err(Errno::EISDIR);
        }
        let full = Path::new(path).ok_or(Errno::EACCES)?;
        self.engine.may_remove(&full.partition()).map_err(|fault| errno(&fault))?;
        // What is written here has a content that is known once nothing of it is on its way, and may stand for another one that it was to replace.
        let before = self.staged_at(path);
        let content = match &before {
            // It goes also where the volume cannot be read.
            Some(_) => self.committed(path).await.unwrap_or_default(),
            None => self.committed(path).await?,
        };
        let content = content.map(|entry| entry.meta.hash);
        // It may have been committed, or moved, meanwhile.
        let still_here = |staged: &Rc<Staged>| staged.path.borrow().as_deref() == Some(path);
        let staged = self.staged_at(path).or_else(|| before.filter(still_here));
        if let Some(staged) = &staged {
            self.give_up(staged);
            self.unstage(path, staged);
        }
        self.keep_folders(path);
        self.numbers.borrow_mut().gone(path);
        self.remove_later(full, content, staged);
        Ok(())
    }

    /// Moves a file within its partition, with one commit. It is encrypted anew: its key is of its path.
    pub(super) async fn rename(self: &Rc<Self>, from: &str, to: &str, replaces: bool) -> Result<(), Errno> {
        if self.node(from).await? == Node::Folder || partition(from)? != partition(to)? {
            // Programs then copy and remove by themselves.
            return Err(Errno::EXDEV);
        }
        if self.node(parent(to)).await? != Node::Folder {
            return Err(Errno::ENOTDIR);
        }
        match self.node(to).await {
            Ok(Node::Folder) => return Err(Errno::EISDIR),
            Ok(Node::File { .. }) if !replaces => return Err(Errno::EEXIST),
            Ok(Node::File { .. }) => {}
            Err(error) if error == Errno::ENOENT => {}
            Err(error) => return Err(error),
        }
        if from == to {
            return Ok(());
        }
        let target = self.may_write(to)?;
        self.engine.may_remove(&target.partition()).map_err(|fault| errno(&fault))?;
        let _held = self.hold_removal(to).await;
        let mut tries = 0..Files::MERGES;
        loop {
            tries.next().ok_or(Errno::EBUSY)?;
            let moved = match self.staged_at(from) {
                Some(staged) => self.rename_staged(&staged, from, to).await.map(|()| true),
                None => self.rename_committed(from, to).await,
            };
            // Where somebody wrote to it meanwhile, that is moved.
            if moved? {
                break;
            }
        }
        self.supersede(to);
        // What failed at either path is over.
        self.failed.borrow_mut().retain(|path, _| path != from && path != to);
        self.keep_folders(from);
        self.numbers.borrow_mut().moved(from, to);
        Ok(())
    }

    /// Moves a file that has no content of this computer. False where somebody wrote to it meanwhile.
    async fn rename_committed(self: &Rc<Self>, from: &str, to: &str) -> Result<bool, Errno> {
        let entry = self.committed(from).await?.ok_or(Errno::ENOENT)?;
        let (about, size) = (About { written_ms: entry.meta.written_ms, kind: entry.meta.kind.clone() }, entry.meta.size);
        let spooled = self.spool.file().await.map_err(|fault| errno(&fault))?;
        let place = self.engine.spool(&entry, 0..size, &spooled, |_| {}).await.map_err(|fault| errno(&fault))?;
        // What is on its way to the new path comes first.
        let replaced = self.staged_at(to);
        let _one = match &replaced {
            Some(replaced) => Some(replaced.storing.lock().await),
            None => None,
        };
        if self.staged_at(from).is_some() {
            return Ok(false);
        }
        let body = Body::new(spooled, vec![place]);
        match self.move_committed((from, to), &body, &about, Condition::Content(entry.meta.hash)).await {
            Err(Fault::Condition) => {
                // What was known of both is old. A commit of which nobody heard may have moved it.
                self.engine.listing(&partition(from)?, Duration::ZERO).await.map_err(|fault| errno(&fault))?;
                let (old, new) = (self.committed(from).await?, self.committed(to).await?);
                if old.is_some() || new.is_none_or(|new| new.meta.hash != entry.meta.hash) {
                    return Ok(false);
                }
            }
            moved => {
                moved.map_err(|fault| errno(&fault))?;
            }
        }
        if let Some(replaced) = &replaced {
            self.give_up(replaced);
            self.unstage(to, replaced);
        }
        Ok(true)
    }

    /// Moves a file that has a content of this computer.
    async fn rename_staged(self: &Rc<Self>, staged: &Rc<Staged>, from: &str, to: &str) -> Result<(), Errno> {
        // What is on its way comes first, also what is on its way to the new path: it would be committed in the place of this file.
        let replaced = self.staged_at(to);
        let _other = match &replaced {
            Some(replaced) => Some(replaced.storing.lock().await),
            None => None,
        };
        let one = staged.storing.lock().await;
        if self.committed(from).await?.is_some() {
            staged.is_dirty.set(false);
            let body = Body::whole(staged.spooled.clone());
            match self.move_committed((from, to), &body, &staged.about(), Condition::Any).await {
                Ok(content) => staged.committed.set(Some(content)),
                Err(fault) => {
                    staged.is_dirty.set(true);
                    return Err(errno(&fault));
                }
            }
        } else {
            // Nobody else knows of it yet: it is committed where it is now.
            staged.is_dirty.set(true);
            staged.committed.set(None);
        }
        self.unstage(from, staged);
        staged.path.replace(Some(to.to_owned()));
        let replaced = self.staged.borrow_mut().insert(to.to_owned(), staged.clone());
        if let Some(replaced) = replaced.filter(|replaced| !Rc::ptr_eq(replaced, staged)) {
            self.give_up(&replaced);
        }
        self.count_failures(staged, 0);
        drop(one);
        self.store_when_closed(staged);
        Ok(())
    }

    /// Commits a file at its new path, and its removal from the old one, where that still is what it has to be. Answers its content.
    async fn move_committed(&self, (from, to): (&str, &str), body: &Body, about: &About, condition: Condition) -> Result<Hash, Fault> {
        let path = |text: &str| Path::new(text).ok_or_else(|| Fault::Path(text.to_owned()));
        let (old, new) = (path(from)?, path(to)?);
        let entry = self.engine.send(&new, body, about).await?;
        let (content, began) = (entry.meta.hash, self.engine.next());
        let remove = Order { edit: Edit::Remove(old.clone()), path: old, condition, began };
        let put = Order { edit: Edit::Put(Box::new(entry)), path: new.clone(), condition: Condition::Any, began };
        self.engine.change(&new.partition(), vec![remove, put]).await?;
        self.try_again(to);
        Ok(content)
    }

    /// Makes a folder. At the top it is a partition, of which the chain knows with its first file.
    pub(super) async fn mkdir(&self, path: &str) -> Result<(), Errno> {
        let name = partition(path)?;
        self.engine.may_write(&name).map_err(|fault| errno(&fault))?;
        if self.node(parent(path)).await? != Node::Folder {
            return Err(Errno::ENOTDIR);
        }
        match self.node(path).await {
            Ok(_) => return Err(Errno::EEXIST),
            Err(error) if error == Errno::ENOENT => {}
            Err(error) => return Err(error),
        }
        if !path.contains('/') {
            self.engine.make_partition(&name).map_err(|fault| errno(&fault))?;
        }
        self.folders.borrow_mut().insert(path.to_owned());
        Ok(())
    }

    /// Removes a folder without files. A partition whose files are still in the volume stays.
    pub(super) async fn rmdir(&self, path: &str) -> Result<(), Errno> {
        if self.node(path).await? != Node::Folder {
            return Err(Errno::ENOTDIR);
        }
        if !self.names(path).await?.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        let name = partition(path)?;
        self.engine.may_write(&name).map_err(|fault| errno(&fault))?;
        if !path.contains('/') {
            self.finish_removals().await;
            self.engine.forget_partition(&name);
            if self.engine.has_partition(&name).await.map_err(|fault| errno(&fault))? {
                return Err(Errno::EBUSY);
            }
        }
        self.folders.borrow_mut().remove(path);
        self.numbers.borrow_mut().gone(path);
        Ok(())
    }
}
