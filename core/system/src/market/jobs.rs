//! The records of jobs, which the Dispatcher (0x02) keeps.

use crate::standstill::MARKET;
use bytes::Bytes;
use cowboy_state::{Directory, Key, Kind, Miss, Step, World};
pub use cowboy_types::actors::DISPATCHER as NUMBER;
use cowboy_types::job::{CallbackBook, Candidates, EpochCommittee, Job, JobSpec, Patron, WaitQueue};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, Hash, error, keccak256};

const OWNER: Address = Address::system(NUMBER);

fn named(prefix: &[u8], rest: &[u8]) -> Key {
    Key::named(Kind::System, OWNER, [prefix, rest].concat())
}

/// A job under way.
pub fn job_key(id: &Hash) -> Key {
    named(b"job:", &id.0)
}

/// What it asked for.
pub fn spec_key(id: &Hash) -> Key {
    named(b"spec:", &id.0)
}

/// Its candidates.
pub fn candidates_key(id: &Hash) -> Key {
    named(b"candidates:", &id.0)
}

/// A result's bytes, by the job and their digest.
pub fn output_key(id: &Hash, output: &Hash) -> Key {
    named(b"output:", &[id.0, output.0].concat())
}

/// What is remembered of who asks for jobs.
pub fn patron_key(address: Address) -> Key {
    named(b"patron:", &address.0)
}

/// The epoch's committees.
pub fn committee_key() -> Key {
    Key::system(NUMBER, "system:cip2:committee")
}

/// The answers that wait.
pub fn callbacks_key() -> Key {
    Key::system(NUMBER, "callbacks")
}

/// How many jobs were drawn in the block of their submission.
pub fn immediate_key() -> Key {
    Key::system(NUMBER, "immediate")
}

/// How far the queue for runners with a free slot is.
pub fn waiting_key() -> Key {
    Key::system(NUMBER, "waiting")
}

/// Every job by the height at which something happens to it.
pub const fn agenda() -> Directory {
    Directory::of_system(OWNER, 32)
}

/// Jobs that wait for a seed, by its round.
pub const fn draws() -> Directory {
    Directory::of_system(OWNER, 33)
}

/// Jobs that are drawn at the end of the block of their submission, in the order of their submissions.
pub const fn immediate() -> Directory {
    Directory::of_system(OWNER, 36)
}

/// Jobs that wait for runners with a free slot, in the order in which they came.
pub const fn waiting() -> Directory {
    Directory::of_system(OWNER, 37)
}

/// The same jobs, those first that offer the least for a block of waiting; of equal ones, the last that came.
pub const fn offers() -> Directory {
    Directory::of_system(OWNER, 38)
}

/// Jobs whose answer waits, first in, first out.
pub const fn callbacks() -> Directory {
    Directory::of_system(OWNER, 34)
}

/// Every job that is not forgotten, by the height of its submission.
pub const fn jobs() -> Directory {
    Directory::of_system(OWNER, 35)
}

/// A name that orders jobs by a height.
pub fn by_height(height: Height, id: &Hash) -> Vec<u8> {
    [&height.0.to_be_bytes()[..], &id.0].concat()
}

/// A name that orders jobs by a round.
pub fn by_round(epoch: u64, view: u64, id: &Hash) -> Vec<u8> {
    [&epoch.to_be_bytes()[..], &view.to_be_bytes(), &id.0].concat()
}

/// The number with which a name begins.
pub fn number_of(name: &[u8]) -> u64 {
    u64::from_be_bytes(name[..8].try_into().expect("a name begins with eight bytes"))
}

/// The job with whose id a name ends.
pub fn job_of(name: &[u8]) -> Hash {
    Hash(name[name.len() - 32..].try_into().expect("a name ends with an id"))
}

/// A job, where it is not forgotten. Its deadlines count no block in which the market stood still (decision 320).
pub fn find(world: &World, id: &Hash) -> Result<Option<Job>, Miss> {
    world.require([&job_key(id), &MARKET.key()])?;
    let Some(mut job) = world.read::<Job>(&job_key(id))? else { return Ok(None) };
    job.catch_up(MARKET.read(world)?.blocks);
    Ok(Some(job))
}

/// A job; fails where there is none.
pub fn read(world: &World, id: &Hash) -> Step<Job> {
    Ok(find(world, id)?.ok_or(error::JOB_NOT_FOUND)?)
}

/// What a job asked for.
pub fn spec(world: &World, id: &Hash) -> Result<JobSpec, Miss> {
    Ok(world.read(&spec_key(id))?.expect("every job has what it asked for"))
}

/// A job's candidates.
pub fn candidates(world: &World, id: &Hash) -> Result<Candidates, Miss> {
    Ok(world.read(&candidates_key(id))?.expect("every job has its candidates"))
}

/// Keeps a result's bytes, which others may have revealed before. Answers their digest.
pub fn keep_output(world: &mut World, id: &Hash, bytes: Bytes) -> Result<Hash, Miss> {
    let digest = keccak256(&[&bytes]);
    let key = output_key(id, &digest);
    if world.get(&key)?.is_none() {
        world.put(key, Some(bytes));
    }
    Ok(digest)
}

/// A result's bytes.
pub fn output(world: &World, id: &Hash, digest: &Hash) -> Result<Bytes, Miss> {
    Ok(world.get(&output_key(id, digest))?.cloned().expect("what was revealed is kept until the job is forgotten"))
}

/// The epoch's committees, where any were made.
pub fn committee(world: &World) -> Result<Option<EpochCommittee>, Miss> {
    world.read(&committee_key())
}

/// What is remembered of who asks for jobs.
pub fn patron(world: &World, address: Address) -> Result<Patron, Miss> {
    Ok(world.read(&patron_key(address))?.unwrap_or(Patron { jobs: Count::ZERO, failed_callbacks: Count::ZERO }))
}

/// Keeps a job, and its place in the agenda.
pub fn write(world: &mut World, job: &mut Job, due: Height) -> Result<(), Miss> {
    if due != job.due {
        agenda().remove(world, &by_height(job.due, &job.id))?;
        agenda().insert(world, &by_height(due, &job.id))?;
        job.due = due;
    }
    world.write(job_key(&job.id), job);
    Ok(())
}

/// Puts a job behind those that are drawn at the end of a block. Answers its place among them.
pub fn queue_draw(world: &mut World, id: &Hash) -> Result<Count, Miss> {
    let place: Count = world.read(&immediate_key())?.unwrap_or(Count::ZERO);
    immediate().insert(world, &by_height(Height(place.0), id))?;
    world.write(immediate_key(), &Count(place.0 + 1));
    Ok(place)
}

/// Takes a job out of those that are drawn at the end of a block.
pub fn take_draw(world: &mut World, job: &Job) -> Result<(), Miss> {
    immediate().remove(world, &by_height(Height(job.queue_place.0), &job.id))?;
    Ok(())
}

/// Puts a job's answer behind those that wait.
pub fn queue_callback(world: &mut World, id: &Hash) -> Result<(), Miss> {
    let mut book = world.read::<CallbackBook>(&callbacks_key())?.unwrap_or(CallbackBook { next: Count::ZERO });
    callbacks().insert(world, &by_height(Height(book.next.0), id))?;
    book.next = Count(book.next.0 + 1);
    world.write(callbacks_key(), &book);
    Ok(())
}

/// How far the queue for runners with a free slot is.
pub(crate) fn wait_queue(world: &World) -> Result<WaitQueue, Miss> {
    let empty = WaitQueue { next: Count::ZERO, cursor: Count::ZERO, pass_at: Height::ZERO, is_freed: false };
    Ok(world.read(&waiting_key())?.unwrap_or(empty))
}

/// Notes that a runner got a free slot.
pub(crate) fn note_free_slot(world: &mut World) -> Result<(), Miss> {
    if waiting().count(world)? > 0 {
        let queue = wait_queue(world)?;
        world.write(waiting_key(), &WaitQueue { is_freed: true, ..queue });
    }
    Ok(())
}
