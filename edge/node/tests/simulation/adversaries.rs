//! Sets that change as badly as they may, and validators that deal or certify falsely.

use crate::{
    checks::require,
    forging::{Forger, Forgery},
    network::{Network, SEED, Validator, plan_until, settle},
    seeds::cut,
    sets::{Epochs, Sets},
};
use commonware_cryptography::ed25519::PublicKey;
use commonware_glue::simulate::{
    action::{Action, Crash, Schedule},
    engine::EngineDefinition as _,
    property::Property,
    tracker::ProgressTracker,
};
use commonware_p2p::simulated::Link;
use commonware_utils::probability;
use cowboy_node::{Chain, committee::Committee, reshare::secrets};
use cowboy_types::Amount;
use std::{pin::Pin, time::Duration};

const LINK: Link = Link { latency: Duration::from_millis(30), jitter: Duration::from_millis(10), success_rate: probability!(1.0) };

/// Blocks of an epoch: enough for the logs of the five dealers that six validators need, and for one that is late.
const LENGTH: u64 = 14;

/// Something about the chain of each honest validator.
#[derive(Clone)]
pub(crate) struct Each<F>(pub(crate) &'static str, pub(crate) F);

impl<F: Fn(&Chain) -> Result<(), String> + Clone + Send + Sync + 'static> Property<PublicKey, Validator> for Each<F> {
    fn name(&self) -> &str {
        self.0
    }

    fn check<'a>(
        &'a self,
        _: &'a ProgressTracker<PublicKey>,
        states: &'a [&'a Validator],
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move { states.iter().filter_map(|validator| validator.honest()).try_for_each(&self.1) })
    }
}

fn run(network: Network, held: Epochs, schedule: Schedule<PublicKey>, each: impl Property<PublicKey, Validator> + Clone + 'static) {
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let plan = plan_until(network, seed, false, held.last * LENGTH + 2).link(LINK).crash(Crash::Schedule(schedule));
    settle(seed, "adversaries", plan.property(held).property(each));
}

fn nothing_else() -> impl Property<PublicKey, Validator> + Clone + 'static {
    Each("nothing else", |_: &Chain| Ok(()))
}

/// For how many blocks of an epoch a validator is among those whose votes the next header names. Those of an epoch's last block are not
/// counted.
fn votes(chain: &Chain, validator: &PublicKey, epoch: u64) -> Result<usize, String> {
    let term = chain.committees.term(epoch).ok_or_else(|| format!("epoch {epoch} is not known"))?;
    let place = term.info.output.players().iter().position(|key| key == validator).ok_or("it is not in the set")?;
    let view = chain.ledger.view().map_err(|error| error.to_string())?;
    let mut count = 0;
    for number in epoch * LENGTH + 2..(epoch + 1) * LENGTH {
        let block = view.block(number).map_err(|error| error.to_string())?.ok_or("a block is missing")?;
        count += usize::from(block.header.voters.get(place / 8).is_some_and(|bits| bits >> (place % 8) & 1 == 1));
    }
    Ok(count)
}

/// A third of six validators gives notice at once: the other four sign two epochs after the next.
#[test]
fn a_third_leaves_at_once() {
    let network = Sets { length: LENGTH, validators: 6, leaves: vec![(4, 0), (5, 0)], ..Sets::default() }.network();
    let all = network.participants();
    let held = Epochs::until(3).from(0, all.iter().cloned()).from(3, all[..4].iter().cloned());
    run(network, held, Schedule::new(), nothing_else());
}

/// In every second of ten epochs one leaves and one joins, until nobody of genesis signs. The group key is that of genesis, and nobody that
/// left has a share.
#[test]
fn the_whole_set_is_replaced_over_ten_epochs() {
    let after = |swap: usize| 2 * swap as u64 * LENGTH;
    let leaves = (0..4).map(|swap| (swap, after(swap))).collect();
    let joins = (0..4).map(after).collect();
    // A newcomer counts as one until it signs, so two of four may be.
    let parameters = vec![("consensus.newcomers", 5_000)];
    let network = Sets { length: LENGTH, validators: 4, joins, leaves, speaker: 3, parameters }.network();
    let all = network.participants();
    let sets = (0..5).map(|swap| (if swap == 0 { 0 } else { 2 * swap as u64 + 1 }, all[swap..swap + 4].to_vec()));
    let held = sets.fold(Epochs::until(9), |held, (epoch, signers)| held.from(epoch, signers));
    let folders: Vec<_> = (0..4).map(|index| network.secrets_of(index)).collect();
    let forgotten = Each("who left has no share", move |_: &Chain| {
        folders.iter().try_for_each(|folder| {
            let files = secrets::files(folder).map_err(|error| error.to_string())?;
            // After a byte for the layout stands whether there is a share.
            let with_share: Vec<_> = files.iter().filter(|(_, bytes)| bytes.get(1) != Some(&0)).map(|(name, _)| name).collect();
            require(with_share.is_empty(), || format!("{}: {with_share:?}", folder.display()))
        })
    });
    run(network, held, Schedule::new(), forgotten);
}

/// Two of three validators give notice at once. The third signs alone, until a newcomer signs with it.
#[test]
fn a_set_shrinks_to_one_and_grows_again() {
    let network =
        Sets { length: LENGTH, validators: 3, joins: vec![3 * LENGTH], leaves: vec![(1, 0), (2, 0)], ..Sets::default() }.network();
    let all = network.participants();
    let [alone, newcomer] = [0, 3].map(|index: usize| all[index].clone());
    let held = Epochs::until(6).from(0, all[..3].iter().cloned()).from(3, [alone.clone()]).from(6, [alone, newcomer]);
    run(network, held, Schedule::new(), nothing_else());
}

/// Two halves do not hear of each other while an epoch ends, and one joins and one leaves. Neither half continues alone; together they do.
#[test]
fn halves_are_parted_across_a_boundary() {
    let network = Sets { length: LENGTH, validators: 4, joins: vec![0], leaves: vec![(3, 0)], ..Sets::default() }.network();
    let all = network.participants();
    let [begins, ends] = [LENGTH - 2, LENGTH + 10].map(Duration::from_secs);
    let halves = cut(Schedule::new(), begins, &[&all[..2], &all[4..]].concat(), &all[2..4]);
    let parted = Each("neither half continued", |chain: &Chain| {
        let view = chain.ledger.view().map_err(|error| error.to_string())?;
        let times = (LENGTH - 6..LENGTH + 6).map(|number| {
            let block = view.block(number).map_err(|error| error.to_string())?.ok_or("a block is missing")?;
            Ok(block.header.timestamp_ms.0)
        });
        let times = times.collect::<Result<Vec<_>, String>>()?;
        let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default();
        require(longest > 10_000, || format!("the longest pause was {longest} ms"))
    });
    run(network, Epochs::until(4), halves.at(ends, Action::Heal(LINK)), parted);
}

/// A dealer whose shares do not lie on its public polynomial, for all players or for one: the others' dealings suffice.
#[test]
fn a_dealer_of_false_shares_holds_nobody_up() {
    for to_all in [true, false] {
        let mut network =
            Sets { length: LENGTH, validators: 4, joins: vec![0], leaves: vec![(0, 0)], speaker: 1, ..Sets::default() }.network();
        let all = network.participants();
        let forgery = if to_all { Forgery::EveryShare } else { Forgery::ShareOf(all[1].clone()) };
        let forger = Forger::new(3, forgery);
        network.forger = Some(forger.clone());
        // Players block it.
        network.unasked.insert(forger.index);
        let held = Epochs::until(3).from(0, all[..4].iter().cloned()).from(3, all[1..].iter().cloned());
        run(network, held, Schedule::new(), nothing_else());
        assert!(forger.count() > 0, "it dealt false shares");
    }
}

/// A validator whose own share does not lie on the public polynomial does not sign with it, and signs with the one that it is dealt next.
#[test]
fn a_share_of_another_polynomial_signs_nothing() {
    let mut network = Sets { length: LENGTH, validators: 4, ..Sets::default() }.network();
    let other = Committee::derive(b"another dealing", 4, Amount(1)).2.remove(3).share.expect("genesis deals to everybody");
    network.give_share(3, other);
    let all = network.participants();
    let last = all[3].clone();
    let held = Epochs::until(2).from(0, all);
    let signs = Each("it signs with the next share", move |chain: &Chain| {
        let [before, after] = [votes(chain, &last, 0)?, votes(chain, &last, 1)?];
        require(before == 0 && after > 0, || format!("it voted for {before} blocks of the first epoch, and {after} of the second"))
    });
    run(network, held, Schedule::new(), signs);
}

/// A validator that presents a certificate of the first epoch as one of the running epoch is believed by nobody.
#[test]
fn a_certificate_of_an_old_epoch_is_refused() {
    let mut network = Sets { length: LENGTH, validators: 4, ..Sets::default() }.network();
    let forger = Forger::new(3, Forgery::OldCertificate);
    (network.forger, network.unasked) = (Some(forger.clone()), [3].into());
    run(network, Epochs::until(2), Schedule::new(), nothing_else());
    assert!(forger.count() > 0, "it presented the old certificate");
}
