//! Attacks as strategies that look for their own best: each tries all of its choices, and is compared with the same parties being honest. The
//! table stands in docs/trust.md.
//!
//! An answer is worth to its requester what honest runners ask for it, so that a job which fails, or comes to a wrong answer, harms it although
//! the price comes back. Harm is counted by role: what requesters gain does not make up for what runners lose.

mod aggregator;
mod availability;
mod claims;
mod committee;
mod draws;
mod requester;

use super::*;
use cowboy_testkit::chain::{address, parameters};
use cowboy_types::job::{Job, JobStatus};

/// What a runner asks for a request.
const RATE: u64 = 20;

/// What a play came to, in base units: what changed for the attackers, for the requester, and for the other runners. Whoever attacks is
/// among the attackers alone.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    attackers: i128,
    requester: i128,
    runners: i128,
}

/// An attack, with what each of its choices came to.
struct Attack {
    name: &'static str,
    honest: Came,
    choices: Vec<(String, Came)>,
    /// Why it may pay, or harm others more than it costs: by this number in docs/trust.md.
    reason: Option<&'static str>,
}

impl Attack {
    fn profit(&self, came: &Came) -> i128 {
        came.attackers - self.honest.attackers
    }

    /// What others have less than if all were honest, role by role.
    fn harm(&self, came: &Came) -> i128 {
        let less = |honest: i128, came: i128| (honest - came).max(0);
        less(self.honest.requester, came.requester) + less(self.honest.runners, came.runners)
    }

    /// Hundredths of a CBY of harm for each CBY that it costs. Less than a hundredth of a CBY of harm counts as none.
    fn harm_per_cby(&self, came: &Came) -> i128 {
        let harm = self.harm(came);
        if harm < HUNDREDTH { 0 } else { harm * 100 / (-self.profit(came)).max(HUNDREDTH) }
    }

    /// Its line of the table, and whether that is right: what is above its limit needs a reason, and nothing else has one.
    fn line(&self) -> (String, bool) {
        let (best, most) = self.choices.iter().max_by_key(|(_, came)| self.profit(came)).expect("an attack has choices");
        let (worst, came) = self.choices.iter().max_by_key(|(_, came)| self.harm_per_cby(came)).expect("as above");
        let ratio = self.harm_per_cby(came);
        let (profit, harm) = (self.profit(most), self.harm(most));
        let is_bad = profit > 0 || ratio > 100;
        let reason = self.reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let ratio = if ratio > 0 && -self.profit(came) < HUNDREDTH { "costs nothing".to_string() } else { shown(ratio * HUNDREDTH) };
        let line = format!("| {}{reason} | {best} | {} | {} | {worst} | {ratio} |\n", self.name, shown(profit), shown(harm));
        (line, is_bad == self.reason.is_some())
    }
}

/// A hundredth of a CBY.
const HUNDREDTH: i128 = 10_000_000;

/// CBY with two places.
fn shown(amount: i128) -> String {
    let hundredths = amount / HUNDREDTH;
    format!("{}{}.{:02}", if hundredths < 0 { "−" } else { "" }, hundredths.abs() / 100, hundredths.abs() % 100)
}

/// What a member does with a job.
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
    /// The constant that only the submitter knows.
    Secret,
    /// This many requests and milliseconds.
    Usage(u64, u64),
    /// No commitment.
    Silent,
    /// A commitment that is never opened.
    Withhold,
    /// A commitment, and a crash that is claimed.
    Crash,
}

/// A market with short windows whose runners ask for `RATE` a request.
fn market(runners: u8) -> Market {
    let windows = [
        ("jobs.challenge_window", 10),
        ("jobs.dispute_window", 2),
        ("jobs.dispute_max", 30),
        ("jobs.reveal_window", 12),
        ("jobs.crash_window", 4),
    ];
    let mut market = Market::with(runners, |genesis| genesis.parameters = parameters(&windows));
    set_rate(&mut market, RATE);
    market
}

/// Has all runners ask for this many CBY a request.
pub(super) fn set_rate(market: &mut Market, rate: u64) {
    let runners = market.runners.clone();
    let updates = runners.into_iter().map(|number| {
        let mut dear = declaration(number);
        dear["rates"]["http_request_base"] = cby(rate).into();
        signed(number, market.chain.nonce(number), ask(REGISTRY, "update", &dear, 0))
    });
    let updates = updates.collect();
    assert!(market.chain.block(updates).receipts.iter().all(Receipt::is_success));
}

/// A job of five of which four must agree, or of one.
fn job_of(mode: &str, runners: u64) -> serde_json::Value {
    let mut job = committee_job(mode, runners);
    if runners == 5 {
        job["verification"]["threshold"] = 4.into();
    }
    job["bounds"]["max_wall_time_seconds"] = 5.into();
    job["max_price"] = cby(2 * RATE * runners).into();
    job["tip"] = 0.into();
    job
}

/// What everybody has before a play.
struct Ledger(Vec<(u8, i128)>);

impl Ledger {
    fn open(market: &Market) -> Self {
        let everybody = (1..=3).chain(market.runners.iter().copied());
        Self(everybody.map(|number| (number, wealth(market, number))).collect())
    }

    /// What changed for all. `answers` is what the answers are worth that the requester, account 1, has now.
    fn close(self, market: &Market, attackers: &[u8], answers: i128) -> Came {
        let mut came = Came::default();
        for (number, before) in self.0 {
            let change = wealth(market, number) - before + if number == 1 { answers } else { 0 };
            match number {
                number if attackers.contains(&number) => came.attackers += change,
                1 => came.requester += change,
                _ => came.runners += change,
            }
        }
        came
    }
}

/// What an account has, stake included.
fn wealth(market: &Market, number: u8) -> i128 {
    let stake = runners_of(&market.chain).get(&address(number)).map_or(0, |runner| runner.stake.0);
    i128::from(market.chain.balance(address(number))) + i128::from(stake)
}

/// What this many runners ask for an answer.
fn worth(runners: u64) -> i128 {
    i128::from(cby(RATE * runners))
}

/// Whether a job has the right answer.
fn is_right(market: &Market, id: &Hash) -> bool {
    market.job(id).outcome.is_some_and(|outcome| outcome.output == keccak256(&[b"true"]))
}

fn report(market: &Market, number: u8, act: Act) -> Said {
    let said = market.said(number, b"true");
    match act {
        Act::Lie => market.said(number, &[b'l', number]),
        Act::Collude => market.said(number, b"what we agreed on"),
        Act::Unfit => market.said(number, b"a bad one"),
        Act::Secret => market.said(number, b"\"secret\""),
        Act::Fault(fault, progress) => said.failing(fault, progress),
        Act::Usage(requests, compute_ms) => said.using(requests, compute_ms),
        Act::Honest | Act::Silent | Act::Withhold | Act::Crash => said,
    }
}

/// Lives through one job until it is over, draw by draw. `act_of` says what each member of a committee does.
fn live(market: &mut Market, id: &Hash, act_of: &mut dyn FnMut(&[u8], u8) -> Act) {
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
        work(market, &job, act_of);
    }
    unreachable!("a job ends without anybody asking")
}

/// Lives through a job whose members say this, each.
pub(super) fn live_saying(market: &mut Market, id: &Hash, says: fn(u8) -> Vec<u8>) {
    live(market, id, &mut |_, number| if says(number) == b"true" { Act::Honest } else { Act::Lie });
}

/// One committee does its work.
fn work(market: &mut Market, job: &Job, act_of: &mut dyn FnMut(&[u8], u8) -> Act) {
    let (id, committee) = (&job.id, market.committee(&job.id));
    let acts: Vec<(u8, Act)> = committee.iter().map(|number| (*number, act_of(&committee, *number))).collect();
    let speaking =
        |acts: &[(u8, Act)], silent: &[Act]| -> Vec<(u8, Act)> { acts.iter().filter(|(_, act)| !silent.contains(act)).copied().collect() };
    let said = |market: &Market, acts: Vec<(u8, Act)>| -> Vec<Said> {
        acts.into_iter().map(|(number, act)| report(market, number, act)).collect()
    };
    let committing = said(market, speaking(&acts, &[Act::Silent]));
    if let [_] = committee[..] {
        for said in &committing {
            assert_eq!(slug(&market.submit_alone(id, said)), "");
        }
        return;
    }
    market.commit(id, &committing);
    for (number, _) in acts.iter().filter(|(_, act)| *act == Act::Crash) {
        let crash = serde_json::json!({ "job_id": hex(&id.0), "signal": "SIGKILL" });
        assert_eq!(slug(&market.chain.send(*number, ask(VERIFIER, "attest_crash", &crash, 0))), "");
    }
    while market.job(id).status == JobStatus::Assigned && market.job(id).attempt == job.attempt {
        market.chain.idle(1);
    }
    if market.job(id).status != JobStatus::Revealing {
        return;
    }
    market.wait_for_members(id);
    let revealing = said(market, speaking(&acts, &[Act::Silent, Act::Withhold, Act::Crash]));
    assert!(market.reveal(id, &revealing).iter().all(Receipt::is_success), "{acts:?}");
}

/// 003 §5.3, §12.2: no strategy has a profit over honesty whatever it chooses, nor harms others by more than it costs, but where the page says why.
/// The harness checks after every block that no base unit is lost or made.
#[test]
fn no_strategy_pays() {
    let mut table = String::new();
    let attacks =
        [committee::attacks(), requester::attacks(), availability::attacks(), aggregator::attacks(), claims::attacks(), draws::attacks()]
            .into_iter()
            .flatten();
    let mut wrong = String::new();
    for attack in attacks {
        let (line, is_right) = attack.line();
        table += &line;
        wrong += if is_right { "" } else { &line };
    }
    assert!(
        wrong.is_empty(),
        "these pay, or harm others more than they cost, without a reason, or have one and do not:\n{wrong}\nof\n{table}"
    );
    let page = include_str!("../../../../../../docs/trust.md");
    assert!(page.contains(&table), "docs/trust.md has another table than:\n{table}");
}
