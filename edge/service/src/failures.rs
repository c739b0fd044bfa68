//! A step that is repeated may fail for long: the log then says so once for each cause, and ever more rarely after that.

use std::collections::BTreeMap;
use std::fmt::Display;

/// Failures for one cause between the first that is logged and the second. Each pause after that is twice as long as the one before.
const FIRST_PAUSE: u32 = 60;

/// The longest pause: of a step a second, 17 hours.
const MAX_PAUSE: u32 = FIRST_PAUSE << 10;

/// Causes that are told apart. All others count as one.
const MAX_CAUSES: usize = 32;

/// Which failures of a repeated step are logged.
#[derive(Debug, Default)]
pub struct Failures {
    causes: BTreeMap<String, Pause>,
    /// Successes in a row until the failures before them are over, and how many there were.
    patience: u32,
    successes: u32,
}

/// How many failures pass until the next one is logged.
#[derive(Debug)]
struct Pause {
    length: u32,
    left: u32,
}

impl Failures {
    /// Failures that are over after `patience` successes in a row: of a step that does not do everything each time, or of which other parts succeed.
    pub fn lasting(patience: u32) -> Self {
        Self { patience, ..Self::default() }
    }

    /// Whether this failure is logged: the first one for its cause, which is its text, and later ones at pauses that grow.
    pub fn is_logged(&mut self, failure: &impl Display) -> bool {
        self.successes = 0;
        let mut cause = failure.to_string();
        if self.causes.len() >= MAX_CAUSES && !self.causes.contains_key(&cause) {
            cause.clear();
        }
        let Some(pause) = self.causes.get_mut(&cause) else {
            self.causes.insert(cause, Pause { length: FIRST_PAUSE, left: FIRST_PAUSE });
            return true;
        };
        pause.left = pause.left.saturating_sub(1);
        if pause.left > 0 {
            return false;
        }
        pause.length = pause.length.saturating_mul(2).min(MAX_PAUSE);
        pause.left = pause.length;
        true
    }

    /// Notes that the step succeeded. Answers whether failures are over with that.
    pub fn is_over(&mut self) -> bool {
        self.successes = self.successes.saturating_add(1);
        if self.causes.is_empty() || self.successes < self.patience {
            return false;
        }
        self.causes.clear();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 739: a disk that is full for an hour makes six lines, not one a second, and each hour fewer; what is new is logged at once.
    #[test]
    fn a_row_of_failures_is_logged_ever_more_rarely() {
        let mut failures = Failures::default();
        assert!(!failures.is_over(), "nothing failed yet");
        let logged: Vec<u32> = (0..3_600).filter(|_| failures.is_logged(&"no node answers")).collect();
        assert_eq!(logged, [0, 60, 180, 420, 900, 1_860]);
        assert!(failures.is_logged(&"another chain"));
        assert!(failures.is_over() && !failures.is_over());
        assert!(failures.is_logged(&"no node answers"), "it is a new row");
        let logged: Vec<u32> = (0..1_000_000).filter(|_| failures.is_logged(&"no node answers")).collect();
        let pauses: Vec<u32> = logged.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!((pauses.first(), pauses.last()), (Some(&120), Some(&MAX_PAUSE)));
    }

    /// Causes that take turns are logged once each, as where the first write to a full disk says another thing than those after it.
    #[test]
    fn causes_that_take_turns_are_logged_once() {
        let mut failures = Failures::default();
        let logged = (0..100).filter(|step| failures.is_logged(&["the disk is full", "the database failed"][step % 2])).count();
        assert_eq!(logged, 2);
        let logged = (0..1_000).filter(|step| failures.is_logged(&format!("slot {step} is lost"))).count();
        assert!((30..40).contains(&logged), "{logged}: whoever makes causes up fills no log");
    }

    /// A step of which one part fails, now and then, is no new failure each time.
    #[test]
    fn successes_between_are_no_end() {
        let mut failures = Failures::lasting(60);
        let mut over = 0;
        let logged = (0..6_000).filter(|step| match step % 10 {
            0 => failures.is_logged(&"the disk is full"),
            _ => {
                over += u32::from(failures.is_over());
                false
            }
        });
        assert_eq!((logged.count(), over), (4, 0), "of 600 failures");
        assert_eq!((0..100).filter(|_| failures.is_over()).count(), 1);
    }
}
