//! GET and HEAD: the handler runs on committed state (004 §8.3).

use crate::{refusal::Refusal, response::Answer, state::BlockState};
use bytes::Bytes;
use cowboy_chain::{
    Query,
    query::{QueryError, Question, Wants},
};
use cowboy_types::{Address, Cycles, error};
use hyper::StatusCode;
use std::sync::Arc;
use tokio::{runtime::Handle, sync::Semaphore};

/// Runs questions, so many at once.
pub(crate) struct Runner {
    permits: Arc<Semaphore>,
}

impl Runner {
    pub(crate) fn new(at_once: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(at_once)) }
    }

    /// What an actor's handler answers on this state.
    pub(crate) async fn ask(&self, state: Arc<BlockState>, question: Question) -> Result<Bytes, Refusal> {
        let Ok(permit) = self.permits.clone().acquire_owned().await else { return Err(Refusal::unavailable("the gateway is stopping")) };
        let runtime = Handle::current();
        // A handler may take milliseconds, in which no other request may wait for this thread.
        let ran = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            run(&runtime, &state, question)
        });
        ran.await.map_err(Refusal::unavailable)?
    }
}

fn run(runtime: &Handle, state: &BlockState, question: Question) -> Result<Bytes, Refusal> {
    let mut query = Query::new(state.at.clone(), question);
    let mut answers = Vec::new();
    loop {
        match query.advance(answers) {
            Wants::Done(answer) => return answer.result.map_err(|error| explain(&error)),
            Wants::Keys(keys) => {
                answers = match state.remembered(&keys) {
                    Some(found) => found,
                    None => runtime.block_on(state.fetch(keys))?,
                }
            }
        }
    }
}

/// A question to an actor's handler.
pub(crate) fn question(actor: Address, handler: &str, payload: Vec<u8>, cycles: u64) -> Question {
    Question { target: actor, handler: handler.to_owned(), payload: payload.into(), cycles_limit: Some(Cycles(cycles)) }
}

/// What an actor answers to a request.
pub(crate) fn answer(bytes: &Bytes, most: u64) -> Result<Answer, Refusal> {
    Answer::read(bytes, most)
}

/// Why there is no answer, in statuses and words of 004 §8.3.1.
fn explain(failure: &QueryError) -> Refusal {
    let server = StatusCode::INTERNAL_SERVER_ERROR;
    match failure {
        QueryError::SideEffect { function } => Refusal::new(
            server,
            "QUERY_SIDE_EFFECT_TRAP",
            format!("The handler called {function}, which changes something: reading may not."),
            "Its author does that on POST, PUT, PATCH or DELETE.",
        ),
        QueryError::CycleLimit { limit } => Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "QUERY_CYCLE_LIMIT",
            format!("The handler needs more than {limit} cycles."),
            "Its author raises max_query_cycles in the manifest, or computes less.",
        ),
        QueryError::Failed { abort, .. } if *abort == error::UNKNOWN_HANDLER => {
            Refusal::new(StatusCode::NOT_IMPLEMENTED, "NO_HANDLER", "The actor has no handler for requests.", "Its author adds one.")
        }
        QueryError::Failed { abort, .. } if [error::ACTOR_DORMANT, error::ACTOR_NON_EXECUTABLE, error::ACTOR_NOT_FOUND].contains(abort) => {
            let row = error::row(abort.code);
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "ACTOR_UNAVAILABLE", format!("{} {}", row.what, row.why), row.fix)
        }
        QueryError::Failed { abort, exception } => {
            let row = error::row(abort.code);
            let name = exception.as_ref().map(|exception| format!(" ({})", exception.name)).unwrap_or_default();
            Refusal::new(server, "HANDLER_PANIC", format!("{}{name}", row.what), "Its author looks at what it raised.")
        }
    }
}
