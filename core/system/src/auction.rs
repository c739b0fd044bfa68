//! The auction of the timer lane (003 §5.1b; decisions 7, 14, 330): a base fee of its own, tips, and a weight for schedulers
//! that fired little lately. It begins with protocol version 2; which timer fires when is the block's business.
//!
//! Invariants: a scheduler's record counts its fires in the heights that are counted, and the tallies say how many schedulers
//! have each count; so the median needs no look at the schedulers. A scheduler that did nothing in these heights has no record.

use crate::lane_fee;
use crate::protocol::Rules;
use cowboy_params::Params;
use cowboy_state::records::{Answer, Timer, keys};
use cowboy_state::{Key, Kind, Miss, World};
use cowboy_types::units::{Count, Cycles, Height, Price};
use cowboy_types::{Address, List, record};
use std::collections::{BTreeMap, BTreeSet};

/// The system actor that holds the records, and emits what becomes of timers.
pub const NUMBER: u8 = cowboy_types::actors::BASEFEE;

/// The least and the greatest weight, in basis points (003 §5.1b: W in [1, 2]).
pub const WEIGHTS: (u64, u64) = (10_000, 20_000);

record! {
    /// How the auction stands after a block.
    pub struct Auction {
        /// The next block's base fee of a cycle of the lane, before the lane's fee multiplier.
        pub base_fee: Price,
        /// The median over the cycles of the block's timer lane, by the tips that schedulers bid for those that their fires used; the others count as no
        /// tip (decision 745).
        pub median_tip: Price,
        /// Cycles that the block used in all lanes, up to the end of its timers.
        pub block_cycles: Cycles,
        /// The first height whose fires are counted.
        pub counted_from: Height,
        /// How many schedulers fired how often, ascending by fires.
        pub tallies: List<Tally, 16384>,
    }
}

record! {
    /// Schedulers that fired equally often.
    pub struct Tally {
        /// Fires of each in the counted heights.
        pub fires: Count,
        /// How many schedulers.
        pub schedulers: Count,
    }
}

record! {
    /// What fired at a height, and whose agents were asked.
    pub struct Fired {
        /// These schedulers, ascending, and how many of their timers fired.
        pub by: List<FiredBy, 1048576>,
    }
}

record! {
    /// Fires of one scheduler at one height.
    pub struct FiredBy {
        /// Who scheduled the timers.
        pub scheduler: Address,
        /// How many fired; zero where an agent was asked and no timer fired.
        pub fires: Count,
    }
}

record! {
    /// What a scheduler did in the counted heights.
    pub struct Activity {
        /// How many of its timers fired.
        pub fires: Count,
        /// The last height at which it paid for a question to an agent (decision 613).
        pub asked: Option<Height>,
    }
}

/// Where the auction stands.
pub fn key() -> Key {
    Key::system(NUMBER, "system:timer_auction")
}

/// Where it is counted what a scheduler did.
pub fn activity_key(scheduler: Address) -> Key {
    of("activity:", &scheduler.0)
}

fn fired_key(height: Height) -> Key {
    of("fired:", &height.0.to_be_bytes())
}

fn of(prefix: &str, rest: &[u8]) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [prefix.as_bytes(), rest].concat())
}

/// A lane's base fee for a cycle (003 §6.3). Cells have no lanes.
pub fn lane_base_fee(base_fee: Price, multiplier: u64) -> Price {
    share_of(base_fee, multiplier)
}

/// A share of a price, in basis points.
pub(crate) fn share_of(price: Price, basis_points: u64) -> Price {
    let scaled = u128::from(price.0) * u128::from(basis_points) / 10_000;
    Price(u64::try_from(scaled).unwrap_or(u64::MAX))
}

/// Cycles of one fire that a timer may ask for (decision 14).
pub fn max_cycles(params: &Params, rules: &Rules) -> u64 {
    if rules.has_timer_auction { params.timers.auction_cycles_per_fire } else { params.timers.cycles_per_fire }
}

/// What a scheduler did in the counted heights.
pub fn activity(world: &World, scheduler: Address) -> Result<Activity, Miss> {
    Ok(world.read(&activity_key(scheduler))?.unwrap_or(Activity { fires: Count::ZERO, asked: None }))
}

/// Fires of a scheduler in the counted heights.
pub fn fires(world: &World, scheduler: Address) -> Result<u64, Miss> {
    Ok(activity(world, scheduler)?.fires.0)
}

/// The auction as a block finds it. The first one begins with the base fee that timers paid until then.
pub fn read(world: &World, height: Height) -> Result<Auction, Miss> {
    if let Some(auction) = world.read::<Auction>(&key())? {
        return Ok(auction);
    }
    let markets: cowboy_state::records::Markets = world.read(&keys::markets())?.expect("genesis wrote the base fees");
    Ok(Auction {
        base_fee: markets.base_fee_cycle,
        median_tip: Price::ZERO,
        block_cycles: Cycles::ZERO,
        counted_from: height,
        tallies: List::default(),
    })
}

/// How a timer bids for its place (003 §5.1b).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bid {
    /// As the default agent does when it fires.
    Agent(Tier),
    /// As this actor says when it is due (decision 322). Until it has said so, as the default agent does.
    Custom(Address),
    /// As it was scheduled.
    Fixed {
        /// The most for a cycle, tip included; above zero.
        max_fee: Price,
        /// The tip for a cycle.
        priority: Price,
    },
}

/// How much the default agent tips, as a share of the median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// `timers.tip_standard`.
    Standard,
    /// `timers.tip_economy`.
    Economy,
    /// `timers.tip_fast`.
    Fast,
    /// `timers.tip_urgent`.
    Urgent,
}

impl Tier {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Standard, Self::Economy, Self::Fast, Self::Urgent];

    /// The tier of a number; nothing where it is no tier's.
    pub fn of(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    fn number(self) -> u64 {
        match self {
            Self::Standard => 0,
            Self::Economy => 1,
            Self::Fast => 2,
            Self::Urgent => 3,
        }
    }
}

impl Bid {
    /// The bid of a timer; nothing where it waits because its agent said so. What an agent answered holds until it is asked again
    /// (decision 614). Where there is neither an answer nor a maximum, the default agent bids, and the record's priority is its tier's number: timers from
    /// before the auction have the standard one.
    pub fn of(timer: &Timer) -> Option<Self> {
        if let Some(agent) = timer.bidder {
            return match timer.asked.as_ref().map(|asked| &asked.answer) {
                Some(Answer::Bid { max_fee, priority }) => Some(Self::Fixed { max_fee: *max_fee, priority: *priority }),
                Some(Answer::Wait) => None,
                Some(Answer::Nothing) | None => Some(Self::Custom(agent)),
            };
        }
        Some(match timer.max_fee_per_cycle {
            Price::ZERO => Self::Agent(Tier::of(timer.priority_per_cycle.0).unwrap_or(Tier::Standard)),
            max_fee => Self::Fixed { max_fee, priority: timer.priority_per_cycle },
        })
    }

    /// The fields of a timer's record that say it: the maximum, the priority and the agent.
    pub fn fields(self) -> (Price, Price, Option<Address>) {
        match self {
            Self::Agent(tier) => (Price::ZERO, Price(tier.number()), None),
            Self::Custom(agent) => (Price::ZERO, Price::ZERO, Some(agent)),
            Self::Fixed { max_fee, priority } => (max_fee, priority, None),
        }
    }
}

/// What a timer pays for a cycle: the lane's base fee and a tip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Burned.
    pub base: Price,
    /// To the proposer.
    pub tip: Price,
}

impl Auction {
    /// The lane's base fee of a cycle (003 §6.3).
    pub fn lane_fee(&self, params: &Params) -> Price {
        lane_base_fee(self.base_fee, params.lanes.timer_fee_multiplier)
    }

    /// What a bid pays now; nothing where it is below the base fee (003 §5.1b: effective priority and default agent).
    pub fn offered(&self, params: &Params, bid: Bid) -> Option<Offered> {
        let base = self.lane_fee(params);
        let (max, priority) = match bid {
            Bid::Agent(tier) => self.default_bid(params, base, tier),
            Bid::Custom(_) => self.default_bid(params, base, Tier::Standard),
            Bid::Fixed { max_fee, priority } => (max_fee, priority),
        };
        (max >= base).then(|| Offered { base, tip: priority.min(max.saturating_sub(base)) })
    }

    /// The maximum and the tip of the default agent.
    fn default_bid(&self, params: &Params, base: Price, tier: Tier) -> (Price, Price) {
        let rows = &params.timers;
        let share = match tier {
            Tier::Standard => rows.tip_standard,
            Tier::Economy => rows.tip_economy,
            Tier::Fast => rows.tip_fast,
            Tier::Urgent => rows.tip_urgent,
        };
        (share_of(base, rows.bid_multiplier), share_of(self.median_tip, share))
    }

    /// The weight of a scheduler that fired so often, in basis points: the greatest up to the median, the least from twice the median on.
    pub fn weight(&self, fires: u64) -> u64 {
        let (least, greatest) = WEIGHTS;
        let Some(median) = self.median().filter(|median| *median > 0) else { return greatest };
        let over = u128::from(fires.saturating_sub(median)) * u128::from(least) / u128::from(median);
        greatest.saturating_sub(u64::try_from(over).unwrap_or(u64::MAX)).clamp(least, greatest)
    }

    /// The lower median of the fires of all schedulers that fired.
    fn median(&self) -> Option<u64> {
        let all: u64 = self.tallies.iter().map(|tally| tally.schedulers.0).sum();
        let mut before = all.checked_sub(1)? / 2;
        for tally in self.tallies.iter() {
            match before.checked_sub(tally.schedulers.0) {
                Some(rest) => before = rest,
                None => return Some(tally.fires.0),
            }
        }
        None
    }
}

/// How many schedulers have each number of fires, while it changes.
struct Tallies {
    schedulers: BTreeMap<u64, u64>,
    /// `timers.fires_tallied`.
    most: u64,
}

impl Tallies {
    fn of(auction: &Auction, params: &Params) -> Self {
        let schedulers = auction.tallies.iter().map(|tally| (tally.fires.0, tally.schedulers.0)).collect();
        Self { schedulers, most: params.timers.fires_tallied }
    }

    fn moved(&mut self, from: u64, to: u64) {
        let (from, to) = (from.min(self.most), to.min(self.most));
        if from > 0 {
            let left = self.schedulers.remove(&from).unwrap_or(1).saturating_sub(1);
            if left > 0 {
                self.schedulers.insert(from, left);
            }
        }
        if to > 0 {
            *self.schedulers.entry(to).or_default() += 1;
        }
    }

    fn list(self) -> List<Tally, 16384> {
        let all = self.schedulers.into_iter().map(|(fires, schedulers)| Tally { fires: Count(fires), schedulers: Count(schedulers) });
        List::new(all.collect()).expect("there are at most as many counts as are tallied")
    }
}

/// What a block's timers did.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// Fires by scheduler.
    pub fires: BTreeMap<Address, u64>,
    /// Schedulers that paid for a question.
    pub asked: BTreeSet<Address>,
    /// What the tip of each fire for a cycle counts as (see [`crate::bidding::TippedBy`]), and the cycles that the fire used.
    pub tips: Vec<(Price, Cycles)>,
    /// Cycles of the lane that were used.
    pub used: u64,
    /// Cycles of all lanes that were used so far.
    pub block_cycles: Cycles,
}

/// Closes a block's auction: moves the base fee, takes the median tip, counts fires and questions and forgets those that are too old.
pub fn turn(world: &mut World, params: &Params, height: Height, turn: Turn) -> Result<(), Miss> {
    let mut auction = read(world, height)?;
    let first = height.0.saturating_add(1).saturating_sub(params.timers.fairness_window);
    let forgotten: Vec<Height> =
        (auction.counted_from.0..first.min(auction.counted_from.0.saturating_add(params.timers.heights_forgotten))).map(Height).collect();
    let old: Vec<Key> = forgotten.iter().map(|height| fired_key(*height)).collect();
    world.require(&old)?;
    let mut changes: BTreeMap<Address, (u64, u64)> = turn.asked.iter().map(|scheduler| (*scheduler, (0, 0))).collect();
    changes.extend(turn.fires.iter().map(|(scheduler, fires)| (*scheduler, (*fires, 0))));
    let active: Vec<FiredBy> =
        changes.iter().map(|(scheduler, (fires, _))| FiredBy { scheduler: *scheduler, fires: Count(*fires) }).collect();
    for key in &old {
        for by in world.read::<Fired>(key)?.iter().flat_map(|fired| fired.by.iter()) {
            let change = changes.entry(by.scheduler).or_default();
            change.1 = change.1.saturating_add(by.fires.0);
        }
    }
    world.require(&changes.keys().map(|scheduler| activity_key(*scheduler)).collect::<Vec<_>>())?;
    auction.counted_from = Height(auction.counted_from.0.saturating_add(u64::try_from(forgotten.len()).expect("few heights")));
    let mut tallies = Tallies::of(&auction, params);
    for (scheduler, (more, fewer)) in changes {
        let before = activity(world, scheduler)?;
        let fires = before.fires.0.saturating_add(more).saturating_sub(fewer);
        tallies.moved(before.fires.0, fires);
        let last = if turn.asked.contains(&scheduler) { Some(height) } else { before.asked };
        let asked = last.filter(|asked| *asked >= auction.counted_from);
        if fires > 0 || asked.is_some() {
            world.write(activity_key(scheduler), &Activity { fires: Count(fires), asked });
        } else {
            world.remove(activity_key(scheduler));
        }
    }
    old.into_iter().for_each(|key| world.remove(key));
    if !active.is_empty() {
        world.write(fired_key(height), &Fired { by: List::new(active).expect("a block looks at fewer timers") });
    }
    auction.median_tip = median_tip(Cycles(params.lanes.timer_cycles), turn.tips);
    auction.block_cycles = turn.block_cycles;
    auction.tallies = tallies.list();
    auction.base_fee = lane_fee::next(params, auction.base_fee, turn.used);
    world.write(key(), &auction);
    Ok(())
}

/// The lower median of tips over the cycles of the lane, each counted as often as its fire used cycles. What no fire used counts as no tip: else a single small
/// fire of a light block would say what all fires of the next one tip. So half of the lane has to be bid for, at the base fee (decision 745).
fn median_tip(lane: Cycles, mut tips: Vec<(Price, Cycles)>) -> Price {
    let used = tips.iter().fold(Cycles::ZERO, |sum, (_, cycles)| sum.saturating_add(*cycles));
    tips.push((Price::ZERO, lane.saturating_sub(used)));
    tips.sort_unstable();
    let all: u128 = tips.iter().map(|(_, cycles)| u128::from(cycles.0)).sum();
    let mut passed = 0_u128;
    let is_half_passed = |(_, cycles): &&(Price, Cycles)| {
        passed = passed.saturating_add(u128::from(cycles.0));
        passed.saturating_mul(2) >= all
    };
    tips.iter().find(is_half_passed).map_or(Price::ZERO, |(tip, _)| *tip)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 745: half of the lane's cycles decide, however many fires used them, and those that none used count as no tip.
    #[test]
    fn the_median_tip_is_by_cycles() {
        let rows: [(u64, &[(u64, u64)], u64); 11] = [
            (0, &[], 0),
            (100, &[], 0),
            (100, &[(5, 100)], 5),
            (100, &[(5, 51)], 5),
            (100, &[(5, 50)], 0),
            (1_000, &[(9, 300), (1, 300)], 1),
            (200, &[(9, 100), (1, 100)], 1),
            (300, &[(9, 100), (1, 100), (3, 100)], 3),
            (104, &[(0, 100), (9, 1), (9, 1), (9, 1), (9, 1)], 0),
            (201, &[(0, 100), (9, 101)], 9),
            (0, &[(0, u64::MAX), (9, u64::MAX), (9, u64::MAX)], 9),
        ];
        for (lane, bids, expected) in rows {
            let tips = bids.iter().map(|(tip, cycles)| (Price(*tip), Cycles(*cycles))).collect();
            assert_eq!(median_tip(Cycles(lane), tips), Price(expected), "{bids:?} of {lane}");
        }
    }

    fn auction(base_fee: u64, median_tip: u64, tallies: &[(u64, u64)]) -> Auction {
        let tallies = tallies.iter().map(|(fires, schedulers)| Tally { fires: Count(*fires), schedulers: Count(*schedulers) });
        Auction {
            base_fee: Price(base_fee),
            median_tip: Price(median_tip),
            block_cycles: Cycles::ZERO,
            counted_from: Height(0),
            tallies: List::new(tallies.collect()).expect("few"),
        }
    }

    /// the tip is bounded by what the maximum leaves; the default agent bids twice the base fee and the median
    /// tip, as the hint says; below the base fee there is no offer.
    #[test]
    fn bids_become_offers() {
        let params = &Params::GENESIS;
        let auction = auction(10_000, 1_000, &[]);
        let fixed = |max: u64, priority: u64| Bid::Fixed { max_fee: Price(max), priority: Price(priority) };
        let agent = Bid::Agent;
        let rows = [
            (fixed(10_000, 500), Some(0)),
            (fixed(10_300, 500), Some(300)),
            (fixed(20_000, 500), Some(500)),
            (fixed(9_999, 500), None),
            (fixed(u64::MAX, u64::MAX), Some(u64::MAX - 10_000)),
            (agent(Tier::Standard), Some(1_000)),
            (agent(Tier::Economy), Some(800)),
            (agent(Tier::Fast), Some(1_500)),
            (agent(Tier::Urgent), Some(2_500)),
        ];
        for (bid, tip) in rows {
            assert_eq!(auction.offered(params, bid), tip.map(|tip| Offered { base: Price(10_000), tip: Price(tip) }), "{bid:?}");
        }
        let rich = super::tests::auction(10_000, 50_000, &[]);
        assert_eq!(rich.offered(params, agent(Tier::Urgent)).map(|offer| offer.tip), Some(Price(10_000)), "twice the base fee in all");
    }

    /// W is 2 up to the median and 1 from twice the median on, and in between falls evenly.
    #[test]
    fn weights_follow_the_median() {
        let none = auction(1, 0, &[]);
        assert_eq!([0, 1, 1_000_000].map(|fires| none.weight(fires)), [20_000; 3], "nobody fired");
        // Three with 4 fires, two with 100: the median is 4.
        let some = auction(1, 0, &[(4, 3), (100, 2)]);
        assert_eq!(
            [0, 4, 5, 6, 7, 8, 9, u64::MAX].map(|fires| some.weight(fires)),
            [20_000, 20_000, 17_500, 15_000, 12_500, 10_000, 10_000, 10_000]
        );
        assert_eq!(auction(1, 0, &[(1, 1), (3, 1)]).median(), Some(1), "the lower of two");
    }
}
