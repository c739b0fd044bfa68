//! How the kinds of work share a block's modelled time (decision 391).
//!
//! A phase begins deliveries until the block has used the phase's part of `execution.block_weight`, and in any case until it has used its
//! own floor. So transactions never take all of the time from timers and jobs, and messages never all of it from transactions. Each part
//! may be exceeded by the delivery that is under way.

use cowboy_params::Params;

/// What a phase may use of a block's modelled time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Sixteenths of the block's time up to which the phase begins deliveries.
    until: u64,
    /// Sixteenths that it has however much was used before it.
    floor: u64,
}

/// Messages of earlier blocks, and answers.
pub(super) const DELIVERIES: Part = Part { until: 8, floor: 0 };
/// Transactions.
pub(super) const TRANSACTIONS: Part = Part { until: 12, floor: 2 };
/// Timers.
pub(super) const TIMERS: Part = Part { until: 14, floor: 1 };
/// Steps of jobs.
pub(super) const JOBS: Part = Part { until: 16, floor: 1 };

impl Part {
    /// The time at which the phase begins no further delivery, in ns, where the block had used `began` when the phase began.
    pub(super) fn end(self, params: &Params, began: u64) -> u64 {
        let sixteenth = params.execution.block_weight / 16;
        sixteenth.saturating_mul(self.until).max(began.saturating_add(sixteenth.saturating_mul(self.floor)))
    }
}
