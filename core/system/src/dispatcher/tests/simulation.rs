//! Two hundred jobs, each of its own seed, among runners, challengers and delegators that do everything wrong: no base unit is lost or made.
//!
//! The harness checks supply, escrow, stakes, bonds and lists after every block.

use super::*;
use cowboy_testkit::chain::{address, parameters};
use cowboy_testkit::dice::{Dice, seeds};
use cowboy_types::job::{Job, JobStatus, Mode};
use std::collections::BTreeMap;

/// What a runner does with a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Does {
    Right,
    Lies,
    /// Says what all say that collude.
    Colludes,
    Sleeps,
    CommitsOnly,
    Crashes,
    Reports,
    Long,
    /// Commits to what another member committed to.
    Copies,
    /// Reveals once the others are through, or the window is.
    Late,
    /// Says nothing of its environment, where one is asked for.
    Unattested,
    /// Has its environment's statement be about something else.
    Misattested,
    /// Has it be about another model than the job's: proven, that costs the stake.
    WrongModel,
}

fn habit(dice: &mut Dice) -> Does {
    use Does::{Colludes, CommitsOnly, Copies, Crashes, Late, Lies, Long, Misattested, Reports, Right, Sleeps, Unattested, WrongModel};
    let all = [Lies, Colludes, Sleeps, CommitsOnly, Crashes, Reports, Long, Copies, Late, Unattested, Misattested, WrongModel];
    usize::try_from(dice.roll(26)).ok().and_then(|place| all.get(place)).copied().unwrap_or(Right)
}

fn output_of(does: Does, dice: &mut Dice) -> Vec<u8> {
    match does {
        Does::Lies => format!("lie {}", dice.roll(3)).into_bytes(),
        Does::Colludes => b"what we agreed on".to_vec(),
        Does::Long => vec![b'x'; 1_025],
        _ => b"right".to_vec(),
    }
}

/// The model that jobs of a trusted environment name.
const MODEL: Hash = Hash([3; 32]);

/// What came of all jobs together.
#[derive(Default)]
struct Tally {
    settled: u64,
    failed: u64,
    /// Claims that were checked by doing the work again.
    retrials: u64,
    /// The emitted events, by name.
    events: BTreeMap<String, u64>,
    habits: BTreeMap<Does, u64>,
}

/// A market, its dice, and what its runners make of the jobs under way.
struct Simulation {
    market: Market,
    dice: Dice,
    /// The job, and the one that does its work again.
    jobs: Vec<Hash>,
    habits: BTreeMap<(Hash, u8), (Does, Vec<u8>)>,
}

impl Simulation {
    /// What a member reports that behaves so.
    fn report(&self, number: u8, output: &[u8], does: Does) -> Said {
        let said = self.market.said(number, output);
        if does == Does::Reports {
            return said.failing(2, u64::from(number) * 997 % 10_001);
        }
        let statement = match does {
            Does::Unattested => return said,
            Does::Misattested => cowboy_testkit::market::attestation(&self.market.said(number, b"something else"), Some(MODEL)),
            Does::WrongModel => cowboy_testkit::market::attestation(&said, Some(Hash([4; 32]))),
            _ => cowboy_testkit::market::attestation(&said, Some(MODEL)),
        };
        said.attested(statement)
    }

    /// What a member does in this block, where it does anything.
    fn member(&self, job: &Job, said: &Said, does: Does, copied: Hash) -> Option<Instruction> {
        let is_late = self.market.chain.height.0 + 1 >= job.reveal_until.0;
        match job.status {
            _ if does == Does::Sleeps => None,
            JobStatus::Assigned if job.members.len() == 1 => Some(ask(VERIFIER, "submit_result", &said.alone(&job.id), 0)),
            JobStatus::Assigned => {
                let commitment = if does == Does::Copies { copied } else { said.commitment() };
                let argument = serde_json::json!({ "job_id": hex(&job.id.0), "commitment": hex(&commitment.0) });
                Some(ask(VERIFIER, "commit", &argument, 0))
            }
            JobStatus::Revealing if does == Does::CommitsOnly || does == Does::Late && !is_late => None,
            JobStatus::Revealing if does == Does::Crashes => {
                Some(ask(VERIFIER, "attest_crash", &serde_json::json!({ "job_id": hex(&job.id.0), "signal": "SIGSEGV" }), 0))
            }
            JobStatus::Revealing => Some(ask(VERIFIER, "reveal", &said.revelation(&job.id), 0)),
            _ => None,
        }
    }

    /// What the members of a job do in this block.
    fn members(&mut self, job: &Job, tally: &mut Tally) -> Vec<(u8, Instruction)> {
        let numbers: Vec<u8> = job.members.iter().map(|member| self.market.number(member.runner)).collect();
        for number in &numbers {
            let dice = &mut self.dice;
            self.habits.entry((job.id, *number)).or_insert_with(|| {
                let does = habit(dice);
                *tally.habits.entry(does).or_default() += 1;
                (does, output_of(does, dice))
            });
        }
        let outputs: Vec<(u8, &[u8])> = numbers.iter().map(|number| (*number, &self.habits[&(job.id, *number)].1[..])).collect();
        let said: Vec<Said> =
            outputs.iter().map(|(number, output)| self.report(*number, output, self.habits[&(job.id, *number)].0)).collect();
        let copied = said.first().map_or(Hash::ZERO, Said::commitment);
        let aggregator = self.aggregator(job, &said);
        let calls = said.iter().filter_map(|said| {
            let call = self.member(job, said, self.habits[&(job.id, said.number)].0, copied)?;
            Some((said.number, call))
        });
        let others = calls.filter(|(number, _)| aggregator.as_ref().is_none_or(|(of, _)| of != number));
        others.chain(aggregator.clone()).collect()
    }

    /// What the aggregator says for itself and some of the others, where it speaks at all.
    fn aggregator(&mut self, job: &Job, said: &[Said]) -> Option<(u8, Instruction)> {
        let is_due = job.status == JobStatus::Revealing && !job.is_aggregated && self.dice.roll(2) == 0;
        let aggregator = job.aggregator.filter(|_| is_due)?;
        let honest = |said: &Said| self.habits[&(job.id, said.number)].0 == Does::Right;
        let mut carried: Vec<Said> = said.iter().filter(|said| honest(said)).cloned().collect();
        carried.truncate(1 + usize::try_from(self.dice.roll(5)).expect("small"));
        let call = ask(VERIFIER, "submit_verified_result", &together(&job.id, &carried), 0);
        (!carried.is_empty()).then(|| (self.market.number(aggregator), call))
    }

    /// A friend of the runners claims nonsense, to keep others' claims out.
    fn friend(&mut self, job: &Job) -> Option<(u8, Instruction)> {
        let is_shielded = job.id.0[0].is_multiple_of(4) && job.status == JobStatus::Disputed;
        let runner = job.all_members().next().filter(|_| is_shielded && self.dice.roll(4) > 0)?.runner;
        let claim = serde_json::json!({ "job_id": hex(&job.id.0), "runner": hex(&runner.0), "claim": "!" });
        Some((6, ask(VERIFIER, "challenge", &claim, cby(100 + self.dice.roll(4)))))
    }

    /// A claim against an accepted result, or the council's decision on one.
    fn challenger(&mut self, job: &Job, mode: &Mode) -> Vec<(u8, Instruction)> {
        let named = |more: serde_json::Value| {
            let mut argument = serde_json::json!({ "job_id": hex(&job.id.0) });
            argument.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
            argument
        };
        let open = job.claims.iter().position(|claim| claim.is_open() && claim.retrial == Hash::ZERO);
        match job.status {
            JobStatus::Verified if *mode == Mode::Deterministic && self.dice.roll(4) == 0 => {
                vec![(2, ask(VERIFIER, "reproduce", &named(serde_json::json!({})), cby(100)))]
            }
            JobStatus::Verified | JobStatus::Disputed if self.dice.roll(8) == 0 => {
                let accused = job.all_members().next().expect("a committee").runner;
                let claim = serde_json::json!({ "runner": hex(&accused.0), "claim": "?" });
                vec![(2, ask(VERIFIER, "challenge", &named(claim), cby(100)))]
            }
            JobStatus::Disputed if let Some(place) = open.filter(|_| self.dice.roll(4) == 0) => {
                let decision = serde_json::json!({ "claim": place, "upheld": self.dice.roll(2) == 0 });
                let votes = COUNCIL.take(7);
                votes.map(|member| (member, ask(VERIFIER, "decide_challenge", &named(decision.clone()), 0))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Somebody puts stake behind a runner, asks it back when it looks bad, or takes it out.
    fn delegator(&mut self) -> Option<(u8, Instruction)> {
        let who = 3 + u8::try_from(self.dice.roll(3)).expect("small");
        let runner = self.market.runners[usize::try_from(self.dice.roll(12)).expect("small")];
        let about = serde_json::json!({ "runner": hex(&address(runner).0) });
        let part = serde_json::json!({ "runner": hex(&address(runner).0), "amount": 1 + self.dice.roll(cby(300)) });
        match self.dice.roll(8) {
            0 | 1 => Some((who, ask(REGISTRY, "delegate", &about, 1 + self.dice.roll(cby(500))))),
            2 => Some((who, ask(REGISTRY, "undelegate", &part, 0))),
            3 => Some((who, ask(REGISTRY, "undelegate", &about, 0))),
            4 => Some((who, ask(REGISTRY, "withdraw_delegation", &about, 0))),
            _ => None,
        }
    }

    /// One block in which everybody does something.
    fn turn(&mut self, mode: &Mode, tally: &mut Tally) {
        let mut calls: Vec<(u8, Instruction)> = self.delegator().into_iter().collect();
        for id in self.jobs.clone() {
            let job = self.market.job(&id);
            calls.extend(self.members(&job, tally));
            calls.extend(self.challenger(&job, mode));
            calls.extend(self.friend(&job).filter(|_| id == self.jobs[0]));
        }
        let transactions = calls.into_iter().map(|(number, call)| signed(number, self.market.chain.nonce(number), call)).collect();
        let receipts = self.market.chain.block(transactions).receipts;
        for name in announced(&receipts) {
            *tally.events.entry(name).or_default() += 1;
        }
        for claim in self.market.job(&self.jobs[0]).claims.iter() {
            if claim.retrial != Hash::ZERO && !self.jobs.contains(&claim.retrial) {
                tally.retrials += 1;
                self.jobs.push(claim.retrial);
            }
        }
    }

    /// Runs a job from its submission until nothing of it is under way.
    fn live(&mut self, job: &serde_json::Value, tally: &mut Tally) {
        let receipt = self.market.chain.send(1, ask(DISPATCHER, "submit_job", job, 0));
        if receipt.abort.is_some() {
            tally.failed += 1;
            return;
        }
        self.jobs = vec![id_of(&receipt)];
        let mode = Mode::from_name(job["verification"]["mode"].as_str().expect("a name")).expect("a mode");
        let is_over = |market: &Market, id: &Hash| market.job(id).status.is_over() && market.job(id).absent.is_empty();
        for _ in 0..400 {
            self.turn(&mode, tally);
            if self.jobs.iter().all(|id| is_over(&self.market, id)) {
                break;
            }
        }
        for id in &self.jobs {
            let job = self.market.job(id);
            assert!(job.status.is_over(), "a job ends without anybody asking");
            assert_eq!(job.escrow, Amount(0));
        }
        match self.market.job(&self.jobs[0]).status {
            JobStatus::Settled => tally.settled += 1,
            _ => tally.failed += 1,
        }
    }

    /// Time passes. Who fell low comes back after its probation; who lost stake adds what is missing.
    fn refresh(&mut self) {
        self.market.chain.height.0 += 300;
        let records = runners_of(&self.market.chain);
        let calls = self.market.runners.iter().map(|number| {
            let missing = cby(10_000).saturating_sub(records[&address(*number)].stake.0);
            let method = if missing > 0 { "stake" } else { "heartbeat" };
            signed(*number, self.market.chain.nonce(*number), ask(REGISTRY, method, &serde_json::json!({}), missing))
        });
        let calls = calls.collect();
        self.market.chain.block(calls);
    }
}

/// A job of any mode, for any number of runners.
fn any_job(dice: &mut Dice) -> serde_json::Value {
    let modes = ["none", "economic_bond", "majority_vote", "structured_match", "deterministic"];
    let mode = modes[usize::try_from(dice.roll(5)).expect("small")];
    let runners = match mode {
        "none" | "economic_bond" => 1,
        "deterministic" => 2 + dice.roll(3),
        _ => 3 + dice.roll(3),
    };
    let mut job = committee_job(mode, runners);
    job["timeout_blocks"] = (6 + dice.roll(4)).into();
    job["tip"] = dice.roll(1_000).into();
    job["max_price"] = (5_000 + dice.roll(100_000)).into();
    // A requester that refuses whatever is said.
    if dice.roll(6) == 0 {
        let checks = [
            serde_json::json!({ "type": "contains_all", "texts": ["a word that nobody says"] }),
            serde_json::json!({ "type": "length_bounds", "min": 900 }),
            serde_json::json!({ "type": "json_schema", "schema": "{\"const\":\"secret\"}" }),
        ];
        job["verification"]["checks"] = serde_json::json!([checks[usize::try_from(dice.roll(3)).expect("small")]]);
    }
    if mode == "deterministic" || dice.roll(3) == 0 {
        job["job_type"] = serde_json::json!({ "type": "Llm", "model_id": hex(&MODEL.0), "temperature": 0 });
        job["bounds"]["max_output_tokens"] = 10.into();
        job["verification"]["tee_required"] = true.into();
        job["toolchain_digest"] = hex(&[5; 32]).into();
    }
    job
}

/// Money conservation over 200 seeds with every adversary: what was held is paid, burned, the treasury's, or back; so are stakes, bonds and
/// what others put behind a runner. Ten seeds of twenty jobs each; `COWBOY_SEEDS=200` plays as many, `COWBOY_SEEDS=57..58` a single one.
#[test]
fn two_hundred_jobs() {
    let mut tally = Tally::default();
    let played = seeds(10);
    let count = played.end - played.start;
    for world in played {
        let windows = [
            ("jobs.challenge_window", 10),
            ("jobs.dispute_window", 2),
            ("jobs.dispute_max", 100),
            ("jobs.reveal_window", 6),
            ("jobs.crash_window", 2),
            ("jobs.aggregator_timeout", 1),
            ("jobs.probation", 10),
            // Longer than any job, so that one is still there when the one that does its work again ends; over before the next one.
            ("jobs.retention", 250),
            ("jobs.heartbeat_timeout", 5_000),
            ("consensus.unbonding", 3_600),
        ];
        let mut market = Market::with(12, |genesis| genesis.parameters = parameters(&windows));
        market.name_council();
        let mut world = Simulation { market, dice: Dice::new("world", world), jobs: Vec::new(), habits: BTreeMap::new() };
        for _ in 0..20 {
            let job = any_job(&mut world.dice);
            world.live(&job, &mut tally);
            world.refresh();
        }
        assert!(world.market.chain.balance(address(1)) > 0);
    }
    let Tally { settled, failed, retrials, events, habits } = tally;
    assert_eq!(settled + failed, count * 20);
    assert!(settled > 60 && failed > 10, "{settled} settled, {failed} failed: both kinds are exercised");
    assert!(retrials > 3, "{retrials} retrials");
    assert_eq!(habits.len(), 13, "every habit: {habits:?}");
    let seen = ["NonRevealSlash", "WrongModelSlash", "ChallengeResolved", "StakeDelegated", "StakeUndelegated", "DelegationWithdrawn"];
    for name in seen {
        assert!(events.get(name).is_some_and(|count| *count > 3), "{name} happens: {events:?}");
    }
}
