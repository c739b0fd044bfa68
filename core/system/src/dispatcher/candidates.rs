//! Who may be drawn for a job: the filters of 002 §4 in their order, as the block of the submission sees them.

use super::removed::{self, Removed};
use super::{payment, selection, state};
use crate::actor::Context;
use crate::market::container;
use crate::market::request::Request;
use crate::runners::attestations::{self, Requirements};
use crate::runners::handlers::{effective_stake, health, is_healthy, required_stake};
use crate::runners::{self, reputation};
use crate::standstill::MARKET;
use crate::{secrets, tee, volumes};
use cowboy_params::{Jobs, Params};
use cowboy_state::{Key, Miss, Step};
use cowboy_types::job::{Candidate, Candidates, EpochCommittee, Job, JobKind, JobSpec, Profile, Runner};
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Abort, Address, Hash, List, error};

/// Every runner, ascending by address. Costs the submitter `jobs.candidate` cycles for each, before the first is looked at (002 §7.4), so that
/// nobody has thousands of records read for a delivery that cannot pay for it.
pub fn registered(context: &mut Context<'_>, spec: &JobSpec) -> Step<Vec<(Address, Runner)>> {
    let count = runners::state::directory().count(context.world)?;
    let candidate = context.params.jobs.candidate;
    let check = context.params.entitlements.check_cycles;
    let each = if spec.required_runner_pool.is_some() { candidate.saturating_add(check) } else { candidate };
    context.spend(each.saturating_mul(count), context.params.weights.record.saturating_mul(count))?;
    Ok(runners::state::all(context.world)?)
}

/// Makes the candidate list of a job, filtered and ascending by address, and counts whom the filters removed.
///
/// `submitter` is whose manifest says what is required; `committee` is how many runners share the price; of the job that this one checks,
/// where it checks one, nobody is a candidate who worked for it. Fails where the submitter may not use a secret that the job names (decision 143), or
/// may not have a volume mounted (decision 550).
pub fn of_job(
    context: &mut Context<'_>,
    spec: &JobSpec,
    submitter: Address,
    registered: &[(Address, Runner)],
    committee: u64,
    checked: Option<&Job>,
) -> Step<(Candidates, Removed)> {
    let (rows, height) = (context.params.jobs.clone(), context.height);
    let mut removed = Removed::default();
    let mut able = fit(context, spec, registered, committee, checked, &mut removed)?;
    if spec.verification.is_tee_required {
        tee::require(context.world, &able.iter().map(|(address, _)| *address).collect::<Vec<Address>>())?;
        let mut kept = Vec::new();
        for entry in able.iter().copied() {
            if tee::is_attested(context.world, context.is_dev, height, entry.0, &entry.1, &spec.verification.tee_type)? {
                kept.push(entry);
            }
        }
        able = removed.keep(removed::TEE, &able, kept);
    }
    let request = Request::read(&spec.request).map_err(Abort::from)?;
    let mut required = Requirements::of(context, submitter, spec)?;
    if needs_model(spec) || spec.resources.is_some() || !required.are_none() {
        context.spend(0, context.params.weights.matching.saturating_mul(u64::try_from(able.len()).unwrap_or(u64::MAX)))?;
        let keys = able.iter().flat_map(|(address, _)| [runners::state::profile_key(*address), attestations::key(*address)]);
        context.world.require(&keys.collect::<Vec<Key>>())?;
        let mut kept = Vec::new();
        for entry in able {
            let profile = runners::state::profile(context.world, entry.0)?;
            if !has_model(&profile, spec) {
                removed.add(removed::MODEL);
            } else if !has_room(&profile, spec, &request) {
                removed.add(removed::ROOM);
            } else if !required.are_met(context, entry.0, &entry.1, &profile)? {
                removed.add(removed::REQUIRED);
            } else {
                kept.push(entry);
            }
        }
        able = kept;
    }
    if let Some(pool) = &spec.required_runner_pool {
        let mut kept = Vec::new();
        for entry in able.iter().copied() {
            if is_pool_member(context, entry.0, pool)? {
                kept.push(entry);
            }
        }
        able = removed.keep(removed::POOL, &able, kept);
    }
    volumes::mounts::admitted(context, &request, submitter)?;
    let policies = secrets::jobs::admitted(context, &request, spec, submitter)?;
    if !policies.is_empty() {
        context.spend(0, context.params.weights.matching.saturating_mul(u64::try_from(able.len()).unwrap_or(u64::MAX)))?;
        let mut kept = Vec::new();
        for entry in able.iter().copied() {
            if secrets::jobs::may_see(context, &policies, entry.0, &entry.1)? {
                kept.push(entry);
            }
        }
        able = removed.keep(removed::SECRET, &able, kept);
    }
    let weighed = free(able, committee, checked).into_iter().map(|(address, runner)| Candidate {
        runner: *address,
        weight: selection::weight(effective_stake(&rows, runner), reputation::points(&rows, runner, height)),
    });
    // The directory ascends by address, and so does what is left of it.
    Ok((Candidates { candidates: List::new(weighed.collect()).ok_or(error::REGISTRY_FULL)? }, removed))
}

/// The runners that pass the filters which look at a runner alone: health and reputation, kind, environment, price, stake.
fn fit<'r>(
    context: &Context<'_>,
    spec: &JobSpec,
    registered: &'r [(Address, Runner)],
    committee: u64,
    checked: Option<&Job>,
    removed: &mut Removed,
) -> Step<Vec<&'r (Address, Runner)>> {
    let rows = &context.params.jobs;
    let standstill = MARKET.read(context.world)?;
    // What a job is worth does not rise because more do it again.
    let value = checked.map(|job| state::spec(context.world, &job.id)).transpose()?.map_or(spec.max_price, |first| first.max_price);
    let was_there = |runner: &Address| checked.is_some_and(|job| job.all_members().any(|member| member.runner == *runner));
    let mut able = Vec::with_capacity(registered.len());
    for entry in registered {
        let (address, runner) = entry;
        let is_unhealthy = removed::of_health(health(rows, runner, context.height, &standstill));
        let reason = is_unhealthy.or_else(|| unable(rows, runner, spec, (value, committee)));
        match reason.or_else(|| was_there(address).then_some(removed::WORKED)) {
            Some(reason) => removed.add(reason),
            None => able.push(entry),
        }
        if reason == Some(removed::PRICE) {
            removed.note_price(payment::estimate(&runner.rates, &spec.kind, &spec.bounds), committee);
        }
    }
    Ok(able)
}

/// The filter by concurrency: those with a free slot, where they make a committee. Where they do not, all are candidates, and the job waits
/// for enough of them to get one (decision 307). Whoever keeps others busy has no say in who judges them: there, all are candidates (decision 585).
fn free<'r>(able: Vec<&'r (Address, Runner)>, committee: u64, checked: Option<&Job>) -> Vec<&'r (Address, Runner)> {
    let free: Vec<_> = able.iter().copied().filter(|(_, runner)| runner.active_jobs < runner.max_concurrent).collect();
    let is_enough = u64::try_from(free.len()).is_ok_and(|free| free >= committee);
    if is_enough && checked.is_none() { free } else { able }
}

/// The first of the filters after health and reputation that removes a runner: kind, environment, price, stake.
fn unable(rows: &Jobs, runner: &Runner, spec: &JobSpec, (value, committee): (Amount, u64)) -> Option<&'static str> {
    let share = Amount(spec.max_price.0 / committee.max(1));
    let filters = [
        (runner.kinds & spec.kind.bit() != 0, removed::KIND),
        (!spec.verification.is_tee_required || runner.tee != 0, removed::TEE),
        (payment::estimate(&runner.rates, &spec.kind, &spec.bounds) <= share, removed::PRICE),
        (runner.rates.min_job_value <= value && value <= runner.rates.max_job_value, removed::VALUE),
        (effective_stake(rows, runner) >= required_stake(rows, value), removed::STAKE),
    ];
    filters.into_iter().find(|(passes, _)| !passes).map(|(_, reason)| reason)
}

/// Whether the job names a model.
fn needs_model(spec: &JobSpec) -> bool {
    spec.model != Hash::ZERO && spec.kind == JobKind::Llm
}

/// Whether a profile has the job's model.
fn has_model(profile: &Profile, spec: &JobSpec) -> bool {
    !needs_model(spec) || profile.models.is_empty() || profile.models.contains(&spec.model)
}

/// Whether a runner gives one container what the job asks for.
fn has_room(profile: &Profile, spec: &JobSpec, request: &Request) -> bool {
    let Some(asked) = &spec.resources else { return true };
    profile.containers.as_ref().is_some_and(|given| container::has_room(given, asked, request))
}

/// Whether the Entitlement Registry knows a runner as a member of a pool (002 §7.3).
fn is_pool_member(context: &mut Context<'_>, runner: Address, pool: &[u8]) -> Result<bool, Miss> {
    crate::entitlements::check::is_member(context.world, context.params, context.height, runner, pool)
}

/// The committees of the running epoch. The first job of an epoch makes them, out of the runners that are healthy then (003 §5.3).
pub fn committee(context: &mut Context<'_>, registered: &[(Address, Runner)]) -> Step<EpochCommittee> {
    let (params, height) = (context.params, context.height);
    let epoch = Count(height.0 / params.consensus.epoch);
    let last = state::committee(context.world)?;
    if let Some(last) = &last
        && last.epoch == epoch
    {
        return Ok(last.clone());
    }
    let standstill = MARKET.read(context.world)?;
    let healthy: Vec<Amount> = registered
        .iter()
        .filter(|(_, runner)| is_healthy(&params.jobs, runner, height, &standstill) && !runner.is_leaving)
        .map(|(_, runner)| effective_stake(&params.jobs, runner))
        .collect();
    let made = made(params, epoch, last.as_ref(), &healthy);
    context.world.write(state::committee_key(), &made);
    Ok(made)
}

/// The committees of an epoch, out of those of the one before and the stakes of the healthy runners.
pub fn made(params: &Params, epoch: Count, last: Option<&EpochCommittee>, healthy: &[Amount]) -> EpochCommittee {
    let rows = &params.jobs;
    let now = selection::concentration(healthy);
    let average = last.map_or(now, |last| selection::smooth(u128::from(last.concentration), now, rows.concentration_smoothing));
    let runners = u64::try_from(healthy.len()).unwrap_or(u64::MAX);
    // Before anything was measured the committee is fixed (003 §13.1).
    let size = match last {
        Some(_) => selection::adaptive_size(runners, average, rows.committee_min, rows.committee_max),
        None => selection::Size { committee: rows.committee_fallback, threshold: rows.threshold_fallback },
    };
    EpochCommittee {
        epoch,
        runners: Count(runners),
        concentration: u64::try_from(average).expect("a concentration is at most one"),
        committee: Count(size.committee),
        threshold: Count(size.threshold),
    }
}
