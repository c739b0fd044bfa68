//! Wires the parts of a validator together, for any runtime and any network.

use crate::{
    application::{Machine, Marshal},
    begin::Wanted,
    block::SealedBlock,
    chain::{Chain, StateReader},
    execute::Databases,
    genesis::Genesis,
    history::{Backed, History},
    peers::Traffic,
    progress::Noted,
    proposer::Proposer,
    seeds::Scheme,
};
use bytes::Bytes;
use commonware_broadcast::buffered;
use commonware_codec::Encode as _;
use commonware_consensus::{
    Reporter, Reporters,
    marshal::{
        self, Update,
        core::Actor as MarshalActor,
        resolver::p2p as marshal_resolver,
        standard::{Deferred, Standard},
    },
    simplex::{
        self,
        config::{Floor, ForwardPolicy, SkipBudget, SkipPolicy},
    },
    types::{Epoch, FixedEpocher, ViewDelta},
};
use commonware_cryptography::{Digested, Digestible as _, blake3::Digest, certificate::ConstantProvider, ed25519::PublicKey};
use commonware_glue::stateful::{
    self, Config as StatefulConfig, PruneConfig, Stateful, SyncPlan,
    db::{AttachableResolver, Shared, SyncEngineConfig},
};
use commonware_p2p::{Blocker, Provider as PeerProvider, Receiver, Sender, max_message_size};
use commonware_parallel::Sequential;
use commonware_runtime::{Clock, Handle, Metrics, Network, Quota, Spawner, Storage, buffer::paged::CacheRef};
use commonware_storage::{
    archive::prunable,
    qmdb::sync::{Request, Source, source},
    translator::TwoCap,
};
use commonware_utils::{NZDuration, NZU32, NZU64, NZUsize};
use cowboy_chain::StateKey;
use cowboy_store::{
    proof::{self, StateProof},
    state::{self, Family, raw},
};
use cowboy_types::Hash;
use futures::future::{BoxFuture, select};
use rand_core::CryptoRng;
use std::{
    num::{NonZeroU64, NonZeroUsize},
    pin::pin,
    sync::Arc,
    time::Duration,
};

/// The channels of the network, in the order of their numbers.
pub const CHANNELS: [&str; 7] = ["votes", "certificates", "resolver", "backfill", "broadcast", "mempool", "copies"];

/// Messages a second that one peer may send on a channel. Room for as many is reserved for every peer.
pub const QUOTA: Quota = Quota::per_second(NZU32!(512));

/// The largest message of the mempool's channel.
pub const MAX_GOSSIP_BYTES: usize = 1024 * 1024;

/// What the engine's own archives keep. The ledger keeps every block, and answers for those that were pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Final blocks below the newest one that are never pruned.
    pub blocks: usize,
    /// Blocks that are pruned together. Part of the format on the disk.
    pub section: NonZeroU64,
    /// Blocks between two prunings.
    pub interval: NonZeroUsize,
}

impl Default for Kept {
    fn default() -> Self {
        Self { blocks: 1_024, section: NZU64!(256), interval: NZUsize!(64) }
    }
}

pub(crate) const BUFFER: NonZeroUsize = NZUsize!(64 * 1024);
const MAILBOX: NonZeroUsize = NZUsize!(1_024);
const FETCH_TIMEOUT: Duration = Duration::from_secs(2);
const FETCH_RETRY: Duration = Duration::from_millis(100);

/// Far enough away never to come.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 3_600);

/// How long the engine waits for the state, which tells the block time, before it starts without.
const OPENING: Duration = Duration::from_secs(2);

/// Short enough to be over soon, and long enough for a proposal.
const SHORT: Duration = Duration::from_millis(500);

/// How much longer than the time between blocks a leader has, and then the votes for its block.
const LEADER_MARGIN: Duration = Duration::from_millis(1_500);

/// How much longer than the longest view a validator is silent before it counts as away.
const SKIP_MARGIN: Duration = Duration::from_millis(500);

/// The largest message on any channel, for this many validators.
pub fn max_message(validators: u32) -> u32 {
    max_message_size(&[
        simplex::max_payload_size::<Scheme, Digest>(validators),
        marshal::max_payload_size::<Standard<SealedBlock>, Scheme>(validators, &()),
        MAX_GOSSIP_BYTES,
    ])
}

/// What the engine of a chain sends to other validators.
pub(crate) fn traffic(genesis: &Genesis) -> Traffic {
    let validators = u32::try_from(genesis.committee.members().len()).expect("a committee is small");
    let channels = u64::try_from(CHANNELS.len()).expect("a few");
    Traffic { channels, quota: QUOTA, largest: max_message(validators) }
}

/// What [`start`] is given beside the chain.
pub struct Parts<O, B, S, R> {
    /// Begins the name of everything on disk.
    pub prefix: String,
    /// Which peers there are.
    pub peers: O,
    /// Shuts out peers that misbehave.
    pub blocker: B,
    /// One pair for each of [`CHANNELS`].
    pub channels: Vec<(S, R)>,
    /// How long views may take.
    pub patience: Patience,
    /// What the engine's own archives keep.
    pub kept: Kept,
    /// Whether this node votes.
    pub role: Role,
}

/// What a node does in consensus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It proposes and votes.
    Votes,
    /// It takes part in nothing and follows the certificates of the others.
    Listens,
}

/// How long views may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// As long as a block needs; for ever where the node is alone, so that an idle chain has no nullified rounds.
    Normal,
    /// As short as can be, to give up a view that cannot end.
    ///
    /// A lone validator that was killed after it voted for its own proposal, and before the proposal was on the disk, waits
    /// for a block that nobody has. Only giving up the view helps.
    Short,
}

/// A running engine.
pub struct Engine {
    /// Ends when the engine does.
    pub handle: Handle<()>,
    /// Blocks and certificates.
    pub marshal: Marshal,
}

/// Starts a validator. `wrap` may put a reporter in front of the state machine, as simulations do.
pub async fn start<E, O, B, S, R, M>(
    context: E,
    chain: Arc<Chain>,
    parts: Parts<O, B, S, R>,
    wrap: impl FnOnce(stateful::Mailbox<E, Machine>) -> M,
) -> Engine
where
    E: Spawner + Clock + Storage + Metrics + CryptoRng + Network,
    O: PeerProvider<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    M: Reporter<Activity = Update<SealedBlock>>,
{
    let Parts { prefix, peers, blocker, channels, patience, kept, role } = parts;
    let keys = chain.keys.clone().expect("a validator has keys");
    let me = commonware_cryptography::Signer::public_key(&keys.network);
    let [votes, certificates, resolver, backfill, broadcast, gossip, copies] =
        <[(S, R); CHANNELS.len()]>::try_from(channels).unwrap_or_else(|_| panic!("there is one pair of ends for each channel"));
    let pages = state::page_cache(&context, &prefix).await;
    let scheme = match role {
        Role::Votes => keys.share.clone().and_then(|share| chain.committee.voter(&chain.namespace, share)).expect("the share is its own"),
        Role::Listens => chain.committee.verifier(&chain.namespace),
    };
    let genesis = Digested::precomputed(chain.genesis.clone(), chain.genesis.digest());

    let backfill = marshal_resolver::init(
        context.child("backfill"),
        marshal_resolver::Config {
            public_key: me.clone(),
            peer_provider: peers.clone(),
            blocker: blocker.clone(),
            mailbox_size: MAILBOX,
            fetch_timeout: NZDuration!(FETCH_TIMEOUT),
            fetch_retry_delay: FETCH_RETRY,
            priority_requests: false,
            priority_responses: false,
        },
        backfill,
    );
    let (dissemination, buffer) = buffered::Engine::new(
        context.child("broadcast"),
        buffered::Config {
            public_key: me,
            mailbox_size: MAILBOX,
            deque_size: 16,
            priority: true,
            codec_config: (),
            peer_provider: peers.clone(),
            strategy: Sequential,
        },
    );
    dissemination.start(broadcast);

    let archive = |name: &str| archive(&prefix, name, pages.clone(), kept.section);
    let finalizations = prunable::Archive::init(context.child("finalizations"), archive("finalizations")).await;
    let blocks = prunable::Archive::init(context.child("blocks"), archive("blocks")).await;
    let history = History::new(chain.ledger.clone());
    let plan = SyncPlan::init(context.child("plan"), prefix.clone()).await;
    let (actor, marshal, floor) = MarshalActor::<_, Standard<SealedBlock>, _, _, _, _, _>::init(
        context.child("marshal"),
        Backed::new(finalizations.expect("the archive of certificates opens: see the error above"), history.clone()),
        Backed::new(blocks.expect("the archive of blocks opens: see the error above"), history.clone()),
        marshal::Config {
            provider: ConstantProvider::new(scheme.clone()),
            epocher: FixedEpocher::new(NZU64!(u64::MAX)),
            start: plan.marshal_start(genesis.clone()),
            partition_prefix: prefix.clone(),
            mailbox_size: MAILBOX,
            view_retention: ViewDelta::new(64),
            prunable_items_per_section: NZU64!(256),
            page_cache: pages.clone(),
            replay_buffer: BUFFER,
            key_write_buffer: BUFFER,
            value_write_buffer: BUFFER,
            block_codec_config: (),
            max_repair: NZUsize!(16),
            max_pending_acks: NZUsize!(4),
            strategy: Sequential,
        },
    )
    .await;
    history.open();

    let (machine, machine_mailbox) = Stateful::new(
        context.child("stateful"),
        StatefulConfig {
            application: Machine::new(chain.clone(), marshal.clone()),
            db_config: state::config(&prefix, pages.clone()),
            provider: (),
            marshal: (marshal.clone(), floor),
            mailbox_size: MAILBOX,
            plan,
            resolvers: NoSync,
            sync_config: SyncEngineConfig {
                fetch_batch_size: NZU64!(64),
                apply_batch_size: NZU64!(256),
                max_outstanding_requests: NZUsize!(8),
            },
            prune_config: Some(PruneConfig {
                maintenance_interval: kept.interval,
                retained_marshal_blocks: kept.blocks,
                retained_qmdb_blocks: 0,
            }),
            strategy: Sequential,
        },
    );
    let proposer = Proposer::new(machine_mailbox.clone(), chain.clone());
    let application = Deferred::new(context.child("deferred"), proposer, marshal.clone(), FixedEpocher::new(NZU64!(u64::MAX)));
    actor.start(Noted::new(chain.progress.clone(), wrap(machine_mailbox.clone())), buffer, backfill);
    chain.progress.report(context.child("sync"), chain.ledger.clone());
    machine.start();
    open_state(context.child("state"), machine_mailbox, chain.clone());
    crate::gossip::start(context.child("gossip"), chain.clone(), gossip);
    crate::refetch::start(context.child("copies"), chain.clone(), copies);

    // What governance says of the block time stands in the state, which opens at once but where it is damaged.
    let _ = select(pin!(chain.wait_until_open()), pin!(context.sleep(OPENING))).await;
    let times = Timeouts::of(patience, chain.pace.gap(), chain.committee.members().len());
    let engine = simplex::Engine::new(
        context,
        simplex::Config {
            scheme,
            elector: chain.committee.elector(),
            blocker,
            automaton: application.clone(),
            relay: application.clone(),
            reporter: Reporters::from((chain.seeds.clone(), application)),
            strategy: Sequential,
            partition: format!("{prefix}-simplex"),
            mailbox_size: MAILBOX,
            epoch: Epoch::zero(),
            floor: Floor::Genesis(genesis.digest()),
            replay_buffer: BUFFER,
            write_buffer: BUFFER,
            page_cache: pages,
            leader_timeout: times.leader,
            certification_timeout: times.certification,
            timeout_retry: times.retry,
            view_retention: ViewDelta::new(64),
            skip: times.skip,
            fetch_timeout: NZDuration!(FETCH_TIMEOUT),
            fetch_retry_delay: Duration::from_millis(500),
            forward: ForwardPolicy::Disabled,
            track_historical_votes: false,
        },
    );
    Engine { handle: engine.start(votes, certificates, resolver), marshal }
}

/// How long a view of several validators may take before it is given up.
pub(crate) fn longest_view(gap: Option<Duration>) -> Duration {
    gap.unwrap_or_default() + LEADER_MARGIN + LEADER_MARGIN
}

/// How long a view may take.
struct Timeouts {
    leader: Duration,
    certification: Duration,
    retry: Duration,
    /// When the turn of a leader that is away is given up at once.
    skip: SkipPolicy,
}

impl Timeouts {
    fn of(patience: Patience, gap: Option<Duration>, validators: usize) -> Self {
        if patience == Patience::Short {
            return Self { leader: SHORT, certification: SHORT + SHORT, retry: SHORT, skip: SkipPolicy::Disabled };
        }
        let retry = Duration::from_secs(1);
        if validators == 1 {
            return Self { leader: NEVER, certification: NEVER + NEVER, retry, skip: SkipPolicy::Disabled };
        }
        let leader = gap.unwrap_or_default() + LEADER_MARGIN;
        let certification = longest_view(gap);
        // A validator that takes part sends something in every view. One that nobody heard of for longer than a view can last
        // is away, and its turns are given up at once. Without a quorum of others nothing is skipped.
        let skip = SkipPolicy::Enabled { timeout: certification + SKIP_MARGIN, budget: SkipBudget::Participants };
        Self { leader, certification, retry, skip }
    }
}

/// Views that a chain with a quorum may lose in a row: leaders are drawn, and one that is away may be drawn again and again.
const LOST_VIEWS: u32 = 6;

/// The pause of a lone validator that its blocks and its disk explain, beside the block time.
const LONE_PAUSE: Duration = Duration::from_secs(10);

/// The longest time between blocks that absent leaders and the time `gap` between blocks explain, where nothing else is wrong.
pub fn longest_pause(gap: Option<Duration>, validators: usize) -> Duration {
    if validators == 1 {
        return LONE_PAUSE + gap.unwrap_or_default();
    }
    let times = Timeouts::of(Patience::Normal, gap, validators);
    times.leader * LOST_VIEWS + times.certification
}

/// How the engine's archives of final blocks and certificates are kept.
pub(crate) fn archive(prefix: &str, name: &str, pages: CacheRef, section: NonZeroU64) -> prunable::Config<TwoCap, ()> {
    prunable::Config {
        translator: TwoCap,
        metadata_partition: format!("{prefix}-{name}-metadata"),
        key_partition: format!("{prefix}-{name}-keys"),
        key_page_cache: pages,
        value_partition: format!("{prefix}-{name}-values"),
        compression: None,
        codec_config: (),
        items_per_section: section,
        key_write_buffer: BUFFER,
        value_write_buffer: BUFFER,
        replay_buffer: BUFFER,
    }
}

/// Hands the state to the chain's queries once the state machine has opened it.
fn open_state<E: Spawner + Clock + Storage + Metrics>(context: E, machine: stateful::Mailbox<E, Machine>, chain: Arc<Chain>) {
    context.spawn(move |_| async move {
        let state = machine.subscribe_databases().await;
        chain.attach_state(Arc::new(State::<E>(state))).await;
    });
}

/// The database of one runtime, behind [`StateReader`].
pub(crate) struct State<E: Spawner + Clock + Storage + Metrics>(pub(crate) Databases<E>);

impl<E: Spawner + Clock + Storage + Metrics> StateReader for State<E> {
    fn read(&self, keys: Vec<StateKey>) -> BoxFuture<'_, Vec<Option<Bytes>>> {
        Box::pin(async move {
            let keys: Vec<_> = keys.iter().map(raw).collect();
            let keys: Vec<_> = keys.iter().collect();
            let state = self.0.read().await;
            state.get_many(&keys).await.expect("the state can be read: a disk that fails stops the node")
        })
    }

    fn root(&self) -> BoxFuture<'_, Hash> {
        Box::pin(async move { state::hash(self.0.read().await.root()) })
    }

    fn operations(&self, wanted: Wanted) -> BoxFuture<'_, Option<Bytes>> {
        Box::pin(async move {
            let (response, _) = self.0.read().await.serve(wanted.request()?).await.ok()?;
            Some(response.encode())
        })
    }

    fn prove(&self, keys: Vec<StateKey>) -> BoxFuture<'_, Vec<StateProof>> {
        Box::pin(async move {
            let state = self.0.read().await;
            let mut proofs = Vec::with_capacity(keys.len());
            for key in &keys {
                proofs.push(proof::prove(&*state, key).await.expect("the state can be read: a disk that fails stops the node"));
            }
            proofs
        })
    }
}

/// No state is fetched from peers: a node that is behind executes every block.
#[derive(Clone, Copy, Debug)]
struct NoSync;

/// Nobody is asked for state.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("state is not fetched from peers")]
struct NotFetched;

impl Source for NoSync {
    type Family = Family;
    type Digest = Digest;
    type Op = commonware_storage::qmdb::any::ordered::variable::Operation<Family, state::RawKey, Bytes>;
    type Error = NotFetched;

    async fn serve(&self, _: Request<Family>) -> source::Result<Self> {
        Err(NotFetched)
    }
}

impl<D: Send + Sync + 'static> AttachableResolver<D> for NoSync {
    async fn attach_database(&self, _: Shared<D>) {}
}
