//! A whole network under the deterministic runtime: one seed decides everything.

use crate::{
    bodies::{Crowd, Times},
    byzantine::{Ends, Traitor, Treason, Withheld, halves},
    checks::Holds,
    common::{ACCOUNTS, genesis},
    forging::{Forger, Forging, Meter},
    script::Client,
};
use commonware_consensus::{
    marshal::{core::Mailbox, standard::Standard},
    types::Epoch,
};
use commonware_cryptography::{Signer as _, bls12381::primitives::group::Share, ed25519::PublicKey};
use commonware_glue::dkg::network::Manager;
use commonware_glue::simulate::{
    action::{Action, Crash, Schedule},
    engine::{EngineDefinition, InitContext},
    exit::ProcessedHeightAtLeast,
    plan::PlanBuilder,
    processed::ProcessedHeight,
    reporter::MonitorReporter,
    tracker::FinalizationUpdate,
};
use commonware_p2p::{
    self as p2p,
    simulated::{Link, Oracle},
};
use commonware_runtime::{
    Handle, Quota, Spawner as _, Supervisor as _,
    deterministic::{Context, FaultConfig},
};
use commonware_utils::{channel::mpsc, probability};
use cowboy_chain::{ChainConfig, GenesisConfig};
use cowboy_node::{
    BlockTime, Chain, Genesis,
    block::SealedBlock,
    bodies,
    chain::Setup,
    clock::WallClock,
    committee::ValidatorKeys,
    engine::{self, Kept, Parts, Patience},
    epoch::roll::Roll,
    genesis::{self as node_genesis, DevGenesis},
    images::ImageCache,
    pace::Pace,
    reshare::secrets::{self, Secrets},
    seeds::Scheme,
    votes::Role,
};
use cowboy_store::Ledger;
use cowboy_system::Versions;
use cowboy_types::{Instruction, signing::PrivateKey};
use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};
use tempfile::TempDir;

pub(crate) const VALIDATORS: u32 = 4;

/// Blocks that every run makes.
pub(crate) const BLOCKS: u64 = 40;

/// The environment variable that names the one seed to run.
pub(crate) const SEED: &str = "COWBOY_SIM_SEED";

type Marshal = Mailbox<Scheme, Standard<SealedBlock>>;

/// How a validator deals where it does not as it must.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dealer {
    /// To one other alone.
    ToOne,
    /// When the time for dealings is over, in epochs of this length.
    Late(u64),
}

/// What an account beside the script's sends.
#[derive(Clone)]
pub(crate) struct Order {
    /// Through which validator.
    pub(crate) through: usize,
    pub(crate) key: PrivateKey,
    /// After which block.
    pub(crate) after: u64,
    pub(crate) instruction: Instruction,
}

/// A network of validators, with what of each survives its crashes.
#[derive(Clone)]
pub(crate) struct Network {
    genesis: Genesis,
    keys: Vec<ValidatorKeys>,
    ledgers: Vec<Ledger>,
    pub(crate) traitor: Option<Traitor>,
    /// What the engines' own archives keep.
    pub(crate) kept: Kept,
    /// The size in bytes up to which blocks are sent whole.
    pub(crate) small: usize,
    /// Who sends more than blocks have room for.
    pub(crate) crowd: Option<Crowd>,
    /// Bytes that a validator can send, and receive, in a second.
    pub(crate) bandwidth: Option<usize>,
    /// What all of them sent.
    pub(crate) meter: Meter,
    /// When the first validator had its blocks.
    pub(crate) times: Times,
    /// The validator whose disk is empty whenever it is started again.
    pub(crate) wiped: Option<usize>,
    /// The validator that only listens.
    pub(crate) listens: Option<usize>,
    /// Who listens from its second start on until its third, beside the record of its votes.
    pub(crate) listens_again: Option<usize>,
    /// What accounts beside the script's send, one thing each.
    pub(crate) orders: Vec<Order>,
    /// For how long from the beginning no dealing reaches anybody.
    pub(crate) undealt: Option<Duration>,
    /// The validator that deals to some only, or too late.
    pub(crate) dealer: Option<(usize, Dealer)>,
    /// The validator that changes what it sends.
    pub(crate) forger: Option<Forger>,
    /// The validator whose shares are gone whenever it is started again.
    pub(crate) loses_shares: Option<usize>,
    /// Where the validators keep their shares.
    secrets: Arc<TempDir>,
    /// The validators of which nothing is asked: they leave, and hear of no block once they have, or the others block them.
    pub(crate) unasked: BTreeSet<usize>,
    /// The validator whose build knows the protocol versions up to this one only. It, too, is asked nothing.
    pub(crate) old: Option<(usize, Versions)>,
    /// How often each validator was started.
    starts: Arc<Vec<AtomicUsize>>,
}

impl Network {
    pub(crate) fn new() -> Self {
        Self::of(genesis(VALIDATORS), Vec::new())
    }

    /// A network that begins so, in which nodes with these keys, of no validator yet, take part.
    pub(crate) fn of(dev: DevGenesis, newcomers: Vec<ValidatorKeys>) -> Self {
        Self::with(dev, newcomers, |_| {})
    }

    /// The same, with a changed genesis.
    pub(crate) fn with(dev: DevGenesis, newcomers: Vec<ValidatorKeys>, change: impl FnOnce(&mut GenesisConfig)) -> Self {
        let (dev, mut keys) = node_genesis::dev(dev).expect("a genesis");
        keys.extend(newcomers);
        let mut config = GenesisConfig { is_dev: false, ..dev.config };
        change(&mut config);
        let genesis = Genesis::new(config, dev.sharing).expect("a genesis");
        let ledgers = keys.iter().map(|_| Ledger::in_memory().expect("memory is enough")).collect();
        let starts = Arc::new(keys.iter().map(|_| AtomicUsize::new(0)).collect());
        let (secrets, orders) = (Arc::new(tempfile::tempdir().expect("a folder")), Vec::new());
        Self {
            genesis,
            keys,
            ledgers,
            traitor: None,
            kept: Kept::default(),
            small: bodies::SMALL,
            crowd: None,
            bandwidth: None,
            meter: Meter::default(),
            times: Times::default(),
            wiped: None,
            listens: None,
            listens_again: None,
            orders,
            undealt: None,
            dealer: None,
            forger: None,
            loses_shares: None,
            secrets,
            unasked: BTreeSet::new(),
            old: None,
            starts,
        }
    }

    pub(crate) fn genesis(&self) -> &Genesis {
        &self.genesis
    }

    /// The folder of a validator's shares as `secrets` reads it.
    pub(crate) fn secrets_of(&self, index: usize) -> PathBuf {
        self.secrets.path().join(format!("validator-{index}"))
    }

    /// Gives a validator of genesis another share.
    pub(crate) fn give_share(&mut self, index: usize, share: Share) {
        self.keys[index].share = Some(share);
    }

    /// The ledger of a validator.
    pub(crate) fn ledger(&self, index: usize) -> &Ledger {
        &self.ledgers[index]
    }

    /// The same, where the last validator betrays the others: of two halves, the first speaks to two of them.
    pub(crate) fn with_traitor(self, treason: Treason) -> Self {
        let friends = self.keys.iter().take(2).map(|keys| keys.network.public_key());
        let traitor = Traitor::new(self.keys.len() - 1, treason, friends);
        Self { traitor: Some(traitor), ..self }
    }

    /// The keys that a validator uses. A traitor may use another VRF key than the one it registered.
    fn keys_of(&self, index: usize) -> ValidatorKeys {
        let own = self.keys[index].clone();
        match self.traitor.as_ref().filter(|traitor| traitor.index == index && traitor.treason == Treason::ForeignVrf) {
            Some(_) => ValidatorKeys { bls: ValidatorKeys::derive(b"a foreign key").bls, ..own },
            None => own,
        }
    }

    fn chain(&self, index: usize, ledger: Ledger, block_time: Duration) -> Arc<Chain> {
        let versions = self.old.filter(|(old, _)| *old == index).map_or(Versions::ALL, |(_, versions)| versions);
        let setup = Setup {
            namespace: self.genesis.namespace(),
            genesis: self.genesis.block.clone(),
            allocation: self.genesis.allocation.clone(),
            config: Arc::new(ChainConfig { versions, ..(*self.genesis.chain).clone() }),
            images: Arc::new(ImageCache::default()),
            keys: Some(self.keys_of(index)),
            proposals: Default::default(),
            voted: Default::default(),
            ledger,
            pace: Pace::new(BlockTime::Every(block_time)),
            clock: WallClock::Runtime,
            head: tokio::sync::watch::Sender::new(cowboy_node::Head::of(&self.genesis.block)),
            blocks: tokio::sync::broadcast::Sender::new(16),
        };
        Arc::new(Chain::new(setup).expect("the ledger opens"))
    }

    /// Starts who sends through a validator, and the watch of the first one's blocks.
    fn start_clients(&self, context: &Context, chain: &Arc<Chain>, index: usize) {
        let client = Client {
            chain: chain.clone(),
            accounts: (0..ACCOUNTS).filter(|account| account % u64::from(VALIDATORS) == index as u64).collect(),
            orders: self.orders.iter().filter(|order| order.through == index).cloned().collect(),
        };
        context.child("client").spawn(move |clock| client.run(clock));
        if let Some(crowd) = self.crowd {
            let chain = chain.clone();
            context.child("crowd").spawn(move |clock| crowd.run(clock, chain, index));
        }
        if index == 0 {
            let (times, blocks) = (self.times.clone(), chain.blocks.subscribe());
            context.child("times").spawn(move |clock| times.run(clock, blocks));
        }
    }
}

/// A validator as the checks see it.
pub(crate) struct Validator {
    chain: Arc<Chain>,
    /// None for one of whom nothing is asked: a traitor, or one that leaves.
    marshal: Option<Arc<OnceLock<Marshal>>>,
}

impl Validator {
    /// The chain of an honest validator.
    pub(crate) fn honest(&self) -> Option<&Chain> {
        self.marshal.as_ref().map(|_| &*self.chain)
    }
}

impl ProcessedHeight for Validator {
    async fn processed_height(&self) -> u64 {
        match &self.marshal {
            Some(marshal) => match marshal.get() {
                Some(marshal) => marshal.get_processed().await.map_or(0, |processed| processed.height().get()),
                None => 0,
            },
            None => u64::MAX,
        }
    }
}

impl EngineDefinition for Network {
    type PublicKey = PublicKey;
    type Engine = Handle<()>;
    type State = Validator;

    fn participants(&self) -> Vec<PublicKey> {
        self.keys.iter().map(|keys| keys.network.public_key()).collect()
    }

    fn channels(&self) -> Vec<(u64, Quota)> {
        (0..).zip(engine::CHANNELS).map(|(number, (_, quota))| (number, quota)).collect()
    }

    fn max_message_size(&self) -> u32 {
        engine::max_message()
    }

    async fn init(&self, init: InitContext<'_, PublicKey>) -> (Handle<()>, Validator) {
        let InitContext { context, index, oracle, channels, participants, monitor, .. } = init;
        let traitor = self.traitor.clone().filter(|traitor| traitor.index == index);
        let treason = traitor.as_ref().map(|traitor| traitor.treason);
        let start = self.starts[index].fetch_add(1, Ordering::Relaxed);
        let (prefix, ledger) = match self.wiped == Some(index) && start > 0 {
            true => (format!("validator-{index}-{start}"), Ledger::in_memory().expect("memory is enough")),
            false => (format!("validator-{index}"), self.ledgers[index].clone()),
        };
        let folder = self.secrets.path().join(&prefix).join(secrets::FOLDER);
        if self.loses_shares == Some(index) && start > 0 && folder.exists() {
            std::fs::remove_dir_all(&folder).expect("the folder is writable");
        }
        let secrets = Secrets::new(folder, &self.genesis.hash(), &self.keys[index]);
        let chain = self.chain(index, ledger, Duration::from_secs(1));
        let withheld = match self.dealer.filter(|(dealer, _)| *dealer == index) {
            Some((_, Dealer::ToOne)) => Some(Withheld::ButOne),
            Some((_, Dealer::Late(length))) => Some(Withheld::ThreeQuarters(chain.clone(), length)),
            None => self.undealt.map(|time| Withheld::Until(SystemTime::UNIX_EPOCH + time)),
        };
        if self.bandwidth.is_some() {
            let limited = oracle.limit_bandwidth(participants[index].clone(), self.bandwidth, self.bandwidth).await;
            limited.expect("the network runs");
        }
        let forger = self.forger.clone().filter(|forger| forger.index == index);
        let counted = |channel, sender| Forging::new(sender, channel, forger.clone(), self.meter.clone());
        let [first, second] = halves(&context, channels, participants, traitor, withheld)
            .map(|ends| (0..).zip(ends).map(|(channel, (sender, receiver))| (counted(channel, sender), receiver)).collect());
        if treason == Some(Treason::Silent) {
            let silence = context.child("silence").spawn(move |_| async move {
                let _ends = (first, second);
                std::future::pending().await
            });
            return (silence, Validator { chain, marshal: None });
        }
        self.start_clients(&context, &chain, index);
        let is_listening = self.listens == Some(index) || (self.listens_again == Some(index) && start == 1);
        let role = if is_listening { Role::Listens } else { Role::Votes };
        let monitor = treason.is_none().then_some(monitor);
        let ends =
            Around { oracle: oracle.clone(), me: participants[index].clone(), kept: self.kept, small: self.small, role, secrets, monitor };
        // Its blocks come a little later, so that they are others.
        let twin = treason
            .is_some_and(Treason::is_double)
            .then(|| self.chain(index, Ledger::in_memory().expect("memory is enough"), Duration::from_millis(1_003)));
        let marshal = Arc::new(OnceLock::new());
        let started = Validator {
            chain: chain.clone(),
            marshal: (treason.is_none() && !self.unasked.contains(&index) && self.old.is_none_or(|(old, _)| old != index))
                .then(|| marshal.clone()),
        };
        // On the context itself, whose end ends everything above. Not awaited here: the state that the validator had before is let go
        // only after this, and a start waits for its own.
        let engine = context.spawn(move |context| async move {
            if let Some(twin) = twin {
                validator(context.child("twin"), format!("twin-{index}"), twin, second, &ends).await;
            }
            let engine = validator(context, prefix, chain, first, &ends).await;
            let _ = marshal.set(engine.marshal);
            let _ = engine.handle.await;
        });
        (engine, started)
    }

    fn start(engine: Handle<()>) -> Handle<()> {
        engine
    }
}

/// What is around a validator.
struct Around {
    oracle: Oracle<PublicKey, Context>,
    me: PublicKey,
    kept: Kept,
    small: usize,
    role: Role,
    secrets: Secrets,
    /// Where an honest one reports.
    monitor: Option<mpsc::UnboundedSender<FinalizationUpdate<PublicKey>>>,
}

async fn validator<S: commonware_p2p::Sender<PublicKey = PublicKey>>(
    context: Context,
    prefix: String,
    chain: Arc<Chain>,
    channels: Vec<Ends<S>>,
    around: &Around,
) -> engine::Engine {
    let me = around.me.clone();
    let (peers, blocker) = (Known(around.oracle.manager()), around.oracle.control(me.clone()));
    let (kept, small, role, secrets) = (around.kept, around.small, around.role, around.secrets.clone());
    let parts = Parts { prefix, peers, blocker, channels, patience: Patience::Normal, kept, small, role, secrets };
    let monitor = around.monitor.clone().unwrap_or_else(|| mpsc::unbounded_channel().0);
    engine::start(context, chain, parts, |machine| MonitorReporter::new(me, monitor, machine)).await
}

/// The simulated network's manager of peers, which needs no addresses.
#[derive(Clone, Debug)]
struct Known<M>(M);

impl<M: p2p::Manager<PublicKey = PublicKey>> p2p::Provider for Known<M> {
    type PublicKey = PublicKey;

    async fn peer_set(&mut self, id: u64) -> Option<p2p::TrackedPeers<PublicKey>> {
        self.0.peer_set(id).await
    }

    async fn subscribe(&mut self) -> p2p::PeerSetSubscription<PublicKey> {
        self.0.subscribe().await
    }
}

impl<M: p2p::Manager<PublicKey = PublicKey> + Sync> Manager for Known<M> {
    type Directory = Roll;
    type Error = std::convert::Infallible;

    fn track(&mut self, epoch: Epoch, peers: p2p::TrackedPeers<PublicKey>, _: &Roll) -> Result<(), Self::Error> {
        let _ = p2p::Manager::track(&mut self.0, epoch.get(), peers);
        Ok(())
    }
}

/// A run of this network, in which whatever the seed says goes wrong.
pub(crate) fn plan(network: Network, seed: u64, is_complete: bool) -> PlanBuilder<Network> {
    plan_until(network, seed, is_complete, BLOCKS)
}

/// The same, until everybody has this many blocks.
pub(crate) fn plan_until(network: Network, seed: u64, is_complete: bool, blocks: u64) -> PlanBuilder<Network> {
    let holds = Holds { genesis: network.genesis.clone(), is_complete, blocks };
    let link = Link {
        latency: Duration::from_millis(20 + (seed * 13) % 100),
        jitter: Duration::from_millis(10 + (seed * 7) % 40),
        success_rate: if seed.is_multiple_of(2) { probability!(1.0) } else { probability!(0.95) },
    };
    PlanBuilder::new(network)
        .seed(seed)
        .link(link)
        .exit_condition(ProcessedHeightAtLeast::new(blocks))
        .timeout(Duration::from_secs(900))
        .property(holds)
}

/// Runs a plan. What does not hold is a panic that says how to run the seed again, with these tests.
pub(crate) fn settle(seed: u64, tests: &str, plan: PlanBuilder<Network>) {
    settle_by(&format!("{SEED}={seed} cargo test -p cowboy-node --test simulation {tests}"), plan);
}

/// Runs a plan. What does not hold is a panic that names this command.
pub(crate) fn settle_by(replay: &str, plan: PlanBuilder<Network>) {
    if let Err(error) = plan.build().run() {
        panic!("{error}\nreplay: {replay}");
    }
}

/// The disks of all validators fail for a while; everybody is started again, and nothing is lost: A-159.
#[test]
fn a_network_survives_disks_that_fail() {
    let network = Network::new();
    let everybody = network.participants();
    let at = Duration::from_secs;
    let broken = FaultConfig::default().sync(probability!(0.5)).open(probability!(0.5)).remove(probability!(0.5));
    let mut schedule = Schedule::new().at(at(8), Action::SetStorageFault(broken));
    schedule = everybody.iter().fold(schedule, |schedule, key| schedule.at(at(11), Action::Crash(key.clone())));
    schedule = schedule.at(at(12), Action::SetStorageFault(FaultConfig::default()));
    schedule = everybody.iter().fold(schedule, |schedule, key| schedule.at(at(12), Action::Restart(key.clone())));
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    settle(seed, "disks", plan(network, seed, true).crash(Crash::Schedule(schedule)));
}
