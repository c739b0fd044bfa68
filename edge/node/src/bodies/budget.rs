//! How many bytes of blocks of one peer are decoded.
//!
//! A leader of the epoch can sign any number of headers, each with a body of the largest size. It proposes one block in a turn, so one that sends more is not
//! decoded faster than blocks are made.

use crate::{
    account::{Accounts, Bounds},
    block::SealedBlock,
};
use commonware_consensus::BoundedBlock as _;

/// Blocks of the largest size that one peer may send at once.
const AT_ONCE: u64 = 8;

/// Blocks of the largest size for which bytes come back in a second.
const PER_SECOND: u64 = 2;

/// What a block counts beside its bytes if a seed that this node has not seen draws its leader: to check one takes more than a millisecond. It counts no more if
/// the seed is right, and draws this leader.
pub(super) const OF_DRAW: u64 = 4 * 1024 * 1024;

/// The budgets of all peers that lead in an epoch, in bytes.
pub(super) fn budgets() -> Accounts {
    let largest = SealedBlock::max_encode_size(&()) as u64;
    Accounts::new(Bounds { at_once: largest.saturating_mul(AT_ONCE), per_second: largest.saturating_mul(PER_SECOND) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::{
        Signer as _,
        ed25519::{PrivateKey, PublicKey},
    };
    use std::time::{Duration, SystemTime};

    /// A peer sends a few large blocks at once, and then two in a second; another peer's budget is its own, and small blocks count by their size.
    #[test]
    fn large_blocks_of_a_peer_come_slowly() {
        let [one, other] = [1, 2].map(|seed| PrivateKey::from_seed(seed).public_key());
        let (block, began) = (SealedBlock::max_encode_size(&()) as u64, SystemTime::UNIX_EPOCH + Duration::from_secs(1_000));
        let mut budgets = budgets();
        let mut sent = |peer: &PublicKey, bytes: u64, at: SystemTime| (0..1_000).take_while(|_| budgets.take(peer, bytes, at)).count();
        assert_eq!(sent(&one, block, began), 8);
        assert_eq!(sent(&one, block, began + Duration::from_secs(3)), 6);
        assert_eq!(sent(&one, block, began + Duration::from_secs(3_600)), 8, "no more come together");
        assert_eq!(sent(&one, block, began), 0, "the clock was set back");
        assert_eq!(sent(&other, block / 100, began), 800);
    }
}
