//! Attacks as strategies that look for their own best profit: each tries all of its choices, and is compared with the same runners being
//! honest. The table stands in docs/trust.md.

use super::super::harness::{address, parameters};
use super::*;
use cowboy_types::job::JobStatus;
use std::fmt::Write as _;

/// What an attacker's runner does with a job.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Honest,
    /// A result that nobody else has.
    Lie,
    /// What all attackers say.
    Collude,
    /// This fault, with this progress.
    Fault(u64, u64),
    /// A result that fails the submitter's own check.
    Unfit,
    /// This many requests and milliseconds.
    Usage(u64, u64),
    /// No commitment.
    Silent,
    /// A commitment that is never opened.
    Withhold,
    /// A commitment, and a crash that is claimed.
    Crash,
}

/// A strategy: what its runners do, out of what it may choose from, and how many jobs in a row it plays.
struct Strategy {
    name: &'static str,
    choices: &'static [Act],
    /// Runners of the committee of five that it has, of which four must agree.
    runners: usize,
    jobs: usize,
}

const STRATEGIES: [Strategy; 7] = [
    Strategy { name: "a third that vetoes", choices: &[Act::Lie, Act::Collude, Act::Fault(2, 10_000), Act::Unfit], runners: 2, jobs: 1 },
    Strategy {
        name: "usage beyond the work",
        choices: &[Act::Usage(1_000_000_000_000, 500), Act::Usage(2, 500), Act::Usage(1, 5_000)],
        runners: 1,
        jobs: 1,
    },
    Strategy {
        name: "a fault that is claimed",
        choices: &[Act::Fault(1, 0), Act::Fault(2, 10_000), Act::Fault(3, 10_000)],
        runners: 1,
        jobs: 1,
    },
    Strategy { name: "a crash that is claimed, once", choices: &[Act::Crash], runners: 1, jobs: 1 },
    Strategy { name: "a crash that is claimed, three times", choices: &[Act::Crash], runners: 1, jobs: 3 },
    Strategy { name: "silence", choices: &[Act::Silent, Act::Withhold], runners: 1, jobs: 1 },
    Strategy { name: "one liar of five", choices: &[Act::Lie], runners: 1, jobs: 1 },
];

/// What it came to, in base units: what changed for the attackers, and for everybody else that takes part.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    attackers: i128,
    others: i128,
}

/// What an account has, stake included.
fn wealth(market: &Market, number: u8) -> i128 {
    let stake = invariants::runners_of(&market.chain).get(&address(number)).map_or(0, |runner| runner.stake.0);
    i128::from(market.chain.balance(address(number))) + i128::from(stake)
}

fn report(market: &Market, number: u8, act: Act) -> Said {
    let said = market.said(number, b"true");
    match act {
        Act::Lie => market.said(number, &[b'l', number]),
        Act::Collude => market.said(number, b"what we agreed on"),
        Act::Unfit => market.said(number, b"a bad one"),
        Act::Fault(fault, progress) => said.failing(fault, progress),
        Act::Usage(requests, compute_ms) => said.using(requests, compute_ms),
        Act::Honest | Act::Silent | Act::Withhold | Act::Crash => said,
    }
}

/// Plays the jobs with the first runners of each committee as attackers, the same ones each time.
fn play(strategy: &Strategy, act: Act) -> Came {
    let mut market = Market::with(14, |genesis| {
        genesis.parameters =
            parameters(&[("jobs.challenge_window", 10), ("jobs.dispute_window", 2), ("jobs.reveal_window", 12), ("jobs.crash_window", 4)])
    });
    for number in market.runners.clone() {
        let mut dear = declaration(number);
        dear["rates"]["http_request_base"] = cby(20).into();
        assert_eq!(slug(&market.chain.send(number, ask(REGISTRY, "update", &dear, 0))), "");
    }
    let everybody: Vec<u8> = [1].into_iter().chain(market.runners.clone()).collect();
    let before: Vec<i128> = everybody.iter().map(|number| wealth(&market, *number)).collect();
    let mut attackers: Vec<u8> = Vec::new();
    for _ in 0..strategy.jobs {
        let mut job = committee_job("majority_vote", 5);
        job["verification"]["threshold"] = 4.into();
        job["verification"]["checks"] = serde_json::json!([{ "type": "contains_none", "texts": ["bad"] }]);
        job["bounds"]["max_wall_time_seconds"] = 5.into();
        job["max_price"] = cby(200).into();
        job["tip"] = 0.into();
        let id = market.submit(&job);
        live(&mut market, &id, strategy.runners, &mut attackers, act);
    }
    let mut came = Came::default();
    for (number, before) in everybody.into_iter().zip(before) {
        let change = wealth(&market, number) - before;
        if attackers.contains(&number) { came.attackers += change } else { came.others += change }
    }
    came
}

/// Lives through one job, draw by draw. The attackers are the first ones drawn; later committees are honest unless they sit in them.
fn live(market: &mut Market, id: &Hash, runners: usize, attackers: &mut Vec<u8>, act: Act) {
    let mut attempt = None;
    for _ in 0..400 {
        let job = market.job(id);
        if job.status.is_over() && job.absent.is_empty() {
            return;
        }
        if job.status != JobStatus::Assigned || attempt == Some(job.attempt.0) {
            market.chain.idle(1);
            continue;
        }
        attempt = Some(job.attempt.0);
        let committee = market.committee(id);
        if attackers.is_empty() {
            attackers.extend(&committee[..runners]);
        }
        let act_of = |number: u8| if attackers.contains(&number) { act } else { Act::Honest };
        let said: Vec<Said> = committee.iter().map(|number| report(market, *number, act_of(*number))).collect();
        let speaks = |said: &&Said| act_of(said.number) != Act::Silent;
        let committing: Vec<Said> = said.iter().filter(speaks).cloned().collect();
        market.commit(id, &committing);
        for number in committee.iter().filter(|number| act_of(**number) == Act::Crash) {
            let crash = serde_json::json!({ "job_id": hex(&id.0), "signal": "SIGKILL" });
            assert_eq!(slug(&market.chain.send(*number, ask(VERIFIER, "attest_crash", &crash, 0))), "");
        }
        while market.job(id).status == JobStatus::Assigned {
            market.chain.idle(1);
        }
        market.wait_for_members(id);
        let opens = |said: &&Said| !matches!(act_of(said.number), Act::Silent | Act::Withhold | Act::Crash);
        let revealing: Vec<Said> = committing.iter().filter(opens).cloned().collect();
        assert!(market.reveal(id, &revealing).iter().all(Receipt::is_success), "{act:?}");
    }
    unreachable!("a job ends without anybody asking")
}

/// CBY with two places.
fn shown(amount: i128) -> String {
    let hundredths = amount / 10_000_000;
    format!("{}{}.{:02}", if hundredths < 0 { "−" } else { "" }, hundredths.abs() / 100, hundredths.abs() % 100)
}

/// 003 §5.3, issue of adversaries: no strategy has a profit over honesty, whatever it chooses. The harness checks after every block that no base unit is
/// lost or made.
#[test]
fn no_strategy_pays() {
    let mut table = String::new();
    for strategy in &STRATEGIES {
        let honest = play(strategy, Act::Honest);
        let best = strategy.choices.iter().map(|act| (*act, play(strategy, *act))).max_by_key(|(_, came)| came.attackers);
        let (act, came) = best.expect("a strategy has choices");
        let (profit, harm) = (came.attackers - honest.attackers, honest.others - came.others);
        writeln!(table, "| {} | {act:?} | {} | {} |", strategy.name, shown(profit), shown(harm)).expect("a text takes more");
        assert!(profit <= 0, "{}: {act:?} gains {} over honesty\n{table}", strategy.name, shown(profit));
    }
    let page = include_str!("../../../../../docs/trust.md");
    assert!(page.contains(&table), "docs/trust.md has another table than:\n{table}");
}
