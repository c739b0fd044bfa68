//! What a block has done so far.

use super::packing;
use crate::admit::{Invalid, SignedTransaction};
use crate::fees::{Cost, Used};
use crate::input::{BaseFees, Pruned, SupplyChange, Trace};
use crate::journal::{Map, by_value, journaled};
use crate::lanes::{Lane, Space};
use cowboy_params::Params;
use cowboy_system::dispatcher::order::StepTime;
use cowboy_types::units::{Amount, Cycles, Price};
use cowboy_types::{Address, Hash, Receipt};

/// A list of a block's receipts: they follow each other in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    /// Of transactions, in the order of the body.
    Transactions,
    /// Of messages of earlier blocks.
    Messages,
    /// Of timers, of questions to bidding agents, and of rent.
    Timers,
    /// Of callbacks and steps of jobs.
    Jobs,
    /// Of what the protocol does by itself.
    Protocol,
}

by_value!(BaseFees, SupplyChange, Space, StepTime);

journaled! {
    /// What a block has done so far.
    pub(crate) struct Accumulator {
        kept {}
        undone {
            pub(super) base_fees: BaseFees,
            pub(super) space: Space,
            pub(super) included: Vec<SignedTransaction>,
            pub(super) included_bytes: usize,
            pub(super) receipts: Vec<(Section, Receipt, Trace)>,
            /// The place of the next transaction.
            pub(super) place: usize,
            /// Jobs that were moved on.
            pub(super) jobs_moved: u64,
            /// What their steps took.
            pub(super) step_time: StepTime,
            /// Actors whose rent was collected.
            pub(super) collected: u64,
            /// Pieces of evicted storage that were pruned.
            pub(super) pieces: u64,
            pub(super) pruned: Vec<Pruned>,
            /// The place of the agenda that system actors are at.
            pub(super) agenda: usize,
            /// Subjects of it that were looked at.
            pub(super) looks: usize,
            pub(super) rejected: Vec<(Hash, Invalid)>,
            pub(super) weight: u64,
            /// What of it had been used when the phase began, or the agenda of it.
            pub(super) weight_before: u64,
            pub(super) tips: Amount,
            pub(super) supply: SupplyChange,
            /// Cycles that each actor's handlers used in this block.
            pub(super) cycles_of: Map<Address, u64>,
        }
    }
}

impl Accumulator {
    /// Nothing was done, and these candidates are known not to fit.
    pub(super) fn new(rejected: Vec<(Hash, Invalid)>) -> Self {
        Self {
            base_fees: BaseFees { cycle: Price::ZERO, cell: Price::ZERO },
            space: Space::new(Cycles::ZERO),
            included: Vec::new(),
            included_bytes: 0,
            receipts: Vec::new(),
            place: 0,
            jobs_moved: 0,
            step_time: StepTime::default(),
            collected: 0,
            pieces: 0,
            pruned: Vec::new(),
            agenda: 0,
            looks: 0,
            rejected,
            weight: 0,
            weight_before: 0,
            tips: Amount::ZERO,
            supply: SupplyChange::default(),
            cycles_of: Map::default(),
        }
    }

    /// Whether an actor may run now.
    pub(super) fn has_share(&self, params: &Params, lane: Lane, actor: Address, limit: Cycles) -> bool {
        self.room().has_share(params, lane, actor, limit)
    }

    /// Counts what each actor of a delivery used itself, without its calls.
    pub(super) fn count_actors(&mut self, trace: &Trace) {
        for (actor, cycles) in packing::own_cycles(trace) {
            let used = self.cycles_of.entries().get(&actor).copied().unwrap_or_default();
            self.cycles_of.insert(actor, used.saturating_add(cycles));
        }
    }

    /// Counts what a delivery used and cost.
    pub(super) fn count(&mut self, lane: Lane, used: Used, weight: u64, cost: &Cost) {
        self.space.count(lane, used);
        self.weight = self.weight.saturating_add(weight);
        self.tips = self.tips.checked_add(cost.tip).expect("all tips fit, as all CBY do");
        self.burn(cost.burned);
    }

    pub(super) fn mint(&mut self, amount: Amount) {
        self.supply.minted = self.supply.minted.checked_add(amount).expect("all CBY fit");
    }

    pub(super) fn burn(&mut self, amount: Amount) {
        self.supply.burned = self.supply.burned.checked_add(amount).expect("what is burned was there");
    }
}
