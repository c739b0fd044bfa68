//! Two hundred jobs, each of its own seed, among runners that do everything wrong: no base unit is lost or made.
//!
//! The harness checks supply, escrow, stakes, bonds and lists after every block.

use super::super::harness::{address, parameters};
use super::*;
use cowboy_types::job::JobStatus;

/// Numbers out of a seed.
struct Dice(Hash);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = keccak256(&[&self.0.0]);
        u64::from_le_bytes(self.0.0[..8].try_into().expect("eight bytes")) % sides
    }
}

/// What a runner does with a job.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Right,
    Lies,
    Sleeps,
    CommitsOnly,
    Crashes,
    Reports,
    Long,
    /// Commits to what another member committed to.
    Copies,
    /// Reveals once the others are through, or the window is.
    Late,
}

fn habit(dice: &mut Dice) -> Does {
    match dice.roll(15) {
        0 => Does::Lies,
        1 => Does::Sleeps,
        2 => Does::CommitsOnly,
        3 => Does::Crashes,
        4 => Does::Reports,
        5 => Does::Long,
        6 => Does::Copies,
        7 => Does::Late,
        _ => Does::Right,
    }
}

fn output_of(does: Does, dice: &mut Dice) -> Vec<u8> {
    match does {
        Does::Lies => format!("lie {}", dice.roll(3)).into_bytes(),
        Does::Reports => Value::map([("fault", Value::uint(2)), ("progress", Value::uint(dice.roll(10_001)))]).encode(),
        Does::Long => vec![b'x'; 1_025],
        _ => b"right".to_vec(),
    }
}

/// Runs a job from its submission until nothing of it is under way.
fn live(market: &mut Market, job: &serde_json::Value, dice: &mut Dice) -> JobStatus {
    let receipt = market.chain.send(1, ask(DISPATCHER, "submit_job", job, 0));
    if receipt.abort.is_some() {
        return JobStatus::Failed;
    }
    let id = id_of(&receipt);
    let mut habits: std::collections::BTreeMap<u8, (Does, Vec<u8>)> = std::collections::BTreeMap::new();
    for _ in 0..200 {
        let state = market.job(&id);
        let members: Vec<u8> = state.members.iter().map(|member| market.number(member.runner)).collect();
        for number in &members {
            if !habits.contains_key(number) {
                let does = habit(dice);
                habits.insert(*number, (does, output_of(does, dice)));
            }
        }
        let said: Vec<(Said, Does)> = market
            .say(&members.iter().map(|number| (*number, &habits[number].1[..])).collect::<Vec<_>>())
            .into_iter()
            .map(|said| (said.clone(), habits[&said.number].0))
            .collect();
        let mut transactions = Vec::new();
        let copied = said.first().map(|(said, _)| said.commitment());
        for (said, does) in said.iter().filter(|(_, does)| *does != Does::Sleeps) {
            let mut argument = said.revelation(&id);
            if *does == Does::Reports {
                argument["fault"] = 2.into();
            }
            let call = match state.status {
                JobStatus::Assigned if members.len() == 1 => {
                    argument.as_object_mut().expect("a map").remove("salt");
                    ask(VERIFIER, "submit_result", &argument, 0)
                }
                JobStatus::Assigned => {
                    let own = said.commitment();
                    let commitment = if *does == Does::Copies { copied.unwrap_or(own) } else { own };
                    ask(VERIFIER, "commit", &serde_json::json!({ "job_id": hex(&id.0), "commitment": hex(&commitment.0) }), 0)
                }
                JobStatus::Revealing if *does == Does::Late && market.chain.height.0 + 1 < state.reveal_until.0 => continue,
                JobStatus::Revealing if *does == Does::CommitsOnly => continue,
                JobStatus::Revealing if *does == Does::Crashes => {
                    ask(VERIFIER, "attest_crash", &serde_json::json!({ "job_id": hex(&id.0), "signal": "SIGSEGV" }), 0)
                }
                JobStatus::Revealing => ask(VERIFIER, "reveal", &argument, 0),
                _ => continue,
            };
            transactions.push(signed(said.number, market.chain.nonce(said.number), call));
        }
        if state.status == JobStatus::Verified && dice.roll(8) == 0 {
            let claim = serde_json::json!({ "job_id": hex(&id.0), "runner": hex(&state.members[0].runner.0), "claim": "?" });
            transactions.push(signed(2, market.chain.nonce(2), ask(VERIFIER, "challenge", &claim, cby(100))));
        }
        if state.status == JobStatus::Disputed && dice.roll(4) == 0 {
            let decision = serde_json::json!({ "job_id": hex(&id.0), "upheld": dice.roll(2) == 0 });
            transactions.push(signed(9, market.chain.nonce(9), ask(VERIFIER, "decide_challenge", &decision, 0)));
        }
        market.chain.block(transactions);
        if market.job(&id).status.is_over() && market.job(&id).absent.is_empty() {
            break;
        }
    }
    let job = market.job(&id);
    assert!(job.status.is_over(), "a job ends without anybody asking");
    assert_eq!(job.escrow, Amount(0));
    job.status
}

/// Money conservation over 200 seeds with every adversary: what was held is paid, burned, the treasury's, or back.
#[test]
fn two_hundred_jobs() {
    let (mut settled, mut failed) = (0, 0);
    for world in 0..10u64 {
        let windows = [
            ("jobs.challenge_window", 10),
            ("jobs.dispute_window", 2),
            ("jobs.reveal_window", 6),
            ("jobs.crash_window", 2),
            ("jobs.aggregator_timeout", 1),
            ("jobs.probation", 10),
            ("jobs.retention", 10),
            ("jobs.heartbeat_timeout", 5_000),
        ];
        let mut market = Market::with(12, |genesis| genesis.parameters = parameters(&windows));
        for number in 0..20u64 {
            let seed = world * 20 + number;
            let mut dice = Dice(keccak256(&[b"simulation", &seed.to_le_bytes()]));
            let mode = ["none", "economic_bond", "majority_vote", "structured_match"][usize::try_from(dice.roll(4)).expect("small")];
            let runners = if mode == "none" || mode == "economic_bond" { 1 } else { 3 + dice.roll(3) };
            let mut job = committee_job(mode, runners);
            job["timeout_blocks"] = (2 + dice.roll(4)).into();
            job["tip"] = dice.roll(1_000).into();
            job["max_price"] = (5_000 + dice.roll(100_000)).into();
            match live(&mut market, &job, &mut dice) {
                JobStatus::Settled => settled += 1,
                _ => failed += 1,
            }
            // Who fell low comes back after its probation.
            let beats = market
                .runners
                .clone()
                .into_iter()
                .map(|number| signed(number, market.chain.nonce(number), ask(REGISTRY, "heartbeat", &serde_json::json!({}), 0)));
            market.chain.block(beats.collect());
        }
        assert!(market.chain.balance(address(1)) > 0);
    }
    assert_eq!(settled + failed, 200);
    assert!(settled > 60 && failed > 10, "{settled} settled, {failed} failed: both kinds are exercised");
}
