//! A node between start and stop: its thread, its runtime, and what it says when it ends.

use crate::{
    bodies,
    chain::{Chain, FinalizedBlock, Head, Setup},
    check,
    clock::WallClock,
    committee::ValidatorKeys,
    config::NodeConfig,
    engine::{self, Kept, Parts, Patience},
    error::NodeError,
    failing::{self, Phase},
    follow::{self, Fed},
    images::ImageCache,
    imported,
    listen::{Listening, Voting},
    mempool::Source,
    pace::Pace,
    peers,
    proposals::Proposals,
    quic::{self, Quic},
    ready::wait_until_ready,
    reshare::secrets::Secrets,
    voted::Voted,
    votes::Role,
};
use commonware_codec::Encode as _;
use commonware_cryptography::Signer as _;
use commonware_runtime::{Metrics as _, Runner as _, Spawner as _, Supervisor as _, tokio as runtime};
use cowboy_chain::SignedTransaction;
use cowboy_host::clock::now_ms;
use cowboy_store::{Directory, Ledger, StoreError};
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

/// How long tasks may take to end when the node stops. What they would still write is not needed.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// After how long without being asked for a block a lone validator is stalled, once its state is open.
const STALL: Duration = Duration::from_secs(3);

/// How often the view in which a lone validator was stopped is given up before the node is.
const GIVEN_UP: u32 = 3;

/// The stack of the threads that start the engine and run it: unoptimised, its futures are large, and programs run in them.
const STACK_BYTES: usize = 32 * 1024 * 1024;
const _: () = assert!(STACK_BYTES >= 2 * cowboy_chain::STACK_BYTES, "programs have room beside the engine's own frames");

/// A node between start and stop.
pub(crate) struct Running {
    pub(crate) chain: Arc<Chain>,
    pub(crate) metrics: Metrics,
    stop: Mutex<Option<oneshot::Sender<()>>>,
    thread: Option<JoinHandle<()>>,
    /// Whether it was told to stop.
    is_stopping: Arc<AtomicBool>,
    /// Set where it may not vote yet.
    pub(crate) listening: Option<Listening>,
}

pub(crate) type Metrics = Box<dyn Fn() -> String + Send + Sync>;

/// Where a node publishes its blocks, whether it runs or not.
#[derive(Clone)]
pub(crate) struct Outlets {
    pub(crate) head: watch::Sender<Head>,
    pub(crate) blocks: broadcast::Sender<Arc<FinalizedBlock>>,
    /// What it said when it ended by itself.
    pub(crate) last_words: watch::Sender<Option<String>>,
    /// Transactions that waited when it was stopped, for the run that begins at once.
    pub(crate) waiting: Arc<Mutex<Vec<SignedTransaction>>>,
}

impl Outlets {
    /// Keeps what waits for the next run.
    pub(crate) fn keep_waiting(&self, waiting: Vec<SignedTransaction>) {
        *self.waiting.lock().expect("nothing panics while it holds the lock") = waiting;
    }

    /// Why a node in this folder ended before it was ready.
    fn why_not(&self, directory: &Path) -> NodeError {
        let (words, number) = (self.last_words.borrow().clone(), self.head.borrow().number);
        words.map_or(NodeError::Stopped, |words| failing::at_start(&words, directory, number))
    }
}

impl Running {
    /// Starts the node. `has_listened` says that it may vote, as this process has listened for long enough until now.
    pub(crate) fn start(
        config: &NodeConfig,
        outlets: &Outlets,
        fed: Option<mpsc::Receiver<Fed>>,
        has_listened: bool,
    ) -> Result<Self, NodeError> {
        let (mut fed, mut stall, mut has_listened) = (fed, STALL, has_listened);
        for _ in 0..GIVEN_UP {
            if let Some(running) = Self::attempt(config, outlets, fed.take(), (Patience::Normal, stall), has_listened)? {
                match &running.listening {
                    Some(listening) if listening.is_beginning(&running.chain) => running.stop(),
                    _ => return Ok(running),
                }
                has_listened = true;
                continue;
            }
            tracing::warn!("the last proposal before the node was stopped is lost: its view is given up");
            if let Some(impatient) = Self::attempt(config, outlets, None, (Patience::Short, 10 * STALL), has_listened)? {
                impatient.stop();
            }
            // It may have been a slow machine, and not the view.
            stall *= 2;
        }
        let reason = "the engine does not get past the view in which it was stopped".into();
        let number = outlets.head.borrow().number;
        let damaged = NodeError::Damaged { directory: config.directory.clone(), number, reason };
        Self::attempt(config, outlets, None, (Patience::Normal, stall), has_listened)?.ok_or(damaged)
    }

    /// Starts the node. `None` where it is alone and does not get past the view in which it was stopped.
    fn attempt(
        config: &NodeConfig,
        outlets: &Outlets,
        fed: Option<mpsc::Receiver<Fed>>,
        (patience, stall): (Patience, Duration),
        has_listened: bool,
    ) -> Result<Option<Self>, NodeError> {
        if failing::is_on_full_disk(&config.directory) {
            return Err(StoreError::DiskFull.into());
        }
        let genesis = &config.genesis;
        let directory = Directory::open(&config.directory, &genesis.hash())?;
        let ledger = Ledger::open(&directory.ledger())?.keeping(config.kept());
        imported::verify(&directory, &ledger, genesis)
            .map_err(|reason| NodeError::Unproven { directory: config.directory.clone(), reason })?;
        let chain = Arc::new(Chain::new(Setup {
            namespace: genesis.namespace(),
            genesis: genesis.block.clone(),
            allocation: genesis.allocation.clone(),
            config: genesis.chain.clone(),
            images: Arc::new(ImageCache::default()),
            keys: config.keys.clone(),
            // Nobody takes stake on a chain of development.
            proposals: if genesis.chain.is_dev { Proposals::default() } else { Proposals::open(&directory.engine())? },
            voted: if config.keys.is_some() { Voted::open(&directory.engine())? } else { Voted::default() },
            ledger,
            pace: Pace::new(config.block_time),
            clock: WallClock::System,
            head: outlets.head.clone(),
            blocks: outlets.blocks.clone(),
        })?);
        if genesis.chain.is_dev {
            // A chain that was warped continues from its own clock.
            let ahead = head_ms(&chain).saturating_sub(now_ms());
            chain.pace.set_clock_ahead_ms(i64::try_from(ahead).unwrap_or(i64::MAX));
        }
        // Giving up a view lasts only when a block after it is final.
        let wanted = if patience == Patience::Short { chain.head.borrow().number.saturating_add(1) } else { 0 };
        chain.pace.mine_until(wanted);
        // A follower has no connections, and nothing to be recognised by.
        let secret = config.keys.as_ref().map(|keys| keys.network.encode());
        let quic = Quic::new(secret.as_deref().unwrap_or_default(), config.peers.iter().map(|peer| peer.1))?;
        let listening = Listening::needed(config.keys.as_ref(), config.listening, &directory, &chain, has_listened)?;
        let role = if listening.is_some() { Role::Listens } else { Role::Votes };
        let (stop, stopped) = oneshot::channel();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let (chain_of_task, waiting) = (chain.clone(), outlets.waiting.clone());
        let task = Task { config: config.clone(), chain: chain_of_task, quic, fed, patience, role, wanted, stall, waiting, stopped, ready };
        let is_stopping = Arc::new(AtomicBool::new(false));
        let thread = task.spawn(directory, is_stopping.clone(), outlets.last_words.clone());
        let thread = thread.map_err(|error| StoreError::file(&config.directory, error))?;
        match is_ready.recv() {
            Ok(Ok(metrics)) => {
                Ok(Some(Self { chain, metrics, stop: Mutex::new(Some(stop)), thread: Some(thread), is_stopping, listening }))
            }
            Ok(Err(Stalled)) => {
                // It says that it ends, and frees the folder when it has.
                let _ = thread.join();
                Ok(None)
            }
            Err(_) => {
                // It ends, and its exit reason is then available.
                let _ = thread.join();
                Err(chain.protocol.stopped().map_or_else(|| outlets.why_not(&config.directory), NodeError::from))
            }
        }
    }

    pub(crate) fn stop(mut self) {
        self.is_stopping.store(true, Ordering::Release);
        if let Some(stop) = self.stop.lock().expect("nothing panics while it holds the lock").take() {
            // A node that has stopped by itself hears nothing.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A node that panicked has said so in the log.
            let _ = thread.join();
        }
    }
}

/// What runs on the node's own thread.
struct Task {
    config: NodeConfig,
    chain: Arc<Chain>,
    quic: Arc<Quic>,
    fed: Option<mpsc::Receiver<Fed>>,
    patience: Patience,
    role: Role,
    /// The block that a lone validator is ready with, beside the first.
    wanted: u64,
    /// After how long it is stalled.
    stall: Duration,
    /// What waited when the run before this one was stopped.
    waiting: Arc<Mutex<Vec<SignedTransaction>>>,
    stopped: oneshot::Receiver<()>,
    ready: std::sync::mpsc::Sender<Result<Metrics, Stalled>>,
}

/// The engine does not ask a lone validator for a block, so the view in which it was stopped does not end.
struct Stalled;

impl Task {
    /// Runs the node on a thread of its own. What it says when it ends by itself goes to `last_words`.
    fn spawn(
        self,
        directory: Directory,
        is_stopping: Arc<AtomicBool>,
        last_words: watch::Sender<Option<String>>,
    ) -> io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name("node".into()).stack_size(STACK_BYTES).spawn(move || {
            let phase = Phase::default();
            let _thread = phase.of_thread();
            // Nothing of the node is used any more after a panic, so nothing half-changed is seen.
            let ended = catch_unwind(AssertUnwindSafe(|| self.run(directory, &phase)));
            let words = match ended {
                Ok(words) => words,
                Err(payload) => Some(failing::last_words(&*payload)),
            };
            // What a task says that the stop cut off, in the middle of a block, is no reason to end.
            last_words.send_replace(words.filter(|_| !is_stopping.load(Ordering::Acquire)));
        })
    }

    /// Runs the node until it is told to stop, or ends by itself: then it says why. The folder is given back last.
    fn run(self, directory: Directory, phase: &Phase) -> Option<String> {
        let runtime = runtime::Config::new()
            .with_storage_directory(directory.engine())
            .with_worker_threads(self.config.threads)
            .with_thread_stack_size(STACK_BYTES);
        // A validator that is alone never listens: no start asks when it voted last.
        let is_asked = self.role == Role::Votes && !self.chain.is_alone();
        let _voting = self.config.keys.as_ref().filter(|_| is_asked).map(|keys| Voting::begin(&directory, keys));
        let last_words = runtime::Runner::new(runtime).start(|context| self.serve(context, phase));
        drop(directory);
        last_words
    }

    async fn serve(self, context: runtime::Context, phase: &Phase) -> Option<String> {
        phase.of_runtime();
        let Self { config, chain, quic, fed, patience, role, wanted, stall, waiting, stopped, ready } = self;
        let context = quic::Context::new(context, quic);
        let context = if config.keys.is_some() && chain.is_alone() { context.alone() } else { context };
        let mut working = match (&config.keys, fed) {
            (Some(keys), _) => validate(&context, &config, keys, chain.clone(), (patience, role)).await,
            (None, Some(fed)) => {
                let chain = chain.clone();
                context.child("follower").spawn(move |context| follow::serve(context, chain, fed))
            }
            (None, None) => return None,
        };
        let is_alone = role == Role::Votes && config.keys.as_ref().is_some_and(|keys| chain.is_signed_by_only(&keys.network.public_key()));
        let registry = context.child("metrics");
        let slow = "Deliveries that took far longer than their modelled time";
        let _slow = context.child("execution").register("slow_deliveries", slow, chain.slow.deliveries.clone());
        let is_ready = tokio::select! {
            is_ready = wait_until_ready(&chain, is_alone, wanted, stall) => is_ready,
            outdated = chain.protocol.wait_until_stopped() => return Some(outdated.to_string()),
            _ = &mut working => return None,
        };
        if let Some(state) = chain.state().filter(|_| is_ready) {
            let waited = std::mem::take(&mut *waiting.lock().expect("nothing panics while it holds the lock"));
            // What is final by now is refused. The others hear of the rest again, as what they were told may be lost.
            chain.mempool.admit_all(Source::Client, &**state, waited).await;
        }
        // A starter that has given up wants no answer.
        let _ = match is_ready {
            true => ready.send(Ok(Box::new(move || registry.encode()))),
            false => ready.send(Err(Stalled)),
        };
        let mut last_words = None;
        if is_ready {
            phase.run();
            tokio::select! {
                // Told to stop, or forgotten: either way it ends.
                _ = stopped => {}
                outdated = chain.protocol.wait_until_stopped() => last_words = Some(outdated.to_string()),
                _ = working => return Some("the engine ended".into()),
            }
            // A proposal that is cut off would hold up the next start, and nothing else comes of not waiting.
            chain.pace.pause();
            let _ = tokio::time::timeout(STOP_TIMEOUT, chain.wait_until_quiet()).await;
        }
        if context.stop(0, Some(STOP_TIMEOUT)).await.is_err() {
            tracing::debug!("some tasks were still busy when the node stopped");
        }
        last_words
    }
}

/// Joins the network, whose handshakes compare the time of day, and starts to vote. Answers what ends when the engine does.
async fn validate(
    context: &quic::Context,
    config: &NodeConfig,
    keys: &ValidatorKeys,
    chain: Arc<Chain>,
    (patience, role): (Patience, Role),
) -> commonware_runtime::Handle<()> {
    let (peers, channels) = peers::join(context, &config.genesis, keys, (config.listen, &config.peers), &chain, &engine::traffic());
    let (blocker, secrets) = (peers.oracle(), Secrets::of(&config.directory, &config.genesis.hash(), keys));
    let (prefix, kept, small) = (check::VALIDATOR.into(), Kept::default(), bodies::SMALL);
    let parts = Parts { prefix, peers, blocker, channels, patience, kept, small, role, secrets };
    engine::start(context.child("engine"), chain, parts, |machine| machine).await.handle
}

fn head_ms(chain: &Chain) -> u64 {
    chain.head.borrow().timestamp_ms.0
}
