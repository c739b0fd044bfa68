//! Jobs that wait for runners with a free slot (decisions 307, 321).

use super::*;
use cowboy_params::Params;
use cowboy_state::World;
use cowboy_system::agenda;
use cowboy_testkit::chain::{address, parameters};
use cowboy_types::job::JobStatus;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![a_job_waits_for_a_free_slot, waiting_has_an_end_and_a_price, the_queue_is_bounded];

/// A market whose runners take one job at a time.
fn market(runners: u8) -> Market {
    market_with(runners, &[])
}

/// The same with other parameters.
fn market_with(runners: u8, rows: &[(&str, u64)]) -> Market {
    let mut market = Market::with(runners, |genesis| genesis.parameters = parameters(rows));
    for number in market.runners.clone() {
        slots(&mut market, number, 1);
    }
    market
}

fn slots(market: &mut Market, number: u8, slots: u64) {
    let mut one = declaration(number);
    one["max_concurrent"] = slots.into();
    assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "update", &one, 0))), "");
}

fn job() -> serde_json::Value {
    let mut job = simple_job();
    job["max_price"] = cby(1).into();
    job
}

/// Submits jobs in one block, whose candidates are therefore all runners that were free before it. Answers their ids.
fn submit(market: &mut Market, jobs: &[serde_json::Value]) -> Vec<Hash> {
    let nonce = market.chain.nonce(1);
    let transactions = jobs.iter().zip(nonce..).map(|(job, nonce)| signed(1, nonce, ask(DISPATCHER, "submit_job", job, 0)));
    let outcome = market.chain.block(transactions.collect());
    outcome.receipts.iter().take(jobs.len()).map(id_of).collect()
}

/// Submits a job for each runner, and others that wait. Answers the jobs under way, and those that wait.
fn busy(market: &mut Market, waiting: &[serde_json::Value]) -> (Vec<Hash>, Vec<Hash>) {
    let mut jobs = vec![job(); market.runners.len()];
    jobs.extend_from_slice(waiting);
    let mut ids = submit(market, &jobs);
    let waiting = ids.split_off(market.runners.len());
    (ids, waiting)
}

fn finish(market: &mut Market, id: &Hash) {
    let runner = market.committee(id)[0];
    assert_eq!(slug(&market.result(id, runner, b"done")), "");
}

/// A job that finds only busy runners waits, and is drawn in the block in which one gets a free slot, before jobs that came later. It pays for
/// the blocks that it waited. Nobody is blamed, and everybody can draw it again.
#[test]
fn a_job_waits_for_a_free_slot() {
    for draw in ["immediate", "delayed"] {
        let mut market = market(2);
        let mut wanted = job();
        wanted["draw"] = draw.into();
        let (working, ids) = busy(&mut market, &[wanted.clone(), wanted]);
        let (first, second) = (ids[0], ids[1]);
        market.chain.idle(3);
        let before = market.job(&first);
        assert_eq!([before.status.clone(), market.job(&second).status], [JobStatus::Waiting, JobStatus::Waiting], "{draw}");
        finish(&mut market, &working[1]);
        let (drawn, other) = (market.job(&first), market.job(&second));
        assert_eq!((drawn.status.clone(), other.status), (JobStatus::Assigned, JobStatus::Waiting), "{draw}: first in, first out");
        let waited = market.chain.height.0 - before.queued_at.0;
        let place = cby(1) / 10 / 10 / 64;
        assert_eq!(before.escrow.0 - drawn.escrow.0, waited * (2 * 1_000 + place), "{draw}: two candidates, and the first of 64 places");
        assert_eq!(drawn.commit_until.0, market.chain.height.0 + 10, "{draw}: with all of its time");
        assert_eq!((drawn.passed.len(), drawn.attempt.0), (usize::from(drawn.passed.contains(&address(other_of(&market, &first)))), 0));
        let other = other_of(&market, &first);
        slots(&mut market, other, 2);
        assert_eq!(market.job(&second).status, JobStatus::Assigned, "{draw}: a runner that takes more has a free slot, too");
        finish(&mut market, &first);
        assert_eq!(market.job(&first).status, JobStatus::Settled, "{draw}");
        assert!(runners_of(&market.chain).values().all(|runner| runner.jobs_failed == Count(0)));
    }
}

/// A job that is submitted while all who can do it are busy waits as well, and has all of its committee: those who are busy are candidates
/// where the others are too few for it, and only then (002 §4).
#[test]
fn a_job_of_busy_runners_waits() {
    let mut market = market(5);
    let mut slow = job();
    slow["timeout_blocks"] = 100.into();
    let working = submit(&mut market, &vec![slow.clone(); 4]);
    let single = market.submit(&slow);
    assert_eq!((market.job(&single).candidates, market.job(&single).status), (Count(1), JobStatus::Assigned), "one is free");
    let mut three = committee_job("structured_match", 3);
    three["max_price"] = cby(1).into();
    three["timeout_blocks"] = 100.into();
    let (waiting, late) = (market.submit(&three), market.submit(&job()));
    market.chain.idle(2);
    for id in [&waiting, &late] {
        assert_eq!((market.job(id).candidates, market.job(id).status), (Count(5), JobStatus::Waiting), "nobody is free");
    }
    finish(&mut market, &working[0]);
    assert_eq!([market.job(&waiting).status, market.job(&late).status], [JobStatus::Waiting, JobStatus::Assigned], "one is free for one");
    let before = market.job(&waiting);
    finish(&mut market, &working[1]);
    finish(&mut market, &working[2]);
    assert_eq!(market.job(&waiting).status, JobStatus::Waiting, "two make no committee of three");
    finish(&mut market, &late);
    let drawn = market.job(&waiting);
    assert_eq!((drawn.status, drawn.members.len(), drawn.committee, drawn.threshold), (JobStatus::Assigned, 3, Count(3), before.threshold));
    let balance = market.chain.balance(address(1));
    three["timeout_blocks"] = 10.into();
    let given_up = market.submit(&three);
    market.chain.idle(14);
    let failed = market.job(&given_up);
    assert_eq!((failed.status, &failed.reason[..], failed.escrow), (JobStatus::Failed, "runners_busy", Amount(0)));
    let paid = balance - market.chain.balance(address(1));
    assert!(paid < cby(1), "the price came back, less what waiting costs: {paid}");
}

/// The other one of two runners.
fn other_of(market: &Market, id: &Hash) -> u8 {
    let drawn = market.committee(id)[0];
    market.runners.iter().copied().find(|number| *number != drawn).expect("there are two")
}

/// Waiting ends with the time that a commitment has, or when a tenth of the price is paid for it; then the job fails, and the rest goes back.
#[test]
fn waiting_has_an_end_and_a_price() {
    for (price, blocks, case) in [(cby(1), 10, "as long as a commitment"), (70_000, 3, "as long as it can pay")] {
        let mut market = market(2);
        let mut wanted = job();
        wanted["max_price"] = price.into();
        let (slow, ids) = busy(&mut market, &[wanted]);
        let id = ids[0];
        let waiting = market.job(&id);
        assert_eq!(waiting.status_until.0 - waiting.queued_at.0, blocks, "{case}");
        market.chain.idle(blocks - 1);
        assert_eq!(market.job(&id).status, JobStatus::Waiting, "{case}");
        let before = market.chain.balance(address(1));
        let receipts = market.chain.idle(1);
        let job = market.job(&id);
        assert_eq!((job.status, &job.reason[..], job.escrow), (JobStatus::Failed, "runners_busy", Amount(0)), "{case}");
        assert!(announced(&receipts).contains(&"JobFailed".to_string()));
        assert_eq!(market.chain.balance(address(1)) - before, price + 500 - blocks * waiting.queue_price.0, "{case}");
        assert!(slow.iter().all(|id| market.job(id).members.len() == 1));
    }
}

/// A job that fails for a fault outside its runners, after it waited, has no more to share than what is left of its price.
#[test]
fn a_job_that_waited_pays_no_more_than_it_has() {
    let mut market = market(1);
    let mut wanted = job();
    wanted["max_price"] = 100_000.into();
    let (slow, ids) = busy(&mut market, &[wanted]);
    let id = ids[0];
    market.chain.idle(7);
    finish(&mut market, &slow[0]);
    assert_eq!(market.job(&id).status, JobStatus::Assigned);
    let said = market.said(10, b"").failing(1, 0);
    assert_eq!(slug(&market.submit_alone(&id, &said)), "");
    assert_eq!((market.job(&id).status, market.job(&id).escrow), (JobStatus::Failed, Amount(0)));
}

/// The queue has `jobs.waiting_max` places; the next job fails at once.
#[test]
fn the_queue_is_bounded() {
    let mut market = Market::with(1, |genesis| genesis.parameters = parameters(&[("jobs.waiting_max", 2)]));
    slots(&mut market, 10, 1);
    let ids = submit(&mut market, &vec![job(); 4]);
    let found: Vec<JobStatus> = ids.iter().map(|id| market.job(id).status).collect();
    assert_eq!(found, [JobStatus::Assigned, JobStatus::Waiting, JobStatus::Waiting, JobStatus::Failed]);
}

/// Decision 321: a place costs more the fewer are free. In a full queue whoever offers more for a block takes the place of whoever offers the
/// least, the last one of equals, which pays for the blocks that it waited.
#[test]
fn the_queue_goes_to_those_who_offer_more() {
    let mut market = market_with(2, &[("jobs.waiting_max", 2)]);
    let [mut patient, mut dear] = [job(), job()];
    patient["max_price"] = (2 * cby(1)).into();
    patient["timeout_blocks"] = 30.into();
    dear["max_price"] = (cby(1) + 10).into();
    dear["draw"] = "delayed".into();
    let (slow, ids) = busy(&mut market, &[job(), job(), patient, dear]);
    let before = market.job(&ids[1]);
    let prices = [2_000 + cby(1) / 200, 2_000 + cby(1) / 100];
    assert_eq!([market.job(&ids[0]).queue_price.0, before.queue_price.0], prices, "two candidates, and one or two of two places");
    assert_eq!(market.job(&ids[2]).status, JobStatus::Failed, "its price is higher, but not for each block");
    let balance = market.chain.balance(address(1));
    while market.job(&ids[3]).status == JobStatus::Drawing {
        market.chain.idle(1);
    }
    let found: Vec<JobStatus> = ids.iter().map(|id| market.job(id).status).collect();
    assert_eq!(found, [JobStatus::Waiting, JobStatus::Failed, JobStatus::Failed, JobStatus::Waiting]);
    let waited = market.chain.height.0 - before.queued_at.0;
    assert_eq!(&market.job(&ids[1]).reason[..], "runners_busy");
    assert!(waited > 1);
    assert_eq!(market.chain.balance(address(1)) - balance, before.escrow.0 - waited * before.queue_price.0);
    finish(&mut market, &slow[0]);
    assert_eq!(market.job(&ids[0]).status, JobStatus::Assigned, "first in, first out, whatever the others offer");
}

/// A job that its own agenda wakes is not tried out of its turn: it would end the pass of those before it, and a slot that became free
/// would be lost to them.
#[test]
fn a_job_that_wakes_for_something_else_takes_no_turn() {
    let mut market = market_with(6, &[("jobs.reveal_window", 12), ("jobs.crash_window", 4)]);
    let (mut slow, mut pair, mut three) = (job(), committee_job("structured_match", 2), committee_job("majority_vote", 3));
    for wanted in [&mut slow, &mut pair, &mut three] {
        wanted["max_price"] = cby(1).into();
        wanted["timeout_blocks"] = 1_000.into();
    }
    let ids = submit(&mut market, &[slow.clone(), slow.clone(), slow.clone(), slow, pair, three]);
    let (pair, three) = (ids[4], ids[5]);
    let committee = market.draw(&pair);
    assert_eq!(market.job(&three).status, JobStatus::Waiting, "two of six runners are free");
    let said = market.say(&committee.iter().map(|number| (*number, &b"withheld"[..])).collect::<Vec<_>>());
    market.commit(&pair, &said);
    market.chain.idle(market.job(&pair).reveal_until.0 - market.chain.height.0);
    let waiting = market.job(&pair);
    assert_eq!((waiting.status.clone(), waiting.absent.len()), (JobStatus::Waiting, 2), "four others are busy");
    assert_eq!(market.job(&three).status, JobStatus::Waiting, "the two are not enough");
    market.chain.idle(waiting.due.0 - 1 - market.chain.height.0);
    finish(&mut market, &ids[0]);
    assert_eq!((market.chain.height, market.job(&pair).absent.len()), (waiting.due, 0), "it woke for the slash");
    let found = [&three, &pair].map(|id| market.job(id).status);
    assert_eq!(found, [JobStatus::Assigned, JobStatus::Waiting], "the third runner is the first job's");
}

/// The modelled time of a try counts the records of all runners that it looks at.
#[test]
fn a_try_weighs_what_it_reads() {
    let weight = |runners: u8| {
        let mut market = market(runners);
        let (_, ids) = busy(&mut market, &[job()]);
        let (mut world, height) = (World::default(), market.chain.height.next());
        loop {
            let checkpoint = world.checkpoint();
            match agenda::advance(&mut world, &Params::GENESIS, height, &ids[0]) {
                Ok(step) => return step.weight,
                Err(miss) => {
                    world.rollback(&checkpoint);
                    for key in world.want(miss) {
                        world.fill(&key, market.chain.state.get(&key).cloned());
                    }
                }
            }
        }
    };
    assert_eq!(weight(45) - weight(5), 40 * (500 + 2_000), "40 more candidates, and their records");
}

/// A committee that is silent, and finds too few free runners for the next draw, makes the job wait as well.
#[test]
fn a_further_draw_waits() {
    let mut market = market(4);
    let mut wanted = committee_job("majority_vote", 2);
    wanted["verification"]["mode"] = "structured_match".into();
    wanted["max_price"] = cby(1).into();
    let id = market.submit(&wanted);
    market.draw(&id);
    let mut slow = job();
    slow["timeout_blocks"] = 100.into();
    let others = submit(&mut market, &[slow.clone(), slow]);
    let due = market.job(&id).commit_until.0;
    market.chain.idle(due - market.chain.height.0);
    let waiting = market.job(&id);
    assert_eq!((waiting.status, waiting.attempt.0, waiting.members.len()), (JobStatus::Waiting, 1, 0));
    for other in &others {
        finish(&mut market, other);
    }
    let drawn = market.job(&id);
    assert_eq!((drawn.status, drawn.attempt.0, drawn.members.len()), (JobStatus::Assigned, 1, 2), "both are needed");
}

/// The records of busy runners are asked for together: rounds do not grow with them.
#[test]
fn busy_runners_are_read_together() {
    let rounds = |runners: u8| {
        let mut market = market(runners);
        let mut wanted = job();
        wanted["draw"] = "delayed".into();
        let id = market.submit(&wanted);
        busy(&mut market, &[]);
        let before = market.chain.rounds;
        market.chain.idle(2);
        assert_eq!(market.job(&id).status, JobStatus::Waiting);
        market.chain.rounds - before
    };
    let (few, many) = (rounds(5), rounds(45));
    assert!(many <= few + 2, "{many} rounds with 45 busy runners, {few} with 5");
}
