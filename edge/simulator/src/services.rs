//! Proxies and relays that misbehave on command.

use cowboy_types::{Hash, keccak256};
use std::sync::Arc;

/// Parts of a whole, of which shares are counted.
const PARTS: f64 = 1_000_000.0;

/// How many proxies of a devnet misbehave: the first ones sign false answers, and those after them give none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProxyPlan {
    /// Those that sign false answers.
    pub bad: usize,
    /// Those that give no answers.
    pub silent: usize,
}

impl ProxyPlan {
    /// The behaviour of the proxy with this number.
    pub fn behaviour(self, number: usize) -> Arc<dyn cowboy_proxy::Behaviour> {
        match number {
            number if number < self.bad => Arc::new(Bad),
            number if number < self.bad.saturating_add(self.silent) => Arc::new(Silent),
            _ => Arc::new(cowboy_proxy::Honest),
        }
    }
}

/// Signs points of the group that are no answer.
struct Bad;

impl cowboy_proxy::Behaviour for Bad {
    fn answer(&self, mut right: Vec<u8>) -> Option<Vec<u8>> {
        // r · g1 in the place of the encrypted share.
        right.copy_within(..48, 144);
        Some(right)
    }
}

struct Silent;

impl cowboy_proxy::Behaviour for Silent {
    fn answer(&self, _right: Vec<u8>) -> Option<Vec<u8>> {
        None
    }
}

/// How relays of a devnet misbehave.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RelayPlan {
    /// How many give no shards to readers and prove them all the same: the first ones.
    pub refuse: usize,
    /// The share of its shards that each relay loses, between 0 and 1.
    pub lose: f64,
    /// The seed of the random choice of those shards.
    pub seed: u64,
}

impl RelayPlan {
    /// Whether the share is one.
    pub fn is_possible(&self) -> bool {
        (0.0..=1.0).contains(&self.lose)
    }

    /// The behaviour of the relay with this number.
    pub fn behaviour(self, number: usize) -> Arc<dyn cowboy_relay::Behaviour> {
        if self.lose == 0.0 && number >= self.refuse { Arc::new(cowboy_relay::Honest) } else { Arc::new(Lossy { plan: self, number }) }
    }
}

struct Lossy {
    plan: RelayPlan,
    number: usize,
}

impl cowboy_relay::Behaviour for Lossy {
    fn has(&self, shard: &Hash) -> bool {
        let number = u64::try_from(self.number).unwrap_or(u64::MAX);
        let drawn = keccak256(&[b"cowboy-lost-shard:", &self.plan.seed.to_be_bytes(), &number.to_be_bytes(), &shard.0]);
        let [first, second, third, fourth, ..] = drawn.0;
        f64::from(u32::from_be_bytes([first, second, third, fourth]) % 1_000_000) >= self.plan.lose * PARTS
    }

    fn serves(&self) -> bool {
        self.number >= self.plan.refuse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ones_misbehave() {
        let plan = ProxyPlan { bad: 1, silent: 2 };
        let right: Vec<u8> = (0..192).collect();
        let answers: Vec<Option<Vec<u8>>> = (0..4).map(|number| plan.behaviour(number).answer(right.clone())).collect();
        let bad = [&right[..144], &right[..48]].concat();
        assert_eq!(answers, [Some(bad), None, None, Some(right.clone())]);
        assert_eq!(ProxyPlan::default().behaviour(0).answer(right.clone()), Some(right));
        let plan = RelayPlan { refuse: 1, ..RelayPlan::default() };
        assert_eq!([0, 1].map(|number| plan.behaviour(number).serves()), [false, true]);
        assert!(plan.behaviour(0).has(&Hash([1; 32])), "it has what it does not give");
    }

    /// The same seed loses the same shards, a relay others than the next one, and as many as the share says.
    #[test]
    fn shards_are_lost_by_the_seed() {
        let lost = |lose: f64, seed: u64, number: usize| -> Vec<u8> {
            let relay = RelayPlan { refuse: 0, lose, seed }.behaviour(number);
            (0..=255).filter(|shard| !relay.has(&Hash([*shard; 32]))).collect()
        };
        let found = lost(0.25, 7, 0);
        assert!((40..=90).contains(&found.len()), "{}", found.len());
        assert_eq!(lost(0.25, 7, 0), found);
        assert!(lost(0.25, 8, 0) != found && lost(0.25, 7, 1) != found);
        assert_eq!((lost(0.0, 7, 0).len(), lost(1.0, 7, 0).len()), (0, 256));
        let is_possible = |lose: f64| RelayPlan { lose, ..RelayPlan::default() }.is_possible();
        assert_eq!([0.0, 1.0, -0.1, 1.1, f64::NAN].map(is_possible), [true, true, false, false, false]);
    }
}
