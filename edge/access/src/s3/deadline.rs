//! How long the body of a request may take to come. Whoever sends nothing of it would hold its connection and its part of the spool for as long as it likes.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// How long a body is waited for in all, beside the time for the bytes that came.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes that give a body another second: as many as a client has to take of an answer in one.
const BYTES_PER_SECOND: u64 = 4_096;

/// A body that fails where it is waited for too long. The time in which nobody wants more of it does not count.
pub(super) struct Timed<B> {
    body: B,
    patience: Duration,
    received: u64,
    waited: Duration,
    /// Since when it is waited for, and the end of that.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<B> Timed<B> {
    pub(super) fn new(body: B, patience: Duration) -> Self {
        Self { body, patience, received: 0, waited: Duration::ZERO, waiting: None }
    }

    /// How much longer it is waited for.
    fn left(&self) -> Duration {
        let earned = Duration::from_secs(self.received / BYTES_PER_SECOND);
        self.patience.saturating_add(earned).saturating_sub(self.waited)
    }
}

impl<B> Body for Timed<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) else {
            let left = this.left();
            let (_, end) = this.waiting.get_or_insert_with(|| (Instant::now(), Box::pin(sleep(left))));
            ready!(end.as_mut().poll(context));
            return Poll::Ready(Some(Err("the body takes too long to come".into())));
        };
        if let Some((since, _)) = this.waiting.take() {
            this.waited = this.waited.saturating_add(since.elapsed());
        }
        let frame: Option<Result<Frame<Bytes>, Self::Error>> = frame.map(|frame| frame.map_err(Into::into));
        let data = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
        this.received = this.received.saturating_add(data.and_then(|data| u64::try_from(data.len()).ok()).unwrap_or_default());
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::future::poll_fn;
    use std::collections::VecDeque;

    /// A body of which these pieces come, and then nothing.
    struct Stalls(VecDeque<usize>);

    impl Body for Stalls {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
            match self.0.pop_front() {
                Some(length) => Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![7; length]))))),
                None => Poll::Pending,
            }
        }
    }

    /// What comes passes; where nothing comes any more, the body fails. Bytes that came give it time, and time in which it was waited for is gone.
    #[tokio::test]
    async fn a_body_that_stalls_fails() {
        let mut body = Timed::new(Stalls(VecDeque::from([8_192, 4_095])), Duration::from_millis(20));
        assert_eq!(body.left(), Duration::from_millis(20));
        for (length, seconds) in [(8_192, 2), (4_095, 2)] {
            let frame = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
            let data = frame.expect("a piece").expect("it came").into_data().expect("it is one");
            assert_eq!((data.len(), body.left()), (length, Duration::from_millis(20) + Duration::from_secs(seconds)));
        }
        body.waited = Duration::from_secs(2);
        let failed = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await.expect("no end").expect_err("nothing comes");
        assert_eq!(failed.to_string(), "the body takes too long to come");
    }
}
