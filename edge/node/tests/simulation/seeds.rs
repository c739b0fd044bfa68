//! Networks in which whatever a seed says goes wrong: validators join, leave and crash, and links break.

use crate::{
    network::{Network, SEED, plan_until, settle_by},
    sets::{Epochs, Sets},
};
use commonware_cryptography::ed25519::PublicKey;
use commonware_glue::simulate::{
    action::{Action, Crash, Schedule},
    engine::EngineDefinition as _,
};
use commonware_p2p::simulated::Link;
use commonware_utils::probability;
use std::{
    io::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// How many seeds `many_seeds` runs, and how many epochs a run has.
const SEEDS: &str = "COWBOY_SIM_SEEDS";
const EPOCHS: &str = "COWBOY_SIM_EPOCHS";

/// Blocks of an epoch: enough for the logs of the five dealers that seven validators need, and for some that are late.
const LENGTH: u64 = 14;

/// The fewest epochs of a run: who registers in the first one signs in the third.
const FEWEST: u64 = 3;

/// Over how many epochs a seed runs, unless told otherwise.
fn epochs_or(otherwise: u64) -> u64 {
    let epochs = setting(EPOCHS).unwrap_or(otherwise);
    assert!(epochs >= FEWEST, "{EPOCHS} is at least {FEWEST}: who registers in the first epoch signs in the third");
    epochs
}

/// A setting from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("somebody reads");
}

/// What a seed decides, one after the other.
struct Dice(u64);

impl Dice {
    /// A number below this one.
    fn below(&mut self, limit: u64) -> u64 {
        let hash = cowboy_types::keccak256(&[&self.0.to_be_bytes()]).0;
        self.0 = u64::from_be_bytes(hash[..8].try_into().expect("eight bytes"));
        self.0 % limit
    }
}

/// Four to seven validators, of which up to a third leave, and a newcomer in two of three runs.
fn sets(dice: &mut Dice, epochs: u64) -> Sets {
    let validators = usize::try_from(4 + dice.below(4)).expect("it is small");
    // Who registers before the middle of an epoch signs in the third after it.
    let registered = (epochs - FEWEST) * LENGTH + LENGTH / 2 - 3;
    let joins = (0..dice.below(3).min(1)).map(|_| dice.below(registered)).collect();
    let leavers = usize::try_from(dice.below(validators as u64 / 3 + 1)).expect("it is small");
    let leaves = (0..leavers).map(|leaver| (validators - 1 - leaver, dice.below((epochs - 2) * LENGTH))).collect();
    Sets { length: LENGTH, validators, joins, leaves, ..Sets::default() }
}

/// Up to half of the validators hear nothing of the others for some seconds.
fn partition(dice: &mut Dice, epochs: u64, all: &[PublicKey], link: &Link) -> Schedule<PublicKey> {
    let split = 1 + usize::try_from(dice.below(all.len() as u64 / 2)).expect("it is small");
    let [begins, lasts] = [5 + dice.below(epochs * LENGTH - 10), 3 + dice.below(10)].map(Duration::from_secs);
    let mut all = all.to_vec();
    let first = usize::try_from(dice.below(all.len() as u64)).expect("it is small");
    all.rotate_left(first);
    cut(Schedule::new(), begins, &all[..split], &all[split..]).at(begins + lasts, Action::Heal(link.clone()))
}

/// From a moment on nothing passes between these two groups.
pub(crate) fn cut(schedule: Schedule<PublicKey>, at: Duration, some: &[PublicKey], others: &[PublicKey]) -> Schedule<PublicKey> {
    let nothing = Link { latency: Duration::ZERO, jitter: Duration::ZERO, success_rate: probability!(0.0) };
    let pairs = some.iter().flat_map(|one| others.iter().flat_map(move |other| [(one, other), (other, one)]));
    pairs.fold(schedule, |schedule, (from, to)| {
        schedule.at(at, Action::UpdateLink { from: from.clone(), to: to.clone(), link: nothing.clone() })
    })
}

/// Runs a seed, and answers how many of its dealings came through.
fn run(seed: u64, epochs: u64) -> u64 {
    let mut dice = Dice(seed);
    let sets = sets(&mut dice, epochs);
    let mut network: Network = sets.network();
    // In two runs of four all blocks are made of what waits, in one of them with losses.
    network.small = if seed / 2 % 2 == 1 { 0 } else { network.small };
    let all = network.participants();
    let link = Link {
        latency: Duration::from_millis(20 + dice.below(100)),
        jitter: Duration::from_millis(10 + dice.below(40)),
        success_rate: if seed.is_multiple_of(2) { probability!(1.0) } else { probability!(0.95) },
    };
    let parted = partition(&mut dice, epochs, &all, &link);
    let [frequency, downtime] = [5 + dice.below(7), 1 + dice.below(3)].map(Duration::from_secs);
    let held = Epochs::until(epochs);
    let dealt = held.dealt.clone();
    let plan = plan_until(network, seed, true, epochs * LENGTH + 2)
        .link(link)
        .crash(Crash::Random { frequency, downtime, count: 1 })
        .crash(Crash::Schedule(parted))
        .property(held);
    settle_by(
        &format!("{EPOCHS}={epochs} {SEED}={seed} cargo test -p cowboy-node --test simulation a_network_agrees_whatever_happens_0"),
        plan,
    );
    dealt.load(Ordering::Relaxed)
}

/// Transfers, actors and timers, latency, loss, crashes, partitions, and sets that change, twenty times over four epochs,
///
///
/// `COWBOY_SIM_SEED=n` runs one seed, in the first of the tests, and `COWBOY_SIM_EPOCHS` says over how many epochs.
fn run_all(seeds: std::ops::Range<u64>) {
    let epochs = epochs_or(4);
    match setting(SEED) {
        Some(seed) if seeds.start == 0 => drop(run(seed, epochs)),
        Some(_) => {}
        None => {
            let all = (seeds.end - seeds.start) * epochs;
            assert_majority_came_through(seeds.map(|seed| run(seed, epochs)).sum(), all);
        }
    }
}

/// Where most dealings failed, the sets would not change, and nothing would be shown of sets that do.
fn assert_majority_came_through(dealt: u64, all: u64) {
    assert!(dealt * 2 > all, "{dealt} of {all} dealings came through");
}

/// In four tests, so that they use several cores.
#[test]
fn a_network_agrees_whatever_happens_0_to_4() {
    run_all(0..5);
}

#[test]
fn a_network_agrees_whatever_happens_5_to_9() {
    run_all(5..10);
}

#[test]
fn a_network_agrees_whatever_happens_10_to_14() {
    run_all(10..15);
}

#[test]
fn a_network_agrees_whatever_happens_15_to_19() {
    run_all(15..20);
}

/// As many seeds as `COWBOY_SIM_SEEDS` says, 1,000 otherwise, over `COWBOY_SIM_EPOCHS` epochs, six otherwise, on all cores.
#[test]
#[ignore = "it takes hours: ./test seeds"]
fn many_seeds() {
    let (seeds, epochs) = (setting(SEEDS).unwrap_or(1_000), epochs_or(6));
    let (next, dealt) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < seeds) {
            dealt.fetch_add(run(seed, epochs), Ordering::Relaxed);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // The runtime's futures are large where nothing is optimised.
    std::thread::scope(|scope| {
        for _ in 0..cores {
            std::thread::Builder::new().stack_size(32 << 20).spawn_scoped(scope, work).expect("a thread");
        }
    });
    let (dealt, all) = (dealt.load(Ordering::Relaxed), seeds * epochs);
    say(&format!("{seeds} seeds over {epochs} epochs: {dealt} of {all} dealings came through"));
    assert_majority_came_through(dealt, all);
}

/// A hundred validators, of which one leaves while another joins, over three epochs and into the fourth. Every dealing comes through.
#[test]
#[ignore = "it takes long: ./test hundred"]
fn a_hundred_validators() {
    const COUNT: usize = 100;
    // The logs of 67 dealers stand in blocks of the second half.
    const LENGTH: u64 = 144;
    let epochs = setting(EPOCHS).unwrap_or(3);
    let network = Sets { length: LENGTH, validators: COUNT, joins: vec![0], leaves: vec![(COUNT - 1, 0)], ..Sets::default() }.network();
    let all = network.participants();
    let (before, after) = (&all[..COUNT], all.iter().filter(|key| **key != all[COUNT - 1]));
    let held = Epochs::until(epochs).from(1, before.iter().cloned()).from(3, after.cloned());
    settle_by(
        &format!("{EPOCHS}={epochs} ./test hundred"),
        plan_until(network, 1, true, epochs * LENGTH + 2).timeout(Duration::from_secs(36_000)).property(held),
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
    say(&format!("{COUNT} validators over {epochs} epochs of {LENGTH} blocks: at most {memory} of memory"));
}
