//! Which due timers fire, and in which order, once they are auctioned (003 §5.1b; decision 330).
//!
//! Of the timers that a block looks at, those that were scheduled the longest ago come first, in a part of the lane
//! (`timers.auction_oldest`); then all others by tip times weight. What does not fit is passed over and the next is tried. Where
//! more are due than a block looks at, those that did not fire are put off, so that the next blocks look at others (decision 653).

use super::Execution;
use crate::fees::{Offer, Offers};
use crate::lanes::{Lane, limits_of};
use cowboy_state::records::{Timer, keys};
use cowboy_state::{Key, Miss};
use cowboy_system::auction::{self, Auction, Bid, Offered, Turn};
use cowboy_system::bidding::{self, TippedBy, Waiting};
use cowboy_system::timers;
use cowboy_types::units::{Cycles, Height, Price};
use cowboy_types::{Address, Hash};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The auction of a block.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(super) auction: Auction,
    pub(super) turn: Turn,
    /// The due timers that name agents, in the order in which these are asked.
    pub(super) to_ask: Arc<[Hash]>,
    /// How many of them were looked at, and how many agents were asked.
    pub(super) looked_at: usize,
    pub(super) asked: u64,
    /// Timers whose agents offer a tip that their schedulers cannot pay.
    untipped: BTreeSet<Hash>,
    /// Whether the timers stand in the order in which they are tried.
    pub(super) is_ordered: bool,
}

impl Round {
    /// How a timer bids in this block; nothing where its agent said to wait.
    pub(super) fn bid_of(&self, id: &Hash, timer: &Timer) -> Option<Bid> {
        bid_of(timer, self.untipped.contains(id))
    }
}

/// A timer's bid, without the tip where that cannot be paid.
fn bid_of(timer: &Timer, is_untipped: bool) -> Option<Bid> {
    match Bid::of(timer) {
        Some(Bid::Fixed { max_fee, .. }) if is_untipped => Some(Bid::Fixed { max_fee, priority: Price::ZERO }),
        bid => bid,
    }
}

/// A timer that may fire.
struct Bidder {
    id: Hash,
    limit: Cycles,
    /// When it was scheduled, and its place among all timers.
    age: (Height, u64),
    /// See [`Execution::score`].
    score: (u128, u64),
}

impl Execution {
    /// Begins the auction of this block's timers, where they are auctioned: reads what their order depends on.
    pub(super) fn open_round(&self, ids: &[Hash], due: &[Timer]) -> Result<Option<Arc<Round>>, Miss> {
        let environment = &self.machine.environment;
        if !environment.rules.has_timer_auction {
            return Ok(None);
        }
        let schedulers: BTreeSet<Address> = due.iter().map(|timer| timer.fee_payer).collect();
        let mut wanted: Vec<_> = schedulers.into_iter().map(auction::activity_key).collect();
        wanted.push(auction::key());
        wanted.extend(due.iter().filter(|timer| timer.asked.is_some()).map(|timer| Key::account(timer.fee_payer)));
        self.machine.world.require(&wanted)?;
        let auction = auction::read(&self.machine.world, environment.height)?;
        let to_ask = self.order_questions(&auction, ids, due)?;
        let (turn, untipped) = (Turn::default(), BTreeSet::new());
        Ok(Some(Arc::new(Round { auction, turn, to_ask, looked_at: 0, asked: 0, untipped, is_ordered: false })))
    }

    /// The timers that name agents, in the order in which these are asked.
    fn order_questions(&self, auction: &Auction, ids: &[Hash], due: &[Timer]) -> Result<Arc<[Hash]>, Miss> {
        let mut waiting = Vec::new();
        for (id, timer) in ids.iter().zip(due) {
            let Some(asked) = &timer.asked else { continue };
            let offered = Bid::of(timer).and_then(|bid| auction.offered(&self.machine.environment.params, bid));
            let score = offered.map(|offered| self.score(auction, timer.fee_payer, offered)).transpose()?;
            let scheduler_asked = auction::activity(&self.machine.world, timer.fee_payer)?.asked;
            waiting.push(Waiting { id: *id, scheduler: timer.fee_payer, scheduler_asked, since: asked.height, score });
        }
        Ok(bidding::order(&waiting).into())
    }

    /// Whether the scheduler can pay now what an agent's answer offers, for all that the fire may use.
    fn can_pay_answer(&self, round: &Round, timer: &Timer) -> Result<bool, Miss> {
        let answered = Bid::of(timer).filter(|bid| timer.asked.is_some() && matches!(bid, Bid::Fixed { .. }));
        let Some((offers, _)) = answered.and_then(|bid| self.offers_of(round, bid)) else { return Ok(true) };
        let balance = self.machine.world.account(timer.fee_payer)?.balance;
        let most = offers.reserve(limits_of(&self.machine.environment.params, timer));
        Ok(most.is_some_and(|most| most <= balance))
    }

    /// The tip times the scheduler's weight, then the weight, so that it counts where nobody tips.
    fn score(&self, auction: &Auction, scheduler: Address, offered: Offered) -> Result<(u128, u64), Miss> {
        let weight = auction.weight(auction::fires(&self.machine.world, scheduler)?);
        Ok((u128::from(offered.tip.0) * u128::from(weight), weight))
    }

    /// Puts the due timers in the order in which they are tried: those that expired, the oldest, the best bids, and last those that
    /// wait or cannot pay the base fee.
    pub(super) fn order_due(&mut self) -> Result<(), Miss> {
        let Some(round) = self.due.round.as_ref().filter(|round| !round.is_ordered) else { return Ok(()) };
        let (world, environment) = (&self.machine.world, &self.machine.environment);
        let (params, height) = (&environment.params, environment.height);
        let (mut first, mut bidders, mut last, mut untipped) = (Vec::new(), Vec::new(), Vec::new(), BTreeSet::new());
        for id in self.due.ids.iter() {
            let Some(timer) = world.read::<Timer>(&keys::timer(id))?.filter(|timer| timers::is_due(timer, height)) else { continue };
            if timer.expires_at < height {
                first.push(*id);
                continue;
            }
            let is_untipped = !self.can_pay_answer(round, &timer)?;
            if is_untipped {
                untipped.insert(*id);
            }
            let Some(offered) = bid_of(&timer, is_untipped).and_then(|bid| round.auction.offered(params, bid)) else {
                last.push(*id);
                continue;
            };
            let score = self.score(&round.auction, timer.fee_payer, offered)?;
            bidders.push(Bidder { id: *id, limit: limits_of(params, &timer).cycles, age: (timer.created_at, timer.sequence.0), score });
        }
        bidders.sort_by_key(|bidder| bidder.age);
        let share = u128::from(Lane::Timer.budget(params).0) * u128::from(params.timers.auction_oldest) / 10_000;
        let mut declared = 0_u128;
        let is_within = |bidder: &&Bidder| {
            declared += u128::from(bidder.limit.0);
            declared <= share
        };
        let oldest = bidders.iter().take_while(is_within).count();
        bidders[oldest..].sort_by_key(|bidder| (Reverse(bidder.score), bidder.id));
        first.extend(bidders.into_iter().map(|bidder| bidder.id));
        first.extend(last);
        self.due.ids = first.into();
        if let Some(round) = &mut self.due.round {
            let round = Arc::make_mut(round);
            (round.untipped, round.is_ordered) = (untipped, true);
        }
        Ok(())
    }

    /// What a bid pays in the auction, as exact offers; nothing where it does not pay the base fee.
    pub(super) fn offers_of(&self, round: &Round, bid: Bid) -> Option<(Offers, Price)> {
        let Offered { base, tip } = round.auction.offered(&self.machine.environment.params, bid)?;
        let cell = self.block.base_fees.cell;
        let cycle = Offer { max: base.saturating_add(tip), priority: tip };
        Some((Offers { cycle, cell: Offer { max: cell, priority: Price::ZERO } }, base))
    }

    /// Leaves a timer for a later block: the auction chose others, or its actor had its share. Where the block did not look at all that
    /// are due, it is put off, so that the timers of one actor never hide those of others. One that was, and whose time has not come again, keeps its place.
    pub(super) fn pass_over(&mut self, id: &Hash, timer: &Timer) -> Result<(), Miss> {
        let (params, height) = (&self.machine.environment.params, self.machine.environment.height);
        if self.due.is_cut && timer.height <= height && self.has_time() {
            let weight = params.weights.delivery.saturating_add(params.weights.call);
            timers::put_off(&mut self.machine.world, params, height, id, timer)?;
            self.block.weight = self.block.weight.saturating_add(weight);
        }
        Ok(())
    }

    /// Counts a fire, its tip for a cycle, and the cycles that it used.
    pub(super) fn count_fire(&mut self, scheduler: Address, (by, tip): (TippedBy, Price), used: Cycles) {
        if let Some(round) = &mut self.due.round {
            let round = Arc::make_mut(round);
            let counted = by.counted(&self.machine.environment.params, &round.auction, tip);
            let fires = round.turn.fires.entry(scheduler).or_default();
            *fires = fires.saturating_add(1);
            round.turn.tips.push((counted, used));
        }
    }

    /// Closes the auction of this block, where there is one.
    pub(super) fn close_round(&mut self) -> Result<(), Miss> {
        let Some(round) = &self.due.round else { return Ok(()) };
        let space = &self.block.space;
        let turn = Turn { used: space.usage().timer.cycles.0, block_cycles: space.cycles(), ..round.turn.clone() };
        let environment = &self.machine.environment;
        auction::turn(&mut self.machine.world, &environment.params, environment.height, turn)
    }
}
