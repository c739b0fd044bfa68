//! `cowboy actor execute --wait`: the jobs and sleeps of a call and of the deliveries that they lead to, until none is open.

use super::{job, session::Session};
use cowboy_api::{HexHash, error::NOT_FOUND, model};
use cowboy_chain::nested_id;
use cowboy_console::failure::Failure;
use cowboy_system::dispatcher::handlers::job_id;
use cowboy_types::{Address, Height};
use serde::Serialize;
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Time between two questions to the node.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// Under this and its id the SDK keeps what a method waits for.
const AWAITED: &[u8] = b"__await:";

/// What a method waits for.
#[derive(Debug)]
pub(super) enum Wait {
    /// A job.
    Job(Box<model::Job>),
    /// A timer that continues the method: it sleeps, or its job has a deadline.
    Timer(Box<model::Timer>),
}

/// What came of a call that waits.
#[derive(Debug, Default, Serialize)]
pub(super) struct Outcome {
    /// The jobs, the oldest first.
    pub(super) jobs: Vec<model::Job>,
    /// The deliveries that continued the method, in the order of what it waited for.
    pub(super) callbacks: Vec<model::Receipt>,
}

impl Outcome {
    /// Follows a call until nothing that it waits for is open and the answers are delivered, and prints each job then.
    pub(super) async fn of(session: &Session, waits: Vec<Wait>, patience: Duration) -> Result<Self, Failure> {
        let mut outcome = Self::default();
        let mut waiting = VecDeque::from(waits);
        let until = Instant::now() + patience;
        while let Some(wait) = waiting.pop_front() {
            let delivered = match wait {
                Wait::Job(job) => {
                    let (job, callback) = ended(session, *job, until).await?;
                    session.output.progress(job::line(&job));
                    outcome.jobs.push(job);
                    callback
                }
                Wait::Timer(timer) => fired(session, &timer, until).await?,
            };
            if let Some(delivery) = delivered {
                waiting.extend(waits_of(session, &delivery).await?);
                outcome.callbacks.push(delivery);
            }
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

/// What a delivery waits for in a line; nothing where it waits for nothing.
pub(super) fn describe(waits: &[Wait]) -> Option<String> {
    let jobs = waits.iter().filter(|wait| matches!(wait, Wait::Job(_))).count();
    let heights: Vec<String> = waits.iter().filter_map(|wait| Some(height_of(wait)?.to_string())).collect();
    let parts = [
        (jobs > 0).then(|| format!("Waits for jobs: {jobs}")),
        (!heights.is_empty()).then(|| format!("Sleeps until block: {}", heights.join(", "))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn height_of(wait: &Wait) -> Option<u64> {
    match wait {
        Wait::Job(_) => None,
        Wait::Timer(timer) => Some(timer.height),
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

/// Waits until a timer has fired; nothing where it was cancelled, because the answer came before the deadline.
async fn fired(session: &Session, timer: &model::Timer, until: Instant) -> Result<Option<model::Receipt>, Failure> {
    loop {
        // Looked at before the receipt: a timer that fires in between has one.
        let is_set = timers_of(session, &timer.actor.0).await?.iter().any(|other| other.id == timer.id);
        // A timer that fires once gives its receipt its name.
        let receipt = found(session.client.receipt(&timer.id.0).await.map_err(Failure::from))?;
        if receipt.is_some() || !is_set {
            return Ok(receipt);
        }
        if Instant::now() > until {
            return Err(Failure::argument(
                format!("the method sleeps until block {}, which is not there yet", timer.height),
                "wait longer with --timeout, or check it with `cowboy actor timers`",
            ));
        }
        tokio::time::sleep(ASK_EVERY).await;
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

/// What a delivery waits for: the jobs that it submitted, and the timers of methods that it left.
pub(super) async fn waits_of(session: &Session, delivery: &model::Receipt) -> Result<Vec<Wait>, Failure> {
    let mut waits: Vec<Wait> = jobs_of(session, delivery).await?.into_iter().map(|job| Wait::Job(Box::new(job))).collect();
    let done: Option<model::StateChanges> =
        found(session.client.get(&format!("/transaction/{}/changes", delivery.tx_hash)).await.map_err(Failure::from))?;
    for (actor, id) in left(&done.map(|done| done.changes).unwrap_or_default()) {
        let timers = timers_of(session, &actor).await?;
        waits.extend(timers.into_iter().filter(|timer| resumes(timer, &id)).map(|timer| Wait::Timer(Box::new(timer))));
    }
    Ok(waits)
}

/// The methods that a delivery left at an await: their actors, and their ids.
fn left(changes: &[model::StateChange]) -> Vec<(Address, Vec<u8>)> {
    let id = |change: &model::StateChange| {
        change.after.as_ref()?;
        Some((change.address.0, change.key_bytes.as_ref()?.0.strip_prefix(AWAITED)?.to_vec()))
    };
    changes.iter().filter_map(id).collect()
}

/// Whether a timer continues the method of this id: its payload names it.
fn resumes(timer: &model::Timer, id: &[u8]) -> bool {
    timer.every.is_none() && !id.is_empty() && timer.payload.0.windows(id.len()).any(|part| part == id)
}

async fn timers_of(session: &Session, actor: &Address) -> Result<Vec<model::Timer>, Failure> {
    let timers: model::Timers = session.client.get(&format!("/timers/{actor}")).await?;
    Ok(timers.timers)
}

/// The jobs that a delivery submitted: their ids follow from its own.
async fn jobs_of(session: &Session, delivery: &model::Receipt) -> Result<Vec<model::Job>, Failure> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_api::Hex;

    #[test]
    fn a_method_that_sleeps_is_found_by_what_it_keeps() {
        let change = |key: &[u8], is_kept: bool| model::StateChange {
            address: Hex(Address([7; 20])),
            key_bytes: Some(Hex(key.to_vec())),
            before: None,
            after: is_kept.then(|| Hex(vec![1])),
            balance_before: None,
            balance_after: None,
        };
        let changes = [change(b"count", true), change(b"__await:\x01\x02", true), change(b"__await:\x03", false)];
        assert_eq!(left(&changes), [(Address([7; 20]), vec![1, 2])]);

        let timer = |payload: &[u8], every| model::Timer {
            id: HexHash::from(cowboy_types::Hash([1; 32])),
            actor: Hex(Address([7; 20])),
            height: 9,
            handler: "ask__resume".to_owned(),
            every,
            failures: 0,
            is_paused: false,
            payload: Hex(payload.to_vec()),
            fee_payer: Hex(Address([7; 20])),
            gas_limit: 0,
            cells_limit: 0,
            expires_at: 0,
        };
        assert!(resumes(&timer(b"..\x01\x02..", None), &[1, 2]));
        assert!(!resumes(&timer(b"..\x01..", None), &[1, 2]), "another method");
        assert!(!resumes(&timer(b"..\x01\x02..", Some(5)), &[1, 2]), "an interval of the actor's own");
        assert!(!resumes(&timer(b"..", None), &[]));
        assert_eq!(describe(&[Wait::Timer(Box::new(timer(b"", None)))]).as_deref(), Some("Sleeps until block: 9"));
        assert_eq!(describe(&[]), None);
    }
}
