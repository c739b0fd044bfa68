//! Watches how long deliveries really take, against their modelled time.
//!
//! Consensus bounds a delivery by cycles and by modelled time (`execution.delivery_weight`), never by a clock. Where the model
//! is far from the truth, one delivery could hold up every validator. So the node measures: what took far longer than its
//! model says is logged and counted; what still runs when it has used several times the most that any delivery may have is
//! given up by a proposer, which leaves the transaction out and its sender apart for a while (decision 297); what only takes
//! long because the computer is busy is put off (decision 306). Nothing here changes what a block does, nor whether it is valid.

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
pub(crate) const LEAST: Duration = Duration::from_millis(50);

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

/// A delivery that runs, as its thread shows it.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// The id.
    pub(crate) id: Hash,
    time: ThreadTime,
    /// What its thread had used when the delivery began or went on there.
    read: Duration,
    /// What it used in threads before this one.
    before: Duration,
    began: Instant,
}

impl Running {
    /// The processor time that it has used: too much by what others used in the same few milliseconds.
    pub(crate) fn used(&self) -> Duration {
        self.before + self.time.now().saturating_sub(self.read)
    }

    /// The time that has passed since it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

/// What an executing thread shows to whoever waits for it.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    running: Mutex<Option<Running>>,
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

    /// The delivery that runs now.
    pub(crate) fn running(&self) -> Option<Running> {
        self.running.lock().expect("nothing panics while it holds the lock").clone()
    }

    fn show(&self, running: Option<Running>) {
        *self.running.lock().expect("nothing panics while it holds the lock") = running;
    }
}

/// Measures the deliveries of one execution, which may continue in another thread after each wait for records.
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

    /// The execution continues in the calling thread.
    pub(crate) fn resume(&mut self, watched: &Watched) {
        self.time = ThreadTime::of_this_thread();
        self.read_time();
        watched.show(self.shown());
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
        if now.is_some() {
            (self.began, self.before) = (Instant::now(), Duration::ZERO);
            if self.began.duration_since(self.read.0) > STALE {
                self.read_time();
            }
        }
        self.running = now;
        watched.show(self.shown());
    }

    fn shown(&self) -> Option<Running> {
        let (time, read, before, began) = (self.time.clone(), self.read.1, self.before, self.began);
        self.running.map(|id| Running { id, time, read, before, began })
    }

    /// What the running delivery has used.
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

    /// Shows what a thread uses, beside what the delivery used before in others.
    #[test]
    fn what_a_delivery_uses_is_seen_from_outside() {
        let watched = Watched::default();
        let (id, before) = (Hash([7; 32]), Duration::from_secs(9));
        assert!(watched.running().is_none(), "nothing runs");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let measure = Measure { running: Some(id), before, ..Measure::new() };
                watched.show(measure.shown());
                let mut number = 1u64;
                while !watched.is_given_up() {
                    number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005));
                }
            });
            let running = loop {
                if let Some(running) = watched.running().filter(|running| running.used() > before + Duration::from_millis(5)) {
                    break running;
                }
                std::thread::yield_now();
            };
            watched.give_up();
            assert_eq!(running.id, id);
            assert!(running.elapsed() >= Duration::from_millis(5), "a thread uses no more than passes");
        });
    }
}
