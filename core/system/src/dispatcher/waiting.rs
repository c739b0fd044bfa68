//! The queue of jobs for which too few runners have a free slot (decision 307).
//!
//! A pass tries the queue's jobs one after another, in the order in which they came. One begins at the end of a block after a runner got a
//! free slot, and at most one in a block. A job waits for as long as a commitment may take, or for as long as a share of its price pays for.
//! A place costs more the fewer are free, and where none is, jobs that offer more take the places of those that offer less (decision 321).

use super::api::JobWaiting;
use super::effects::Block;
use super::escrow::burn;
use super::failure::give_up;
use super::record::next_height;
use super::{payment, state};
use crate::schema::Emit;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::Hash;
use cowboy_types::job::{Job, JobSpec, JobStatus};
use cowboy_types::units::{Amount, Count, Height};

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
    let queue = state::wait_queue(world)?;
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

/// Lets a job wait for runners with a free slot. Answers whether there is room for it, and whether it can pay for a block. In a full queue the job
/// that offers the least makes room for one that offers more.
pub(super) fn enter(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<bool, Miss> {
    let (most, waiting) = (block.params.jobs.waiting_max, state::waiting().count(block.world)?);
    job.queue_price = block_price(block.params, job, spec, waiting.saturating_add(1));
    let blocks = spec.timeout_blocks.0.min(max_price(block.params, spec).0 / job.queue_price.0.max(1));
    if blocks == 0 || most == 0 || waiting >= most && !make_room(block, spec)? {
        return Ok(false);
    }
    let mut queue = state::wait_queue(block.world)?;
    let place = queue.next;
    queue.next = Count(place.0.saturating_add(1));
    // It was just tried: a pass that is over does not try it again before another slot is free.
    if queue.cursor == place {
        queue.cursor = queue.next;
    }
    block.world.write(state::waiting_key(), &queue);
    (job.queue_place, job.queued_at) = (place, block.height);
    state::waiting().insert(block.world, &state::by_height(Height(place.0), &job.id))?;
    state::offers().insert(block.world, &offer_name(job, spec))?;
    job.status = JobStatus::Waiting;
    job.status_until = Height(block.height.0.saturating_add(blocks));
    JobWaiting { job_id: job.id, until: job.status_until }.emit(block.world);
    Ok(true)
}

/// Ends the wait of the job that offers the least, where a newcomer offers more. Answers whether it did.
fn make_room(block: &mut Block<'_>, newcomer: &JobSpec) -> Result<bool, Miss> {
    let least = state::offers().list(block.world, &[], 1)?;
    let Some(name) = least.first().filter(|name| state::number_of(name) < offer(newcomer).0) else { return Ok(false) };
    let id = state::job_of(name);
    let mut job = state::find(block.world, &id)?.expect("the queue lists jobs that are there");
    let spec = state::spec(block.world, &id)?;
    leave(block, &mut job, &spec)?;
    give_up(block, &mut job, &spec, "runners_busy")?;
    let due = next_height(&job);
    state::write(block.world, &mut job, due)?;
    Ok(true)
}

/// Takes a job out of the queue, for the price of the blocks that it waited.
pub(super) fn leave(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<(), Miss> {
    take_out(block.world, job, spec)?;
    let blocks = block.height.0.saturating_sub(job.queued_at.0);
    let price =
        Amount(blocks.saturating_mul(job.queue_price.0)).min(max_price(block.params, spec)).min(job.escrow.saturating_sub(spec.tip));
    job.escrow = job.escrow.saturating_sub(price);
    burn(block.world, price)
}

/// Takes a job out of the lists of the queue, where it is in them.
pub fn take_out(world: &mut World, job: &Job, spec: &JobSpec) -> Result<(), Miss> {
    state::waiting().remove(world, &state::by_height(Height(job.queue_place.0), &job.id))?;
    state::offers().remove(world, &offer_name(job, spec))?;
    Ok(())
}

/// Notes that a job of the queue is tried: the pass continues behind it.
pub(super) fn note_tried(world: &mut World, height: Height, job: &Job) -> Result<(), Miss> {
    let mut queue = state::wait_queue(world)?;
    if job.queue_place < queue.cursor {
        (queue.pass_at, queue.is_freed) = (height, false);
    }
    queue.cursor = Count(job.queue_place.0.saturating_add(1));
    world.write(state::waiting_key(), &queue);
    Ok(())
}

/// What a job offers for a block: its price by the time for which it may wait. Offers are compared, and a share of them is paid.
fn offer(spec: &JobSpec) -> Amount {
    Amount(spec.max_price.0 / spec.timeout_blocks.0.max(1))
}

/// The name of a job among the offers.
fn offer_name(job: &Job, spec: &JobSpec) -> Vec<u8> {
    let last_first = u64::MAX - job.queue_place.0;
    [&offer(spec).0.to_be_bytes()[..], &last_first.to_be_bytes(), &job.id.0].concat()
}

/// What a job pays for a block of waiting, in base units: for the work of its draws, and for the place, in the queue's last place all that it
/// offers, in others as much less as places are free.
fn block_price(params: &Params, job: &Job, spec: &JobSpec, taken: u64) -> Amount {
    let draws = params.jobs.waiting_price.saturating_mul(job.candidates.0.max(1));
    let most = params.jobs.waiting_max.max(1);
    let offered = u128::from(payment::share(offer(spec), params.jobs.waiting_share).0);
    let place = offered * u128::from(taken.min(most)) / u128::from(most);
    Amount(draws.saturating_add(u64::try_from(place).expect("a part of an amount fits")))
}

/// The maximum that a job pays for waiting.
fn max_price(params: &Params, spec: &JobSpec) -> Amount {
    payment::share(spec.max_price, params.jobs.waiting_share)
}
