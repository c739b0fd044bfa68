//! The queue of jobs for which too few runners have a free slot (decision 307).
//!
//! A pass tries the queue's jobs one after another, in the order in which they came. One begins at the end of a block after a runner got a
//! free slot, and at most one in a block. A job waits for as long as a commitment may take, or for as long as a share of its price pays for.

use super::{NUMBER, payment, payout, state};
use crate::actor::announce;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::Hash;
use cowboy_types::cbor::Value;
use cowboy_types::job::{Job, JobSpec, JobStatus, WaitQueue};
use cowboy_types::units::{Amount, Count, Height};

fn queue(world: &World) -> Result<WaitQueue, Miss> {
    let empty = WaitQueue { next: Count::ZERO, cursor: Count::ZERO, pass_at: Height::ZERO, is_freed: false };
    Ok(world.read(&state::waiting_key())?.unwrap_or(empty))
}

/// The name in the queue of the first job from a place on.
fn first_from(world: &World, place: u64) -> Result<Option<Vec<u8>>, Miss> {
    let first = state::waiting().list(world, &state::by_height(Height(place), &Hash::ZERO), 1)?;
    Ok(first.first().map(|name| name.to_vec()))
}

/// The job that is tried next: of the pass under way, or else of one that may begin in this block.
pub(super) fn next(world: &World, height: Height) -> Result<Option<Hash>, Miss> {
    if state::waiting().count(world)? == 0 {
        return Ok(None);
    }
    let queue = queue(world)?;
    let name = match first_from(world, queue.cursor.0)? {
        Some(name) => Some(name),
        None if queue.is_freed && queue.pass_at < height => first_from(world, 0)?,
        None => None,
    };
    Ok(name.map(|name| state::job_of(&name)))
}

/// Whether a pass is under way, or begins in the next block.
pub(super) fn is_due(world: &World, height: Height) -> Result<bool, Miss> {
    Ok(next(world, height.next())?.is_some())
}

/// Notes that a runner got a free slot.
pub(crate) fn note_free_slot(world: &mut World) -> Result<(), Miss> {
    if state::waiting().count(world)? > 0 {
        let queue = queue(world)?;
        world.write(state::waiting_key(), &WaitQueue { is_freed: true, ..queue });
    }
    Ok(())
}

/// Lets a job wait for runners with a free slot. Answers whether there is room for it, and whether it can pay for a block.
pub(super) fn enter(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec) -> Result<bool, Miss> {
    let blocks = spec.timeout_blocks.0.min(affordable(params, job, spec));
    if blocks == 0 || state::waiting().count(world)? >= params.jobs.waiting_max {
        return Ok(false);
    }
    let mut queue = queue(world)?;
    let place = queue.next;
    queue.next = Count(place.0.saturating_add(1));
    // It was just tried: a pass that is over does not try it again before another slot is free.
    if queue.cursor == place {
        queue.cursor = queue.next;
    }
    world.write(state::waiting_key(), &queue);
    state::waiting().insert(world, &state::by_height(Height(place.0), &job.id))?;
    (job.queue_place, job.queued_at) = (place, height);
    job.status = JobStatus::Waiting;
    job.status_until = Height(height.0.saturating_add(blocks));
    let data = Value::map([("job_id", Value::Bytes(job.id.0.to_vec())), ("until", Value::uint(job.status_until.0))]);
    announce(world, NUMBER, "JobWaiting", &data);
    Ok(true)
}

/// Takes a job out of the queue, for the price of the blocks that it waited.
pub(super) fn leave(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec) -> Result<(), Miss> {
    state::waiting().remove(world, &state::by_height(Height(job.queue_place.0), &job.id))?;
    let blocks = height.0.saturating_sub(job.queued_at.0);
    let price =
        Amount(blocks.saturating_mul(block_price(params, job))).min(max_price(params, spec)).min(job.escrow.saturating_sub(spec.tip));
    job.escrow = job.escrow.saturating_sub(price);
    payout::burn(world, price)
}

/// Notes that a job of the queue is tried: the pass continues behind it.
pub(super) fn note_tried(world: &mut World, height: Height, job: &Job) -> Result<(), Miss> {
    let mut queue = queue(world)?;
    if job.queue_place < queue.cursor {
        (queue.pass_at, queue.is_freed) = (height, false);
    }
    queue.cursor = Count(job.queue_place.0.saturating_add(1));
    world.write(state::waiting_key(), &queue);
    Ok(())
}

/// What a job pays for a block of waiting, in base units.
fn block_price(params: &Params, job: &Job) -> u64 {
    params.jobs.waiting_price.saturating_mul(job.candidates.0.max(1))
}

/// The maximum that a job pays for waiting.
fn max_price(params: &Params, spec: &JobSpec) -> Amount {
    payment::share(spec.max_price, params.jobs.waiting_share)
}

/// The blocks of waiting that a job can pay.
fn affordable(params: &Params, job: &Job, spec: &JobSpec) -> u64 {
    max_price(params, spec).0 / block_price(params, job).max(1)
}
