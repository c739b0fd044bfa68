//! Turns for work that takes long, fair by account: each has one at a time, so that no account keeps others from theirs.

use cowboy_types::Address;
use std::collections::HashMap;
use std::sync::{Arc, Mutex as Lock, PoisonError};
use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// Turns. Whoever has one of an account keeps the account's others waiting, and of several accounts the one that waited longest is next.
pub(crate) struct Turns {
    accounts: Lock<HashMap<Address, Arc<Mutex<()>>>>,
    turns: Arc<Semaphore>,
    waiting: usize,
}

/// A turn. It ends when this is dropped.
pub(crate) struct Turn {
    _account: OwnedMutexGuard<()>,
    _turn: OwnedSemaphorePermit,
}

impl Turns {
    /// `at_once` turns at once, while `waiting` requests of an account wait at most.
    pub(crate) fn new(at_once: usize, waiting: usize) -> Self {
        Self { accounts: Lock::default(), turns: Arc::new(Semaphore::new(at_once)), waiting }
    }

    /// The place of an account in the queue; none where as many as may wait there.
    fn place(&self, account: Address) -> Option<Arc<Mutex<()>>> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        // Those for which nobody waits.
        accounts.retain(|_, own| Arc::strong_count(own) > 1);
        let own = accounts.entry(account).or_default();
        // Beside this map, whoever works and whoever waits has one each.
        (Arc::strong_count(own).saturating_sub(1) <= self.waiting).then(|| own.clone())
    }

    /// Waits for a turn of an account; none where too many of it wait already.
    pub(crate) async fn turn(&self, account: Address) -> Option<Turn> {
        let own = self.place(account)?.lock_owned().await;
        // Nobody closes it.
        let turn = self.turns.clone().acquire_owned().await.ok()?;
        Some(Turn { _account: own, _turn: turn })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(number: u8) -> Address {
        Address([number; 20])
    }

    /// An account that asks for many turns has one, and keeps nobody else waiting, whichever volumes it names; what nobody waits for is forgotten.
    #[tokio::test]
    async fn an_account_has_one_turn() {
        let turns = Turns::new(2, 9);
        let first = turns.turn(account(1)).await;
        let mut second = std::pin::pin!(turns.turn(account(1)));
        assert!(futures::poll!(&mut second).is_pending());
        let of_other = turns.turn(account(2)).await.expect("nobody of this account waits");
        assert_eq!(turns.turns.available_permits(), 0);
        drop(first);
        assert!(second.await.is_some());
        drop(of_other);
        drop(turns.turn(account(3)).await);
        assert_eq!(turns.accounts.lock().expect("nothing panicked").len(), 1, "accounts are forgotten");
    }

    /// A bounded number of one account waits; others wait beside them, and the account's next ones once these had their turns.
    #[tokio::test]
    async fn few_of_an_account_wait() {
        let turns = Turns::new(1, 2);
        let working = turns.turn(account(1)).await.expect("the first one");
        {
            let (mut one, mut two) = (Box::pin(turns.turn(account(1))), Box::pin(turns.turn(account(1))));
            assert!(futures::poll!(&mut one).is_pending() && futures::poll!(&mut two).is_pending());
            assert!(turns.turn(account(1)).await.is_none(), "two wait");
            let mut other = Box::pin(turns.turn(account(2)));
            assert!(futures::poll!(&mut other).is_pending());
            drop(working);
            // Both wait for the turn now. The other account waited for it before.
            assert!(futures::poll!(&mut one).is_pending());
            assert!(other.await.is_some());
            assert!(one.await.is_some());
            assert!(two.await.is_some());
        }
        assert!(turns.turn(account(1)).await.is_some());
    }
}
