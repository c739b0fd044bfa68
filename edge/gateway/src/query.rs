//! GET and HEAD: the handler runs on committed state (004 §8.3).

use crate::{refusal::Refusal, state::BlockState};
use bytes::Bytes;
use cowboy_chain::{
    Query,
    query::{QueryError, Question, Wants},
};
use cowboy_ingress::Failure;
use cowboy_types::Cycles;
use std::sync::Arc;
use tokio::{runtime::Handle, sync::Semaphore};

/// Cycles that a handler may take on the thread that reads requests: a millisecond or two. What needs more runs elsewhere.
const AT_ONCE_CYCLES: u64 = 300_000;

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
        // Most pages take less time than handing them to another thread. A handler is pure, so that one that turns out to be
        // long begins again, and its actor is not tried so a second time on this state.
        let actor = question.target;
        let is_short = question.cycles_limit.is_some_and(|limit| limit.0 <= AT_ONCE_CYCLES);
        if is_short || !state.is_slow(actor) {
            let limit = question.cycles_limit.unwrap_or(Cycles(u64::MAX)).min(Cycles(AT_ONCE_CYCLES));
            match run(&state, Question { cycles_limit: Some(limit), ..question.clone() }).await? {
                Err(QueryError::CycleLimit { .. }) if !is_short => state.remember_slow(actor),
                result => return result.map_err(|failure| Failure::of_query(&failure).into()),
            }
        }
        let ran = self.run(move |runtime| runtime.block_on(run(&state, question))).await?;
        ran.map_err(|failure| Failure::of_query(&failure).into())
    }

    /// Runs work where it may take its time.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Handle) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let Ok(permit) = self.permits.clone().acquire_owned().await else { return Err(Refusal::unavailable("the gateway is stopping")) };
        let runtime = Handle::current();
        // A handler may take milliseconds, in which no other request may wait for this thread.
        let ran = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&runtime)
        });
        ran.await.map_err(Refusal::unavailable)?
    }
}

async fn run(state: &BlockState, question: Question) -> Result<Result<Bytes, QueryError>, Refusal> {
    let mut query = Query::new(state.at.clone(), question);
    let mut answers = Vec::new();
    loop {
        match query.advance(answers) {
            Wants::Done(answer) => return Ok(answer.result),
            Wants::Keys(keys) => answers = state.fetch(keys).await?,
        }
    }
}
