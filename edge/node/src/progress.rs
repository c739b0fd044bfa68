//! How far a node is behind its network, and what it waits for.

use crate::{block::SealedBlock, head::Head};
use commonware_actor::Feedback;
use commonware_consensus::{Reporter, marshal::Update};
use cowboy_host::clock::as_ms;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;

/// Blocks behind the newest known one up to which a node counts as current: the engine holds a few while they are executed.
const NEAR: u64 = 8;

/// What a node is doing to come up with its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It executes or fetches the blocks up to the newest one that it knows to be final.
    Blocks {
        /// The next block it needs.
        next: u64,
        /// The newest final block that it knows of.
        newest: u64,
    },
    /// It has lost the record of its votes and only listens, so that it does not vote twice in one round.
    Listening {
        /// How long it listens in all.
        for_ms: u64,
    },
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks { next, newest } => write!(f, "catching up: block {next} of {newest} is next"),
            Self::Listening { for_ms } => {
                write!(f, "listening for {for_ms} ms before it votes: the record of its own votes may lack some, as the log says")
            }
        }
    }
}

/// How far the node has come. Clones share it.
#[derive(Clone, Debug)]
pub struct Progress(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    head: watch::Sender<Head>,
    /// The newest final block that this node has heard of.
    newest: AtomicU64,
    is_listening: AtomicBool,
    listens_ms: AtomicU64,
}

impl Progress {
    /// The progress of the node with this head.
    pub fn new(head: watch::Sender<Head>) -> Self {
        Self(Arc::new(Inner { head, newest: AtomicU64::new(0), is_listening: AtomicBool::new(false), listens_ms: AtomicU64::new(0) }))
    }

    /// The number of the newest final block that this node knows of, whether it has executed it or not.
    pub fn newest(&self) -> u64 {
        self.0.newest.load(Ordering::Acquire).max(self.0.head.borrow().number)
    }

    /// What the node waits for before it takes its full part; `None` where it is current.
    pub fn waiting(&self) -> Option<Waiting> {
        if self.0.is_listening.load(Ordering::Acquire) {
            return Some(Waiting::Listening { for_ms: self.0.listens_ms.load(Ordering::Acquire) });
        }
        let (number, newest) = (self.0.head.borrow().number, self.newest());
        (newest > number.saturating_add(NEAR)).then_some(Waiting::Blocks { next: number.saturating_add(1), newest })
    }

    /// Notes that this block is final.
    pub(crate) fn heard_of(&self, number: u64) {
        self.0.newest.fetch_max(number, Ordering::AcqRel);
    }

    /// Notes that the node listens for this long, or, with `None`, that it votes.
    pub(crate) fn listens(&self, time: Option<Duration>) {
        let time_ms = time.map_or(0, as_ms);
        self.0.listens_ms.store(time_ms, Ordering::Release);
        self.0.is_listening.store(time.is_some(), Ordering::Release);
    }
}

/// Notes the newest final block on its way to the state machine.
#[derive(Clone)]
pub(crate) struct Noted<R> {
    progress: Progress,
    inner: R,
}

impl<R> Noted<R> {
    pub(crate) fn new(progress: Progress, inner: R) -> Self {
        Self { progress, inner }
    }
}

impl<R: Reporter<Activity = Update<SealedBlock>>> Reporter for Noted<R> {
    type Activity = Update<SealedBlock>;

    fn report(&mut self, activity: Update<SealedBlock>) -> Feedback {
        if let Update::Tip(_, number, _) = activity {
            self.progress.heard_of(number.get());
        }
        self.inner.report(activity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::{Hash, Height, TimestampMs};

    #[test]
    fn a_node_says_what_it_waits_for() {
        let at = |number| Head {
            number,
            epoch: 0,
            view: number,
            height: Height(number),
            digest: Hash([0; 32]),
            state_root: Hash([0; 32]),
            timestamp_ms: TimestampMs(0),
        };
        let head = watch::Sender::new(at(3));
        let progress = Progress::new(head.clone());
        assert_eq!((progress.newest(), progress.waiting()), (3, None));
        progress.heard_of(3 + NEAR);
        assert_eq!(progress.waiting(), None, "a few blocks are always under way");
        progress.heard_of(2_000);
        progress.heard_of(7);
        let waiting = progress.waiting().expect("it is far behind");
        assert_eq!(waiting, Waiting::Blocks { next: 4, newest: 2_000 });
        assert_eq!(waiting.to_string(), "catching up: block 4 of 2000 is next");
        progress.listens(Some(Duration::from_secs(2)));
        assert_eq!(progress.waiting(), Some(Waiting::Listening { for_ms: 2_000 }));
        progress.listens(None);
        head.send_replace(at(2_001));
        assert_eq!((progress.newest(), progress.waiting()), (2_001, None));
    }
}
