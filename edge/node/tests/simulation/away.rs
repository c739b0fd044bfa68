//! A validator that is away: the others do not wait for its turns, and it comes back from however far behind.

use crate::{
    byzantine::Treason,
    network::{Network, SEED, Validator, plan},
};
use commonware_cryptography::ed25519::PublicKey;
use commonware_glue::simulate::{
    action::{Action, Crash, Schedule},
    engine::EngineDefinition as _,
    exit::ProcessedHeightAtLeast,
    property::Property,
    tracker::ProgressTracker,
};
use commonware_utils::{NZU64, NZUsize};
use cowboy_node::engine::Kept;
use cowboy_store::View;
use cowboy_types::Block;
use std::{pin::Pin, time::Duration};

/// What the engines keep here: so little that a validator is beyond it after a few seconds.
const KEPT: Kept = Kept { blocks: 4, section: NZU64!(4), interval: NZUsize!(4), states: 0 };

/// The block that everybody reaches.
const LAST: u64 = 80;

/// Something about the chain of the first validator, which was there all the time.
#[derive(Clone, Copy)]
struct Of(&'static str, fn(&View, &PublicKey) -> Result<(), String>);

/// The same, about one of the validators.
#[derive(Clone)]
struct Check(Of, PublicKey);

impl Property<PublicKey, Validator> for Check {
    fn name(&self) -> &str {
        self.0.0
    }

    fn check<'a>(
        &'a self,
        _: &'a ProgressTracker<PublicKey>,
        states: &'a [&'a Validator],
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move {
            let chain = states.iter().find_map(|validator| validator.honest()).ok_or("nobody is honest")?;
            let view = chain.ledger.view().map_err(|error| error.to_string())?;
            (self.0.1)(&view, &self.1)
        })
    }
}

fn blocks(view: &View, numbers: std::ops::RangeInclusive<u64>) -> Result<Vec<Block>, String> {
    let found = numbers.map(|number| view.block(number).map_err(|error| error.to_string())?.ok_or_else(|| format!("no block {number}")));
    found.collect()
}

fn has_led(view: &View, back: &PublicKey) -> Result<(), String> {
    let leaders: Vec<_> = blocks(view, LAST - 20..=LAST)?.iter().map(|block| block.header.context.leader).collect();
    let led = leaders.iter().any(|leader| leader.0.as_slice() == AsRef::<[u8]>::as_ref(back));
    if led { Ok(()) } else { Err("it proposed none of the last blocks".into()) }
}

/// Between two blocks is one second, and the latency of the network. Views of a leader that is waited for take 2.5 s.
fn nobody_waits(view: &View, _: &PublicKey) -> Result<(), String> {
    let blocks = blocks(view, 12..=40)?;
    let gaps = blocks.windows(2).map(|pair| pair[1].header.timestamp_ms.0 - pair[0].header.timestamp_ms.0);
    let worst = gaps.max().unwrap_or_default();
    if worst < 2_300 { Ok(()) } else { Err(format!("{worst} ms between two blocks")) }
}

/// The header of each block says who voted for its parent.
fn three_vote(view: &View, listens: &PublicKey) -> Result<(), String> {
    let mut voters = std::collections::BTreeSet::new();
    for block in blocks(view, 1..=40)? {
        let bits = block.header.voters.iter().enumerate().flat_map(|(byte, bits)| (0..8).map(move |bit| (byte * 8 + bit, bits >> bit & 1)));
        voters.extend(bits.filter(|(_, bit)| *bit == 1).map(|(voter, _)| voter));
        if block.header.context.leader.0.as_slice() == AsRef::<[u8]>::as_ref(listens) {
            return Err(format!("it proposed block {}", block.header.number.0));
        }
    }
    if voters.len() == 3 { Ok(()) } else { Err(format!("these voted: {voters:?}")) }
}

fn seed() -> u64 {
    std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(0)
}

fn run(plan: commonware_glue::simulate::plan::PlanBuilder<Network>) {
    if let Err(error) = plan.build().run() {
        panic!("seed {}: {error}\nreplay: {SEED}={} cargo test -p cowboy-node --test simulation away", seed(), seed());
    }
}

/// The last validator stops, is back some time later, both in seconds, and leads again.
fn comes_back(is_wiped: bool, (stop, back): (u64, u64)) {
    let mut network = Network::new();
    network.kept = KEPT;
    let last = network.participants().pop().expect("there are four");
    network.wiped = is_wiped.then_some(network.participants().len() - 1);
    let at = Duration::from_secs;
    let schedule = Schedule::new().at(at(stop), Action::Crash(last.clone())).at(at(back), Action::Restart(last.clone()));
    let led = Check(Of("who was away leads again", has_led), last);
    run(plan(network, seed(), true).exit_condition(ProcessedHeightAtLeast::new(LAST)).crash(Crash::Schedule(schedule)).property(led));
}

/// the blocks that a validator missed are long pruned by the others' engines; their ledgers serve them.
#[test]
fn a_validator_comes_back_from_beyond_what_the_engines_keep() {
    comes_back(false, (6, 60));
}

/// a validator whose own engine has pruned genesis, which says who signs in the first epoch, starts again in that epoch.
#[test]
fn a_validator_restarts_after_genesis_was_pruned() {
    comes_back(false, (40, 42));
}

/// the same with an empty disk.
#[test]
fn a_validator_comes_back_with_an_empty_disk() {
    comes_back(true, (6, 60));
}

/// the turns of a leader that nobody has heard of are given up at once, not after the leader's time.
#[test]
fn a_leader_that_is_away_is_skipped() {
    let network = Network::new().with_traitor(Treason::Silent);
    let nobody = network.participants().remove(0);
    run(plan(network, 0, false).property(Check(Of("no view is waited for", nobody_waits), nobody)));
}

/// A validator that listens although it has the record of its votes, as one that was stopped for a while, reads the record only when it votes again.
#[test]
fn a_validator_listens_beside_the_record_of_its_votes() {
    let mut network = Network::new();
    network.listens_again = Some(network.participants().len() - 1);
    let last = network.participants().pop().expect("there are four");
    let at = Duration::from_secs;
    let [stop, listen, stop_again, vote] =
        [Action::Crash(last.clone()), Action::Restart(last.clone()), Action::Crash(last.clone()), Action::Restart(last.clone())];
    let schedule = Schedule::new().at(at(6), stop).at(at(7), listen).at(at(12), stop_again).at(at(13), vote);
    let led = Check(Of("who listened leads again", has_led), last);
    run(plan(network, seed(), true).exit_condition(ProcessedHeightAtLeast::new(LAST)).crash(Crash::Schedule(schedule)).property(led));
}

/// a validator that has lost the record of its votes has every block, and neither votes nor proposes while it listens.
#[test]
fn a_validator_that_listens_follows_and_never_votes() {
    let mut network = Network::new();
    network.listens = Some(network.participants().len() - 1);
    let last = network.participants().pop().expect("there are four");
    run(plan(network, seed(), true).property(Check(Of("only the others vote", three_vote), last)));
}
