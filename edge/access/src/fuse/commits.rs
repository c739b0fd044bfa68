//! Commits of files, which are made in the background. One that fails is tried again as a removal is. By then another writer may have committed to the same
//! path: what its writer has not seen is not replaced, and the file goes beside it (decision 632).

use super::names::beside;
use super::removals::pause;
use super::staged::Staged;
use super::tree::Mounted;
use crate::engine::Condition;
use crate::fault::Fault;
use crate::spool::Body;
use cowboy_cli::volumes::Files;
use cowboy_types::Hash;
use cowboy_volumes::Path;
use fuser::Errno;
use std::rc::Rc;

/// The most names that are tried for a file that goes beside another one.
const MAX_NAMES: u32 = 100;

/// What has to be at the path of a file, where this content stands, when it is put there, moved away or removed. A first try takes whatever is there: who
/// closes a file last has written it. A later one takes only what its writer has seen, or what came of an earlier try of which nobody heard. None where
/// anything else stands.
pub(super) fn replacing(staged: &Staged, standing: Option<Hash>) -> Option<Condition> {
    match standing {
        _ if staged.failures.get() == 0 => Some(Condition::Any),
        None => Some(Condition::Absent),
        Some(content) => Some(Condition::Content(content)).filter(|_| staged.knows(&content)),
    }
}

impl Mounted {
    /// Commits a file in the background that nobody has open for writing.
    pub(super) fn store_when_closed(self: &Rc<Self>, staged: &Rc<Staged>) {
        if !staged.is_closed() {
            return;
        }
        if staged.is_tried.replace(true) {
            staged.again.notify_one();
        } else {
            tokio::task::spawn_local(self.clone().store_in_turns(staged.clone()));
        }
    }

    /// Tries to commit a file until it is committed, opened for writing, or removed. After a failure that may pass, its next turn comes after a while, or
    /// with the next commit to its partition; after any other, none comes.
    async fn store_in_turns(self: Rc<Self>, staged: Rc<Staged>) {
        while staged.is_closed() {
            // What fails was noted.
            let failed = self.store(&staged).await.err();
            if !staged.is_dirty.get() || failed.as_ref().is_some_and(|fault| !fault.may_pass()) {
                break;
            }
            if failed.is_some() {
                let wait = pause(self.retry.get(), staged.failures.get());
                // Both ends are a turn.
                let _ = tokio::time::timeout(wait, staged.again.notified()).await;
            }
        }
        staged.is_tried.set(false);
    }

    /// Sends and commits a file, where something of it is not committed yet.
    pub(super) async fn store(self: &Rc<Self>, staged: &Rc<Staged>) -> Result<(), Fault> {
        let _one = staged.storing.lock().await;
        let is_removed = staged.path.borrow().is_none();
        if is_removed {
            return Ok(());
        }
        if staged.is_dirty.replace(false)
            && let Some((path, put)) = self.put_or_beside(staged).await
        {
            if put.is_err() {
                staged.is_dirty.set(true);
            }
            self.stored(&path, staged, &put);
            put?;
        }
        let path = staged.path.borrow().clone();
        if let Some(path) = path.filter(|_| staged.writers.get() == 0 && !staged.is_dirty.get()) {
            self.unstage(&path, staged);
        }
        Ok(())
    }

    /// Puts a file where it is, or beside what another writer put there. Answers where that was, and what came of it; nothing where it was removed
    /// meanwhile.
    async fn put_or_beside(&self, staged: &Rc<Staged>) -> Option<(String, Result<(), Fault>)> {
        loop {
            let path = staged.path.borrow().clone()?;
            let put = self.put(&path, staged).await;
            let moved = match put {
                Ok(true) => return Some((path, Ok(()))),
                Ok(false) => self.move_beside(&path, staged).await,
                Err(fault) => Err(fault),
            };
            if let Err(fault) = moved {
                return Some((path, Err(fault)));
            }
        }
    }

    /// Puts a file at its path. False where another writer's version is there that its own has not seen.
    async fn put(&self, path: &str, staged: &Staged) -> Result<bool, Fault> {
        let path = Path::new(path).ok_or_else(|| Fault::Path(path.to_owned()))?;
        for _ in 0..Files::MERGES {
            let Some(condition) = self.replaced(&path, staged).await? else { return Ok(false) };
            match self.put_on(&path, staged, condition).await {
                // Somebody was there between the look and the commit.
                Err(Fault::Condition) => {}
                done => return done.map(|()| true),
            }
        }
        Err(Fault::Busy)
    }

    /// What has to be at a path when a file is put there. None where another writer's version is.
    async fn replaced(&self, path: &Path, staged: &Staged) -> Result<Option<Condition>, Fault> {
        if staged.failures.get() == 0 {
            return Ok(Some(Condition::Any));
        }
        let standing = match self.engine.find(path).await {
            Err(Fault::NoPartition(_)) => None,
            found => found?.map(|entry| entry.meta.hash),
        };
        Ok(replacing(staged, standing))
    }

    /// Sends a file, as far as the relays do not have it, and commits it.
    async fn put_on(&self, path: &Path, staged: &Staged, condition: Condition) -> Result<(), Fault> {
        let (begun, about) = (self.engine.begin(path), staged.about());
        let before = staged.sent_as(path, &about);
        let sent = self.engine.send(path, &Body::whole(staged.spooled.clone()), &about, before).await?;
        let entry = sent.entry.clone();
        let content = entry.meta.hash;
        staged.keep_sent(sent);
        self.engine.put_sent(&begun, path, entry, condition).await?;
        staged.is_now(content);
        Ok(())
    }

    /// Moves a file beside the version of another writer: both are kept.
    async fn move_beside(&self, path: &str, staged: &Rc<Staged>) -> Result<(), Fault> {
        let free = self.free_beside(path).await?;
        // It may have been removed meanwhile.
        if !staged.is_at(path) {
            return Ok(());
        }
        self.unstage(path, staged);
        staged.path.replace(Some(free.clone()));
        staged.forget_committed();
        self.staged.borrow_mut().insert(free.clone(), staged.clone());
        self.failed.borrow_mut().remove(path);
        self.numbers.borrow_mut().moved(path, &free);
        // What was removed there is not there any more.
        self.forget_removal(path);
        self.metrics.conflicted();
        self.output.progress(format_args!("another writer committed {path} first: what was written here is {free}"));
        Ok(())
    }

    /// A path beside another one at which nothing is.
    async fn free_beside(&self, path: &str) -> Result<String, Fault> {
        for name in (1..=MAX_NAMES).filter_map(|number| beside(path, number)) {
            match self.node(&name).await {
                Ok(_) => {}
                Err(error) if error == Errno::ENOENT => return Ok(name),
                Err(_) => return Err(Fault::outside(format_args!("{name} cannot be looked at"))),
            }
        }
        Err(Fault::Clash(format!("another writer committed {path} first, and no name beside it is free: copy the file to another place")))
    }

    /// Notes what came of a commit of a file.
    fn stored(&self, path: &str, staged: &Staged, put: &Result<(), Fault>) {
        let failures = staged.failures.get();
        match put {
            Ok(()) => {
                if failures > 0 {
                    self.count_failures(staged, 0);
                    self.output.progress(format_args!("{path} is committed by now"));
                    staged.again.notify_one();
                }
                self.forget_removal(path);
                self.note(path, put);
            }
            // What was removed meanwhile is not waited for.
            Err(_) if staged.is_at(path) => {
                self.count_failures(staged, failures.saturating_add(1));
                self.metrics.commit_failed();
                self.note(path, put);
            }
            Err(_) => {}
        }
    }

    /// Notes how often the commit of a file failed, and how many files wait for one after a failure.
    pub(super) fn count_failures(&self, staged: &Staged, failures: u32) {
        let before = staged.failures.replace(failures);
        let waiting = self.waiting.get().saturating_add(usize::from(failures > 0)).saturating_sub(usize::from(before > 0));
        self.waiting.set(waiting);
        self.metrics.commits_wait(waiting);
    }
}
