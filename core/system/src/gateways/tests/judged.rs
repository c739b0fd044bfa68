//! Gateways that are judged for an answer, and would withdraw their stake before the validators have decided (decision 761).

use super::*;
use cowboy_testkit::chain::{validator, validators};
use cowboy_testkit::governance::{self, about, later, propose, stage, vote};

/// A chain that four validators govern. A proposal waits for 7,200 blocks, and its gateways for 1,000.
fn governed() -> Chain {
    Chain::with(|genesis| {
        genesis.validators = validators((1..=4).map(|number| validator(number, Amount(100_000 * CBY))));
        genesis.parameters = parameters(&[
            ("gateways.unstake_delay", 1_000),
            ("governance.timelock", 3_600),
            ("governance.timelock_fast", 600),
            ("governance.voting_0", 3_600),
            ("governance.voting_3", 3_600),
            ("governance.voting_fast", 600),
            ("jobs.dispute_vote_margin", 100),
        ]);
    })
}

/// An action that judges what an account said about a height.
fn judging(chain: &Chain, by: u8, height: u64) -> Vec<(&'static str, Value)> {
    let answer = signed(by, statement(chain, |statement| statement.height = Height(height)));
    vec![
        ("action", Value::text("call")),
        ("actor", Value::uint(u64::from(NUMBER))),
        ("argument", Value::map([("answer", answer)])),
        ("method", Value::text("judge_answer")),
    ]
}

/// Until when the stake of gateway 2 waits for decisions.
fn held(chain: &Chain) -> Option<u64> {
    chain.record::<Height>(&state::held_key(address(2))).map(|until| until.0)
}

/// Attack: a gateway gives false answers, and leaves once it is accused. Its stake would be free before a proposal has its votes and its timelock behind it. It waits
/// for that, and no longer than for one that is executed late.
#[test]
fn no_gateway_leaves_before_it_is_judged() {
    let mut chain = governed();
    register(&mut chain, 2, STAKE);
    let accusation = judging(&chain, 2, chain.height.0);
    let id = propose(&mut chain, accusation, 25_000);
    let until = chain.height.0 + 7_300;
    assert_eq!(held(&chain), Some(until));
    assert!(ask(&mut chain, 2, "unstake", [], 0).is_success());
    assert_eq!(gateway(&chain, 2).leaving, Some(Height(until)), "not a thousand blocks from now");
    for from in 1..=3 {
        assert!(vote(&mut chain, from, id, "yes").is_success());
    }
    later(&mut chain, 3_600);
    assert_eq!(ask(&mut chain, 2, "unstake", [], 0).abort, Some(error::STILL_BOUND));
    assert!(governance::ask(&mut chain, 6, "count", about(id), 0).is_success());
    later(&mut chain, 3_600);
    assert!(governance::ask(&mut chain, 6, "execute", about(id), 0).is_success());
    assert_eq!(stage(&mut chain, id), "executed");
    assert_eq!(gateway(&chain, 2).stake.0, STAKE * 7 / 10, "it is judged");
    chain.height = Height(until - 2);
    assert_eq!(ask(&mut chain, 2, "unstake", [], 0).abort, Some(error::STILL_BOUND));
    assert!(ask(&mut chain, 2, "unstake", [], 0).is_success());
    assert_eq!((chain.balance(state::stakes()), held(&chain)), (0, None), "nothing is left of it");
}

/// A gateway that has given notice waits as well. What nobody can punish, or what is older than the time for which stake answers, keeps nobody's stake, and each
/// accusation has a deposit of its own: who accuses a gateway only to keep its stake needs what it said lately, and it says nothing more once it left.
#[test]
fn stake_waits_for_what_was_said_lately() {
    let mut chain = governed();
    register(&mut chain, 2, STAKE);
    assert!(ask(&mut chain, 2, "unstake", [], 0).is_success());
    let left_at = chain.height.0;
    chain.height = Height(left_at + 500);
    let now = chain.height.0;
    for (by, height) in [(2, now + 100), (3, now)] {
        let accusation = judging(&chain, by, height);
        propose(&mut chain, accusation, 25_000);
        assert_eq!(held(&chain), None, "of {by} about {height}");
    }
    let both = [now - 1, now].map(|height| Value::dict(judging(&chain, 2, height))).to_vec();
    let receipt = governance::ask(&mut chain, 5, "propose", vec![("actions", Value::Array(both))], 25_000 * CBY);
    assert_eq!((receipt.abort, held(&chain)), (Some(error::PROPOSAL_ACTION), None));
    let (said, late) = (judging(&chain, 2, left_at), judging(&chain, 2, left_at));
    propose(&mut chain, said, 25_000);
    let until = chain.height.0 + 7_300;
    assert_eq!(held(&chain), Some(until));
    chain.height = Height(left_at + 1_000);
    propose(&mut chain, late, 25_000);
    assert_eq!(held(&chain), Some(until), "that was said too long ago to be kept for it");
    assert_eq!(ask(&mut chain, 2, "unstake", [], 0).abort, Some(error::STILL_BOUND), "it would be free now");
    let shown = ask(&mut chain, 1, "get_gateway", [("address", Value::Bytes(address(2).0.to_vec()))], 0);
    let shown = cbor::decode(&shown.return_data).expect("CBOR");
    assert_eq!(shown.get("leaving").and_then(Value::as_u64), Some(until), "whoever asks is told");
    chain.height = Height(until - 1);
    assert!(ask(&mut chain, 2, "unstake", [], 0).is_success());
    assert_eq!(chain.balance(state::stakes()), 0);
}
