//! GET and HEAD: the handler runs on committed state (004 §8.3).

use crate::{refusal::Refusal, state::BlockState};
use bytes::Bytes;
use cowboy_chain::{
    Query,
    query::{QueryError, Question, Wants},
};
use cowboy_ingress::Failure;
use cowboy_serve::{Bounds, Client, Pool, Refused, has_room};
use cowboy_types::Cycles;
use hyper::StatusCode;
use std::{io, sync::Arc};
use tokio::runtime::Handle;

/// Cycles that a handler may take on the thread that reads requests: a millisecond or two. What needs more runs on the workers.
const AT_ONCE_CYCLES: u64 = 300_000;

/// Runs questions and trials. Clones share the workers.
#[derive(Clone)]
pub(crate) struct Runner {
    pool: Pool,
}

impl Runner {
    /// Starts the workers: so many, or one for each processor.
    pub(crate) fn start(at_once: Option<usize>) -> io::Result<Self> {
        let machine = Bounds::of_machine();
        let bounds = Bounds { threads: at_once.unwrap_or(machine.threads), ..machine };
        Ok(Self { pool: Pool::start("gateway-query", bounds)? })
    }

    /// What an actor's handler answers on this state.
    pub(crate) async fn ask(&self, client: Client, state: Arc<BlockState>, question: Question) -> Result<Bytes, Refusal> {
        // Most pages take less time than handing them to another thread. A handler is pure, so that one that turns out to be
        // long begins again, and its actor is not tried so a second time on this state.
        let actor = question.target;
        let is_short = question.cycles_limit.is_some_and(|limit| limit.0 <= AT_ONCE_CYCLES);
        if has_room() && (is_short || !state.is_slow(actor)) {
            let limit = question.cycles_limit.unwrap_or(Cycles(u64::MAX)).min(Cycles(AT_ONCE_CYCLES));
            match run(&state, Question { cycles_limit: Some(limit), ..question.clone() }).await? {
                Err(QueryError::CycleLimit { .. }) if !is_short => state.remember_slow(actor),
                result => return result.map_err(|failure| Failure::of_query(&failure).into()),
            }
        }
        let ran = self.run(client, move |runtime| runtime.block_on(run(&state, question))).await?;
        ran.map_err(|failure| Failure::of_query(&failure).into())
    }

    /// Runs work on the workers, where it may take its time: no other request waits for its thread.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        client: Client,
        work: impl FnOnce(&Handle) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.pool.run(client, work).await.map_err(refusal)?
    }
}

fn refusal(refused: Refused) -> Refusal {
    let what = format!("The gateway has no result: {refused}.");
    match refused {
        Refused::Client(_) => {
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT", what, "Wait for the answers before asking more.").retry(1)
        }
        Refused::Full(_) | Refused::Late(_) => Refusal::busy("BUSY", &what).retry(2),
        Refused::Panicked(reason) => {
            tracing::error!(reason, "a request's work panicked");
            Refusal::unavailable(reason)
        }
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
