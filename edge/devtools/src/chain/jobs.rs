//! Off-chain jobs on a chain in memory: the real Dispatcher takes them, and the test answers in the runners' place.

use cowboy_state::{Key, Miss, World};
use cowboy_system::{dispatcher, runners};
use cowboy_types::{
    Address, Hash, List,
    job::{Capacity, Job, JobStatus, Profile, RateCard, Runner},
    units::{Amount, Count, Height},
    wire::{Blob, Fixed, Text},
};

/// How many runners a test's chain has: the largest committee that its jobs can ask for.
const RUNNERS: u8 = 16;

/// What each of them stakes, in base units: enough for a job of any price that a test can pay.
const STAKE: Amount = Amount(1 << 60);

/// The last octet of the first runner's address; the others follow it.
const FIRST: u8 = 0x40;

/// A job that waits for an outcome.
pub(crate) struct Waiting {
    /// Its id.
    pub(crate) id: Hash,
    /// The account or actor that submitted the job.
    pub(crate) submitter: Address,
    /// The submission, as a runner reads it.
    pub(crate) submission: Vec<u8>,
}

/// Registers runners that do every kind of work for nothing, have never been silent and never act.
pub(crate) fn register(world: &mut World) -> Result<(), Miss> {
    for number in 0..RUNNERS {
        let mut octets = [0x52; 20];
        octets[19] = FIRST.wrapping_add(number);
        let address = Address(octets);
        runners::state::directory().insert(world, &address.0)?;
        world.write(runners::state::profile_key(address), &profile());
        runners::state::write(world, address, &runner());
    }
    Ok(())
}

fn profile() -> Profile {
    Profile {
        endpoint: Text::default(),
        regions: List::default(),
        domains: List::default(),
        models: List::default(),
        provides: Blob::default(),
        containers: Some(Capacity {
            cpu_millicores: Count(u64::MAX),
            memory_mib: Count(u64::MAX),
            scratch_mib: Count(u64::MAX),
            platforms: u8::MAX,
            volumes: true,
        }),
    }
}

fn runner() -> Runner {
    let mut runner = Runner {
        stake: STAKE,
        delegated: Amount::ZERO,
        unbonding: List::default(),
        kinds: u8::MAX,
        tee: u8::MAX,
        result_key: Fixed::default(),
        former_rates: RateCard::free(),
        rates_since: Height::ZERO,
        rates: RateCard { max_job_value: Amount(STAKE.0 / 2), ..RateCard::free() },
        max_concurrent: Count(u64::MAX),
        active_jobs: Count::ZERO,
        registered_at: Height::ZERO,
        heartbeat_at: Height(u64::MAX),
        reputation: Count::ZERO,
        score: Count::ZERO,
        reputation_at: Height::ZERO,
        held_until: Height::ZERO,
        holds: Count::ZERO,
        probation_until: Height::ZERO,
        probations: Count::ZERO,
        jobs_done: Count::ZERO,
        jobs_failed: Count::ZERO,
        crashes: Count::ZERO,
        crashes_since: Height::ZERO,
        is_flagged: false,
        is_leaving: false,
    };
    runners::reputation::set(&mut runner, Height::ZERO, 100);
    runner
}

/// The jobs that wait for an outcome, the oldest first.
pub(crate) fn waiting(world: &World) -> Result<Vec<Waiting>, Miss> {
    let open = open(world)?;
    let specs: Vec<Key> = open.iter().map(|job| dispatcher::state::spec_key(&job.id)).collect();
    world.require(&specs)?;
    open.into_iter()
        .map(|job| {
            let submission = dispatcher::state::spec(world, &job.id)?.request.to_vec();
            Ok(Waiting { id: job.id, submitter: job.submitter, submission })
        })
        .collect()
}

/// Keeps every open job waiting, however many blocks a test makes: nobody works on it, and nobody is late.
pub(crate) fn hold(world: &mut World) -> Result<(), Miss> {
    for mut job in open(world)? {
        job.status_until = Height(u64::MAX);
        dispatcher::state::write(world, &mut job, Height(u64::MAX))?;
    }
    Ok(())
}

/// Ends a job before its outcome is delivered: everything that is held for it goes back. Whether there is such a job.
pub(crate) fn close(world: &mut World, id: &Hash) -> Result<bool, Miss> {
    let Some(mut job) = dispatcher::state::find(world, id)?.filter(is_open) else { return Ok(false) };
    dispatcher::state::draws().remove(world, &dispatcher::state::by_round(job.draw_epoch.0, job.draw_view.0, id))?;
    let spec = dispatcher::state::spec(world, id)?;
    dispatcher::take_out(world, &job, &spec)?;
    let held = job.escrow.saturating_add(job.callback_held);
    (job.escrow, job.callback_held) = (Amount::ZERO, Amount::ZERO);
    let was_there = world.debit(Address::system(dispatcher::NUMBER), held)?;
    assert!(was_there, "the Dispatcher holds what its jobs do");
    world.credit(job.submitter, held)?;
    job.status = JobStatus::Settled;
    dispatcher::state::write(world, &mut job, Height(u64::MAX))?;
    Ok(true)
}

fn is_open(job: &Job) -> bool {
    matches!(job.status, JobStatus::Drawing | JobStatus::Waiting | JobStatus::Assigned | JobStatus::Revealing)
}

fn open(world: &World) -> Result<Vec<Job>, Miss> {
    let names = dispatcher::state::jobs().list(world, &[], usize::MAX)?;
    let ids: Vec<Hash> = names.iter().map(|name| dispatcher::state::job_of(name)).collect();
    world.require(&ids.iter().map(dispatcher::state::job_key).collect::<Vec<Key>>())?;
    let mut jobs = Vec::new();
    for id in &ids {
        jobs.extend(dispatcher::state::find(world, id)?.filter(is_open));
    }
    Ok(jobs)
}
