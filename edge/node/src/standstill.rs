//! Who has the state of a follower stand still, and who waits for that (decisions 637 and 662).

use futures::future::{Either, select};
use std::{
    mem,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard},
};
use tokio::sync::{oneshot, watch};

/// The most who wait for the state to stand still.
const MAX_WAITING: usize = 512;

/// Why the state does not stand still for somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotStill {
    /// Blocks come without a pause.
    #[error("the node catches up with its chain, and does not stop for proofs meanwhile")]
    CatchingUp,
    /// Too many wait.
    #[error("{MAX_WAITING} requests wait already until the state stands still")]
    Crowded,
}

/// How the state changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Moves {
    /// It is that of the newest block.
    #[default]
    No,
    /// It changes, or is about to: who asks waits for the next pause.
    Briefly,
    /// It has changed for so long that nobody waits for a pause.
    WithoutPause,
}

#[derive(Debug, Default)]
struct Standing {
    moves: Moves,
    /// How often the state has begun to change: it stands still for those who hold the newest turn.
    turn: u64,
    /// How many they are.
    holders: usize,
    waiting: Vec<oneshot::Sender<Still>>,
}

impl Standing {
    fn enqueue(&mut self) -> Result<oneshot::Receiver<Still>, NotStill> {
        self.waiting.retain(|waiter| !waiter.is_closed());
        if self.waiting.len() >= MAX_WAITING {
            return Err(NotStill::Crowded);
        }
        let (grant, granted) = oneshot::channel();
        self.waiting.push(grant);
        Ok(granted)
    }
}

/// What a follower and those who prove its state agree on.
#[derive(Debug, Default)]
pub(crate) struct Standstill {
    standing: Mutex<Standing>,
    /// Changes of the turn, and of the holders to none.
    changes: watch::Sender<()>,
}

/// While this [holds](Still::holds), the state of a node that follows others is that of its newest block.
#[derive(Debug)]
#[must_use]
pub struct Still {
    of: Arc<Standstill>,
    turn: u64,
}

impl Still {
    /// Whether the state still stands still. A follower does not wait for ever.
    pub fn holds(&self) -> bool {
        self.of.lock().turn == self.turn
    }

    /// What this work comes to. `None` where the state changes before it is done.
    pub async fn during<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        match select(pin!(work), pin!(self.ended())).await {
            Either::Left((result, _)) => Some(result),
            Either::Right(_) => None,
        }
    }

    async fn ended(&self) {
        let mut changes = self.of.changes.subscribe();
        while self.holds() {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        let mut standing = self.of.lock();
        if standing.turn == self.turn {
            standing.holders -= 1;
            if standing.holders == 0 {
                self.of.changes.send_replace(());
            }
        }
    }
}

impl Standstill {
    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().expect("nothing panics while it holds the lock")
    }

    /// Has the state stand still, at the next pause where it moves.
    pub(crate) async fn still(self: &Arc<Self>) -> Result<Still, NotStill> {
        let granted = {
            let mut standing = self.lock();
            match standing.moves {
                Moves::No => {
                    standing.holders += 1;
                    return Ok(Still { of: self.clone(), turn: standing.turn });
                }
                Moves::Briefly => standing.enqueue()?,
                Moves::WithoutPause => return Err(NotStill::CatchingUp),
            }
        };
        granted.await.map_err(|_| NotStill::CatchingUp)
    }

    /// Whether nobody waits for the next pause.
    pub(crate) fn is_refused(&self) -> bool {
        self.lock().moves == Moves::WithoutPause
    }

    /// From now on whoever asks waits for the next pause.
    pub(crate) fn close(&self) {
        self.lock().moves = Moves::Briefly;
    }

    /// Waits until nobody has the state stand still.
    pub(crate) async fn released(&self) {
        let mut changes = self.changes.subscribe();
        while self.lock().holders > 0 {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// The state changes from now on, also where somebody still has it stand still.
    pub(crate) fn begin(&self) {
        let mut standing = self.lock();
        standing.turn += 1;
        standing.holders = 0;
        self.changes.send_replace(());
    }

    /// Refuses those who wait, and those who ask, until the next pause.
    pub(crate) fn refuse(&self) {
        let mut standing = self.lock();
        standing.moves = Moves::WithoutPause;
        // They hear of it when their senders are dropped.
        standing.waiting.clear();
    }

    /// The state stands still, for all who wait first.
    pub(crate) fn pause(self: &Arc<Self>) {
        let granted: Vec<_> = {
            let mut standing = self.lock();
            standing.moves = Moves::No;
            let waiting = mem::take(&mut standing.waiting);
            standing.holders += waiting.len();
            let turn = standing.turn;
            waiting.into_iter().map(|waiter| (waiter, Still { of: self.clone(), turn })).collect()
        };
        for (waiter, still) in granted {
            // Who has left does not hold it.
            drop(waiter.send(still));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    /// However many ask, a bounded number waits. Who leaves makes room, and is waited for by nobody.
    #[test]
    fn those_who_wait_are_bounded() {
        let standstill = Arc::new(Standstill::default());
        standstill.close();
        standstill.begin();
        let ask = || {
            let mut asked = Box::pin(standstill.still());
            let refused = asked.as_mut().now_or_never().map(Result::err);
            (asked, refused)
        };
        let mut waiting: Vec<_> = (0..MAX_WAITING).map(|_| ask()).collect();
        assert!(waiting.iter().all(|(_, refused)| refused.is_none()), "they wait");
        assert_eq!(ask().1, Some(Some(NotStill::Crowded)));
        drop(waiting.pop());
        waiting.push(ask());
        assert!(waiting.iter().all(|(_, refused)| refused.is_none()), "there was room for one");
        let first = waiting.swap_remove(0).0;
        standstill.pause();
        assert!(first.now_or_never().is_some_and(|still| still.is_ok_and(|still| still.holds())));
        assert!(standstill.released().now_or_never().is_none(), "the others have it");
        drop(waiting);
        assert!(standstill.released().now_or_never().is_some());
    }

    /// Work that is under way when the state changes has no result; and nobody is waited for twice.
    #[test]
    fn work_ends_when_the_state_changes() {
        let standstill = Arc::new(Standstill::default());
        let still = standstill.still().now_or_never().expect("nothing moves").expect("nothing moves");
        assert_eq!(still.during(std::future::ready(7)).now_or_never(), Some(Some(7)));
        let mut work = pin!(still.during(std::future::pending::<()>()));
        assert!(work.as_mut().now_or_never().is_none());
        standstill.close();
        assert!(work.as_mut().now_or_never().is_none() && still.holds(), "nothing has changed yet");
        standstill.begin();
        assert_eq!(work.as_mut().now_or_never(), Some(None));
        standstill.pause();
        let other = standstill.still().now_or_never().expect("nothing moves").expect("nothing moves");
        assert!(!still.holds() && other.holds());
        drop(other);
        assert!(standstill.released().now_or_never().is_some(), "the former one counts no more");
    }
}
