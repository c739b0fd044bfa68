//! Removing, renaming, and folders.

use super::commits::replacing;
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

/// What has to be at a path when a file is moved there. Where the commit of another one failed there, that is not what its writer has not seen.
fn put_over(replaced: Option<&Rc<Staged>>, standing: Option<Hash>) -> Result<Condition, Errno> {
    replaced.map_or(Some(Condition::Any), |replaced| replacing(replaced, standing)).ok_or(Errno::EEXIST)
}

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
        let staged = self.staged_at(path).or_else(|| before.filter(|staged| staged.is_at(path)));
        // What another writer put there after a commit of this file failed was never seen here, and stays.
        let is_others = staged.as_ref().is_some_and(|staged| replacing(staged, content).is_none());
        let was_failing = staged.as_ref().is_some_and(|staged| staged.failures.get() > 0);
        if let Some(staged) = &staged {
            self.give_up(staged);
            self.unstage(path, staged);
        }
        self.keep_folders(path);
        self.numbers.borrow_mut().gone(path);
        if is_others {
            self.failed.borrow_mut().remove(path);
            self.forget_removal(path);
            self.output.progress(format_args!("another writer committed {path} first, which stays: remove it as well if you mean it"));
        } else {
            self.remove_later(full, content, staged, was_failing);
        }
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
                Some(staged) => self.rename_staged(&staged, from, to).await,
                None => self.rename_committed(from, to).await,
            };
            // Where somebody wrote to it meanwhile, that is moved.
            if moved? {
                break;
            }
        }
        if let Some(removed) = self.supersede(to)
            && let Some(staged) = self.staged_at(to).filter(|staged| staged.committed.get().is_none())
        {
            staged.committed.set(Some(removed));
        }
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
        let target = put_over(replaced.as_ref(), self.committed(to).await?.map(|entry| entry.meta.hash))?;
        match self.move_committed((from, to), &body, &about, (Condition::Content(entry.meta.hash), target)).await {
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
        if let Some(replaced) = replaced.as_ref().filter(|replaced| replaced.is_at(to)) {
            self.give_up(replaced);
            self.unstage(to, replaced);
        }
        Ok(true)
    }

    /// Moves a file that has a content of this computer. False where another writer was first.
    async fn rename_staged(self: &Rc<Self>, staged: &Rc<Staged>, from: &str, to: &str) -> Result<bool, Errno> {
        // What is on its way comes first, also what is on its way to the new path: it would be committed in the place of this file.
        let replaced = self.staged_at(to);
        let _other = match &replaced {
            Some(replaced) => Some(replaced.storing.lock().await),
            None => None,
        };
        let one = staged.storing.lock().await;
        // Meanwhile it may have gone beside another writer's version, or been removed.
        if !staged.is_at(from) {
            return Ok(false);
        }
        let (old, new) = (self.committed(from).await?, self.committed(to).await?);
        let (old, new) = (old.map(|old| old.meta.hash), new.map(|new| new.meta.hash));
        let over = replaced.as_ref().filter(|replaced| replaced.failures.get() > 0).cloned();
        // What another writer put there after its commit failed stays.
        match replacing(staged, old).filter(|_| old.is_some()) {
            Some(condition) => {
                let target = put_over(over.as_ref(), new)?;
                staged.is_dirty.set(false);
                let body = Body::whole(staged.spooled.clone());
                match self.move_committed((from, to), &body, &staged.about(), (condition, target)).await {
                    Ok(content) => staged.is_now(content),
                    Err(fault) => {
                        staged.is_dirty.set(true);
                        if !matches!(fault, Fault::Condition) {
                            return Err(errno(&fault));
                        }
                        // What was known of it is old.
                        self.engine.listing(&partition(from)?, Duration::ZERO).await.map_err(|fault| errno(&fault))?;
                        return Ok(false);
                    }
                }
            }
            // It is not in the volume yet: it is committed where it is now, and in the place of a file whose commit failed as that one.
            None => {
                staged.is_dirty.set(true);
                staged.forget_committed();
                match &over {
                    Some(over) => staged.follow(over),
                    None => staged.committed.set(new),
                }
            }
        }
        let failures = over.filter(|_| staged.is_dirty.get()).map_or(0, |over| over.failures.get());
        self.unstage(from, staged);
        staged.path.replace(Some(to.to_owned()));
        let replaced = self.staged.borrow_mut().insert(to.to_owned(), staged.clone());
        if let Some(replaced) = replaced.filter(|replaced| !Rc::ptr_eq(replaced, staged)) {
            self.give_up(&replaced);
        }
        self.count_failures(staged, failures);
        drop(one);
        self.store_when_closed(staged);
        Ok(true)
    }

    /// Commits a file at its new path, and its removal from the old one, where both still are what they have to be. Answers its content.
    async fn move_committed(
        &self,
        (from, to): (&str, &str),
        body: &Body,
        about: &About,
        (condition, target): (Condition, Condition),
    ) -> Result<Hash, Fault> {
        let path = |text: &str| Path::new(text).ok_or_else(|| Fault::Path(text.to_owned()));
        let (old, new) = (path(from)?, path(to)?);
        let entry = self.engine.send(&new, body, about, None).await?.entry;
        let (content, began) = (entry.meta.hash, self.engine.next());
        let remove = Order { edit: Edit::Remove(old.clone()), path: old, condition, began };
        let put = Order { edit: Edit::Put(Box::new(entry)), path: new.clone(), condition: target, began };
        self.engine.change(&new.partition(), vec![remove, put]).await?;
        [from, to].into_iter().for_each(|path| self.forget_removal(path));
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
