//! What a proposal learns about its candidates, so that beginning again costs one run and not one for each that did not fit.
//!
//! A transaction that does not fit at its turn is left out, and where its sender has others in the body, their places move:
//! the proposal begins again (003 §6.5). By then it is known what those that ran have used. The second attempt takes them as
//! far as a rehearsal over these figures says that they fit, and of what it does not know one of each sender, only where
//! enough is left for the known ones. The third, which is seldom, takes one of each sender and never begins again.

use super::time::Part;
use super::{Accumulator, Attempt, Execution};
use crate::admit::SignedTransaction;
use crate::fees::Used;
use crate::input::{Limits, Mode, Trace};
use crate::lanes::{Lane, Space};
use crate::order::{self, Placed};
use cowboy_params::Params;
use cowboy_types::instruction::{Actor, Custom, Instruction, Ordinary};
use cowboy_types::units::Cycles;
use cowboy_types::{Address, Hash};
use std::collections::{BTreeMap, BTreeSet};

/// How often a rehearsal is repeated; each time fewer are left.
const MAX_REHEARSALS: usize = 16;

/// What a transaction used when a proposal was tried.
pub(super) struct Learned {
    lane: Lane,
    used: Used,
    weight: u64,
    /// Cycles that each actor's handlers used themselves.
    own: Vec<(Address, u64)>,
}

/// What a block is filled with.
#[derive(Clone)]
pub(super) struct Filled {
    space: Space,
    weight: u64,
    /// What of it had been used before the first transaction.
    weight_before: u64,
    cycles_of: BTreeMap<Address, u64>,
}

impl Filled {
    fn count(&mut self, learned: &Learned) {
        self.space.count(learned.lane, learned.used);
        self.weight = self.weight.saturating_add(learned.weight);
        for (actor, cycles) in &learned.own {
            let used = self.cycles_of.entry(*actor).or_default();
            *used = used.saturating_add(*cycles);
        }
    }

    fn room(&self) -> Room<'_> {
        Room { space: &self.space, weight: self.weight, weight_before: self.weight_before, cycles_of: &self.cycles_of }
    }
}

/// What is left of a block.
pub(super) struct Room<'a> {
    space: &'a Space,
    weight: u64,
    weight_before: u64,
    cycles_of: &'a BTreeMap<Address, u64>,
}

impl Room<'_> {
    /// Whether a transaction may run now, whatever of its limits it uses.
    pub(super) fn fits(&self, params: &Params, lane: Lane, signed: &SignedTransaction) -> bool {
        let transaction = signed.transaction();
        transaction.cycles_limit <= self.space.left(params, lane)
            && transaction.cells_limit <= self.space.cells_left(params)
            && match executed(&transaction.instruction) {
                Some(actor) => self.weight < self.end(params) && self.has_share(params, lane, actor, transaction.cycles_limit),
                // A transfer takes microseconds: it waits for nobody's programs.
                None => self.weight < params.execution.block_weight,
            }
    }

    /// The time at which the block begins no further transaction, in ns.
    fn end(&self, params: &Params) -> u64 {
        Part::Transactions.end(params, self.weight_before)
    }

    /// Whether an actor may run now: within its share of the block, or while the lane has room that nobody else needs
    /// (003 §12.1, decision 101). Its last delivery may exceed the share, as one alone could not be made smaller by waiting.
    pub(super) fn has_share(&self, params: &Params, lane: Lane, actor: Address, limit: Cycles) -> bool {
        let used = self.cycles_of.get(&actor).copied().unwrap_or(0);
        used < params.execution.actor_block_cycles || self.space.has_spare(params, lane, limit)
    }
}

/// What is kept for transactions of which it is known what they use.
#[derive(Default)]
pub(super) struct Pledge {
    used: Used,
    /// The most that one of them asks for beyond what it uses.
    slack: Used,
    weight: u64,
}

impl Pledge {
    fn add(&mut self, learned: &Learned, limits: Used) {
        self.used = Used {
            cycles: self.used.cycles.saturating_add(learned.used.cycles),
            cells: self.used.cells.saturating_add(learned.used.cells),
        };
        self.slack = Used {
            cycles: self.slack.cycles.max(limits.cycles.saturating_sub(learned.used.cycles)),
            cells: self.slack.cells.max(limits.cells.saturating_sub(learned.used.cells)),
        };
        self.weight = self.weight.saturating_add(learned.weight);
    }

    /// Hands a transaction what was kept for it.
    fn redeem(&mut self, learned: &Learned) {
        self.used = Used {
            cycles: self.used.cycles.saturating_sub(learned.used.cycles),
            cells: self.used.cells.saturating_sub(learned.used.cells),
        };
        self.weight = self.weight.saturating_sub(learned.weight);
    }

    /// Whether enough is left when a transaction uses all its limits.
    fn leaves(&self, params: &Params, room: &Room<'_>, lane: Lane, signed: &SignedTransaction) -> bool {
        let limits = limits(signed);
        let cycles = limits.cycles.saturating_add(self.used.cycles).saturating_add(self.slack.cycles);
        let cells = limits.cells.saturating_add(self.used.cells).saturating_add(self.slack.cells);
        let (most, end) = match executed(&signed.transaction().instruction) {
            Some(_) => (params.execution.delivery_weight, room.end(params)),
            None => (params.weights.delivery, params.execution.block_weight),
        };
        let weight = room.weight.saturating_add(most).saturating_add(self.weight);
        cycles <= room.space.left(params, lane) && cells <= room.space.cells_left(params) && weight <= end
    }
}

impl Accumulator {
    /// What is left of the block.
    pub(super) fn room(&self) -> Room<'_> {
        Room { space: &self.space, weight: self.weight, weight_before: self.weight_before, cycles_of: self.cycles_of.entries() }
    }
}

impl Execution {
    /// Tells a proposal that its time is over (`execution.propose_time`): what it has not tried yet is left for another block.
    pub fn hurry(&mut self) {
        self.is_hurried = true;
    }

    /// Whether a transaction whose turn has come may run: it fits, and a proposal has time and room for it.
    pub(super) fn may_run(&self, lane: Lane, signed: &SignedTransaction) -> bool {
        let (params, room) = (&self.machine.environment.params, self.block.room());
        if !room.fits(params, lane, signed) {
            return false;
        }
        if !self.is_proposing() || self.learned.contains_key(signed.digest()) {
            return true;
        }
        !self.is_hurried && (self.attempt != Attempt::Learned || self.pledge.leaves(params, &room, lane, signed))
    }

    /// Notes what the block is filled with before its first transaction, in the first attempt of a proposal.
    pub(super) fn note_begin(&mut self) {
        if self.is_proposing() && self.begun.is_none() {
            let Accumulator { space, weight, weight_before, cycles_of, .. } = &self.block;
            self.begun = Some(Filled {
                space: space.clone(),
                weight: *weight,
                weight_before: *weight_before,
                cycles_of: cycles_of.entries().clone(),
            });
        }
    }

    /// Gives a transaction that begins to run what was kept for it.
    pub(super) fn redeem(&mut self, digest: &Hash) {
        if let Some(learned) = self.learned.get(digest) {
            self.pledge.redeem(learned);
        }
    }

    /// Notes what a transaction used.
    pub(super) fn learn(&mut self, digest: Hash, lane: Lane, used: Used, weight: u64, trace: &Trace) {
        if self.is_proposing() {
            self.learned.insert(digest, Learned { lane, used, weight, own: own_cycles(trace) });
        }
    }

    /// Selects candidates by effective fee while lanes, count and bytes have room for what they cost at least (003 §6.4).
    ///
    /// Transactions of more than [`order::LARGE_TRANSACTION_BYTES`] first take at most half of the body. Those beyond it
    /// are looked at again once every smaller candidate had its turn (decision 171).
    pub(super) fn choose(&self, candidates: Vec<Placed>) -> Vec<Placed> {
        let Mode::Propose { limits, .. } = &self.input.mode else { return candidates };
        let params = &self.machine.environment.params;
        let ranked = order::rank(params, candidates, self.block.base_fees);
        let mut selection = Selection::new(self, limits);
        let (mut later, mut waiting) = (Vec::new(), BTreeSet::new());
        for candidate in ranked {
            let from = candidate.signed.transaction().from;
            // A sender's later transactions follow by nonce, so they wait with the one that waits.
            if waiting.contains(&from) || selection.is_large_share_used(&candidate) {
                waiting.insert(from);
                later.push(candidate);
            } else {
                selection.offer(candidate);
            }
        }
        later.into_iter().for_each(|candidate| selection.offer(candidate));
        selection.chosen
    }

    /// In the second attempt: takes out, with what its sender sends later, what does not fit by the figures of the first.
    /// The body is in order before and after.
    pub(super) fn rehearse(&mut self, body: Vec<Placed>) -> Vec<Placed> {
        self.pledge = Pledge::default();
        let Some(begun) = self.begun.as_ref().filter(|_| self.attempt == Attempt::Learned) else { return body };
        let params = &self.machine.environment.params;
        let mut body = body;
        for _ in 0..MAX_REHEARSALS {
            let (mut filled, mut stopped) = (begun.clone(), BTreeSet::new());
            let before = body.len();
            body.retain(|Placed { signed, .. }| {
                let from = signed.transaction().from;
                let Some(learned) = self.learned.get(signed.digest()) else { return true };
                if stopped.contains(&from) || !filled.room().fits(params, learned.lane, signed) {
                    stopped.insert(from);
                    return false;
                }
                filled.count(learned);
                true
            });
            if body.len() == before {
                break;
            }
            order::sort(&mut body, &self.input.order_key);
        }
        let mut pledge = Pledge::default();
        for Placed { signed, .. } in &body {
            if let Some(learned) = self.learned.get(signed.digest()) {
                pledge.add(learned, limits(signed));
            }
        }
        self.pledge = pledge;
        body
    }
}

/// A body being filled.
struct Selection<'a> {
    execution: &'a Execution,
    limits: &'a Limits,
    space: Space,
    chosen: Vec<Placed>,
    bytes: usize,
    /// Bytes of the large transactions among them.
    large_bytes: usize,
    senders: BTreeSet<Address>,
    /// Senders of which a transaction did not fit: the later ones cannot be included either.
    skipped: BTreeSet<Address>,
}

impl<'a> Selection<'a> {
    fn new(execution: &'a Execution, limits: &'a Limits) -> Self {
        let (space, senders, skipped) = (execution.block.space.clone(), BTreeSet::new(), BTreeSet::new());
        Self { execution, limits, space, chosen: Vec::new(), bytes: 0, large_bytes: 0, senders, skipped }
    }

    /// Whether a large transaction would take more than the half of the body that large ones have while smaller ones wait.
    fn is_large_share_used(&self, candidate: &Placed) -> bool {
        is_large(candidate) && self.large_bytes + candidate.signed.size() > self.limits.bytes / 2
    }

    /// Takes a candidate if everything has room for it.
    fn offer(&mut self, candidate: Placed) {
        let params = &self.execution.machine.environment.params;
        let Placed { signed, lane } = &candidate;
        let from = signed.transaction().from;
        let learned = self.execution.learned.get(signed.digest());
        let least = learned.map_or_else(|| crate::admit::intrinsic(params, signed.transaction()), |learned| learned.used);
        let fits = least.cycles <= self.space.left(params, *lane)
            && least.cells <= self.space.cells_left(params)
            && self.chosen.len() < self.limits.transactions
            && self.bytes + signed.size() <= self.limits.bytes;
        let is_one_of_each = match self.execution.attempt {
            Attempt::Whole => false,
            Attempt::Learned => learned.is_none(),
            Attempt::OneOfEach => true,
        };
        if !fits || (is_one_of_each && self.senders.contains(&from)) || self.skipped.contains(&from) {
            self.skipped.insert(from);
            return;
        }
        self.space.count(*lane, least);
        self.bytes += signed.size();
        if is_large(&candidate) {
            self.large_bytes += signed.size();
        }
        self.senders.insert(from);
        self.chosen.push(candidate);
    }
}

fn is_large(candidate: &Placed) -> bool {
    candidate.signed.size() > order::LARGE_TRANSACTION_BYTES
}

/// What a transaction may use.
fn limits(signed: &SignedTransaction) -> Used {
    Used { cycles: signed.transaction().cycles_limit, cells: signed.transaction().cells_limit }
}

/// The actor that an instruction runs, where it names one.
fn executed(instruction: &Instruction) -> Option<Address> {
    match instruction {
        Instruction::Actor(Actor::Execute { target, .. })
        | Instruction::Custom(Custom::Impersonate { instruction: Ordinary::Actor(Actor::Execute { target, .. }), .. }) => Some(*target),
        _ => None,
    }
}

/// What each handler of a delivery used itself, without its calls.
pub(super) fn own_cycles(trace: &Trace) -> Vec<(Address, u64)> {
    let own = |(place, call): (usize, &crate::input::CallTrace)| {
        let inner = trace.calls[place + 1..].iter().take_while(|other| other.depth > call.depth);
        let called = inner.filter(|other| other.depth == call.depth + 1).map(|other| other.cycles_used.0);
        (call.target, call.cycles_used.0.saturating_sub(called.sum()))
    };
    trace.calls.iter().enumerate().map(own).filter(|(_, cycles)| *cycles > 0).collect()
}
