//! When the state of a follower stands still, so that it can be proven against its newest block (decision 637).

use crate::reader::Proving;
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

/// How long the state moves before it stands still for those who wait.
const EVERY: Duration = Duration::from_secs(1);

/// The right to change the state. Whoever proves something has it stand still meanwhile: see [`Proving::still`].
pub(crate) struct Moving {
    still: Arc<RwLock<()>>,
    held: Option<OwnedRwLockWriteGuard<()>>,
    since: SystemTime,
}

impl Moving {
    pub(crate) fn new(proving: &Proving) -> Self {
        Self { still: proving.still_lock(), held: None, since: SystemTime::UNIX_EPOCH }
    }

    /// Waits until nobody needs the state as it is. From now on it may change.
    pub(crate) async fn begin(&mut self, now: impl Fn() -> SystemTime) {
        if self.held.is_none() {
            self.held = Some(self.still.clone().write_owned().await);
            self.since = now();
        }
    }

    /// Whether the state may change.
    pub(crate) fn is_on(&self) -> bool {
        self.held.is_some()
    }

    /// Whether it is time to let others have it stand still. A clock that was set back says so too: nobody knows how long it would not.
    pub(crate) fn is_due_to_stop(&self, now: SystemTime) -> bool {
        self.is_on() && now.duration_since(self.since).map_or(true, |moved| moved >= EVERY)
    }

    /// The state stands still, and is that of the newest block on the disk.
    pub(crate) fn stop(&mut self) {
        self.held = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use std::pin::pin;

    /// The state does not change while somebody proves it. Who waits comes before the next change, and waits a second at most.
    #[test]
    fn the_state_stands_still_for_proofs() {
        let (proving, start) = (Proving::default(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000));
        let mut moving = Moving::new(&proving);
        let first = proving.still().now_or_never().expect("nothing moves");
        assert!(moving.begin(|| start).now_or_never().is_none(), "it is being proven");
        drop(first);
        moving.begin(|| start).now_or_never().expect("nobody proves anything");
        let mut waits = pin!(proving.still());
        assert!(waits.as_mut().now_or_never().is_none(), "the state moves");
        assert!(moving.is_on() && !moving.is_due_to_stop(start + EVERY / 2));
        assert!(moving.is_due_to_stop(start + EVERY) && moving.is_due_to_stop(start - EVERY));
        moving.stop();
        let mut resumes = Box::pin(moving.begin(|| start + EVERY));
        assert!(resumes.as_mut().now_or_never().is_none(), "it is the turn of those who wait");
        let held = waits.as_mut().now_or_never().expect("it is their turn");
        assert!(resumes.as_mut().now_or_never().is_none(), "it is being proven");
        drop(held);
        resumes.as_mut().now_or_never().expect("nobody proves anything");
        drop(resumes);
        assert!(!moving.is_due_to_stop(start + EVERY), "the second begins anew");
    }
}
