//! Scores of peers: what they did wrong counts, is forgotten with time, and leads to a ban that ends.

use std::{collections::BTreeMap, time::Duration};

/// What a source did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offence {
    /// It could not be reached, or refused to answer.
    Away,
    /// It answered nothing in time, or has not the blocks that it says it has.
    Silent,
    /// It sent bytes that are no message of the protocol.
    Malformed,
    /// It sent what does not verify.
    Lie,
}

impl Offence {
    fn points(self) -> u64 {
        match self {
            Self::Away => 5,
            Self::Silent => 25,
            Self::Malformed | Self::Lie => BAN_AT,
        }
    }
}

/// The points at which a source is banned.
const BAN_AT: u64 = 100;

/// The time after which a point is forgotten.
const FORGET: Duration = Duration::from_secs(6);

/// The first ban's time; each further one takes twice as long.
const FIRST_BAN: Duration = Duration::from_secs(600);

/// How often a ban's time doubles.
const MAX_DOUBLINGS: u32 = 7;

/// The time without a ban after which one doubling is forgotten.
const FORGIVE: Duration = Duration::from_secs(24 * 3_600);

/// The most names that are remembered.
const MAX_NAMES: usize = 4_096;

#[derive(Clone, Copy, Debug, Default)]
struct Score {
    points: u64,
    /// The time to which the points were counted.
    at: Duration,
    bans: u32,
    banned_until: Duration,
}

impl Score {
    fn points_at(&self, now: Duration) -> u64 {
        let forgotten = now.saturating_sub(self.at).as_secs() / FORGET.as_secs();
        self.points.saturating_sub(forgotten)
    }

    fn bans_at(&self, now: Duration) -> u32 {
        let forgiven = now.saturating_sub(self.banned_until).as_secs() / FORGIVE.as_secs();
        self.bans.saturating_sub(u32::try_from(forgiven).unwrap_or(u32::MAX))
    }
}

/// A ban that has not ended yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ban {
    /// Who is banned: a source by its name, or a host by its address.
    pub name: String,
    /// The time until it ends.
    pub left: Duration,
    /// How many bans of the name are remembered, this one included.
    pub bans: u32,
}

/// Scores by name. Times are measured from any fixed moment.
#[derive(Debug, Default)]
pub struct Scores(BTreeMap<String, Score>);

impl Scores {
    /// Counts an offence. True where the name is banned from now on.
    pub fn report(&mut self, name: &str, offence: Offence, now: Duration) -> bool {
        if !self.0.contains_key(name) && self.0.len() >= MAX_NAMES {
            self.forget_one(now);
        }
        let score = self.0.entry(name.to_owned()).or_default();
        let points = score.points_at(now).saturating_add(offence.points());
        (score.points, score.at) = (points, now);
        if points < BAN_AT {
            return false;
        }
        let bans = score.bans_at(now);
        let time = FIRST_BAN.saturating_mul(1 << bans.min(MAX_DOUBLINGS));
        *score = Score { points: 0, at: now, bans: bans.saturating_add(1), banned_until: now.saturating_add(time) };
        true
    }

    /// Whether the name is banned now.
    pub fn is_banned(&self, name: &str, now: Duration) -> bool {
        self.0.get(name).is_some_and(|score| score.banned_until > now)
    }

    /// The points that count against the name now.
    pub fn points(&self, name: &str, now: Duration) -> u64 {
        self.0.get(name).map_or(0, |score| score.points_at(now))
    }

    /// The bans that have not ended, by name.
    pub fn bans(&self, now: Duration) -> Vec<Ban> {
        let banned = self.0.iter().filter(|(_, score)| score.banned_until > now);
        banned.map(|(name, score)| Ban { name: name.clone(), left: score.banned_until.saturating_sub(now), bans: score.bans }).collect()
    }

    /// Ends a ban, and forgets what led to it and to earlier ones. False where the name is not banned.
    pub fn forgive(&mut self, name: &str, now: Duration) -> bool {
        self.is_banned(name, now) && self.0.remove(name).is_some()
    }

    /// Makes room: the name that would be forgotten first goes. Bans go last.
    fn forget_one(&mut self, now: Duration) {
        let least = self.0.iter().min_by_key(|(_, score)| (score.banned_until.saturating_sub(now), score.points_at(now)));
        if let Some(name) = least.map(|(name, _)| name.clone()) {
            self.0.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_lie_bans_at_once_and_for_longer_each_time() {
        let mut scores = Scores::default();
        let mut now = seconds(10);
        for doubling in 0..10u32 {
            assert!(!scores.is_banned("a", now));
            assert!(scores.report("a", Offence::Lie, now));
            let time = FIRST_BAN * (1 << doubling.min(MAX_DOUBLINGS));
            assert!(scores.is_banned("a", now + time - seconds(1)), "ban {doubling}");
            now += time;
        }
        assert!(!scores.is_banned("b", seconds(10)));
        // A long time without a ban, and the next one is a first one again.
        now += FORGIVE * 20;
        assert!(scores.report("a", Offence::Lie, now) && !scores.is_banned("a", now + FIRST_BAN));
    }

    #[test]
    fn bans_are_listed_and_end_early() {
        let mut scores = Scores::default();
        scores.report("a", Offence::Lie, seconds(10));
        scores.report("b", Offence::Silent, seconds(10));
        scores.report("c", Offence::Malformed, seconds(10));
        let ban = |name: &str, left: Duration| Ban { name: name.into(), left, bans: 1 };
        assert_eq!(scores.bans(seconds(20)), [ban("a", FIRST_BAN - seconds(10)), ban("c", FIRST_BAN - seconds(10))]);
        assert!(scores.forgive("a", seconds(20)) && !scores.forgive("a", seconds(20)), "it is not banned any more");
        assert!(!scores.forgive("b", seconds(20)) && scores.points("b", seconds(20)) > 0, "who is not banned keeps its points");
        assert!(!scores.forgive("nobody", seconds(20)));
        assert_eq!(scores.bans(seconds(20)), [ban("c", FIRST_BAN - seconds(10))]);
        scores.report("a", Offence::Lie, seconds(20));
        assert_eq!(scores.bans(seconds(20))[0], ban("a", FIRST_BAN), "the next ban is a first one");
        assert_eq!(scores.bans(FIRST_BAN + seconds(20)), []);
    }

    #[test]
    fn slowness_is_forgotten_unless_it_is_repeated() {
        let mut scores = Scores::default();
        assert!((0..3).all(|_| !scores.report("a", Offence::Silent, seconds(0))));
        assert_eq!(scores.points("a", seconds(0)), 75);
        assert_eq!(scores.points("a", seconds(60)), 65);
        assert!(!scores.report("a", Offence::Silent, seconds(600)), "the earlier ones are forgotten");
        assert!((0..3).any(|_| scores.report("a", Offence::Silent, seconds(601))), "and these are not");
    }

    #[test]
    fn names_are_bounded_and_bans_stay() {
        let mut scores = Scores::default();
        scores.report("liar", Offence::Lie, seconds(0));
        for number in 0..2 * MAX_NAMES {
            scores.report(&format!("peer {number}"), Offence::Away, seconds(1));
        }
        assert_eq!(scores.0.len(), MAX_NAMES);
        assert!(scores.is_banned("liar", seconds(2)));
    }
}
