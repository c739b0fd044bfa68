//! GET and HEAD: the handler runs on committed state (004 §8.3).

use crate::{refusal::Refusal, state::BlockState};
use bytes::Bytes;
use cowboy_chain::{
    Query,
    query::{Question, Wants},
};
use cowboy_ingress::Failure;
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
        self.run(move |runtime| run(runtime, &state, question)).await
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

fn run(runtime: &Handle, state: &BlockState, question: Question) -> Result<Bytes, Refusal> {
    let mut query = Query::new(state.at.clone(), question);
    let mut answers = Vec::new();
    loop {
        match query.advance(answers) {
            Wants::Done(answer) => return answer.result.map_err(|failure| Failure::of_query(&failure).into()),
            Wants::Keys(keys) => {
                answers = match state.remembered(&keys) {
                    Some(found) => found,
                    None => runtime.block_on(state.fetch(keys))?,
                }
            }
        }
    }
}
