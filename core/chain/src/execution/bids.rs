//! Asking bidding agents: before a block orders its timers, it calls the agents that schedulers named, read-only, each for one timer
//! (003 §5.1b; decision 322).
//!
//! A question is paid by the scheduler at the base fees, whether its timer fires or not, and takes room in the timer lane. At most
//! `timers.bids_per_block` are asked: the schedulers take turns (decision 613). An answer holds until the agent is asked again (decision 614); the
//! default agent bids where there is none. A timer that waits for an answer that nobody pays for is removed.

use super::{Execution, Payment, Source};
use crate::delivery::{Delivered, Door, Envelope, Work, nested_id};
use crate::fees::{Offer, Offers, Used};
use crate::lanes::Lane;
use cowboy_state::Miss;
use cowboy_state::records::{Answer, Asked, Markets, Timer, keys};
use cowboy_system::timers::Unfired;
use cowboy_system::{bidding, timers};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cycles, Price};
use cowboy_types::{Address, Hash, keccak256};
use std::sync::Arc;

/// What separates the receipts of questions from those of fires.
const DOMAIN: &[u8] = b"cowboy-timer-bid:";

/// What became of a timer whose agent has its turn.
enum Question {
    /// The agent is asked, and the scheduler pays.
    Asked,
    /// The timer was to wait, and nobody pays for another answer: its time is over.
    Unfunded,
    /// The agent is not asked in this block, and the timer stays as it is.
    Skipped,
}

impl Execution {
    /// Asks the next agent, or ends a timer that waits and cannot pay for its question. Answers whether there was one; where not, all answers of the block
    /// are known.
    pub(super) fn ask_agent(&mut self) -> Result<bool, Miss> {
        let Some(round) = self.due.round.as_ref().filter(|round| !round.is_ordered) else { return Ok(false) };
        let (height, most) = (self.machine.environment.height, self.machine.environment.params.timers.bids_per_block);
        let (to_ask, mut place, asked) = (round.to_ask.clone(), round.looked_at, round.asked);
        while let Some(id) = to_ask.get(place).copied().filter(|_| asked < most) {
            place += 1;
            let stored: Option<Timer> = self.machine.world.read(&keys::timer(&id))?;
            let Some(timer) = stored.filter(|timer| timers::is_due(timer, height) && timer.expires_at >= height) else { continue };
            let Some(agent) = timer.bidder else { continue };
            let payer = match self.ask(&id, &timer, agent)? {
                Question::Asked => Some(timer.fee_payer),
                Question::Unfunded => None,
                Question::Skipped => continue,
            };
            self.note_asked(place, payer);
            return Ok(true);
        }
        self.note_asked(to_ask.len(), None);
        Ok(false)
    }

    /// Counts the timers that were looked at, and a question that this scheduler paid for.
    fn note_asked(&mut self, place: usize, scheduler: Option<Address>) {
        if let Some(round) = &mut self.due.round {
            let round = Arc::make_mut(round);
            round.looked_at = place;
            if let Some(scheduler) = scheduler {
                round.asked = round.asked.saturating_add(1);
                round.turn.asked.insert(scheduler);
            }
        }
    }

    /// Charges the most that a question can cost, and asks it, where the block has room for it and the scheduler can pay.
    fn ask(&mut self, id: &Hash, timer: &Timer, agent: Address) -> Result<Question, Miss> {
        let Some(round) = &self.due.round else { return Ok(Question::Skipped) };
        let (params, height) = (&self.machine.environment.params, self.machine.environment.height);
        let (space, fees) = (&self.block.space, self.block.base_fees);
        let limits = Used { cycles: Cycles(params.timers.bid_cycles), cells: bidding::CELLS };
        if limits.cycles > space.left(params, Lane::Timer) || limits.cells > space.cells_left(params) || !self.has_time() {
            return Ok(Question::Skipped);
        }
        let cycle = round.auction.lane_fee(params);
        let exactly = |price: Price| Offer { max: price, priority: Price::ZERO };
        let offers = Offers { cycle: exactly(cycle), cell: exactly(fees.cell) };
        let reserve = offers.reserve(limits).unwrap_or(Amount::MAX);
        let world = &mut self.machine.world;
        let balance = world.account(timer.fee_payer)?.balance;
        let markets = Markets { base_fee_cycle: fees.cycle, base_fee_cell: fees.cell };
        if !world.debit(timer.fee_payer, reserve)? {
            // One with a bid, or whose default agent bids, ends by that where its fire is not paid either. Nothing else ends one that waits before it
            // expires: it would be looked at in every block, and that would cost nobody anything.
            let waits = timer.asked.as_ref().is_some_and(|asked| asked.answer == Answer::Wait);
            if !waits {
                return Ok(Question::Skipped);
            }
            self.clean_up(id, timer, Unfired::Unfunded { required: reserve, available: balance })?;
            return Ok(Question::Unfunded);
        }
        let payload = bidding::question(params, &round.auction, &markets, height, (id, timer), balance);
        let origin = keccak256(&[DOMAIN, &id.0, &height.0.to_be_bytes()]);
        // As a fire does before its handler, and for the place among the questions (decision 613).
        let (cycles, cells) = timers::intrinsic(params, false, payload.len());
        let cycles = cycles.saturating_add(Cycles(params.timers.bid_cost));
        let work = Work::Handler { target: agent, handler: bidding::HANDLER.to_string(), payload: payload.into(), value: Amount::ZERO };
        let envelope = Envelope::new(ReceiptKind::Timer, (origin, nested_id(&origin, 0)), timer.fee_payer, work, limits);
        let payment = Payment { lane: Lane::Timer, payer: timer.fee_payer, offers, prices: offers.at(cycle, fees.cell), reserve };
        let intrinsic = Used { cycles, cells };
        self.deliver(Envelope { door: Door::Query, intrinsic, ..envelope }, payment, Source::Question(*id));
        Ok(Question::Asked)
    }

    /// Keeps an agent's answer.
    pub(super) fn follow_question(&mut self, timer: &Hash, delivered: &Delivered) -> Result<(), Miss> {
        let answer = delivered.result.as_ref().map_or(Answer::Nothing, |returned| bidding::answer(returned));
        let asked = Asked { height: self.machine.environment.height, answer };
        timers::remember_answer(&mut self.machine.world, timer, asked)
    }
}
