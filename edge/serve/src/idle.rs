//! A connection that ends when nothing moves on it.

use crate::admission::Permit;
use std::{
    collections::BTreeMap,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::oneshot,
    time::{Instant, Sleep},
};

/// The requests of one connection that are being answered. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Activity(Arc<Mutex<Requests>>);

#[derive(Debug)]
struct Requests {
    /// Whether there was one at all.
    has_begun: bool,
    /// Whether requests share the connection, as those of HTTP/2 do: bytes between them need not be the head of one.
    is_shared: bool,
    /// Whether the connection has changed to another protocol than HTTP.
    is_upgraded: bool,
    /// Since when none is under way.
    quiet_since: Instant,
    /// Each request under way, and since when the client has had bytes of its answer to take.
    under_way: BTreeMap<u64, Option<Instant>>,
    /// The number of the next request.
    next: u64,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// The first request.
    First,
    /// Another request, since then. Where none shares the connection, the bytes that come are its head.
    Request { since: Instant, is_shared: bool },
    /// An answer that the server prepares.
    Answer,
    /// The client, which has taken nothing of an answer since then.
    Client(Instant),
    /// Bytes of another protocol.
    Bytes,
}

/// A request that is being answered, until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy {
    activity: Activity,
    number: u64,
}

impl Activity {
    pub(crate) fn new() -> Self {
        let requests = Requests {
            has_begun: false,
            is_shared: false,
            is_upgraded: false,
            quiet_since: Instant::now(),
            under_way: BTreeMap::new(),
            next: 0,
        };
        Self(Arc::new(Mutex::new(requests)))
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        // Each change is one assignment: no panic leaves it half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request came; `is_shared` where others may come before it is answered.
    pub(crate) fn begin(&self, is_shared: bool) -> Busy {
        let mut requests = self.lock();
        requests.is_shared = is_shared;
        let number = requests.next;
        requests.next += 1;
        requests.has_begun = true;
        requests.under_way.insert(number, None);
        Busy { activity: self.clone(), number }
    }

    /// The connection carries another protocol from now on: only its bytes show whether it is in use.
    pub(crate) fn upgrade(&self) {
        self.lock().is_upgraded = true;
    }

    fn awaits(&self) -> Awaits {
        let requests = self.lock();
        if let Some(since) = requests.under_way.values().flatten().min() {
            return Awaits::Client(*since);
        }
        if !requests.under_way.is_empty() {
            Awaits::Answer
        } else if requests.is_upgraded {
            Awaits::Bytes
        } else if requests.has_begun {
            Awaits::Request { since: requests.quiet_since, is_shared: requests.is_shared }
        } else {
            Awaits::First
        }
    }
}

impl Busy {
    /// From now on the client has bytes of the answer to take.
    pub(crate) fn offers(&self) {
        self.set(Some(Instant::now()));
    }

    /// The client has taken what there was; the server prepares more.
    pub(crate) fn prepares(&self) {
        self.set(None);
    }

    fn set(&self, since: Option<Instant>) {
        self.activity.lock().under_way.insert(self.number, since);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut requests = self.activity.lock();
        requests.under_way.remove(&self.number);
        requests.quiet_since = Instant::now();
    }
}

/// A stream that fails with `TimedOut` after a time in which nothing moved: the client sends no request, or takes nothing of one of
/// its answers. The time in which the server prepares an answer does not count. The first request has a time of its own to come, and so has the rest
/// of each head whose first byte came: a connection that is kept for later requests may be silent for longer.
///
/// Bytes that are no request and take no answer do not count, except after an upgrade: a client of HTTP/2 can send control frames for
/// ever while it takes nothing.
pub(crate) struct Idle<S> {
    stream: S,
    first: Duration,
    after: Duration,
    opened: Instant,
    moved: Instant,
    /// When the bytes came that were read last, if they came before a request.
    head: Option<Instant>,
    activity: Activity,
    /// Set again only when it rings: a busy connection pays for no timer.
    alarm: Pin<Box<Sleep>>,
    /// An upgraded connection outlives the task that accepted it, but not its stream.
    slot: Option<Permit>,
    /// Ready when the connection is closed for another.
    closed: Option<oneshot::Receiver<()>>,
    is_closed: bool,
}

/// Which half of a stream waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Read,
    Write,
}

impl<S> Idle<S> {
    pub(crate) fn new(stream: S, first: Duration, after: Duration, activity: Activity, mut slot: Option<Permit>) -> Self {
        let closed = slot.as_mut().map(Permit::closable);
        let (opened, alarm) = (Instant::now(), Box::pin(tokio::time::sleep(first.min(after))));
        Self { stream, first, after, opened, moved: opened, head: None, activity, alarm, slot, closed, is_closed: false }
    }

    /// What a ready or waiting operation means for the time.
    fn watch<T>(&mut self, context: &mut Context<'_>, half: Half, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.moved = Instant::now();
            if let Some(slot) = &self.slot {
                slot.note_use();
            }
            if half == Half::Read
                && let Awaits::Request { since, .. } = self.activity.awaits()
            {
                self.head = self.head.filter(|head| *head >= since).or(Some(self.moved));
            }
            return result;
        }
        if self.closed.as_mut().is_some_and(|closed| Pin::new(closed).poll(context).is_ready()) {
            (self.closed, self.is_closed) = (None, true);
        }
        if self.is_closed {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let now = Instant::now();
            let end = self.end(half, now);
            if end <= now {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            // A head may begin meanwhile.
            self.alarm.as_mut().reset(end.min(now + self.first));
        }
    }

    /// When the connection ends, if nothing moves until then.
    fn end(&self, half: Half, now: Instant) -> Instant {
        let moved = self.moved + self.after;
        match (self.activity.awaits(), half) {
            (Awaits::Client(since), Half::Read) => since + self.after,
            (Awaits::Client(since), Half::Write) => moved.min(since + self.after),
            (Awaits::Bytes, _) | (_, Half::Write) => moved,
            (Awaits::First, Half::Read) => self.opened + self.first,
            (Awaits::Request { since, is_shared }, Half::Read) => match self.head.filter(|head| !is_shared && *head >= since) {
                Some(head) => head + self.first,
                None => since + self.after,
            },
            (Awaits::Answer, Half::Read) => now + self.after,
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
        let (after, activity) = (Duration::from_millis(20), Activity::new());
        drop(activity.begin(false));
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
        let (after, activity) = (Duration::from_millis(20), Activity::new());
        let mut near = Idle::new(near, after, after, activity.clone(), None);
        let busy = activity.begin(false);
        let mut byte = [0];
        let waited = tokio::time::timeout(Duration::from_millis(100), near.read_exact(&mut byte)).await;
        assert!(waited.is_err(), "the connection stays open while the answer is prepared");
        let stuck = near.write_all(&[0; 9]).await.expect_err("nobody reads");
        assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
        drop(busy);
        let silent = near.read_exact(&mut byte).await.expect_err("nobody sends");
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
    }

    /// A connection that is kept may be silent for longer than a head takes, and a head that has begun must come.
    #[tokio::test]
    async fn silence_between_requests_is_no_slow_head() {
        let first = Duration::from_millis(20);
        for (is_shared, ends) in [(false, true), (true, false)] {
            let (near, mut far) = tokio::io::duplex(8);
            let activity = Activity::new();
            drop(activity.begin(is_shared));
            let mut near = Idle::new(near, first, Duration::from_secs(3_600), activity, None);
            let mut byte = [0];
            assert!(tokio::time::timeout(5 * first, near.read_exact(&mut byte)).await.is_err(), "it is kept");
            far.write_all(b"P").await.expect("there is room");
            assert!(near.read_exact(&mut byte).await.is_ok());
            let ended = tokio::time::timeout(5 * first, near.read_exact(&mut byte)).await;
            assert_eq!(ended.is_ok_and(|read| read.is_err()), ends, "shared: {is_shared}");
        }
    }

    /// Bytes that are no request do not keep a connection open.
    #[tokio::test]
    async fn the_first_request_has_a_deadline() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut near = Idle::new(near, Duration::from_millis(20), Duration::from_secs(3_600), Activity::new(), None);
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
