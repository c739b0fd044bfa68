//! Watches how long deliveries really take, against their modelled time.
//!
//! Consensus bounds a delivery by cycles and by modelled time (`execution.delivery_weight`), never by a clock. Where the model
//! is far from the truth, one delivery could hold up every validator. So the node measures: what took far longer than its
//! model says is logged and counted; what still runs when it has used several times the most that any delivery may have is
//! given up by a proposer, which leaves the transaction out and its sender apart for a while (decision 297). Nothing
//! here changes what a block does, nor whether it is valid.

use commonware_runtime::telemetry::metrics::raw::Counter;
use cowboy_chain::Execution;
use cowboy_types::Hash;
use std::{
    fs,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How many times its modelled time is far too long.
pub const FAR: u32 = 5;

/// What is shorter is no reason for an alarm.
const LEAST: Duration = Duration::from_millis(50);

/// After how long a thread's time is read again when a delivery begins. Reading it takes some microseconds.
const STALE: Duration = Duration::from_millis(10);

/// Counts deliveries that took far longer than their modelled time, and tells of them.
#[derive(Debug, Default)]
pub struct Slow {
    /// How many there were.
    pub deliveries: Counter,
}

impl Slow {
    /// Tells of a delivery that is over.
    fn took(&self, id: &Hash, took: Duration, modelled: Duration) {
        self.deliveries.inc();
        tracing::warn!(delivery = %id, took_ms = took.as_millis(), modelled_ms = modelled.as_millis(), "a delivery took far longer than its modelled time");
    }

    /// Tells of a delivery that still runs.
    pub(crate) fn runs(&self, id: &Hash, so_far: Duration, most: Duration) {
        self.deliveries.inc();
        tracing::warn!(delivery = %id, so_far_ms = so_far.as_millis(), most_modelled_ms = most.as_millis(), "a delivery runs far longer than any may by its modelled time");
    }
}

/// The processor time of one thread, which others can read; the time that passes where the system does not tell.
#[derive(Clone, Debug)]
struct ThreadTime {
    file: Option<PathBuf>,
    since: Instant,
}

impl ThreadTime {
    /// That of the calling thread.
    fn of_this_thread() -> Self {
        let id = fs::read_link("/proc/thread-self").ok().and_then(|link| Some(link.file_name()?.to_owned()));
        let file = id.map(|id| PathBuf::from("/proc/self/task").join(id).join("schedstat"));
        Self { file, since: Instant::now() }
    }

    fn now(&self) -> Duration {
        let text = self.file.as_ref().and_then(|file| fs::read_to_string(file).ok());
        let nanoseconds = text.and_then(|text| text.split_ascii_whitespace().next()?.parse().ok());
        nanoseconds.map_or_else(|| self.since.elapsed(), Duration::from_nanos)
    }
}

/// What an executing thread shows to whoever waits for it.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    running: Mutex<Option<(Hash, ThreadTime)>>,
    is_given_up: AtomicBool,
}

impl Watched {
    /// Tells the thread that nobody waits for it any more.
    pub(crate) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    /// Whether nobody waits for it any more.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed)
    }

    fn show(&self, running: Option<(Hash, ThreadTime)>) {
        *self.running.lock().expect("nothing panics while it holds the lock") = running;
    }

    fn running(&self) -> Option<(Hash, Duration)> {
        let running = self.running.lock().expect("nothing panics while it holds the lock").clone();
        running.map(|(id, time)| (id, time.now()))
    }
}

/// Looks at an executing thread from time to time.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    /// The delivery that ran when it looked first, and what its thread had used then.
    seen: Option<(Hash, Duration)>,
}

impl Watcher {
    /// The delivery that has used more than this of its thread's time since it was first seen, with how much.
    pub(crate) fn overdue(&mut self, watched: &Watched, most: Duration) -> Option<(Hash, Duration)> {
        let (id, now) = watched.running()?;
        match self.seen {
            Some((seen, begin)) if seen == id => Some((id, now.saturating_sub(begin))).filter(|(_, used)| *used > most),
            _ => {
                self.seen = Some((id, now));
                None
            }
        }
    }
}

/// Measures the deliveries of one execution, which may go on in another thread after each wait for records.
#[derive(Debug)]
pub(crate) struct Measure {
    time: ThreadTime,
    /// When the thread's time was read last, and what it was.
    read: (Instant, Duration),
    running: Option<Hash>,
    began: Instant,
    /// What the running delivery used in threads before this one.
    before: Duration,
}

impl Measure {
    /// Nothing runs yet.
    pub(crate) fn new() -> Self {
        let time = ThreadTime::of_this_thread();
        Self { read: (Instant::now(), time.now()), time, running: None, began: Instant::now(), before: Duration::ZERO }
    }

    /// The execution goes on in the calling thread.
    pub(crate) fn resume(&mut self, watched: &Watched) {
        self.time = ThreadTime::of_this_thread();
        self.read_time();
        watched.show(self.running.map(|id| (id, self.time.clone())));
    }

    /// The execution waits for records, or is over.
    pub(crate) fn pause(&mut self, watched: &Watched) {
        watched.show(None);
        self.before = self.used();
    }

    /// Looks whether another delivery runs now.
    pub(crate) fn look(&mut self, execution: &Execution, watched: &Watched, slow: &Slow) {
        let now = execution.under_way();
        if now == self.running {
            return;
        }
        let ended = self.running.take().filter(|_| self.began.elapsed() >= LEAST);
        if let Some(ran) = execution.ran().filter(|ran| Some(ran.id) == ended) {
            let (took, modelled) = (self.used(), Duration::from_nanos(ran.weight_ns));
            if took > LEAST && took > modelled * FAR {
                slow.took(&ran.id, took, modelled);
            }
        }
        if let Some(id) = now {
            (self.began, self.before) = (Instant::now(), Duration::ZERO);
            if self.began.duration_since(self.read.0) > STALE {
                self.read_time();
            }
            watched.show(Some((id, self.time.clone())));
        } else {
            watched.show(None);
        }
        self.running = now;
    }

    /// What the running delivery has used: too much by what others used in the same few milliseconds.
    fn used(&self) -> Duration {
        self.before + self.time.now().saturating_sub(self.read.1)
    }

    fn read_time(&mut self) {
        self.read = (Instant::now(), self.time.now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses the thread's time, not the time that passes, where the system tells it.
    #[test]
    fn a_watcher_sees_what_a_thread_uses() {
        let (watched, mut watcher) = (Watched::default(), Watcher::default());
        let id = Hash([7; 32]);
        assert_eq!(watcher.overdue(&watched, Duration::ZERO), None, "nothing runs");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                watched.show(Some((id, ThreadTime::of_this_thread())));
                let mut number = 1u64;
                while !watched.is_given_up() {
                    number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005));
                }
            });
            let (found, used) = loop {
                if let Some(found) = watcher.overdue(&watched, Duration::from_millis(5)) {
                    break found;
                }
                std::thread::yield_now();
            };
            watched.give_up();
            assert_eq!(found, id);
            assert!(used > Duration::from_millis(5));
        });
    }
}
