//! A job's committee: its draw, and its members' release (002 §5, §6; 003 §5.3).

use super::lifecycle::give_up;
use super::{NUMBER, second, selection, state};
use crate::actor::announce;
use crate::runners::{self, handlers as registry, reputation};
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::cbor::Value;
use cowboy_types::job::{Job, JobSpec, JobStatus, Member, RateCard, Usage, Verdict};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List};

/// The seed of the round that the job named. Where that round never came, its epoch being over, the first of the next one;
/// where it is too old to be read, the oldest that can be.
pub(super) fn round_seed(world: &World, params: &Params, job: &Job) -> Result<Option<cowboy_types::block::Seed>, Miss> {
    let (epoch, view) = (job.draw_epoch.0, job.draw_view.0);
    let history = params.consensus.seed_history;
    let Some(newest) = world.newest_round()?.filter(|newest| (epoch, view) <= *newest) else { return Ok(None) };
    if let Some(seed) = world.seed(history, epoch, view)? {
        return Ok(Some(seed));
    }
    let first = if newest.0 == epoch { view } else { 1 };
    for view in first.max(newest.1.saturating_sub(history))..=newest.1 {
        if let Some(seed) = world.seed(history, newest.0, view)? {
            return Ok(Some(seed));
        }
    }
    Ok(None)
}

/// Whether a runner may have one more job. One that left the registry has no limit, and does nothing.
fn has_slot(world: &World, runner: Address) -> Result<bool, Miss> {
    Ok(runners::state::find(world, runner)?.is_none_or(|record| record.active_jobs < record.max_concurrent))
}

/// Draws the job's committee, and gives it its work. Runners without a free slot are passed over; they never make a committee smaller: where too
/// few others are left, the job fails (decision 326).
pub(super) fn draw(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec, seed: Hash) -> Result<(), Miss> {
    job.seed = seed;
    let candidates = state::candidates(world, &job.id)?;
    let wanted = usize::try_from(job.committee.0).expect("committees are small");
    let left = selection::left(&candidates, &job.excluded);
    let drawn = selection::select_free(&left, &selection::draw_seed(&job.seed, job.attempt.0), wanted, |runner| has_slot(world, runner))?;
    let selected = drawn.selected;
    let is_busy = !drawn.passed.is_empty() && selected.len() < wanted.min(left.len());
    job.passed = List::new(drawn.passed).expect("no more are passed over");
    let count = u64::try_from(selected.len()).expect("committees are small");
    if is_busy || count < spec.verification.mode.least_runners() {
        if second::is_last(job) {
            return second::fall_back(world, params, height, job, spec).map(drop);
        }
        return give_up(world, params, height, job, spec, if is_busy { "runners_busy" } else { "no_replacement_available" });
    }
    if count < job.committee.0 {
        job.committee = Count(count);
        job.threshold = Count(job.threshold.0.min(selection::two_thirds(count)).max(1));
    }
    let mut members = Vec::with_capacity(selected.len());
    for runner in selected {
        let (mut reputation, mut rates) = (0, None);
        if let Some(mut record) = runners::state::find(world, runner)? {
            reputation = reputation::points(&params.jobs, &record, height);
            rates = Some(record.rates.clone());
            record.active_jobs = Count(record.active_jobs.0 + 1);
            runners::state::write(world, runner, &record);
        }
        runners::state::jobs_of(runner).insert(world, &job.id.0)?;
        members.push(member(runner, reputation, rates));
    }
    let ranked: Vec<(Address, u64)> = members.iter().map(|member| (member.runner, member.reputation.0)).collect();
    job.aggregator = selection::aggregator(&job.id, &ranked, params.jobs.aggregator_percentile);
    job.is_aggregated = false;
    job.aggregated = Count::ZERO;
    job.members = List::new(members).expect("a committee fits");
    job.status = JobStatus::Assigned;
    job.commit_until = Height(height.0.saturating_add(spec.timeout_blocks.0));
    job.status_until = job.commit_until;
    Ok(())
}

/// A member that was just drawn; one that is gone from the registry asks for nothing.
fn member(runner: Address, reputation: u64, rates: Option<RateCard>) -> Member {
    Member {
        runner,
        reputation: Count(reputation),
        rates: rates.unwrap_or_else(RateCard::free),
        commitment: Hash::ZERO,
        committed_at: Height::ZERO,
        output: Hash::ZERO,
        revealed_at: Height::ZERO,
        signature: Fixed::default(),
        usage: Usage::nothing(),
        fault: Count::ZERO,
        progress: Count::ZERO,
        is_attested: false,
        is_crashed: false,
        verdict: Verdict::Pending,
        paid: Amount::ZERO,
    }
}

/// A runner is free of a job.
pub(super) fn release(world: &mut World, runner: Address, job: &Hash) -> Result<(), Miss> {
    if runners::state::jobs_of(runner).remove(world, &job.0)?
        && let Some(mut record) = runners::state::find(world, runner)?
    {
        record.active_jobs = Count(record.active_jobs.0.saturating_sub(1));
        runners::state::write(world, runner, &record);
    }
    Ok(())
}

/// Books a failure of a member.
pub(super) fn blame(world: &mut World, params: &Params, height: Height, runner: Address) -> Result<(), Miss> {
    if let Some(mut record) = runners::state::find(world, runner)? {
        registry::fail(&params.jobs, &mut record, height, params.jobs.reputation_timeout);
        runners::state::write(world, runner, &record);
    }
    Ok(())
}

/// Leaves a runner out of later draws.
pub(super) fn exclude(job: &mut Job, runner: Address) {
    let mut excluded = std::mem::take(&mut job.excluded).into_vec();
    if let Err(place) = excluded.binary_search(&runner) {
        excluded.insert(place, runner);
    }
    job.excluded = List::new(excluded).expect("a few committees fit");
}

/// Says who was drawn, and what the draw can be checked with.
pub(super) fn announce_committee(world: &mut World, job: &Job) {
    if job.status == JobStatus::Failed {
        return;
    }
    let members = job.members.iter().map(|member| Value::Bytes(member.runner.0.to_vec())).collect();
    let data = Value::map([
        ("job_id", Value::Bytes(job.id.0.to_vec())),
        ("attempt", Value::uint(job.attempt.0)),
        ("seed", Value::Bytes(job.seed.0.to_vec())),
        ("members", Value::Array(members)),
        ("aggregator", job.aggregator.map_or(Value::Null, |runner| Value::Bytes(runner.0.to_vec()))),
        ("commit_until", Value::uint(job.commit_until.0)),
    ]);
    announce(world, NUMBER, "CommitteeDrawn", &data);
}
