//! How far a client has taken the answers of one connection, and until when it has to take more.
//!
//! The connection as a whole has a minimum rate, because the answers of HTTP/2 share it: each waits for its turn while the client takes another one.
//! Each answer has a part of that rate too, so that one which the client leaves is not held for as long as it takes others (decision 588).

use std::{collections::BTreeMap, time::Duration};
use tokio::time::Instant;

/// Requests that one connection of HTTP/2 may have under way.
pub(crate) const STREAMS: u32 = 16;

/// Bytes that a client has to take in a second, of all answers together, in the time in which there are some to take. Whoever takes one piece
/// whenever its time is nearly over would hold an answer for hours.
const MIN_BYTES_PER_SECOND: u64 = 4_096;

/// How far a client has taken what there was.
#[derive(Clone, Copy, Debug, Default)]
struct Taking {
    /// Since when there have been bytes of which it took nothing; none while the server prepares more.
    since: Option<Instant>,
    /// How long there were bytes to take before.
    waited: Duration,
    /// Bytes that were offered.
    offered: u64,
}

impl Taking {
    /// The client has taken what there was.
    fn take(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            self.waited += now.saturating_duration_since(since);
        }
    }

    /// The client has taken a part of what there is.
    fn take_part(&mut self, now: Instant) {
        if self.since.is_some() {
            self.take(now);
            self.since = Some(now);
        }
    }

    /// There are this many bytes more to take.
    fn offer(&mut self, bytes: usize, now: Instant) {
        self.take(now);
        self.since = Some(now);
        self.offered = self.offered.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// Until when the client has to take some of what there is: `after` each time, and in all as much, beside the time in which the slowest client
    /// takes what was offered. Where it is one of `parts` equal parts of a connection, the time is multiplied by their number.
    fn deadline(&self, after: Duration, parts: u32) -> Option<Instant> {
        let slowest = Duration::from_secs(self.offered / MIN_BYTES_PER_SECOND);
        let in_all = after.saturating_add(slowest).saturating_mul(parts);
        self.since.map(|since| since + after.saturating_mul(parts).min(in_all.saturating_sub(self.waited)))
    }
}

/// The answers of one connection.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// All of them together.
    all: Taking,
    /// Each that is under way.
    each: BTreeMap<u64, Taking>,
    /// The number of the next one.
    next: u64,
}

impl Answers {
    /// A request came: the number of its answer.
    pub(crate) fn begin(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        self.each.insert(number, Taking::default());
        number
    }

    /// How many have begun.
    pub(crate) fn begun(&self) -> u64 {
        self.next
    }

    /// Whether none is under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// The client has taken what there was of an answer, and has this many bytes more to take.
    pub(crate) fn offer(&mut self, number: u64, bytes: usize, now: Instant) {
        if let Some(taking) = self.each.get_mut(&number) {
            taking.offer(bytes, now);
            self.all.offer(bytes, now);
        }
    }

    /// The client has taken what there was of an answer; the server prepares more.
    pub(crate) fn prepare(&mut self, number: u64, now: Instant) {
        if let Some(taking) = self.each.get_mut(&number) {
            taking.take(now);
        }
        self.take(now);
    }

    /// The client has taken some of an answer.
    pub(crate) fn take_part(&mut self, number: u64, now: Instant) {
        if let Some(taking) = self.each.get_mut(&number) {
            taking.take_part(now);
        }
        self.take(now);
    }

    /// An answer is over.
    pub(crate) fn end(&mut self, number: u64, now: Instant) {
        self.each.remove(&number);
        self.take(now);
        if self.is_empty() {
            self.all = Taking::default();
        }
    }

    /// The client has taken something.
    fn take(&mut self, now: Instant) {
        self.all.take(now);
        if self.each.values().any(|taking| taking.since.is_some()) {
            self.all.since = Some(now);
        }
    }

    /// Until when the client has to take more, if it has the time `after` to take some of what there is. None where there is nothing to take.
    pub(crate) fn deadline(&self, after: Duration) -> Option<Instant> {
        let of_each = self.each.values().filter_map(|taking| taking.deadline(after, STREAMS));
        self.all.deadline(after, 1).into_iter().chain(of_each).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: Duration = Duration::from_secs(60);
    const PIECE: usize = 16 * 1024;

    /// A client that takes a piece whenever its time is nearly over is cut off; one that takes enough in a second is not, and the server's own time is its own.
    #[test]
    fn an_answer_has_a_minimum_rate() {
        let pieces = |pause: Duration, prepares: Duration| {
            let (mut answers, mut now) = (Answers::default(), Instant::now());
            let number = answers.begin();
            (0..1_000)
                .take_while(|_| {
                    answers.offer(number, PIECE, now);
                    let is_late = answers.deadline(AFTER).is_none_or(|deadline| deadline < now + pause);
                    now += pause;
                    answers.prepare(number, now);
                    now += prepares;
                    !is_late
                })
                .count()
        };
        assert_eq!(pieces(Duration::from_secs(59), Duration::ZERO), 1);
        assert_eq!(pieces(Duration::from_secs(61), Duration::ZERO), 0, "each piece has its time too");
        assert_eq!(pieces(Duration::from_secs(4), Duration::ZERO), 1_000, "4 KiB a second");
        assert_eq!(pieces(Duration::from_secs(1), Duration::from_secs(3_600)), 1_000, "blocks that come once an hour");
        assert_eq!(Answers::default().deadline(AFTER), None);
    }

    /// Answers that share a slow connection are taken in turn: none is cut off while the client takes enough of all of them.
    #[test]
    fn answers_share_the_rate_of_their_connection() {
        let (mut answers, mut now) = (Answers::default(), Instant::now());
        let numbers: Vec<u64> = (0..STREAMS).map(|_| answers.begin()).collect();
        for number in &numbers {
            answers.offer(*number, PIECE, now);
        }
        for round in 0..1_000 {
            for number in &numbers {
                now += Duration::from_secs(4);
                assert!(answers.deadline(AFTER).is_some_and(|deadline| deadline >= now), "round {round}: 4 KiB a second in all");
                answers.offer(*number, PIECE, now);
            }
        }
        // The client takes nothing any more.
        assert_eq!(answers.deadline(AFTER), Some(now + AFTER));
    }

    /// An answer that the client leaves is held for longer while it takes others, but not for ever.
    #[test]
    fn an_answer_that_is_left_ends() {
        let (mut answers, began) = (Answers::default(), Instant::now());
        let [left, taken] = [(), ()].map(|()| answers.begin());
        answers.offer(left, PIECE, began);
        let mut now = began;
        while answers.deadline(AFTER).is_none_or(|deadline| deadline > now) {
            answers.offer(taken, PIECE, now);
            now += Duration::from_secs(1);
        }
        assert_eq!(now.duration_since(began), AFTER * STREAMS);
    }

    /// What is handed over has to be taken too, and each part that is taken counts.
    #[test]
    fn what_is_handed_over_is_taken_in_parts() {
        let (mut answers, began) = (Answers::default(), Instant::now());
        let number = answers.begin();
        answers.offer(number, 10 * PIECE, began);
        let later = began + Duration::from_secs(40);
        answers.take_part(number, later);
        assert_eq!(answers.deadline(AFTER), Some(later + AFTER));
        answers.end(number, later);
        assert_eq!((answers.deadline(AFTER), answers.is_empty()), (None, true));
    }
}
