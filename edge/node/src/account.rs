//! What peers have used of a number of units a second: bytes that they are served, bytes that are decoded for them, blocks that are read for them.

use commonware_cryptography::ed25519::PublicKey;
use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

/// Units at once, and how many of them come back in a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Units at once.
    pub(crate) at_once: u64,
    /// Units in a second after that.
    pub(crate) per_second: u64,
}

const NANOS: u128 = Duration::from_secs(1).as_nanos();

/// What was used, less what came back since.
#[derive(Debug)]
pub(crate) struct Account {
    /// Billionths of a unit: however often it is looked at, nothing is lost to rounding.
    nanos: u128,
    at: SystemTime,
}

impl Account {
    /// An account of which nothing is used.
    pub(crate) fn new(at: SystemTime) -> Self {
        Self { nanos: 0, at }
    }

    /// Gives back what the time since allows. Nothing comes back where the clock was set back.
    pub(crate) fn advance(&mut self, per_second: u64, now: SystemTime) {
        let passed = now.duration_since(self.at).unwrap_or_default().as_nanos();
        let back = passed.saturating_mul(per_second.into());
        (self.nanos, self.at) = (self.nanos.saturating_sub(back), now);
    }

    /// Units that are used when it was advanced last.
    pub(crate) fn used(&self) -> u64 {
        u64::try_from(self.nanos.div_ceil(NANOS)).unwrap_or(u64::MAX)
    }

    /// Uses units.
    pub(crate) fn charge(&mut self, units: u64) {
        self.nanos = self.nanos.saturating_add(u128::from(units) * NANOS);
    }

    /// Takes back what was charged.
    pub(crate) fn refund(&mut self, units: u64) {
        self.nanos = self.nanos.saturating_sub(u128::from(units) * NANOS);
    }
}

/// How often accounts of which nothing is used are forgotten.
const SWEEP: Duration = Duration::from_secs(1);

/// The accounts of all peers that have used something, each with the same bounds.
#[derive(Debug)]
pub(crate) struct Accounts {
    bounds: Bounds,
    accounts: BTreeMap<PublicKey, Account>,
    swept: SystemTime,
}

impl Accounts {
    /// No peer has used anything.
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, accounts: BTreeMap::new(), swept: SystemTime::UNIX_EPOCH }
    }

    /// Charges a peer's account with units. False, and nothing is charged, where it has not as many left.
    pub(crate) fn take(&mut self, peer: &PublicKey, units: u64, now: SystemTime) -> bool {
        self.sweep(now);
        let account = self.accounts.entry(peer.clone()).or_insert_with(|| Account::new(now));
        account.advance(self.bounds.per_second, now);
        let is_within = account.used().saturating_add(units) <= self.bounds.at_once;
        if is_within {
            account.charge(units);
        }
        is_within
    }

    /// Gives a peer back what it was charged with.
    pub(crate) fn refund(&mut self, peer: &PublicKey, units: u64) {
        if let Some(account) = self.accounts.get_mut(peer) {
            account.refund(units);
        }
    }

    /// Units that a peer has used.
    #[cfg(test)]
    pub(crate) fn used(&self, peer: &PublicKey) -> u64 {
        self.accounts.get(peer).map_or(0, Account::used)
    }

    /// Forgets the accounts to which everything came back.
    fn sweep(&mut self, now: SystemTime) {
        if now.duration_since(self.swept).is_ok_and(|passed| passed < SWEEP) {
            return;
        }
        self.accounts.retain(|_, account| {
            account.advance(self.bounds.per_second, now);
            account.used() > 0
        });
        self.swept = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::peer;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    /// Units come back with the time, also to a peer that asks all the time, but no more of them than at once, and none where the clock was set back. Another
    /// peer's account is its own.
    #[test]
    fn units_come_back_with_the_time() {
        let mut accounts = Accounts::new(Bounds { at_once: 8, per_second: 2 });
        let mut taken = |seed: u64, units: u64, ms: u64| {
            let now = NOW + Duration::from_secs(1_000) + Duration::from_millis(ms);
            (0..100).take_while(|_| accounts.take(&peer(seed), units, now)).count()
        };
        assert_eq!([taken(1, 1, 0), taken(1, 1, 0), taken(2, 3, 0), taken(2, 2, 0)], [8, 0, 2, 1]);
        assert_eq!((1..=100).map(|step| taken(1, 1, step * 10)).sum::<usize>(), 2, "it asks a hundred times in a second");
        assert_eq!(taken(1, 9, 3_600_000), 0, "more than at once");
        assert_eq!(taken(1, 1, 3_600_000), 8);
        assert_eq!(taken(1, 1, 0), 0, "the clock was set back");
        assert_eq!(taken(1, 1, 1_000), 2, "a second later");
    }

    /// What was refunded is there again.
    #[test]
    fn charges_are_refunded() {
        let mut account = Account::new(NOW);
        account.charge(5);
        account.refund(3);
        assert_eq!(account.used(), 2);
        account.refund(3);
        assert_eq!(account.used(), 0);
        account.charge(u64::MAX);
        account.charge(1);
        assert_eq!(account.used(), u64::MAX);
    }

    /// Of what peers were charged with, each gets back its own.
    #[test]
    fn a_peer_is_refunded() {
        let mut accounts = Accounts::new(Bounds { at_once: 8, per_second: 2 });
        assert!([1, 2].into_iter().all(|seed| accounts.take(&peer(seed), 8, NOW)));
        accounts.refund(&peer(1), 3);
        accounts.refund(&peer(3), 3);
        assert_eq!([1, 2, 3].map(|seed| accounts.used(&peer(seed))), [5, 8, 0]);
        assert!(accounts.take(&peer(1), 3, NOW) && !accounts.take(&peer(2), 3, NOW) && !accounts.take(&peer(3), 9, NOW));
    }

    /// However many peers come and go, the accounts of those who have not used anything for a while are forgotten.
    #[test]
    fn settled_accounts_are_forgotten() {
        let mut accounts = Accounts::new(Bounds { at_once: 4, per_second: 2 });
        for seed in 0..1_000 {
            assert!(accounts.take(&peer(seed), 4, NOW + Duration::from_secs(seed)));
            assert!(accounts.accounts.len() <= 2, "{} accounts", accounts.accounts.len());
        }
    }
}
