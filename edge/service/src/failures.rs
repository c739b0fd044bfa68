//! A step that is repeated may fail for long: the log then says so once, and rarely after that.

use std::fmt::Display;

/// Failures in a row between two that are logged.
const SILENCE: u32 = 60;

/// Which failures of a repeated step are logged.
#[derive(Debug, Default)]
pub struct Failures {
    last: Option<String>,
    repeats: u32,
}

impl Failures {
    /// Whether this failure is logged: the first one, each that differs from the one before it, and every sixtieth of a row.
    pub fn is_logged(&mut self, failure: &impl Display) -> bool {
        let failure = failure.to_string();
        if self.last.as_ref() != Some(&failure) {
            *self = Self { last: Some(failure), repeats: 0 };
            return true;
        }
        self.repeats = self.repeats.saturating_add(1);
        self.repeats.is_multiple_of(SILENCE)
    }

    /// Notes that the step succeeded. Answers whether it had failed before.
    pub fn is_over(&mut self) -> bool {
        std::mem::take(self).last.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node that is away for an hour makes a line a minute, not one a second; what is new is logged at once.
    #[test]
    fn a_row_of_failures_is_logged_rarely() {
        let mut failures = Failures::default();
        assert!(!failures.is_over(), "nothing failed yet");
        assert_eq!((0..3_600).filter(|_| failures.is_logged(&"no node answers")).count(), 60);
        assert!(failures.is_logged(&"another chain") && failures.is_logged(&"no node answers"));
        assert!(failures.is_over() && !failures.is_over());
        assert!(failures.is_logged(&"no node answers"), "it is a new row");
    }
}
