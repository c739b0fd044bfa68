//! Transactions that wait for a block.
//!
//! Every sender has a queue by nonce. A queue may have gaps; what stands behind a gap waits. What a block
//! that is not final yet has taken stays here, marked, until that block is final: if the block is lost,
//! the transaction is not. In a full mempool the better offer wins: [`pool`] says how. What no block could take for a
//! number of blocks is dropped. The parameters are today's, as the newest final block left them.

mod apart;
mod pool;
mod queue;
#[cfg(test)]
mod tests;

use crate::reader::{StateReader, read_records};
use cowboy_chain::{ChainConfig, Invalid, SignedTransaction, Standing, input::BaseFees, lanes::Lane};
use cowboy_params::Params;
use cowboy_state::{
    Key, Miss,
    records::{Account, ParameterChanges, keys},
};
use cowboy_store::{Key as StateKey, Value};
use cowboy_system::governance;
use cowboy_types::{
    Address, Hash,
    units::{Amount, Nonce, Price},
};
use pool::Pool;
use std::{
    cmp::Reverse,
    collections::BTreeMap,
    sync::{Arc, Mutex},
};
use tokio::sync::broadcast;

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Transactions.
    pub transactions: usize,
    /// Bytes of all transactions.
    pub bytes: usize,
    /// Transactions of one sender, and how far ahead of the account a nonce may be.
    pub per_sender: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { transactions: 65_536, bytes: 128 * 1024 * 1024, per_sender: 8_192 }
    }
}

/// Announcements that a slow listener may lag behind before it misses some.
const LISTENER_LAG: usize = 8_192;

/// How often the accounts of transactions that come in are read, where each time a block becomes final in between.
const READS: u32 = 8;

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
    #[error("another transaction with this nonce waits: to replace it, offer {}.{:02} % more for cycles and for cells", bump / 100, bump % 100)]
    Underpriced {
        /// How much more it must offer, in basis points.
        bump: u64,
    },
    /// Its nonce is too far ahead.
    #[error("nonce {found} is {most} or more ahead of the account's next, {expected}: send the missing ones first")]
    TooFarAhead {
        /// The transaction's.
        found: Nonce,
        /// The account's next.
        expected: Nonce,
        /// As far ahead is too far.
        most: usize,
    },
    /// Too many of this sender wait.
    #[error("{most} transactions of this sender wait: send more when some are done")]
    SenderFull {
        /// The most there may be.
        most: usize,
    },
    /// The account does not cover what its queue may take, this transaction included.
    #[error(
        "the fees and values of this transaction and of those of its sender that wait may take {needed}, and the account has {balance}; wait until some are done, lower limits or prices, or fund the account"
    )]
    FundsOfQueue {
        /// Reserves and values of the whole queue.
        needed: Amount,
        /// The account's balance.
        balance: Amount,
    },
    /// Why one that waited was dropped: no block could take it for too long.
    #[error("no block could take it for {blocks} blocks, as it waited for this: {reason}; send it again when that is mended")]
    Expired {
        /// After how many blocks.
        blocks: u64,
        /// What it waited for.
        reason: Waits,
    },
    /// Running it took far longer than its modelled time, so this node proposes nothing of its sender for a while.
    #[error(
        "a transaction of this sender took far longer to run than its modelled time; this node takes none of the sender's before block {until}"
    )]
    SetApart {
        /// The first block for which it takes them again.
        until: u64,
    },
    /// Why one that waited was dropped: this node tried to propose it, and each time running it took longer than a view has time for.
    #[error(
        "running it took longer than a proposal has time for, {times} times: send it again when the network has less to do, or let it do less"
    )]
    TooSlow {
        /// How often it was tried.
        times: u32,
    },
    /// Too many wait, and all of them offer at least as much. Also why one that waited was dropped: others offered more.
    #[error("the mempool is full, and what waits offers more: raise the tip, or try again when some transactions are done")]
    Full,
    /// Why one that waited was dropped: its sender replaced it.
    #[error("another transaction with this nonce took its place: nothing needs to be done")]
    Replaced,
}

/// What a transaction that is in the mempool waits for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Waits {
    /// Nothing but room in a block.
    #[error("the next block that has room")]
    Room,
    /// Nothing of its sender is proposed by this node for a while: running it, or another one of the sender, took too long.
    #[error("block {until}: running a transaction of this sender took longer than a proposal has time for")]
    Off {
        /// The first block for which this node proposes it again.
        until: u64,
    },
    /// A block has taken it, and is not final yet.
    #[error("block {number} has taken it and is not final yet")]
    Final {
        /// The block.
        number: u64,
    },
    /// A transaction before it is missing.
    #[error("nonce {missing} is missing")]
    Nonce {
        /// The first nonce that no transaction has.
        missing: Nonce,
    },
    /// The transaction with this nonce, itself or one before it, offers less than the base fee.
    #[error("fee of nonce {nonce}: {offered} for a {meter} is below the base fee, {base_fee}")]
    Fee {
        /// Whose price it is.
        nonce: Nonce,
        /// `cycle` or `cell`.
        meter: &'static str,
        /// What it offers.
        offered: Price,
        /// What the next block burns.
        base_fee: Price,
    },
    /// The account does not cover the queue up to this nonce.
    #[error("funds: up to nonce {nonce} the queue needs {needed}, and the account has {balance}")]
    Funds {
        /// The first nonce that is not covered.
        nonce: Nonce,
        /// Reserves and values up to it.
        needed: Amount,
        /// The account's balance.
        balance: Amount,
    },
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

/// The mempool at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// In numbers.
    pub size: Size,
    /// How much it may hold.
    pub limits: Limits,
    /// Those that a proposed block took, and that are not final yet.
    pub taken: usize,
    /// The senders of whom most transactions wait, with their number, at most [`LARGEST`] of them.
    pub largest: Vec<(Address, usize)>,
}

/// The senders in a summary.
pub const LARGEST: usize = 10;

/// Transactions that wait for a block.
#[derive(Debug)]
pub struct Mempool {
    pool: Mutex<Pool>,
    admitted: broadcast::Sender<SignedTransaction>,
    given: broadcast::Sender<SignedTransaction>,
}

impl Mempool {
    /// An empty mempool of this chain, with what the next block burns. Its parameters are those of genesis until
    /// [`Mempool::govern`] tells otherwise.
    pub fn new(chain: Arc<ChainConfig>, base_fees: BaseFees) -> Self {
        Self::with_limits(chain, base_fees, Limits::default())
    }

    /// The same, with other limits.
    pub fn with_limits(chain: Arc<ChainConfig>, base_fees: BaseFees, limits: Limits) -> Self {
        let pool = Pool::new(chain, base_fees, limits);
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

    /// Takes a transaction in. `standing` is what the state after the newest final block says of it.
    ///
    /// Of the protocol's checks, only a nonce that is ahead is no reason to refuse.
    pub fn admit(&self, source: Source, standing: &Standing, signed: SignedTransaction) -> Result<Hash, Refused> {
        self.with(|pool| pool.admit(standing, signed.clone()))?;
        Ok(self.notify(source, &signed))
    }

    /// Takes transactions in, in their order, and answers each. The newest final state says what there is to know of their accounts.
    ///
    /// Where a block becomes final after that was read, it is read again
    /// ([decision 768](../../../docs/decisions/0768-what-waits-is-not-lost.md)): a queue that begins with an account as it was before would wait for a nonce
    /// that is used, until the account is written again.
    pub async fn admit_all(&self, source: Source, state: &dyn StateReader, signed: Vec<SignedTransaction>) -> Vec<Result<Hash, Refused>> {
        let mut answers = Vec::with_capacity(signed.len());
        let mut reads = 0;
        while answers.len() < signed.len() {
            reads += 1;
            let (number, left) = (self.with(|pool| pool.number), &signed[answers.len()..]);
            for (standing, signed) in standings(state, left).await.iter().zip(left) {
                let admit = |pool: &mut Pool| (pool.number == number || reads >= READS).then(|| pool.admit(standing, signed.clone()));
                let Some(admitted) = self.with(admit) else { break };
                answers.push(admitted.map(|()| self.notify(source, signed)));
            }
        }
        answers
    }

    /// Tells of a transaction that was taken in, and answers its name.
    fn notify(&self, source: Source, signed: &SignedTransaction) -> Hash {
        // Nobody listening is no error.
        if source == Source::Client {
            let _ = self.given.send(signed.clone());
        }
        let _ = self.admitted.send(signed.clone());
        *signed.digest()
    }

    /// What the next block burns in a lane: the least that a transaction in it has to offer.
    pub fn base_fees(&self, lane: Lane) -> BaseFees {
        self.with(|pool| lane.base_fees(&pool.params, pool.base_fees))
    }

    /// Whether a proposer would find anything that fits its prices.
    pub fn has_work(&self) -> bool {
        self.with(|pool| pool.has_work())
    }

    /// What a proposer may choose from: each sender's transactions that follow each other, the best offers first.
    pub fn candidates(&self) -> Vec<SignedTransaction> {
        self.with(|pool| pool.candidates())
    }

    /// Marks what a block of this number, not final yet, has taken.
    pub fn take(&self, number: u64, digests: impl IntoIterator<Item = Hash>) {
        self.with(|pool| {
            for digest in digests {
                // An older block that is executed late, as one that lost its view, does not take the mark of a newer one away.
                let taken_by = pool.taken.entry(digest).or_insert(number);
                *taken_by = number.max(*taken_by);
            }
        });
    }

    /// Drops transactions that no block will ever take as they are.
    pub fn reject(&self, rejected: &[(Hash, Invalid)]) {
        for (digest, reason) in rejected {
            tracing::debug!(transaction = %digest, ?reason, "a proposal left out a transaction");
        }
        self.with(|pool| {
            for (digest, reason) in rejected.iter().filter(|(_, reason)| is_hopeless(reason)) {
                pool.drop_one(digest, reason.clone().into());
            }
        });
    }

    /// Follows a block that became final: what it wrote of the senders' accounts and the parameters, and what the next one
    /// burns.
    pub fn advance(&self, number: u64, writes: &BTreeMap<StateKey, Option<Value>>, base_fees: BaseFees) {
        self.with(|pool| {
            if let Some(stored) = writes.get(&keys::parameters().digest()) {
                pool.govern(stored.as_ref());
            }
            pool.advance(number, writes, base_fees);
        });
    }

    /// Takes over the record of moved parameters, as the state has it.
    pub fn govern(&self, stored: Option<&Value>) {
        self.with(|pool| pool.govern(stored));
    }

    /// The parameters of the next block.
    pub fn params(&self) -> Arc<Params> {
        self.with(|pool| pool.params.clone())
    }

    /// Drops everything of the sender of a transaction that took far longer to run than its modelled time, and takes nothing
    /// of that sender for a number of blocks (`mempool.set_apart`).
    pub fn set_apart(&self, sender: &Address) {
        self.with(|pool| pool.set_apart(sender));
    }

    /// Proposes nothing of the sender of a transaction for a few blocks, as running it took longer than a view has time for.
    /// One that is put off again and again is dropped.
    pub fn put_off(&self, digest: &Hash) {
        self.with(|pool| pool.put_off(digest));
    }

    /// What a transaction in the mempool waits for.
    pub fn waits(&self, digest: &Hash) -> Option<Waits> {
        self.with(|pool| {
            let (sender, nonce) = pool.by_digest.get(digest)?;
            if let Some(number) = pool.taken.get(digest) {
                return Some(Waits::Final { number: *number });
            }
            let blocked = pool.senders.get(sender)?.queue.blocked(&pool.rates());
            let off = || pool.off_until(sender).map_or(Waits::Room, |until| Waits::Off { until });
            Some(blocked.filter(|(first, _)| first <= nonce).map_or_else(off, |(_, why)| why))
        })
    }

    /// A transaction that waits.
    pub fn get(&self, digest: &Hash) -> Option<SignedTransaction> {
        self.with(|pool| {
            let (sender, nonce) = pool.by_digest.get(digest)?;
            pool.senders.get(sender)?.queue.waiting().get(nonce).cloned()
        })
    }

    /// The transactions that wait whose hashes begin so: hardly ever more than one.
    pub fn with_prefix(&self, prefix: [u8; 8]) -> Vec<SignedTransaction> {
        let bound = |rest: u8| {
            let mut hash = [rest; 32];
            hash[..8].copy_from_slice(&prefix);
            Hash(hash)
        };
        self.with(|pool| {
            let found = pool.by_digest.range(bound(0)..=bound(u8::MAX));
            found.filter_map(|(_, (sender, nonce))| pool.senders.get(sender)?.queue.waiting().get(nonce).cloned()).collect()
        })
    }

    /// Why a transaction that waited was dropped, where that is not long ago.
    pub fn dropped(&self, digest: &Hash) -> Option<Refused> {
        self.with(|pool| pool.dropped.get(digest).cloned())
    }

    /// The transactions of a sender that wait, by nonce.
    pub fn of_sender(&self, sender: &Address) -> Vec<SignedTransaction> {
        self.with(|pool| pool.senders.get(sender).map(|sender| sender.queue.waiting().values().cloned().collect()).unwrap_or_default())
    }

    /// The nonce after those of a sender that wait without a gap; `None` where nothing of the sender waits.
    pub fn next_nonce(&self, sender: &Address) -> Option<Nonce> {
        self.with(|pool| {
            let queue = &pool.senders.get(sender)?.queue;
            let mut expected = queue.account.nonce;
            for (nonce, _) in queue.waiting().range(expected..) {
                if *nonce != expected {
                    break;
                }
                expected = Nonce(expected.0.saturating_add(1));
            }
            Some(expected)
        })
    }

    /// How much waits.
    pub fn size(&self) -> Size {
        self.with(|pool| numbers(pool))
    }

    /// What waits, with the senders of most of it.
    pub fn summary(&self) -> Summary {
        self.with(|pool| {
            let waiting = pool.senders.iter().map(|(address, sender)| (*address, sender.queue.waiting().len()));
            let mut largest: Vec<(Address, usize)> = waiting.collect();
            largest.sort_by_key(|(_, count)| Reverse(*count));
            largest.truncate(LARGEST);
            Summary { size: numbers(pool), limits: pool.limits, taken: pool.taken.len(), largest }
        })
    }

    /// Everything that waits, to be spread again or to survive a restart of the node in this process.
    pub fn all(&self) -> Vec<SignedTransaction> {
        self.with(|pool| pool.senders.values().flat_map(|sender| sender.queue.waiting().values().cloned()).collect())
    }
}

/// What the mempool holds, in numbers.
fn numbers(pool: &Pool) -> Size {
    Size { transactions: pool.by_digest.len(), bytes: pool.bytes, senders: pool.senders.len() }
}

/// Whether the reason will not pass by itself.
fn is_hopeless(reason: &Invalid) -> bool {
    !matches!(reason, Invalid::DoesNotFit | Invalid::NonceTooLow { .. } | Invalid::NonceTooHigh { .. } | Invalid::BaseFeeTooLow { .. })
}

/// What the newest final state says of transactions, in their order: all that admission reads.
async fn standings(state: &dyn StateReader, signed: &[SignedTransaction]) -> Vec<Standing> {
    // A lane takes three reads at most, one after the other: runner, job, and the account beside the first.
    read_records(state, |world| {
        let (mut found, mut missing) = (Vec::with_capacity(signed.len()), Vec::new());
        for signed in signed {
            match Standing::read(world, signed.transaction()) {
                Ok(standing) => found.push(standing),
                Err(Miss(keys)) => missing.extend(keys),
            }
        }
        if missing.is_empty() { Ok(found) } else { Err(Miss(missing)) }
    })
    .await
}

/// A stored record, opened.
fn record_of<T: commonware_codec::DecodeExt<()>>(stored: &Value) -> Option<T> {
    let (_, body) = Key::open(stored)?;
    T::decode(body).ok()
}

/// The account in a stored record.
pub fn account_of(stored: &Value) -> Option<Account> {
    record_of(stored)
}

/// The parameters that a stored record of moved ones leads to.
fn params_of(genesis: &Params, stored: Option<&Value>) -> Params {
    let moved: Option<ParameterChanges> = stored.and_then(record_of);
    moved.map_or_else(|| genesis.clone(), |moved| governance::state::with(genesis, &moved))
}
