//! Asking all relays of a volume, and not waiting for the last.

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long relays are waited for beyond those that suffice. Who does not answer catches up later.
pub(super) const GRACE: Duration = Duration::from_secs(3);

/// What each of some relays answers, by its place. When as many as are needed have answered well, the others have `grace`; then none waits for them.
pub(super) async fn ask<T, F>(asking: impl Iterator<Item = F>, needed: usize, grace: Duration) -> Vec<Result<T, String>>
where
    F: Future<Output = Result<T, String>>,
{
    let mut asked: FuturesUnordered<_> = asking.enumerate().map(|(place, answer)| async move { (place, answer.await) }).collect();
    let mut answers: Vec<Result<T, String>> = (0..asked.len()).map(|_| Err("it takes longer than the others".to_owned())).collect();
    let (mut good, mut end) = (0, None);
    loop {
        let next = match end {
            Some(end) => timeout_at(end, asked.next()).await.ok().flatten(),
            None => asked.next().await,
        };
        let Some((place, answer)) = next else { return answers };
        good += usize::from(answer.is_ok());
        answers[place] = answer;
        if good == needed {
            end.get_or_insert_with(|| Instant::now() + grace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use futures::future::{self, BoxFuture};

    /// One that never answers is waited for until enough others have, and for the grace after that.
    #[tokio::test]
    async fn a_silent_relay_holds_nobody_up() {
        let all = |last: BoxFuture<'static, Result<u8, String>>| {
            vec![future::ready(Ok(1)).boxed(), last, future::ready(Err("refused".to_owned())).boxed(), future::ready(Ok(4)).boxed()]
        };
        let found = ask(all(future::pending().boxed()).into_iter(), 2, Duration::ZERO).await;
        assert_eq!(found, [Ok(1), Err("it takes longer than the others".to_owned()), Err("refused".to_owned()), Ok(4)]);
        // Whoever answers in time is heard, also where enough have answered.
        let found = ask(all(future::ready(Ok(2)).boxed()).into_iter(), 2, Duration::from_secs(60)).await;
        assert_eq!(found.iter().filter(|answer| answer.is_ok()).count(), 3);
        // Too few: all are waited for.
        let waiting = ask(all(future::pending().boxed()).into_iter(), 3, Duration::ZERO);
        assert!(waiting.now_or_never().is_none());
    }
}
