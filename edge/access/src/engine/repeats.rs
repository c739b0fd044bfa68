//! Puts under a condition, of a while ago. A client that heard no answer repeats its request, and then its own file is what keeps the condition from
//! holding (decision 667).

use cowboy_volume::Entry;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most puts that are remembered.
pub(super) const KEPT: usize = 1_000;

/// How long a put is remembered.
pub(super) const LASTS: Duration = Duration::from_secs(600);

/// A put under a condition.
struct Put {
    entry: Entry,
    /// What the client calls the request, where it says so.
    caller: Option<String>,
    /// Whether a client was told that the file is its own.
    is_told: bool,
    at: Instant,
}

/// Whether the file that stands is the one that a request puts: it has its content and its type.
pub(super) fn is_same_file(standing: &Entry, own: &Entry) -> bool {
    (standing.meta.hash, &standing.meta.kind) == (own.meta.hash, &own.meta.kind)
}

/// The newest puts under conditions, the last one at the end.
#[derive(Default)]
pub(super) struct Repeats(VecDeque<Put>);

impl Repeats {
    /// Remembers a put. Where nobody heard what came of its commit, its file may stand.
    pub(super) fn note(&mut self, now: Instant, entry: &Entry, caller: Option<&str>, is_told: bool) {
        self.0.retain(|put| now.saturating_duration_since(put.at) < LASTS);
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Put { entry: entry.clone(), caller: caller.map(str::to_owned), is_told, at: now });
    }

    /// Whether the file that stands was put by an earlier try of a request for `own`. One of which nobody was told is given to one request; after that,
    /// only that request has it again: of two clients that put the same content, one is the first.
    pub(super) fn is_repeated(&mut self, now: Instant, standing: &Entry, own: &Entry, caller: Option<&str>) -> bool {
        let is_fresh = |put: &Put| now.saturating_duration_since(put.at) < LASTS;
        // No two writes have the same record.
        let Some(put) = self.0.iter_mut().find(|put| put.entry == *standing && is_fresh(put)) else { return false };
        let is_same_request = !put.is_told || (caller.is_some() && put.caller.as_deref() == caller);
        if !is_same_file(standing, own) || !is_same_request {
            return false;
        }
        (put.is_told, put.caller) = (true, caller.map(str::to_owned));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entry;

    /// What is remembered is bounded in number and in time.
    #[test]
    fn few_puts_are_remembered() {
        let (mut repeats, now) = (Repeats::default(), Instant::now());
        let puts: Vec<Entry> = (0..=KEPT).map(|_| entry("notes/a", b"x")).collect();
        puts.iter().for_each(|put| repeats.note(now, put, None, false));
        assert_eq!(repeats.0.len(), KEPT);
        let own = entry("notes/a", b"x");
        let mut is_repeated = |now, at: usize| repeats.is_repeated(now, &puts[at], &own, None);
        assert_eq!([is_repeated(now, 0), is_repeated(now, 1), is_repeated(now + LASTS, 2)], [false, true, false]);
        repeats.note(now + LASTS, &own, None, false);
        assert_eq!(repeats.0.len(), 1);
    }
}
