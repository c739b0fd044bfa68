//! Why handlers fail behind the gateway, for its log: clients see no more than the class of an exception.

use cowboy_api::traceback;
use cowboy_chain::engine::Exception;
use cowboy_types::{Abort, error};
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// Time between two lines of the log: clients decide how often a handler fails.
const EVERY: Duration = Duration::from_secs(1);

/// The most bytes of an exception's message in the log.
const MAX_MESSAGE: usize = 1_000;

/// When a failure was last logged. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<Instant>>>);

impl Raised {
    /// Whether the next failure is logged.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let mut last = self.0.lock().expect("nothing panics while it holds the lock");
        let is_due = last.is_none_or(|last| now.saturating_duration_since(last) >= EVERY);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

/// Why a handler failed.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub(crate) abort: Abort,
    /// The exception, where it raised one.
    pub(crate) exception: Option<Exception>,
}

impl Failed {
    /// The exception's class and message, or what the error table says.
    pub(crate) fn why(&self) -> String {
        self.exception.as_ref().map_or_else(|| error::row(self.abort.code).what.to_owned(), words)
    }

    /// The line that raised it; empty where it is not known.
    pub(crate) fn line(&self) -> String {
        self.exception.as_ref().map(line).unwrap_or_default()
    }
}

/// An exception's class and message.
pub(crate) fn words(exception: &Exception) -> String {
    let mut words = format!("{}: {}", exception.name, exception.message);
    words.truncate(words.floor_char_boundary(MAX_MESSAGE));
    words
}

/// The author's line that raised an exception; empty where it is not known.
pub(crate) fn line(exception: &Exception) -> String {
    traceback::place(&exception.traceback).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_a_second_is_logged() {
        let (raised, now) = (Raised::default(), Instant::now());
        let rows = [(0, true), (0, false), (999, false), (1_000, true), (1_500, false), (2_000, true)];
        for (milliseconds, is_due) in rows {
            assert_eq!(raised.clone().is_due(now + Duration::from_millis(milliseconds)), is_due, "{milliseconds} ms");
        }
    }

    #[test]
    fn failures_have_words() {
        let traceback = vec!["Traceback (most recent call last):".into(), "  File \"actor.py\", line 7, in sign".into()];
        let exception = Exception { name: "KeyError".into(), message: "'text'".into(), traceback };
        let raised = Failed { abort: error::HANDLER_RAISED, exception: Some(exception) };
        assert_eq!((raised.why(), raised.line()), ("KeyError: 'text'".to_owned(), "line 7 of actor.py".to_owned()));
        let trapped = Failed { abort: error::OUT_OF_CYCLES, exception: None };
        assert_eq!((trapped.why(), trapped.line()), (error::row(error::OUT_OF_CYCLES.code).what.to_owned(), String::new()));
    }
}
