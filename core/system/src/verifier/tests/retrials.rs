//! What it means for a claim that the work was done again (decision 399): in CBY, and in blocks.

use super::*;
use cowboy_testkit::chain::{address, parameters};
use cowboy_testkit::market::work_attested;
use cowboy_types::job::JobStatus;

/// A result of two that was accepted, and the work that account 2 has done again.
struct Again {
    market: Market,
    id: Hash,
    members: Vec<u8>,
    retrial: Hash,
    /// What account 2 had before, less the fee of asking.
    before: u64,
}

/// Claims end `dispute_max` blocks after the first; a commitment has `timeout` blocks.
fn again(dispute_max: u64, timeout: u64) -> Again {
    again_after(dispute_max, timeout, |_| ())
}

/// The same, where something happens before the claim.
fn again_after(dispute_max: u64, timeout: u64, happens: impl FnOnce(&mut Market)) -> Again {
    again_among(6, dispute_max, timeout, happens)
}

/// The same among a number of runners.
fn again_among(runners: u8, dispute_max: u64, timeout: u64, happens: impl FnOnce(&mut Market)) -> Again {
    let mut market = Market::with(runners, |genesis| {
        genesis.parameters = parameters(&[
            ("jobs.challenge_window", 20),
            ("jobs.dispute_window", 2),
            ("jobs.reveal_window", 12),
            ("jobs.dispute_max", dispute_max),
            ("jobs.waiting_max", 1),
        ]);
    });
    let mut job = committee_job("deterministic", 2);
    job["verification"]["tee_required"] = true.into();
    job["toolchain_digest"] = hex(&[5; 32]).into();
    job["timeout_blocks"] = timeout.into();
    let id = market.submit(&job);
    let members = market.draw(&id);
    work_attested(&mut market, &id, &members, b"first");
    assert_eq!(market.job(&id).status, JobStatus::Verified);
    happens(&mut market);
    let balance = market.chain.balance(address(2));
    let receipt = market.chain.send(2, ask(VERIFIER, "reproduce", &serde_json::json!({ "job_id": hex(&id.0) }), cby(100)));
    assert_eq!(slug(&receipt), "");
    Again { market, id, members, retrial: id_of(&receipt), before: balance - receipt.fee.burned.0 - receipt.fee.tip.0 }
}

impl Again {
    fn lost(&self) -> u64 {
        self.before - self.market.chain.balance(address(2))
    }

    /// What the work cost.
    fn cost(&self) -> u64 {
        self.market.job(&self.retrial).outcome.expect("it was done").gross.0 + 500
    }

    fn is_nobody_slashed(&self) -> bool {
        self.members.iter().all(|number| runners_of(&self.market.chain)[&address(*number)].stake.0 == cby(10_000))
    }
}

/// Every runner asks for the work of a job all that each of two may have of its price.
fn ask_everything(market: &mut Market) {
    for number in market.runners.clone() {
        let mut dear = declaration(number);
        dear["rates"]["compute_second"] = 50_000.into();
        assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "update", &dear, 0))), "");
    }
}

/// Decision 592: who is right pays nothing, also where five ask more for the work than the job of two held. What its pay does not give back comes out of
/// the stake of those who lied, of which nobody gets more: neither those who lied, nor a claimant that is one with them.
#[test]
fn a_right_claim_is_paid_by_those_who_lied() {
    let mut again = again_among(8, 200, 10, ask_everything);
    let of_liars = |again: &Again| -> u64 {
        let runners = runners_of(&again.market.chain);
        again.members.iter().map(|number| again.market.chain.balance(address(*number)) + runners[&address(*number)].stake.0).sum()
    };
    let (held, before) = (again.market.job(&again.id).escrow.0, of_liars(&again));
    let committee = again.market.draw(&again.retrial);
    assert_eq!(committee.len(), 5);
    work_attested(&mut again.market, &again.retrial, &committee, b"another");
    again.market.chain.idle(25);
    assert_eq!(again.market.job(&again.retrial).status, JobStatus::Settled);
    assert!(again.cost() > held, "{} for the work, of which the job held {held}", again.cost());
    assert_eq!(again.lost(), 0);
    assert_eq!(before - of_liars(&again), 2 * cby(3_000), "whoever asked: three tenths of each stake");
}

/// Work that could not be done again proves nothing: bond and price come back whole, and the window continues where it stood still.
#[test]
fn work_that_cannot_be_done_again_proves_nothing() {
    let mut again = again(200, 10);
    again.market.draw(&again.retrial);
    let left = again.market.job(&again.id).window_left.0;
    let is_over = |again: &Again| again.market.job(&again.retrial).status == JobStatus::Failed;
    for _ in 0..150 {
        if is_over(&again) {
            break;
        }
        again.market.chain.idle(1);
    }
    assert!(is_over(&again), "nobody did it");
    assert_eq!(again.lost(), 0);
    assert!(again.is_nobody_slashed());
    let job = again.market.job(&again.id);
    assert_eq!((job.status, job.status_until.0), (JobStatus::Verified, again.market.chain.height.0 + left));
}

/// The same result again refutes the claim: the bond is destroyed, and the claimant pays the work.
#[test]
fn the_same_result_costs_the_bond_and_the_work() {
    let mut again = again(200, 10);
    let committee = again.market.draw(&again.retrial);
    work_attested(&mut again.market, &again.retrial, &committee, b"first");
    again.market.chain.idle(25);
    assert_eq!(again.market.job(&again.retrial).status, JobStatus::Settled);
    assert_eq!(again.lost(), cby(100) + again.cost());
    assert!(again.is_nobody_slashed());
    assert_eq!(again.market.job(&again.id).status, JobStatus::Settled);
}

/// A claim that lapsed is over: the work that is done again afterwards slashes nobody, and pays nothing back but the rest of the bond.
#[test]
fn work_done_again_after_the_lapse_changes_nothing() {
    let mut again = again(40, 100);
    let committee = again.market.draw(&again.retrial);
    again.market.chain.idle(41);
    assert_eq!(again.market.job(&again.id).status, JobStatus::Settled, "its claims lapsed");
    let paid: Vec<u64> = again.market.job(&again.id).members.iter().map(|member| member.paid.0).collect();
    assert!(paid.iter().all(|paid| *paid > 0));
    work_attested(&mut again.market, &again.retrial, &committee, b"another");
    again.market.chain.idle(25);
    assert_eq!(again.market.job(&again.retrial).status, JobStatus::Settled);
    assert_eq!(again.lost(), cby(10) + again.cost());
    assert!(again.is_nobody_slashed());
}

/// Every runner takes one job at a time, and has one.
fn occupy(market: &mut Market) {
    for number in market.runners.clone() {
        let mut one = declaration(number);
        one["max_concurrent"] = 1.into();
        assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "update", &one, 0))), "");
    }
    let nonce = market.chain.nonce(1);
    let jobs = market.runners.iter().zip(nonce..).map(|(_, nonce)| signed(1, nonce, ask(DISPATCHER, "submit_job", &simple_job(), 0)));
    let jobs = jobs.collect();
    assert!(market.chain.block(jobs).receipts.iter().all(Receipt::is_success));
}

/// Work that waits to be done again, and whose place in a full queue another job takes, is over in that block: its claimant has the bond again, and
/// pays for the blocks that it waited.
#[test]
fn a_retrial_that_loses_its_place_ends_its_claim() {
    let mut again = again_after(200, 10, occupy);
    for _ in 0..5 {
        if again.market.job(&again.retrial).status == JobStatus::Waiting {
            break;
        }
        again.market.chain.idle(1);
    }
    let waiting = again.market.job(&again.retrial);
    assert_eq!(waiting.status, JobStatus::Waiting);
    let mut dear = simple_job();
    dear["max_price"] = cby(100).into();
    let dear = again.market.submit(&dear);
    assert_eq!(again.market.job(&dear).status, JobStatus::Waiting, "it has the place");
    assert_eq!(again.market.job(&again.retrial).status, JobStatus::Failed);
    let waited = again.market.chain.height.0 - waiting.queued_at.0;
    assert_eq!(again.lost(), waited * waiting.queue_price.0);
    assert_eq!(again.market.job(&again.id).status, JobStatus::Verified);
    assert!(again.is_nobody_slashed());
}

/// Who has work done again has no say in who judges: not by the pool that the job names, nor by a price for which only its own runners work, nor by the
/// absence of others (decision 585).
#[test]
fn a_challenger_does_not_choose_the_judges() {
    let asked = |change: &dyn Fn(&mut Market, &mut serde_json::Value)| {
        let mut market = Market::with(6, |genesis| genesis.parameters = parameters(&[("jobs.challenge_window", 20)]));
        let mut job = committee_job("deterministic", 2);
        job["verification"]["tee_required"] = true.into();
        job["toolchain_digest"] = hex(&[5; 32]).into();
        change(&mut market, &mut job);
        let id = market.submit(&job);
        let members = market.draw(&id);
        work_attested(&mut market, &id, &members, b"first");
        (market, id, members)
    };
    let again = |market: &mut Market, id: Hash| {
        market.chain.send(2, ask(VERIFIER, "reproduce", &serde_json::json!({ "job_id": hex(&id.0) }), cby(100)))
    };
    // For the price of the job, shared by more, nobody of the others would work.
    let (mut market, id, members) = asked(&|market, _| {
        for number in market.runners.clone() {
            let mut dear = declaration(number);
            dear["rates"]["compute_second"] = 40_000.into();
            dear["rates"]["max_job_value"] = 100_000.into();
            assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "update", &dear, 0))), "");
        }
    });
    let receipt = again(&mut market, id);
    assert_eq!(slug(&receipt), "");
    let retrial = market.job(&id_of(&receipt));
    assert_eq!(retrial.committee.0, 4, "all others");
    assert_eq!(members.len(), 2);
    // Fewer than those who are judged judge nobody.
    let (mut market, id, members) = asked(&|_, _| ());
    let others: Vec<u8> = market.runners.iter().copied().filter(|number| !members.contains(number)).collect();
    for number in &others[..2] {
        let mut absent = declaration(*number);
        absent["rates"]["min_job_value"] = cby(1).into();
        assert_eq!(slug(&market.chain.send(*number, ask(REGISTRY, "update", &absent, 0))), "");
    }
    assert_eq!(slug(&again(&mut market, id)), "no_candidates");
}

/// The largest committee is judged by one more than it has.
#[test]
fn the_largest_committee_is_repeated() {
    let mut market = Market::with(20, |genesis| genesis.parameters = parameters(&[("jobs.challenge_window", 20)]));
    let mut job = committee_job("deterministic", 9);
    job["verification"]["tee_required"] = true.into();
    job["toolchain_digest"] = hex(&[5; 32]).into();
    let id = market.submit(&job);
    let members = market.draw(&id);
    work_attested(&mut market, &id, &members, b"first");
    let receipt = market.chain.send(2, ask(VERIFIER, "reproduce", &serde_json::json!({ "job_id": hex(&id.0) }), cby(100)));
    assert_eq!(slug(&receipt), "");
    assert_eq!((members.len(), market.job(&id_of(&receipt)).committee.0), (9, 10));
}
