//! Removals, which are committed in the background. One that fails is tried again, longer and longer after the last time, and before the folder is
//! unmounted. What is left then is found again by the next mount: until it is gone, its owner pays for it (decision 624).

use super::journal::Failed;
use super::staged::{Removal, Staged};
use super::tree::Mounted;
use crate::engine::Condition;
use crate::fault::Fault;
use cowboy_host::clock;
use cowboy_types::Hash;
use cowboy_volume::Entry;
use cowboy_volumes::Path;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;

/// The longest wait before a removal or a commit is tried again.
const LONGEST: Duration = Duration::from_secs(300);

/// The wait before a removal or a commit that failed this often is tried again.
pub(super) fn pause(first: Duration, failures: u32) -> Duration {
    clock::doubled(first, failures.saturating_sub(1), LONGEST)
}

impl Mounted {
    /// Takes over removals that an earlier mount left.
    pub(super) fn adopt(self: &Rc<Self>, failed: Failed) {
        for (path, content) in failed {
            if self.engine.may_remove(&path.partition()).is_err() {
                let path = path.as_str();
                self.output.progress(format_args!("{path} was removed and is still in the volume, and nothing may be removed here"));
                continue;
            }
            let removal = Removal::new(path, Some(content), 1);
            self.removed.borrow_mut().insert(removal.path.as_str().to_owned(), removal.clone());
            tokio::task::spawn_local(self.clone().remove_in_turns(removal, None));
        }
        self.count_removals();
    }

    /// Removes a file in the background, once nothing of it is on its way. `was_failing` says whether a commit of it failed.
    pub(super) fn remove_later(self: &Rc<Self>, path: Path, content: Option<Hash>, staged: Option<Rc<Staged>>, was_failing: bool) {
        let removal = Removal::new(path, content, 0);
        removal.was_failing.set(was_failing);
        // Nobody else knows of it yet.
        let held = removal.trying.clone().try_lock_owned().ok();
        self.removed.borrow_mut().insert(removal.path.as_str().to_owned(), removal.clone());
        self.count_removals();
        let mounted = self.clone();
        tokio::task::spawn_local(async move {
            if let Some(staged) = staged {
                drop(staged.storing.lock().await);
                removal.content.set(staged.committed.get().or(content));
                removal.tried.replace(staged.tried.take());
            }
            mounted.remove_in_turns(removal, held).await;
        });
    }

    /// Tries a removal until it is committed, or nobody waits for it any more.
    async fn remove_in_turns(self: Rc<Self>, removal: Rc<Removal>, mut held: Option<OwnedMutexGuard<()>>) {
        loop {
            let one = match held.take() {
                Some(one) => one,
                None => removal.trying.clone().lock_owned().await,
            };
            self.try_removal(&removal).await;
            drop(one);
            if !self.is_waiting(&removal) {
                return;
            }
            tokio::time::sleep(pause(self.retry.get(), removal.failures.get())).await;
        }
    }

    /// Whether a removal is still to be committed: another file may have come in the place of what it removes.
    fn is_waiting(&self, removal: &Rc<Removal>) -> bool {
        self.removed.borrow().get(removal.path.as_str()).is_some_and(|found| Rc::ptr_eq(found, removal))
    }

    /// Tries a removal once.
    async fn try_removal(&self, removal: &Rc<Removal>) {
        if !self.is_waiting(removal) {
            return;
        }
        let done = match self.remove_known(removal).await {
            // What is there is somebody else's, or nothing is.
            Err(Fault::Condition | Fault::NoPartition(_)) => Ok(()),
            done => done,
        };
        // Another writer's file that came there may have been removed here as well: that is another removal.
        if !self.is_waiting(removal) {
            return;
        }
        if done.as_ref().err().is_none_or(|fault| !fault.may_pass()) {
            self.note(removal.path.as_str(), &done);
            self.removed.borrow_mut().remove(removal.path.as_str());
            self.count_removals();
            self.forget_removal(removal.path.as_str());
            return;
        }
        let failures = removal.failures.get().saturating_add(1);
        removal.failures.set(failures);
        self.metrics.removal_failed();
        self.note(removal.path.as_str(), &done);
        if let Some(content) = removal.content.get().filter(|_| failures == 1) {
            self.kept(self.journal.keep(&removal.path, &content));
        }
    }

    /// Removes what is at the path of a removal. Where that or a commit of the file failed before, somebody else may have put another file there, which stays.
    async fn remove_known(&self, removal: &Removal) -> Result<(), Fault> {
        let condition = if removal.removes_anything() {
            Condition::Any
        } else {
            let standing = self.engine.find(&removal.path).await?.map(|entry| entry.meta.hash);
            Condition::Content(standing.filter(|content| removal.removes(content)).ok_or(Fault::Condition)?)
        };
        self.engine.remove(&removal.path.partition(), vec![(removal.path.clone(), condition)]).await
    }

    /// Whether a committed file was removed here.
    pub(super) fn is_removed(&self, path: &str, entry: &Entry) -> bool {
        self.removed.borrow().get(path).is_some_and(|removal| removal.removes(&entry.meta.hash))
    }

    /// Has the next mount not remove what was at a path: it is not there any more.
    pub(super) fn forget_removal(&self, path: &str) {
        if let Some(path) = Path::new(path) {
            self.kept(self.journal.forget(&path));
        }
    }

    /// Says where something could not be kept for the next mount.
    fn kept(&self, done: std::io::Result<()>) {
        if let Err(error) = done {
            self.output.progress(format_args!("the next mount will not know what was removed and is still in the volume: {error}"));
        }
    }

    fn count_removals(&self) {
        self.metrics.removals_wait(self.removed.borrow().len());
    }

    /// Waits until no removal of what was at a path is under way, and keeps it from being tried again for as long as what is answered is held.
    pub(super) async fn hold_removal(&self, path: &str) -> Option<OwnedMutexGuard<()>> {
        let removal = self.removed.borrow().get(path).cloned()?;
        Some(removal.trying.clone().lock_owned().await)
    }

    /// Forgets the removal of what was at a path, because another file comes in its place. Answers its content. Until that file is committed, what was
    /// removed is in the volume, and the next mount would find it.
    pub(super) fn supersede(&self, path: &str) -> Option<Hash> {
        let removal = self.removed.borrow_mut().remove(path)?;
        self.failed.borrow_mut().remove(path);
        self.count_removals();
        removal.content.get()
    }

    /// Tries every removal that waits, and waits for those under way.
    pub(super) async fn finish_removals(&self) {
        let waiting: Vec<Rc<Removal>> = self.removed.borrow().values().cloned().collect();
        futures::future::join_all(waiting.iter().map(|removal| self.finish_removal(removal))).await;
    }

    async fn finish_removal(&self, removal: &Rc<Removal>) {
        let _one = removal.trying.lock().await;
        self.try_removal(removal).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits double, and have an end.
    #[test]
    fn waits_become_longer() {
        let of = |failures| pause(Duration::from_secs(1), failures).as_secs();
        assert_eq!([0, 1, 2, 3, 9, 10, u32::MAX].map(of), [1, 1, 2, 4, 256, 300, 300]);
    }
}
