//! One of four validators betrays the others: it says nothing, or says one thing to some and another to the rest.

use crate::{
    checks::{record, require},
    common::{FUNDS, genesis},
    network::{BLOCKS, Network, SEED, VALIDATORS, Validator, plan},
};
use commonware_codec::DecodeExt as _;
use commonware_consensus::simplex::types::Vote;
use commonware_cryptography::{blake3::Digest, ed25519::PublicKey};
use commonware_glue::simulate::{property::Property, tracker::ProgressTracker};
use commonware_p2p::{
    Recipients,
    simulated::{SplitOrigin, SplitTarget},
};
use commonware_runtime::{Clock, IoBuf, Supervisor as _, deterministic};
use cowboy_chain::genesis::Funded;
use cowboy_node::{Chain, Genesis, engine, genesis as node_genesis, seeds::Scheme};
use cowboy_params::Params;
use cowboy_system::staking::{state, types};
use std::{
    collections::{BTreeMap, BTreeSet},
    pin::Pin,
    sync::{Arc, Mutex},
    time::SystemTime,
};

/// Blocks after which absence is noticed.
const WINDOW: u64 = 15;

/// What a validator does to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treason {
    /// Neither votes nor proposes.
    Silent,
    /// Runs twice with one key: each half speaks to some of the others only, with proposals and votes of its own.
    Twins,
    /// The same, and each half speaks to all.
    Loud,
    /// Proves its proposals with another key than the one that it registered.
    ForeignVrf,
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
        let is_first = half == SplitOrigin::Primary;
        let speaks_to = |peer: &PublicKey| self.treason == Treason::Loud || self.friends.contains(peer) == is_first;
        among(meant, all, |peer| !self.treason.is_double() || speaks_to(peer))
    }
}

/// Those of the peers that a message is meant for that may have it.
fn among(meant: &Recipients<PublicKey>, all: &[PublicKey], may_have: impl Fn(&PublicKey) -> bool) -> Recipients<PublicKey> {
    let is_meant = |peer: &PublicKey| match meant {
        Recipients::All => true,
        Recipients::Some(some) => some.contains(peer),
        Recipients::One(one) => one == peer,
    };
    Recipients::Some(all.iter().filter(|peer| is_meant(peer) && may_have(peer)).cloned().collect())
}

/// What does not arrive of what a validator deals.
#[derive(Clone)]
pub(crate) enum Withheld {
    /// Anything before this time.
    Until(SystemTime),
    /// Its dealings to all but the first validator.
    ButOne,
    /// Its dealings in the first three quarters of each epoch of this length. They must be acknowledged in the first half.
    ThreeQuarters(Arc<Chain>, u64),
}

impl Withheld {
    /// Who receives a message of the channel of dealings.
    fn recipients(
        &self,
        clock: &impl Clock,
        meant: &Recipients<PublicKey>,
        message: &IoBuf,
        all: &[PublicKey],
    ) -> Option<Recipients<PublicKey>> {
        // After the epoch, one byte here, stands what the message is.
        let is_dealing = message.as_ref().get(1) == Some(&0);
        match self {
            Self::Until(time) => (clock.current() >= *time).then(|| meant.clone()),
            Self::ButOne if is_dealing => Some(among(meant, all, |peer| Some(peer) == all.first())),
            Self::ThreeQuarters(chain, length) if is_dealing => {
                (chain.head.borrow().number % length * 4 >= length * 3).then(|| meant.clone())
            }
            Self::ButOne | Self::ThreeQuarters(..) => Some(meant.clone()),
        }
    }
}

impl Treason {
    /// Whether the validator runs twice.
    pub(crate) fn is_double(self) -> bool {
        matches!(self, Self::Twins | Self::Loud)
    }
}

/// Channels on which nobody is asked anything.
const TOLD_ALL: [&str; 3] = ["votes", "certificates", "broadcast"];

/// The two ends of a channel.
pub(crate) type Ends<S> = (S, commonware_p2p::simulated::Receiver<PublicKey>);

type Whole = (commonware_p2p::simulated::Sender<PublicKey, deterministic::Context>, commonware_p2p::simulated::Receiver<PublicKey>);

/// The channels of a validator as its two halves have them. An honest one is whole: everything is its first half's.
pub(crate) fn halves(
    context: &deterministic::Context,
    channels: Vec<Whole>,
    all: &[PublicKey],
    traitor: Option<Traitor>,
    withheld: Option<Withheld>,
) -> [Vec<Ends<impl commonware_p2p::Sender<PublicKey = PublicKey> + use<>>>; 2] {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (number, (sender, receiver)) in channels.into_iter().enumerate() {
        let (speaks, hears, all) = (traitor.clone(), traitor.clone(), all.to_vec());
        let (clock, withheld) = (Arc::new(context.child("clock")), withheld.clone().filter(|_| engine::CHANNELS[number].0 == "dealings"));
        let senders = sender.split_with(move |half, meant: &Recipients<PublicKey>, message: &IoBuf| match &speaks {
            None => match &withheld {
                Some(withheld) => withheld.recipients(&*clock, meant, message, &all),
                None => Some(meant.clone()),
            },
            Some(traitor) => {
                traitor.overhear(number, message);
                Some(traitor.recipients(half, meant, &all))
            }
        });
        let receivers = receiver.split_with(context.child("split"), move |(peer, _)| match &hears {
            None => SplitTarget::Primary,
            Some(traitor) if !traitor.treason.is_double() => SplitTarget::Primary,
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

/// The network of these tests: its validators can pay for reports, and absence is noticed within a run.
fn network(treason: Treason) -> Network {
    let mut dev = genesis(VALIDATORS);
    let validators = node_genesis::dev(genesis(VALIDATORS)).expect("a genesis").1;
    dev.accounts.extend(validators.iter().map(|keys| Funded { address: keys.signer.address(), amount: FUNDS }));
    dev.accounts.sort_by_key(|funded| funded.address);
    dev.parameters = BTreeMap::from([(Params::row("consensus.downtime_window").expect("a row of the table").id, WINDOW)]);
    Network::of(dev, Vec::new()).with_traitor(treason)
}

/// The chain's record of each validator says what became of it.
#[derive(Clone)]
struct Punished {
    genesis: Genesis,
    traitor: usize,
    /// What the traitor's stake lost, in basis points.
    lost: u64,
}

impl Property<PublicKey, Validator> for Punished {
    fn name(&self) -> &str {
        "the traitor is in jail once, and nobody else is"
    }

    fn check<'a>(
        &'a self,
        _: &'a ProgressTracker<PublicKey>,
        states: &'a [&'a Validator],
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move {
            let chain = states.iter().find_map(|validator| validator.honest()).ok_or("nobody is honest")?;
            let mut validators = self.genesis.config.validators.to_vec();
            validators.sort_by_key(|validator| validator.network_key.0);
            for (place, validator) in validators.iter().enumerate() {
                let now: types::Validator = record(chain, state::validator_key(validator.address)).await.ok_or("a validator is gone")?;
                let expected = if place == self.traitor { (1, self.lost) } else { (0, 0) };
                let lost = (validator.stake.0 - now.stake.0) / (validator.stake.0 / 10_000);
                let found = (now.jailings.0, lost);
                require(found == expected, || format!("validator {place}: {found:?} jailings and stake, not {expected:?}"))?;
            }
            Ok(())
        })
    }
}

fn run(seed: u64, treason: Treason, lost: u64) -> usize {
    let mut network = network(treason);
    network.small = if seed == 1 { 0 } else { network.small };
    let traitor = network.traitor.clone().expect("there is one");
    let punished = Punished { genesis: network.genesis().clone(), traitor: traitor.index, lost };
    if let Err(error) = plan(network, seed, false).property(punished).build().run() {
        panic!("seed {seed}, {treason:?}: {error}\nreplay: {SEED}={seed} cargo test -p cowboy-node --test simulation byzantine");
    }
    traitor.equivocations()
}

fn seeds() -> Vec<u64> {
    std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).map_or(vec![0, 1], |seed| vec![seed])
}

/// with one silent validator of four the others continue, agree, and put it in jail without losing stake.
#[test]
fn a_silent_validator_holds_nobody_up() {
    for seed in seeds() {
        run(seed, Treason::Silent, 0);
    }
}

/// a validator that proposes two blocks in a view and votes for both splits nobody. The others show the two headers to the
/// chain, which takes 1 % of its stake once.
#[test]
fn an_equivocating_validator_splits_nobody() {
    for seed in seeds() {
        let equivocations = run(seed, Treason::Twins, 100);
        assert!(equivocations > 0, "seed {seed}: in {BLOCKS} blocks the traitor voted for two blocks in one view");
    }
}

/// who tells everybody of two votes for one round is accused by all who received both.
#[test]
fn two_votes_of_a_round_are_attested() {
    assert!(run(0, Treason::Loud, 100) > 0, "it voted for two blocks in one view");
}

/// a proposal whose VRF output does not verify is refused, and its proposer goes to jail without losing stake.
#[test]
fn a_foreign_vrf_output_is_refused() {
    run(0, Treason::ForeignVrf, 0);
}
