//! Claims as a shield for a liar, and against the honest.

use super::*;

/// What one runner asks in these plays, in CBY: as much as a stake of 10,000 vouches for.
const DEAR: u64 = 2_000;

/// One block in which an account claims so often. Answers how many claims were taken.
fn claim(market: &mut Market, from: u8, (id, runner): (&Hash, u8), claims: u64, bond: u64) -> usize {
    let argument = serde_json::json!({ "job_id": hex(&id.0), "runner": hex(&address(runner).0), "claim": "made up" });
    let nonce = market.chain.nonce(from);
    let calls = (0..claims).map(|more| signed(from, nonce + more, ask(VERIFIER, "challenge", &argument, cby(bond))));
    let calls = calls.collect();
    market.chain.block(calls).receipts.iter().filter(|receipt| receipt.is_success()).count()
}

/// A job of one runner with a bond, which lies or does not, and a friend, account 2, that claims so often with this bond. Where it lies,
/// account 3 claims too, with the smallest bond that is taken; the council decides that claim alone.
fn play(is_lie: bool, attackers: &[u8], claims: u64, bond: u64) -> Came {
    let mut market = market(3);
    set_rate(&mut market, DEAR);
    let ledger = Ledger::open(&market);
    let mut job = job_of("economic_bond", 1);
    job["max_price"] = cby(DEAR).into();
    let id = market.submit(&job);
    let runner = market.draw(&id)[0];
    let said = report(&market, runner, if is_lie { Act::Lie } else { Act::Honest });
    assert_eq!(slug(&market.submit_alone(&id, &said)), "");
    let taken = claim(&mut market, 2, (&id, runner), claims, bond);
    assert_eq!(u64::try_from(taken), Ok(claims), "a friend's claims are taken");
    let is_taken = |bond: u64| claim(&mut market, 3, (&id, runner), 1, bond) > 0;
    if is_lie && (0..4).map(|doublings| 100 << doublings).any(is_taken) {
        let claims = market.job(&id).claims;
        let place = claims.iter().position(|claim| claim.challenger == address(3)).expect("it was taken");
        let decision = serde_json::json!({ "job_id": hex(&id.0), "claim": place, "challenger": hex(&address(3).0), "upheld": true });
        assert_eq!(market.council_decides(&decision), "");
    }
    market.chain.idle(160);
    assert_eq!(market.job(&id).status, JobStatus::Settled);
    let answers = if is_right(&market, &id) { i128::from(cby(DEAR)) } else { 0 };
    let attackers: Vec<u8> = attackers.iter().map(|number| if *number == 0 { runner } else { *number }).collect();
    ledger.close(&market, &attackers, answers)
}

/// The runner of the job, among attackers.
const RUNNER: u8 = 0;

pub(super) fn attacks() -> Vec<Attack> {
    let shields = [(0, 100), (1, 100), (64, 100), (64, 101)];
    let shield = |(claims, bond): (u64, u64)| (format!("{claims} claims of {bond} CBY"), play(true, &[RUNNER, 2], claims, bond));
    let against = [1, 2, 64].map(|claims| (format!("{claims} claims"), play(false, &[1, 2], claims, 100)));
    vec![
        Attack {
            name: "a lie behind a friend's claims",
            honest: play(false, &[RUNNER, 2], 0, 0),
            choices: shields.into_iter().map(shield).collect(),
            reason: None,
        },
        Attack {
            name: "claims against an honest runner, for the price back",
            honest: play(false, &[1, 2], 0, 0),
            choices: against.into(),
            reason: None,
        },
    ]
}
