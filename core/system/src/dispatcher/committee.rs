//! A job's committee: its seed, and its draw (002 §5, §6; 003 §5.3).

use super::api::CommitteeDrawn;
use super::effects::Block;
use super::record::{member, needed};
use super::transitions::Event;
use super::{selection, state};
use crate::market::request::Request;
use crate::runners::{self, reputation};
use crate::schema::Emit;
use crate::secrets::jobs as secrets;
use cowboy_params::Params;
use cowboy_state::{Key, Miss, World};
use cowboy_types::job::{Job, JobKind, JobSpec, JobStatus, MAX_DRAWN};
use cowboy_types::units::{Count, Height};
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

/// Whom the seed of a job draws of the candidates that are left, and how many are left. The records of runners are asked for together: those
/// of the first picks, and where one of these is busy, those of all that the draw may look at.
fn drawn(world: &World, job: &Job, wanted: usize) -> Result<(selection::Drawn, usize), Miss> {
    let candidates = state::candidates(world, &job.id)?;
    let left = selection::left(&candidates, &job.excluded);
    let picks = selection::Picks::new(&left, &selection::draw_seed(&job.seed, job.attempt.0));
    for count in [wanted, wanted.saturating_add(MAX_DRAWN)] {
        let picked: Vec<Address> = picks.clone().take(count).collect();
        let lists = picked.iter().take(wanted).map(|runner| runners::state::jobs_of(*runner).first_key());
        let keys = picked.iter().map(|runner| runners::state::runner_key(*runner)).chain(lists);
        world.require(&keys.collect::<Vec<Key>>())?;
        let free = picked.iter().map(|runner| has_slot(world, *runner)).collect::<Result<Vec<bool>, Miss>>()?;
        if free.into_iter().all(|is_free| is_free) {
            break;
        }
    }
    // Who judges others is decided by the seed alone: whoever is drawn is waited for (decision 585).
    let most = if job.retrial_of == Hash::ZERO { usize::MAX } else { wanted };
    Ok((selection::select_free(picks.take(most), wanted, |runner| has_slot(world, runner))?, left.len()))
}

/// Whether as many candidates of a job have a free slot as its committee needs.
pub(super) fn is_free(world: &World, job: &Job) -> Result<bool, Miss> {
    let wanted = usize::try_from(job.committee.0).expect("committees are small");
    let (drawn, left) = drawn(world, job, wanted)?;
    Ok(drawn.selected.len() >= wanted.min(left))
}

/// Whether the secrets of a job may be released to as many further runners as a result needs. Those that had them in an earlier draw count: its policies say
/// how many may know a secret, and not how many work (decision 763).
fn has_secrets(block: &mut Block<'_>, job: &Job, spec: &JobSpec) -> Result<bool, Miss> {
    if job.attempt == Count::ZERO || !matches!(spec.kind, JobKind::Http | JobKind::Container) {
        return Ok(true);
    }
    let bytes = u64::try_from(spec.request.len()).unwrap_or(u64::MAX);
    let (reading, record) = (block.params.weights.argument_byte, block.params.weights.record);
    block.spend(bytes.saturating_mul(reading));
    let Some(asked) = Request::read(&spec.request).ok().and_then(|request| secrets::asked(&request).ok()) else { return Ok(true) };
    let records = u64::try_from(asked.len().saturating_mul(secrets::RECORDS_OF_ASKED)).unwrap_or(u64::MAX);
    block.spend(records.saturating_mul(record));
    let left = secrets::left(block.world, &asked, (&job.id, job.submitter), block.height)?;
    Ok(left.is_none_or(|left| left >= needed(job, &spec.verification.mode)))
}

/// Draws the job's committee, and gives it its work. Answers what came of it. Runners without a free slot are passed over; they never make a
/// committee smaller: where too few others are left, nobody is drawn (decisions 307, 326).
pub(super) fn draw(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<Event, Miss> {
    if !has_secrets(block, job, spec)? {
        return Ok(Event::UsedUp);
    }
    let wanted = usize::try_from(job.committee.0).expect("committees are small");
    let (drawn, left) = drawn(block.world, job, wanted)?;
    let selected = drawn.selected;
    // Where fewer are left than the mode needs, waiting helps nobody.
    let is_enough = u64::try_from(left).is_ok_and(|left| left >= spec.verification.mode.least_runners());
    let is_busy = is_enough && !drawn.passed.is_empty() && selected.len() < wanted.min(left);
    job.passed = List::new(drawn.passed).expect("no more are passed over");
    let count = u64::try_from(selected.len()).expect("committees are small");
    if is_busy || count < spec.verification.mode.least_runners() {
        return Ok(Event::TooFew { is_busy });
    }
    let mut members = Vec::with_capacity(selected.len());
    for runner in selected {
        let (mut reputation, mut rates) = (0, None);
        if let Some(mut record) = runners::state::find(block.world, runner)? {
            reputation = reputation::points(&block.params.jobs, &record, block.height);
            rates = Some(record.rates_for(job.submitted_at));
            record.active_jobs = Count(record.active_jobs.0 + 1);
            runners::state::write(block.world, runner, &record);
        }
        runners::state::jobs_of(runner).insert(block.world, &job.id.0)?;
        members.push(member(runner, reputation, rates));
    }
    let ranked: Vec<(Address, u64)> = members.iter().map(|member| (member.runner, member.reputation.0)).collect();
    job.aggregator = selection::aggregator(&job.id, &ranked, block.params.jobs.aggregator_percentile);
    job.is_aggregated = false;
    job.aggregated = Count::ZERO;
    job.members = List::new(members).expect("a committee fits");
    job.status = JobStatus::Assigned;
    job.drawn_at = block.height;
    job.commit_until = Height(block.height.0.saturating_add(spec.timeout_blocks.0));
    job.status_until = job.commit_until;
    emit_committee(block.world, job);
    Ok(Event::Drawn)
}

/// Says who was drawn, and what the draw can be checked with.
fn emit_committee(world: &mut World, job: &Job) {
    let members = job.members.iter().map(|member| member.runner).collect();
    let event = CommitteeDrawn {
        job_id: job.id,
        attempt: job.attempt,
        seed: job.seed,
        members: List::new(members).expect("as many members fit"),
        aggregator: job.aggregator,
        commit_until: job.commit_until,
    };
    event.emit(world);
}
