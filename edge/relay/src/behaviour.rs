//! What a relay has and gives, where that can be replaced: the simulated relays of a devnet misbehave there.

use cowboy_types::Hash;

/// Decisions of a relay. Each method answers what a real relay does, unless an implementation replaces it.
pub trait Behaviour: Send + Sync {
    /// Whether it still has a shard that it was sent.
    fn has(&self, _shard: &Hash) -> bool {
        true
    }

    /// Whether it gives shards to those who may read them.
    fn serves(&self) -> bool {
        true
    }
}

/// The behaviour of a real relay.
#[derive(Clone, Copy, Debug, Default)]
pub struct Honest;

impl Behaviour for Honest {}
