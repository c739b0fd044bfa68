//! Doing a job: one executor for each kind of work, behind one trait.
//!
//! An executor has no say in what it is paid, and no access to the chain. It gets a request and its limits, and answers bytes or a
//! fault that the chain knows (002 §6).

pub mod container;
pub mod custom;
mod documents;
pub(crate) mod echo;
mod expressions;
mod extract;
pub mod guard;
mod html;
pub mod http;
pub mod llm;
pub mod mcp;
mod paths;
#[cfg(test)]
mod readings;
mod schema;

use crate::{
    config::Config,
    request::{Malformed, Request},
};
use cowboy_host::clock::as_ms;
use cowboy_system::offchain::{FAULT_ACTOR, FAULT_EXTERNAL, FAULT_IMPOSSIBLE};
use cowboy_types::{
    job::{self, JobKind, JobSpec},
    units::Count,
};
use futures::{FutureExt as _, future::BoxFuture};
use serde::{Deserialize, Serialize};
use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

/// What one job may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time in all, waiting included.
    pub wall: Duration,
    /// Bytes of a result.
    pub result_bytes: usize,
    /// Tokens into a model; zero where the job does not say.
    pub input_tokens: u64,
    /// Tokens out of it.
    pub output_tokens: u64,
    /// Mebibytes of memory; zero where the job does not say.
    pub memory_mb: u64,
}

impl Limits {
    /// What a job asks for, within what the runner gives.
    pub fn of(spec: &JobSpec, config: &Config) -> Self {
        let wall_ms = spec.bounds.wall_ms.0.min(config.runner.max_wall_ms);
        Self {
            wall: Duration::from_millis(wall_ms),
            result_bytes: usize::try_from(spec.schema.max_return_bytes.0).unwrap_or(usize::MAX),
            input_tokens: spec.bounds.input_tokens.0,
            output_tokens: spec.bounds.output_tokens.0,
            memory_mb: spec.bounds.memory_mb.0,
        }
    }
}

/// What a runner says it used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens into a model.
    pub input_tokens: u64,
    /// Tokens out of it.
    pub output_tokens: u64,
    /// Web requests and calls of tools.
    pub requests: u64,
    /// Milliseconds of work.
    pub compute_ms: u64,
    /// Mebibytes of memory.
    pub memory_mb: u64,
}

impl From<&Usage> for job::Usage {
    fn from(usage: &Usage) -> Self {
        Self {
            input_tokens: Count(usage.input_tokens),
            output_tokens: Count(usage.output_tokens),
            requests: Count(usage.requests),
            compute_ms: Count(usage.compute_ms),
            memory_mb: Count(usage.memory_mb),
        }
    }
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Nobody can do the job: it was written wrongly.
    #[error("the job cannot be done by anybody: {0}")]
    Actor(String),
    /// What the job needs was not there.
    #[error("something outside is missing: {0}")]
    External(String),
    /// The job's bounds are too tight for it.
    #[error("the job's bounds are too tight: {0}")]
    Impossible(String),
}

impl Fault {
    /// The fault with this number.
    pub(crate) fn of(number: u64, reason: String) -> Self {
        match number {
            FAULT_EXTERNAL => Self::External(reason),
            FAULT_IMPOSSIBLE => Self::Impossible(reason),
            _ => Self::Actor(reason),
        }
    }

    /// The number on the chain.
    pub fn number(&self) -> u64 {
        match self {
            Self::Actor(_) => FAULT_ACTOR,
            Self::External(_) => FAULT_EXTERNAL,
            Self::Impossible(_) => FAULT_IMPOSSIBLE,
        }
    }
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::Actor(malformed.0)
    }
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The result's bytes, or why there is none.
    pub result: Result<Vec<u8>, Fault>,
    /// What is billed.
    pub usage: Usage,
    /// Milliseconds that it took, waiting included.
    pub took_ms: u64,
}

impl Done {
    /// A fault before any work.
    pub fn failed(fault: Fault) -> Self {
        Self { result: Err(fault), usage: Usage::default(), took_ms: 0 }
    }
}

/// A job as an executor sees it.
#[derive(Clone, Debug)]
pub struct Task {
    /// What to do.
    pub request: Request,
    /// Patterns of the hosts that the asking actor's manifest lets a runner ask for it; nothing where an account asks, which any may be
    /// asked for (000 §9.3).
    pub hosts: Option<Vec<String>>,
    /// The limits of the work.
    pub limits: Limits,
    /// What a result must be, in the job's words: nothing, `text`, `json`, `cbor`, `binary`, or a JSON schema.
    pub format: String,
    /// Whether the answer needs an embedding beside it.
    pub is_semantic: bool,
    /// The model that the job names; zero for none.
    pub model: cowboy_types::Hash,
    /// The job's container, where it has one.
    pub container: Option<container::ContainerTask>,
}

impl Task {
    /// Refuses a result that is longer than the job takes.
    fn require_short(&self, result: &[u8]) -> Result<(), Fault> {
        let (found, most) = (result.len(), self.limits.result_bytes);
        if found > most {
            return Err(Fault::Impossible(format!("the result has {found} bytes or more, and may have {most}")));
        }
        Ok(())
    }
}

/// Does the jobs of one kind.
pub trait Executor: Send + Sync {
    /// The kind.
    fn kind(&self) -> JobKind;

    /// Whether what it needs is there, in words.
    fn check(&self) -> BoxFuture<'_, Result<String, String>>;

    /// Gets ready to execute; called once, before the runner offers the kind.
    fn prepare(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    /// Does one. Usage is counted even where it fails. Dropping the future ends all work on it.
    fn execute<'a>(&'a self, task: &'a Task, usage: &'a mut Usage) -> BoxFuture<'a, Result<Vec<u8>, Fault>>;
}

/// The executors of a runner.
#[derive(Clone)]
pub struct Executors(Arc<Vec<Box<dyn Executor>>>);

/// Why an executor cannot be made ready.
#[derive(Debug, thiserror::Error)]
#[error("[{kind}]: {reason}")]
pub struct NotReady {
    /// The table of the configuration.
    pub kind: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl Executors {
    /// Those that the configuration names.
    pub fn of(config: &Config) -> Result<Self, NotReady> {
        let mut executors: Vec<Box<dyn Executor>> = Vec::new();
        if let Some(settings) = &config.http {
            executors.push(Box::new(http::HttpExecutor::new(settings, Arc::new(guard::SystemLookup))?));
        }
        if let Some(settings) = &config.llm {
            executors.push(Box::new(llm::LlmExecutor::new(settings, config)?));
        }
        if !config.mcp.is_empty() {
            executors.push(Box::new(mcp::McpExecutor::new(&config.mcp)));
        }
        if !config.tools.is_empty() {
            executors.push(Box::new(custom::CustomExecutor::new(&config.tools)?));
        }
        if let Some(settings) = &config.container {
            executors.push(Box::new(container::ContainerExecutor::new(settings, config)?));
        }
        Ok(Self(Arc::new(executors)))
    }

    /// Whether what each of them needs is there, in words.
    pub async fn check(&self) -> Vec<(&'static str, Result<String, String>)> {
        let mut checked = Vec::new();
        for executor in self.0.iter() {
            checked.push((name(&executor.kind()), executor.check().await));
        }
        checked
    }

    /// Gets all of them ready.
    pub async fn prepare(&self) -> Result<(), NotReady> {
        for executor in self.0.iter() {
            executor.prepare().await.map_err(|reason| NotReady { kind: name(&executor.kind()), reason })?;
        }
        Ok(())
    }

    /// Does a job within its limits, whatever it does.
    pub async fn run(&self, task: &Task) -> Done {
        let began = Instant::now();
        let mut usage = Usage::default();
        let result = match self.0.iter().find(|executor| executor.kind() == task.request.kind) {
            Some(executor) => {
                // A defect of an executor costs the job that met it, and no other: without a report the job would wait for one until it is late.
                let working = AssertUnwindSafe(executor.execute(task, &mut usage)).catch_unwind();
                match tokio::time::timeout(time_of(task), working).await {
                    Ok(result) => result.unwrap_or_else(|_| Err(Fault::External("the runner itself broke off".into()))),
                    Err(_) => Err(late(&task.request.kind, task.limits.wall)),
                }
            }
            None => Err(Fault::External(format!("this runner does no {} jobs", task.request.kind.name()))),
        };
        let result = result.and_then(|bytes| task.require_short(&bytes).map(|()| bytes));
        let took_ms = as_ms(began.elapsed());
        // A container counts the time of processors.
        if task.request.kind != JobKind::Container {
            usage.compute_ms = took_ms;
        }
        Done { result, usage, took_ms }
    }
}

/// How long an executor may take. A container ends itself when its time is over, is then removed, and what it wrote is kept.
fn time_of(task: &Task) -> Duration {
    let keeping = task.container.as_ref().filter(|container| container.job.mounts.iter().any(|mount| mount.mode.writes()));
    let keeping = keeping.and_then(|container| container.volumes.as_ref()).map(|volumes| volumes.time_to_keep());
    match task.request.kind {
        JobKind::Container => task.limits.wall + container::REMOVAL + keeping.unwrap_or_default(),
        _ => task.limits.wall,
    }
}

/// Why a job was not done in time. A page or a server that does not answer is something outside, whatever the bounds.
fn late(kind: &JobKind, wall: Duration) -> Fault {
    let reason = format!("it was not done within {} ms", wall.as_millis());
    match kind {
        JobKind::Http | JobKind::Mcp => Fault::External(reason),
        JobKind::Llm | JobKind::Custom | JobKind::Container => Fault::Impossible(reason),
    }
}

/// The kind's name, for people and metrics.
pub(crate) fn name(kind: &JobKind) -> &'static str {
    match kind {
        JobKind::Llm => "llm",
        JobKind::Http => "http",
        JobKind::Mcp => "mcp",
        JobKind::Custom => "custom",
        JobKind::Container => "container",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An executor with a defect.
    struct Defective;

    impl Executor for Defective {
        fn kind(&self) -> JobKind {
            JobKind::Http
        }

        fn check(&self) -> BoxFuture<'_, Result<String, String>> {
            Box::pin(async { Ok(String::new()) })
        }

        fn execute<'a>(&'a self, _task: &'a Task, usage: &'a mut Usage) -> BoxFuture<'a, Result<Vec<u8>, Fault>> {
            Box::pin(async move {
                usage.requests = 1;
                panic!("as a test of defects wants it")
            })
        }
    }

    /// A panic of an executor is a fault of the runner, not of the job, and what was used until then is billed.
    #[tokio::test]
    async fn a_defect_is_a_fault() {
        let task = Task {
            request: Request { kind: JobKind::Http, fields: serde_json::Map::new() },
            hosts: None,
            limits: Limits { wall: Duration::from_secs(60), result_bytes: 100, input_tokens: 0, output_tokens: 0, memory_mb: 0 },
            format: String::new(),
            is_semantic: false,
            model: cowboy_types::Hash::ZERO,
            container: None,
        };
        let done = Executors(Arc::new(vec![Box::new(Defective)])).run(&task).await;
        assert_eq!((done.result.map_err(|fault| fault.number()), done.usage.requests), (Err(FAULT_EXTERNAL), 1));
    }
}
