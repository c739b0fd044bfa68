//! Bidding agents that schedulers name: which are asked first, what one is asked about a timer that is due, and what it answers (003 §5.1b; CIP-1 §4.2;
//! decisions 322, 613 and 614).
//!
//! Asking is the block's business.

use crate::auction::{Auction, Bid, share_of};
use cowboy_params::Params;
use cowboy_state::records::{Answer, Markets, Timer};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::{Amount, Cells, Height, Price};
use cowboy_types::{Address, Hash};
use std::cmp::Reverse;

/// The handler of an agent that is asked.
pub const HANDLER: &str = "get_gas_bid";

/// Cells that one question may take: its answer is a map of two numbers.
pub const CELLS: Cells = Cells(4_096);

/// What the tips of agents are divided by before they count in the median. Agents that repeat it then pay proposers, for as long as they do, at most as much as
/// one lane at the base fee and a half of it, which is three times what it costs to have half of a lane bid for (decision 767).
const AGENTS_DIVISOR: u64 = 3;

/// Who said what a fire tips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TippedBy {
    /// The default agent.
    Default,
    /// The scheduler, when it scheduled.
    Scheduler,
    /// The agent that the scheduler named.
    Agent,
}

impl TippedBy {
    /// Who makes a timer's bid.
    pub fn of(timer: &Timer, bid: Option<Bid>) -> Self {
        match bid {
            Some(Bid::Fixed { .. }) if timer.bidder.is_some() => Self::Agent,
            Some(Bid::Fixed { .. }) => Self::Scheduler,
            _ => Self::Default,
        }
    }

    /// What a tip counts as in the median of its block: no more than default agents tip at most; a part of it where an agent answered, which may repeat the
    /// median that it was told; and nothing where the default agent bid, which does (decisions 745, 767).
    pub fn counted(self, params: &Params, auction: &Auction, tip: Price) -> Price {
        let base = auction.lane_fee(params);
        let tip = tip.min(share_of(base, params.timers.bid_multiplier).saturating_sub(base));
        match self {
            Self::Default => Price::ZERO,
            Self::Scheduler => tip,
            Self::Agent => Price(tip.0 / AGENTS_DIVISOR),
        }
    }
}

/// A due timer whose agent can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The timer.
    pub id: Hash,
    /// Who scheduled it, and pays for the question.
    pub scheduler: Address,
    /// When an agent of that scheduler was asked last, for whichever timer, as far as this is counted.
    pub scheduler_asked: Option<Height>,
    /// When the timer's agent was asked last, or the height of scheduling before the first question.
    pub since: Height,
    /// What the timer offers without a question, as the auction scores it; nothing where it offers less than the base fee.
    pub score: Option<(u128, u64)>,
}

/// The order in which agents are asked, from timers in the order of the book (decision 613).
///
/// Each scheduler has one question before any has two. Those go first whose agents were asked the longest ago, or who scheduled the longest ago if they were
/// not asked. A scheduler's own timers take turns in the same way. Among equals the higher offer goes first, then the earlier place in the book.
pub fn order(waiting: &[Waiting]) -> Vec<Hash> {
    let mut timers: Vec<(usize, &Waiting)> = waiting.iter().enumerate().collect();
    timers.sort_by_key(|(place, timer)| (timer.scheduler, timer.since, Reverse(timer.score), *place));
    let mut turns = Vec::with_capacity(timers.len());
    for own in timers.chunk_by(|(_, one), (_, other)| one.scheduler == other.scheduler) {
        let longest = own.first().map_or(Height::ZERO, |(_, timer)| timer.scheduler_asked.unwrap_or(timer.since));
        turns.extend(own.iter().enumerate().map(|(turn, (place, timer))| (turn, longest, Reverse(timer.score), *place, timer.id)));
    }
    turns.sort_unstable();
    turns.into_iter().map(|(.., id)| id).collect()
}

/// What an agent is asked: a canonical CBOR map with CIP-1's names, and what identifies the timer.
pub fn question(
    params: &Params,
    auction: &Auction,
    fees: &Markets,
    height: Height,
    (id, timer): (&Hash, &Timer),
    balance: Amount,
) -> Vec<u8> {
    let numbers = [
        ("trigger_block_height", timer.trigger.0),
        ("current_block_height", height.0),
        ("basefee_cycle", fees.base_fee_cycle.0),
        ("basefee_cell", fees.base_fee_cell.0),
        ("basefee_lane_timer", auction.lane_fee(params).0),
        ("last_block_cycle_usage", auction.block_cycles.0),
        ("previous_block_p50_priority_tip_per_cycle", auction.median_tip.0),
        ("owner_actor_balance", balance.0),
        ("cycles_limit", timer.cycles_limit.0),
        ("expires_at", timer.expires_at.0),
    ];
    let bytes = [("timer_id", &id.0[..]), ("owner", &timer.fee_payer.0), ("target", &timer.actor.0)];
    let numbers = numbers.into_iter().map(|(name, number)| (name, Value::uint(number)));
    let bytes = bytes.into_iter().map(|(name, bytes)| (name, Value::Bytes(bytes.to_vec())));
    Value::dict(numbers.chain(bytes).collect::<Vec<_>>()).encode()
}

/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 1_024;

/// What an agent returned. A maximum of zero is the wish to wait. A tip above the maximum is cut to it.
pub fn answer(returned: &[u8]) -> Answer {
    read(returned).unwrap_or(Answer::Nothing)
}

fn read(returned: &[u8]) -> Option<Answer> {
    if returned.len() > MAX_ANSWER {
        return None;
    }
    let returned = cbor::decode(returned).ok()?;
    let price = |name| returned.get(name).and_then(Value::as_u64).map(Price);
    let max_fee = price("max_fee_per_cycle")?;
    let priority = match returned.get("max_priority_fee_per_cycle") {
        Some(_) => price("max_priority_fee_per_cycle")?,
        None => Price::ZERO,
    };
    Some(if max_fee == Price::ZERO { Answer::Wait } else { Answer::Bid { max_fee, priority: priority.min(max_fee) } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::List;
    use cowboy_types::units::Cycles;

    /// A-129, decision 614: an answer is a bid, the wish to wait, or nothing.
    #[test]
    fn answers_are_bids_or_waits() {
        let map = |pairs: &[(&'static str, Value)]| Value::dict(pairs.to_vec()).encode();
        let fixed = |max_fee: u64, priority: u64| Answer::Bid { max_fee: Price(max_fee), priority: Price(priority) };
        let (max, tip) = ("max_fee_per_cycle", "max_priority_fee_per_cycle");
        let rows = [
            (map(&[(max, Value::uint(30)), (tip, Value::uint(4))]), fixed(30, 4)),
            (map(&[(max, Value::uint(30)), (tip, Value::uint(40))]), fixed(30, 30)),
            (map(&[(max, Value::uint(30))]), fixed(30, 0)),
            (map(&[(max, Value::uint(0)), (tip, Value::uint(4))]), Answer::Wait),
            (map(&[(max, Value::uint(0))]), Answer::Wait),
            (map(&[(max, Value::uint(1))]), fixed(1, 0)),
            (map(&[(max, Value::uint(0)), (tip, Value::text("4"))]), Answer::Nothing),
            (map(&[(tip, Value::uint(4))]), Answer::Nothing),
            (map(&[(max, Value::uint(30)), (tip, Value::text("4"))]), Answer::Nothing),
            (map(&[(max, Value::Integer(-1))]), Answer::Nothing),
            (Value::Null.encode(), Answer::Nothing),
            (Vec::new(), Answer::Nothing),
            (vec![0xFF; 9], Answer::Nothing),
            (map(&[(max, Value::uint(30)), ("note", Value::text("x".repeat(900)))]), fixed(30, 0)),
            (map(&[(max, Value::uint(30)), ("note", Value::text("x".repeat(1_000)))]), Answer::Nothing),
        ];
        for (returned, expected) in rows {
            assert_eq!(answer(&returned), expected, "{returned:02x?}");
        }
    }

    /// Decision 767. Strategy: a proposer burns the base fee of half of a lane to have a tip counted that costs it nothing, since it receives it. Default agents and
    /// agents that copy the median then tip as much, and the copies are counted again. What all proposers receive from lanes that are full of them, for ever, is
    /// three times what was burned: who proposes less than a third of the blocks loses.
    #[test]
    fn copies_of_the_median_fade() {
        let (params, base) = (&Params::GENESIS, 10_000);
        let auction = Auction {
            base_fee: Price(base),
            median_tip: Price::ZERO,
            block_cycles: Cycles::ZERO,
            counted_from: Height::ZERO,
            tallies: List::default(),
        };
        let counted = |by: TippedBy, tip: u64| by.counted(params, &auction, Price(tip)).0;
        let rows = [
            (TippedBy::Default, 5_000, 0),
            (TippedBy::Scheduler, 5_000, 5_000),
            (TippedBy::Scheduler, u64::MAX, base),
            (TippedBy::Agent, 6_000, 2_000),
            (TippedBy::Agent, u64::MAX, base / 3),
        ];
        for (by, tip, expected) in rows {
            assert_eq!(counted(by, tip), expected, "{by:?} {tip}");
        }
        let (mut told, mut received) = (counted(TippedBy::Scheduler, u64::MAX), 0);
        while told > 0 {
            received += told;
            told = counted(TippedBy::Agent, told);
        }
        assert!(received <= 3 * (base / 2), "{received} for a cycle of each lane, and half of {base} was burned for a cycle of one");
    }

    fn waiting(id: u8, scheduler: u8, asked: Option<u64>, since: u64, score: Option<u128>) -> Waiting {
        Waiting {
            id: Hash([id; 32]),
            scheduler: Address([scheduler; 20]),
            scheduler_asked: asked.map(Height),
            since: Height(since),
            score: score.map(|score| (score, 1)),
        }
    }

    fn ordered(timers: &[Waiting]) -> Vec<u8> {
        order(timers).iter().map(|id| id.0[0]).collect()
    }

    /// Decision 613: however many timers a scheduler has and whatever they offer, each other scheduler has its first question before a second one of it.
    #[test]
    fn schedulers_take_turns() {
        let mut timers: Vec<Waiting> = (1..=40).map(|id| waiting(id, 9, Some(99), 90, Some(1_000_000))).collect();
        timers.extend([waiting(50, 1, Some(99), 99, Some(1)), waiting(51, 1, Some(99), 99, None), waiting(52, 2, Some(99), 99, None)]);
        assert_eq!(ordered(&timers)[..6], [1, 50, 52, 2, 51, 3]);
    }

    /// Decision 613: whose agents were asked the longest ago goes first. A scheduler that was not asked yet, as one that was made for a question, has waited since it
    /// scheduled and no longer.
    #[test]
    fn the_longest_wait_goes_first() {
        let busy = |id: u8| waiting(id, id, Some(99), 99, Some(1_000_000));
        let timers = [busy(1), busy(2), waiting(3, 3, None, 98, Some(9)), waiting(4, 4, Some(95), 99, None), waiting(5, 5, None, 10, None)];
        assert_eq!(ordered(&timers), [5, 4, 3, 1, 2]);
        // Its own timers take turns by when they were asked, so that none waits for ever.
        let own = [(1, 97, Some(5)), (2, 95, None), (3, 96, Some(9))];
        assert_eq!(ordered(&own.map(|(id, since, score)| waiting(id, 7, Some(97), since, score))), [2, 3, 1]);
        // Among equals the higher offer, then the place in the book.
        let equal = [(1, None), (2, Some(5)), (3, Some(9)), (4, Some(5))];
        assert_eq!(ordered(&equal.map(|(id, score)| waiting(id, id, Some(97), 97, score))), [3, 2, 4, 1]);
    }
}
