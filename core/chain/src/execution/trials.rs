//! Deliveries that begin with what their lane has left, messages and callbacks: one for which that was too little is put back (decisions 675 and 677).

use super::Execution;
use crate::delivery::Delivered;
use crate::fees::Used;
use cowboy_state::records::Tried;
use cowboy_state::{Checkpoint, Key, Miss};
use cowboy_types::error;

/// A delivery that may be put back, once.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    /// Where it is noted what it used when it is put back.
    record: Key,
    /// What is undone then.
    before: Checkpoint,
    /// What it used when it was put back; nothing where it was not.
    tried: Used,
    /// Whether the lane gave it less than it may use, though others took from the lane before it.
    pub(super) is_cut: bool,
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
    /// Whether it failed for want of what the lane did not give it.
    pub(super) fn ran_short(&self, delivered: &Delivered) -> bool {
        let limits = [error::OUT_OF_CYCLES, error::OUT_OF_CELLS];
        self.is_cut && delivered.result.as_ref().is_err_and(|abort| limits.contains(abort))
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
        Ok(Trial { record, before, tried, is_cut: false })
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
