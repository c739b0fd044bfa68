//! How the kinds of work share a block's modelled time (decision 391).
//!
//! A phase begins deliveries until the block has used the phase's part of `execution.block_weight`, and in any case until it has used its
//! own floor. So transactions never take all of the time from timers and jobs, messages never all of it from answers, and both never all of it from
//! transactions, and rent and the agendas of system actors continue in full blocks (decisions 692, 722). Each part may be exceeded by the delivery, or the
//! step, that is under way.

use cowboy_params::Params;

/// A kind of work with a part of a block's modelled time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Messages of earlier blocks.
    Messages,
    /// Answers of jobs.
    Callbacks,
    /// Transactions.
    Transactions,
    /// Timers.
    Timers,
    /// Steps of jobs.
    Jobs,
    /// Rent, and the removal of what evicted actors left.
    Rent,
    /// What system actors look at by themselves: each agenda has the floor.
    Upkeep,
}

impl Part {
    /// The time at which the phase begins no further delivery, in ns, where the block had used `began` when the phase began.
    pub(super) fn end(self, params: &Params, began: u64) -> u64 {
        let rows = &params.execution;
        let (until, floor) = match self {
            // As with cells, each of the two has half of what both have together (decision 594).
            Self::Messages => (rows.deliveries_until / 2, 0),
            Self::Callbacks => (rows.deliveries_until, rows.callbacks_floor),
            Self::Transactions => (rows.transactions_until, rows.transactions_floor),
            Self::Timers => (rows.timers_until, rows.timers_floor),
            Self::Jobs => (10_000, rows.jobs_floor),
            Self::Rent => (10_000, rows.rent_floor),
            Self::Upkeep => (10_000, rows.upkeep_floor),
        };
        let part = |points: u64| {
            let part = u128::from(rows.block_weight) * u128::from(points) / 10_000;
            u64::try_from(part).expect("a part is at most the whole")
        };
        part(until).max(began.saturating_add(part(floor)))
    }
}
