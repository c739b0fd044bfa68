//! What is due and what was submitted share a block's steps of jobs (decision 762).

use super::*;
use cowboy_testkit::chain::{address, parameters};
use cowboy_types::job::JobStatus;

/// Steps of jobs that a block of these tests does.
const STEPS: u64 = 16;

fn market(runners: u8, more: &[(&str, u64)]) -> Market {
    let rows = [&[("jobs.steps_per_block", STEPS)][..], more].concat();
    Market::with(runners, |genesis| genesis.parameters = parameters(&rows))
}

fn slots(market: &mut Market, slots: u64) {
    for number in market.runners.clone() {
        let mut changed = declaration(number);
        changed["max_concurrent"] = slots.into();
        assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "update", &changed, 0))), "");
    }
}

/// One block in which an account submits as many jobs. Answers their ids.
fn flood(market: &mut Market, number: u8, count: u64, job: &serde_json::Value) -> Vec<Hash> {
    let nonce = market.chain.nonce(number);
    let jobs = (0..count).map(|more| signed(number, nonce + more, ask(DISPATCHER, "submit_job", job, 0)));
    let outcome = market.chain.block(jobs.collect());
    let taken = usize::try_from(count).expect("a few");
    outcome.receipts.iter().take(taken).map(id_of).collect()
}

fn due(job: &Job) -> u64 {
    job.status_until.0
}

/// Attack: more cheap jobs are submitted in each block than it draws, for which no runner is free, so that they cost fees alone. A deadline and a payout of
/// others come in the block in which they are due all the same.
#[test]
fn submissions_put_off_nothing_that_is_due() {
    let mut market = market(3, &[("jobs.waiting_max", 0), ("jobs.challenge_window", 12), ("jobs.dispute_window", 2)]);
    slots(&mut market, 1);
    let paid = market.submit(&committee_job("majority_vote", 3));
    let committee = market.draw(&paid);
    let said = market.say(&committee.iter().map(|number| (*number, &b"yes"[..])).collect::<Vec<_>>());
    market.commit(&paid, &said);
    market.wait_for_members(&paid);
    market.reveal(&paid, &said);
    assert_eq!(market.job(&paid).status, JobStatus::Verified);
    let late = market.submit(&simple_job());
    let mut slow = simple_job();
    slow["timeout_blocks"] = 1_000.into();
    flood(&mut market, 1, 2, &slow);
    let (payout, deadline) = (due(&market.job(&paid)), due(&market.job(&late)));
    let last = payout.max(deadline);
    while market.chain.height.0 < last {
        flood(&mut market, 2, STEPS + 8, &simple_job());
        let height = market.chain.height.0;
        assert_eq!(market.job(&paid).status == JobStatus::Settled, height >= payout, "paid out at {payout}: {height}");
        assert_eq!(market.job(&late).status == JobStatus::Failed, height >= deadline, "over at {deadline}: {height}");
    }
    let waiting =
        jobs_of(&market.chain).into_values().filter(|job| job.submitter == address(2) && job.status == JobStatus::Drawing).count();
    assert!(waiting > 40, "the submissions wait for each other: {waiting}");
    assert_eq!(market.job(&late).escrow, Amount(0), "the money is back, nobody being free");
}

/// However much is due, a job that is submitted is drawn in the same block.
#[test]
fn what_is_due_puts_off_no_draw() {
    let mut market = market(5, &[]);
    let mut job = simple_job();
    for timeout in [30, 29, 28] {
        job["timeout_blocks"] = timeout.into();
        flood(&mut market, 2, STEPS, &job);
    }
    let at = jobs_of(&market.chain).values().map(due).min().expect("jobs are under way");
    market.chain.idle(at - market.chain.height.0 - 1);
    let wanted = market.submit(&simple_job());
    let left = jobs_of(&market.chain).into_values().filter(|job| due(job) == at).count();
    assert_eq!((market.chain.height.0, market.job(&wanted).status), (at, JobStatus::Assigned));
    assert_eq!(left, 3 * 16 - 15, "all were due at once, and one step was the draw's");
}

/// A job that waits for its turn to be drawn is drawn at the latest when its time is over, and not twice.
#[test]
fn a_draw_comes_when_the_time_is_over() {
    let mut market = market(3, &[]);
    let mut job = simple_job();
    job["timeout_blocks"] = 6.into();
    let ids = flood(&mut market, 2, 7 * STEPS, &job);
    let last = ids[ids.len() - 1];
    market.chain.idle(5);
    assert_eq!(market.job(&last).status, JobStatus::Drawing, "fewer were drawn than came");
    market.chain.idle(60);
    let undrawn = jobs_of(&market.chain).into_values().filter(|job| job.status == JobStatus::Drawing).count();
    assert_eq!(undrawn, 0, "each was drawn, and none is listed any more");
}
