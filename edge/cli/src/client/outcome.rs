//! `cowboy actor execute --wait`: the jobs of a call and of the callbacks that they lead to, until none is open.

use super::{job, session::Session};
use cowboy_api::{HexHash, error::NOT_FOUND, model};
use cowboy_chain::nested_id;
use cowboy_console::failure::Failure;
use cowboy_system::dispatcher::handlers::job_id;
use cowboy_types::Height;
use serde::Serialize;
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Time between two questions to the node.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// What came of a call that waits for jobs.
#[derive(Debug, Default, Serialize)]
pub(super) struct Outcome {
    /// The jobs, the oldest first.
    pub(super) jobs: Vec<model::Job>,
    /// The deliveries of their answers, in the same order.
    pub(super) callbacks: Vec<model::Receipt>,
}

impl Outcome {
    /// Follows a call until its jobs are over and their answers delivered, and prints each job then.
    pub(super) async fn of(session: &Session, call: &model::Receipt, patience: Duration) -> Result<Self, Failure> {
        let mut outcome = Self { jobs: Vec::new(), callbacks: Vec::new() };
        let mut waiting: VecDeque<model::Job> = jobs_of(session, call).await?.into();
        let began = Instant::now();
        while let Some(job) = waiting.pop_front() {
            let (job, callback) = ended(session, job, began + patience).await?;
            session.output.progress(job::line(&job));
            if let Some(callback) = &callback {
                waiting.extend(jobs_of(session, callback).await?);
            }
            outcome.jobs.push(job);
            outcome.callbacks.extend(callback);
        }
        Ok(outcome)
    }

    /// What the method returned in the end: null where the last answer brought nothing more.
    pub(super) fn result(&self) -> serde_json::Value {
        let last = self.callbacks.iter().max_by_key(|receipt| (receipt.block_height, receipt.index));
        last.map(|receipt| receipt.return_value.clone()).unwrap_or_default()
    }

    /// The first delivery of an answer that failed.
    pub(super) fn failed(&self) -> Option<&model::Receipt> {
        self.callbacks.iter().find(|receipt| receipt.status == "failed")
    }
}

/// Waits until a job is over and its answer delivered, where it asks for one.
async fn ended(session: &Session, mut job: model::Job, until: Instant) -> Result<(model::Job, Option<model::Receipt>), Failure> {
    loop {
        if job::is_over(&job) {
            let receipt = match job.callback {
                Some(_) => found(session.client.receipt(&nested_id(&job.summary.job_id.0, 0)).await.map_err(Failure::from))?,
                None => return Ok((job, None)),
            };
            if receipt.is_some() {
                return Ok((job, receipt));
            }
        }
        if Instant::now() > until {
            return Err(Failure::argument(
                format!("job {} is {}, and its result is not delivered yet", job.summary.job_id, job.summary.status),
                "wait longer with --timeout, or check it with `cowboy job status`",
            ));
        }
        tokio::time::sleep(ASK_EVERY).await;
        job = job::get(session, job.summary.job_id).await?;
    }
}

/// What the node has of a name; nothing where it does not know the name.
fn found<T>(answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Api(error)) if error.code == NOT_FOUND.code => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The jobs that a delivery submitted: their ids follow from its own.
pub(super) async fn jobs_of(session: &Session, delivery: &model::Receipt) -> Result<Vec<model::Job>, Failure> {
    let mut jobs = Vec::new();
    loop {
        let number = u64::try_from(jobs.len()).unwrap_or(u64::MAX);
        let id = job_id(&delivery.tx_hash.0, Height(delivery.block_height), number);
        match found(job::get(session, HexHash::from(id)).await)? {
            Some(job) => jobs.push(job),
            None => return Ok(jobs),
        }
    }
}
