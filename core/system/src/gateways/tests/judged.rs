//! Gateways that are judged for an answer, and would withdraw their stake before the validators have decided (decision 761).

use super::evidence::{signed, statement};
use super::*;
use cowboy_system::gateways::types::{Holds, MAX_HOLDS};
use cowboy_testkit::chain::{validator, validators};
use cowboy_testkit::governance::{self, about, later, propose, stage, vote};
use cowboy_types::units::Amount;

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
    chain.record::<Holds>(&state::held_key(address(2))).map(|holds| holds.until().0)
}

/// What a gateway shows as the height from which its stake is free.
fn shown_leaving(chain: &mut Chain) -> Option<u64> {
    let shown = ask(chain, 1, "get_gateway", [("address", Value::Bytes(address(2).0.to_vec()))], 0);
    cbor::decode(&shown.return_data).expect("CBOR").get("leaving").and_then(Value::as_u64)
}

/// Attack: a gateway gives false answers, and leaves once it is accused. Its stake would be free before a proposal has its votes and its timelock behind it. It waits
/// for that.
#[test]
fn no_gateway_leaves_before_it_is_judged() {
    let mut chain = governed();
    register(&mut chain, 2, STAKE);
    let accusation = judging(&chain, 2, chain.height.0);
    let id = propose(&mut chain, accusation, 25_000);
    let until = chain.height.0 + 7_300;
    assert_eq!(held(&chain), Some(until));
    assert!(ask(&mut chain, 2, "unstake", [], 0).is_success());
    assert_eq!(gateway(&chain, 2).leaving, Some(Height(chain.height.0 + 1_000)));
    assert_eq!(shown_leaving(&mut chain), Some(until), "not a thousand blocks from now");
    for from in 1..=3 {
        assert!(vote(&mut chain, from, id, "yes").is_success());
    }
    later(&mut chain, 3_600);
    assert_eq!(ask(&mut chain, 2, "unstake", [], 0).abort, Some(error::STILL_BOUND));
    assert!(governance::ask(&mut chain, 6, "count", about(id), 0).is_success());
    later(&mut chain, 3_600);
    assert!(governance::ask(&mut chain, 6, "execute", about(id), 0).is_success());
    assert_eq!(stage(&mut chain, id), "executed");
    assert_eq!((gateway(&chain, 2).stake.0, held(&chain)), (STAKE * 7 / 10, None), "it is judged, and has nothing to wait for");
    assert!(ask(&mut chain, 2, "unstake", [], 0).is_success());
    assert_eq!(chain.balance(state::stakes()), 0, "nothing is left of it");
}

/// Decision 765: a proposal that is rejected keeps no stake any more; another one still does.
#[test]
fn stake_waits_for_no_proposal_that_is_over() {
    let mut chain = governed();
    register(&mut chain, 2, STAKE);
    let said = chain.height.0;
    let accusations = [said - 1, said].map(|height| judging(&chain, 2, height));
    let ids = accusations.map(|accusation| propose(&mut chain, accusation, 25_000));
    let until = chain.height.0 + 7_300;
    for id in ids {
        for from in 1..=3 {
            assert!(vote(&mut chain, from, id, "no").is_success());
        }
    }
    later(&mut chain, 3_600);
    for (id, expected) in ids.into_iter().zip([Some(until), None]) {
        assert!(governance::ask(&mut chain, 6, "count", about(id), 0).is_success());
        assert_eq!((stage(&mut chain, id).as_str(), held(&chain)), ("rejected", expected));
    }
    assert!(ask(&mut chain, 2, "unstake", [], 0).is_success());
    let leaving = gateway(&chain, 2).leaving.expect("it leaves");
    assert!(leaving.0 <= chain.height.0 + 1_000 && leaving.0 < until, "{leaving:?}");
    chain.height = Height(leaving.0 - 1);
    assert!(ask(&mut chain, 2, "unstake", [], 0).is_success());
    assert_eq!(chain.balance(state::stakes()), 0);
}

/// Attack: accusations of nothing fill the room for them before an honest one is made. The newest has its place always.
#[test]
fn the_newest_accusation_has_a_place() {
    let mut chain = governed();
    register(&mut chain, 2, STAKE);
    chain.height = Height(chain.height.0 + 20);
    let mut ids = Vec::new();
    for height in 1..=MAX_HOLDS + 1 {
        let accusation = judging(&chain, 2, u64::try_from(height).expect("few"));
        ids.push(propose(&mut chain, accusation, 25_000));
        let holds: Holds = chain.record(&state::held_key(address(2))).expect("it waits");
        assert_eq!((holds.proposals.len(), held(&chain)), (height.min(MAX_HOLDS), Some(chain.height.0 + 7_300)));
    }
    // The first gave way. A gateway whose own accusations are all rejected waits for that one until it would take effect at the latest.
    let holds: Holds = chain.record(&state::held_key(address(2))).expect("it waits");
    for id in &ids[1..] {
        for from in 1..=3 {
            assert!(vote(&mut chain, from, *id, "no").is_success());
        }
    }
    later(&mut chain, 3_600);
    for id in &ids[1..] {
        assert!(governance::ask(&mut chain, 6, "count", about(*id), 0).is_success());
        assert_eq!(stage(&mut chain, *id), "rejected");
    }
    assert!(holds.gave_way > Height::ZERO);
    assert_eq!(held(&chain), Some(holds.gave_way.0));
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
    assert_eq!(shown_leaving(&mut chain), Some(until), "whoever asks is told");
    chain.height = Height(until - 1);
    assert!(ask(&mut chain, 2, "unstake", [], 0).is_success());
    assert_eq!(chain.balance(state::stakes()), 0);
}
