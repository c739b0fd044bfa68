//! How far other sources say that they are: when a follower leaves its source for another one, and whether it is behind.
//!
//! A height that a source claims is unproven until it has given the blocks. A source whose claim makes a follower change to it, and that
//! then gives no blocks, is not believed for a while.

use cowboy_host::clock;
use cowboy_node::NodeHandle;
use cowboy_overlay::{Pool, Source};
use futures::future::join_all;
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::time::{sleep, timeout};

/// Blocks that another source may be ahead.
pub(super) const NEAR: u64 = 8;

/// How often the sources are asked how far they are, and how long each has for the answer.
const COMPARE: Duration = Duration::from_secs(5);

/// How long this node may stand still while another source says that it is ahead.
const STILL: Duration = Duration::from_secs(10);

/// The time in which the gap to a source that is ahead must shrink.
const LAGGING: Duration = Duration::from_secs(30);

/// The part of the gap by which it must shrink in that time: so it closes within two hours.
const SHRINKS: u64 = 240;

/// How long the claims of a source that did not give the blocks do not count.
const DISBELIEF: Duration = Duration::from_secs(600);

/// The age of the newest header, in milliseconds, up to which a node is not behind whatever sources claim.
const FRESH_MS: u64 = 30_000;

/// For what a follower changed to a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise {
    /// The height that the source claimed.
    pub(super) claimed: u64,
    /// The height at which the follower was.
    pub(super) from: u64,
}

impl Promise {
    /// Whether the source has not kept it when the follower leaves it at this height: blocks are still missing, and it came no closer.
    pub(super) fn is_broken(self, height: u64) -> bool {
        let gap = self.claimed.saturating_sub(self.from);
        self.claimed > height.saturating_add(NEAR) && height.saturating_sub(self.from) <= gap / SHRINKS
    }
}

/// Sources whose claims do not count, and until when.
#[derive(Debug, Default)]
pub(super) struct Disbelieved(Mutex<BTreeMap<String, Instant>>);

impl Disbelieved {
    /// Adds a source that did not give the blocks that it says it has.
    pub(super) fn add(&self, name: &str) {
        let now = Instant::now();
        let mut names = locked(&self.0);
        names.retain(|_, until| *until > now);
        names.insert(name.to_owned(), now + DISBELIEF);
    }

    fn has(&self, name: &str) -> bool {
        locked(&self.0).get(name).is_some_and(|until| *until > Instant::now())
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How it goes with one source.
#[derive(Debug)]
pub(super) struct Feeding {
    /// The greatest height that a source which is believed, or this one, claims.
    best: AtomicU64,
    /// The height that this one claims.
    claimed: AtomicU64,
    /// The height of the newest block that came from it, executed or not.
    taken: AtomicU64,
    /// How long it was waited for, and since when it is.
    waited: Mutex<(Duration, Option<Instant>)>,
}

impl Feeding {
    /// A source that claims this height, and gives blocks from `next` on.
    pub(super) fn new(claimed: u64, next: u64) -> Self {
        Self {
            best: AtomicU64::new(claimed),
            claimed: AtomicU64::new(claimed),
            taken: AtomicU64::new(next.saturating_sub(1)),
            waited: Mutex::default(),
        }
    }

    /// The height that the source claims.
    pub(super) fn claimed(&self) -> u64 {
        self.claimed.load(Ordering::Relaxed)
    }

    /// Counts blocks that came.
    pub(super) fn took(&self, blocks: usize) {
        self.taken.fetch_add(u64::try_from(blocks).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Waits for the source, and counts the time.
    pub(super) async fn waiting<T>(&self, answer: impl Future<Output = T>) -> T {
        locked(&self.waited).1 = Some(Instant::now());
        let answer = answer.await;
        let mut waited = locked(&self.waited);
        let time = waited.1.take().map_or(Duration::ZERO, |since| since.elapsed());
        waited.0 += time;
        answer
    }

    fn waited(&self) -> Duration {
        let (time, since) = *locked(&self.waited);
        time + since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Whether the node is behind what the sources say.
    pub(super) fn is_behind(&self, node: &NodeHandle) -> bool {
        let head = node.head();
        is_behind((head.height.get(), head.timestamp_ms.0), clock::now_ms(), self.best.load(Ordering::Relaxed))
    }
}

/// Whether a node whose newest block has this height and time is behind sources of which one claims the height `best`.
fn is_behind((height, timestamp_ms): (u64, u64), now_ms: u64, best: u64) -> bool {
    // A liar claims what it likes. It cannot make the newest block old.
    best > height.saturating_add(NEAR) && now_ms.saturating_sub(timestamp_ms) > FRESH_MS
}

/// Why a source is left.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Overtaken {
    /// The source of this name says that it is ahead, at this height.
    By(String, u64),
    /// The source itself says so, and gives its blocks too slowly.
    Itself,
}

/// Waits until another source says that it is ahead, while this node stands still or does not come closer to it. Without the check a
/// source that stays where it is, or gives its blocks slowly, would keep its followers there. `note` is called when the claims are known.
pub(super) async fn overtaken(
    pool: &Pool,
    source: &dyn Source,
    node: &NodeHandle,
    (feeding, disbelieved): (&Feeding, &Disbelieved),
    note: &(dyn Fn() + Sync),
) -> Overtaken {
    let mut gaps = Gaps::default();
    loop {
        let sources: Vec<_> =
            pool.usable().into_iter().filter(|other| other.name() == source.name() || !disbelieved.has(other.name())).collect();
        let heads = join_all(sources.iter().map(|source| timeout(COMPARE, source.head()))).await;
        let claims = sources.iter().zip(heads).filter_map(|(source, head)| Some((source.name(), head.ok()?.ok()?.height)));
        let (own, others): (Vec<_>, Vec<_>) = claims.partition(|(name, _)| *name == source.name());
        if let Some((_, height)) = own.first() {
            feeding.claimed.store(*height, Ordering::Relaxed);
        }
        let best = others.iter().map(|(_, height)| *height).chain([feeding.claimed()]).max().unwrap_or(0);
        feeding.best.store(best, Ordering::Relaxed);
        note();
        let height = node.head().height.get();
        let now = Now { at: Instant::now(), height, taken: feeding.taken.load(Ordering::Relaxed).max(height), waited: feeding.waited() };
        if let Some(found) = gaps.compare(&now, feeding.claimed(), &others) {
            return found;
        }
        sleep(COMPARE).await;
    }
}

/// How far this node is at a time.
struct Now {
    at: Instant,
    /// The height of the newest block.
    height: u64,
    /// The same, of what came from the source.
    taken: u64,
    /// How long the source was waited for in all.
    waited: Duration,
}

/// The gap to one source when it was last measured.
struct Gap {
    since: Instant,
    gap: u64,
    waited: Duration,
}

impl Gap {
    /// Whether the gap is still there after the time in which it must shrink, and the source was waited for. A node that is slow itself
    /// is no faster with another source. Begins to measure again when the time is over.
    fn is_slow(&mut self, now: &Now, gap: u64) -> bool {
        let time = now.at.saturating_duration_since(self.since);
        if time < LAGGING {
            return false;
        }
        let is_waiting = now.waited.saturating_sub(self.waited) >= time / 2;
        let is_slow = is_waiting && self.gap.saturating_sub(gap) <= self.gap / SHRINKS;
        *self = Self { since: now.at, gap, waited: now.waited };
        is_slow
    }
}

/// The gaps to the sources that say they are ahead.
#[derive(Default)]
struct Gaps {
    others: BTreeMap<String, Gap>,
    own: Option<Gap>,
    /// The height at which this node is, and since when.
    stands: Option<(u64, Instant)>,
}

impl Gaps {
    fn compare(&mut self, now: &Now, claimed: u64, others: &[(&str, u64)]) -> Option<Overtaken> {
        let stands = self.stands.filter(|(height, _)| *height == now.height).unwrap_or((now.height, now.at));
        self.stands = Some(stands);
        let measured = |gap| Gap { since: now.at, gap, waited: now.waited };
        let ahead: Vec<_> = others.iter().filter(|(_, height)| *height > now.height.saturating_add(NEAR)).collect();
        self.others.retain(|name, _| ahead.iter().any(|(other, _)| other == name));
        for (name, height) in ahead {
            let gap = height - now.height;
            let seen = self.others.entry((*name).to_owned()).or_insert_with(|| measured(gap));
            let is_still = now.at.saturating_duration_since(stands.1.max(seen.since)) >= STILL;
            if is_still || seen.is_slow(now, gap) {
                return Some(Overtaken::By((*name).to_owned(), *height));
            }
        }
        let own = claimed.saturating_sub(now.taken);
        if own <= NEAR {
            self.own = None;
            return None;
        }
        self.own.get_or_insert_with(|| measured(own)).is_slow(now, own).then_some(Overtaken::Itself)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a follower leaves its source, in seconds: at each second it is where `taken` says and the source has been waited for as long
    /// as `waited` says, and the sources claim what `claimed` and `other` say.
    fn left(
        taken: impl Fn(u64) -> u64,
        waited: impl Fn(u64) -> u64,
        claimed: impl Fn(u64) -> u64,
        other: impl Fn(u64) -> u64,
    ) -> Option<(u64, Overtaken)> {
        let (mut gaps, begun) = (Gaps::default(), Instant::now());
        (0..600).step_by(5).find_map(|second| {
            let at = begun + Duration::from_secs(second);
            let now = Now { at, height: taken(second), taken: taken(second), waited: Duration::from_secs(waited(second)) };
            Some((second, gaps.compare(&now, claimed(second), &[("other", other(second))])?))
        })
    }

    fn by_other(second: u64, height: u64) -> Option<(u64, Overtaken)> {
        Some((second, Overtaken::By("other".into(), height)))
    }

    /// A source that gives a block every four seconds, and says that it has no more, is left for one with a block each second.
    #[test]
    fn a_source_that_drips_is_left() {
        let drips = |second: u64| 100 + second / 4;
        assert_eq!(left(drips, |second| second, drips, |second| 120 + second), by_other(30, 150));
        // One that says itself that it has more breaks its word.
        assert_eq!(left(drips, |second| second, |second| 120 + second, |_| 0), Some((30, Overtaken::Itself)));
        // A little faster than the chain is not fast enough.
        let barely = |second: u64| 100 + second + second / 20;
        assert_eq!(left(barely, |second| second, barely, |second| 1_000_000 + second), by_other(30, 1_000_030));
    }

    /// A node that comes closer stays with its source; one that is slow itself would be no faster with another.
    #[test]
    fn a_source_that_is_fast_enough_is_kept() {
        let chain = |second: u64| 10_000 + second;
        assert_eq!(left(|second| 100 + 20 * second, |second| second, chain, chain), None, "it comes closer");
        assert_eq!(left(|second| 100 + second / 4, |second| second / 10, chain, chain), None, "the node is slow");
        assert_eq!(left(|second| 9_995 + second, |second| second, chain, chain), None, "it is near enough");
    }

    /// A source that stays where it is, and says so, is left sooner.
    #[test]
    fn a_source_that_stays_is_left() {
        assert_eq!(left(|_| 100, |second| second, |_| 100, |_| 200), by_other(10, 200));
        assert_eq!(left(|_| 100, |second| second, |_| 100, |_| 108), None, "nobody is ahead");
    }

    /// A node whose newest block is old is behind where a source says so, however the blocks drip; a liar alone makes none behind.
    #[test]
    fn who_is_behind_follows_from_the_age_of_the_newest_block() {
        let now_ms = 1_000_000;
        assert!(is_behind((100, now_ms - 60_000), now_ms, 200));
        assert!(!is_behind((100, now_ms - 1_000), now_ms, u64::MAX), "the newest block is new");
        assert!(!is_behind((100, now_ms - 60_000), now_ms, 108), "the chain rests");
        assert!(!is_behind((100, now_ms + 60_000), now_ms, 200), "the clocks differ");
        assert!(!is_behind((u64::MAX, 0), now_ms, u64::MAX));
    }

    /// Who was changed to for what it claimed, and gives next to nothing, broke its word, whatever it claims when it is left: two that name each other
    /// would else keep a follower between them for ever.
    #[test]
    fn a_claim_that_brings_no_blocks_is_broken() {
        let promise = Promise { claimed: 10_100, from: 100 };
        assert!(promise.is_broken(100) && promise.is_broken(141), "a 240th of the gap");
        assert!(!promise.is_broken(142) && !promise.is_broken(10_092));
        assert!(!Promise { claimed: 108, from: 100 }.is_broken(100), "it is near enough");
    }

    /// A source that did not give the blocks that it claimed is not believed again at once.
    #[test]
    fn broken_claims_do_not_count() {
        let disbelieved = Disbelieved::default();
        assert!(!disbelieved.has("liar"));
        disbelieved.add("liar");
        assert!(disbelieved.has("liar") && !disbelieved.has("other"));
    }
}
