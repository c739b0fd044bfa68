//! Validators come and go: shares pass to the next set, epoch by epoch, and the group key stays.

use crate::{
    checks::require,
    network::{Dealer, Network, VALIDATORS, Validator, settle},
    seeds::cut,
    sets::Sets,
};
use commonware_cryptography::ed25519::PublicKey;
use commonware_glue::{
    dkg::types::EpochOutcome,
    simulate::{
        action::{Action, Crash, Schedule},
        engine::EngineDefinition as _,
        exit::ProcessedHeightAtLeast,
        plan::PlanBuilder,
        property::Property,
        tracker::ProgressTracker,
    },
};
use commonware_p2p::simulated::Link;
use commonware_utils::probability;
use cowboy_node::Chain;
use std::{ops::Range, pin::Pin, time::Duration};

/// Blocks of an epoch.
const LENGTH: u64 = 16;

/// Epochs of a run, and a few blocks of the next.
const BLOCKS: u64 = 4 * LENGTH + 4;

/// Four validators with short epochs, one of which gives notice at once, and a fifth that registers at once.
fn network() -> (Network, PublicKey, PublicKey) {
    let founders = VALIDATORS as usize;
    let network =
        Sets { length: LENGTH, validators: founders, joins: vec![0], leaves: vec![(0, 0)], speaker: 1, ..Sets::default() }.network();
    let keys = network.participants();
    (network, keys[founders].clone(), keys[0].clone())
}

/// What must hold when an epoch later another set signs.
#[derive(Clone)]
struct Passed {
    newcomer: PublicKey,
    leaver: PublicKey,
    /// The epoch in which no dealing came through.
    undealt: Option<u64>,
    /// Who lost its shares, and the blocks meanwhile.
    lost: Option<(PublicKey, Range<u64>)>,
}

impl Property<PublicKey, Validator> for Passed {
    fn name(&self) -> &str {
        "the newcomer signs, who left does not, and the group key stays"
    }

    fn check<'a>(
        &'a self,
        _: &'a ProgressTracker<PublicKey>,
        states: &'a [&'a Validator],
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move {
            for chain in states.iter().filter_map(|validator| validator.honest()) {
                self.sets_follow(chain)?;
                self.leaders_follow(chain)?;
            }
            Ok(())
        })
    }
}

impl Passed {
    fn sets_follow(&self, chain: &Chain) -> Result<(), String> {
        let key = *chain.committees.term(0).ok_or("the first epoch is known")?.info.output.public().public();
        for epoch in 0..=4 {
            let info = &chain.committees.term(epoch).ok_or_else(|| format!("epoch {epoch} is not known"))?.info;
            require(*info.output.public().public() == key, || format!("another key signs in epoch {epoch}"))?;
            let expected =
                if self.undealt.is_some_and(|undealt| undealt + 1 == epoch) { EpochOutcome::Failure } else { EpochOutcome::Success };
            require(info.outcome == expected, || format!("the dealing before epoch {epoch}: {:?}", info.outcome))?;
            let players = info.output.players();
            let signs = [&self.newcomer, &self.leaver].map(|key| players.position(key).is_some());
            require(signs == if epoch < 3 { [false, true] } else { [true, false] }, || format!("epoch {epoch}: {signs:?}"))?;
        }
        Ok(())
    }

    /// Who signs leads; who does not never does.
    fn leaders_follow(&self, chain: &Chain) -> Result<(), String> {
        let view = chain.ledger.view().map_err(|error| error.to_string())?;
        let mut led = [0, 0];
        for number in 1..=BLOCKS {
            let block = view.block(number).map_err(|error| error.to_string())?.ok_or("a block is missing")?;
            require(block.header.context.epoch.0 == number / LENGTH, || format!("block {number} is of another epoch"))?;
            for (count, key) in led.iter_mut().zip([&self.newcomer, &self.leaver]) {
                let leads = block.header.context.leader.0 == key.as_ref();
                let may = (number / LENGTH < 3) == (key == &self.leaver);
                require(!leads || may, || format!("block {number} is led by one who does not sign"))?;
                *count += u64::from(leads);
            }
        }
        require(led.iter().all(|count| *count > 0), || format!("they led {led:?} blocks"))?;
        let Some((lost, meanwhile)) = &self.lost else { return Ok(()) };
        let mut leads_last = false;
        for number in 1..=BLOCKS {
            let block = view.block(number).map_err(|error| error.to_string())?.ok_or("a block is missing")?;
            if block.header.context.leader.0 == lost.as_ref() {
                require(!meanwhile.contains(&number), || format!("without its shares it led block {number}"))?;
                leads_last |= number / LENGTH == 3;
            }
        }
        require(leads_last, || "it does not sign again".into())
    }
}

const LINK: Link = Link { latency: Duration::from_millis(30), jitter: Duration::from_millis(10), success_rate: probability!(1.0) };

/// A run of this network. `schedule` says what happens to whom of the validators, in the order of their keys.
fn run(seed: u64, (undealt, lost): (Option<u64>, Option<(usize, Range<u64>)>), schedule: impl FnOnce(&[PublicKey]) -> Schedule<PublicKey>) {
    let (mut network, newcomer, leaver) = network();
    network.undealt = undealt.map(|epoch| Duration::from_secs((epoch + 1) * LENGTH - 2));
    network.loses_shares = lost.as_ref().map(|(index, _)| *index);
    let validators = network.participants();
    let lost = lost.map(|(index, meanwhile)| (validators[index].clone(), meanwhile));
    let plan = PlanBuilder::new(network)
        .seed(seed)
        .link(LINK)
        .exit_condition(ProcessedHeightAtLeast::new(BLOCKS))
        .timeout(Duration::from_secs(900))
        .crash(Crash::Schedule(schedule(&validators)))
        .property(Passed { newcomer, leaver, undealt, lost });
    settle(seed, "resharing", plan);
}

/// a newcomer signs from the third epoch on, and who gave notice does not any more.
#[test]
fn one_joins_and_one_leaves() {
    run(1, (None, None), |_| Schedule::new());
}

/// Where dealings do not come through, the old set continues and says so, and the next dealing makes up for it. One validator is cut
/// off while another epoch ends and the next shares are dealt: it learns from the others who signs, and has its share.
#[test]
fn a_failed_dealing_keeps_the_set() {
    run(2, (Some(0), None), |validators| {
        let (away, others) = validators[..4].split_at(3);
        let [begins, ends] = [2 * LENGTH - 4, 3 * LENGTH - 6].map(Duration::from_secs);
        cut(Schedule::new(), begins, away, others).at(ends, Action::Heal(LINK))
    });
}

/// A dealer deals to one other alone, or so late that nobody acknowledges it in time, or is killed between its dealing and the
/// acknowledgements, in every epoch: the dealings of the others suffice, and the set changes as it would.
#[test]
fn a_dealer_that_does_not_deal_holds_nobody_up() {
    for (seed, dealer) in [(4, Some(Dealer::ToOne)), (5, Some(Dealer::Late(LENGTH))), (6, None)] {
        let (mut network, newcomer, leaver) = network();
        network.dealer = dealer.map(|dealer| (3, dealer));
        let validators = network.participants();
        let killed = (0..4).filter(|_| dealer.is_none()).fold(Schedule::new(), |schedule, epoch| {
            let begins = Duration::from_secs(epoch * LENGTH);
            let [stop, start] = [1, 5].map(|second| begins + Duration::from_secs(second));
            schedule.at(stop, Action::Crash(validators[3].clone())).at(start, Action::Restart(validators[3].clone()))
        });
        let plan = PlanBuilder::new(network)
            .seed(seed)
            .link(LINK)
            .exit_condition(ProcessedHeightAtLeast::new(BLOCKS))
            .timeout(Duration::from_secs(900))
            .crash(Crash::Schedule(killed))
            .property(Passed { newcomer, leaver, undealt: None, lost: None });
        settle(seed, "resharing", plan);
    }
}

/// Everybody is killed again and again while the first epoch ends, and one loses its shares and what it was dealt each time: it follows
/// the next epoch without a vote, and signs again with a share of the next dealing that it keeps.
#[test]
fn kills_at_a_boundary_change_nothing() {
    run(3, (None, Some((1, LENGTH..2 * LENGTH))), |validators| {
        (LENGTH - 2..LENGTH + 3).fold(Schedule::new(), |schedule, second| {
            let [stop, start] = [0, 400].map(|ms| Duration::from_millis(second * 1_000 + ms));
            let schedule = validators.iter().fold(schedule, |schedule, key| schedule.at(stop, Action::Crash(key.clone())));
            validators.iter().fold(schedule, |schedule, key| schedule.at(start, Action::Restart(key.clone())))
        })
    });
}

/// A validator that loses its share in the middle of an epoch has a record of votes that it cannot read any more: it follows to the end of the epoch
/// without a vote, and signs again in the next.
#[test]
fn a_share_lost_in_the_middle_of_an_epoch_stops_nobody() {
    run(7, (None, Some((1, LENGTH + 10..2 * LENGTH))), |validators| {
        let [stop, start] = [0, 400].map(|ms| Duration::from_millis((LENGTH + 6) * 1_000 + ms));
        Schedule::new().at(stop, Action::Crash(validators[1].clone())).at(start, Action::Restart(validators[1].clone()))
    });
}
