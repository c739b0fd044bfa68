//! When the next block is proposed.
//!
//! The wait stands in front of the state machine, not inside it: a proposal that is being built
//! holds back the finalization of its parent.

use cowboy_host::clock::as_ms;
use cowboy_params::Params;
use cowboy_types::{Header, Height, TimestampMs};
use std::{sync::Mutex, time::Duration};
use tokio::sync::{Notify, futures::Notified};

/// How much longer than the time between blocks a leader has, and then the votes for its block.
pub(crate) const LEADER_MARGIN: Duration = Duration::from_millis(1_500);

/// How long a view of several validators may take before it is given up, if `gap` is between two blocks.
pub(crate) fn longest_view(gap: Option<Duration>) -> Duration {
    gap.unwrap_or_default() + LEADER_MARGIN + LEADER_MARGIN
}

/// How long after its parent a block is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockTime {
    /// That long after its parent's timestamp, with or without work.
    Every(Duration),
    /// The same, as long as the parameter `consensus.block_time` says.
    Governed,
    /// As soon as there is work, and never without. For a chain with one validator.
    Instant,
}

/// What decides when the next block is proposed. Shared by the proposer and the dev controls.
#[derive(Debug)]
pub struct Pace {
    orders: Mutex<Orders>,
    changed: Notify,
}

#[derive(Debug)]
struct Orders {
    block_time: BlockTime,
    /// What `consensus.block_time` says.
    governed: Duration,
    /// Blocks up to this number are proposed at once.
    mine_until: u64,
    /// The height that a warp leads to (decision 136).
    warp: Option<Height>,
    /// The height of the newest final block that was made since the start.
    newest: Height,
    clock_ahead_ms: i64,
    is_paused: bool,
}

impl Orders {
    fn gap(&self) -> Option<Duration> {
        match self.block_time {
            BlockTime::Every(gap) => Some(gap),
            BlockTime::Governed => Some(self.governed),
            BlockTime::Instant => None,
        }
    }
}

/// What the proposer should do about its next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Propose now.
    Now,
    /// Propose when the clock shows this time, or something changes.
    At(u64),
    /// Wait until something changes.
    Wait,
}

impl Pace {
    /// A pace with nothing ordered.
    pub fn new(block_time: BlockTime) -> Self {
        let orders = Orders {
            block_time,
            governed: Duration::from_secs(1),
            mine_until: 0,
            warp: None,
            newest: Height(0),
            clock_ahead_ms: 0,
            is_paused: false,
        };
        Self { orders: Mutex::new(orders), changed: Notify::new() }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Orders) -> T) -> T {
        act(&mut self.orders.lock().expect("nothing panics while it holds the lock"))
    }

    /// What was ordered about the block time.
    pub fn block_time(&self) -> BlockTime {
        self.with(|orders| orders.block_time)
    }

    /// The time from a block to the next; none where blocks come as soon as there is work.
    pub fn gap(&self) -> Option<Duration> {
        self.with(|orders| orders.gap())
    }

    /// Whether blocks after this one were ordered and are yet to come.
    pub fn is_ordered(&self, number: u64, height: Height) -> bool {
        self.with(|orders| orders.mine_until > number || orders.warp.is_some_and(|target| target > height))
    }

    /// Takes over the parameters of the next block.
    pub fn govern(&self, params: &Params) {
        let governed = Duration::from_millis(params.consensus.block_time);
        let is_moved = self.with(|orders| std::mem::replace(&mut orders.governed, governed) != governed);
        if is_moved {
            self.poke();
        }
    }

    /// Changes the block time.
    pub fn set_block_time(&self, block_time: BlockTime) {
        self.with(|orders| orders.block_time = block_time);
        self.poke();
    }

    /// Lets no further block be proposed: the node is about to stop.
    pub fn pause(&self) {
        self.with(|orders| orders.is_paused = true);
        self.poke();
    }

    /// Asks for blocks up to this number at once.
    pub fn mine_until(&self, number: u64) {
        self.with(|orders| orders.mine_until = orders.mine_until.max(number));
        self.poke();
    }

    /// Asks for blocks at once until the chain has this height, jumping over heights at which nothing is due.
    pub fn warp(&self, height: Height) {
        self.with(|orders| orders.warp = Some(height));
        self.poke();
    }

    /// Ends the warp to this height early, where it is under way: it leads no further than the block after the newest final one.
    pub fn end_warp(&self, target: Height) {
        self.with(|orders| {
            if orders.warp == Some(target) {
                // One more block, with whose finality the clock continues from the chain's time.
                orders.warp = Some(target.min(orders.newest.next()));
            }
        });
        self.poke();
    }

    /// The height that a warp under way leads to, where it lies beyond this one.
    pub fn warping(&self, height: Height) -> Option<Height> {
        self.with(|orders| orders.warp.filter(|target| height < *target))
    }

    /// Tells that a block of this height and time is final. A warp that led there is over, and the chain's clock
    /// continues from the block's time.
    pub fn arrived(&self, height: Height, timestamp: TimestampMs, machine_ms: u64) {
        let is_over = self.with(|orders| {
            orders.newest = height;
            let is_over = orders.warp.is_some_and(|target| target <= height);
            if is_over {
                let ahead = i64::try_from(timestamp.0.saturating_sub(machine_ms)).unwrap_or(i64::MAX);
                orders.clock_ahead_ms = orders.clock_ahead_ms.max(ahead);
                orders.warp = None;
            }
            is_over
        });
        // Who waits for the next block's time waits by the clock before the warp.
        if is_over {
            self.poke();
        }
    }

    /// How far the chain's clock is ahead of the computer's, in ms. Zero but on dev chains.
    pub fn clock_ahead_ms(&self) -> i64 {
        self.with(|orders| orders.clock_ahead_ms)
    }

    /// Sets the chain's clock this far ahead of the computer's.
    pub fn set_clock_ahead_ms(&self, ahead: i64) {
        self.with(|orders| orders.clock_ahead_ms = ahead);
        self.poke();
    }

    /// Wakes the proposer: there may be work.
    pub fn poke(&self) {
        self.changed.notify_waiters();
    }

    /// Becomes ready at the next [`Pace::poke`] after this call.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// What to do about a block on this parent, where `is_work` says whether anything is to be done.
    pub fn advise(&self, parent: &Header, is_work: bool) -> Advice {
        self.with(|orders| {
            if orders.is_paused {
                return Advice::Wait;
            }
            if orders.warp.is_some_and(|target| parent.height() < target) || parent.number.0 < orders.mine_until {
                return Advice::Now;
            }
            match orders.gap() {
                Some(gap) => {
                    let gap = as_ms(gap);
                    Advice::At(parent.timestamp_ms.0.saturating_add(gap))
                }
                None if is_work => Advice::Now,
                None => Advice::Wait,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Block 7 at height 7, proposed 5 seconds after 1970.
    fn parent() -> Header {
        let (genesis, _) = crate::genesis::dev(Default::default()).expect("a genesis");
        let number = cowboy_types::units::Count(7);
        Header { number, timestamp_ms: TimestampMs(5_000), ..genesis.block.header().clone() }
    }

    #[test]
    fn advice() {
        let second = BlockTime::Every(Duration::from_secs(1));
        let rows = [
            ("a steady chain waits out its block time", second, 0, None, false, Advice::At(6_000)),
            ("work does not hurry a steady chain", second, 0, None, true, Advice::At(6_000)),
            ("an ordered block comes at once", second, 8, None, false, Advice::Now),
            ("an order that was filled changes nothing", second, 7, None, false, Advice::At(6_000)),
            ("an idle instant chain stands still", BlockTime::Instant, 0, None, false, Advice::Wait),
            ("an instant chain does its work", BlockTime::Instant, 0, None, true, Advice::Now),
            ("an instant chain mines on order", BlockTime::Instant, 8, None, false, Advice::Now),
            ("a warp hurries", second, 0, Some(Height(99)), false, Advice::Now),
            ("a warp that has arrived does not", second, 0, Some(Height(7)), false, Advice::At(6_000)),
        ];
        for (name, block_time, mine, warp, is_work, expected) in rows {
            let pace = Pace::new(block_time);
            pace.mine_until(mine);
            if let Some(warp) = warp {
                pace.warp(warp);
            }
            assert_eq!(pace.advise(&parent(), is_work), expected, "{name}");
        }
    }

    /// A vote on `consensus.block_time` moves the next block, and only where nothing else was ordered.
    #[test]
    fn a_governed_chain_follows_the_parameter() {
        let mut params = Params::GENESIS;
        params.consensus.block_time = 4_000;
        for (ordered, before, after) in [(BlockTime::Governed, 6_000, 9_000), (BlockTime::Every(Duration::from_secs(2)), 7_000, 7_000)] {
            let pace = Pace::new(ordered);
            assert_eq!(pace.advise(&parent(), true), Advice::At(before));
            pace.govern(&params);
            assert_eq!(pace.advise(&parent(), true), Advice::At(after));
        }
    }

    #[test]
    fn a_paused_chain_waits_whatever_was_ordered() {
        let pace = Pace::new(BlockTime::Instant);
        assert!(!pace.is_ordered(7, Height(7)));
        pace.mine_until(8);
        assert!(pace.is_ordered(7, Height(7)) && !pace.is_ordered(8, Height(8)));
        pace.pause();
        assert_eq!(pace.advise(&parent(), true), Advice::Wait);
    }

    #[test]
    fn a_warp_ends_at_its_height_and_leaves_the_clock_ahead() {
        let pace = Pace::new(BlockTime::Instant);
        pace.warp(Height(10));
        pace.arrived(Height(9), TimestampMs(9_000), 2_000);
        assert_eq!((pace.warping(Height(9)), pace.clock_ahead_ms()), (Some(Height(10)), 0));
        pace.arrived(Height(10), TimestampMs(10_000), 2_000);
        assert_eq!((pace.warping(Height(9)), pace.clock_ahead_ms()), (None, 8_000));
    }

    #[test]
    fn a_warp_that_is_ended_early_takes_one_more_block() {
        let pace = Pace::new(BlockTime::Instant);
        pace.warp(Height(1_000));
        pace.arrived(Height(7), TimestampMs(7_000), 2_000);
        pace.end_warp(Height(999));
        assert_eq!(pace.warping(Height(7)), Some(Height(1_000)), "another warp");
        pace.end_warp(Height(1_000));
        assert_eq!((pace.warping(Height(7)), pace.warping(Height(8))), (Some(Height(8)), None));
        pace.arrived(Height(40), TimestampMs(40_000), 2_000);
        assert_eq!((pace.warping(Height(7)), pace.clock_ahead_ms()), (None, 38_000), "a block that was on its way counts");
        pace.end_warp(Height(1_000));
        assert_eq!(pace.warping(Height(40)), None, "it has ended");
    }
}
