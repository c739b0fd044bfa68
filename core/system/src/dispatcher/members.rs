//! What a job changes of the records of its runners: they are freed of it, a failure is booked, or a success.

use super::effects::Block;
use super::state;
use crate::runners::{self, handlers as registry, reputation};
use cowboy_state::{Miss, World};
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash};

/// A runner is free of a job.
pub(super) fn release(world: &mut World, runner: Address, job: &Hash) -> Result<(), Miss> {
    if runners::state::jobs_of(runner).remove(world, &job.0)?
        && let Some(mut record) = runners::state::find(world, runner)?
    {
        let was_busy = record.active_jobs >= record.max_concurrent;
        record.active_jobs = Count(record.active_jobs.0.saturating_sub(1));
        runners::state::write(world, runner, &record);
        if was_busy {
            state::note_free_slot(world)?;
        }
    }
    Ok(())
}

/// Books a failure of a member.
pub(super) fn blame(block: &mut Block<'_>, runner: Address) -> Result<(), Miss> {
    if let Some(mut record) = runners::state::find(block.world, runner)? {
        registry::fail(&block.params.jobs, &mut record, block.height, block.params.jobs.reputation_timeout);
        runners::state::write(block.world, runner, &record);
    }
    Ok(())
}

/// Books a member's success. One whose usage is an anomaly is flagged instead, and gains no reputation.
pub(super) fn book_success(block: &mut Block<'_>, runner: Address, is_aggregator: bool, is_anomalous: bool) -> Result<(), Miss> {
    let Some(mut record) = runners::state::find(block.world, runner)? else { return Ok(()) };
    if is_anomalous {
        record.is_flagged = true;
    } else {
        let score = if is_aggregator { reputation::AGGREGATED } else { reputation::SUCCESS };
        reputation::score(&block.params.jobs, &mut record, block.height, score);
    }
    record.jobs_done = Count(record.jobs_done.0.saturating_add(1));
    runners::state::write(block.world, runner, &record);
    Ok(())
}
