//! Senders of whom nothing is taken or proposed for a while, because a transaction of theirs ran for too long.

use cowboy_types::Address;
use std::collections::BTreeMap;

/// The most senders that are remembered; the one whose time ends first makes room.
const MOST: usize = 4_096;

/// Senders that are set apart, each until a block.
#[derive(Debug, Default)]
pub(super) struct Apart(BTreeMap<Address, u64>);

impl Apart {
    /// Sets a sender apart until the block of this number.
    pub(super) fn insert(&mut self, sender: Address, until: u64) {
        if self.0.len() >= MOST && !self.0.contains_key(&sender) {
            let first = self.0.iter().min_by_key(|(_, until)| **until).map(|(sender, _)| *sender);
            first.and_then(|sender| self.0.remove(&sender));
        }
        self.0.insert(sender, until);
    }

    /// Until which block a sender is set apart, where it is.
    pub(super) fn until(&self, sender: &Address) -> Option<u64> {
        self.0.get(sender).copied()
    }

    /// Forgets those whose time is over once the block of this number is final.
    pub(super) fn advance(&mut self, number: u64) {
        self.0.retain(|_, until| *until > number.saturating_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_and_the_first_to_end_makes_room() {
        let mut apart = Apart::default();
        let address = |number: usize| {
            let mut bytes = [0; 20];
            bytes[..8].copy_from_slice(&u64::try_from(number).expect("small").to_be_bytes());
            Address(bytes)
        };
        (0..MOST).for_each(|number| apart.insert(address(number), 100 + u64::try_from(number).expect("small")));
        apart.insert(address(MOST), 50_000);
        assert_eq!((apart.0.len(), apart.until(&address(0)), apart.until(&address(1))), (MOST, None, Some(101)));
        apart.advance(100);
        assert_eq!((apart.until(&address(1)), apart.until(&address(2))), (None, Some(102)));
    }
}
