//! The record of a job: how it begins, and the changes of it that several steps make. Pure functions.

use cowboy_params::Params;
use cowboy_state::Miss;
use cowboy_types::job::{Job, JobStatus, Member, Mode, RateCard, Usage, Verdict};
use cowboy_types::units::{Amount, Count, Height, TimestampMs};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Text};

/// A job as it begins, which may take `blocks`: without money, runners or results.
pub(super) fn submitted(id: Hash, submitter: Address, submitted_at: Height, submitted_ms: TimestampMs, blocks: u64) -> Job {
    let until = Height(submitted_at.0.saturating_add(blocks));
    Job {
        id,
        submitter,
        submitted_at,
        submitted_ms,
        status: JobStatus::Drawing,
        due: until,
        status_until: until,
        escrow: Amount::ZERO,
        callback_held: Amount::ZERO,
        committee: Count::ZERO,
        threshold: Count::ZERO,
        candidates_root: Hash::ZERO,
        candidates: Count::ZERO,
        draw_epoch: Count::ZERO,
        draw_view: Count::ZERO,
        seed: Hash::ZERO,
        attempt: Count::ZERO,
        members: List::default(),
        earlier: List::default(),
        excluded: List::default(),
        passed: List::default(),
        queue_place: Count::ZERO,
        queued_at: Height::ZERO,
        queue_price: Amount::ZERO,
        aggregator: None,
        is_aggregated: false,
        aggregated: Count::ZERO,
        commit_until: Height::ZERO,
        reveal_from: Height::ZERO,
        reveal_until: Height::ZERO,
        absent: List::default(),
        delivered: List::default(),
        outcome: None,
        reason: Text::default(),
        claims: List::default(),
        dispute_until: Height::ZERO,
        vote_until: Height::ZERO,
        window_left: Count::ZERO,
        retrial_of: Hash::ZERO,
        over_at: Height::ZERO,
        steps: Count::ZERO,
        drawn_at: Height::ZERO,
        stood_still: Count::ZERO,
    }
}

/// A member that was just drawn; one that is gone from the registry asks for nothing.
pub(super) fn member(runner: Address, reputation: u64, rates: Option<RateCard>) -> Member {
    Member {
        runner,
        reputation: Count(reputation),
        rates: rates.unwrap_or_else(RateCard::free),
        commitment: Hash::ZERO,
        committed_at: Height::ZERO,
        held: Count::ZERO,
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

/// Whether the committee at work is the last that the job has.
pub(super) fn is_last(job: &Job) -> bool {
    !job.earlier.is_empty()
}

/// How many of a further committee of `drawn` have to agree: the same part as of the first, and a simple majority at most.
pub(super) fn further_threshold(job: &Job, drawn: u64) -> u64 {
    let first = u64::try_from(job.earlier.len()).expect("committees are small");
    (job.threshold.0 * drawn).div_ceil(first.max(1)).clamp(1, drawn / 2 + 1)
}

/// How many of the committee that is drawn next a result needs.
pub(super) fn needed(job: &Job, mode: &Mode) -> u64 {
    let threshold = if is_last(job) { further_threshold(job, job.committee.0) } else { job.threshold.0 };
    threshold.max(mode.least_runners())
}

/// Leaves a runner out of later draws.
pub(super) fn exclude(job: &mut Job, runner: Address) {
    let mut excluded = std::mem::take(&mut job.excluded).into_vec();
    if let Err(place) = excluded.binary_search(&runner) {
        excluded.insert(place, runner);
    }
    job.excluded = List::new(excluded).expect("a few committees fit");
}

/// Changes the members of both committees together, those at work first.
pub(crate) fn change_members<T>(job: &mut Job, change: impl FnOnce(&mut [Member]) -> Result<T, Miss>) -> Result<T, Miss> {
    let mut members = std::mem::take(&mut job.members).into_vec();
    let at_work = members.len();
    members.extend(std::mem::take(&mut job.earlier).into_vec());
    let changed = change(&mut members);
    job.earlier = List::new(members.split_off(at_work)).expect("a committee fits");
    job.members = List::new(members).expect("a committee fits");
    changed
}

/// When something happens to a job next.
pub(crate) fn next_height(job: &Job) -> Height {
    job.absent.iter().map(|absent| absent.due).fold(job.status_until, Height::min)
}

/// Ends a job with a status. Its record is kept for `jobs.retention` blocks.
pub(super) fn finish(params: &Params, height: Height, job: &mut Job, status: JobStatus) {
    job.status = status;
    job.over_at = height;
    job.status_until = Height(height.0.saturating_add(params.jobs.retention));
}
