//! Results that a job refuses: what they cost, and who is paid (decision 323).

use super::adversaries::quick;
use super::*;
use cowboy_testkit::chain::{address, parameters};
use cowboy_types::job::JobStatus;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![results_cost_their_price];

/// How a job refuses, what its runners say, and what it ends as.
struct Row {
    case: &'static str,
    runners: u64,
    checks: serde_json::Value,
    says: fn(u8) -> Vec<u8>,
    reason: &'static str,
    /// Base units that the requester pays, and that each runner of the last committee gets.
    pays: u64,
    gets: u64,
}

fn rows() -> [Row; 5] {
    let wanted = || serde_json::json!([{ "type": "contains_all", "texts": ["a word that nobody says"] }]);
    let long = || serde_json::json!([{ "type": "length_bounds", "min": 900 }]);
    let alike = |_| b"true".to_vec();
    let apart = |number| vec![b'l', number];
    // A price of 20 CBY each: 89% of it are 17.8, and 89% of the least fee 0.0089.
    let (price, paid, least) = (cby(20), 17_800_000_000, 8_900_000);
    let row = |case, runners, checks, says, reason, pays, gets| Row { case, runners, checks, says, reason, pays, gets };
    [
        row("one runner, a check of the submitter", 1, wanted(), alike, "checks_failed", price, least),
        row("a committee that says the same", 3, wanted(), alike, "checks_failed", 3 * price, paid),
        row("one runner, a length, in four draws", 1, long(), alike, "actor_fault", 2 * price, least),
        row("a committee that says the same, in four draws", 3, long(), alike, "actor_fault", 6 * price, paid / 2),
        row("everybody says something else", 3, serde_json::json!([]), apart, "no_majority", 6 * price, least),
    ]
}

/// A submitter that refuses every answer pays what accepting them costs, within `max_price`; a committee that says the same has its
/// price, and nobody is blamed.
#[test]
fn results_cost_their_price() {
    for row in rows() {
        let windows = [("jobs.reveal_window", 12)];
        let mut market = Market::with(12, |genesis| genesis.parameters = parameters(&windows));
        strategies::set_rate(&mut market, 20);
        let mut job = committee_job(if row.runners == 1 { "none" } else { "majority_vote" }, row.runners);
        job["verification"]["checks"] = row.checks;
        job["max_price"] = cby(40 * row.runners).into();
        let before = market.chain.balance(address(1));
        let receipt = market.chain.send(1, ask(DISPATCHER, "submit_job", &job, 0));
        let (id, fee) = (id_of(&receipt), receipt.fee.burned.0 + receipt.fee.tip.0);
        strategies::live_saying(&mut market, &id, row.says);
        let done = market.job(&id);
        assert_eq!((done.status.clone(), &done.reason[..]), (JobStatus::Failed, row.reason), "{}", row.case);
        assert_eq!(before - fee - market.chain.balance(address(1)), row.pays, "{}", row.case);
        assert!(done.members.iter().all(|member| member.paid.0.abs_diff(row.gets) <= 1), "{}: {:?}", row.case, done.members);
        let runners = runners_of(&market.chain);
        assert!(runners.values().all(|runner| runner.reputation.0 == 100_000_000), "{}", row.case);
    }
}

/// What one runner alone reports as a fault is no way to earn the price of a dear job (decision 586).
#[test]
fn a_fault_that_one_reports_is_paid_little() {
    let mut market = quick(1);
    let mut dear = declaration(10);
    dear["rates"]["http_request_base"] = cby(1).into();
    assert_eq!(slug(&market.chain.send(10, ask(REGISTRY, "update", &dear, 0))), "");
    let mut job = simple_job();
    job["max_price"] = cby(20).into();
    let id = market.submit(&job);
    let said = market.said(10, b"").failing(2, 10_000);
    assert_eq!(slug(&market.submit_alone(&id, &said)), "");
    assert_eq!(market.job(&id).members[0].paid.0, 8_900_000, "89 % of the minimum fee, and not of 1 CBY");
}

/// Decision 595: whoever delivered in a draw that failed for others' silence is paid with those who say the same in a later one. All of them share what one
/// committee asks, so that nobody is silent to have more of its own drawn; who was silent has nothing.
#[test]
fn an_earlier_draw_shares_the_price() {
    let mut market = quick(6);
    let mut asked = committee_job("majority_vote", 3);
    asked["verification"]["threshold"] = 3.into();
    let id = market.submit(&asked);
    let first = market.draw(&id);
    let alike = |market: &Market, numbers: &[u8]| market.say(&numbers.iter().map(|number| (*number, &b"yes"[..])).collect::<Vec<_>>());
    let said = alike(&market, &first);
    market.commit(&id, &said);
    let crash = serde_json::json!({ "job_id": hex(&id.0), "signal": "SIGKILL" });
    assert_eq!(slug(&market.chain.send(first[2], ask(VERIFIER, "attest_crash", &crash, 0))), "");
    market.wait_for_members(&id);
    market.reveal(&id, &said[..2]);
    market.chain.idle(market.job(&id).reveal_until.0 - market.chain.height.0);
    assert_eq!(market.job(&id).attempt.0, 1, "it is drawn again");
    let second = market.committee(&id);
    let said = alike(&market, &second);
    market.commit(&id, &said);
    market.wait_for_members(&id);
    market.reveal(&id, &said);
    let job = market.job(&id);
    let paid = |number: &u8| job.all_members().find(|member| member.runner == address(*number)).map_or(0, |member| member.paid.0);
    // Each asks 1,000: of three times as much 89 %, and the tip of 500, for five.
    assert_eq!(job.outcome.as_ref().map(|outcome| outcome.gross.0), Some(3_000));
    assert_eq!(first.iter().chain(&second).map(paid).collect::<Vec<_>>(), [634, 634, 0, 634, 634, 634]);
    let before = market.chain.balance(address(first[0]));
    market.chain.idle(job.status_until.0 - market.chain.height.0);
    assert_eq!(market.job(&id).status, JobStatus::Settled);
    assert_eq!(market.chain.balance(address(first[0])) - before, 634);
}
