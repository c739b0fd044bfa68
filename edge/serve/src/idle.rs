//! A connection that ends when nothing moves on it.

use crate::slots::Slot;
use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

/// The requests of one connection that are being answered. Clones share the count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity(Arc<Requests>);

#[derive(Debug, Default)]
struct Requests {
    under_way: AtomicUsize,
    /// Whether there was one at all.
    has_begun: AtomicBool,
}

/// A request that is being answered, until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Activity);

impl Activity {
    pub(crate) fn begin(&self) -> Busy {
        self.0.has_begun.store(true, Ordering::Relaxed);
        self.0.under_way.fetch_add(1, Ordering::Relaxed);
        Busy(self.clone())
    }

    fn is_busy(&self) -> bool {
        self.0.under_way.load(Ordering::Relaxed) > 0
    }

    fn has_begun(&self) -> bool {
        self.0.has_begun.load(Ordering::Relaxed)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stream that fails with `TimedOut` after a time in which nothing moved: the client sends no request, or does not read the answer.
/// The time in which the server prepares an answer does not count. The first request has a time of its own to come, however many bytes
/// come before it.
pub(crate) struct Idle<S> {
    stream: S,
    first: Duration,
    after: Duration,
    opened: Instant,
    moved: Instant,
    activity: Activity,
    /// Set again only when it rings: a busy connection pays for no timer.
    alarm: Pin<Box<Sleep>>,
    /// An upgraded connection outlives the task that accepted it, but not its stream.
    _slot: Option<Slot>,
}

/// Which half of a stream waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Read,
    Write,
}

impl<S> Idle<S> {
    pub(crate) fn new(stream: S, first: Duration, after: Duration, activity: Activity, slot: Option<Slot>) -> Self {
        let (opened, alarm) = (Instant::now(), Box::pin(tokio::time::sleep(first.min(after))));
        Self { stream, first, after, opened, moved: opened, activity, alarm, _slot: slot }
    }

    /// What a ready or waiting operation means for the time.
    fn watch<T>(&mut self, context: &mut Context<'_>, half: Half, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.moved = Instant::now();
            return result;
        }
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let now = Instant::now();
            let is_first = half == Half::Read && !self.activity.has_begun();
            let mut end = if is_first { self.opened + self.first } else { self.moved + self.after };
            if end <= now {
                if half == Half::Write || !self.activity.is_busy() {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                end = now + self.after;
            }
            self.alarm.as_mut().reset(end);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Idle<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.watch(context, Half::Read, result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Idle<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, Half::Write, result)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, Half::Write, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, Half::Write, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// A connection on which something moves lives; one that stands still, reading or writing, ends.
    #[tokio::test]
    async fn what_stands_still_ends() {
        let (near, mut far) = tokio::io::duplex(8);
        let (after, activity) = (Duration::from_millis(20), Activity::default());
        drop(activity.begin());
        let mut near = Idle::new(near, after, after, activity.clone(), None);
        let mut byte = [0];
        far.write_all(b"a").await.expect("there is room");
        assert!(near.read_exact(&mut byte).await.is_ok());
        let silent = near.read_exact(&mut byte).await.expect_err("nobody sends");
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
        // The alarm that rang is set again by what moves.
        far.write_all(b"b").await.expect("there is room");
        assert!(near.read_exact(&mut byte).await.is_ok());
        let stuck = near.write_all(&[0; 9]).await.expect_err("nobody reads");
        assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
    }

    /// A client that waits for its answer sends nothing, and is not idle; one that does not read it is.
    #[tokio::test]
    async fn waiting_for_an_answer_is_not_idle() {
        let (near, _far) = tokio::io::duplex(8);
        let (after, activity) = (Duration::from_millis(20), Activity::default());
        let mut near = Idle::new(near, after, after, activity.clone(), None);
        let busy = activity.begin();
        let mut byte = [0];
        let waited = tokio::time::timeout(Duration::from_millis(100), near.read_exact(&mut byte)).await;
        assert!(waited.is_err(), "the connection stays open while the answer is prepared");
        let stuck = near.write_all(&[0; 9]).await.expect_err("nobody reads");
        assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
        drop(busy);
        let silent = near.read_exact(&mut byte).await.expect_err("nobody sends");
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
    }

    /// Bytes that are no request do not keep a connection open.
    #[tokio::test]
    async fn the_first_request_has_a_deadline() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut near = Idle::new(near, Duration::from_millis(20), Duration::from_secs(3_600), Activity::default(), None);
        let mut byte = [0];
        let ended = loop {
            far.write_all(b"P").await.expect("there is room");
            assert!(near.read_exact(&mut byte).await.is_ok());
            if let Err(ended) = near.read_exact(&mut byte).await {
                break ended;
            }
        };
        assert_eq!(ended.kind(), io::ErrorKind::TimedOut);
    }
}
