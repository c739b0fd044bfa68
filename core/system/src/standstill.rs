//! Clocks that stand still while governance pauses a system actor (003 §11; decisions 315, 320 and 734).
//!
//! Nobody can do a duty while the actor that it is owed to is paused. So every deadline belongs to a clock, and is later by the blocks for which its
//! clock stood still since it was set. Actors whose duties depend on each other share a clock: it stands still while any of them is paused.
//!
//! The record of a clock says how many blocks that were, and when the newest were. Without pauses there is none, and nothing is written.

use cowboy_state::{Key, Miss, World};
use cowboy_types::units::{Count, Height};
use cowboy_types::{List, actors, record};

/// Times that a record keeps one by one, at most: pauses of half a year, where each lasts as long as the shortest vote on one.
const SPANS: usize = 32;

/// A clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The number of the actor that has the record.
    keeper: u8,
    /// The numbers of the actors whose pauses stop it.
    actors: &'static [u8],
}

/// The clock of jobs, claims and runners.
pub const MARKET: Clock = Clock { keeper: actors::DISPATCHER, actors: &[actors::RUNNERS, actors::DISPATCHER, actors::VERIFIER] };

/// The clock of proxies, dealings and releases.
pub const SECRETS: Clock = Clock { keeper: actors::SECRETS, actors: &[actors::SECRETS] };

/// The clock of volumes and relays.
pub const VOLUMES: Clock = Clock { keeper: actors::RELAYS, actors: &[actors::STORAGE, actors::RELAYS] };

/// Every clock.
pub const CLOCKS: [Clock; 3] = [MARKET, SECRETS, VOLUMES];

record! {
    /// Blocks in a row for which a clock stood still.
    pub struct Span {
        /// The first one.
        pub first: Height,
        /// The last one.
        pub last: Height,
    }
}

record! {
    /// For how long a clock stood still.
    #[derive(Default)]
    pub struct Standstill {
        /// All such blocks so far.
        pub blocks: Count,
        /// When the newest of them were, ascending.
        pub spans: List<Span, SPANS>,
    }
}

impl Clock {
    /// Where its record stands. It is absent before the first pause.
    pub fn key(&self) -> Key {
        Key::system(self.keeper, "standstill")
    }

    /// Its record.
    pub fn read(&self, world: &World) -> Result<Standstill, Miss> {
        Ok(world.read(&self.key())?.unwrap_or_default())
    }

    /// Whether an actor is one of those whose pauses stop it.
    pub fn is_of(&self, number: u8) -> bool {
        self.actors.contains(&number)
    }

    /// Whether it stands still in a block in which the actors with these numbers are paused.
    pub fn is_still(&self, paused: &[u8]) -> bool {
        self.actors.iter().any(|number| paused.contains(number))
    }
}

/// Counts a block for the clocks that stand still in it. A block does so once, before anything else happens in it.
pub fn count(world: &mut World, paused: &[u8], height: Height) -> Result<(), Miss> {
    for clock in CLOCKS.iter().filter(|clock| clock.is_still(paused)) {
        let standstill = clock.read(world)?.with(height);
        world.write(clock.key(), &standstill);
    }
    Ok(())
}

impl Span {
    /// How many blocks they are.
    fn blocks(&self) -> u64 {
        self.last.0.saturating_add(1).saturating_sub(self.first.0)
    }
}

impl Standstill {
    /// The last block for which the clock stood still; none where it never did.
    pub fn last(&self) -> Option<Height> {
        self.spans.last().map(|span| span.last)
    }

    /// Whether the clock stood still in the block of a height, where this is what that block left.
    pub fn is_still_at(&self, height: Height) -> bool {
        self.last() == Some(height)
    }

    /// The same with one more block. Where there would be too many times, the oldest one becomes part of the next: a deadline that was set before both
    /// is as late as before.
    #[must_use]
    fn with(&self, height: Height) -> Self {
        let mut spans = self.spans.to_vec();
        match spans.last_mut() {
            Some(span) if span.last.next() == height => span.last = height,
            _ => spans.push(Span { first: height, last: height }),
        }
        if spans.len() > SPANS {
            let oldest = spans.remove(0).blocks();
            if let Some(next) = spans.first_mut() {
                next.first = Height(next.first.0.saturating_sub(oldest));
            }
        }
        Self { blocks: Count(self.blocks.0.saturating_add(1)), spans: List::new(spans).expect("one more than fit, less one") }
    }

    /// The blocks after a height for which the clock stood still, up to another height.
    pub fn within(&self, after: Height, until: Height) -> u64 {
        let of = |span: &Span| {
            let (first, last) = (span.first.0.max(after.0.saturating_add(1)), span.last.0.min(until.0));
            last.saturating_add(1).saturating_sub(first)
        };
        self.spans.iter().map(of).fold(0, u64::saturating_add)
    }

    /// The blocks after a height for which the clock ran, up to another height.
    pub fn ran(&self, after: Height, until: Height) -> u64 {
        until.0.saturating_sub(after.0).saturating_sub(self.within(after, until))
    }

    /// The height to which a deadline has moved that was set at one height for another one. One that was over before the clock stood still stays where it
    /// was.
    pub fn deadline(&self, set_at: Height, until: Height) -> Height {
        let mut end = until;
        for span in self.spans.iter() {
            if span.first > end {
                break;
            }
            let first = span.first.0.max(set_at.0.saturating_add(1));
            end = Height(end.0.saturating_add(span.last.0.saturating_add(1).saturating_sub(first)));
        }
        end
    }

    /// The height at which the clock has run for a number of blocks after another height.
    pub fn after(&self, since: Height, blocks: u64) -> Height {
        self.deadline(since, Height(since.0.saturating_add(blocks)))
    }

    /// The height to which a deadline has moved of which its record says only for what height it was set: that was `blocks` blocks before.
    pub fn ending(&self, until: Height, blocks: u64) -> Height {
        self.deadline(Height(until.0.saturating_sub(blocks)), until)
    }

    /// What a record has to say that a deadline which was set at one height moves to `until`, where it is set anew at the height `now`.
    pub fn moving_to(&self, set_at: Height, now: Height, until: Height) -> Height {
        Height(until.0.saturating_sub(self.within(set_at, now)))
    }
}

/// Says of records until when they are answered: when the time to answer was set, and for what height.
macro_rules! answered {
    ($($record:ty: $set_at:ident, $until:ident;)+) => {
        $(impl $record {
            /// The last height at which an answer counts.
            pub fn answered_until(&self, still: &$crate::standstill::Standstill) -> cowboy_types::units::Height {
                still.deadline(self.$set_at, self.$until)
            }
        })+
    };
}

pub(crate) use answered;

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that stood still in these blocks.
    fn stood(spans: &[(u64, u64)]) -> Standstill {
        let blocks = spans.iter().flat_map(|(first, last)| *first..=*last);
        blocks.fold(Standstill::default(), |standstill, block| standstill.with(Height(block)))
    }

    /// A deadline is later by all blocks since it was set, of several pauses, also where one of them began only because another had moved it; by none before
    /// it was set, and by none after it was over.
    #[test]
    fn a_deadline_moves_with_every_pause_since_it_was_set() {
        let rows: [(&[(u64, u64)], u64, u64); 11] = [
            (&[], 100, 110),
            (&[(90, 100)], 100, 110),
            (&[(111, 120)], 100, 110),
            (&[(101, 101)], 100, 111),
            (&[(110, 119)], 100, 120),
            (&[(105, 204)], 100, 210),
            (&[(95, 104)], 100, 114),
            (&[(90, 91), (103, 104), (106, 108), (120, 130)], 100, 115),
            (&[(105, 114), (120, 129)], 100, 130),
            (&[(105, 114), (121, 130)], 100, 120),
            (&[(104, 104), (106, 106), (108, 108), (110, 110), (112, 112)], 100, 115),
        ];
        for (spans, set_at, expected) in rows {
            let standstill = stood(spans);
            assert_eq!(standstill.deadline(Height(set_at), Height(110)), Height(expected), "{spans:?}");
            assert_eq!(standstill.after(Height(set_at), 10), Height(expected), "{spans:?}");
            assert_eq!(standstill.ending(Height(110), 10), Height(expected), "{spans:?}");
            assert_eq!(standstill.ran(Height(set_at), Height(expected)), 10, "{spans:?}");
        }
    }

    /// While the clock stands still no deadline is over that was not over before.
    #[test]
    fn nothing_ends_during_a_pause() {
        for until in 101..=110 {
            for now in 101..=130 {
                let end = stood(&[(101, now)]).deadline(Height(100), Height(until));
                assert_eq!(end, Height(until + now - 100));
            }
        }
    }

    /// A deadline that is set anew counts the blocks from then on, whatever stood still between the first time and this one.
    #[test]
    fn a_deadline_is_set_anew() {
        let raw = stood(&[(105, 114), (130, 131)]).moving_to(Height(100), Height(140), Height(200));
        for (spans, expected) in [(&[(105, 114), (130, 131)][..], 200), (&[(105, 114), (130, 131), (150, 159)][..], 210)] {
            assert_eq!(stood(spans).deadline(Height(100), raw), Height(expected));
        }
    }

    /// The record has a bounded length, and all blocks.
    #[test]
    fn old_times_become_one() {
        let pauses: Vec<(u64, u64)> = (1..=40).map(|number| (number * 10, number * 10 + 4)).collect();
        let standstill = stood(&pauses);
        assert_eq!((standstill.spans.len(), standstill.blocks), (SPANS, Count(200)));
        assert_eq!(standstill.within(Height(0), Height(1_000)), 200, "what was set before them all is as late");
        assert_eq!(standstill.within(Height(300), Height(1_000)), 54, "what was set lately, too");
        assert!(standstill.spans.is_sorted_by(|one, next| one.last < next.first));
    }

    /// A clock stands still while any of its actors is paused, and a block is counted once for it.
    #[test]
    fn actors_share_a_clock() {
        let rows: [(&[u8], [u64; 3]); 5] = [
            (&[], [0, 0, 0]),
            (&[0x03, 0x06], [1, 0, 0]),
            (&[0x04], [0, 1, 0]),
            (&[0x0A], [0, 0, 1]),
            (&[0x01, 0x02, 0x0A, 0x0B], [1, 0, 1]),
        ];
        for (paused, expected) in rows {
            let mut world = World::default();
            for digest in world.want(Miss(CLOCKS.map(|clock| clock.key()).to_vec())) {
                world.fill(&digest, None);
            }
            count(&mut world, paused, Height(7)).expect("the records are known");
            assert_eq!(CLOCKS.map(|clock| clock.read(&world).expect("it is known").blocks.0), expected, "{paused:?}");
        }
    }
}
