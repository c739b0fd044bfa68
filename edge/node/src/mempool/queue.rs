//! The queue of one sender: what of it a block could take now, and what the rest waits for.

use super::Waits;
use cowboy_chain::{
    SignedTransaction, admit,
    fees::{Offers, Used},
    input::BaseFees,
    lanes::Lane,
};
use cowboy_params::Params;
use cowboy_state::records::Account;
use cowboy_types::{
    Hash,
    units::{Amount, Nonce},
};
use std::{
    collections::{BTreeMap, HashMap},
    ops::ControlFlow,
};

/// What the next block charges.
#[derive(Clone, Copy)]
pub(super) struct Rates<'a> {
    pub(super) params: &'a Params,
    pub(super) base_fees: BaseFees,
    /// Lanes of transactions that do not run in the user lane, by digest.
    pub(super) lanes: &'a HashMap<Hash, Lane>,
}

impl Rates<'_> {
    /// The lane of a transaction that waits.
    pub(super) fn lane(&self, signed: &SignedTransaction) -> Lane {
        self.lanes.get(signed.digest()).copied().unwrap_or(Lane::User)
    }

    /// What the next block burns in the lane of this transaction.
    fn burned(&self, signed: &SignedTransaction) -> BaseFees {
        self.lane(signed).base_fees(self.params, self.base_fees)
    }
}

/// The most that a transaction may take from its sender's account: its reserve, and what it sends.
pub(super) fn taken_at_most(signed: &SignedTransaction) -> Amount {
    let transaction = signed.transaction();
    let limits = Used { cycles: transaction.cycles_limit, cells: transaction.cells_limit };
    let reserve = Offers::from(transaction).reserve(limits).unwrap_or(Amount(u64::MAX));
    reserve.saturating_add(admit::value(&transaction.instruction))
}

/// A sender's queue.
#[derive(Debug)]
pub(super) struct Queue {
    /// The account after the newest final block.
    pub(super) account: Account,
    waiting: BTreeMap<Nonce, SignedTransaction>,
    /// What all that waits may take together.
    committed: u128,
    /// The first transaction that no block could take, and the newest block when that became so.
    blocked: Option<(Nonce, u64)>,
}

impl Queue {
    pub(super) fn new(account: Account) -> Self {
        Self { account, waiting: BTreeMap::new(), committed: 0, blocked: None }
    }

    /// What waits, by nonce.
    pub(super) fn waiting(&self) -> &BTreeMap<Nonce, SignedTransaction> {
        &self.waiting
    }

    /// Puts a transaction where none waits.
    pub(super) fn insert(&mut self, signed: SignedTransaction) {
        self.committed = self.committed.saturating_add(u128::from(taken_at_most(&signed).0));
        self.waiting.insert(signed.transaction().nonce, signed);
    }

    /// Takes the transaction of this nonce out.
    pub(super) fn remove(&mut self, nonce: &Nonce) -> Option<SignedTransaction> {
        let removed = self.waiting.remove(nonce)?;
        self.committed = self.committed.saturating_sub(u128::from(taken_at_most(&removed).0));
        Some(removed)
    }

    /// What all that waits may take together with this transaction, and without the one of its nonce. What is final in the account that
    /// the caller read is left out: its block may have reached the state, and not this queue yet.
    pub(super) fn needed_with(&self, account: &Account, signed: &SignedTransaction) -> Amount {
        let final_ones = self.waiting.range(..account.nonce).map(|(_, signed)| taken_at_most(signed));
        let replaced = self.waiting.get(&signed.transaction().nonce).map(taken_at_most);
        let left_out = final_ones.chain(replaced).fold(0u128, |sum, taken| sum.saturating_add(u128::from(taken.0)));
        let needed = self.committed.saturating_sub(left_out).saturating_add(u128::from(taken_at_most(signed).0));
        Amount(u64::try_from(needed).unwrap_or(u64::MAX))
    }

    /// Visits what follows the account without a gap, is covered by its funds and pays the base fees, for as long as the visitor
    /// continues. Returns why it ends, if something is left that no block could take.
    fn walk<'a>(&'a self, rates: &Rates<'_>, mut visit: impl FnMut(&'a SignedTransaction) -> ControlFlow<()>) -> Option<(Nonce, Waits)> {
        let (mut next, mut needed) = (self.account.nonce, Amount::ZERO);
        for (nonce, signed) in self.waiting.range(next..) {
            if *nonce != next {
                return Some((*nonce, Waits::Nonce { missing: next }));
            }
            let transaction = signed.transaction();
            let burned = rates.burned(signed);
            let prices = [("cycle", transaction.max_fee_per_cycle, burned.cycle), ("cell", transaction.max_fee_per_cell, burned.cell)];
            if let Some((meter, offered, base_fee)) = prices.into_iter().find(|(_, offered, base_fee)| offered < base_fee) {
                return Some((*nonce, Waits::Fee { nonce: *nonce, meter, offered, base_fee }));
            }
            needed = needed.saturating_add(taken_at_most(signed));
            if needed > self.account.balance {
                return Some((*nonce, Waits::Funds { nonce: *nonce, needed, balance: self.account.balance }));
            }
            if visit(signed).is_break() {
                return None;
            }
            next = Nonce(next.0.saturating_add(1));
        }
        None
    }

    /// What a block could include now, in order: at most `n`, of those that are free.
    pub(super) fn ready(&self, rates: &Rates<'_>, most: usize, is_free: impl Fn(&SignedTransaction) -> bool) -> Vec<&SignedTransaction> {
        let mut found = Vec::new();
        // Why it ends is not asked here.
        let _ = self.walk(rates, |signed| {
            if is_free(signed) {
                found.push(signed);
            }
            if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        found
    }

    /// The first transaction that no block could take now, and what it waits for.
    pub(super) fn blocked(&self, rates: &Rates<'_>) -> Option<(Nonce, Waits)> {
        self.walk(rates, |_| ControlFlow::Continue(()))
    }

    /// Whether the account pays for all that waits, without transactions that may take `gone` together. It did when each came in; what it has since
    /// then paid elsewhere does not keep others out.
    pub(super) fn is_covered_without(&self, gone: u128) -> bool {
        self.committed.saturating_sub(gone) <= u128::from(self.account.balance.0)
    }

    /// Whether nothing is missing between the account and this nonce, when a number of transactions wait before it.
    pub(super) fn is_without_gap(&self, nonce: Nonce, before: usize) -> bool {
        u64::try_from(before).is_ok_and(|before| self.account.nonce.0.saturating_add(before) == nonce.0)
    }

    /// Notes since when the queue does not move. Answers what has waited for this many blocks, with the reason.
    pub(super) fn expired(&mut self, rates: &Rates<'_>, number: u64, blocks: u64) -> Option<(Nonce, Waits)> {
        let (first, why) = match self.blocked(rates) {
            Some(found) => found,
            None => {
                self.blocked = None;
                return None;
            }
        };
        let since = match self.blocked {
            Some((known, since)) if known == first => since,
            _ => number,
        };
        self.blocked = Some((first, since));
        (number.saturating_sub(since) >= blocks).then_some((first, why))
    }
}
