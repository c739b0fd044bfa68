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

/// Bytes of each answer that a client has to take in a second, in the time in which there are some to take. Whoever takes one piece whenever its time
/// is nearly over would hold an answer for hours.
const MIN_BYTES_PER_SECOND: u64 = 4_096;

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
    /// Each request under way, and how far the client has taken its answer.
    under_way: BTreeMap<u64, Taking>,
    /// The number of the next request.
    next: u64,
}

/// How far a client has taken an answer.
#[derive(Clone, Copy, Debug, Default)]
struct Taking {
    /// Since when there have been bytes to take; none while the server prepares more.
    since: Option<Instant>,
    /// How long there were bytes to take before.
    waited: Duration,
    /// Bytes that were offered.
    offered: u64,
}

impl Taking {
    /// The client has taken what there was.
    fn take(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            self.waited += now.saturating_duration_since(since);
        }
    }

    /// The client has taken what there was, and has this many bytes more to take.
    fn offer(&mut self, bytes: usize, now: Instant) {
        self.take(now);
        self.since = Some(now);
        self.offered = self.offered.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// Until when the client has to take what there is: `after` for each piece, and for the answer as much, beside the time in which the slowest client
    /// takes what was offered.
    fn deadline(&self, after: Duration) -> Option<Instant> {
        let of_answer = after.saturating_add(Duration::from_secs(self.offered / MIN_BYTES_PER_SECOND));
        self.since.map(|since| since + after.min(of_answer.saturating_sub(self.waited)))
    }
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
        requests.under_way.insert(number, Taking::default());
        Busy { activity: self.clone(), number }
    }

    /// The connection carries another protocol from now on: only its bytes show whether it is in use.
    pub(crate) fn upgrade(&self) {
        self.lock().is_upgraded = true;
    }

    /// What the connection waits for, if the client has the time `after` to take a piece of an answer.
    fn awaits(&self, after: Duration) -> Awaits {
        let requests = self.lock();
        if let Some(deadline) = requests.under_way.values().filter_map(|taking| taking.deadline(after)).min() {
            return Awaits::Client(deadline);
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
    /// From now on the client has this many bytes more of the answer to take.
    pub(crate) fn offers(&self, bytes: usize) {
        self.change(|taking, now| taking.offer(bytes, now));
    }

    /// The client has taken what there was; the server prepares more.
    pub(crate) fn prepares(&self) {
        self.change(Taking::take);
    }

    fn change(&self, change: impl FnOnce(&mut Taking, Instant)) {
        if let Some(taking) = self.activity.lock().under_way.get_mut(&self.number) {
            change(taking, Instant::now());
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut requests = self.activity.lock();
        requests.under_way.remove(&self.number);
        requests.quiet_since = Instant::now();
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

/// A stream that fails with `TimedOut` after a time in which nothing moved: the client sends no request, or takes nothing of one of
/// its answers, or too little in a second. The time in which the server prepares an answer does not count. The first request has a time of its own to
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
        Self { stream, first, after, opened, moved: opened, head: None, activity, alarm, slot }
    }

    /// Fails once the connection is closed for another.
    fn look(&self, context: &mut Context<'_>) -> io::Result<()> {
        let is_closed = self.slot.as_ref().is_some_and(|(_, closed)| closed.poll(context).is_ready());
        if is_closed { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }

    /// What a ready or waiting operation means for the time.
    fn watch<T>(&mut self, context: &mut Context<'_>, half: Half, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.moved = Instant::now();
            if let Some((permit, _)) = &self.slot {
                permit.note_use();
            }
            if half == Half::Read
                && let Awaits::Request { since, .. } = self.activity.awaits(self.after)
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
    use std::net::IpAddr;
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

    /// A client that takes a piece whenever its time is nearly over is cut off; one that takes enough in a second is not, and the server's own time is its own.
    #[test]
    fn an_answer_has_a_minimum_rate() {
        let (after, piece) = (Duration::from_secs(60), 16 * 1024);
        let pieces = |pause: Duration, prepares: Duration| {
            let (mut taking, mut now) = (Taking::default(), Instant::now());
            (0..1_000)
                .take_while(|_| {
                    taking.offer(piece, now);
                    let is_late = taking.deadline(after).is_none_or(|deadline| deadline < now + pause);
                    now += pause;
                    taking.take(now);
                    now += prepares;
                    !is_late
                })
                .count()
        };
        assert_eq!(pieces(Duration::from_secs(59), Duration::ZERO), 1);
        assert_eq!(pieces(Duration::from_secs(61), Duration::ZERO), 0, "each piece has its time too");
        assert_eq!(pieces(Duration::from_secs(4), Duration::ZERO), 1_000, "4 KiB a second");
        assert_eq!(pieces(Duration::from_secs(1), Duration::from_secs(3_600)), 1_000, "blocks that come once an hour");
        assert_eq!(Taking::default().deadline(after), None);
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
