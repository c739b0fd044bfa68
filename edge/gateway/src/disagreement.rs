//! How long the gateway waits after a node refused the nonces that the final state says are next (decision 635).

use cowboy_host::clock;
use cowboy_types::units::Nonce;
use std::time::{Duration, Instant};

/// The first wait. Each further one is twice as long, up to [`LONGEST`].
const FIRST: Duration = Duration::from_secs(2);

const LONGEST: Duration = Duration::from_secs(60);

/// Whether the node that takes the transactions disagrees about nonces.
#[derive(Debug, Default)]
pub(crate) struct Disagreement(Option<Since>);

#[derive(Debug)]
struct Since {
    /// The account's nonce in the final state at that time.
    nonce: Nonce,
    until: Instant,
    wait: Duration,
}

impl Disagreement {
    /// The node refused what follows from this nonce of the account. Returns the time to wait.
    pub(crate) fn note(&mut self, nonce: Nonce, now: Instant) -> Duration {
        let wait = self.0.as_ref().map_or(FIRST, |since| clock::doubled(since.wait, 1, LONGEST));
        self.0 = Some(Since { nonce, until: now + wait, wait });
        wait
    }

    /// The final state has this nonce. Where it moved on, the disagreement is over.
    pub(crate) fn look(&mut self, nonce: Nonce) {
        self.0 = self.0.take().filter(|since| since.nonce == nonce);
    }

    /// The node took a transaction.
    pub(crate) fn end(&mut self) {
        self.0 = None;
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// How long nothing is sent from now on; nothing where it may be tried again.
    pub(crate) fn left(&self, now: Instant) -> Option<Duration> {
        let left = self.0.as_ref()?.until.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_until_the_node_agrees() {
        let (mut disagreement, mut now) = (Disagreement::default(), Instant::now());
        let mut waits = Vec::new();
        for _ in 0..7 {
            let wait = disagreement.note(Nonce(3), now);
            assert_eq!(disagreement.left(now), Some(wait));
            waits.push(wait.as_secs());
            now += wait;
            assert!(disagreement.is_on() && disagreement.left(now).is_none());
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 60, 60]);
        disagreement.look(Nonce(3));
        assert!(disagreement.is_on());
        disagreement.look(Nonce(4));
        assert!(!disagreement.is_on());
        assert_eq!(disagreement.note(Nonce(4), now), FIRST);
        disagreement.end();
        assert_eq!((disagreement.is_on(), disagreement.left(now)), (false, None));
    }
}
