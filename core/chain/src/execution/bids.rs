//! Asking bidding agents: before a block orders its timers, it calls the agents that schedulers named, read-only, each for one timer
//! (003 §5.1b; decision 322).
//!
//! A question is paid by the scheduler at the base fees, whether its timer fires or not, and takes room in the timer lane. At most
//! `timers.bids_per_block` are asked, those first that bid the most when they were asked last (decision 619). Wherever there is no bid, the default
//! agent bids.

use super::{Execution, Payment, Source};
use crate::delivery::{Delivered, Door, Envelope, Work, nested_id};
use crate::fees::{Offer, Offers, Used};
use crate::lanes::Lane;
use cowboy_state::Miss;
use cowboy_state::records::{Markets, Timer, keys};
use cowboy_system::auction::Bid;
use cowboy_system::{bidding, timers};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cycles, Price};
use cowboy_types::{Address, Hash, keccak256};
use std::sync::Arc;

/// What separates the receipts of questions from those of fires.
const DOMAIN: &[u8] = b"cowboy-timer-bid:";

/// The timer for which an agent is being asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    timer: Hash,
    /// What its fire may use.
    limits: Used,
}

impl Execution {
    /// Asks the next agent. Answers whether there was one; where not, all bids of the block are known.
    pub(super) fn ask_agent(&mut self) -> Result<bool, Miss> {
        let Some(round) = self.due.round.as_ref().filter(|round| !round.is_ordered) else { return Ok(false) };
        let (height, most) = (self.machine.environment.height, self.machine.environment.params.timers.bids_per_block);
        let (to_ask, mut place, asked) = (round.to_ask.clone(), round.looked_at, round.asked);
        while let Some(id) = to_ask.get(place).copied().filter(|_| asked < most) {
            place += 1;
            let stored: Option<Timer> = self.machine.world.read(&keys::timer(&id))?;
            let Some(timer) = stored.filter(|timer| timer.height <= height && timer.expires_at >= height) else { continue };
            if let Bid::Custom(agent) = Bid::of(&timer)
                && self.ask(&id, &timer, agent)?
            {
                self.note_asked(place, asked.saturating_add(1));
                return Ok(true);
            }
        }
        self.note_asked(to_ask.len(), asked);
        Ok(false)
    }

    fn note_asked(&mut self, place: usize, asked: u64) {
        if let Some(round) = &mut self.due.round {
            let round = Arc::make_mut(round);
            (round.looked_at, round.asked) = (place, asked);
        }
    }

    /// Charges the most that a question can cost, and asks it. Answers false where the block has no room for it or the scheduler cannot pay.
    fn ask(&mut self, id: &Hash, timer: &Timer, agent: Address) -> Result<bool, Miss> {
        let Some(round) = &self.due.round else { return Ok(false) };
        let (params, height) = (&self.machine.environment.params, self.machine.environment.height);
        let (space, fees) = (&self.block.space, self.block.base_fees);
        let limits = Used { cycles: Cycles(params.timers.bid_cycles), cells: bidding::CELLS };
        let fits = limits.cycles <= space.left(params, Lane::Timer)
            && limits.cells <= space.cells_left(params)
            && self.has_time()
            && self.block.has_share(params, Lane::Timer, agent, limits.cycles);
        if !fits {
            return Ok(false);
        }
        let cycle = round.auction.lane_fee(params);
        let exactly = |price: Price| Offer { max: price, priority: Price::ZERO };
        let offers = Offers { cycle: exactly(cycle), cell: exactly(fees.cell) };
        let reserve = offers.reserve(limits).unwrap_or(Amount::MAX);
        let world = &mut self.machine.world;
        let balance = world.account(timer.fee_payer)?.balance;
        let markets = Markets { base_fee_cycle: fees.cycle, base_fee_cell: fees.cell };
        let payload = bidding::question(params, &round.auction, &markets, height, (id, timer), balance);
        if !world.debit(timer.fee_payer, reserve)? {
            return Ok(false);
        }
        let origin = keccak256(&[DOMAIN, &id.0, &height.0.to_be_bytes()]);
        // As a fire does before its handler.
        let (cycles, cells) = timers::intrinsic(params, false, payload.len());
        let work = Work::Handler { target: agent, handler: bidding::HANDLER.to_string(), payload: payload.into(), value: Amount::ZERO };
        let envelope = Envelope::new(ReceiptKind::Timer, (origin, nested_id(&origin, 0)), timer.fee_payer, work, limits);
        let payment = Payment { lane: Lane::Timer, payer: timer.fee_payer, offers, prices: offers.at(cycle, fees.cell), reserve };
        let asked = Asked { timer: *id, limits: Used { cycles: timer.cycles_limit, cells: timer.cells_limit } };
        let intrinsic = Used { cycles, cells };
        self.deliver(Envelope { door: Door::Query, intrinsic, ..envelope }, payment, Source::Question(asked));
        Ok(true)
    }

    /// Takes an agent's answer. A bid that the scheduler cannot pay counts as none.
    pub(super) fn follow_question(&mut self, asked: &Asked, payer: Address, delivered: &Delivered) -> Result<(), Miss> {
        let balance = self.machine.world.account(payer)?.balance;
        let bid = delivered.result.as_ref().ok().and_then(|answer| bidding::bid(answer));
        let Some(round) = self.due.round.as_ref() else { return Ok(()) };
        let is_payable = |bid: &Bid| {
            let offered = self.offers_of(round, *bid);
            offered.is_none_or(|(offers, _)| offers.reserve(asked.limits).is_some_and(|most| most <= balance))
        };
        let bid = bid.filter(is_payable);
        // Who has no bid is asked after the others from now on.
        let (max_fee, priority) = match bid {
            Some(Bid::Fixed { max_fee, priority }) => (max_fee, priority),
            _ => (Price(1), Price::ZERO),
        };
        timers::remember_bid(&mut self.machine.world, &asked.timer, max_fee, priority)?;
        if let (Some(bid), Some(round)) = (bid, self.due.round.as_mut()) {
            Arc::make_mut(round).bids.insert(asked.timer, bid);
        }
        Ok(())
    }
}
