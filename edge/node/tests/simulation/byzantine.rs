//! One of four validators betrays the others: it says nothing, or says one thing to some and another to the rest.

use crate::{
    adversaries::Each,
    bodies::ANSWER,
    checks::{led, record, require},
    common::{FUNDS, genesis},
    network::{BLOCKS, Network, SEED, VALIDATORS, Validator, plan, settle},
};
use commonware_codec::DecodeExt as _;
use commonware_consensus::simplex::types::Vote;
use commonware_cryptography::{blake3::Digest, ed25519::PublicKey};
use commonware_glue::simulate::{engine::EngineDefinition as _, property::Property, tracker::ProgressTracker};
use commonware_p2p::{
    Recipients,
    simulated::{SplitOrigin, SplitTarget},
};
use commonware_runtime::{Clock, IoBuf, Supervisor as _, deterministic};
use cowboy_chain::genesis::Funded;
use cowboy_node::{Chain, Genesis, bodies, engine, genesis as node_genesis, seeds::Scheme};
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
    /// Votes, and sends its blocks to nobody.
    Withholds,
    /// Votes, and sends its blocks to its friends only.
    Favours,
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

    /// Who of those that a message is meant for may have it from a half. `gives_block`: see [`gives_block`].
    fn recipients(&self, half: SplitOrigin, meant: &Recipients<PublicKey>, gives_block: bool, all: &[PublicKey]) -> Recipients<PublicKey> {
        let is_first = half == SplitOrigin::Primary;
        among(meant, all, |peer| match self.treason {
            Treason::Twins => self.friends.contains(peer) == is_first,
            Treason::Withholds => !gives_block,
            Treason::Favours => !gives_block || self.friends.contains(peer),
            Treason::Loud | Treason::Silent | Treason::ForeignVrf => true,
        })
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

/// Whether a message on a channel is a block, or may be an answer with one. Questions about bodies are none.
fn gives_block(channel: usize, message: &IoBuf) -> bool {
    match engine::CHANNELS[channel].0 {
        "broadcast" | "backfill" => true,
        "bodies" => message.as_ref().first() == Some(&ANSWER),
        _ => false,
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
                Some(traitor.recipients(half, meant, gives_block(number, message), &all))
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
    /// How often the traitor is in jail, and what its stake lost, in basis points.
    expected: (u64, u64),
}

impl Property<PublicKey, Validator> for Punished {
    fn name(&self) -> &str {
        "the traitor is in jail as often as it must be, and nobody else is"
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
                let expected = if place == self.traitor { self.expected } else { (0, 0) };
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
    let punished = Punished { genesis: network.genesis().clone(), traitor: traitor.index, expected: (1, lost) };
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

/// Runs a network whose last validator withholds its blocks, large ones or all. What must hold of the number of its final blocks is true on all others.
fn run_withholding(treason: Treason, small: usize, holds: fn(usize) -> bool) {
    let mut network = network(treason);
    network.small = small;
    let traitor = network.traitor.as_ref().expect("there is one").index;
    let leader = network.participants()[traitor].clone();
    let unpunished = Punished { genesis: network.genesis().clone(), traitor, expected: (0, 0) };
    let blocks = Each("as many of its blocks are final as can be", move |chain: &Chain| {
        let count = led(chain, &leader, BLOCKS)?;
        require(holds(count), || format!("it led {count} blocks"))
    });
    settle(0, "byzantine", plan(network, 0, true).property(unpunished).property(blocks));
}

/// Decision 645: a leader that votes for its blocks and sends them to nobody: its turns are given up, and nothing is lost. Nobody can show that it was not the
/// network, so it is not punished.
#[test]
fn a_leader_that_withholds_its_blocks_holds_nobody_up() {
    for small in [bodies::SMALL, 0] {
        run_withholding(Treason::Withholds, small, |count| count == 0);
    }
}

/// A leader that sends its blocks to two of the other three, who make a quorum with it: the third gets them from these two.
#[test]
fn who_is_sent_no_block_gets_it_from_the_others() {
    for small in [bodies::SMALL, 0] {
        run_withholding(Treason::Favours, small, |count| count > 0);
    }
}
