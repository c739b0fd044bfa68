//! Requesters that want answers for nothing, their money back, or runners out of the market.

use super::*;

/// How a requester asks, and what the runners that it does not own say to it.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Honest,
    /// A check of its own that no answer passes.
    OwnCheck,
    /// An answer of 900 bytes at least, of a question that has none.
    TooShort,
    /// A schema that admits a constant alone which nobody knows.
    Constant,
    /// A question to which each runner answers something else.
    Opinion,
}

fn submission(ask: Ask, runners: u64) -> serde_json::Value {
    let mut job = job_of(if runners == 1 { "none" } else { "majority_vote" }, runners);
    job["verification"]["checks"] = match ask {
        Ask::Honest | Ask::Opinion => serde_json::json!([]),
        Ask::OwnCheck => serde_json::json!([{ "type": "contains_all", "texts": ["a word that nobody says"] }]),
        Ask::TooShort => serde_json::json!([{ "type": "length_bounds", "min": 900 }]),
        Ask::Constant => serde_json::json!([{ "type": "json_schema", "schema": "{\"const\":\"secret\"}" }]),
    };
    job
}

/// Plays one job, for a requester that has a runner of its own in each committee or has not. An answer that anybody gives stands on the
/// chain, and is worth to the requester as much as an accepted one.
fn play(asks: Ask, runners: u64, has_friend: bool) -> Came {
    let mut market = market(14);
    let ledger = Ledger::open(&market);
    let id = market.submit(&submission(asks, runners));
    let (mut attackers, mut is_seen) = (vec![1], false);
    live(&mut market, &id, &mut |committee, number| {
        if has_friend && attackers == [1] {
            attackers.push(*committee.last().expect("a committee has members"));
        }
        let is_own = attackers.contains(&number);
        is_seen |= !is_own;
        match asks {
            Ask::Opinion => Act::Lie,
            Ask::Constant if is_own => Act::Secret,
            _ => Act::Honest,
        }
    });
    if !has_friend {
        let reputations = runners_of(&market.chain);
        let points = |runner: &cowboy_types::job::Runner| runner.reputation.0 / 1_000_000;
        assert!(reputations.values().all(|runner| points(runner) == 100), "nobody is blamed for {asks:?}");
    }
    ledger.close(&market, &attackers, if is_seen { worth(runners) } else { 0 })
}

pub(super) fn attacks() -> Vec<Attack> {
    const ALONE: &[Ask] = &[Ask::OwnCheck, Ask::TooShort, Ask::Constant];
    const COMMITTEE: &[Ask] = &[Ask::OwnCheck, Ask::TooShort, Ask::Constant, Ask::Opinion];
    let attack = |name, runners, asks: &[Ask], has_friend, reason| {
        let choices = asks.iter().map(|asks| (format!("{asks:?}"), play(*asks, runners, has_friend))).collect();
        Attack { name, honest: play(Ask::Honest, runners, has_friend), choices, reason }
    };
    vec![
        attack("a check that nobody passes, one runner", 1, ALONE, false, Some("3")),
        attack("a check that nobody passes, a committee", 5, COMMITTEE, false, None),
        attack("a constant that the requester's own runner knows", 5, &[Ask::Constant], true, None),
    ]
}
