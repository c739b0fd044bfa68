//! GET and HEAD: the handler runs on committed state (004 §8.3).

use crate::{
    raised::Raised,
    refusal::Refusal,
    shown::{AT_ONCE_BYTES, Shown, shown},
    state::BlockState,
};
use bytes::Bytes;
use cowboy_chain::{
    Query,
    engine::Exception,
    query::{QueryError, Question},
    resume::{self, run_async},
};
use cowboy_ingress::{Failure, Route, Visit, failure::CYCLE_LIMIT};
use cowboy_serve::{Bounds, Client, Pool, Refused, has_room};
use hyper::{Response, StatusCode, http::request::Parts};
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
    /// Starts `at_once` workers, or one for each processor. Of one client `of_client` requests wait or run, or as many as every pool allows.
    pub(crate) fn start(at_once: Option<usize>, of_client: Option<usize>) -> io::Result<Self> {
        let machine = Bounds::of_machine();
        let (threads, per_client) = (at_once.unwrap_or(machine.threads), of_client.unwrap_or(machine.per_client));
        let bounds = Bounds { threads, per_client, ..machine };
        Ok(Self { pool: Pool::start("gateway-query", bounds)?, raised: Raised::default() })
    }

    /// Answers a request that only reads, on this state, as the client wants it; or says why the actor has no answer.
    pub(crate) async fn visit(
        &self,
        client: Client,
        state: Arc<BlockState>,
        route: Arc<Route>,
        asked: &Parts,
        request: Bytes,
    ) -> Result<Result<Shown, Failure>, Refusal> {
        // Most pages take less time than handing them to another thread. A handler is pure, so that one that turns out to be
        // long begins again, and its actor is not tried so a second time on this state.
        let actor = route.actor;
        let is_short = route.ingress.as_ref().is_none_or(|ingress| ingress.query_cycles <= AT_ONCE_CYCLES);
        let begin = || Visit::along(state.at.clone(), route.clone(), asked.method.as_str(), request.clone());
        if has_room() && (is_short || !state.is_slow(actor)) {
            let visited = run_async(&mut begin().within(AT_ONCE_CYCLES), |keys| state.fetch(keys)).await?;
            if is_short || !visited.outcome.as_ref().is_err_and(|failure| failure.code == CYCLE_LIMIT) {
                return match visited.outcome {
                    Ok(answer) => self.show(client, asked, answer.response()).await.map(Ok),
                    Err(failure) => Ok(Err(failure)),
                };
            }
            state.remember_slow(actor);
        }
        let mut visit = begin();
        let (state, method, headers) = (state.clone(), asked.method.clone(), asked.headers.clone());
        // A long answer does not wait for a worker a second time.
        self.run(client, move |runtime| {
            let visited = resume::run(&mut visit, |keys| state.fetch_here(runtime, keys))?;
            Ok(visited.outcome.map(|answer| shown(&method, &headers, answer.response())))
        })
        .await
    }

    /// An answer as this request wants it. Long ones are work for the workers.
    async fn show(&self, client: Client, asked: &Parts, response: Response<Bytes>) -> Result<Shown, Refusal> {
        if response.body().len() <= AT_ONCE_BYTES {
            return Ok(shown(&asked.method, &asked.headers, response));
        }
        let (method, headers) = (asked.method.clone(), asked.headers.clone());
        self.run(client, move |_| Ok(shown(&method, &headers, response))).await
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

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::{Method, Request};
    use std::{net::IpAddr, sync::mpsc, task::Poll};

    /// Long bodies wait for a worker, short ones for nobody; both come to the same.
    #[tokio::test]
    async fn long_bodies_are_work_for_the_workers() {
        let runner = Runner::start(Some(1), None).expect("the system has threads");
        let client = Client::from(IpAddr::from([192, 0, 2, 1]));
        let (asked, ()) = Request::new(()).into_parts();
        let (release, released) = mpsc::channel::<()>();
        let busy = tokio::spawn({
            let runner = runner.clone();
            async move { runner.run(client, move |_| Ok(released.recv().is_err())).await }
        });
        let body = |bytes: usize| Response::new(Bytes::from(vec![b'a'; bytes]));
        let (short, said) = runner.show(client, &asked, body(AT_ONCE_BYTES)).await.expect("an answer");
        assert_eq!((short.body().len(), said.status), (AT_ONCE_BYTES, 200));
        let mut long = Box::pin(runner.show(client, &asked, body(AT_ONCE_BYTES + 1)));
        // The worker may not have begun what keeps it busy.
        tokio::task::yield_now().await;
        let first = std::future::poll_fn(|context| Poll::Ready(long.as_mut().poll(context).is_pending())).await;
        assert!(first, "it waits for the worker");
        drop(release);
        let (shown_long, said) = long.await.expect("an answer");
        let (expected, expected_said) = shown(&Method::GET, &asked.headers, body(AT_ONCE_BYTES + 1));
        assert_eq!((shown_long.body(), shown_long.headers(), said), (expected.body(), expected.headers(), expected_said));
        assert_eq!(busy.await.expect("no panic"), Ok(true));
    }

    /// A proxy is one client: the configuration says how many requests of it wait or run.
    #[tokio::test]
    async fn the_share_of_a_client_is_configured() {
        let runner = Runner::start(Some(1), Some(1)).expect("the system has threads");
        let client = Client::from(IpAddr::from([127, 0, 0, 1]));
        let (release, released) = mpsc::channel::<()>();
        let mut first = Box::pin(runner.run(client, move |_| Ok(released.recv().is_err())));
        let is_pending = std::future::poll_fn(|context| Poll::Ready(first.as_mut().poll(context).is_pending())).await;
        assert!(is_pending, "it runs, or will");
        assert_eq!(runner.run(client, |_| Ok(())).await.err().map(|refusal| refusal.code), Some("RATE_LIMIT"));
        drop(release);
        assert_eq!(first.await, Ok(true));
    }
}
