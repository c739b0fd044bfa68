//! Whose certificate is ordered next: within what an hour allows, in turn among registered names.

use cowboy_host::clock;
use cowboy_system::names::label::root_of;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::{Duration, Instant},
};

/// The time for which turns are counted.
const HOUR: Duration = Duration::from_secs(3_600);

/// Turns in an hour, those included that ended before an order: what is looked at without a result costs little, but not nothing.
const TURNS: usize = 1_200;

/// The wait after the first failure; twice as long after each more, up to [`HOUR`].
const RETRY: Duration = Duration::from_secs(10);

/// What an hour allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    /// Orders for all names.
    pub(crate) orders: usize,
    /// Orders for one registered name and those below it.
    pub(crate) of_name: usize,
}

/// A turn that a domain had.
struct Turn {
    at: Instant,
    domain: String,
    root: String,
    /// Whether it counts as an order.
    is_order: bool,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With a certificate.
    Obtained,
    /// The domain does not lead here, so nothing was ordered.
    Unreached,
    /// The authority gave none.
    Refused,
}

/// What the turns of the last hour come to.
#[derive(Default)]
struct Counts<'a> {
    turns_of: HashMap<&'a str, usize>,
    orders_of: HashMap<&'a str, usize>,
    last: HashMap<&'a str, Instant>,
    orders: usize,
}

impl<'a> Counts<'a> {
    fn of(turns: &'a VecDeque<Turn>) -> Self {
        let mut counts = Self::default();
        turns.iter().for_each(|turn| counts.add(&turn.domain, &turn.root, turn.is_order, turn.at));
        counts
    }

    fn add(&mut self, domain: &'a str, root: &'a str, is_order: bool, at: Instant) {
        *self.turns_of.entry(root).or_default() += 1;
        self.last.insert(domain, at);
        if is_order {
            *self.orders_of.entry(root).or_default() += 1;
            self.orders += 1;
        }
    }
}

/// Turns of the last hour, waits after failures, and what is under way.
#[derive(Default)]
pub(crate) struct Turns {
    recent: VecDeque<Turn>,
    waits: HashMap<String, (Instant, Duration)>,
    under_way: HashSet<String>,
}

impl Turns {
    /// Up to `free` of these domains, each with its name: those first whose registered name had the fewest turns, and of these the ones
    /// whose turn was the longest ago.
    pub(crate) fn take(&mut self, due: &[(String, String)], allowed: Allowed, free: usize, now: Instant) -> Vec<String> {
        while self.recent.front().is_some_and(|turn| now.duration_since(turn.at) >= HOUR) {
            self.recent.pop_front();
        }
        self.waits.retain(|_, (from, _)| now < *from + HOUR);
        let mut counts = Counts::of(&self.recent);
        let mut ready: Vec<(&str, &str)> = due.iter().map(|(domain, name)| (&**domain, root_of(name))).collect();
        ready.retain(|(domain, _)| !self.under_way.contains(*domain) && self.waits.get(*domain).is_none_or(|(from, _)| *from <= now));
        let mut taken = Vec::new();
        while taken.len() < free && self.recent.len() + taken.len() < TURNS && counts.orders < allowed.orders {
            let may = |(_, root): &&(&str, &str)| counts.orders_of.get(root).is_none_or(|orders| *orders < allowed.of_name);
            let rank = |(domain, root): &(&str, &str)| (counts.turns_of.get(root).copied(), counts.last.get(domain).copied());
            let first = |one: &&(&str, &str), other: &&(&str, &str)| rank(one).cmp(&rank(other)).then(one.0.cmp(other.0));
            let Some(next) = ready.iter().filter(may).min_by(first).copied() else { break };
            ready.retain(|other| *other != next);
            counts.add(next.0, next.1, true, now);
            taken.push((next.0.to_owned(), next.1.to_owned()));
        }
        for (domain, root) in &taken {
            self.under_way.insert(domain.clone());
            self.recent.push_back(Turn { at: now, domain: domain.clone(), root: root.clone(), is_order: true });
        }
        taken.into_iter().map(|(domain, _)| domain).collect()
    }

    /// Ends a domain's turn.
    pub(crate) fn end(&mut self, domain: &str, end: End, now: Instant) {
        self.under_way.remove(domain);
        if end == End::Obtained {
            self.waits.remove(domain);
            return;
        }
        let wait = self.waits.get(domain).map_or(RETRY, |(_, wait)| clock::doubled(*wait, 1, HOUR));
        self.waits.insert(domain.to_owned(), (now + wait, wait));
        if end == End::Unreached
            && let Some(turn) = self.recent.iter_mut().rev().find(|turn| turn.domain == domain)
        {
            turn.is_order = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: Allowed = Allowed { orders: 10, of_name: 4 };

    fn due(rows: &[(&str, usize)]) -> Vec<(String, String)> {
        rows.iter()
            .flat_map(|(name, domains)| (0..*domains).map(move |number| (format!("{name}-{number}.example"), (*name).into())))
            .collect()
    }

    /// What an hour allows is not exceeded, for all and for a name with those below it; after the hour it is allowed again.
    #[test]
    fn an_hour_has_an_end() {
        let (mut turns, start) = (Turns::default(), Instant::now());
        let order = |turns: &mut Turns, rows: &[(&str, usize)], now: Instant| {
            let taken = turns.take(&due(rows), ALLOWED, 100, now);
            taken.iter().for_each(|domain| turns.end(domain, End::Obtained, now));
            taken.len()
        };
        assert_eq!(order(&mut turns, &[("flood", 50), ("a.flood", 50)], start), 4);
        assert_eq!(order(&mut turns, &[("b.flood", 50), ("one", 50), ("two", 50)], start), 6);
        assert_eq!(order(&mut turns, &[("three", 1)], start + HOUR - Duration::from_secs(1)), 0);
        assert_eq!(order(&mut turns, &[("three", 1)], start + HOUR), 1);
    }

    /// Names take turns, however many domains one of them has; a domain that does not lead here uses up no order, and waits longer each
    /// time.
    #[test]
    fn names_take_turns() {
        let (mut turns, mut now) = (Turns::default(), Instant::now());
        let rows = due(&[("flood", 50), ("late", 1)]);
        let first = turns.take(&rows, ALLOWED, 2, now);
        assert_eq!(first, ["flood-0.example", "late-0.example"]);
        assert!(turns.take(&due(&[("late", 1)]), ALLOWED, 2, now).is_empty(), "it is under way");
        first.iter().for_each(|domain| turns.end(domain, End::Unreached, now));
        assert_eq!(Counts::of(&turns.recent).orders, 0);
        assert!(turns.take(&due(&[("late", 1)]), ALLOWED, 2, now).is_empty(), "it waits");
        let mut waits = Vec::new();
        for _ in 0..4 {
            let from = turns.waits["late-0.example"].0;
            waits.push((from - now).as_secs());
            now = from;
            assert_eq!(turns.take(&due(&[("late", 1)]), ALLOWED, 2, now), ["late-0.example"]);
            turns.end("late-0.example", End::Refused, now);
        }
        assert_eq!(waits, [10, 20, 40, 80]);
        assert_eq!(Counts::of(&turns.recent).orders, 4, "each that the authority refused counts");
    }

    /// Whatever fails, an hour has an end of turns, too.
    #[test]
    fn turns_have_an_end() {
        let (mut turns, now) = (Turns::default(), Instant::now());
        let rows = due(&[("flood", 2 * TURNS)]);
        let mut taken = 0;
        while let Some(domain) = turns.take(&rows, ALLOWED, 1, now).pop() {
            turns.end(&domain, End::Unreached, now);
            taken += 1;
        }
        assert_eq!(taken, TURNS);
    }
}
