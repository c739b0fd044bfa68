//! How many bytes of blocks of one peer are decoded.
//!
//! A leader of the epoch can sign any number of headers, each with a body of the largest size. It proposes one block in a turn, so one that sends more is not
//! decoded faster than blocks are made.

use crate::block::SealedBlock;
use commonware_consensus::BoundedBlock as _;
use commonware_cryptography::ed25519::PublicKey;
use std::{collections::BTreeMap, time::SystemTime};

/// Blocks of the largest size that one peer may send at once.
const AT_ONCE: u64 = 8;

/// Blocks of the largest size for which bytes come back in a second.
const PER_SECOND: u64 = 2;

/// The bytes of the largest block.
fn largest() -> u64 {
    u64::try_from(SealedBlock::max_encode_size(&())).unwrap_or(u64::MAX)
}

/// What is left to a peer.
#[derive(Debug)]
struct Budget {
    bytes: u64,
    at: SystemTime,
}

/// The budgets of all peers that lead in an epoch.
#[derive(Debug, Default)]
pub(super) struct Budgets(BTreeMap<PublicKey, Budget>);

impl Budgets {
    /// Takes the bytes of a block out of a peer's budget; where there are not as many, nothing is taken, and the block is not decoded.
    pub(super) fn take(&mut self, peer: &PublicKey, bytes: usize, now: SystemTime) -> bool {
        let most = largest().saturating_mul(AT_ONCE);
        let budget = self.0.entry(peer.clone()).or_insert(Budget { bytes: most, at: now });
        // Nothing comes back where the clock was set back.
        let passed = now.duration_since(budget.at).unwrap_or_default().as_millis();
        let back = u64::try_from(passed).unwrap_or(u64::MAX).saturating_mul(largest().saturating_mul(PER_SECOND)) / 1_000;
        (budget.bytes, budget.at) = (budget.bytes.saturating_add(back).min(most), now);
        match budget.bytes.checked_sub(u64::try_from(bytes).unwrap_or(u64::MAX)) {
            Some(left) => {
                budget.bytes = left;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use std::time::Duration;

    /// A peer sends a few large blocks at once, and then two in a second; another peer's budget is its own, and small blocks count by their size.
    #[test]
    fn large_blocks_of_a_peer_come_slowly() {
        let [one, other] = [1, 2].map(|seed| PrivateKey::from_seed(seed).public_key());
        let (block, began) = (SealedBlock::max_encode_size(&()), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000));
        let mut budgets = Budgets::default();
        let mut sent = |peer: &PublicKey, bytes: usize, at: SystemTime| (0..1_000).take_while(|_| budgets.take(peer, bytes, at)).count();
        assert_eq!(sent(&one, block, began), 8);
        assert_eq!(sent(&one, block, began + Duration::from_secs(3)), 6);
        assert_eq!(sent(&one, block, began + Duration::from_secs(3_600)), 8, "no more come together");
        assert_eq!(sent(&one, block, began), 0, "the clock was set back");
        assert_eq!(sent(&other, block / 100, began), 800);
    }
}
