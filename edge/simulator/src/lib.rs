//! Runners, proxies and relays that misbehave on command, by shares and a seed.
//!
//! `cowboyd dev` has runners that lie, come late, crash, copy and collude, so that code which works with them works on a real network.
//! The misbehaviour follows from the seed, the job's number on the chain, the draw, and the member's index in its committee, and from no id,
//! key or time: another devnet with the same seed does the same with the same jobs, whoever is drawn for them.
//!
//! A [`FaultPlan`] becomes a [`Behaviour`] of `cowboy_runner`. The program `cowboy-runner` starts runners without one. A [`ProxyPlan`] and a [`RelayPlan`]
//! do the same for the proxies and relays of a devnet.

mod services;

pub use services::{ProxyPlan, RelayPlan};

use cowboy_runner::{
    behaviour::{Assignment, Behaviour, Honest},
    feed::Observer,
    plan::{Step, View},
};
use cowboy_types::{Hash, cbor, cbor::Value, keccak256};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Shares of jobs, between 0 and 1, in which a runner misbehaves. Honest where all are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    /// It answers something else than it found.
    pub lie: f64,
    /// It answers nearly what it found: the last digit differs.
    pub disagree: f64,
    /// Its commitment comes after the deadline.
    pub late: f64,
    /// It commits, loses its result, and says so.
    pub crash: f64,
    /// It commits and never reveals.
    pub withhold: f64,
    /// It commits to what another one committed to.
    pub copy: f64,
    /// It answers what all who collude answer.
    pub collude: f64,
    /// The seed of the random choice.
    pub seed: u64,
}

/// A member's part in one draw of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// How many jobs were submitted before it.
    pub job: u64,
    /// Draws of the job before this one.
    pub attempt: u64,
    /// The member's index in the committee.
    pub index: u64,
}

/// What a runner does instead of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// See [`FaultPlan::lie`].
    Lie,
    /// See [`FaultPlan::disagree`].
    Disagree,
    /// See [`FaultPlan::late`].
    Late,
    /// See [`FaultPlan::crash`].
    Crash,
    /// See [`FaultPlan::withhold`].
    Withhold,
    /// See [`FaultPlan::copy`].
    Copy,
    /// See [`FaultPlan::collude`].
    Collude,
}

impl FaultPlan {
    /// The behaviour of runners that share these numbers of jobs.
    pub fn behaviour(self, numbers: &JobNumbers) -> Arc<dyn Behaviour> {
        if self.is_honest() { Arc::new(Honest) } else { Arc::new(Simulated { plan: self, numbers: numbers.clone() }) }
    }

    fn is_honest(&self) -> bool {
        self.shares().iter().all(|(_, share)| *share == 0.0)
    }

    /// Whether each share is between 0 and 1, and their sum is at most 1.
    pub fn is_possible(&self) -> bool {
        let shares = self.shares();
        shares.iter().all(|(_, share)| (0.0..=1.0).contains(share)) && shares.iter().map(|(_, share)| share).sum::<f64>() <= 1.0 + 1e-9
    }

    fn shares(&self) -> [(Misbehaviour, f64); 7] {
        [
            (Misbehaviour::Lie, self.lie),
            (Misbehaviour::Disagree, self.disagree),
            (Misbehaviour::Late, self.late),
            (Misbehaviour::Crash, self.crash),
            (Misbehaviour::Withhold, self.withhold),
            (Misbehaviour::Copy, self.copy),
            (Misbehaviour::Collude, self.collude),
        ]
    }

    /// The misbehaviour in this draw, if there is one.
    pub fn of(&self, draw: Draw) -> Option<Misbehaviour> {
        let numbers = [self.seed, draw.job, draw.attempt, draw.index].map(u64::to_be_bytes);
        let drawn = keccak256(&[b"cowboy-runner-conduct:", &numbers.concat()]);
        let number = u32::from_be_bytes(*drawn.0.first_chunk().expect("a hash has 32 bytes"));
        let mut rest = f64::from(number) / (f64::from(u32::MAX) + 1.0);
        for (misbehaviour, share) in self.shares() {
            if rest < share {
                return Some(misbehaviour);
            }
            rest -= share;
        }
        None
    }
}

/// The numbers of jobs, in the order in which the chain took them while a feed was open: misbehaviour repeats by them. They are never
/// forgotten, so a devnet may use them, and nothing that runs for long.
#[derive(Clone, Debug, Default)]
pub struct JobNumbers(Arc<Mutex<BTreeMap<Hash, u64>>>);

impl JobNumbers {
    /// What a feed reports new jobs to.
    pub fn observer(&self) -> Observer {
        let numbers = self.clone();
        Arc::new(move |job| {
            numbers.of(&job);
        })
    }

    /// The number of jobs before this one. A job that no feed reported is the next.
    fn of(&self, job: &Hash) -> u64 {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = u64::try_from(known.len()).unwrap_or(u64::MAX);
        *known.entry(*job).or_insert(next)
    }
}

/// A runner's behaviour by a plan.
struct Simulated {
    plan: FaultPlan,
    numbers: JobNumbers,
}

impl Simulated {
    fn of(&self, assignment: &Assignment) -> (Draw, Option<Misbehaviour>) {
        let draw = Draw { job: self.numbers.of(&assignment.job), attempt: assignment.attempt, index: assignment.index };
        (draw, self.plan.of(draw))
    }
}

impl Behaviour for Simulated {
    fn result(&self, assignment: &Assignment, found: Vec<u8>) -> Vec<u8> {
        match self.of(assignment) {
            (draw, Some(misbehaviour)) => misbehaviour.result(draw, found),
            (_, None) => found,
        }
    }

    fn step(&self, assignment: &Assignment, due: Step, view: &View, height: u64) -> Step {
        self.of(assignment).1.map_or(due, |misbehaviour| misbehaviour.step(due, view, height))
    }

    fn commitment(&self, assignment: &Assignment, own: Hash, view: &View) -> Hash {
        let copied = || view.members.iter().map(|member| member.commitment).find(|commitment| *commitment != Hash::ZERO);
        if self.of(assignment).1 == Some(Misbehaviour::Copy) { copied().unwrap_or(own) } else { own }
    }
}

impl Misbehaviour {
    /// The result that is reported instead of what was found.
    fn result(self, draw: Draw, found: Vec<u8>) -> Vec<u8> {
        let job = draw.job.to_be_bytes();
        match self {
            Self::Lie => other(&found, keccak256(&[b"lie", &job, &draw.attempt.to_be_bytes(), &draw.index.to_be_bytes()])),
            Self::Collude => other(&found, keccak256(&[b"collude", &job])),
            Self::Disagree => nearly(found),
            _ => found,
        }
    }

    /// The step that is taken instead of the one that is due.
    fn step(self, due: Step, view: &View, height: u64) -> Step {
        let is_revelation = matches!(due, Step::Aggregate | Step::Share | Step::Reveal | Step::AttestCrash);
        let others_committed = view.members.iter().any(|member| member.commitment != Hash::ZERO);
        match self {
            Self::Late if matches!(due, Step::Submit | Step::Commit) && height + 1 < view.commit_until => Step::Wait,
            Self::Crash if matches!(due, Step::Submit) => Step::Wait,
            Self::Crash if is_revelation => Step::AttestCrash,
            Self::Withhold | Self::Copy if is_revelation || due == Step::Submit => Step::Wait,
            Self::Copy if due == Step::Commit && !others_committed => Step::Wait,
            _ => due,
        }
    }
}

/// Something of the same form: digits and letters exchanged, so that formats and schemas still hold where they can.
fn other(found: &[u8], by: Hash) -> Vec<u8> {
    if cbor::decode(found).is_ok_and(|value| matches!(value, Value::Map(_))) {
        return Value::map([("e", Value::Bytes(by.0.to_vec())), ("m", Value::Bytes(vec![0; 32])), ("r", Value::text(by.to_string()))])
            .encode();
    }
    let changed = |(index, byte): (usize, &u8)| match byte {
        b'0'..=b'9' => b'1' + (byte - b'0' + by.0[index % 32] % 8) % 9,
        _ => *byte,
    };
    let lie: Vec<u8> = found.iter().enumerate().map(changed).collect();
    if lie == found { format!("\"{by}\"").into_bytes() } else { lie }
}

/// The same with its last digit one higher.
fn nearly(mut found: Vec<u8>) -> Vec<u8> {
    match found.iter_mut().rev().find(|byte| byte.is_ascii_digit()) {
        Some(digit) => *digit = b'0' + (*digit - b'0' + 1) % 10,
        None => found.push(b' '),
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_runner::plan::Member;
    use cowboy_types::Address;

    #[test]
    fn shares_are_kept_and_repeat() {
        let plan = FaultPlan { lie: 0.2, late: 0.1, seed: 7, ..FaultPlan::default() };
        let of = |plan: &FaultPlan| -> Vec<Option<Misbehaviour>> {
            (0..10_000).map(|job| plan.of(Draw { job, attempt: 0, index: job % 5 })).collect()
        };
        let found = of(&plan);
        let count = |wanted: Option<Misbehaviour>| found.iter().filter(|found| **found == wanted).count();
        let (lies, late) = (count(Some(Misbehaviour::Lie)), count(Some(Misbehaviour::Late)));
        // Four standard deviations.
        assert!((1_840..=2_160).contains(&lies), "{lies}");
        assert!((880..=1_120).contains(&late), "{late}");
        assert_eq!(count(None) + lies + late, 10_000);
        assert_eq!(found, of(&plan.clone()), "the same seed, the same jobs");
        assert_ne!(found, of(&FaultPlan { seed: 8, ..plan.clone() }), "another seed, others");
        let again = plan.of(Draw { job: 3, attempt: 1, index: 0 });
        let mut members = (0..50).map(|index| plan.of(Draw { job: 3, attempt: 1, index }));
        assert!(members.any(|found| found != again), "members of a committee differ");
        assert!(!FaultPlan { lie: 0.7, late: 0.7, ..FaultPlan::default() }.is_possible());
        assert!(!FaultPlan { lie: -0.1, ..FaultPlan::default() }.is_possible());
    }

    #[test]
    fn a_lie_looks_like_an_answer() {
        let says =
            |misbehaviour: Misbehaviour, index: u64, found: &[u8]| misbehaviour.result(Draw { job: 1, attempt: 0, index }, found.to_vec());
        assert_ne!(
            says(Misbehaviour::Lie, 1, b"{\"price\":42}"),
            says(Misbehaviour::Lie, 2, b"{\"price\":42}"),
            "each liar has its own lie"
        );
        assert_eq!(says(Misbehaviour::Collude, 1, b"{\"price\":42}"), says(Misbehaviour::Collude, 2, b"{\"price\":42}"));
        assert!(serde_json::from_slice::<serde_json::Value>(&says(Misbehaviour::Lie, 1, b"{\"price\":42}")).is_ok());
        assert_eq!(says(Misbehaviour::Disagree, 1, b"{\"price\":42}"), b"{\"price\":43}");
        assert_eq!(says(Misbehaviour::Late, 1, b"x"), b"x");
    }

    /// What each misbehaviour makes of the steps of a committee of two, and of a commitment.
    #[test]
    fn steps_and_commitments_are_replaced() {
        use Misbehaviour::{Copy, Crash, Disagree, Late, Lie, Withhold};
        let member =
            |runner: u8, commitment: Hash| Member { runner: Address([runner; 20]), commitment, has_revealed: false, is_out: false };
        let view = |other: Hash| View {
            status: "assigned".into(),
            attempt: 0,
            members: vec![member(1, Hash::ZERO), member(2, other)],
            aggregator: None,
            commit_until: 10,
            reveal_from: 15,
            reveal_until: 70,
        };
        let (none, committed) = (view(Hash::ZERO), view(Hash([4; 32])));
        let rows = [
            (Lie, Step::Commit, &none, 5, Step::Commit),
            (Disagree, Step::Reveal, &none, 12, Step::Reveal),
            (Late, Step::Commit, &none, 8, Step::Wait),
            (Late, Step::Commit, &none, 9, Step::Commit),
            (Crash, Step::Commit, &none, 5, Step::Commit),
            (Crash, Step::Reveal, &none, 12, Step::AttestCrash),
            (Withhold, Step::Commit, &none, 5, Step::Commit),
            (Withhold, Step::Share, &none, 12, Step::Wait),
            (Copy, Step::Commit, &none, 5, Step::Wait),
            (Copy, Step::Commit, &committed, 5, Step::Commit),
            (Copy, Step::Reveal, &committed, 12, Step::Wait),
        ];
        for (misbehaviour, due, view, height, expected) in rows {
            assert_eq!(misbehaviour.step(due, view, height), expected, "{misbehaviour:?}: {due:?} at {height}");
        }
        let assignment = Assignment { job: Hash([9; 32]), attempt: 0, index: 0 };
        let own = Hash([3; 32]);
        let commitment = |plan: FaultPlan, view: &View| plan.behaviour(&JobNumbers::default()).commitment(&assignment, own, view);
        let copying = FaultPlan { copy: 1.0, ..FaultPlan::default() };
        assert_eq!(commitment(copying.clone(), &committed), Hash([4; 32]));
        assert_eq!(commitment(copying, &none), own);
        assert_eq!(commitment(FaultPlan::default(), &committed), own);
    }

    #[test]
    fn jobs_have_the_numbers_of_their_order() {
        let numbers = JobNumbers::default();
        let observer = numbers.observer();
        observer(Hash([2; 32]));
        observer(Hash([1; 32]));
        observer(Hash([2; 32]));
        assert_eq!([2, 1, 3].map(|id| numbers.of(&Hash([id; 32]))), [0, 1, 2]);
    }
}
