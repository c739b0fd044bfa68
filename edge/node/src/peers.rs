//! The other validators: whether a node's keys and peers are of its chain, and the network that they make.

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
    NZUsize,
    ordered::{Map, Set},
};
use cowboy_system::staking::types::Endpoint;
use cowboy_types::wire::Fixed;
use reach::Reach;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv6Addr, SocketAddr},
    num::NonZeroUsize,
    sync::Arc,
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
    (port != 0 && !ip.is_unspecified() && !ip.is_multicast()).then_some(SocketAddr::new(ip, port))
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
}

type Located = Map<PublicKey, p2p::Address>;

impl Addressed {
    pub(crate) fn new(oracle: Oracle, gate: Arc<Gate>, own: (PublicKey, SocketAddr), peers: &[Peer], limit: usize) -> Self {
        let configured: BTreeMap<_, _> = peers.iter().cloned().chain([own]).collect();
        Self { oracle, gate, reach: Reach::of(configured.values()), configured: Arc::new(configured), limit }
    }

    /// Shuts out peers that misbehave.
    pub(crate) fn oracle(&self) -> Oracle {
        self.oracle.clone()
    }

    /// Where the peers of an epoch listen: those that sign or deal in it, with the configured ones; and those that will.
    fn located(&self, peers: &TrackedPeers<PublicKey>, roll: &Roll) -> (Located, Located) {
        let named = |key: &PublicKey| address(&roll.get(key)?.endpoint).filter(|address| self.reach.covers(address));
        let find = |key: &PublicKey| Some((key.clone(), named(key).or_else(|| self.configured.get(key).copied())?));
        let configured: BTreeMap<_, _> = self.configured.keys().filter_map(find).collect();
        // The highest stakes first, so that many small ones do not push out a large one.
        let ranked = |keys: &Set<PublicKey>, named: &BTreeMap<PublicKey, SocketAddr>| -> Vec<(PublicKey, SocketAddr)> {
            let mut keys: Vec<_> = keys.iter().filter(|key| !named.contains_key(*key)).collect();
            keys.sort_by_key(|key| std::cmp::Reverse(roll.get(key).map(|member| member.stake)));
            keys.into_iter().filter_map(find).collect()
        };
        let room = self.limit.saturating_sub(configured.len());
        let mut primary = configured.clone();
        primary.extend(ranked(&peers.primary, &configured).into_iter().take(room));
        let room = self.limit.saturating_sub(primary.len());
        let secondary: BTreeMap<_, _> = ranked(&peers.secondary, &primary).into_iter().take(room).collect();
        let is_peer = |key: &PublicKey| primary.contains_key(key) || secondary.contains_key(key);
        let missing = peers.primary.iter().chain(peers.secondary.iter()).filter(|key| !is_peer(key)).count();
        if missing > 0 {
            let reason = match primary.len().saturating_add(secondary.len()) < self.limit {
                true => "neither the chain nor this node's configuration has an address of theirs that this node can dial",
                false => "they are more than this node made room for when it was started: restart it",
            };
            tracing::warn!(validators = missing, reason, "some validators are not connected to");
        }
        let all = |found: Vec<(PublicKey, SocketAddr)>| {
            Map::from_iter_dedup(found.into_iter().map(|(key, address)| (key, p2p::Address::Symmetric(address))))
        };
        (all(primary.into_iter().collect()), all(secondary.into_iter().collect()))
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
        let addresses = |peers: &Located| peers.values().iter().map(p2p::Address::egress).collect::<Vec<_>>();
        self.gate.admit(addresses(&primary).into_iter().chain(addresses(&secondary)));
        // The peers of the first epoch are the configured ones, which are tracked from the start.
        if epoch.get() > 0 {
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
    let mut settings =
        lookup::Config::local(handshake(keys.network.clone()), &namespace, listen, members, traffic.largest, NZUsize!(1_024));
    // Each set has the configured peers and those of the next epochs; room for the messages of every remembered set would be reserved.
    settings.tracked_peer_sets = NZUsize!(1);
    // While a peer that is away is dialed, its own dialing is refused: so neither takes long.
    settings.dial_timeout = DIAL_TIMEOUT;
    settings.peer_connection_cooldown = DIAL_COOLDOWN;
    settings.block_duration = SHUT_OUT;
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
