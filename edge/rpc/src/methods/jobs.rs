//! Jobs and runners of the off-chain market.

use super::{Page, count};
use crate::{
    App,
    read::Snapshot,
    refusal::{Answer, Asked, Named, Refusal, parse},
};
use axum::{
    Json,
    extract::{Path, State},
};
use cowboy_api::{
    Hex,
    model::{self, words},
};
use cowboy_params::Jobs;
use cowboy_state::{Key, Miss, World};
use cowboy_system::dispatcher::state as jobs;
use cowboy_system::offchain::container::PLATFORMS;
use cowboy_system::runners::{delegations, environments, handlers, reputation, state as runners};
use cowboy_system::standstill::MARKET;
use cowboy_system::tee;
use cowboy_types::job::{Challenge, Job, JobKind, JobSpec, Member};
use cowboy_types::{Address, Hash, Height};

pub(crate) async fn list(State(app): State<App>, Asked(page): Asked<Page>) -> Answer<model::Jobs> {
    let mut state = Snapshot::newest(&app);
    let (names, total_count) = state.ask(|world| Ok((jobs::jobs().last(world, page.end())?, jobs::jobs().count(world)?))).await?;
    let ids: Vec<Hash> = page.of(names.iter().map(|name| jobs::job_of(name)));
    let jobs = summaries(&state, &ids).await?;
    Ok(Json(model::Jobs { jobs, total_count }))
}

pub(crate) async fn job(State(app): State<App>, Named(id): Named<Hash>) -> Answer<model::Job> {
    let found = Snapshot::newest(&app).ask(|world| details(world, &id)).await?;
    found.map(Json).ok_or_else(|| Refusal::missing("job", id))
}

pub(crate) async fn candidates(State(app): State<App>, Named(id): Named<Hash>) -> Answer<model::JobCandidates> {
    let found = Snapshot::newest(&app)
        .ask(|world| {
            let Some(job) = jobs::find(world, &id)? else { return Ok(None) };
            Ok(Some((jobs::candidates(world, &id)?, job.candidates_root)))
        })
        .await?;
    let (snapshot, root) = found.ok_or_else(|| Refusal::missing("job", id))?;
    let entry = |candidate: &cowboy_types::job::Candidate| model::JobCandidate { runner: Hex(candidate.runner), weight: candidate.weight };
    Ok(Json(model::JobCandidates { candidates: snapshot.candidates.iter().map(entry).collect(), root: Hex(root) }))
}

pub(crate) async fn runners_list(State(app): State<App>, Asked(page): Asked<Page>) -> Answer<model::Runners> {
    let mut state = Snapshot::newest(&app);
    let (rows, height) = (state.params(&app.chain.params).await?.jobs, state.head.height);
    let addresses = state.ask(runners::addresses).await?;
    let wanted: Vec<Address> = page.of(addresses.iter().copied());
    let listed = state.ask(|world| runners_of(world, &rows, height, &wanted)).await?;
    Ok(Json(model::Runners { runners: listed, total_count: count(addresses.len()) }))
}

pub(crate) async fn runner(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Runner> {
    let mut state = Snapshot::newest(&app);
    let (rows, height) = (state.params(&app.chain.params).await?.jobs, state.head.height);
    let found = state.ask(|world| runner_of(world, &rows, height, address)).await?;
    found.map(Json).ok_or_else(|| Refusal::missing("runner", address))
}

pub(crate) async fn runner_jobs(State(app): State<App>, Named(address): Named<Address>, Asked(page): Asked<Page>) -> Answer<model::Jobs> {
    let mut state = Snapshot::newest(&app);
    let listed = runners::jobs_of(address);
    let (names, total_count) = state.ask(|world| Ok((listed.list(world, &[], page.end())?, listed.count(world)?))).await?;
    let ids: Vec<Hash> = page.of(names.iter().map(|name| jobs::job_of(name)));
    let jobs = summaries(&state, &ids).await?;
    Ok(Json(model::Jobs { jobs, total_count }))
}

pub(crate) async fn delegation(State(app): State<App>, Path((runner, delegator)): Path<(String, String)>) -> Answer<model::Delegation> {
    let (runner, delegator): (Address, Address) = (parse(&runner)?, parse(&delegator)?);
    let found = Snapshot::newest(&app)
        .ask(|world| {
            let Some(record) = runners::find(world, runner)? else { return Ok(None) };
            delegations::standing(world, runner, record.registered_at, delegator).map(Some)
        })
        .await?;
    let standing = found.ok_or_else(|| Refusal::missing("runner", runner))?;
    let leaving = standing.leaving.iter().map(|(amount, release)| model::DelegationLeaving { amount: amount.0, release: release.0 });
    Ok(Json(model::Delegation { runner: Hex(runner), delegator: Hex(delegator), amount: standing.amount.0, leaving: leaving.collect() }))
}

/// Jobs whose specifications are in memory at once: each may have more than a hundred kilobytes (decision 704).
const AT_ONCE: usize = 64;

async fn summaries(state: &Snapshot, ids: &[Hash]) -> Result<Vec<model::JobSummary>, Refusal> {
    let mut jobs = Vec::with_capacity(ids.len());
    for few in ids.chunks(AT_ONCE) {
        jobs.extend(state.anew().ask(|world| few_summaries(world, few)).await?);
    }
    Ok(jobs)
}

fn few_summaries(world: &World, ids: &[Hash]) -> Result<Vec<model::JobSummary>, Miss> {
    let keys: Vec<_> = ids.iter().flat_map(|id| [jobs::job_key(id), jobs::spec_key(id)]).collect();
    world.require(&keys)?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(job) = jobs::find(world, id)? {
            found.push(summary(&job, &jobs::spec(world, id)?));
        }
    }
    Ok(found)
}

fn summary(job: &Job, spec: &JobSpec) -> model::JobSummary {
    model::JobSummary {
        job_id: Hex(job.id),
        status: words::status(&job.status),
        kind: words::kind(&spec.kind),
        mode: spec.verification.mode.slug().to_owned(),
        submitter: Hex(job.submitter),
        submitted_at: job.submitted_at.0,
        max_price: spec.max_price.0,
    }
}

fn details(world: &World, id: &Hash) -> Result<Option<model::Job>, Miss> {
    let Some(job) = jobs::find(world, id)? else { return Ok(None) };
    let spec = jobs::spec(world, id)?;
    let output = |digest: &Hash| Ok(world.get(&jobs::output_key(id, digest))?.map(|bytes| Hex(bytes.to_vec())));
    let result = match &job.outcome {
        Some(outcome) => output(&outcome.output)?,
        None => None,
    };
    let shown = |members: &[Member]| members.iter().map(|member| member_of(member, &output)).collect::<Result<Vec<_>, Miss>>();
    let patron = jobs::patron(world, job.submitter)?;
    let (members, earlier) = (shown(&job.members)?, shown(&job.earlier)?);
    Ok(Some(model::Job {
        summary: summary(&job, &spec),
        tip: spec.tip.0,
        request: Hex(spec.request.to_vec()),
        hosts: spec.hosts.as_ref().map(|hosts| hosts.iter().map(|host| host.to_string()).collect()),
        max_return_bytes: spec.schema.max_return_bytes.0,
        expected_execution_ms: spec.schema.expected_execution_ms.0,
        data_format: spec.schema.data_format.to_string(),
        tee_required: spec.verification.is_tee_required,
        vote_field: spec.verification.vote_field.to_string(),
        checks: spec.verification.checks.iter().map(|check| words::check(check).to_owned()).collect(),
        snapshot: words::snapshot(&spec.verification.snapshot).to_owned(),
        required_runner_pool: spec.required_runner_pool.as_ref().map(|pool| Hex(pool.to_vec())),
        callback: spec.callback.as_ref().map(|callback| model::JobCallback {
            actor: Hex(callback.actor),
            handler: callback.handler.to_string(),
            correlation_id: callback.correlation.to_string(),
        }),
        committee: job.committee.0,
        threshold: job.threshold.0,
        candidates: job.candidates.0,
        candidates_root: Hex(job.candidates_root),
        draw_epoch: job.draw_epoch.0,
        draw_view: job.draw_view.0,
        seed: Hex(job.seed),
        attempt: job.attempt.0,
        excluded: job.excluded.iter().map(|runner| Hex(*runner)).collect(),
        passed: job.passed.iter().map(|runner| Hex(*runner)).collect(),
        members,
        earlier,
        aggregator: job.aggregator.map(Hex),
        commit_until: job.commit_until.0,
        reveal_from: job.reveal_from.0,
        reveal_until: job.reveal_until.0,
        status_until: job.status_until.0,
        escrow: job.escrow.0,
        result,
        result_of: job.outcome.as_ref().map(|outcome| Hex(outcome.runner)),
        verified_at: job.outcome.as_ref().map_or(0, |outcome| outcome.verified_at.0),
        over_at: job.over_at.0,
        agreeing: job.outcome.as_ref().map_or(0, |outcome| outcome.agreeing.0),
        gross: job.outcome.as_ref().map_or(0, |outcome| outcome.gross.0),
        reason: job.reason.to_string(),
        submitter_jobs: patron.jobs.0,
        submitter_failed_callbacks: patron.failed_callbacks.0,
        claims: job.claims.iter().map(claim_of).collect(),
        dispute_until: job.dispute_end().0,
        retrial_of: (job.retrial_of != Hash::ZERO).then_some(Hex(job.retrial_of)),
    }))
}

fn claim_of(claim: &Challenge) -> model::JobChallenge {
    model::JobChallenge {
        challenger: Hex(claim.challenger),
        runner: (claim.retrial == Hash::ZERO).then_some(Hex(claim.runner)),
        claim: claim.claim.to_string(),
        bond: claim.bond.0,
        at: claim.at.0,
        retrial: (claim.retrial != Hash::ZERO).then_some(Hex(claim.retrial)),
    }
}

fn member_of(member: &Member, output: &impl Fn(&Hash) -> Result<Option<Hex<Vec<u8>>>, Miss>) -> Result<model::JobMember, Miss> {
    Ok(model::JobMember {
        runner: Hex(member.runner),
        reputation: member.reputation.0,
        commitment: Hex(member.commitment),
        output: Hex(member.output),
        committed_at: member.committed_at.0,
        revealed_at: member.revealed_at.0,
        result: if member.output == Hash::ZERO || member.fault.0 != 0 { None } else { output(&member.output)? },
        compute_ms: member.usage.compute_ms.0,
        fault: member.fault.0,
        attested: member.is_attested,
        crashed: member.is_crashed,
        verdict: words::verdict(&member.verdict),
        paid: member.paid.0,
    })
}

/// The runners at these addresses. All records that each has are asked for at once: one after another, those that are there would be read anew for each
/// that is missing (decision 758).
fn runners_of(world: &World, rows: &Jobs, height: Height, addresses: &[Address]) -> Result<Vec<model::Runner>, Miss> {
    let keys_of = |runner: &Address| [runners::runner_key(*runner), runners::profile_key(*runner), tee::state::attestation_key(*runner)];
    let keys: Vec<Key> = addresses.iter().flat_map(keys_of).collect();
    world.require(&keys)?;
    addresses.iter().filter_map(|address| runner_of(world, rows, height, *address).transpose()).collect()
}

fn runner_of(world: &World, rows: &Jobs, height: Height, address: Address) -> Result<Option<model::Runner>, Miss> {
    let Some(runner) = runners::find(world, address)? else { return Ok(None) };
    let profile = runners::profile(world, address)?;
    let kinds = [JobKind::Llm, JobKind::Http, JobKind::Mcp, JobKind::Custom, JobKind::Container];
    Ok(Some(model::Runner {
        address: Hex(address),
        stake: runner.stake.0,
        delegated: runner.delegated.0,
        delegated_counted: Some(handlers::effective_stake(rows, &runner).0.saturating_sub(runner.stake.0)),
        unbonding: runner.unbonding.iter().map(|tranche| tranche.amount.0).sum(),
        health: handlers::health(rows, &runner, height, &MARKET.read(world)?).to_owned(),
        reputation: reputation::points(rows, &runner, height),
        active_jobs: runner.active_jobs.0,
        jobs_done: runner.jobs_done.0,
        jobs_failed: runner.jobs_failed.0,
        probation_until: runner.probation_until.0,
        probations: runner.probations.0,
        crashes: runner.crashes.0,
        flagged: runner.is_flagged,
        attestation: tee::state::attestation(world, address)?.filter(|proven| proven.valid_until >= height).map(|proven| {
            model::RunnerEnvironment {
                environment: proven.environment.slug().to_owned(),
                measurement: Hex(proven.measurement.to_vec()),
                valid_until: proven.valid_until.0,
            }
        }),
        registered_at: runner.registered_at.0,
        last_heartbeat: runner.heartbeat_at.0,
        result_key: Hex(runner.result_key.0.to_vec()),
        rate_card: model::RateCard {
            llm_input_token: runner.rates.llm_input_token.0,
            llm_output_token: runner.rates.llm_output_token.0,
            http_request_base: runner.rates.http_request_base.0,
            compute_second: runner.rates.compute_second.0,
            memory_mb: runner.rates.memory_mb.0,
            min_job_value: runner.rates.min_job_value.0,
            max_job_value: runner.rates.max_job_value.0,
            supported_models: profile.models.iter().map(|model| Hex(*model)).collect(),
        },
        capabilities: model::Capabilities {
            job_types: kinds.iter().filter(|kind| runner.kinds & kind.bit() != 0).map(words::kind).collect(),
            tee_support: environments::ENVIRONMENTS
                .iter()
                .filter(|(_, bit)| runner.tee & bit != 0)
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            regions: profile.regions.iter().map(ToString::to_string).collect(),
            http_domains: profile.domains.iter().map(ToString::to_string).collect(),
            max_concurrent_jobs: runner.max_concurrent.0,
            endpoint: profile.endpoint.to_string(),
            containers: profile.containers.map(|given| model::ContainerCapacity {
                cpu_millicores: given.cpu_millicores.0,
                memory_mib: given.memory_mib.0,
                scratch_mib: given.scratch_mib.0,
                volumes: given.volumes,
                platforms: PLATFORMS.iter().filter(|(_, bit)| given.platforms & bit != 0).map(|(name, _)| (*name).to_owned()).collect(),
            }),
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_params::Params;

    /// Decision 758: a list of runners asks for all their records at once.
    #[test]
    fn runners_are_read_together() {
        let addresses: Vec<Address> = (0..100).map(|number| Address([number; 20])).collect();
        let missed = runners_of(&World::default(), &Params::GENESIS.jobs, Height(1), &addresses).expect_err("nothing is here yet");
        assert_eq!(missed.0.len(), 300);
    }
}
