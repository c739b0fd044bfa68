//! What a delivery used, and how much it may.

use crate::fees::Used;
use cowboy_types::units::{Cells, Cycles};
use cowboy_types::{Abort, error};

/// The meters of one delivery.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    limit: Used,
    used: Used,
    weight: u64,
    weight_limit: u64,
}

impl Meter {
    pub(crate) fn new(limit: Used, weight_limit: u64) -> Self {
        Self { limit, used: Used::default(), weight: 0, weight_limit }
    }

    /// Adds what was used. Beyond a limit the delivery fails, and all of that limit is used.
    pub(crate) fn charge(&mut self, cycles: u64, cells: u64, weight: u64) -> Result<(), Abort> {
        self.used.cycles = self.used.cycles.saturating_add(Cycles(cycles));
        self.used.cells = self.used.cells.saturating_add(Cells(cells));
        self.weight = self.weight.saturating_add(weight);
        if self.used.cycles > self.limit.cycles {
            return Err(error::OUT_OF_CYCLES);
        }
        if self.used.cells > self.limit.cells {
            return Err(error::OUT_OF_CELLS);
        }
        if self.weight > self.weight_limit { Err(error::OUT_OF_TIME) } else { Ok(()) }
    }

    /// What was used, never more than the limit.
    pub(crate) fn used(&self) -> Used {
        Used { cycles: self.used.cycles.min(self.limit.cycles), cells: self.used.cells.min(self.limit.cells) }
    }

    /// What may still be used.
    pub(crate) fn left(&self) -> Used {
        Used { cycles: self.limit.cycles.saturating_sub(self.used.cycles), cells: self.limit.cells.saturating_sub(self.used.cells) }
    }

    /// Modelled execution time so far, in ns.
    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    /// Modelled execution time that is left, in ns.
    pub(crate) fn weight_left(&self) -> u64 {
        self.weight_limit.saturating_sub(self.weight)
    }
}

/// The number of bytes.
pub(super) fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
