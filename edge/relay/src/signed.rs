//! Roots that this relay signed lately: the chain has some of them, and the relay may not have heard of that.

use cowboy_types::Hash;
use cowboy_types::wire::Fixed;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Roots that are remembered. What the chain says of a partition is a second old at most, and then a block.
const REMEMBERED: usize = 1_024;

/// A root that was signed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signed {
    pub(crate) volume: Hash,
    pub(crate) partition: Hash,
    pub(crate) root: Hash,
    /// The capability of whoever asked for it; the owner's is none.
    pub(crate) capability: Fixed<16>,
}

/// The last roots that were signed.
#[derive(Default)]
pub(crate) struct SignedRoots(Mutex<VecDeque<Signed>>);

impl SignedRoots {
    /// Remembers a root.
    pub(crate) fn note(&self, one: Signed) {
        let mut signed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if signed.len() >= REMEMBERED {
            signed.pop_front();
        }
        signed.push_back(one);
    }

    fn any(&self, is_it: impl Fn(&Signed) -> bool) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_it)
    }

    /// Whether a root was signed lately as one of this partition.
    pub(crate) fn has(&self, volume: &Hash, partition: &Hash, root: &Hash) -> bool {
        self.any(|one| (one.root, one.partition, one.volume) == (*root, *partition, *volume))
    }

    /// Whether a root was signed lately for the holder of this capability.
    pub(crate) fn is_of(&self, capability: &Fixed<16>, root: &Hash) -> bool {
        self.any(|one| one.root == *root && one.capability == *capability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_roots_are_remembered() {
        let (signed, [volume, partition, other]) = (SignedRoots::default(), [1, 2, 3].map(|number| Hash([number; 32])));
        let root = |number: usize| Hash(std::array::from_fn(|byte| number.to_be_bytes().get(byte).copied().unwrap_or(9)));
        let capability = Fixed([4; 16]);
        (0..=REMEMBERED).for_each(|number| signed.note(Signed { volume, partition, root: root(number), capability }));
        assert!(signed.has(&volume, &partition, &root(REMEMBERED)) && signed.has(&volume, &partition, &root(1)));
        assert!(!signed.has(&volume, &partition, &root(0)), "the first one is forgotten");
        assert!(!signed.has(&volume, &other, &root(1)) && !signed.has(&other, &partition, &root(1)));
        assert!(signed.is_of(&capability, &root(1)) && !signed.is_of(&Fixed([5; 16]), &root(1)) && !signed.is_of(&capability, &root(0)));
    }
}
