//! Whoever pokes a stranger's actor chooses the runner of its job, where it can see the draw before.

use super::*;
use cowboy_chain::Mode;
use cowboy_chain::input::Limits;
use cowboy_testkit::chain::{sign, unsigned};

/// Jobs of a play.
const JOBS: u64 = 4;

/// Runners of the market. The first one is the attacker's.
const RUNNERS: u8 = 8;

/// The attackers: account 2, which pokes, and its runner.
const ATTACKERS: [u8; 2] = [2, 10];

/// The poke that gives the job to the attacker's runner, out of this many which differ in their tip alone, as a run of the block shows it
/// before it is made; else the first.
fn poke(market: &Market, target: Address, job: &serde_json::Value, tries: u64) -> cowboy_chain::SignedTransaction {
    let tipped = |tip: u64| {
        let mut transaction = unsigned(2, market.chain.nonce(2), execution(target, "ask", &map(job).encode(), 0));
        transaction.max_priority_fee_per_cycle = cowboy_types::units::Price(100 + tip);
        sign(2, transaction)
    };
    let is_mine = |candidate: &cowboy_chain::SignedTransaction| {
        let candidates = vec![candidate.clone()];
        let input = market.chain.input(Mode::Propose { candidates, limits: Limits::default() });
        let (outcome, _) = market.chain.run(input).expect("a proposal is never invalid");
        let mut events = outcome.receipts.iter().flat_map(|receipt| receipt.events.iter());
        events.any(|event| &event.name[..] == "CommitteeDrawn" && event.data.windows(20).any(|bytes| bytes == &address(10).0[..]))
    };
    (0..tries).map(tipped).find(is_mine).unwrap_or_else(|| tipped(0))
}

/// Pokes that look, or do not. Where nothing is to be seen, the attacker's part is what its stake gives it.
fn play(draw: &str, tries: u64) -> Came {
    let mut market = market(RUNNERS);
    let script = "handler ask\n job $payload\n return $last\n";
    let target = market.chain.deploy_with(script, &[("econ.hold_balance", &[]), ("http.fetch", &[])], cby(1_000));
    let ledger = Ledger::open(&market);
    let mut job = job_of("none", 1);
    job["draw"] = draw.into();
    let mut is_chosen = tries > 0;
    for _ in 0..JOBS {
        let poke = poke(&market, target, &job, tries.max(1));
        let receipt = market.chain.one(poke);
        let id = Hash(receipt.return_data[..].try_into().expect("an id"));
        let runner = market.draw(&id)[0];
        is_chosen &= runner == ATTACKERS[1];
        live(&mut market, &id, &mut |_, _| Act::Honest);
    }
    let came = ledger.close(&market, &ATTACKERS, 0);
    if is_chosen {
        return came;
    }
    let (all, part) = (came.attackers + came.runners, i128::from(RUNNERS));
    Came { attackers: all / part, runners: all - all / part, ..came }
}

pub(super) fn attacks() -> Vec<Attack> {
    let attack = |name, draw: &str, reason| {
        let choices = [1, 4, 64].map(|tries| (format!("{tries} tries"), play(draw, tries)));
        Attack { name, honest: play(draw, 0), choices: choices.into(), reason }
    };
    vec![
        attack("a stranger's job at the moment that suits, drawn at once", "immediate", Some("1")),
        attack("the same with a delayed draw", "delayed", None),
    ]
}
