//! The other validators: whether a node's keys and peers are of its chain, and the network that they make.

mod holding;
mod reach;

use crate::{
    chain::Chain,
    committee::{Committee, ValidatorKeys},
    epoch::roll::Roll,
    genesis::Genesis,
    quic::{self, Gate},
};
use commonware_consensus::types::Epoch;
use commonware_cryptography::{
    ChaCha20Poly1305, Signer as _,
    bls12381::primitives::{group::Share, ops::compute_public, variant::MinSig},
    ed25519::{PrivateKey, PublicKey},
};
use commonware_glue::dkg::network::Manager;
use commonware_p2p::{self as p2p, AddressableManager as _, AddressableTrackedPeers, TrackedPeers, authenticated::lookup};
use commonware_runtime::{Quota, Supervisor as _};
use commonware_stream::{
    cups::{self, Cups},
    sake::{self, Sake},
};
use commonware_utils::{
    Hostname, NZUsize,
    ordered::{Map, Set},
};
use cowboy_system::staking::types::Endpoint;
use cowboy_types::wire::Fixed;
use holding::Holding;
use reach::Reach;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv6Addr, SocketAddr},
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// How long a peer has to answer when it is dialed.
const DIAL_TIMEOUT: Duration = Duration::from_secs(2);

/// The least time between two attempts to connect to a peer.
const DIAL_COOLDOWN: Duration = Duration::from_millis(500);

/// For how long a peer that sent what no honest node sends is shut out ([decision 681]): it costs little to find out the same once in this time.
///
/// [decision 681]: ../../../docs/decisions/0681-peers-are-shut-out-for-half-a-minute.md
const SHUT_OUT: Duration = Duration::from_secs(30);

/// Messages that are written to a peer together. Votes come before blocks and transactions that wait, but not before those that are being written
/// ([decision 701]).
///
/// [decision 701]: ../../../docs/decisions/0701-one-message-is-written-at-a-time.md
const AT_ONCE: NonZeroUsize = NonZeroUsize::MIN;

/// How far the times of day of two validators may be apart when they shake hands: a thousand years.
const ANY_TIME: Duration = Duration::from_hours(1_000 * 366 * 24);

/// Another validator, and where it listens.
pub type Peer = (PublicKey, SocketAddr);

/// Why a validator's keys or peers are not of its chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// The network key is of none of its validators.
    #[error("the network key {0} is of no validator of this genesis; use the validator's file that was made with it")]
    Nobody(String),
    /// Another key is not that validator's.
    #[error(
        "the {0} key is not the one of the validator that the network key names; use the validator's file that was made with this genesis"
    )]
    Key(&'static str),
    /// A peer is none.
    #[error("the peer {key} {reason}; name each of the other validators of this genesis once")]
    Peer {
        /// Its network key.
        key: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// Whether these are all the keys of one validator, and these others of its committee.
///
/// A node with another validator's share would vote in that one's name.
pub fn verify(committee: &Committee, keys: &ValidatorKeys, peers: &[Peer]) -> Result<(), Foreign> {
    let own = keys.network.public_key();
    let place = committee.members().iter().position(|member| member.network == own);
    match (place, &keys.share) {
        (Some(place), _) => verify_member(committee, place, keys)?,
        // A newcomer has no share of the first epoch.
        (None, Some(_)) => return Err(Foreign::Nobody(own.to_string())),
        (None, None) => {}
    }
    let mut named = BTreeSet::new();
    for (key, _) in peers {
        let wrong = |reason| Foreign::Peer { key: key.to_string(), reason };
        if *key == own {
            return Err(wrong("is this validator itself"));
        }
        if !named.insert(key) {
            return Err(wrong("is named twice"));
        }
    }
    Ok(())
}

/// Whether these are the keys of the validator of genesis at this place.
fn verify_member(committee: &Committee, place: usize, keys: &ValidatorKeys) -> Result<(), Foreign> {
    let member = &committee.members()[place];
    if member.bls != compute_public::<MinSig>(&keys.bls) {
        return Err(Foreign::Key("vrf"));
    }
    if member.signer != keys.signer.address() {
        return Err(Foreign::Key("signer"));
    }
    let is_its_own = |share: &Share| usize::from(share.index) == place && committee.voter(&[], share.clone()).is_some();
    // Later shares stand in the folder of the node's state.
    if keys.share.as_ref().is_none_or(is_its_own) { Ok(()) } else { Err(Foreign::Key("share")) }
}

pub(crate) type Oracle = lookup::Oracle<PublicKey>;
pub(crate) type Ends = (lookup::Sender<PublicKey, quic::Context>, lookup::Receiver<PublicKey>);

/// The least room for peers where others may join. The network reserves room for the messages of each when a node starts.
const ROOM: usize = 128;

/// The most peers at a time of a node whose configuration names this many, itself included, where this many sign, are dealt to, or are
/// next: twice as many, as sets grow by a part in each epoch. Nobody joins a dev chain.
fn limit(is_dev: bool, configured: usize, participants: usize) -> usize {
    match is_dev {
        true => configured,
        false => configured.saturating_add(participants.saturating_mul(2).max(ROOM)),
    }
}

/// How the chain writes where a validator listens.
pub fn endpoint(address: SocketAddr) -> Endpoint {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let mut bytes = [0; 18];
    bytes[..16].copy_from_slice(&ip.octets());
    bytes[16..].copy_from_slice(&address.port().to_be_bytes());
    Fixed(bytes)
}

/// Where a validator listens, as the chain has it. `None` where it names nothing that can be dialed.
pub fn address(endpoint: &Endpoint) -> Option<SocketAddr> {
    let (ip, port) = endpoint.0.split_first_chunk::<16>()?;
    let (ip, port) = (Ipv6Addr::from(*ip).to_canonical(), u16::from_be_bytes(port.try_into().ok()?));
    (port != 0 && reach::names_a_host(ip)).then_some(SocketAddr::new(ip, port))
}

/// The network's manager of peers, which knows where each listens: the chain says it, or this node's configuration where the chain
/// says nothing.
///
/// The configured peers are peers in every epoch, so that a node finds others whose set it does not know yet.
#[derive(Clone, Debug)]
pub(crate) struct Addressed {
    oracle: Oracle,
    gate: Arc<Gate>,
    configured: Arc<BTreeMap<PublicKey, SocketAddr>>,
    reach: Reach,
    limit: usize,
    /// The validators without an address that the log told of last: every epoch tracks them again.
    told: Arc<AtomicUsize>,
}

type Located = Map<PublicKey, p2p::Address>;

/// What stands for the address of a peer that this node cannot dial: a name (RFC 2606), which its network never looks up. Such a peer may connect
/// ([decision 657]).
///
/// [decision 657]: ../../../docs/decisions/0657-validators-without-an-address.md
fn unknown() -> p2p::Address {
    let ingress = p2p::Ingress::Dns { host: Hostname::new("unknown.invalid").expect("it is a host's name"), port: 0 };
    p2p::Address::Asymmetric { ingress, egress: SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0) }
}

/// Where a peer is dialed.
fn dialed(address: &p2p::Address) -> Option<SocketAddr> {
    match address {
        p2p::Address::Symmetric(address) => Some(*address),
        p2p::Address::Asymmetric { .. } => None,
    }
}

impl Addressed {
    pub(crate) fn new(oracle: Oracle, gate: Arc<Gate>, own: (PublicKey, SocketAddr), peers: &[Peer], limit: usize) -> Self {
        let configured: BTreeMap<_, _> = peers.iter().cloned().chain([own]).collect();
        Self { oracle, gate, reach: Reach::of(configured.values()), configured: Arc::new(configured), limit, told: Arc::default() }
    }

    /// Shuts out peers that misbehave.
    pub(crate) fn oracle(&self) -> Oracle {
        self.oracle.clone()
    }

    /// Where the peers of an epoch listen, where that is known: those that sign or deal in it, with the configured ones; and those that will.
    fn located(&self, peers: &TrackedPeers<PublicKey>, roll: &Roll) -> (Located, Located) {
        let named = |key: &PublicKey| address(&roll.get(key)?.endpoint).filter(|address| self.reach.covers(address));
        let find = |key: &PublicKey| (key.clone(), named(key).or_else(|| self.configured.get(key).copied()));
        let configured: BTreeMap<_, _> = self.configured.keys().map(find).collect();
        // The highest stakes first, so that many small ones do not push out a large one.
        let ranked = |keys: &Set<PublicKey>, named: &BTreeMap<PublicKey, Option<SocketAddr>>| -> Vec<(PublicKey, Option<SocketAddr>)> {
            let mut keys: Vec<_> = keys.iter().filter(|key| !named.contains_key(*key)).collect();
            keys.sort_by_key(|key| std::cmp::Reverse(roll.get(key).map(|member| member.stake)));
            keys.into_iter().map(find).collect()
        };
        let room = self.limit.saturating_sub(configured.len());
        let mut primary = configured.clone();
        primary.extend(ranked(&peers.primary, &configured).into_iter().take(room));
        let room = self.limit.saturating_sub(primary.len());
        let secondary: BTreeMap<_, _> = ranked(&peers.secondary, &primary).into_iter().take(room).collect();
        let is_peer = |key: &PublicKey| primary.contains_key(key) || secondary.contains_key(key);
        let missing = peers.primary.iter().chain(peers.secondary.iter()).filter(|key| !is_peer(key)).count();
        if missing > 0 {
            tracing::warn!(validators = missing, "more validators than this node made room for when it was started: restart it");
        }
        let unreached = primary.values().chain(secondary.values()).filter(|address| address.is_none()).count();
        if self.told.swap(unreached, Ordering::Relaxed) != unreached && unreached > 0 {
            tracing::warn!(
                validators = unreached,
                "neither the chain nor this node's configuration has an address of these validators that this node can dial: it waits until they connect"
            );
        }
        let all = |found: BTreeMap<PublicKey, Option<SocketAddr>>| {
            Map::from_iter_dedup(found.into_iter().map(|(key, address)| (key, address.map_or_else(unknown, p2p::Address::Symmetric))))
        };
        (all(primary), all(secondary))
    }
}

impl p2p::Provider for Addressed {
    type PublicKey = PublicKey;

    async fn peer_set(&mut self, id: u64) -> Option<TrackedPeers<PublicKey>> {
        self.oracle.peer_set(id).await
    }

    async fn subscribe(&mut self) -> p2p::PeerSetSubscription<PublicKey> {
        self.oracle.subscribe().await
    }
}

impl Manager for Addressed {
    type Directory = Roll;
    type Error = std::convert::Infallible;

    fn track(&mut self, epoch: Epoch, peers: TrackedPeers<PublicKey>, roll: &Roll) -> Result<(), Self::Error> {
        let (primary, secondary) = self.located(&peers, roll);
        let addresses: Vec<_> = primary.values().iter().chain(secondary.values()).map(dialed).collect();
        // The peers of the first epoch are the configured ones, which are tracked from the start.
        let is_later = epoch.get() > 0;
        self.gate.admit(addresses.iter().flatten().copied(), is_later && addresses.contains(&None));
        if is_later {
            // It only fails when the network is gone, and the node with it.
            let _ = self.oracle.track(epoch.get(), AddressableTrackedPeers::new(primary, secondary));
        }
        Ok(())
    }
}

/// What the engine sends to other validators.
pub(crate) struct Traffic {
    /// Messages a second that one peer may send on each channel.
    pub(crate) channels: Vec<Quota>,
    /// Bytes of the largest message.
    pub(crate) largest: u32,
}

/// How two validators prove who they are, and what seals their bytes. Any time of day is believed: a recorded first message has no
/// second one without the key, and a validator whose clock is wrong has peers nevertheless (decision 631).
pub(crate) fn handshake(signer: PrivateKey) -> Cups<Sake<PrivateKey>, ChaCha20Poly1305> {
    let sake = Sake { signer, synchrony_bound: ANY_TIME, max_handshake_age: ANY_TIME, version: sake::Version::V1 };
    Cups::new(sake, cups::Version::V1)
}

/// The settings of a network with room for this many members, whose largest message has this many bytes.
pub(crate) fn settings(
    signer: PrivateKey,
    namespace: &[u8],
    listen: SocketAddr,
    members: NonZeroUsize,
    largest: u32,
) -> lookup::Config<Holding<Cups<Sake<PrivateKey>, ChaCha20Poly1305>>> {
    lookup::Config {
        // Each set has the configured peers and those of the next epochs; room for the messages of every remembered set would be reserved.
        tracked_peer_sets: NonZeroUsize::MIN,
        // While a peer that is away is dialed, its own dialing is refused: so neither takes long.
        dial_timeout: DIAL_TIMEOUT,
        peer_connection_cooldown: DIAL_COOLDOWN,
        block_duration: SHUT_OUT,
        send_batch_size: AT_ONCE,
        // Peers whose address is not known have a name, and come from anywhere. The gate knows the hosts of the others.
        allow_dns: false,
        bypass_ip_check: true,
        ..lookup::Config::local(Holding(handshake(signer)), namespace, listen, members, largest, NZUsize!(1_024))
    }
}

/// Joins the network of validators, and opens its channels.
pub(crate) fn join(
    context: &quic::Context,
    genesis: &Genesis,
    keys: &ValidatorKeys,
    (listen, peers): (SocketAddr, &[Peer]),
    chain: &Chain,
    traffic: &Traffic,
) -> (Addressed, Vec<Ends>) {
    let namespace = genesis.namespace();
    let me = keys.network.public_key();
    let limit = limit(genesis.chain.is_dev, peers.len().saturating_add(1), chain.term().info.directory.members().len());
    let members = NonZeroUsize::MIN.saturating_add(limit);
    let settings =
        lookup::Config { mailbox_size: chain.mailbox(), ..settings(keys.network.clone(), &namespace, listen, members, traffic.largest) };
    let (mut network, mut oracle) = lookup::Network::new(context.child("network"), settings);
    context.child("dials").measure_dials();
    let addressed = Addressed::new(oracle.clone(), context.gate(), (me, listen), peers, limit);
    let (configured, _) = addressed.located(&TrackedPeers::primary(Set::from_iter_dedup([])), &Roll::new([]));
    // The oracle only fails when the network is gone, and it has not started yet.
    let _ = oracle.track(0, configured);
    let channels = (0..).zip(&traffic.channels).map(|(number, quota)| network.register(number, *quota)).collect();
    network.start();
    (addressed, channels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::Amount;

    const ANYWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

    fn committee(seed: &[u8]) -> (Committee, Vec<ValidatorKeys>) {
        let (validators, sharing, keys) = Committee::derive(seed, 4, Amount(1));
        let info = crate::committee::first_epoch(&validators, &sharing).expect("an epoch");
        (Committee::of(&info).expect("a committee"), keys)
    }

    /// Keys of another validator or chain are refused by name before anything is opened, above all a share with which two
    /// validators would vote in one name.
    #[test]
    fn keys_are_of_one_validator_of_the_chain() {
        let (here, keys) = committee(b"here");
        let (_, others) = committee(b"elsewhere");
        for own in &keys {
            assert_eq!(verify(&here, own, &[]), Ok(()));
        }
        let newcomer = ValidatorKeys { share: None, ..others[0].clone() };
        assert_eq!(verify(&here, &newcomer, &[]), Ok(()), "it may register");
        assert_eq!(verify(&here, &others[0], &[]), Err(Foreign::Nobody(others[0].network.public_key().to_string())));
        for wrong in [&others[0], &keys[1]] {
            let own = || keys[0].clone();
            assert_eq!(verify(&here, &ValidatorKeys { share: None, ..own() }, &[]), Ok(()), "it was removed when shares were dealt anew");
            assert_eq!(verify(&here, &ValidatorKeys { bls: wrong.bls.clone(), ..own() }, &[]), Err(Foreign::Key("vrf")));
            assert_eq!(verify(&here, &ValidatorKeys { signer: wrong.signer.clone(), ..own() }, &[]), Err(Foreign::Key("signer")));
            assert_eq!(verify(&here, &ValidatorKeys { share: wrong.share.clone(), ..own() }, &[]), Err(Foreign::Key("share")));
        }
        let (_, _, many) = Committee::derive(b"many", 7, Amount(1));
        let beyond = ValidatorKeys { share: many[6].share.clone(), ..keys[0].clone() };
        assert_eq!(verify(&here, &beyond, &[]), Err(Foreign::Key("share")), "an index that no validator has");
    }

    /// There is room for everybody who signs or will, at any size; where a running node has too little, the highest stakes have it.
    #[test]
    fn no_validator_of_an_epoch_is_left_out() {
        let (validators, sharing, _) = Committee::derive(b"many", 40, Amount(1));
        let info = crate::committee::first_epoch(&validators, &sharing).expect("an epoch");
        let mut members = info.directory.members().to_vec();
        for (stake, member) in (1_000..).zip(&mut members) {
            member.endpoint = endpoint(SocketAddr::new([127, 0, 0, 1].into(), 1_000));
            member.stake = Amount(stake);
        }
        let (roll, keys) = (Roll::new(members), info.output.players().clone());
        let runner = commonware_runtime::deterministic::Runner::default();
        commonware_runtime::Runner::start(runner, |context| async move {
            let own = keys.iter().next().expect("there are forty").clone();
            let settings =
                lookup::Config::local(handshake(PrivateKey::from_seed(1)), b"test", ANYWHERE, NonZeroUsize::MIN, 1_024, NZUsize!(16));
            let (_network, oracle) = lookup::Network::new(context.child("network"), settings);
            let addressed = Addressed::new(oracle, Arc::new(Gate::new([])), (own, ANYWHERE), &[], 0);
            let located = |limit: usize, peers: &TrackedPeers<PublicKey>| Addressed { limit, ..addressed.clone() }.located(peers, &roll);
            let half = keys.len() / 2;
            let (low, high): (Vec<_>, Vec<_>) = keys.iter().cloned().enumerate().partition(|(place, _)| *place < half);
            let set = |keys: &[(usize, PublicKey)]| Set::from_iter_dedup(keys.iter().map(|(_, key)| key.clone()));
            let peers = TrackedPeers::new(set(&low), set(&high));
            let (primary, secondary) = located(limit(false, 1, keys.len()), &peers);
            assert_eq!((primary.len(), secondary.len()), (20, 20));
            let (primary, secondary) = located(limit(false, 1, 1_000), &peers);
            assert_eq!((primary.len(), secondary.len(), limit(false, 1, 1_000)), (20, 20, 2_001));
            let (primary, secondary) = located(31, &peers);
            assert_eq!((primary.len(), secondary.len()), (20, 11));
            assert!(high.iter().rev().take(11).all(|(_, key)| secondary.position(key).is_some()), "those with the highest stakes");
        });
    }

    /// Decisions 681 and 701: a peer that misbehaved is shut out for half a minute, and nothing but one message is written before a vote.
    #[test]
    fn peers_are_shut_out_for_half_a_minute() {
        use commonware_runtime::{Clock as _, Runner as _, deterministic};
        use futures::StreamExt as _;
        let at = |port: u16| SocketAddr::new(ANYWHERE.ip(), port);
        let located = |port: u16| (PrivateKey::from_seed(port.into()).public_key(), p2p::Address::Symmetric(at(port)));
        deterministic::Runner::default().start(|context| async move {
            let settings = settings(PrivateKey::from_seed(3_001), b"test", at(3_001), NZUsize!(2), 1_024);
            assert_eq!(settings.send_batch_size.get(), 1);
            let (network, mut oracle) = lookup::Network::new(context.child("network"), settings);
            let _network = network.start();
            let _ = oracle.track(0, Map::from_iter_dedup([located(3_001), located(3_002)]));
            let mut blocked = p2p::Blocker::blocked(&mut oracle);
            assert_eq!(blocked.next().await.expect("the network runs").len(), 0);
            let _ = p2p::Blocker::block(&mut oracle, located(3_002).0);
            assert_eq!(blocked.next().await.expect("the network runs").len(), 1);
            let began = context.current();
            assert_eq!(blocked.next().await.expect("the network runs").len(), 0);
            let passed = context.current().duration_since(began).expect("time passes");
            assert!((29..=31).contains(&passed.as_secs()), "{passed:?}");
        });
    }

    /// Decision 657: a validator without an address is a peer, never dialed; it may connect from any host, and a stranger's host only while there is one.
    #[test]
    fn validators_without_an_address_connect() {
        use commonware_p2p::{Receiver as _, Recipients, Sender as _};
        use commonware_runtime::{Clock as _, Runner as _, deterministic};
        deterministic::Runner::default().start(|context| async move {
            let (validators, sharing, keys) = Committee::derive(b"some", 4, Amount(1));
            let info = crate::committee::first_epoch(&validators, &sharing).expect("an epoch");
            let key = |place: u16| keys[usize::from(place)].network.clone();
            let at = |place: u16| SocketAddr::new(ANYWHERE.ip(), 3_000 + place);
            let roll = |known: &[u16]| {
                let mut members = info.directory.members().to_vec();
                for place in known {
                    let own = key(*place).public_key();
                    let member = members.iter_mut().find(|member| member.network_key.0.as_slice() == own.as_ref()).expect("a member");
                    member.endpoint = endpoint(at(*place));
                }
                Roll::new(members)
            };
            let tracked = || TrackedPeers::primary(info.output.players().clone());
            let join = |own: u16, configured: &[u16], known: &[u16]| {
                let settings = settings(key(own), b"test", at(own), NZUsize!(8), 1_024);
                let (mut network, oracle) = lookup::Network::new(context.child("network").with_attribute("place", own), settings);
                let peers: Vec<Peer> = configured.iter().map(|place| (key(*place).public_key(), at(*place))).collect();
                let gate = Arc::new(Gate::new([]));
                let mut addressed = Addressed::new(oracle, gate.clone(), (key(own).public_key(), at(own)), &peers, 8);
                let _ = addressed.track(Epoch::new(1), tracked(), &roll(known));
                let ends = network.register(0, Quota::per_second(commonware_utils::NZU32!(64)));
                network.start();
                (addressed, gate, ends)
            };
            // A new validator that knows one other, and one of genesis, of which the chain has no address.
            let (mut addressed, gate, (_sender, mut receiver)) = join(0, &[1], &[0]);
            let (_dealer, _gate, (mut sender, _receiver)) = join(2, &[1, 3], &[0]);
            assert!(gate.takes_strangers());
            let dealing = async {
                for _ in 0..600 {
                    let _ = sender.send(Recipients::One(key(0).public_key()), b"a share".to_vec(), true);
                    context.sleep(Duration::from_millis(100)).await;
                }
            };
            let (from, _) = tokio::select! {
                received = receiver.recv() => received.expect("the network runs"),
                () = dealing => panic!("no share comes within a minute"),
            };
            assert_eq!(from, key(2).public_key());
            let _ = addressed.track(Epoch::new(2), tracked(), &roll(&[0, 1, 2, 3]));
            assert!(!gate.takes_strangers(), "the chain has every address");
        });
    }

    /// Peers are the other validators, each once; some may be left out.
    #[test]
    fn peers_are_other_validators() {
        let (here, keys) = committee(b"here");
        let (_, others) = committee(b"elsewhere");
        let peer = |keys: &ValidatorKeys| (keys.network.public_key(), ANYWHERE);
        assert_eq!(verify(&here, &keys[0], &[peer(&keys[3]), peer(&keys[1]), peer(&others[2])]), Ok(()), "a newcomer is one");
        for (named, reason) in
            [([peer(&keys[1]), peer(&keys[1])], "is named twice"), ([peer(&keys[1]), peer(&keys[0])], "is this validator itself")]
        {
            assert_eq!(verify(&here, &keys[0], &named), Err(Foreign::Peer { key: named[1].0.to_string(), reason }));
        }
    }
}
