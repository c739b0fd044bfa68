//! `cowboy actor execute --wait`: the jobs and sleeps of a call and of the deliveries that they lead to, until none is open.

use super::{job, session::Session};
use cowboy_api::{HexHash, error::NOT_FOUND, model};
use cowboy_chain::nested_id;
use cowboy_console::failure::Failure;
use cowboy_system::dispatcher::handlers::job_id;
use cowboy_types::{Address, Hash, Height};
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
    Timer(Alarm),
}

/// A timer that continues a method.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Alarm {
    actor: Address,
    /// The timer's id.
    pub(super) id: HexHash,
    /// When it fires; `None` where it does not wait any more: it has fired, or the answer came before.
    height: Option<u64>,
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
                Wait::Timer(alarm) => fired(session, &alarm, until).await?,
            };
            if let Some(delivery) = delivered {
                waiting.extend(waits_of(session, &delivery).await?);
                outcome.callbacks.push(delivery);
            }
        }
        Ok(outcome)
    }

    /// What the method returned in the end. Deliveries that leave it at its next await, and those that come after its end, as the answer of a
    /// job does whose deadline has passed, return null.
    pub(super) fn result(&self) -> serde_json::Value {
        let returned = self.callbacks.iter().filter(|receipt| !receipt.return_value.is_null());
        let last = returned.max_by_key(|receipt| (receipt.block_height, receipt.index));
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
    let is_over = jobs == 0 && heights.is_empty() && !waits.is_empty();
    let parts = [
        (jobs > 0).then(|| format!("Waits for jobs: {jobs}")),
        (!heights.is_empty()).then(|| format!("Sleeps until block: {}", heights.join(", "))),
        is_over.then(|| "Continues in a timer that has fired".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn height_of(wait: &Wait) -> Option<u64> {
    match wait {
        Wait::Job(_) => None,
        Wait::Timer(alarm) => alarm.height,
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
            return Err(Failure::refused(
                format!("job {} is {}, and its result is not delivered yet", job.summary.job_id, job.summary.status),
                "wait longer with --timeout, or check it with `cowboy job status`",
            ));
        }
        tokio::time::sleep(ASK_EVERY).await;
        job = job::get(session, job.summary.job_id).await?;
    }
}

/// Waits until a timer has fired; nothing where it was cancelled, because the answer came before the deadline.
async fn fired(session: &Session, alarm: &Alarm, until: Instant) -> Result<Option<model::Receipt>, Failure> {
    loop {
        // Looked at before the receipt: a timer that fires in between has one.
        let is_set = timers_of(session, &alarm.actor).await?.iter().any(|timer| timer.id == alarm.id);
        // A timer that fires once gives its receipt its name.
        let receipt = found(session.client.receipt(&alarm.id.0).await.map_err(Failure::from))?;
        if receipt.is_some() || !is_set {
            return Ok(receipt);
        }
        if Instant::now() > until {
            return Err(Failure::refused(
                format!("the method sleeps until block {}, which is not there yet", alarm.height.unwrap_or_default()),
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
    for left in left(&done.map(|done| done.changes).unwrap_or_default()) {
        let timers = timers_of(session, &left.actor).await?;
        waits.extend(left.alarms(&timers).into_iter().map(Wait::Timer));
    }
    Ok(waits)
}

/// A method that a delivery left at an await.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    actor: Address,
    id: Vec<u8>,
    /// The timer of its sleep or deadline.
    timer: Option<HexHash>,
}

impl Left {
    /// The timers that continue the method, of those that wait, and the one of its record: a short deadline may have passed by now.
    fn alarms(&self, waiting: &[model::Timer]) -> Vec<Alarm> {
        let alarm = |timer: &model::Timer| Alarm { actor: self.actor, id: timer.id, height: Some(timer.height) };
        let mut alarms: Vec<Alarm> = waiting.iter().filter(|timer| resumes(timer, &self.id)).map(alarm).collect();
        let gone = self.timer.filter(|id| alarms.iter().all(|alarm| alarm.id != *id));
        alarms.extend(gone.map(|id| Alarm { actor: self.actor, id, height: None }));
        alarms
    }
}

/// The methods that a delivery left at an await.
fn left(changes: &[model::StateChange]) -> Vec<Left> {
    let left = |change: &model::StateChange| {
        let record = cowboy_api::cbor::decode(&change.after.as_ref()?.0);
        let id = change.key_bytes.as_ref()?.0.strip_prefix(AWAITED)?.to_vec();
        let timer = record.and_then(|record| record["timer"].as_str()?.parse::<Hash>().ok()).map(HexHash::from);
        Some(Left { actor: change.address.0, id, timer })
    };
    changes.iter().filter_map(left).collect()
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
        // {"timer": 32 bytes}
        let record = [b"\xa1\x65timer\x58\x20".as_slice(), &[1; 32]].concat();
        let change = |key: &[u8], is_kept: bool| model::StateChange {
            address: Hex(Address([7; 20])),
            key_bytes: Some(Hex(key.to_vec())),
            before: None,
            after: is_kept.then(|| Hex(record.clone())),
            balance_before: None,
            balance_after: None,
        };
        let changes = [change(b"count", true), change(b"__await:\x01\x02", true), change(b"__await:\x03", false)];
        let id = HexHash::from(Hash([1; 32]));
        let found = left(&changes);
        assert_eq!(found, [Left { actor: Address([7; 20]), id: vec![1, 2], timer: Some(id) }]);

        let timer = |payload: &[u8], every| model::Timer {
            id,
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
        let alarm = |height| Alarm { actor: Address([7; 20]), id, height };
        assert_eq!(found[0].alarms(&[timer(b"..\x01\x02..", None)]), [alarm(Some(9))]);
        assert_eq!(found[0].alarms(&[]), [alarm(None)], "it has fired already");
        assert_eq!(describe(&[Wait::Timer(alarm(Some(9)))]).as_deref(), Some("Sleeps until block: 9"));
        assert_eq!(describe(&[Wait::Timer(alarm(None))]).as_deref(), Some("Continues in a timer that has fired"));
        assert_eq!(describe(&[]), None);
    }
}
