//! Asking bidding agents: before a block orders its timers, it calls the agents that schedulers named, read-only, each for one timer
//! (003 §5.1b; decision 322).
//!
//! A question is paid by the scheduler at the base fees, whether its timer fires or not, and takes room in the timer lane. At most
//! `timers.bids_per_block` are asked. Wherever there is no bid, the default agent bids.

use super::time::Part;
use super::{Charge, Execution, fee_of, receipt_of};
use crate::delivery::{Delivered, Door, Envelope, Work, nested_id};
use crate::fees::{Offer, Offers, Prices, Used};
use crate::lanes::Lane;
use cowboy_state::records::{Markets, Timer, keys};
use cowboy_state::{Checkpoint, Miss};
use cowboy_system::auction::Bid;
use cowboy_system::bidding;
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cells, Cycles, Price};
use cowboy_types::{Address, Hash, keccak256};

/// What separates the receipts of questions from those of fires.
const DOMAIN: &[u8] = b"cowboy-timer-bid:";

/// An agent that is being asked, and for which its maximum was charged.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    timer: Hash,
    /// What its fire may use.
    limits: Used,
    payer: Address,
    prices: Prices,
    reserve: Amount,
    /// The state before the question, which it does not change.
    before: Checkpoint,
}

impl Execution {
    /// Asks the next agent. Answers whether there was one; where not, all bids of the block are known.
    pub(super) fn ask_agent(&mut self) -> Result<bool, Miss> {
        let Some(round) = self.due.round.as_ref().filter(|round| !round.is_ordered) else { return Ok(false) };
        let (height, most) = (self.machine.environment.height, self.machine.environment.params.timers.bids_per_block);
        let (mut place, asked) = (round.looked_at, round.asked);
        while let Some(id) = self.due.ids.get(place).copied().filter(|_| asked < most) {
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
        self.note_asked(self.due.ids.len(), asked);
        Ok(false)
    }

    fn note_asked(&mut self, place: usize, asked: u64) {
        if let Some(round) = &mut self.due.round {
            (round.looked_at, round.asked) = (place, asked);
        }
    }

    /// Charges the most that a question can cost, and asks it. Answers false where the block has no room for it or the scheduler cannot pay.
    fn ask(&mut self, id: &Hash, timer: &Timer, agent: Address) -> Result<bool, Miss> {
        let Some(round) = &self.due.round else { return Ok(false) };
        let (params, height) = (&self.machine.environment.params, self.machine.environment.height);
        let (space, fees) = (&self.books.space, self.books.base_fees);
        let limits = Used { cycles: Cycles(params.timers.bid_cycles), cells: bidding::CELLS };
        let fits = limits.cycles <= space.left(params, Lane::Timer)
            && limits.cells <= space.cells_left(params)
            && self.books.has_time(params, Part::Timers)
            && self.books.has_share(params, Lane::Timer, agent, limits.cycles);
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
        let before = world.checkpoint();
        let origin = keccak256(&[DOMAIN, &id.0, &height.0.to_be_bytes()]);
        self.machine.environment.door = Door::Query;
        self.machine.begin(Envelope {
            id: nested_id(&origin, 0),
            kind: ReceiptKind::Timer,
            origin,
            parent: Hash::ZERO,
            depth: 0,
            sent_before: 0,
            sender: timer.fee_payer,
            work: Work::Handler { target: agent, handler: bidding::HANDLER.to_string(), payload: payload.into(), value: Amount::ZERO },
            limits,
            intrinsic: Used { cycles: Cycles::ZERO, cells: Cells::ZERO },
        });
        self.charge = Some(Charge::Bid(Asked {
            timer: *id,
            limits: Used { cycles: timer.cycles_limit, cells: timer.cells_limit },
            payer: timer.fee_payer,
            prices: offers.at(cycle, fees.cell),
            reserve,
            before,
        }));
        Ok(true)
    }

    /// Takes an agent's answer, undoes whatever asking changed, and gives back what it did not use. A bid that the scheduler cannot pay
    /// counts as none.
    pub(super) fn settle_bid(&mut self, asked: Asked, mut delivered: Delivered) -> Result<(), Miss> {
        self.machine.environment.door = Door::Block;
        self.machine.world.rollback(&asked.before);
        delivered.events.clear();
        let cost = asked.prices.cost(delivered.used);
        let refund = asked.reserve.checked_sub(cost.total()).expect("a cost is within its reserve");
        self.machine.world.credit(asked.payer, refund)?;
        self.books.count(Lane::Timer, delivered.used, delivered.weight, &cost);
        self.books.count_actors(&delivered.trace);
        let balance = self.machine.world.account(asked.payer)?.balance;
        let bid = delivered.result.as_ref().ok().and_then(|answer| bidding::bid(answer));
        if let (Some(bid), Some(round)) = (bid, self.due.round.as_ref()) {
            let offered = self.offers_of(round, bid);
            let is_payable = offered.is_none_or(|(offers, _)| offers.reserve(asked.limits).is_some_and(|most| most <= balance));
            if let Some(round) = self.due.round.as_mut().filter(|_| is_payable) {
                round.bids.insert(asked.timer, bid);
            }
        }
        let fee = fee_of(asked.payer, &asked.prices, asked.reserve, &cost, refund);
        self.books.timer_receipts.push((receipt_of(&delivered, fee), delivered.trace));
        Ok(())
    }
}
