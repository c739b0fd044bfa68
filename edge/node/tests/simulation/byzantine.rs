//! One of four validators betrays the others: it says nothing, or says one thing to some and another to the rest.

use crate::network::{BLOCKS, Network, SEED, plan};
use commonware_codec::DecodeExt as _;
use commonware_consensus::simplex::types::Vote;
use commonware_cryptography::{blake3::Digest, ed25519::PublicKey};
use commonware_p2p::{
    Recipients,
    simulated::{SplitOrigin, SplitTarget},
};
use commonware_runtime::{Clock as _, IoBuf, Supervisor as _, deterministic};
use cowboy_node::{engine, seeds::Scheme};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::SystemTime,
};

/// What a validator does to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treason {
    /// Neither votes nor proposes.
    Silent,
    /// Runs twice with one key: each half speaks to some of the others only, with proposals and votes of its own.
    Twins,
}

/// The validator that betrays, and what it was seen to do.
#[derive(Clone)]
pub(crate) struct Traitor {
    pub(crate) index: usize,
    pub(crate) treason: Treason,
    /// Whom the first half speaks to; the second speaks to the rest.
    friends: BTreeSet<PublicKey>,
    /// Which blocks it voted for, by view.
    votes: Arc<Mutex<BTreeMap<u64, BTreeSet<Digest>>>>,
}

impl Traitor {
    pub(crate) fn new(index: usize, treason: Treason, friends: impl IntoIterator<Item = PublicKey>) -> Self {
        Self { index, treason, friends: friends.into_iter().collect(), votes: Arc::default() }
    }

    /// In how many views it voted for two blocks.
    fn equivocations(&self) -> usize {
        self.votes.lock().expect("nothing panics while it holds the lock").values().filter(|blocks| blocks.len() > 1).count()
    }

    fn overhear(&self, channel: usize, message: &IoBuf) {
        if engine::CHANNELS[channel].0 != "votes" {
            return;
        }
        // Before the vote stands its epoch, here the first.
        let vote = message.as_ref().get(1..).map(|vote| Vote::decode(bytes::Bytes::copy_from_slice(vote)));
        if let Some(Ok(Vote::<Scheme, Digest>::Notarize(vote))) = vote {
            let mut votes = self.votes.lock().expect("nothing panics while it holds the lock");
            votes.entry(vote.proposal.round.view().get()).or_default().insert(vote.proposal.payload);
        }
    }

    /// Whom a half may speak to.
    fn recipients(&self, half: SplitOrigin, meant: &Recipients<PublicKey>, all: &[PublicKey]) -> Recipients<PublicKey> {
        let is_meant = |peer: &PublicKey| match meant {
            Recipients::All => true,
            Recipients::Some(some) => some.contains(peer),
            Recipients::One(one) => one == peer,
        };
        let is_first = half == SplitOrigin::Primary;
        Recipients::Some(all.iter().filter(|peer| is_meant(peer) && self.friends.contains(*peer) == is_first).cloned().collect())
    }
}

/// Channels on which nobody is asked anything.
const TOLD_ALL: [&str; 3] = ["votes", "certificates", "broadcast"];

/// The two ends of a channel.
pub(crate) type Ends<S> = (S, commonware_p2p::simulated::Receiver<PublicKey>);

type Whole = (commonware_p2p::simulated::Sender<PublicKey, deterministic::Context>, commonware_p2p::simulated::Receiver<PublicKey>);

/// The channels of a validator as its two halves have them. An honest one is whole: everything is its first half's. Until a
/// time, where one is given, nothing that it deals reaches anybody.
pub(crate) fn halves(
    context: &deterministic::Context,
    channels: Vec<Whole>,
    all: &[PublicKey],
    traitor: Option<Traitor>,
    undealt: Option<SystemTime>,
) -> [Vec<Ends<impl commonware_p2p::Sender<PublicKey = PublicKey> + use<>>>; 2] {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (number, (sender, receiver)) in channels.into_iter().enumerate() {
        let (speaks, hears, all) = (traitor.clone(), traitor.clone(), all.to_vec());
        let (clock, undealt) = (Arc::new(context.child("clock")), undealt.filter(|_| engine::CHANNELS[number].0 == "dealings"));
        let senders = sender.split_with(move |half, meant: &Recipients<PublicKey>, message: &IoBuf| match &speaks {
            None => undealt.is_none_or(|until| clock.current() >= until).then(|| meant.clone()),
            Some(traitor) => {
                traitor.overhear(number, message);
                Some(traitor.recipients(half, meant, &all))
            }
        });
        let receivers = receiver.split_with(context.child("split"), move |(peer, _)| match &hears {
            None => SplitTarget::Primary,
            // Both halves hear what everybody is told; an answer goes to the half that speaks to who gives it.
            Some(_) if TOLD_ALL.contains(&engine::CHANNELS[number].0) => SplitTarget::Both,
            Some(traitor) if traitor.friends.contains(peer) => SplitTarget::Primary,
            Some(_) => SplitTarget::Secondary,
        });
        first.push((senders.0, receivers.0));
        second.push((senders.1, receivers.1));
    }
    [first, second]
}

fn run(seed: u64, treason: Treason) -> usize {
    let network = Network::new().with_traitor(treason);
    let traitor = network.traitor.clone().expect("there is one");
    if let Err(error) = plan(network, seed, false).build().run() {
        panic!("seed {seed}, {treason:?}: {error}\nreplay: {SEED}={seed} cargo test -p cowboy-node --test simulation byzantine");
    }
    traitor.equivocations()
}

fn seeds() -> Vec<u64> {
    std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).map_or(vec![0, 1], |seed| vec![seed])
}

/// with one silent validator of four the others continue, and agree.
#[test]
fn a_silent_validator_holds_nobody_up() {
    for seed in seeds() {
        run(seed, Treason::Silent);
    }
}

/// a validator that proposes two blocks in a view and votes for both splits nobody.
#[test]
fn an_equivocating_validator_splits_nobody() {
    for seed in seeds() {
        let equivocations = run(seed, Treason::Twins);
        assert!(equivocations > 0, "seed {seed}: in {BLOCKS} blocks the traitor voted for two blocks in one view");
    }
}
