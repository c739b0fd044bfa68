//! Lines of the log that clients cause, at any rate.

use std::time::{Duration, Instant};

/// The time between two of them.
const EVERY: Duration = Duration::from_secs(10);

/// When a line was last logged.
#[derive(Debug, Default)]
pub struct Rarely(Option<Instant>);

impl Rarely {
    /// Whether it is logged now, and with that not again for a while.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.0.is_none_or(|last| now.saturating_duration_since(last) > EVERY);
        if is_due {
            self.0 = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that cannot accept for an hour makes a line in ten seconds, and not twenty a second.
    #[test]
    fn lines_are_rare() {
        let (mut rarely, now) = (Rarely::default(), Instant::now());
        let logged = (0..72_000).filter(|step| rarely.is_due(now + Duration::from_millis(50) * *step)).count();
        assert!((300..=360).contains(&logged), "{logged}");
    }
}
