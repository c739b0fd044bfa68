//! Transactions that a node handed on a moment ago. Nodes that follow each other would hand one on for ever, and each time to several.

use cowboy_types::Hash;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// How long a transaction that was handed on is not handed on again.
const REMEMBERED: Duration = Duration::from_secs(5);

/// The most that are remembered; more are handed on each time.
const MAX_REMEMBERED: usize = 16_384;

/// When transactions were handed on.
#[derive(Debug, Default)]
pub(crate) struct Forwarded(Mutex<HashMap<Hash, Instant>>);

impl Forwarded {
    /// Whether a transaction is to be handed on, which is noted then.
    pub(crate) fn begin(&self, digest: &Hash) -> bool {
        let mut known = self.known();
        if known.get(digest).is_some_and(|at| at.elapsed() < REMEMBERED) {
            return false;
        }
        if known.len() >= MAX_REMEMBERED {
            known.retain(|_, at| at.elapsed() < REMEMBERED);
        }
        if known.len() < MAX_REMEMBERED {
            known.insert(*digest, Instant::now());
        }
        true
    }

    /// Notes that nobody took it: its sender may try again at once.
    pub(crate) fn failed(&self, digest: &Hash) {
        self.known().remove(digest);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Hash, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes back ends here; what nobody took is tried again.
    #[test]
    fn what_comes_back_ends_here() {
        let forwarded = Forwarded::default();
        let (one, other) = (Hash([1; 32]), Hash([2; 32]));
        assert!(forwarded.begin(&one) && !forwarded.begin(&one) && forwarded.begin(&other));
        forwarded.failed(&one);
        assert!(forwarded.begin(&one));
    }
}
