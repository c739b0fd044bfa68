//! Wires the parts of a validator together, for any runtime and any network.

mod queries;
mod timeouts;

pub(crate) use queries::State;
pub use timeouts::{Patience, longest_pause};

use crate::{
    application::{Machine, Marshal},
    block::SealedBlock,
    bodies,
    chain::Chain,
    epoch::{self, MAX_MEMBERS, roll::Roll},
    gossip,
    history::{Backed, History},
    inbound,
    peers::Traffic,
    progress::Noted,
    proposer::Proposer,
    report,
    reshare::{
        Dealing, NoPlan, logs,
        schemes::{Enrolled, Partitions, Schemes},
        secrets::Secrets,
        tap::{Later, Tap, deliver},
    },
    seeds::Scheme,
    serving, voted,
    votes::Role,
};
use commonware_broadcast::buffered;
use commonware_consensus::{
    Reporter, Reporters,
    marshal::{
        self, Update,
        core::Actor as MarshalActor,
        resolver::p2p as marshal_resolver,
        standard::{Deferred, Standard},
    },
    types::{Epoch, FixedEpocher, ViewDelta},
};
use commonware_cryptography::{
    Digested, Digestible as _, blake3::Digest, bls12381::primitives::variant::MinSig, certificate::ConstantProvider, ed25519::PublicKey,
};
use commonware_glue::dkg::{self, fence::Fence, network::Manager, orchestrator, reshare as glue_reshare};
use commonware_glue::stateful::{self, Config as StatefulConfig, PruneConfig, Stateful, SyncPlan, db::SyncEngineConfig};
use commonware_p2p::{Blocker, Receiver, Sender, max_message_size};
use commonware_parallel::Sequential;
use commonware_runtime::{Clock, Handle, Metrics, Network, Quota, Spawner, Storage, buffer::paged::CacheRef};
use commonware_storage::{archive::prunable, translator::TwoCap};
use commonware_utils::{NZDuration, NZU32, NZU64, NZUsize};
use cowboy_store::state;
use futures::future::select;
use queries::{NoSync, open_state};
use rand_core::CryptoRng;
use std::{
    num::{NonZeroU64, NonZeroUsize},
    pin::pin,
    sync::Arc,
    time::Duration,
};
use timeouts::Timeouts;

/// The channels of the network, in the order of their numbers, with the messages a second that one peer may send on each. Room for as many
/// is reserved for every peer.
pub const CHANNELS: [(&str, Quota); 10] = [
    ("votes", Quota::per_second(NZU32!(256))),
    ("certificates", Quota::per_second(NZU32!(256))),
    ("resolver", Quota::per_second(NZU32!(64))),
    ("backfill", Quota::per_second(NZU32!(256))),
    ("broadcast", Quota::per_second(NZU32!(32))),
    ("mempool", Quota::per_second(NZU32!(256))),
    ("copies", Quota::per_second(NZU32!(32))),
    // What is dealt takes long to check.
    ("dealings", Quota::per_second(NZU32!(32))),
    ("logs", Quota::per_second(NZU32!(4))),
    ("bodies", Quota::per_second(NZU32!(64))),
];

/// What the engine's own archives and the state's log keep. The ledger keeps every block, and answers for those that were pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Final blocks below the newest one that are never pruned.
    pub blocks: usize,
    /// Blocks that are pruned together. Part of the format on the disk.
    pub section: NonZeroU64,
    /// Blocks between two prunings.
    pub interval: NonZeroUsize,
    /// Final blocks below the newest one whose state can be fetched: the log of the state has their operations. At most `blocks`.
    pub states: usize,
}

impl Default for Kept {
    fn default() -> Self {
        Self { blocks: 1_024, section: NZU64!(256), interval: NZUsize!(64), states: 256 }
    }
}

impl Kept {
    fn pruning(&self) -> PruneConfig {
        PruneConfig { maintenance_interval: self.interval, retained_marshal_blocks: self.blocks, retained_qmdb_blocks: self.states }
    }
}

pub(crate) const BUFFER: NonZeroUsize = NZUsize!(64 * 1024);

/// Proposals of one validator that are kept until they are voted on
/// ([decision 658](../../../docs/decisions/0658-proposals-that-are-kept.md)).
const PROPOSALS_OF_A_PEER: usize = 8;

const FETCH_TIMEOUT: Duration = Duration::from_secs(2);
const FETCH_RETRY: Duration = Duration::from_millis(100);

/// How long the engine waits for the state, which tells the block time, before it starts without.
const OPENING: Duration = Duration::from_secs(2);

/// For a state that is never fetched from peers.
const NO_SYNC: SyncEngineConfig =
    SyncEngineConfig { fetch_batch_size: NZU64!(64), apply_batch_size: NZU64!(256), max_outstanding_requests: NZUsize!(8) };

/// The largest message on any channel.
pub fn max_message() -> u32 {
    let validators = MAX_MEMBERS.get();
    max_message_size(&[
        orchestrator::max_payload_size::<Scheme, Digest>(validators),
        dkg::max_payload_size::<MinSig, PublicKey>(MAX_MEMBERS),
        marshal::max_payload_size::<Standard<SealedBlock>, Scheme>(validators, &()),
        bodies::max_payload_size(),
        gossip::MAX_BYTES,
    ])
}

/// What the engine of a chain sends to other validators.
pub(crate) fn traffic() -> Traffic {
    Traffic { channels: CHANNELS.map(|(_, quota)| quota).to_vec(), largest: max_message() }
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
    /// The size in bytes up to which blocks are sent whole: see [`bodies`].
    pub small: usize,
    /// Whether this node votes.
    pub role: Role,
    /// The shares of the group key that this node has, and what it deals.
    pub secrets: Secrets,
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
    O: Manager<PublicKey = PublicKey, Directory = Roll>,
    B: Blocker<PublicKey = PublicKey>,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
    M: Reporter<Activity = Update<SealedBlock>>,
{
    let Parts { prefix, peers, blocker, channels, patience, kept, small, role, secrets } = parts;
    let keys = chain.keys.clone().expect("a validator has keys");
    let me = commonware_cryptography::Signer::public_key(&keys.network);
    let [votes, certificates, resolver, backfill, broadcast, mempool, copies, dealings, logs, bodies] =
        <[(S, R); CHANNELS.len()]>::try_from(channels).unwrap_or_else(|_| panic!("there is one pair of ends for each channel"));
    let pages = page_cache(&context, &prefix, &chain).await;
    let length = epoch::length(&chain.config);
    let genesis = Digested::precomputed(chain.genesis.clone(), chain.genesis.digest());

    let backfill = marshal_resolver::init(
        context.child("backfill"),
        marshal_resolver::Config {
            public_key: me.clone(),
            peer_provider: peers.clone(),
            blocker: blocker.clone(),
            mailbox_size: chain.mailbox(),
            fetch_timeout: NZDuration!(FETCH_TIMEOUT),
            fetch_retry_delay: FETCH_RETRY,
            priority_requests: false,
            priority_responses: false,
        },
        serving::limited(context.child("serving"), backfill),
    );
    let (dissemination, buffer) = buffered::Engine::new(
        context.child("broadcast"),
        buffered::Config {
            public_key: me,
            mailbox_size: chain.mailbox(),
            deque_size: PROPOSALS_OF_A_PEER,
            priority: true,
            codec_config: (),
            peer_provider: peers.clone(),
            strategy: Sequential,
        },
    );
    dissemination.start(bodies::start(context.child("bodies"), chain.clone(), small, [broadcast, bodies]));

    let archive = |name: &str| archive(&prefix, name, pages.clone(), kept.section);
    let finalizations = prunable::Archive::init(context.child("finalizations"), archive("finalizations")).await;
    let blocks = prunable::Archive::init(context.child("blocks"), archive("blocks")).await;
    let history = History::new(Arc::new(chain.genesis.clone()), chain.ledger.clone());
    let plan = SyncPlan::init(context.child("plan"), prefix.clone()).await;
    let (actor, marshal, floor) = MarshalActor::<_, Standard<SealedBlock>, _, _, _, _, _>::init(
        context.child("marshal"),
        Backed::new(finalizations.expect("the archive of certificates opens"), history.clone()),
        Backed::noting(blocks.expect("the archive of blocks opens"), history.clone(), &chain.archived),
        marshal::Config {
            // One key verifies the certificates of all epochs.
            provider: ConstantProvider::<_, Epoch>::new(chain.verifier.clone()),
            epocher: FixedEpocher::new(length),
            start: plan.marshal_start(genesis.clone()),
            partition_prefix: prefix.clone(),
            mailbox_size: chain.mailbox(),
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
            mailbox_size: chain.mailbox(),
            plan,
            resolvers: NoSync,
            sync_config: NO_SYNC,
            prune_config: Some(kept.pruning()),
            strategy: Sequential,
        },
    );
    let proposer = Proposer::new(machine_mailbox.clone(), chain.clone());
    let (fence, gate) = Fence::new();
    let schemes = Schemes::default();
    let registrar = Enrolled {
        storage: context.child("records"),
        partitions: Partitions::new(&prefix),
        schemes: schemes.clone(),
        chain: chain.clone(),
        marshal: marshal.clone(),
        role,
    };
    let partition = format!("{prefix}-reshare");
    let dealing = Dealing { peers: peers.clone(), blocker: blocker.clone(), secrets, registrar, fence, partition, pages: pages.clone() };
    let dealer = dealing.start(context.child("reshare"), &chain, inbound::of_dealings(chain.clone(), dealings));
    let application = glue_reshare::Application::new(proposer, dealer.clone(), length);
    let application = Deferred::new(context.child("deferred"), application, marshal.clone(), FixedEpocher::new(length));
    let (later, boundaries) = Later::new();
    let reporter = Noted::new(chain.progress.clone(), wrap(machine_mailbox.clone()));
    actor.start(Reporters::from((reporter, Reporters::from((later, dealer.clone())))), buffer, backfill);
    report::start(context.child("sync"), chain.clone());
    machine.start();
    open_state(context.child("state"), machine_mailbox, chain.clone());
    start_services(&context, &chain, blocker.clone(), [mempool, copies]);
    logs::start(context.child("logs"), chain.clone(), dealer.clone(), logs);

    // What governance says of the block time stands in the state, which opens at once but where it is damaged.
    let _ = select(pin!(chain.wait_until_open()), pin!(context.sleep(OPENING))).await;
    let times = Timeouts::of(patience, chain.pace.gap(), chain.is_alone());
    let (orchestrator, epochs) = orchestrator::Actor::new(
        context.child("epochs"),
        orchestrator::Config {
            oracle: blocker,
            manager: peers,
            provider: schemes,
            marshal: marshal.clone(),
            application: Tap::new(application, chain.seeds.clone(), chain.faults.clone()),
            strategy: Sequential,
            simplex: times.simplex(chain.committees.clone(), pages, chain.mailbox()),
            gate,
            state_sync: NoPlan::disabled(),
            blocks_per_epoch: length,
            mailbox_size: chain.mailbox(),
            partition_prefix: Partitions::new(&prefix).written(role),
        },
    );
    context.child("boundaries").spawn(move |_| deliver(boundaries, epochs));
    let [votes, certificates, resolver] = voted::noting(&chain.voted, [votes, certificates, resolver].map(inbound::of_consensus));
    Engine { handle: orchestrator.start(votes, certificates, resolver), marshal }
}

/// Starts what a validator does beside consensus: it spreads transactions, exchanges damaged blocks and reports faults.
fn start_services<E, B, S, R>(context: &E, chain: &Arc<Chain>, blocker: B, [mempool, copies]: [(S, R); 2])
where
    E: Spawner + Clock + CryptoRng,
    B: Blocker<PublicKey = PublicKey>,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    gossip::start(context.child("gossip"), chain.clone(), blocker, mempool);
    crate::refetch::start(context.child("copies"), chain.clone(), copies);
    crate::evidence::start(context.child("evidence"), chain.clone());
}

/// The page cache of the engine's files.
async fn page_cache<E: Storage>(context: &E, prefix: &str, chain: &Chain) -> CacheRef {
    match chain.is_alone() {
        true => state::page_cache_alone(context, prefix).await,
        false => state::page_cache(context, prefix).await,
    }
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
