//! One execution: a job's work, and its result on the disk.

use crate::{
    behaviour::{Assignment, Behaviour},
    execute::{
        self, Done, Executors, Fault, Limits, Task,
        container::{ContainerSecrets, ContainerTask},
    },
    journal::{Journal, JournalError, Record},
    metrics::Board,
    report::{Environment, OwnedReport},
    request::Request,
    secrets::Secrets,
    volumes::{OfJob, Volumes},
};
use cowboy_api::Hex;
use cowboy_params::Containers;
use cowboy_types::{
    Address, Hash,
    job::{JobKind, JobSpec, Mode},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// One execution.
pub(crate) struct Work {
    pub(crate) id: Hash,
    pub(crate) spec: Arc<JobSpec>,
    pub(crate) assignment: Assignment,
    pub(crate) behaviour: Arc<dyn Behaviour>,
    /// Why the runner does not do the work, and reports a fault in the place of a result.
    pub(crate) refusal: Option<&'static str>,
    pub(crate) executors: Executors,
    pub(crate) journal: Arc<Journal>,
    pub(crate) board: Arc<Board>,
    pub(crate) limits: Limits,
    /// See [`Task::hosts`].
    pub(crate) hosts: Option<Vec<String>>,
    pub(crate) environment: Environment,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) volumes: Arc<Volumes>,
    /// How long keeping what a container wrote may take.
    pub(crate) time_to_keep: Duration,
    /// Who submitted the job.
    pub(crate) submitter: Address,
    /// The rows of containers.
    pub(crate) containers: Containers,
    /// The height before which the result is due.
    pub(crate) commit_until: u64,
    pub(crate) height: u64,
}

/// What came of a job, and whether it is on the disk.
pub(crate) type Executed = (Hash, Record, Result<(), JournalError>);

/// Keeps what came of a job.
pub(crate) async fn keep(journal: Arc<Journal>, id: Hash, record: Record) -> Executed {
    let kept = journal.keep(id, record.clone()).await;
    (id, record, kept)
}

impl Work {
    /// Does the work, and keeps what came of it.
    pub(crate) async fn run(self) -> Executed {
        let id = self.id;
        let kind = execute::name(&self.spec.kind);
        let done = match self.refusal {
            Some(reason) => Done::failed(Fault::External(reason.into())),
            None => match Request::read(&self.spec.request) {
                Ok(request) => self.execute(request).await,
                Err(malformed) => Done::failed(Fault::from(malformed)),
            },
        };
        let (outcome, took) = (if done.result.is_ok() { "done" } else { "fault" }, done.took_ms);
        if let Err(fault) = &done.result {
            // The chain has only the fault's number: this is where its cause can be found.
            tracing::warn!(job = %id, kind, %fault, "no result");
        }
        let done = Done { result: done.result.map(|output| self.behaviour.result(&self.assignment, output)), ..done };
        let mut report = OwnedReport::of(done, self.spec.bounds.wall_ms.0);
        if let Some(result) = &report.result {
            report.attestation = Hex(self.environment.statement(&id, &self.spec, &result.0));
        }
        let executed = keep(self.journal, id, Record { report, height: self.height }).await;
        self.board.metrics.executed(kind, outcome, took);
        executed
    }

    /// Does the work with the values of the secrets that the job names. Neither its result nor its message contains one.
    async fn execute(&self, mut request: Request) -> Done {
        let mut container = match self.container() {
            Ok(container) => container,
            Err(fault) => return Done::failed(fault),
        };
        if !request.names_secrets() {
            return self.executors.run(&self.task(request, container, self.limits.wall)).await;
        }
        // What committees take is a part of the job's time: the chain does not wait longer for it.
        let began = Instant::now();
        let obtained = tokio::time::timeout(self.limits.wall, self.secrets.obtain(&self.id, &self.spec, self.submitter)).await;
        let late = || Fault::External("the job's time was over before the committee had answered".into());
        let values = match obtained.unwrap_or_else(|_| Err(late())) {
            Ok(values) => values,
            Err(fault) => return Done::failed(fault),
        };
        let left = self.limits.wall.saturating_sub(began.elapsed());
        if let Err(fault) = values.put_into(&mut request.fields) {
            return Done::failed(fault);
        }
        if let Some(container) = &mut container {
            container.secrets = values.of_container();
        }
        values.kept_out_of(self.executors.run(&self.task(request, container, left)).await)
    }

    /// The job's container, where it has one.
    fn container(&self) -> Result<Option<ContainerTask>, Fault> {
        if self.spec.kind != JobKind::Container {
            return Ok(None);
        }
        let job = ContainerTask::read(&self.spec.request, &self.containers)?;
        let volumes = OfJob::new(self.volumes.clone(), self.id, self.submitter, job.mounts.clone(), self.time_to_keep);
        Ok(Some(ContainerTask {
            job,
            id: self.id,
            runner: self.environment.runner,
            submitter: self.submitter,
            timeout_block: self.commit_until,
            seed: self.spec.seed.0,
            held_share: self.containers.held_share,
            secrets: ContainerSecrets::default(),
            volumes: Some(Arc::new(Arc::new(volumes))),
        }))
    }

    fn task(&self, request: Request, container: Option<ContainerTask>, wall: Duration) -> Task {
        Task {
            request,
            hosts: self.hosts.clone(),
            limits: Limits { wall, ..self.limits.clone() },
            format: self.spec.schema.data_format.to_string(),
            is_semantic: self.spec.verification.mode == Mode::SemanticSimilarity,
            model: self.spec.model,
            container,
        }
    }
}
