//! How other threads ask what lives on one.

use crate::fault::Fault;
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tokio::sync::{mpsc, oneshot};

/// Something to do there.
type Job<S> = Box<dyn FnOnce(Rc<S>) -> LocalBoxFuture<'static, ()> + Send>;

/// Asks what lives on another thread.
pub(crate) struct Handle<S> {
    jobs: mpsc::UnboundedSender<Job<S>>,
}

impl<S> Clone for Handle<S> {
    fn clone(&self) -> Self {
        Self { jobs: self.jobs.clone() }
    }
}

/// Does what comes, all at once, until nobody can ask any more. Runs within a set of local tasks. Who asks bounds how much it asks at once.
pub(crate) fn serve<S: 'static>(state: Rc<S>) -> (Handle<S>, impl Future<Output = ()>) {
    let (jobs, mut coming) = mpsc::unbounded_channel::<Job<S>>();
    let work = async move {
        while let Some(job) = coming.recv().await {
            tokio::task::spawn_local(job(state.clone()));
        }
    };
    (Handle { jobs }, work)
}

impl<S: 'static> Handle<S> {
    /// Has something done, and does not wait for it. Where nothing is done any more, what it would answer with is dropped.
    pub(crate) fn post<F>(&self, work: impl FnOnce(Rc<S>) -> F + Send + 'static)
    where
        F: Future<Output = ()> + 'static,
    {
        let _ = self.jobs.send(Box::new(move |state| Box::pin(work(state))));
    }

    /// Has something done, and answers what comes of it.
    pub(crate) async fn ask<T, F>(&self, work: impl FnOnce(Rc<S>) -> F + Send + 'static) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Fault>> + 'static,
    {
        let (sender, answer) = oneshot::channel();
        self.post(move |state| {
            let working = work(state);
            async move {
                // Nobody waits where a client has gone.
                let _ = sender.send(working.await);
            }
        });
        answer.await.map_err(|_| Fault::Closed)?
    }
}
