//! How a simulated runner behaves: honestly, or not, by shares and a seed.
//!
//! `cowboyd dev` has runners that lie, come late, crash, copy and collude on command, so that code which works with them works on a real
//! network. What happens to a job follows from the seed, the job's number on the chain, the draw, and the member's place in its committee, and
//! from no id, key or time: another devnet with the same seed does the same with the same jobs, whoever is drawn for them.

use cowboy_types::{Hash, cbor, cbor::Value, keccak256};

/// Shares of jobs, between 0 and 1, in which a runner misbehaves. Honest where all are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conduct {
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
    /// What the draw begins with.
    pub seed: u64,
}

/// Whose turn it is: which job, which draw, and which of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// How many jobs were submitted before it.
    pub job: u64,
    /// Draws before this one.
    pub attempt: u64,
    /// The member's place in the committee, from 0.
    pub place: u64,
}

/// What a runner does with one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Its work.
    Honest,
    /// See [`Conduct::lie`].
    Lie,
    /// See [`Conduct::disagree`].
    Disagree,
    /// See [`Conduct::late`].
    Late,
    /// See [`Conduct::crash`].
    Crash,
    /// See [`Conduct::withhold`].
    Withhold,
    /// See [`Conduct::copy`].
    Copy,
    /// See [`Conduct::collude`].
    Collude,
}

impl Conduct {
    /// Whether there is nothing but honest work.
    pub fn is_honest(&self) -> bool {
        self.shares().iter().all(|(_, share)| *share == 0.0)
    }

    /// Whether all shares are shares, and together at most one.
    pub fn is_possible(&self) -> bool {
        let shares = self.shares();
        shares.iter().all(|(_, share)| (0.0..=1.0).contains(share)) && shares.iter().map(|(_, share)| share).sum::<f64>() <= 1.0 + 1e-9
    }

    fn shares(&self) -> [(Manner, f64); 7] {
        [
            (Manner::Lie, self.lie),
            (Manner::Disagree, self.disagree),
            (Manner::Late, self.late),
            (Manner::Crash, self.crash),
            (Manner::Withhold, self.withhold),
            (Manner::Copy, self.copy),
            (Manner::Collude, self.collude),
        ]
    }

    /// What is done in this turn.
    pub fn of(&self, turn: Turn) -> Manner {
        let numbers = [self.seed, turn.job, turn.attempt, turn.place].map(u64::to_be_bytes);
        let drawn = keccak256(&[b"cowboy-runner-conduct:", &numbers.concat()]);
        let number = u32::from_be_bytes(*drawn.0.first_chunk().expect("a hash has 32 bytes"));
        let mut place = f64::from(number) / (f64::from(u32::MAX) + 1.0);
        for (manner, share) in self.shares() {
            if place < share {
                return manner;
            }
            place -= share;
        }
        Manner::Honest
    }
}

impl Manner {
    /// What is said instead of what was found.
    pub fn said(self, turn: Turn, found: Vec<u8>) -> Vec<u8> {
        let job = turn.job.to_be_bytes();
        match self {
            Self::Lie => other(&found, keccak256(&[b"lie", &job, &turn.attempt.to_be_bytes(), &turn.place.to_be_bytes()])),
            Self::Collude => other(&found, keccak256(&[b"collude", &job])),
            Self::Disagree => nearly(found),
            _ => found,
        }
    }
}

/// Something of the same form: digits and letters exchanged, so that formats and schemas still hold where they can.
fn other(found: &[u8], by: Hash) -> Vec<u8> {
    if cbor::decode(found).is_ok_and(|value| matches!(value, Value::Map(_))) {
        return Value::map([("e", Value::Bytes(by.0.to_vec())), ("m", Value::Bytes(vec![0; 32])), ("r", Value::text(by.to_string()))])
            .encode();
    }
    let turn = |(place, byte): (usize, &u8)| match byte {
        b'0'..=b'9' => b'1' + (byte - b'0' + by.0[place % 32] % 8) % 9,
        _ => *byte,
    };
    let turned: Vec<u8> = found.iter().enumerate().map(turn).collect();
    if turned == found { format!("\"{by}\"").into_bytes() } else { turned }
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

    #[test]
    fn shares_are_kept_and_repeat() {
        let conduct = Conduct { lie: 0.2, late: 0.1, seed: 7, ..Conduct::default() };
        let of =
            |conduct: &Conduct| (0..10_000u64).map(|job| conduct.of(Turn { job, attempt: 0, place: job % 5 })).collect::<Vec<Manner>>();
        let manners = of(&conduct);
        let count = |wanted: Manner| manners.iter().filter(|manner| **manner == wanted).count();
        // Four standard deviations.
        assert!((1_840..=2_160).contains(&count(Manner::Lie)), "{}", count(Manner::Lie));
        assert!((880..=1_120).contains(&count(Manner::Late)), "{}", count(Manner::Late));
        assert_eq!(count(Manner::Honest) + count(Manner::Lie) + count(Manner::Late), 10_000);
        assert_eq!(manners, of(&conduct.clone()), "the same seed, the same jobs");
        assert_ne!(manners, of(&Conduct { seed: 8, ..conduct.clone() }), "another seed, others");
        let again = conduct.of(Turn { job: 3, attempt: 1, place: 0 });
        let mut places = (0..50).map(|place| conduct.of(Turn { job: 3, attempt: 1, place }));
        assert!(places.any(|manner| manner != again), "members of a committee differ");
        assert!(!Conduct { lie: 0.7, late: 0.7, ..Conduct::default() }.is_possible());
        assert!(!Conduct { lie: -0.1, ..Conduct::default() }.is_possible());
    }

    #[test]
    fn a_lie_looks_like_an_answer() {
        let says = |manner: Manner, place: u64, found: &[u8]| manner.said(Turn { job: 1, attempt: 0, place }, found.to_vec());
        assert_ne!(says(Manner::Lie, 1, b"{\"price\":42}"), says(Manner::Lie, 2, b"{\"price\":42}"), "liars lie each for himself");
        assert_eq!(says(Manner::Collude, 1, b"{\"price\":42}"), says(Manner::Collude, 2, b"{\"price\":42}"));
        assert!(serde_json::from_slice::<serde_json::Value>(&says(Manner::Lie, 1, b"{\"price\":42}")).is_ok());
        assert_eq!(says(Manner::Disagree, 1, b"{\"price\":42}"), b"{\"price\":43}");
        assert_eq!(says(Manner::Honest, 1, b"x"), b"x");
    }
}
