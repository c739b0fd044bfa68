//! The steps of a block, phase by phase.
//!
//! Each step either happens whole or misses records and changes nothing, so an execution can stop wherever the store is slow and continue
//! later. [`journal`](crate::journal) undoes what a step did before it missed.

mod accumulator;
mod auction;
mod bids;
mod close;
mod jobs;
mod messages;
mod open;
mod packing;
mod removals;
mod rent;
mod settle;
mod time;
mod timers;
mod transactions;
mod trials;
mod upkeep;

pub(crate) use open::rules;
pub(crate) use settle::{fee_of, receipt_of};

use crate::delivery::{Delivered, Environment, Machine};
use crate::input::{BlockInput, BlockInvalid, Mode, Outcome};
use crate::journal::{MayMiss, attempt, journaled};
use crate::order::Placed;
use crate::resume::{Need, Records, Resume};
use accumulator::{Accumulator, Section};
use cowboy_state::{Miss, World};
use cowboy_system::FIRST_VERSION;
use cowboy_types::Hash;
use settle::{Payment, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use time::Part;

/// What a step of a phase says of the next one.
enum Turn {
    /// The phase continues.
    More,
    /// The next phase begins.
    Over,
    /// The block is done.
    Done(Box<Outcome>),
}

/// A kind of work in a block.
struct Phase {
    /// Does the next piece of it, or begins a delivery.
    step: fn(&mut Execution) -> Result<Turn, Halt>,
    /// Its part of the block's modelled time, where it has one.
    part: Option<Part>,
    /// Where its receipts stand.
    section: Section,
}

/// The phases of a block, in order.
#[rustfmt::skip]
const PHASES: [Phase; 10] = [
    Phase { step: Execution::open,             part: None,                     section: Section::Protocol },
    Phase { step: Execution::next_message,     part: Some(Part::Messages),     section: Section::Messages },
    Phase { step: Execution::next_callback,    part: Some(Part::Callbacks),    section: Section::Jobs },
    Phase { step: Execution::next_transaction, part: Some(Part::Transactions), section: Section::Transactions },
    Phase { step: Execution::next_timer,       part: Some(Part::Timers),       section: Section::Timers },
    Phase { step: Execution::next_job,         part: Some(Part::Jobs),         section: Section::Jobs },
    Phase { step: Execution::next_rent,        part: Some(Part::Rent),         section: Section::Timers },
    Phase { step: Execution::turn_epoch,       part: None,                     section: Section::Protocol },
    Phase { step: Execution::next_upkeep,      part: Some(Part::Upkeep),       section: Section::Protocol },
    Phase { step: Execution::close,            part: None,                     section: Section::Protocol },
];

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

journaled! {
    /// A block being executed: one owned value, synchronous, without I/O.
    pub struct Execution {
        kept {
            input: BlockInput,
            attempt: Attempt,
            transactions: Vec<Placed>,
            refused: BTreeSet<Hash>,
            /// What the block was filled with before the first transaction of the first attempt.
            begun: Option<packing::Filled>,
            /// What transactions used in earlier attempts and in this one.
            learned: BTreeMap<Hash, packing::Learned>,
            pledge: packing::Pledge,
            /// Whether the proposal's time is over.
            is_hurried: bool,
            /// The delivery that was over last.
            ran: Option<Ran>,
            /// Who pays for the delivery under way, and where it came from.
            owed: Option<(Payment, Source)>,
            delivered: Option<Delivered>,
            /// One past the last message of earlier blocks.
            queue_end: Option<u64>,
            /// One past the last message that was fetched ahead of its turn.
            fetched_ahead: u64,
        }
        undone {
            machine: Machine,
            /// The place of the phase among [`PHASES`].
            phase: usize,
            block: Accumulator,
            due: timers::Due,
        }
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

/// What comes of a block, or why it breaks a rule: only when checking.
pub type Done = Result<Box<Outcome>, BlockInvalid>;

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

impl Resume for Execution {
    type Output = Done;

    fn advance(&mut self, records: Records) -> Need<Done> {
        self.fill(records);
        loop {
            if let Some(need) = self.proceed() {
                return need;
            }
        }
    }
}

impl MayMiss for Halt {
    fn is_miss(&self) -> bool {
        matches!(self, Self::Miss(_))
    }
}

impl Execution {
    /// A block that has not begun.
    pub fn new(input: BlockInput) -> Self {
        let environment = Environment {
            chain: input.chain.clone(),
            params: Arc::new(input.chain.params.clone()),
            rules: input.chain.versions.nearest(FIRST_VERSION),
            deployers: Vec::new(),
            paused: Vec::new(),
            height: input.height,
            timestamp: input.timestamp,
            beacon: input.beacon.clone(),
            round: input.seeds.last().map_or((0, 0), |seed| (seed.epoch, seed.view)),
            proposed: input.round,
            images: input.images.clone(),
        };
        Self {
            machine: Machine::new(World::default(), environment),
            phase: 0,
            attempt: Attempt::Whole,
            transactions: Vec::new(),
            refused: BTreeSet::new(),
            begun: None,
            learned: BTreeMap::new(),
            pledge: packing::Pledge::default(),
            is_hurried: false,
            ran: None,
            block: Accumulator::new(Vec::new()),
            owed: None,
            delivered: None,
            due: timers::Due::default(),
            queue_end: None,
            fetched_ahead: 0,
            input,
        }
    }

    /// Takes the records that were asked for.
    pub fn fill(&mut self, records: Records) {
        self.machine.fill(records);
    }

    /// Goes one step further, which is short but for what one run of an actor takes. Answers what is needed, where something is.
    pub fn proceed(&mut self) -> Option<Need<Done>> {
        match self.step() {
            Ok(None) => None,
            Ok(Some(outcome)) => Some(Need::Done(Ok(outcome))),
            Err(Halt::Miss(miss)) => Some(Need::Keys(self.machine.world.want(miss))),
            Err(Halt::Invalid(reason)) => Some(Need::Done(Err(reason))),
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
        } else if let Some(delivered) = self.delivered.take() {
            let (payment, source) = self.owed.take().expect("what is delivered is paid for");
            self.ran = Some(Ran { id: delivered.envelope.id, weight_ns: delivered.weight });
            self.settle(payment, source, delivered).expect("what settling touches was read before the delivery began");
        } else {
            let step = self.phase().step;
            match attempt(self, step)? {
                Turn::More => {}
                Turn::Over => self.end_phase(),
                Turn::Done(outcome) => return Ok(Some(outcome)),
            }
        }
        Ok(None)
    }

    fn phase(&self) -> &'static Phase {
        &PHASES[self.phase]
    }

    /// Continues with the next phase.
    fn end_phase(&mut self) {
        self.phase += 1;
        self.block.weight_before = self.block.weight;
    }

    /// Whether the block has time for another delivery of the phase under way.
    fn has_time(&self) -> bool {
        let end = |part: Part| part.end(&self.machine.environment.params, self.block.weight_before);
        self.phase().part.is_none_or(|part| self.block.weight < end(part))
    }

    fn is_proposing(&self) -> bool {
        matches!(self.input.mode, Mode::Propose { .. })
    }
}
