//! Token buckets by key: what each may take in a time, which comes back evenly.

use std::{
    collections::BTreeMap,
    num::NonZeroU64,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The most keys that are remembered. Beyond that, those whose bucket is full again are forgotten, and all where that is not enough.
const MAX_KEYS: usize = 100_000;

/// A bucket for each key. Of a key it keeps the time at which its bucket is full again.
#[derive(Debug)]
pub(crate) struct Buckets<K> {
    burst: NonZeroU64,
    period: Duration,
    full_at: Mutex<BTreeMap<K, Instant>>,
}

impl<K: Ord + Clone> Buckets<K> {
    /// Buckets of `burst` tokens, of which an empty one is full again after `period`. `None` for zero tokens.
    pub(crate) fn new(burst: u64, period: Duration) -> Option<Self> {
        Some(Self { burst: NonZeroU64::new(burst)?, period, full_at: Mutex::default() })
    }

    /// Whether a key's bucket has these tokens.
    pub(crate) fn has(&self, key: &K, tokens: u64, now: Instant) -> bool {
        self.full_after(&self.full_at(), key, tokens, now).is_some()
    }

    /// Takes tokens of a key; false, and nothing is taken, where its bucket has fewer.
    #[must_use]
    pub(crate) fn take(&self, key: &K, tokens: u64, now: Instant) -> bool {
        let mut full_at = self.full_at();
        let Some(then) = self.full_after(&full_at, key, tokens, now) else { return false };
        if full_at.len() >= MAX_KEYS && !full_at.contains_key(key) {
            full_at.retain(|_, full_at| *full_at > now);
            if full_at.len() >= MAX_KEYS {
                full_at.clear();
            }
        }
        full_at.insert(key.clone(), then);
        true
    }

    /// Gives tokens back that were taken and not used.
    pub(crate) fn give_back(&self, key: &K, tokens: u64) {
        let mut full_at = self.full_at();
        if let (Some(full_at), Some(time)) = (full_at.get_mut(key), self.time_of(tokens)) {
            *full_at = full_at.checked_sub(time).unwrap_or(*full_at);
        }
    }

    /// Forgets keys whose bucket is full again.
    pub(crate) fn tidy(&self, now: Instant) {
        self.full_at().retain(|_, full_at| *full_at > now);
    }

    /// When a key's bucket is full again after tokens are taken; `None` where it has fewer.
    fn full_after(&self, full_at: &BTreeMap<K, Instant>, key: &K, tokens: u64, now: Instant) -> Option<Instant> {
        let from = full_at.get(key).map_or(now, |full_at| (*full_at).max(now));
        let then = from.checked_add(self.time_of(tokens)?)?;
        (then.saturating_duration_since(now) <= self.period).then_some(then)
    }

    /// The time in which tokens come back; `None` for more than a bucket has.
    fn time_of(&self, tokens: u64) -> Option<Duration> {
        let burst = self.burst.get();
        let nanos = self.period.as_nanos().saturating_mul(tokens.into()) / u128::from(burst);
        (tokens <= burst).then(|| Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    fn full_at(&self) -> MutexGuard<'_, BTreeMap<K, Instant>> {
        self.full_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn buckets(burst: u64, period: Duration) -> Buckets<u32> {
        Buckets::new(burst, period).expect("it has tokens")
    }

    /// Each key has its own bucket, which comes back evenly.
    #[test]
    fn tokens_come_back_evenly() {
        let (buckets, now) = (buckets(10, SECOND), Instant::now());
        assert!((0..10).all(|_| buckets.take(&1, 1, now)));
        assert!(!buckets.take(&1, 1, now) && buckets.take(&2, 10, now));
        let later = now + SECOND / 5;
        assert!(buckets.take(&1, 2, later) && !buckets.take(&1, 1, later));
        assert!(buckets.take(&1, 10, later + SECOND), "it holds no more than a burst");
        assert!(!buckets.take(&3, 11, now), "more than a bucket has");
        buckets.tidy(now + SECOND * 9);
        assert!(buckets.full_at().is_empty());
        assert!(Buckets::<u32>::new(0, SECOND).is_none());
    }

    /// What was not used can be taken again, and no more than that.
    #[test]
    fn tokens_are_given_back() {
        let (buckets, now) = (buckets(1_000_000_000, SECOND * 3_600), Instant::now());
        assert!(buckets.take(&1, 1_000_000_000, now) && !buckets.take(&1, 1_000, now));
        buckets.give_back(&1, 400_000_000);
        assert!(!buckets.take(&1, 400_000_001, now) && buckets.take(&1, 400_000_000, now));
        buckets.give_back(&2, 5);
        assert!(!buckets.take(&2, 1_000_000_001, now), "who took nothing gets nothing");
    }

    /// More keys than are remembered keep nobody out.
    #[test]
    fn a_full_table_is_emptied() {
        let (buckets, now) = (buckets(1, SECOND), Instant::now());
        let keys = u32::try_from(MAX_KEYS).expect("a small number");
        assert!((0..=keys).all(|key| buckets.take(&key, 1, now)));
        assert!(!buckets.take(&keys, 1, now) && buckets.full_at().len() == 1);
    }
}
