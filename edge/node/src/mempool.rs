//! Transactions that wait for a block.
//!
//! Every sender has a queue by nonce. A queue may have gaps; what stands behind a gap waits. What a block
//! that is not final yet has taken stays here, marked, until that block is final: if the block is lost,
//! the transaction is not.

use cowboy_chain::{
    ChainConfig, Facts, Invalid, SignedTransaction,
    admit::{check_account, check_form},
    fees::lane_base_fee,
    input::BaseFees,
    lanes::Lane,
};
use cowboy_state::{Key, records::Account};
use cowboy_store::{Key as StateKey, Value};
use cowboy_types::{
    Address, Hash,
    units::{Nonce, Price},
};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ops::Bound,
    sync::{Arc, Mutex},
};
use tokio::sync::broadcast;

/// The most transactions that wait.
pub const MAX_TRANSACTIONS: usize = 65_536;

/// The most bytes of all transactions that wait.
pub const MAX_BYTES: usize = 128 * 1024 * 1024;

/// The most transactions of one sender that wait, and how far ahead of the account a nonce may be.
pub const MAX_PER_SENDER: usize = 8_192;

/// The most transactions that a proposer looks at for one block.
const MAX_CANDIDATES: usize = 16_384;

/// How much more than what it replaces a transaction must offer, in percent.
pub const REPLACEMENT_PERCENT: u64 = 10;

/// Transactions that were dropped lately and whose reason can still be asked for.
const REMEMBERED_DROPS: usize = 4_096;

/// Announcements that a slow listener may lag behind before it misses some.
const LISTENER_LAG: usize = 8_192;

/// Why a transaction does not enter the mempool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The protocol would refuse it.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// It waits already.
    #[error("the transaction waits already: nothing needs to be done")]
    Known,
    /// Another one with this nonce waits, and this one does not offer enough more.
    #[error("another transaction with this nonce waits: to replace it, offer {REPLACEMENT_PERCENT}% more for cycles and for cells")]
    Underpriced,
    /// Its nonce is too far ahead.
    #[error("nonce {found} is more than {MAX_PER_SENDER} ahead of the account's next, {expected}: send the missing ones first")]
    TooFarAhead {
        /// The transaction's.
        found: Nonce,
        /// The account's next.
        expected: Nonce,
    },
    /// Too many of this sender wait.
    #[error("{MAX_PER_SENDER} transactions of this sender wait: send more when some are done")]
    SenderFull,
    /// Too many wait.
    #[error("the mempool is full: try again when some transactions are done")]
    Full,
}

/// Who brings a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A client of this node, so that this node tells the others.
    Client,
    /// Another validator.
    Peer,
}

/// What the mempool holds, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Transactions.
    pub transactions: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Senders.
    pub senders: usize,
}

/// Transactions that wait for a block.
#[derive(Debug)]
pub struct Mempool {
    pool: Mutex<Pool>,
    admitted: broadcast::Sender<SignedTransaction>,
    given: broadcast::Sender<SignedTransaction>,
}

#[derive(Debug)]
struct Pool {
    chain: Arc<ChainConfig>,
    senders: BTreeMap<Address, Sender>,
    by_digest: HashMap<Hash, (Address, Nonce)>,
    /// Taken by a block of this number that is not final yet.
    taken: HashMap<Hash, u64>,
    /// What the next block burns.
    base_fees: BaseFees,
    bytes: usize,
    dropped: VecDeque<(Hash, Invalid)>,
}

#[derive(Debug)]
struct Sender {
    /// The account after the newest final block.
    account: Account,
    waiting: BTreeMap<Nonce, SignedTransaction>,
}

impl Mempool {
    /// An empty mempool of this chain, with what the next block burns.
    pub fn new(chain: Arc<ChainConfig>, base_fees: BaseFees) -> Self {
        let pool = Pool {
            chain,
            senders: BTreeMap::new(),
            by_digest: HashMap::new(),
            taken: HashMap::new(),
            base_fees,
            bytes: 0,
            dropped: VecDeque::new(),
        };
        Self { pool: Mutex::new(pool), admitted: broadcast::Sender::new(LISTENER_LAG), given: broadcast::Sender::new(LISTENER_LAG) }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Pool) -> T) -> T {
        act(&mut self.pool.lock().expect("nothing panics while it holds the lock"))
    }

    /// Transactions as they come in.
    pub fn subscribe(&self) -> broadcast::Receiver<SignedTransaction> {
        self.admitted.subscribe()
    }

    /// Transactions as clients of this node bring them.
    pub fn subscribe_given(&self) -> broadcast::Receiver<SignedTransaction> {
        self.given.subscribe()
    }

    /// Takes a transaction in. `account` is the sender's after the newest final block.
    ///
    /// Of what the law checks, only a nonce that is ahead is no reason to refuse.
    pub fn admit(&self, source: Source, account: &Account, signed: SignedTransaction) -> Result<Hash, Refused> {
        let digest = *signed.digest();
        self.with(|pool| pool.admit(account, signed.clone()))?;
        // Nobody listening is no error.
        if source == Source::Client {
            let _ = self.given.send(signed.clone());
        }
        let _ = self.admitted.send(signed);
        Ok(digest)
    }

    /// What the next block burns.
    pub fn base_fees(&self) -> BaseFees {
        self.with(|pool| pool.base_fees)
    }

    /// Whether a proposer would find anything that fits its prices.
    pub fn has_work(&self) -> bool {
        self.with(|pool| pool.senders.values().any(|sender| sender.ready(pool).next().is_some()))
    }

    /// What a proposer may choose from: each sender's transactions that follow each other, the best offers first.
    pub fn candidates(&self) -> Vec<SignedTransaction> {
        self.with(|pool| pool.candidates())
    }

    /// Marks what a block of this number, not final yet, has taken.
    pub fn take(&self, number: u64, digests: impl IntoIterator<Item = Hash>) {
        self.with(|pool| pool.taken.extend(digests.into_iter().map(|digest| (digest, number))));
    }

    /// Drops transactions that no block will ever take as they are.
    pub fn reject(&self, rejected: &[(Hash, Invalid)]) {
        self.with(|pool| {
            for (digest, reason) in rejected.iter().filter(|(_, reason)| is_hopeless(reason)) {
                pool.drop_one(digest, reason.clone());
            }
        });
    }

    /// Follows a block that became final: what it wrote of the senders' accounts, and what the next one burns.
    pub fn advance(&self, number: u64, writes: &BTreeMap<StateKey, Option<Value>>, base_fees: BaseFees) {
        self.with(|pool| pool.advance(number, writes, base_fees));
    }

    /// A transaction that waits.
    pub fn get(&self, digest: &Hash) -> Option<SignedTransaction> {
        self.with(|pool| {
            let (sender, nonce) = pool.by_digest.get(digest)?;
            pool.senders.get(sender)?.waiting.get(nonce).cloned()
        })
    }

    /// Why a transaction that waited was dropped, where that is not long ago.
    pub fn dropped(&self, digest: &Hash) -> Option<Invalid> {
        self.with(|pool| pool.dropped.iter().rev().find(|(dropped, _)| dropped == digest).map(|(_, reason)| reason.clone()))
    }

    /// The transactions of a sender that wait, by nonce.
    pub fn of_sender(&self, sender: &Address) -> Vec<SignedTransaction> {
        self.with(|pool| pool.senders.get(sender).map(|sender| sender.waiting.values().cloned().collect()).unwrap_or_default())
    }

    /// The nonce after those that wait without a gap, where `next` is the account's own.
    pub fn next_nonce(&self, sender: &Address, next: Nonce) -> Nonce {
        self.with(|pool| {
            let Some(sender) = pool.senders.get(sender) else { return next };
            let mut expected = next;
            for (nonce, _) in sender.waiting.range(next..) {
                if *nonce != expected {
                    break;
                }
                expected = Nonce(expected.0.saturating_add(1));
            }
            expected
        })
    }

    /// How much waits.
    pub fn size(&self) -> Size {
        self.with(|pool| Size { transactions: pool.by_digest.len(), bytes: pool.bytes, senders: pool.senders.len() })
    }

    /// Everything that waits, to be spread again or to survive a restart of the node in this process.
    pub fn all(&self) -> Vec<SignedTransaction> {
        self.with(|pool| pool.senders.values().flat_map(|sender| sender.waiting.values().cloned()).collect())
    }
}

/// Whether the reason will not pass by itself.
fn is_hopeless(reason: &Invalid) -> bool {
    !matches!(reason, Invalid::DoesNotFit | Invalid::NonceTooLow { .. } | Invalid::NonceTooHigh { .. } | Invalid::BaseFeeTooLow { .. })
}

impl Sender {
    /// What follows the account without a gap, is in no block yet, and pays at least the base fees.
    fn ready<'a>(&'a self, pool: &'a Pool) -> impl Iterator<Item = &'a SignedTransaction> {
        let first = self.account.nonce;
        (first.0..)
            .zip(self.waiting.range(first..))
            .take_while(|(expected, (nonce, _))| nonce.0 == *expected)
            .map(|(_, (_, signed))| signed)
            .take_while(|signed| pool.is_paid_by(signed))
            .filter(|signed| !pool.taken.contains_key(signed.digest()))
    }
}

/// Whether a price is at least the replacement's share above another.
fn is_above(price: Price, old: Price) -> bool {
    u128::from(price.0) * 100 >= u128::from(old.0) * u128::from(100 + REPLACEMENT_PERCENT)
}

fn replaces(new: &SignedTransaction, old: &SignedTransaction) -> bool {
    let (new, old) = (new.transaction(), old.transaction());
    is_above(new.max_fee_per_cycle, old.max_fee_per_cycle) && is_above(new.max_fee_per_cell, old.max_fee_per_cell)
}

impl Pool {
    /// Whether the transaction pays what the next block burns.
    fn is_paid_by(&self, signed: &SignedTransaction) -> bool {
        let transaction = signed.transaction();
        let multiplier = Lane::of(&transaction.instruction).fee_multiplier(&self.chain.params);
        transaction.max_fee_per_cycle >= lane_base_fee(self.base_fees.cycle, multiplier)
            && transaction.max_fee_per_cell >= self.base_fees.cell
    }

    fn admit(&mut self, account: &Account, signed: SignedTransaction) -> Result<(), Refused> {
        if self.by_digest.contains_key(signed.digest()) {
            return Err(Refused::Known);
        }
        let chain = &self.chain;
        let facts = Facts {
            chain_id: chain.chain_id,
            is_dev: chain.is_dev,
            params: &chain.params,
            base_fee_cycle: self.base_fees.cycle,
            base_fee_cell: self.base_fees.cell,
        };
        let admitted = check_form(&facts, &signed)?;
        let (sender, found) = (signed.transaction().from, signed.transaction().nonce);
        // The pool may have followed a newer block than the caller read.
        let known = self.senders.get(&sender).map(|sender| &sender.account).filter(|known| known.nonce > account.nonce);
        let account = known.unwrap_or(account).clone();
        match check_account(&account, signed.transaction(), &admitted) {
            Ok(()) => {}
            Err(Invalid::NonceTooHigh { .. }) => {
                let in_turn = Account { nonce: found, balance: account.balance };
                check_account(&in_turn, signed.transaction(), &admitted)?;
            }
            Err(reason) => return Err(reason.into()),
        }
        let expected = account.nonce;
        let ahead = usize::try_from(found.0.saturating_sub(expected.0)).unwrap_or(usize::MAX);
        if ahead >= MAX_PER_SENDER {
            return Err(Refused::TooFarAhead { found, expected });
        }
        self.make_room(&sender, found, &signed)?;
        self.bytes = self.bytes.saturating_add(signed.size());
        self.by_digest.insert(*signed.digest(), (sender, found));
        let queue = self.senders.entry(sender).or_insert_with(|| Sender { account: account.clone(), waiting: BTreeMap::new() });
        queue.account = account;
        queue.waiting.insert(found, signed);
        Ok(())
    }

    /// Takes out what the transaction replaces, or checks that there is room for one more.
    fn make_room(&mut self, sender: &Address, nonce: Nonce, signed: &SignedTransaction) -> Result<(), Refused> {
        let queue = self.senders.get(sender);
        if let Some(old) = queue.and_then(|queue| queue.waiting.get(&nonce)) {
            if !replaces(signed, old) {
                return Err(Refused::Underpriced);
            }
            let old = *old.digest();
            self.forget(&old);
            return Ok(());
        }
        if queue.is_some_and(|queue| queue.waiting.len() >= MAX_PER_SENDER) {
            return Err(Refused::SenderFull);
        }
        if self.by_digest.len() >= MAX_TRANSACTIONS || self.bytes.saturating_add(signed.size()) > MAX_BYTES {
            return Err(Refused::Full);
        }
        Ok(())
    }

    fn candidates(&self) -> Vec<SignedTransaction> {
        let mut runs: Vec<Vec<SignedTransaction>> = self
            .senders
            .values()
            .map(|sender| sender.ready(self).take(MAX_CANDIDATES).cloned().collect::<Vec<_>>())
            .filter(|run| !run.is_empty())
            .collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run[0].transaction().max_priority_fee_per_cycle));
        runs.into_iter().flatten().take(MAX_CANDIDATES).collect()
    }

    fn advance(&mut self, number: u64, writes: &BTreeMap<StateKey, Option<Value>>, base_fees: BaseFees) {
        self.base_fees = base_fees;
        self.taken.retain(|_, taken_by| *taken_by > number);
        let mut done = Vec::new();
        for (address, sender) in &mut self.senders {
            let Some(stored) = writes.get(&Key::account(*address).digest()) else { continue };
            sender.account = stored.as_ref().and_then(account_of).unwrap_or(Account::UNSEEN);
            let used = (Bound::Unbounded, Bound::Excluded(sender.account.nonce));
            done.extend(sender.waiting.range(used).map(|(_, signed)| *signed.digest()));
        }
        for digest in done {
            self.forget(&digest);
        }
    }

    fn drop_one(&mut self, digest: &Hash, reason: Invalid) {
        if self.forget(digest) {
            self.dropped.push_back((*digest, reason));
            if self.dropped.len() > REMEMBERED_DROPS {
                self.dropped.pop_front();
            }
        }
    }

    fn forget(&mut self, digest: &Hash) -> bool {
        let Some((address, nonce)) = self.by_digest.remove(digest) else { return false };
        let sender = self.senders.get_mut(&address).expect("a known transaction's sender has a queue");
        let signed = sender.waiting.remove(&nonce).expect("a known transaction is in its sender's queue");
        self.bytes = self.bytes.saturating_sub(signed.size());
        self.taken.remove(digest);
        if sender.waiting.is_empty() {
            self.senders.remove(&address);
        }
        true
    }
}

/// The account in a stored record.
pub fn account_of(stored: &Value) -> Option<Account> {
    let (_, body) = Key::open(stored)?;
    commonware_codec::DecodeExt::decode(body).ok()
}
