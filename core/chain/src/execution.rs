//! The steps of a block: open, messages, answers, transactions, timers, jobs, close.
//!
//! Each step either happens whole or misses records and changes nothing, so an execution can stop
//! wherever the store is slow and continue later.

mod auction;
mod bids;
mod close;
mod jobs;
mod messages;
mod open;
mod packing;
mod protocol;
mod removals;
mod rent;
mod time;
mod timers;
mod transactions;

pub(crate) use open::rules;
pub(crate) use transactions::receipt_of;

use crate::admit::{Invalid, SignedTransaction};
use crate::delivery::{Delivered, Door, Environment, Machine};
use crate::fees::{Cost, Offers, Prices, Used};
use crate::input::{BaseFees, BlockInput, BlockInvalid, Mode, Need, Outcome, Pruned, SupplyChange, Trace};
use crate::lanes::{Lane, Space};
use crate::order::Placed;
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, StateKey, World};
use cowboy_system::FIRST_VERSION;
use cowboy_types::units::{Amount, Cycles};
use cowboy_types::{Address, Fee, Hash, Receipt};
use std::collections::{BTreeMap, BTreeSet};

/// Where a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was read yet.
    Open,
    /// The oldest message is next.
    Messages,
    /// The answer that has waited longest is next.
    Callbacks,
    /// The transaction at this place is next.
    Transactions(usize),
    /// The next due timer is next.
    Timers,
    /// The next job that is due is next.
    Jobs,
    /// Rent and eviction are next, after this many pieces of each.
    Rent {
        /// Actors that were collected from.
        collected: u64,
        /// Pieces that were pruned.
        pruned: u64,
    },
    /// An epoch may turn.
    Epoch,
    /// The books are closed.
    Close,
}

/// How a proposal that had to begin again chooses: [`packing`] says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// All of a sender's transactions.
    Whole,
    /// What the first attempt ran and what it used, and one of each other sender.
    Learned,
    /// One of each sender, so that leaving one out never moves another.
    OneOfEach,
}

/// A transaction whose fee is reserved and which is being delivered.
#[derive(Clone, Debug)]
struct Reserved {
    lane: Lane,
    payer: Address,
    offers: Offers,
    prices: Prices,
    reserve: Amount,
}

/// Who owes what for the delivery that is under way.
enum Charge {
    Transaction(Reserved),
    Message(Box<messages::Delivery>),
    Timer(timers::Fire),
    Bid(bids::Asked),
    Callback(jobs::Callback),
}

/// A block being executed: one owned value, synchronous, without I/O.
pub struct Execution {
    input: BlockInput,
    machine: Machine,
    phase: Phase,
    attempt: Attempt,
    transactions: Vec<Placed>,
    refused: BTreeSet<Hash>,
    rejected_before: Vec<(Hash, Invalid)>,
    /// What the block was filled with before the first transaction of the first attempt.
    begun: Option<packing::Filled>,
    /// What transactions used in earlier attempts and in this one.
    learned: BTreeMap<Hash, packing::Learned>,
    pledge: packing::Pledge,
    /// Whether the proposal's time is over.
    is_hurried: bool,
    /// The delivery that was over last.
    ran: Option<Ran>,
    books: Books,
    charge: Option<Charge>,
    delivered: Option<Delivered>,
    due: timers::Due,
    /// One past the last message of earlier blocks.
    queue_end: Option<u64>,
    /// One past the last message that was fetched ahead of its turn.
    fetched_ahead: u64,
}

/// What a block has done so far.
struct Books {
    base_fees: BaseFees,
    space: Space,
    included: Vec<SignedTransaction>,
    included_bytes: usize,
    transaction_receipts: Vec<(Receipt, Trace)>,
    message_receipts: Vec<(Receipt, Trace)>,
    timer_receipts: Vec<(Receipt, Trace)>,
    job_receipts: Vec<(Receipt, Trace)>,
    /// Jobs that were moved on.
    jobs_moved: u64,
    protocol_receipts: Vec<(Receipt, Trace)>,
    pruned: Vec<Pruned>,
    rejected: Vec<(Hash, Invalid)>,
    weight: u64,
    /// What of it had been used when the phase began.
    weight_before: u64,
    tips: Amount,
    supply: SupplyChange,
    /// Cycles that each actor's handlers used in this block.
    cycles_of: BTreeMap<Address, u64>,
}

impl Books {
    fn new(base_fees: BaseFees, timers_declared: Cycles) -> Self {
        Self {
            base_fees,
            space: Space::new(timers_declared),
            included: Vec::new(),
            included_bytes: 0,
            transaction_receipts: Vec::new(),
            message_receipts: Vec::new(),
            timer_receipts: Vec::new(),
            job_receipts: Vec::new(),
            jobs_moved: 0,
            protocol_receipts: Vec::new(),
            pruned: Vec::new(),
            rejected: Vec::new(),
            weight: 0,
            weight_before: 0,
            tips: Amount::ZERO,
            supply: SupplyChange::default(),
            cycles_of: BTreeMap::new(),
        }
    }

    /// Whether the block has time for another delivery of the phase under way.
    fn has_time(&self, params: &Params, part: time::Part) -> bool {
        self.weight < part.end(params, self.weight_before)
    }

    /// Whether an actor may run now.
    fn has_share(&self, params: &Params, lane: Lane, actor: Address, limit: Cycles) -> bool {
        self.room().has_share(params, lane, actor, limit)
    }

    /// Counts what each actor of a delivery used itself, without its calls.
    fn count_actors(&mut self, trace: &Trace) {
        for (actor, cycles) in packing::own_cycles(trace) {
            let used = self.cycles_of.entry(actor).or_default();
            *used = used.saturating_add(cycles);
        }
    }

    /// Counts what a delivery used and cost.
    fn count(&mut self, lane: Lane, used: Used, weight: u64, cost: &Cost) {
        self.space.count(lane, used);
        self.weight = self.weight.saturating_add(weight);
        self.tips = self.tips.checked_add(cost.tip).expect("all tips fit, as all CBY do");
        self.burn(cost.burned);
    }

    fn burn(&mut self, amount: Amount) {
        self.supply.burned = self.supply.burned.checked_add(amount).expect("what is burned was there");
    }
}

/// A delivery that is over, for whoever watches how long deliveries take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The id of its receipt.
    pub id: Hash,
    /// Its modelled time, in ns.
    pub weight_ns: u64,
}

/// Why a step of a block stops.
enum Halt {
    Miss(Miss),
    Invalid(BlockInvalid),
}

impl From<Miss> for Halt {
    fn from(miss: Miss) -> Self {
        Self::Miss(miss)
    }
}

impl Execution {
    /// A block that has not begun.
    pub fn new(input: BlockInput) -> Self {
        let environment = Environment {
            chain: input.chain.clone(),
            params: input.chain.params.clone(),
            rules: input.chain.versions.nearest(FIRST_VERSION),
            deployers: Vec::new(),
            paused: Vec::new(),
            height: input.height,
            timestamp: input.timestamp,
            beacon: input.beacon.clone(),
            round: input.seeds.last().map_or((0, 0), |seed| (seed.epoch, seed.view)),
            proposed: input.round,
            images: input.images.clone(),
            door: Door::Block,
        };
        let none = BaseFees { cycle: cowboy_types::Price::ZERO, cell: cowboy_types::Price::ZERO };
        Self {
            machine: Machine::new(World::default(), environment),
            phase: Phase::Open,
            attempt: Attempt::Whole,
            transactions: Vec::new(),
            refused: BTreeSet::new(),
            rejected_before: Vec::new(),
            begun: None,
            learned: BTreeMap::new(),
            pledge: packing::Pledge::default(),
            is_hurried: false,
            ran: None,
            books: Books::new(none, Cycles::ZERO),
            charge: None,
            delivered: None,
            due: timers::Due::default(),
            queue_end: None,
            fetched_ahead: 0,
            input,
        }
    }

    /// Takes the requested records and continues until it needs more or is done.
    pub fn advance(&mut self, answers: Vec<(StateKey, Option<Bytes>)>) -> Need {
        self.fill(answers);
        loop {
            if let Some(need) = self.proceed() {
                return need;
            }
        }
    }

    /// Takes the records that were asked for.
    pub fn fill(&mut self, answers: Vec<(StateKey, Option<Bytes>)>) {
        for (key, stored) in answers {
            self.machine.world.fill(&key, stored);
        }
    }

    /// Goes one step further, which is short but for what one run of an actor takes. Answers what is needed, where something is.
    pub fn proceed(&mut self) -> Option<Need> {
        match self.step() {
            Ok(None) => None,
            Ok(Some(outcome)) => Some(Need::Done(outcome)),
            Err(Halt::Miss(miss)) => Some(Need::Keys(self.machine.world.want(miss))),
            Err(Halt::Invalid(reason)) => Some(Need::Invalid(reason)),
        }
    }

    /// The id of the delivery under way, where one is.
    pub fn under_way(&self) -> Option<Hash> {
        self.machine.under_way()
    }

    /// The delivery that was over last.
    pub fn ran(&self) -> Option<Ran> {
        self.ran
    }

    fn step(&mut self) -> Result<Option<Box<Outcome>>, Halt> {
        if self.machine.is_busy() {
            self.delivered = self.machine.step()?;
            return Ok(None);
        }
        // What a step reads stays; what it changed before it missed does not.
        let checkpoint = self.machine.world.checkpoint();
        let books = (self.books.timer_receipts.len(), self.books.protocol_receipts.len(), self.due.cleanup_used);
        let result = match self.delivered.take() {
            Some(delivered) => self.settle(delivered).map(|()| None),
            None => match self.phase {
                Phase::Open => self.open().map(|()| None),
                Phase::Messages => self.next_message().map(|()| None),
                Phase::Callbacks => self.next_callback().map(|()| None),
                Phase::Transactions(place) => self.next_transaction(place).map(|()| None),
                Phase::Timers => self.next_timer().map(|()| None),
                Phase::Jobs => self.next_job().map(|()| None),
                Phase::Rent { collected, pruned } => self.next_rent(collected, pruned).map(|()| None),
                Phase::Epoch => self.turn_epoch().map(|()| None),
                Phase::Close => self.close().map(Some).map_err(Halt::from),
            },
        };
        if let Err(Halt::Miss(_)) = &result {
            self.machine.world.rollback(&checkpoint);
            self.books.timer_receipts.truncate(books.0);
            self.books.protocol_receipts.truncate(books.1);
            self.due.cleanup_used = books.2;
        }
        result
    }

    /// Continues with another phase.
    fn begin_phase(&mut self, phase: Phase) {
        (self.phase, self.books.weight_before) = (phase, self.books.weight);
    }

    fn is_proposing(&self) -> bool {
        matches!(self.input.mode, Mode::Propose { .. })
    }

    /// Books what a delivery cost. Every record that this touches was read before the delivery began.
    fn settle(&mut self, delivered: Delivered) -> Result<(), Halt> {
        let charge = self.charge.take().expect("what is delivered was charged for");
        self.ran = Some(Ran { id: delivered.envelope.id, weight_ns: delivered.weight });
        let settled = match charge {
            Charge::Transaction(reserved) => self.settle_transaction(reserved, delivered),
            Charge::Message(delivery) => self.settle_message(*delivery, delivered),
            Charge::Timer(fire) => self.settle_timer(fire, delivered),
            Charge::Bid(asked) => self.settle_bid(asked, delivered),
            Charge::Callback(callback) => self.settle_callback(callback, delivered),
        };
        settled.expect("what settling touches was read before the delivery began");
        Ok(())
    }
}

/// What a delivery cost, for its receipt.
pub(crate) fn fee_of(payer: Address, prices: &Prices, reserved: Amount, cost: &Cost, refunded: Amount) -> Fee {
    Fee {
        payer,
        cycle_price: prices.cycle.total(),
        cell_price: prices.cell.total(),
        reserved,
        burned: cost.burned,
        tip: cost.tip,
        refunded,
    }
}
