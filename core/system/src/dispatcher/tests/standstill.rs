//! Jobs, claims and stakes while an actor of the market is paused (decisions 320 and 734).

use super::*;
use cowboy_system::standstill::{MARKET, Standstill};
use cowboy_testkit::chain::{address, parameters};
use cowboy_types::job::{JobStatus, Verdict};

fn market() -> Market {
    Market::with(9, |genesis| {
        genesis.parameters = parameters(&[("jobs.challenge_window", 30), ("jobs.dispute_window", 2), ("jobs.dispute_max", 60)]);
    })
}

fn majority(market: &mut Market) -> (Hash, Vec<Said>) {
    let id = market.submit(&committee_job("majority_vote", 3));
    let committee = market.draw(&id);
    let said = market.say(&committee.iter().map(|number| (*number, &b"yes"[..])).collect::<Vec<_>>());
    (id, said)
}

/// A pause of the Dispatcher that is longer than every deadline costs nobody anything: afterwards each job continues where it stood, with the
/// time that it had left. Nobody is slashed, blamed or silent, and all money arrives.
#[test]
fn a_pause_costs_no_deadline() {
    let mut market = market();
    let (claimed, said) = majority(&mut market);
    market.commit(&claimed, &said);
    market.wait_for_members(&claimed);
    market.reveal(&claimed, &said);
    let (revealing, withheld) = majority(&mut market);
    market.commit(&revealing, &withheld);
    let (assigned, late) = majority(&mut market);
    let argument = serde_json::json!({ "job_id": hex(&claimed.0), "runner": hex(&address(said[0].number).0), "claim": "made up" });
    assert_eq!(slug(&market.chain.send(7, ask(VERIFIER, "challenge", &argument, cby(100)))), "");
    let before: Vec<Job> = [&claimed, &revealing, &assigned].map(|id| market.job(id)).to_vec();
    let runners = runners_of(&market.chain);
    market.chain.pause(&[0x02], 400);
    let beat = serde_json::json!({});
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "heartbeat", &beat, 0))), "system_actor_paused");
    let reveal = ask(VERIFIER, "reveal", &withheld[0].revelation(&revealing), 0);
    assert_eq!(slug(&market.chain.send(withheld[0].number, reveal)), "system_actor_paused", "no part of the market works alone");
    market.chain.idle(397);
    assert_eq!(runners_of(&market.chain), runners, "nobody lost anything");
    assert_eq!(market.refused(&simple_job()), "system_actor_paused");
    let id = market.submit(&simple_job());
    assert_eq!(market.job(&id).candidates.0, 9, "nobody counts as silent");
    let runner = market.draw(&id)[0];
    assert_eq!(slug(&market.result(&id, runner, b"done")), "");
    let after = [&claimed, &revealing, &assigned].map(|id| as_read(&market, id));
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(after.status, before.status);
        assert_eq!(after.status_until.0 - before.status_until.0, 400, "{:?}", after.status);
    }
    market.commit(&assigned, &late);
    market.wait_for_members(&assigned);
    market.reveal(&assigned, &late);
    market.reveal(&revealing, &withheld);
    for id in [&revealing, &assigned] {
        let done = market.job(id);
        assert_eq!((done.status.clone(), done.outcome.map(|outcome| outcome.agreeing.0)), (JobStatus::Verified, Some(3)));
    }
    market.chain.idle(100);
    for id in [&claimed, &revealing, &assigned] {
        let done = market.job(id);
        assert_eq!((done.status.clone(), done.escrow), (JobStatus::Settled, Amount(0)));
        assert!(done.members.iter().all(|member| member.verdict == Verdict::Accepted && member.paid > Amount(0)));
    }
    assert!(runners_of(&market.chain).values().all(|runner| runner.jobs_failed == Count(0) && runner.stake.0 == cby(10_000)));
}

/// A job as everybody reads it: with deadlines that count no block of a pause.
fn as_read(market: &Market, id: &Hash) -> Job {
    let mut job = market.job(id);
    let standstill: Standstill = market.chain.record(&MARKET.key()).expect("it stood still");
    job.catch_up(standstill.blocks);
    job
}

/// The three actors of the market stop together, whichever of them is paused. A pause ends by itself.
#[test]
fn the_market_pauses_as_one() {
    for actor in [0x01, 0x02, 0x03] {
        let mut market = market();
        market.chain.pause(&[actor], 3);
        let none = serde_json::json!({});
        let job = serde_json::json!({ "job_id": hex(&[0; 32]) });
        assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "heartbeat", &none, 0))), "system_actor_paused", "{actor}");
        assert_eq!(slug(&market.chain.send(10, ask(DISPATCHER, "get_job", &job, 0))), "system_actor_paused", "{actor}");
        assert_eq!(slug(&market.chain.send(10, ask(VERIFIER, "attest_crash", &job, 0))), "system_actor_paused", "{actor}");
        assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "heartbeat", &none, 0))), "", "{actor}");
    }
    let mut market = market();
    market.chain.pause(&[0x06], 3);
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "heartbeat", &serde_json::json!({}), 0))), "", "another actor's pause");
}

/// What a runner is paid for a page that hangs is for the time outside of all pauses.
#[test]
fn time_in_a_pause_is_not_paid() {
    let paid = |blocks: u64| {
        let mut market = market();
        let mut job = simple_job();
        job["bounds"]["max_wall_time_seconds"] = 8.into();
        job["timeout_blocks"] = 20.into();
        let id = market.submit(&job);
        let runner = market.draw(&id)[0];
        market.chain.idle(2);
        for pause_of in [blocks, 2 * blocks] {
            market.chain.pause(&[0x02], pause_of);
            market.chain.idle(pause_of);
            market.chain.idle(1);
        }
        let said = market.said(runner, b"").failing(2, 10_000);
        assert_eq!(slug(&market.submit_alone(&id, &said)), "");
        market.job(&id).members[0].paid.0
    };
    assert_eq!((paid(0), paid(5), paid(60)), (paid(0), paid(0), paid(0)));
    assert!(paid(0) > 0);
}

/// Stake that was asked back is free later by the blocks of every pause, so that nobody leaves before what stood still is decided.
#[test]
fn stake_waits_for_what_stood_still() {
    let mut market = Market::with(3, |genesis| genesis.parameters = parameters(&[("consensus.unbonding", 3_600)]));
    let none = serde_json::json!({});
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "leave", &none, 0))), "");
    let release = market.chain.height.0 + 3_600;
    for blocks in [50, 30] {
        market.chain.pause(&[0x03], blocks);
        market.chain.idle(blocks + 5);
    }
    market.chain.height.0 = release + 78;
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "withdraw", &none, 0))), "unbonding");
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "withdraw", &none, 0))), "");
}

/// Nobody is silent for the blocks of several pauses, one after another, and whoever is silent outside of them is found so.
#[test]
fn every_pause_counts() {
    let mut market = market();
    for blocks in [400, 100] {
        market.chain.pause(&[0x02], blocks);
        market.chain.idle(blocks + 1);
    }
    let id = market.submit(&simple_job());
    assert_eq!(market.job(&id).candidates.0, 9, "{:?}", market.chain.record::<Standstill>(&MARKET.key()));
    market.chain.idle(300);
    assert_eq!(market.refused(&simple_job()), "no_candidates");
}
