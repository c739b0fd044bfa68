//! Deliveries that begin with what their lane has left, messages and callbacks: one for which that was too little is put back (decisions 675 and 677).

use super::Execution;
use crate::delivery::Delivered;
use crate::fees::Used;
use cowboy_state::records::Tried;
use cowboy_state::{Checkpoint, Key, Miss};
use cowboy_types::units::{Cells, Cycles};

/// A delivery that may be put back, once.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    /// Where it is noted what it used when it is put back.
    record: Key,
    /// What is undone then.
    before: Checkpoint,
    /// What it used when it was put back; nothing where it was not.
    tried: Used,
    /// What the lane gave it of cycles and of cells where that is less than it may use of them, as others took from the lane before it.
    cut: (Option<Cycles>, Option<Cells>),
}

/// A callback that is being delivered.
#[derive(Clone, Debug)]
pub(super) struct Answering {
    /// What becomes of it where the lane gives it less than it may use.
    pub(super) trial: Trial,
    /// What it may use: its messages have what it leaves of that, however little the lane had left for itself.
    pub(super) limits: Used,
}

impl Trial {
    /// Notes what the lane gives it of what it may use. Whoever comes first has what the lane has, and is not put back.
    pub(super) fn give(&mut self, is_first: bool, limits: Used, given: Used) {
        if !is_first {
            self.cut.0 = (given.cycles < limits.cycles).then_some(given.cycles);
            self.cut.1 = (given.cells < limits.cells).then_some(given.cells);
        }
    }

    /// Whether it used up what the lane cut. How it ended says nothing: a handler may have caught that a nested call ran short, and what it may use itself
    /// it may use up without any help of the lane.
    pub(super) fn ran_short(&self, delivered: &Delivered) -> bool {
        let Used { cycles, cells } = delivered.used;
        self.cut.0.is_some_and(|given| cycles >= given) || self.cut.1.is_some_and(|given| cells >= given)
    }

    /// What it pays for: what it used, and at least what it used when it was put back, which nobody paid (decision 675).
    pub(super) fn paid_for(&self, used: Used) -> Used {
        Used { cycles: used.cycles.max(self.tried.cycles), cells: used.cells.max(self.tried.cells) }
    }
}

impl Execution {
    /// Begins a delivery, before anything of it is changed. One that was put back is the first of its kind in a block.
    pub(super) fn begin_trial(&mut self, record: Key, is_first: bool) -> Result<Trial, Miss> {
        let world = &mut self.machine.world;
        let noted: Option<Tried> = if is_first { world.read(&record)? } else { None };
        let before = world.checkpoint();
        if noted.is_some() {
            world.remove(record.clone());
        }
        let tried = noted.map_or(Used::default(), |Tried { cycles, cells }| Used { cycles, cells });
        Ok(Trial { record, before, tried, cut: (None, None) })
    }

    /// Undoes a delivery for which the lane had too little: it comes first in the next block. What it used is noted, and paid for there.
    pub(super) fn put_back(&mut self, trial: &Trial, delivered: &Delivered) {
        let Used { cycles, cells } = delivered.used;
        self.machine.world.rollback(&trial.before);
        self.machine.world.write(trial.record.clone(), &Tried { cycles, cells });
        self.block.weight = self.block.weight.saturating_add(delivered.weight);
        self.end_phase();
    }
}
