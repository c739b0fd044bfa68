//! GET and HEAD: the handler runs on committed state (004 §8.3).

use crate::{raised::Raised, refusal::Refusal, state::BlockState};
use bytes::Bytes;
use cowboy_chain::{
    Query,
    engine::Exception,
    query::{QueryError, Question},
    resume::{self, run_async},
};
use cowboy_ingress::{Failure, Route, Visit, failure::CYCLE_LIMIT, visit::Visited};
use cowboy_serve::{Bounds, Client, Pool, Refused, has_room};
use hyper::StatusCode;
use std::{io, sync::Arc};
use tokio::runtime::Handle;

/// Cycles that a handler may take on the thread that reads requests: a millisecond or two. What needs more runs on the workers.
const AT_ONCE_CYCLES: u64 = 300_000;

/// Runs questions and trials. Clones share the workers.
#[derive(Clone)]
pub(crate) struct Runner {
    pool: Pool,
    /// Which failures of handlers are logged.
    pub(crate) raised: Raised,
}

impl Runner {
    /// Starts the workers: so many, or one for each processor.
    pub(crate) fn start(at_once: Option<usize>) -> io::Result<Self> {
        let machine = Bounds::of_machine();
        let bounds = Bounds { threads: at_once.unwrap_or(machine.threads), ..machine };
        Ok(Self { pool: Pool::start("gateway-query", bounds)?, raised: Raised::default() })
    }

    /// Answers a request that only reads, on this state.
    pub(crate) async fn visit(
        &self,
        client: Client,
        state: Arc<BlockState>,
        route: Arc<Route>,
        method: &str,
        request: Bytes,
    ) -> Result<Visited, Refusal> {
        // Most pages take less time than handing them to another thread. A handler is pure, so that one that turns out to be
        // long begins again, and its actor is not tried so a second time on this state.
        let actor = route.actor;
        let is_short = route.ingress.as_ref().is_none_or(|ingress| ingress.query_cycles <= AT_ONCE_CYCLES);
        let begin = || Visit::along(state.at.clone(), route.clone(), method, request.clone());
        if has_room() && (is_short || !state.is_slow(actor)) {
            let visited = run_async(&mut begin().within(AT_ONCE_CYCLES), |keys| state.fetch(keys)).await?;
            if is_short || !visited.outcome.as_ref().is_err_and(|failure| failure.code == CYCLE_LIMIT) {
                return Ok(visited);
            }
            state.remember_slow(actor);
        }
        let mut visit = begin();
        let state = state.clone();
        self.run(client, move |runtime| resume::run(&mut visit, |keys| state.fetch_here(runtime, keys))).await
    }

    /// What another handler of an actor answers on this state.
    pub(crate) async fn ask(&self, client: Client, state: Arc<BlockState>, question: Question) -> Result<Bytes, Refusal> {
        let mut query = Query::new(state.at.clone(), question);
        let answer = self.run(client, move |runtime| resume::run(&mut query, |keys| state.fetch_here(runtime, keys))).await?;
        answer.result.map_err(|failure| Failure::of_query(&failure).into())
    }

    /// What a handler raises on this state; nothing where it does not raise, or there is no room to ask.
    pub(crate) async fn exception(&self, client: Client, state: Arc<BlockState>, question: Question) -> Option<Exception> {
        let mut query = Query::new(state.at.clone(), question);
        let answer = self.run(client, move |runtime| resume::run(&mut query, |keys| state.fetch_here(runtime, keys))).await.ok()?;
        match answer.result {
            Err(QueryError::Failed { exception, .. }) => exception,
            _ => None,
        }
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
