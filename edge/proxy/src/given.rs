//! Answers that were given a moment ago: whoever asks again costs no proof and no signature.

use crate::answers::Answered;
use cowboy_types::Hash;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an answer is given again without looking at the chain: so long does a pause take to be noticed.
const FRESH: Duration = Duration::from_secs(3);

/// The most answers that are kept.
const MAX_KEPT: usize = 4_096;

/// The newest answers.
#[derive(Default)]
pub(crate) struct Given(Mutex<BTreeMap<Hash, (Instant, Answered)>>);

impl Given {
    /// The answer to a release, where it was given a moment before `now`.
    pub(crate) fn get(&self, now: Instant, id: &Hash) -> Option<Answered> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(id).filter(|(at, _)| is_fresh(now, *at)).map(|(_, answered)| answered.clone())
    }

    /// Keeps an answer. Where there are too many, those that are not fresh go, and else all.
    pub(crate) fn keep(&self, now: Instant, id: Hash, answered: Answered) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.retain(|_, (at, _)| is_fresh(now, *at));
        }
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(id, (now, answered));
    }
}

fn is_fresh(now: Instant, at: Instant) -> bool {
    now.saturating_duration_since(at) < FRESH
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_api::Hex;

    #[test]
    fn an_answer_is_given_again_for_a_moment() {
        let (given, now) = (Given::default(), Instant::now());
        let answered = Answered { epoch: 1, index: 2, answer: Hex(vec![3; 192]), signature: Hex(vec![4; 64]) };
        given.keep(now, Hash([1; 32]), answered.clone());
        assert_eq!((given.get(now, &Hash([1; 32])), given.get(now, &Hash([2; 32]))), (Some(answered.clone()), None));
        assert_eq!(given.get(now + FRESH, &Hash([1; 32])), None, "the chain is looked at again");
        for number in 0..MAX_KEPT {
            let id = Hash(std::array::from_fn(|byte| number.to_be_bytes().get(byte).copied().unwrap_or(7)));
            given.keep(now, id, answered.clone());
        }
        assert!(given.0.lock().expect("nobody failed").len() <= MAX_KEPT);
    }
}
