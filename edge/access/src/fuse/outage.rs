//! What is said of a volume that cannot be read: programs that use the folder get EIO alone.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long nothing is said after a failure that was said.
const PAUSE: Duration = Duration::from_secs(60);

/// When it was last said that the volume cannot be read.
#[derive(Default)]
pub(super) struct Outage(Cell<Option<Instant>>);

impl Outage {
    /// Whether a failure at this time is said. Then it was.
    pub(super) fn is_said(&self, now: Instant) -> bool {
        let is_said = self.0.get().is_none_or(|said| now.saturating_duration_since(said) >= PAUSE);
        if is_said {
            self.0.set(Some(now));
        }
        is_said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first failure is said, and then one a minute.
    #[test]
    fn failures_are_said_once_a_minute() {
        let (outage, start) = (Outage::default(), Instant::now());
        let said = [0, 1, 59, 60, 61, 119, 120].map(|seconds| outage.is_said(start + Duration::from_secs(seconds)));
        assert_eq!(said, [true, false, false, true, false, false, true]);
    }
}
