//! Answers: messages of the Result Verifier to the requester, in a later block, paid by what was held for them (002 §3; decision 129).

use super::state;
use cowboy_state::{Miss, World};
use cowboy_types::cbor::{self, Value};
use cowboy_types::job::{Callback, Job, JobSpec};
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, Hash, actors};

/// The version of a failure's form.
const FAILURE_VERSION: u64 = 1;

/// Puts a job's answer behind those that wait, where it asks for one.
pub(super) fn queue(world: &mut World, job: &Job, spec: &JobSpec) -> Result<(), Miss> {
    if spec.callback.is_some() { state::queue_callback(world, &job.id) } else { Ok(()) }
}

/// The answer that has waited longest: its name in the queue, and its job.
pub fn first(world: &World) -> Result<Option<(Vec<u8>, Hash)>, Miss> {
    let names = state::callbacks().list(world, &[], 1)?;
    Ok(names.first().map(|name| (name.to_vec(), state::job_of(name))))
}

/// How many answers wait.
pub fn waiting(world: &World) -> Result<u64, Miss> {
    state::callbacks().count(world)
}

/// An answer that is taken out of the queue to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The job.
    pub job: Hash,
    /// The requester, who gets back what the delivery does not use.
    pub payer: Address,
    /// Where it goes.
    pub callback: Callback,
    /// What the handler receives.
    pub payload: Vec<u8>,
    /// CBY that were held for it, and are the deliverer's now.
    pub held: Amount,
    /// Whether its actor belongs to another account by now: then it is not delivered, and has no payload (decision 764).
    pub is_foreign: bool,
}

/// Whether an answer goes to another account's actor: the requester owned it at the submission, and handed it on.
fn is_foreign(world: &World, job: &Job, callback: &Callback) -> Result<bool, Miss> {
    let owner = world.actor(callback.actor)?.map(|actor| actor.owner);
    Ok(callback.actor != job.submitter && owner.is_some_and(|owner| owner != job.submitter))
}

/// Takes an answer out of the queue, and what was held for it out of the Dispatcher.
pub fn take(world: &mut World, name: &[u8], id: &Hash) -> Result<Answer, Miss> {
    let mut job = state::find(world, id)?.expect("a job with an answer under way is not forgotten");
    let spec = state::spec(world, id)?;
    let callback = spec.callback.clone().expect("an answer waits only where one was asked for");
    let is_foreign = is_foreign(world, &job, &callback)?;
    let payload = if is_foreign { Vec::new() } else { payload(world, &job, &spec, &callback)? };
    state::callbacks().remove(world, name)?;
    let held = std::mem::take(&mut job.callback_held);
    let was_there = world.debit(Address::system(super::NUMBER), held)?;
    assert!(was_there, "the Dispatcher holds what its jobs do");
    world.write(state::job_key(id), &job);
    Ok(Answer { job: *id, payer: job.submitter, callback, payload, held, is_foreign })
}

/// What a handler receives: a canonical CBOR map, in the published SDK's form.
fn payload(world: &World, job: &Job, spec: &JobSpec, callback: &Callback) -> Result<Vec<u8>, Miss> {
    let (status, result) = match &job.outcome {
        Some(outcome) => ("ok", result_value(&spec.schema.data_format, &state::output(world, &job.id, &outcome.output)?)),
        None => {
            let failure = Value::map([
                ("kind", Value::text("job_failed")),
                ("v", Value::uint(FAILURE_VERSION)),
                ("job_id", Value::Bytes(job.id.0.to_vec())),
                ("reason", Value::text(job.reason.to_string())),
                ("attempts", Value::uint(job.attempt.0 + 1)),
            ]);
            ("failed", failure)
        }
    };
    let answer = Value::map([
        ("cid", Value::text(callback.correlation.to_string())),
        ("result", result),
        ("reply_handler", Value::text(callback.handler.to_string())),
        ("job_id", Value::Bytes(job.id.0.to_vec())),
        ("status", Value::text(status)),
        ("context", Value::Bytes(callback.context.to_vec())),
    ]);
    Ok(answer.encode())
}

/// A result as the handler sees it: a CBOR value where that was asked for, text where it is text, bytes otherwise.
fn result_value(format: &str, bytes: &[u8]) -> Value {
    if format == "cbor"
        && let Ok(value) = cbor::decode(bytes)
    {
        return value;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if format != "binary" => Value::text(text),
        _ => Value::Bytes(bytes.to_vec()),
    }
}

/// Counts a handler that failed on its answer: runners may look at it before they work for its actor (002 Security).
pub fn count_failure(world: &mut World, payer: Address) -> Result<(), Miss> {
    let mut patron = state::patron(world, payer)?;
    patron.failed_callbacks = Count(patron.failed_callbacks.0.saturating_add(1));
    world.write(state::patron_key(payer), &patron);
    Ok(())
}

/// Who delivers answers.
pub const SENDER: Address = Address::system(actors::VERIFIER);
