//! A job without a chain: the same reading, executors and rules, for whoever writes one.

use crate::{
    config::Config,
    execute::{
        Done, Executors, Limits, NotReady, Task, Usage,
        container::{ContainerSecrets, ContainerTask},
    },
    request::{Malformed, Request},
    secrets::Values,
};
use cowboy_host::clock;
use cowboy_params::Params;
use cowboy_system::offchain::{
    container::ContainerJob,
    judge::{self, Rules, Submission},
    lower::{self, Offer},
    payment,
};
use cowboy_system::secrets::jobs as secrets;
use cowboy_types::{
    Address, Hash,
    error::row,
    job::{JobKind, JobSpec, Mode},
    keccak256,
    units::Height,
};
use serde::Serialize;

pub use crate::secrets::Given;

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The result: text where it is text, else hex with `0x`. Absent where there is none.
    pub result: Option<String>,
    /// Why there is none.
    pub fault: Option<String>,
    /// Whether the chain would take it, as far as one result shows: format, checks, length.
    pub is_valid: bool,
    /// What it took.
    pub usage: Usage,
    /// What this runner would ask, in base units, within the job's price.
    pub price: u64,
}

/// Why a job does not run.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// The chain would not take it.
    #[error("the chain would refuse the job: {what} {mistake}\n  why: {why}\n  fix: {fix}", what = .0.what, mistake = .1, why = .0.why, fix = .0.fix)]
    Refused(&'static cowboy_types::error::ErrorRow, lower::Mistake),
    /// Nobody can read it: a field is unknown, stands in two places, or is missing.
    #[error("the chain would refuse the job: {0}")]
    Malformed(#[from] Malformed),
    /// An executor has not what it needs.
    #[error(transparent)]
    NotReady(#[from] NotReady),
    /// The configuration has no executor for it.
    #[error("the configuration has nothing for {} jobs", .0.name())]
    OtherWork(JobKind),
    /// A secret of the job has no value: the job would be sent without it.
    #[error("the job has the secret {0}, and no value is given for it")]
    NoValue(String),
    /// A value is not for a secret of the job.
    #[error("a value is given for {0}, which is none of the job's secrets")]
    NoSecret(String),
}

/// Runs a submission as this runner would, once, with these values of its secrets.
pub async fn run(config: &Config, submission: &[u8], given: &Given) -> Result<Answer, LocalError> {
    let params = Params::GENESIS;
    let offer = Offer::reading(&params, Address::ZERO);
    let mut request = Request::read(submission)?;
    let (read, spec) = lower::decoded(submission).and_then(|submission| lower::read(&offer, &submission)).map_err(refused)?;
    let wanted = secrets::checked(&read).map_err(refused)?;
    secrets::require_used(&read, &wanted).map_err(refused)?;
    if !config.kinds().contains(&spec.kind) {
        return Err(LocalError::OtherWork(spec.kind));
    }
    require_values(&wanted, given)?;
    let values = match Values::given(&wanted, given) {
        Ok(values) => values,
        Err(fault) => return Ok(answer(config, &params, &spec, Done::failed(fault))),
    };
    if let Err(fault) = values.put_into(&mut request.fields) {
        return Ok(answer(config, &params, &spec, Done::failed(fault)));
    }
    let executors = Executors::of(config)?;
    executors.prepare().await?;
    let container = match spec.kind {
        JobKind::Container => match ContainerTask::read(submission, &params.containers) {
            Ok(job) => Some(ContainerTask { secrets: values.of_container(), ..of_nobody(job, submission, &spec, &params) }),
            Err(fault) => return Ok(answer(config, &params, &spec, Done::failed(fault))),
        },
        _ => None,
    };
    let task = Task {
        request,
        hosts: None,
        limits: Limits::of(&spec, config),
        format: spec.schema.data_format.to_string(),
        is_semantic: spec.verification.mode == Mode::SemanticSimilarity,
        model: spec.model,
        container,
    };
    let done = values.kept_out_of(executors.run(&task).await);
    Ok(answer(config, &params, &spec, done))
}

fn refused(mistake: lower::Mistake) -> LocalError {
    LocalError::Refused(row(mistake.abort.code), mistake)
}

/// Each secret of the job has a value, and each value is of one.
fn require_values(wanted: &[secrets::Asked], given: &Given) -> Result<(), LocalError> {
    if let Some(asked) = wanted.iter().find(|asked| !given.contains_key(&asked.as_name)) {
        return Err(LocalError::NoValue(asked.as_name.clone()));
    }
    match given.keys().find(|name| !wanted.iter().any(|asked| asked.as_name == **name)) {
        Some(name) => Err(LocalError::NoSecret(name.clone())),
        None => Ok(()),
    }
}

/// A container whose job is on no chain: its id is the hash of the submission.
fn of_nobody(job: ContainerJob, submission: &[u8], spec: &JobSpec, params: &Params) -> ContainerTask {
    let id = keccak256(&[submission]);
    let (runner, submitter, seed) = (Address::ZERO, Address::ZERO, spec.seed.0);
    let held_share = params.containers.held_share;
    ContainerTask { job, id, runner, submitter, timeout_block: 0, seed, held_share, secrets: ContainerSecrets::default(), volumes: None }
}

fn answer(config: &Config, params: &Params, spec: &JobSpec, done: Done) -> Answer {
    let price = payment::price(&config.rates.card(), &spec.kind, &(&done.usage).into()).min(spec.max_price);
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).map_or_else(|_| format!("0x{}", hex::encode(bytes)), str::to_owned);
    let (result, fault) = match &done.result {
        Ok(bytes) => (Some(text(bytes)), None),
        Err(fault) => (None, Some(fault.to_string())),
    };
    let is_valid = done.result.as_ref().is_ok_and(|bytes| is_valid(params, spec, bytes));
    Answer { result, fault, is_valid, usage: done.usage, price: price.0 }
}

/// Whether the chain's own rule takes the result as one of those that agree.
fn is_valid(params: &Params, spec: &JobSpec, output: &[u8]) -> bool {
    let rules = Rules {
        threshold: 1,
        submitted_seconds: clock::now().as_secs(),
        similarity: params.jobs.similarity_default,
        embedding_model: Hash::ZERO,
        entropy: params.jobs.entropy_min,
    };
    let submission = Submission { output, committed_at: Height::ZERO, is_attested: true };
    judge::judge(spec, &[submission], &rules).accepted.is_some()
}
