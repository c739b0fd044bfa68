//! Worker threads that run what requests ask for.
//!
//! The work of one request cannot be interrupted, but it is bounded: by cycles, by the modelled memory, and by the depth that the
//! VM allows, for which this stack is sized. What is not bounded by that waits in a queue that is: in all, for each client, and in
//! time. Subnets take turns, and so do the clients of one, so that none of them delays the others by more than one piece of work for each thread.

use crate::{
    Client, limits,
    queue::{Queue, Work},
};
use std::{
    cell::Cell,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};
use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::oneshot,
};

/// The stack of every thread that compiles source or runs actors, in bytes: the VM's, and as much again for the frames of the
/// request beneath it.
pub const STACK_BYTES: usize = 2 * cowboy_vm::STACK_BYTES;

/// How much workers stand back behind consensus, as `nice` counts.
const NICE: i32 = 10;

/// What a pool allows.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Threads.
    pub threads: usize,
    /// Pieces of work that wait, of all clients.
    pub waiting: usize,
    /// Pieces of work of one client that wait or run.
    pub per_client: usize,
    /// The time from a request to its result.
    pub patience: Duration,
}

impl Bounds {
    /// A thread for each processor, two at least; 512 pieces of work that wait, 64 of each client; 10 seconds.
    pub fn of_machine() -> Self {
        let processors = thread::available_parallelism().map_or(2, usize::from);
        Self { threads: processors.max(2), waiting: 512, per_client: 64, patience: Duration::from_secs(10) }
    }
}

/// Why work has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The queue is full.
    #[error("{0} requests wait already")]
    Full(usize),
    /// The client has its share of the queue.
    #[error("{0} requests of this client wait or run already")]
    Client(usize),
    /// The time is over.
    #[error("the result was not there after {} seconds", .0.as_secs())]
    Late(Duration),
    /// The work panicked.
    #[error("{0}")]
    Panicked(String),
}

/// Worker threads with a bounded queue. Clones share them; they end with the last clone.
#[derive(Clone)]
pub struct Pool(Arc<Workers>);

struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    bounds: Bounds,
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Pool {
    /// Starts the threads, which the system calls `name`. Fails where the system has no room for them.
    pub fn start(name: &str, bounds: Bounds) -> io::Result<Self> {
        let shared = Arc::new(Shared { bounds, queue: Mutex::default(), changed: Condvar::new() });
        let pool = Self(Arc::new(Workers { shared: shared.clone() }));
        for _ in 0..shared.bounds.threads.max(1) {
            let shared = shared.clone();
            thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(move || shared.work())?;
        }
        Ok(pool)
    }

    /// Runs work on one of the threads and answers its result. Work that was not begun is forgotten when its future is dropped.
    ///
    /// The work is given the caller's runtime, to wait for what it reads.
    pub async fn run<T: Send + 'static>(&self, client: Client, work: impl FnOnce(&Handle) -> T + Send + 'static) -> Result<T, Refused> {
        let (shared, runtime) = (&self.0.shared, Handle::current());
        let (sender, receiver) = oneshot::channel();
        let job = move |done: &dyn Fn()| {
            if sender.is_closed() {
                return done();
            }
            let result = catch_unwind(AssertUnwindSafe(|| work(&runtime)));
            done();
            // Whoever asked may be gone by now.
            let _ = sender.send(result.map_err(|payload| Refused::Panicked(words(&*payload))));
        };
        shared.admit(client, Box::new(job))?;
        match tokio::time::timeout(shared.bounds.patience, receiver).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) if shared.lock().is_over => Err(Refused::Panicked("the worker threads have ended".into())),
            // It had to make room.
            Ok(Err(_)) => Err(Refused::Full(shared.bounds.waiting)),
            Err(_) => Err(Refused::Late(shared.bounds.patience)),
        }
    }

    /// How much waits and does not run yet.
    pub fn waiting(&self) -> usize {
        self.0.shared.lock().length
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Work runs without the lock, so that no panic leaves the queue half-changed.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self, client: Client, work: Work) -> Result<(), Refused> {
        let mut queue = self.lock();
        if queue.held.get(&client).is_some_and(|held| *held >= self.bounds.per_client) {
            return Err(Refused::Client(self.bounds.per_client));
        }
        let displaced = if queue.length < self.bounds.waiting { None } else { Some(queue.displace(client)) };
        if matches!(displaced, Some(None)) {
            return Err(Refused::Full(self.bounds.waiting));
        }
        queue.push(client, work);
        // What had to make room is dropped without the lock.
        drop(queue);
        drop(displaced);
        self.changed.notify_one();
        Ok(())
    }

    /// What each thread does until the pool ends.
    fn work(&self) {
        stand_back();
        HAS_ROOM.set(true);
        let mut queue = self.lock();
        loop {
            if queue.is_over {
                return;
            }
            let Some((client, work)) = queue.pop() else {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(queue);
            work(&|| self.lock().done(client));
            queue = self.lock();
        }
    }
}

/// Lowers the priority of the calling thread. Where the system refuses, it competes with the others.
fn stand_back() {
    // Only Linux has priorities by thread; elsewhere this would be the process's.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "a worker thread keeps its priority");
    }
}

/// What a panic said.
fn words(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "a panic without words".into())
}

thread_local! {
    static HAS_ROOM: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread has [`STACK_BYTES`] of stack: a worker of a [`Pool`] or of [`runtime`].
pub fn has_room() -> bool {
    HAS_ROOM.get()
}

/// A tokio runtime whose threads have the stack that actors need; as many as there are processors where `threads` is absent. Made first of all, it starts soonest.
pub fn runtime(threads: Option<usize>) -> io::Result<Runtime> {
    limits::make_room_for_files();
    let mut builder = Builder::new_multi_thread();
    if let Some(threads) = threads {
        builder.worker_threads(threads);
    }
    builder.thread_stack_size(STACK_BYTES).on_thread_start(|| HAS_ROOM.set(true)).enable_all().build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{net::IpAddr, sync::mpsc};

    fn client(number: u8) -> Client {
        IpAddr::from([192, 0, 2, number]).into()
    }

    /// Nobody waits when the 65th file is opened.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_runtime_comes_with_room_for_file_descriptors() {
        drop(runtime(Some(1)).expect("a runtime"));
        let status = std::fs::read_to_string("/proc/self/status").expect("the system says it");
        let room = status.lines().find_map(|line| line.strip_prefix("FDSize:")?.trim().parse::<u32>().ok());
        assert!(room.is_some_and(|room| room >= 1_024), "{room:?}");
    }

    fn pool(waiting: usize, per_client: usize, patience: Duration) -> Pool {
        Pool::start("test", Bounds { threads: 1, waiting, per_client, patience }).expect("the system has threads")
    }

    /// Keeps the pool's only thread busy until the sender is dropped, and begins once the thread is there.
    async fn occupy(pool: &Pool, client: Client) -> (mpsc::Sender<()>, tokio::task::JoinHandle<Result<(), Refused>>) {
        let (release, released) = mpsc::channel::<()>();
        let (begun, begins) = oneshot::channel();
        let pool = pool.clone();
        let running = tokio::spawn(async move {
            pool.run(client, move |_| {
                let _ = begun.send(());
                let _ = released.recv();
            })
            .await
        });
        begins.await.expect("the thread begins");
        (release, running)
    }

    const HOUR: Duration = Duration::from_secs(3_600);

    #[tokio::test]
    async fn work_has_a_stack_a_runtime_and_a_result() {
        let pool = pool(4, 4, HOUR);
        assert!(!has_room());
        let found = pool.run(client(1), |runtime| (has_room(), runtime.block_on(async { 7 }), thread::current().name().map(str::to_owned)));
        assert_eq!(found.await, Ok((true, 7, Some("test".to_owned()))));
        let failed = pool.run(client(1), |_| -> u8 { panic!("no such row") }).await;
        assert_eq!(failed, Err(Refused::Panicked("no such row".into())));
        assert_eq!(pool.run(client(1), |_| 8).await, Ok(8), "the thread lives on");
        assert!(pool.0.shared.lock().held.is_empty(), "no client is remembered");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn workers_stand_back() {
        let before = rustix::process::getpriority_process(None).expect("a priority");
        let pool = pool(4, 4, HOUR);
        let within = pool.run(client(1), |_| rustix::process::getpriority_process(None).expect("a priority")).await;
        assert_eq!(within, Ok(NICE.max(before)));
        assert_eq!(rustix::process::getpriority_process(None).expect("a priority"), before, "only the workers");
    }

    /// The queue is bounded in all, and for each client; what is refused is not begun.
    #[tokio::test]
    async fn the_queue_is_bounded() {
        let pool = pool(3, 2, HOUR);
        let (release, running) = occupy(&pool, client(1)).await;
        let waits = |number: u8| {
            let pool = pool.clone();
            let mut waiting = Box::pin(async move { pool.run(client(number), move |_| number).await });
            // Polled once, it stands in the queue.
            assert!(futures_poll(&mut waiting).is_none());
            waiting
        };
        let second = waits(1);
        assert_eq!(pool.run(client(1), |_| 0).await, Err(Refused::Client(2)));
        let (third, fourth) = (waits(2), waits(3));
        assert_eq!(pool.waiting(), 3);
        assert_eq!(pool.run(client(4), |_| 0).await, Err(Refused::Full(3)));
        drop(release);
        assert_eq!((second.await, third.await, fourth.await), (Ok(1), Ok(2), Ok(3)));
        assert_eq!(running.await.expect("no panic"), Ok(()));
    }

    /// Clients that fill the queue do not keep another out of it: their newest work makes room.
    #[tokio::test]
    async fn a_full_queue_is_shared() {
        let pool = pool(6, 4, HOUR);
        let (release, running) = occupy(&pool, client(1)).await;
        let mut waits = Vec::new();
        for number in [1, 1, 1, 2, 2, 2, 3, 3, 4] {
            let pool = pool.clone();
            let mut asked = Box::pin(async move { pool.run(client(number), move |_| number).await });
            assert!(futures_poll(&mut asked).is_none(), "client {number} gets its place");
            waits.push(asked);
        }
        assert_eq!(pool.waiting(), 6);
        assert_eq!(pool.run(client(1), |_| 0).await, Err(Refused::Full(6)), "who has as much as the others waits for none of theirs");
        drop(release);
        let mut results = Vec::new();
        for asked in waits {
            results.push(asked.await);
        }
        let full = Err(Refused::Full(6));
        assert_eq!(results, [Ok(1), Ok(1), full.clone(), Ok(2), Ok(2), full.clone(), Ok(3), full, Ok(4)]);
        assert_eq!(running.await.expect("no panic"), Ok(()));
        assert!(pool.0.shared.lock().held.is_empty(), "no client is remembered");
    }

    /// Many clients of one subnet keep no other subnet out of the queue, and take turns with it.
    #[tokio::test]
    async fn a_full_queue_is_shared_by_subnets() {
        let pool = pool(6, 4, HOUR);
        let (release, running) = occupy(&pool, client(1)).await;
        let (said, heard) = mpsc::channel();
        let other = Client::from(IpAddr::from([198, 51, 100, 1]));
        let rows = (1..=6).map(|number| (client(number), number)).chain([(other, 10), (other, 11)]);
        let mut waiting = Vec::new();
        for (client, number) in rows {
            let (pool, said) = (pool.clone(), said.clone());
            let mut asked = Box::pin(async move { pool.run(client, move |_| said.send(number)).await });
            assert!(futures_poll(&mut asked).is_none(), "{number} gets its place");
            waiting.push(asked);
        }
        drop((release, said));
        let mut refused = Vec::new();
        for asked in waiting {
            refused.push(asked.await.is_err());
        }
        assert_eq!(refused, [false, false, false, false, true, true, false, false]);
        assert_eq!(heard.iter().collect::<Vec<u8>>(), [1, 10, 2, 11, 3, 4]);
        assert_eq!(running.await.expect("no panic"), Ok(()));
        let queue = pool.0.shared.lock();
        assert!(queue.held.is_empty() && queue.length == 0, "nobody is remembered");
    }

    /// Clients take turns: one that asks much does not delay another by all of it.
    #[tokio::test]
    async fn clients_take_turns() {
        let pool = pool(100, 100, HOUR);
        let (release, _running) = occupy(&pool, client(1)).await;
        let (said, heard) = mpsc::channel();
        let mut waiting = Vec::new();
        for number in [1, 1, 1, 1, 2, 2, 3] {
            let (pool, said) = (pool.clone(), said.clone());
            let mut asked = Box::pin(async move { pool.run(client(number), move |_| said.send(number)).await });
            assert!(futures_poll(&mut asked).is_none());
            waiting.push(asked);
        }
        drop(release);
        for asked in waiting {
            assert!(asked.await.is_ok());
        }
        drop(said);
        assert_eq!(heard.iter().collect::<Vec<u8>>(), [1, 2, 3, 1, 2, 1, 1]);
    }

    /// A result that comes too late is refused; what was not begun by then, or whose client has gone, is never begun.
    #[tokio::test]
    async fn late_work_is_forgotten() {
        let pool = pool(10, 10, Duration::from_millis(20));
        let (release, running) = occupy(&pool, client(1)).await;
        let (said, heard) = mpsc::channel();
        let gone = said.clone();
        let mut abandoned = Box::pin(pool.run(client(2), move |_| gone.send("abandoned")));
        assert!(futures_poll(&mut abandoned).is_none());
        drop(abandoned);
        let late = pool.run(client(2), move |_| said.send("late")).await;
        assert_eq!(late.err(), Some(Refused::Late(Duration::from_millis(20))));
        assert_eq!(running.await.expect("no panic"), Err(Refused::Late(Duration::from_millis(20))));
        drop(release);
        assert_eq!(heard.recv(), Err(mpsc::RecvError), "both were dropped unused");
    }

    /// Polls a future once.
    fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(future).poll(&mut context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        }
    }
}
