//! A node in this process: started, asked, steered, stopped.

use crate::{
    chain::{Chain, FinalizedBlock, Head, Setup},
    check,
    clock::{WallClock, machine_ms},
    committee::ValidatorKeys,
    engine::{self, Kept, Parts, Patience},
    failing,
    follow::{self, Fed, Feed},
    genesis::Genesis,
    images::ImageCache,
    imported,
    listen::{Listening, Voting},
    mempool::{Refused, Source, standings},
    pace::{BlockTime, Pace},
    peers,
    protocol::Outdated,
    quic::{self, Quic},
    ready::wait_until_ready,
    reshare::secrets::Secrets,
    votes::{self, Role, Votes},
};
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_runtime::{Metrics as _, Runner as _, Spawner as _, Supervisor as _, tokio as runtime};
use cowboy_chain::{SignedTransaction, StateKey, Trace, query::At};
use cowboy_state::records::Account;
use cowboy_store::{Directory, Ledger, Retention, StoreError, View, recent::TooOld};
use cowboy_types::{Address, Hash, units::Nonce};
use std::{
    net::{Ipv4Addr, SocketAddr},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, RwLock,
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

/// What a node is started with.
#[derive(Clone)]
pub struct NodeConfig {
    /// Where it keeps everything.
    pub directory: PathBuf,
    /// The chain.
    pub genesis: Genesis,
    /// Its secrets; none for a follower.
    pub keys: Option<ValidatorKeys>,
    /// When it proposes.
    pub block_time: BlockTime,
    /// Where it listens for peers, over QUIC.
    pub listen: SocketAddr,
    /// The other validators, and where they listen.
    pub peers: Vec<(PublicKey, SocketAddr)>,
    /// Threads that run its tasks.
    pub threads: usize,
    /// How much of the newest blocks it keeps beside the blocks.
    pub retention: Retention,
    /// How long it listens before it votes where the record of its votes is lost. At least the longest round.
    pub listening: Duration,
}

impl NodeConfig {
    /// A lone validator with a block every second.
    pub fn alone(directory: PathBuf, genesis: Genesis, keys: ValidatorKeys) -> Self {
        Self {
            directory,
            genesis,
            keys: Some(keys),
            block_time: BlockTime::Every(Duration::from_secs(1)),
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            peers: Vec::new(),
            threads: 2,
            retention: Retention::default(),
            listening: votes::LISTENING_TIME,
        }
    }
}

/// Why a node does not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Its folder cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its network cannot be used.
    #[error(transparent)]
    Network(#[from] quic::SetupError),
    /// It is no validator of this chain.
    #[error(transparent)]
    Foreign(#[from] peers::Foreign),
    /// Its folder exists, and the chain in it cannot continue.
    #[error(
        "the files in {directory} are damaged: the chain cannot go on after block {number} ({reason}); see what is damaged with `cowboyd check --state {directory}`, restore the folder with `cowboyd snapshot import`, or wipe it: a validator among others gets every block from them"
    )]
    Damaged {
        /// The folder.
        directory: PathBuf,
        /// The newest block that is final there.
        number: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Its folder was filled from a snapshot that nobody of this chain vouches for.
    #[error(
        "the snapshot in {directory} is not proven by this chain's validators: {reason}; import another one with `cowboyd snapshot import`, or wipe the folder with --reset"
    )]
    Unproven {
        /// The folder.
        directory: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// The process met one of its limits.
    #[error("the node ended because {limit}: {fix}, and start it again; what is final is kept")]
    Limit {
        /// Which, and what became of it.
        limit: &'static str,
        /// How to raise it.
        fix: &'static str,
    },
    /// Governance scheduled a protocol version that this build does not know, and its first block is next.
    #[error(transparent)]
    Outdated(#[from] Outdated),
    /// The engine stopped; the log says why.
    #[error("the node stopped before it was ready: the log says why")]
    Stopped,
    /// It ran, and ended by itself.
    #[error("the node ended by itself: {0}; the log says more, and what is final is kept")]
    Ended(String),
}

/// The node is stopped for a moment, while a snapshot is taken or put back, or for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the node is stopped while its state is copied: ask again in a second")]
pub struct Unavailable;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The node is stopped for a moment.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The block is too old.
    #[error(transparent)]
    TooOld(#[from] TooOld),
    /// The block is yet to come.
    #[error("block {number} is yet to come: the newest is {tip}")]
    NotYet {
        /// The number asked for.
        number: u64,
        /// The newest there is.
        tip: u64,
    },
    /// The disk cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A node in this process. Clones share it.
#[derive(Clone)]
pub struct NodeHandle(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) config: NodeConfig,
    tellers: Tellers,
    running: RwLock<Option<Running>>,
    /// Held while the node is stopped and started again, so that it happens once at a time.
    pub(crate) restarting: Mutex<()>,
    /// Ends the wait of a validator that listens when the node is dropped.
    listens: OnceLock<std::sync::mpsc::Sender<()>>,
}

/// A node between start and stop.
struct Running {
    chain: Arc<Chain>,
    metrics: Metrics,
    stop: Mutex<Option<oneshot::Sender<()>>>,
    thread: Option<JoinHandle<()>>,
    /// Whether it was told to stop.
    is_stopping: Arc<AtomicBool>,
    /// Set where it may not vote yet.
    listening: Option<Listening>,
}

type Metrics = Box<dyn Fn() -> String + Send + Sync>;

impl NodeHandle {
    /// Starts a validator and waits until its state can be read. Blocks the thread.
    pub fn start(config: NodeConfig) -> Result<Self, NodeError> {
        if let Some(keys) = &config.keys {
            peers::verify(&config.genesis.committee, keys, &config.peers)?;
        }
        Self::launch(config, None)
    }

    /// Starts a node that votes on nothing and is fed with another node's blocks. Blocks the thread.
    pub fn follow(directory: PathBuf, genesis: Genesis) -> Result<(Self, Feed), NodeError> {
        let config = NodeConfig {
            directory,
            genesis,
            keys: None,
            block_time: BlockTime::Instant,
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            peers: Vec::new(),
            threads: 2,
            retention: Retention::default(),
            listening: votes::LISTENING_TIME,
        };
        let (feed, fed) = Feed::new();
        Ok((Self::launch(config, Some(fed))?, feed))
    }

    fn launch(config: NodeConfig, fed: Option<mpsc::Receiver<Fed>>) -> Result<Self, NodeError> {
        let head = watch::Sender::new(Head::of(&config.genesis.block));
        let blocks = broadcast::Sender::new(crate::chain::SUBSCRIBER_LAG);
        let tellers = Tellers { head, blocks, last_words: watch::Sender::default() };
        let mut running = Running::start(&config, &tellers, fed)?;
        let listening = running.listening.take();
        let (running, restarting) = (RwLock::new(Some(running)), Mutex::default());
        let inner = Arc::new(Inner { config, tellers, running, restarting, listens: OnceLock::new() });
        if let Some(listening) = listening {
            // Nobody else has set it yet.
            let _ = inner.listens.set(listening.vote_later(&inner));
        }
        Ok(Self(inner))
    }

    /// What it was started with.
    pub fn config(&self) -> &NodeConfig {
        &self.0.config
    }

    /// The newest finalized block, in brief. Before the first block: genesis.
    pub fn head(&self) -> Head {
        *self.0.tellers.head.borrow()
    }

    /// Follows the newest finalized block; a reader that is slow sees only the newest.
    pub fn watch_head(&self) -> watch::Receiver<Head> {
        self.0.tellers.head.subscribe()
    }

    /// Every finalized block from now on, with its receipts. A reader that lags a thousand blocks misses some.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<FinalizedBlock>> {
        self.0.tellers.blocks.subscribe()
    }

    /// The chain as this node has it: ledger, mempool, state, pace.
    pub fn chain(&self) -> Result<Arc<Chain>, Unavailable> {
        self.running(|running| running.chain.clone())
    }

    /// The ledger as it is now: blocks, receipts, certificates, and indexes.
    pub fn view(&self) -> Result<View, AskError> {
        Ok(self.chain()?.ledger.view()?)
    }

    /// The values of these keys after the finalized block of this number, one of the newest: [`Retention`] says how many.
    pub async fn read(&self, number: u64, keys: Vec<StateKey>) -> Result<Vec<Option<Bytes>>, AskError> {
        let chain = self.chain()?;
        let tip = chain.head.borrow().number;
        if number > tip {
            return Err(AskError::NotYet { number, tip });
        }
        let latest = chain.state().ok_or(Unavailable)?.read(keys.clone()).await;
        let values = keys.iter().zip(latest).map(|(key, latest)| chain.recent.at(number, tip, key, latest));
        Ok(values.collect::<Result<_, _>>()?)
    }

    /// Where a query runs that sees the state after the finalized block of this number. After genesis, 0, there is none: the first
    /// block writes it.
    pub fn at(&self, number: u64) -> Result<At, AskError> {
        let chain = self.chain()?;
        let tip = chain.head.borrow().number;
        if number == 0 {
            return Err(AskError::NotYet { number: 1, tip });
        }
        let block = chain.block(number)?.ok_or(AskError::NotYet { number, tip })?;
        Ok(At::after(block.header(), chain.config.clone(), chain.images.clone()))
    }

    /// An account after the newest final block.
    pub async fn account(&self, address: Address) -> Result<Account, AskError> {
        Ok(self.chain()?.account(&address).await.ok_or(Unavailable)?)
    }

    /// The nonce of an account's next transaction: after those that wait here without a gap.
    pub async fn next_nonce(&self, address: Address) -> Result<Nonce, AskError> {
        Ok(self.chain()?.next_nonce(&address).await.ok_or(Unavailable)?)
    }

    /// Puts encoded transactions into the mempool. Answers each: its name, or why it was refused.
    pub async fn submit(&self, transactions: Vec<Vec<u8>>) -> Result<Vec<Result<Hash, Refused>>, AskError> {
        let signed = transactions.iter().map(|bytes| SignedTransaction::decode(bytes).map_err(Refused::from)).collect();
        self.submit_signed(signed).await
    }

    /// Puts transactions whose signatures were checked into the mempool.
    pub async fn submit_signed(&self, signed: Vec<Result<SignedTransaction, Refused>>) -> Result<Vec<Result<Hash, Refused>>, AskError> {
        let chain = self.chain()?;
        let good: Vec<SignedTransaction> = signed.iter().flatten().cloned().collect();
        let mut standings = standings(&**chain.state().ok_or(Unavailable)?, &good).await.into_iter();
        let answers = signed
            .into_iter()
            .map(|signed| {
                let signed = signed?;
                let standing = standings.next().expect("every good transaction has a standing");
                chain.mempool.admit(Source::Client, &standing, signed)
            })
            .collect();
        chain.pace.poke();
        Ok(answers)
    }

    /// What happened inside the delivery with this receipt, where it is among the blocks whose traces are kept.
    pub fn trace(&self, view: &View, receipt: &Hash) -> Result<Option<Trace>, AskError> {
        Ok(self.chain()?.trace(view, receipt)?)
    }

    /// Waits until the node ends by itself, as when its disk is full, and says why. A node that is stopped has not ended.
    pub async fn ended(&self) -> NodeError {
        let mut last_words = self.0.tellers.last_words.subscribe();
        // The sender lives as long as this handle.
        let words = last_words.wait_for(Option::is_some).await.ok().and_then(|words| words.clone());
        if let Some(outdated) = self.chain().ok().and_then(|chain| chain.protocol.stopped()) {
            return outdated.into();
        }
        failing::while_running(&words.unwrap_or_default(), &self.config().directory, self.head().number)
    }

    /// Blocks of the ledger that are to be fetched again: a validator fetches them itself, a follower gets them through [`Feed::restore`].
    pub fn missing(&self) -> Result<Vec<u64>, AskError> {
        Ok(self.chain()?.ledger.missing()?)
    }

    /// The metrics of every part, as Prometheus reads them.
    pub fn metrics(&self) -> Result<String, Unavailable> {
        self.running(|running| (running.metrics)())
    }

    /// Stops the node and waits until it has stopped. Nothing that was acknowledged is lost.
    pub fn shutdown(&self) {
        let _restarting = self.0.restarting.lock().expect("nothing panics while it holds the lock");
        self.stop();
    }

    /// Stops the node, if it runs. Questions are answered with [`Unavailable`] until it is started again.
    pub(crate) fn stop(&self) {
        let running = self.0.running.write().expect("nothing panics while it holds the lock").take();
        if let Some(running) = running {
            running.stop();
        }
    }

    /// Starts the node again after [`NodeHandle::stop`].
    pub(crate) fn resume(&self) -> Result<(), NodeError> {
        let running = Running::start(&self.0.config, &self.0.tellers, None)?;
        *self.0.running.write().expect("nothing panics while it holds the lock") = Some(running);
        Ok(())
    }

    /// Starts a validator that has listened again, so that it votes from now on. One that was stopped meanwhile stays so.
    pub(crate) fn restart_to_vote(&self, votes: &Votes) {
        let _restarting = self.0.restarting.lock().expect("nothing panics while it holds the lock");
        if self.chain().is_err() {
            return;
        }
        self.stop();
        if let Err(error) = votes.listened(machine_ms()).map_err(NodeError::from).and_then(|()| self.resume()) {
            self.0.tellers.last_words.send_replace(Some(error.to_string()));
        }
    }

    fn running<T>(&self, ask: impl FnOnce(&Running) -> T) -> Result<T, Unavailable> {
        self.0.running.read().expect("nothing panics while it holds the lock").as_ref().map(ask).ok_or(Unavailable)
    }
}

/// Where a node tells of its blocks, whether it runs or not.
#[derive(Clone)]
struct Tellers {
    head: watch::Sender<Head>,
    blocks: broadcast::Sender<Arc<FinalizedBlock>>,
    /// What it said when it ended by itself.
    last_words: watch::Sender<Option<String>>,
}

impl Tellers {
    /// Why a node in this folder ended before it was ready.
    fn why_not(&self, directory: &Path) -> NodeError {
        let (words, number) = (self.last_words.borrow().clone(), self.head.borrow().number);
        words.map_or(NodeError::Stopped, |words| failing::at_start(&words, directory, number))
    }
}

impl Running {
    fn start(config: &NodeConfig, tellers: &Tellers, fed: Option<mpsc::Receiver<Fed>>) -> Result<Self, NodeError> {
        let (mut fed, mut stall) = (fed, STALL);
        for _ in 0..GIVEN_UP {
            if let Some(running) = Self::attempt(config, tellers, fed.take(), Patience::Normal, stall)? {
                match &running.listening {
                    Some(listening) if listening.is_beginning(&running.chain)? => running.stop(),
                    _ => return Ok(running),
                }
                continue;
            }
            tracing::warn!("the last proposal before the node was stopped is lost: its view is given up");
            if let Some(impatient) = Self::attempt(config, tellers, None, Patience::Short, 10 * STALL)? {
                impatient.stop();
            }
            // It may have been a slow machine, and not the view.
            stall *= 2;
        }
        let reason = "the engine does not get past the view in which it was stopped".into();
        let number = tellers.head.borrow().number;
        let damaged = NodeError::Damaged { directory: config.directory.clone(), number, reason };
        Self::attempt(config, tellers, None, Patience::Normal, stall)?.ok_or(damaged)
    }

    /// Starts the node. `None` where it is alone and does not get past the view in which it was stopped.
    fn attempt(
        config: &NodeConfig,
        tellers: &Tellers,
        fed: Option<mpsc::Receiver<Fed>>,
        patience: Patience,
        stall: Duration,
    ) -> Result<Option<Self>, NodeError> {
        let genesis = &config.genesis;
        let Tellers { head, blocks, last_words } = tellers.clone();
        let directory = Directory::open(&config.directory, &genesis.hash())?;
        let ledger = Ledger::open(&directory.ledger())?.keeping(config.retention);
        imported::verify(&directory, &ledger, genesis)
            .map_err(|reason| NodeError::Unproven { directory: config.directory.clone(), reason })?;
        let chain = Arc::new(Chain::new(Setup {
            namespace: genesis.namespace(),
            genesis: genesis.block.clone(),
            allocation: genesis.allocation.clone(),
            config: genesis.chain.clone(),
            images: Arc::new(ImageCache::default()),
            keys: config.keys.clone(),
            ledger,
            pace: Pace::new(config.block_time),
            clock: WallClock::System,
            head,
            blocks,
        })?);
        if genesis.chain.is_dev {
            // A chain that was warped continues from its own clock.
            let ahead = head_ms(&chain).saturating_sub(machine_ms());
            chain.pace.set_clock_ahead_ms(i64::try_from(ahead).unwrap_or(i64::MAX));
        }
        // Giving up a view lasts only when a block after it is final.
        let wanted = if patience == Patience::Short { chain.head.borrow().number.saturating_add(1) } else { 0 };
        chain.pace.mine_until(wanted);
        // A follower has no connections, and nothing to be recognised by.
        let secret = config.keys.as_ref().map(|keys| keys.network.encode());
        let quic = Quic::new(secret.as_deref().unwrap_or_default(), config.peers.iter().map(|peer| peer.1))?;
        let listening = Listening::needed(config, &directory, &chain)?;
        let role = if listening.is_some() { Role::Listens } else { Role::Votes };
        let (stop, stopped) = oneshot::channel();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let task = Task { config: config.clone(), chain: chain.clone(), quic, fed, patience, role, wanted, stall, stopped, ready };
        let is_stopping = Arc::new(AtomicBool::new(false));
        let stopping = is_stopping.clone();
        let thread = std::thread::Builder::new()
            .name("node".into())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                // Nothing of the node is used any more after a panic, so nothing half-changed is seen.
                let ended = catch_unwind(AssertUnwindSafe(|| task.run(directory)));
                let words = match ended {
                    Ok(words) => words,
                    Err(payload) => Some(failing::last_words(&*payload)),
                };
                // What a task says that the stop cut off, in the middle of a block, is no reason to end.
                last_words.send_replace(words.filter(|_| !stopping.load(Ordering::Acquire)));
            })
            .map_err(|error| StoreError::file(&config.directory, error))?;
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
                Err(chain.protocol.stopped().map_or_else(|| tellers.why_not(&config.directory), NodeError::from))
            }
        }
    }

    fn stop(mut self) {
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
    stopped: oneshot::Receiver<()>,
    ready: std::sync::mpsc::Sender<Result<Metrics, Stalled>>,
}

/// The engine does not ask a lone validator for a block, so the view in which it was stopped does not end.
struct Stalled;

impl Task {
    /// Runs the node until it is told to stop, or ends by itself: then it says why. The folder is given back last.
    fn run(self, directory: Directory) -> Option<String> {
        let runtime = runtime::Config::new()
            .with_storage_directory(directory.engine())
            .with_worker_threads(self.config.threads)
            .with_thread_stack_size(STACK_BYTES);
        let _voting = self.config.keys.as_ref().filter(|_| self.role == Role::Votes).map(|keys| Voting::begin(&directory, keys));
        let last_words = runtime::Runner::new(runtime).start(|context| self.serve(context));
        drop(directory);
        last_words
    }

    async fn serve(self, context: runtime::Context) -> Option<String> {
        let Self { config, chain, quic, fed, patience, role, wanted, stall, stopped, ready } = self;
        let context = quic::Context::new(context, quic);
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
        // A starter that has given up wants no answer.
        let _ = match is_ready {
            true => ready.send(Ok(Box::new(move || registry.encode()))),
            false => ready.send(Err(Stalled)),
        };
        let mut last_words = None;
        if is_ready {
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
    let parts = Parts { prefix: check::VALIDATOR.into(), peers, blocker, channels, patience, kept: Kept::default(), role, secrets };
    engine::start(context.child("engine").steady(), chain, parts, |machine| machine).await.handle
}

fn head_ms(chain: &Chain) -> u64 {
    chain.head.borrow().timestamp_ms.0
}
