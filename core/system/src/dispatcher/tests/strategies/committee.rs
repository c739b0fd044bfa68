//! Runners that sit in a committee of five, of which four must agree.

use super::*;

/// A strategy: what its runners do, out of what it may choose from, and how many jobs in a row it plays.
struct Strategy {
    name: &'static str,
    /// What its runners do, and how many of the first committee they are.
    choices: &'static [(Act, usize)],
    jobs: usize,
    reason: Option<&'static str>,
}

const STRATEGIES: [Strategy; 7] = [
    Strategy {
        name: "a third that vetoes",
        choices: &[(Act::Lie, 2), (Act::Collude, 2), (Act::Fault(2, 10_000), 2), (Act::Unfit, 2)],
        jobs: 1,
        reason: Some("2"),
    },
    Strategy {
        name: "usage beyond the work",
        choices: &[(Act::Usage(1_000_000_000_000, 500), 1), (Act::Usage(2, 500), 1), (Act::Usage(1, 5_000), 1)],
        jobs: 1,
        reason: None,
    },
    Strategy {
        name: "a fault that is claimed",
        choices: &[(Act::Fault(1, 0), 1), (Act::Fault(2, 10_000), 1), (Act::Fault(3, 10_000), 1)],
        jobs: 1,
        reason: None,
    },
    Strategy { name: "a crash that is claimed, once", choices: &[(Act::Crash, 1), (Act::Crash, 2)], jobs: 1, reason: None },
    Strategy { name: "a crash that is claimed, three times", choices: &[(Act::Crash, 1)], jobs: 3, reason: None },
    Strategy {
        name: "silence",
        choices: &[(Act::Silent, 1), (Act::Silent, 2), (Act::Withhold, 1), (Act::Withhold, 2)],
        jobs: 1,
        reason: None,
    },
    Strategy { name: "one liar of five", choices: &[(Act::Lie, 1), (Act::Unfit, 1)], jobs: 1, reason: None },
];

/// Plays the jobs with the first runners of the first committee as attackers, the same ones each time.
fn play(jobs: usize, act: Act, runners: usize) -> Came {
    let mut market = market(14);
    let ledger = Ledger::open(&market);
    let (mut attackers, mut answers): (Vec<u8>, i128) = (Vec::new(), 0);
    for _ in 0..jobs {
        let mut job = job_of("majority_vote", 5);
        job["verification"]["checks"] = serde_json::json!([{ "type": "contains_none", "texts": ["bad"] }]);
        let id = market.submit(&job);
        live(&mut market, &id, &mut |committee, number| {
            if attackers.is_empty() {
                attackers.extend(&committee[..runners]);
            }
            if attackers.contains(&number) { act } else { Act::Honest }
        });
        answers += if is_right(&market, &id) { worth(5) } else { 0 };
    }
    ledger.close(&market, &attackers, answers)
}

/// The strategies, each against as many honest runners as it needs at most: a choice with fewer is compared with those.
pub(super) fn attacks() -> Vec<Attack> {
    let attack = |strategy: &Strategy| {
        let honest = |runners: usize| play(strategy.jobs, Act::Honest, runners);
        let most = strategy.choices.iter().map(|(_, runners)| *runners).max().expect("an attack has choices");
        let base = honest(most);
        let choices = strategy.choices.iter().map(|(act, runners)| {
            let (came, own) = (play(strategy.jobs, *act, *runners), if *runners == most { base } else { honest(*runners) });
            let moved = Came {
                attackers: came.attackers - own.attackers + base.attackers,
                requester: came.requester - own.requester + base.requester,
                runners: came.runners - own.runners + base.runners,
            };
            (format!("{act:?} by {runners}"), moved)
        });
        Attack { name: strategy.name, honest: base, choices: choices.collect(), reason: strategy.reason }
    };
    STRATEGIES.iter().map(attack).collect()
}
