//! A connection that ends when nothing moves on it.

use crate::{admission::Permit, taking::Answers};
use std::{
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
    /// The answers to those under way.
    answers: Answers,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaits {
    /// The first request.
    First,
    /// Another request, since then. Where none shares the connection, the bytes that come are its head.
    Request { since: Instant, is_shared: bool },
    /// An answer that the server prepares.
    Answer,
    /// The client, which has to take more of an answer until then.
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
        let requests =
            Requests { has_begun: false, is_shared: false, is_upgraded: false, quiet_since: Instant::now(), answers: Answers::default() };
        Self(Arc::new(Mutex::new(requests)))
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        // Nothing panics in a change: none is left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request came; `is_shared` where others may come before it is answered.
    pub(crate) fn begin(&self, is_shared: bool) -> Busy {
        let mut requests = self.lock();
        requests.is_shared = is_shared;
        requests.has_begun = true;
        let number = requests.answers.begin();
        drop(requests);
        Busy { activity: self.clone(), number }
    }

    /// How many requests have come.
    fn begun(&self) -> u64 {
        self.lock().answers.begun()
    }

    /// The connection carries another protocol from now on: only its bytes show whether it is in use.
    pub(crate) fn upgrade(&self) {
        self.lock().is_upgraded = true;
    }

    /// What the connection waits for, if the client has the time `after` to take some of its answers.
    pub(crate) fn awaits(&self, after: Duration) -> Awaits {
        let requests = self.lock();
        if let Some(deadline) = requests.answers.deadline(after) {
            return Awaits::Client(deadline);
        }
        if !requests.answers.is_empty() {
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
    /// From now on the client has this many bytes more of the answer to take.
    pub(crate) fn offers(&self, bytes: usize) {
        self.change(|answers, number, now| answers.offer(number, bytes, now));
    }

    /// The client has taken what there was; the server prepares more.
    pub(crate) fn prepares(&self) {
        self.change(Answers::prepare);
    }

    /// The connection has sent some of the answer.
    pub(crate) fn sends(&self) {
        self.change(Answers::take_part);
    }

    fn change(&self, change: impl FnOnce(&mut Answers, u64, Instant)) {
        change(&mut self.activity.lock().answers, self.number, Instant::now());
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let (mut requests, now) = (self.activity.lock(), Instant::now());
        requests.answers.end(self.number, now);
        requests.quiet_since = now;
    }
}

/// That a connection is closed for another. Clones share it; whoever polled last is woken.
#[derive(Clone, Debug)]
pub(crate) struct Closed(Arc<Mutex<Option<oneshot::Receiver<()>>>>);

impl Closed {
    /// When the connection of this permit is closed for another, which is possible from now on.
    pub(crate) fn of(slot: &mut Permit) -> Self {
        Self(Arc::new(Mutex::new(Some(slot.closable()))))
    }

    /// Waits until the connection is closed for another.
    pub(crate) async fn wait(&self) {
        std::future::poll_fn(|context| self.poll(context)).await;
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut receiver = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = receiver.as_mut() {
            // Ready too where the other end is gone.
            let _ = ready!(Pin::new(waiting).poll(context));
            *receiver = None;
        }
        Poll::Ready(())
    }
}

/// A stream that fails with `TimedOut` after a time in which nothing moved: the client sends no request, or takes nothing of its answers, or too little
/// in a second. The time in which the server prepares an answer does not count. The first request has a time of its own to
/// come, and so has the rest of each head whose first byte came: a connection that is kept for later requests may be silent for longer. The stream fails
/// with `ConnectionAborted` once it is closed for another, whatever moves on it.
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
    /// The requests that had come when it was used last.
    used: u64,
    /// An upgraded connection outlives the task that accepted it, but not its stream.
    slot: Option<(Permit, Closed)>,
}

/// Which half of a stream waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Read,
    Write,
}

impl<S> Idle<S> {
    pub(crate) fn new(stream: S, first: Duration, after: Duration, activity: Activity, slot: Option<(Permit, Closed)>) -> Self {
        let (opened, alarm) = (Instant::now(), Box::pin(tokio::time::sleep(first.min(after))));
        Self { stream, first, after, opened, moved: opened, head: None, activity, alarm, used: 0, slot }
    }

    /// Fails once the connection is closed for another.
    fn look(&self, context: &mut Context<'_>) -> io::Result<()> {
        let is_closed = self.slot.as_ref().is_some_and(|(_, closed)| closed.poll(context).is_ready());
        if is_closed { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }

    /// Something moves while the connection waits for this. That is a use of it, but for the control frames of HTTP/2 between requests: a client can send
    /// them for ever.
    fn note_use(&mut self, awaits: Awaits) {
        let Some((permit, _)) = &self.slot else { return };
        let begun = self.activity.begun();
        if begun != self.used || !matches!(awaits, Awaits::Request { is_shared: true, .. }) {
            self.used = begun;
            permit.note_use();
        }
    }

    /// What a ready or waiting operation means for the time.
    fn watch<T>(&mut self, context: &mut Context<'_>, half: Half, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.moved = Instant::now();
            let awaits = self.activity.awaits(self.after);
            self.note_use(awaits);
            if half == Half::Read
                && let Awaits::Request { since, .. } = awaits
            {
                self.head = self.head.filter(|head| *head >= since).or(Some(self.moved));
            }
            return result;
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
        match (self.activity.awaits(self.after), half) {
            (Awaits::Client(deadline), Half::Read) => deadline,
            (Awaits::Client(deadline), Half::Write) => moved.min(deadline),
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
        self.look(context)?;
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.watch(context, Half::Read, result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Idle<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.look(context)?;
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, Half::Write, result)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.look(context)?;
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, Half::Write, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.look(context)?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.look(context)?;
        let result = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, Half::Write, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Admission, Caps};
    use std::{net::IpAddr, sync::atomic::Ordering};
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

    /// An upgraded connection that is closed for another ends, also while bytes come on it.
    #[tokio::test]
    async fn what_is_closed_for_another_ends() {
        let admission = Admission::new(Caps { total: 2, client: 2, subnet: 2 });
        let [mut slot, _second] = [1, 2].map(|host| admission.admit(IpAddr::from([192, 0, 2, host])).expect("there is room"));
        let (near, mut far) = tokio::io::duplex(8);
        let (hour, closed) = (Duration::from_secs(3_600), Closed::of(&mut slot));
        let mut near = Idle::new(near, hour, hour, Activity::new(), Some((slot, closed)));
        far.write_all(b"ab").await.expect("there is room");
        let mut byte = [0];
        assert!(near.read_exact(&mut byte).await.is_ok());
        let _third = admission.admit(IpAddr::from([198, 51, 100, 1])).expect("another makes room");
        let ended = near.read_exact(&mut byte).await.expect_err("it is closed");
        assert_eq!(ended.kind(), io::ErrorKind::ConnectionAborted);
        let ended = near.write_all(b"c").await.expect_err("it is closed");
        assert_eq!(ended.kind(), io::ErrorKind::ConnectionAborted);
    }

    /// Control frames between requests of HTTP/2 are no use of a connection; requests, their answers and whatever comes before the first one are.
    #[tokio::test]
    async fn control_frames_are_no_use() {
        const UNUSED: u64 = u64::MAX;
        let admission = Admission::new(Caps { total: 1, client: 1, subnet: 1 });
        let mut slot = admission.admit(IpAddr::from([192, 0, 2, 1])).expect("there is room");
        let (used, closed) = (slot.used(), Closed::of(&mut slot));
        let (near, mut far) = tokio::io::duplex(8);
        let (hour, activity) = (Duration::from_secs(3_600), Activity::new());
        let mut near = Idle::new(near, hour, hour, activity.clone(), Some((slot, closed)));
        let mut reads = async || {
            used.store(UNUSED, Ordering::Relaxed);
            far.write_all(b"a").await.expect("there is room");
            near.read_exact(&mut [0]).await.expect("a byte");
            used.load(Ordering::Relaxed) != UNUSED
        };
        assert!(reads().await, "the first request may come");
        let busy = activity.begin(true);
        assert!(reads().await, "an answer is prepared");
        drop(busy);
        assert!(!reads().await, "a control frame");
        drop(activity.begin(true));
        assert!(reads().await, "there was a request meanwhile");
        assert!(!reads().await, "a control frame");
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
