//! What a run may still use: cycles, modelled time, cells.

use crate::costs::Charge;
use crate::error::Trap;
use crate::limits::{CYCLE_WEIGHT, Limits, THAWED_PER_NANOSECOND, Usage};

/// Counters that go down from the limits of a run. The heap counts memory itself.
#[derive(Debug)]
pub(crate) struct Meter {
    /// Cycles left; negative when too many were asked for.
    pub cycles: i64,
    /// Nanoseconds of modelled time left, beside those of the cycles.
    pub weight: i64,
    /// Cells left.
    pub cells: i64,
    /// What the run began with.
    pub limits: Limits,
}

fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

impl Meter {
    /// Nothing is used yet.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { cycles: signed(limits.cycles), weight: signed(limits.weight_ns), cells: signed(limits.cells), limits }
    }

    /// Charges work that is about to be done.
    #[inline]
    pub(crate) fn spend(&mut self, charge: Charge) -> Result<(), Trap> {
        self.owe(charge);
        if self.cycles < 0 { Err(Trap::OutOfCycles) } else { Ok(()) }
    }

    /// The same where nothing can be refused: a run whose cycles are used up ends at the next thing that it does.
    #[inline]
    pub(crate) fn owe(&mut self, charge: Charge) {
        self.cycles = self.cycles.saturating_sub(charge.cycles());
        self.weight = self.weight.saturating_sub(charge.weight());
    }

    /// Charges cells for bytes that are about to be written.
    pub(crate) fn spend_cells(&mut self, bytes: usize) -> Result<(), Trap> {
        self.cells = self.cells.saturating_sub(i64::try_from(bytes).unwrap_or(i64::MAX));
        if self.cells < 0 { Err(Trap::OutOfCells) } else { Ok(()) }
    }

    /// Deducts amounts that the host names.
    pub(crate) fn deduct(&mut self, cycles: u64, cells: u64, weight_ns: u64) {
        self.cycles = self.cycles.saturating_sub(signed(cycles));
        self.cells = self.cells.saturating_sub(signed(cells));
        self.weight = self.weight.saturating_sub(signed(weight_ns));
    }

    /// Whether modelled time or cells are used up, with this number of bytes copied out of the image.
    pub(crate) fn check(&self, thawed: usize) -> Result<(), Trap> {
        if self.weight < 0 || self.weight_used(thawed) > self.limits.weight_ns {
            Err(Trap::OutOfWeight)
        } else if self.cells < 0 {
            Err(Trap::OutOfCells)
        } else {
            Ok(())
        }
    }

    /// What was used, with the most memory at once and the bytes of the image that were copied.
    pub(crate) fn usage(&self, peak_memory: usize, thawed: usize) -> Usage {
        Usage {
            cycles: used(self.limits.cycles, self.cycles),
            cells: used(self.limits.cells, self.cells),
            peak_memory,
            weight_ns: self.weight_used(thawed),
        }
    }

    fn weight_used(&self, thawed: usize) -> u64 {
        used(self.limits.weight_ns, self.weight)
            .saturating_add(used(self.limits.cycles, self.cycles).saturating_mul(CYCLE_WEIGHT))
            .saturating_add(u64::try_from(thawed).unwrap_or(u64::MAX) / THAWED_PER_NANOSECOND)
    }
}

/// How much of a limit is gone.
fn used(limit: u64, left: i64) -> u64 {
    signed(limit).saturating_sub(left.max(0)).unsigned_abs()
}
