//! Which commands may still run (decision 702), readable while another one is signed and sent.

use crate::refusal::Refusal;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

/// Everything through which commands may run, counted by their ids: requests that are being answered, and signed transactions whose nonces are not used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempts(Arc<Mutex<HashMap<String, usize>>>);

/// One of these. It counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Attempt {
    attempts: Attempts,
    id: String,
}

impl Attempts {
    /// Answers a request for a command. A refusal says whether the command may run all the same, through anything but this request.
    pub(crate) async fn run<T>(&self, id: &str, answer: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
        let attempt = self.begin(id.to_owned());
        answer.await.map_err(|refusal| if attempt.is_only() { refusal.not_sent() } else { refusal.may_run(id) })
    }

    /// Counts one more.
    pub(crate) fn begin(&self, id: String) -> Attempt {
        *self.counts().entry(id.clone()).or_default() += 1;
        Attempt { attempts: self.clone(), id }
    }

    /// How many there are.
    pub(crate) fn count(&self, id: &str) -> usize {
        self.counts().get(id).copied().unwrap_or(0)
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().expect("nothing panics while it holds the lock")
    }
}

impl Attempt {
    fn is_only(&self) -> bool {
        self.attempts.count(&self.id) == 1
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let mut counts = self.attempts.counts();
        if let Some(count) = counts.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.id);
            }
        }
    }
}

/// The answer to a request for a command. Where it is refused, and by then another request had the command sent or it has run, it is accepted (decision 702).
pub(crate) async fn or_accepted<T>(
    answer: Result<T, Refusal>,
    is_sent: impl Future<Output = bool>,
    accepted: impl FnOnce() -> T,
) -> Result<T, Refusal> {
    if answer.is_err() && is_sent.await { Ok(accepted()) } else { answer }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn refused() -> Result<(), Refusal> {
        Err(Refusal::busy("BUSY", "There is no room."))
    }

    /// Whether the refusal of this command says that it may run. It says that it was not sent otherwise.
    async fn may_run(attempts: &Attempts, id: &str) -> bool {
        let refusal = attempts.run(id, refused()).await.expect_err("it is refused");
        let may_run = refusal.what.contains("may still run");
        assert_eq!((refusal.what.contains("was not sent"), refusal.request.is_some()), (!may_run, may_run), "{refusal:?}");
        may_run
    }

    /// Decision 702: while another request for the same command is answered, or a transaction for it is open, a refusal does not say that the command was not sent. Once
    /// there is none of them, whether they ended or their clients left, it does, and nothing is remembered.
    #[tokio::test]
    async fn a_refusal_counts_what_else_may_run() {
        let attempts = Attempts::default();
        assert!(!may_run(&attempts, "one").await);
        let (first, second) = (attempts.begin("one".into()), attempts.begin("one".into()));
        assert!(may_run(&attempts, "one").await && !may_run(&attempts, "two").await);
        drop(first);
        assert!(may_run(&attempts, "one").await);
        drop(second);
        assert!(!may_run(&attempts, "one").await);
        let within = attempts.run("one", async {
            assert!(may_run(&attempts, "one").await);
            refused().await
        });
        assert!(within.await.is_err_and(|refusal| refusal.what.contains("was not sent")));
        assert!(attempts.counts().is_empty());
    }
}
