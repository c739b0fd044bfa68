//! What waits, in order, and what goes when there is no room.
//!
//! When the pool is full, the last transaction of some sender makes room for a better one: never one from the middle of a
//! queue, because what stands behind it could not be taken any more. What stands behind a gap goes first, since no block
//! can take it; then what offers least, by the measure that blocks are filled by.

use super::{
    Limits, Refused, account_of,
    apart::Apart,
    params_of,
    queue::{Queue, Rates, taken_at_most},
};
use cowboy_chain::{
    ChainConfig, Facts, Invalid, SignedTransaction, Standing,
    admit::{check_account, check_form},
    input::BaseFees,
    lanes::Lane,
    order::effective_fee,
};
use cowboy_params::Params;
use cowboy_state::{Key, records::Account};
use cowboy_store::{Key as StateKey, Value};
use cowboy_types::{
    Address, Hash,
    units::{Nonce, Price},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

/// The most transactions that a proposer looks at for one block.
const MAX_CANDIDATES: usize = 16_384;

/// Transactions that were dropped lately and whose reason can still be asked for.
const REMEMBERED_DROPS: usize = 4_096;

/// Blocks for which nothing is proposed of a sender whose transaction was put off.
pub(super) const PUT_OFF_BLOCKS: u64 = 20;

/// How often a transaction is tried before it is dropped as too slow.
pub(super) const PUT_OFF_TIMES: u32 = 3;

/// The most transactions that make room for one, and the most that are looked at to find them.
const MAX_EVICTED: usize = 1_024;

/// What a transaction is worth to the pool: whether a block could take it at all, then what it offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    is_reachable: bool,
    fee: u128,
}

/// What goes from the end of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Gone {
    transactions: usize,
    /// What they may take from the account together.
    committed: u128,
}

impl Gone {
    /// The same, and the transaction before it.
    fn with(self, signed: &SignedTransaction) -> Self {
        let committed = self.committed.saturating_add(u128::from(taken_at_most(signed).0));
        Self { transactions: self.transactions + 1, committed }
    }
}

/// What waits.
#[derive(Debug)]
pub(super) struct Pool {
    chain: Arc<ChainConfig>,
    /// The parameters of the next block.
    pub(super) params: Arc<Params>,
    pub(super) limits: Limits,
    pub(super) senders: BTreeMap<Address, Sender>,
    pub(super) by_digest: BTreeMap<Hash, (Address, Nonce)>,
    /// Lanes of transactions that do not run in the user lane, as the state was when they came in.
    lanes: HashMap<Hash, Lane>,
    /// Taken by a block of this number that is not final yet.
    pub(super) taken: HashMap<Hash, u64>,
    /// What the next block burns.
    pub(super) base_fees: BaseFees,
    pub(super) bytes: usize,
    /// Why transactions were dropped lately, and their order.
    pub(super) dropped: HashMap<Hash, Refused>,
    dropped_order: VecDeque<Hash>,
    /// The newest final block.
    pub(super) number: u64,
    apart: Apart,
    /// Senders of whom nothing is proposed for a while, and how often each of their transactions was put off.
    off: Apart,
    put_off: HashMap<Hash, u32>,
    /// The worth of every sender's last transaction.
    last: BTreeSet<(Worth, Address)>,
}

/// A sender's queue, and its place among all.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) queue: Queue,
    /// Under which its account is stored. Each block asks for all of them.
    key: StateKey,
    /// Under which worth it stands among the last ones.
    last: Option<Worth>,
}

/// Whether a price is at least a number of basis points above another.
fn is_above(price: Price, old: Price, bump: u64) -> bool {
    u128::from(price.0) * 10_000 >= u128::from(old.0) * (10_000 + u128::from(bump))
}

fn replaces(new: &SignedTransaction, old: &SignedTransaction, bump: u64) -> bool {
    let (new, old) = (new.transaction(), old.transaction());
    is_above(new.max_fee_per_cycle, old.max_fee_per_cycle, bump) && is_above(new.max_fee_per_cell, old.max_fee_per_cell, bump)
}

impl Pool {
    pub(super) fn new(chain: Arc<ChainConfig>, base_fees: BaseFees, limits: Limits) -> Self {
        Self {
            params: Arc::new(chain.params.clone()),
            chain,
            limits,
            senders: BTreeMap::new(),
            by_digest: BTreeMap::new(),
            lanes: HashMap::new(),
            taken: HashMap::new(),
            base_fees,
            bytes: 0,
            dropped: HashMap::new(),
            dropped_order: VecDeque::new(),
            number: 0,
            apart: Apart::default(),
            off: Apart::default(),
            put_off: HashMap::new(),
            last: BTreeSet::new(),
        }
    }

    /// What the next block charges.
    pub(super) fn rates(&self) -> Rates<'_> {
        Rates { params: &self.params, base_fees: self.base_fees, lanes: &self.lanes }
    }

    /// Takes over the record of moved parameters.
    pub(super) fn govern(&mut self, stored: Option<&Value>) {
        let params = params_of(&self.chain.params, stored);
        if *self.params != params {
            self.params = Arc::new(params);
            self.place_all();
        }
    }

    /// Whether a proposer would find anything.
    pub(super) fn has_work(&self) -> bool {
        self.offered().any(|sender| !self.ready(sender, 1).is_empty())
    }

    /// The senders of whom a proposer takes transactions now.
    fn offered(&self) -> impl Iterator<Item = &Sender> {
        self.senders.iter().filter(|(sender, _)| self.off.until(sender).is_none()).map(|(_, sender)| sender)
    }

    /// The sender's transactions that a block could include now and none has included: at most `n`.
    fn ready<'a>(&self, sender: &'a Sender, most: usize) -> Vec<&'a SignedTransaction> {
        sender.queue.ready(&self.rates(), most, |signed| !self.taken.contains_key(signed.digest()))
    }

    pub(super) fn admit(&mut self, standing: &Standing, signed: SignedTransaction) -> Result<(), Refused> {
        if self.by_digest.contains_key(signed.digest()) {
            return Err(Refused::Known);
        }
        let (sender, found) = (signed.transaction().from, signed.transaction().nonce);
        if let Some(until) = self.apart.until(&sender) {
            return Err(Refused::SetApart { until });
        }
        // The pool may have followed a newer block than the caller read.
        let known = self.senders.get(&sender).map(|sender| &sender.queue.account).filter(|known| known.nonce > standing.account.nonce);
        let account = known.unwrap_or(&standing.account).clone();
        self.check(standing.lane, &account, &signed)?;
        let most = self.limits.per_sender;
        let ahead = usize::try_from(found.0.saturating_sub(account.nonce.0)).unwrap_or(usize::MAX);
        if ahead >= most {
            return Err(Refused::TooFarAhead { found, expected: account.nonce, most });
        }
        self.check_funds(&account, &signed)?;
        self.make_room(standing.lane, &account, &signed)?;
        self.bytes = self.bytes.saturating_add(signed.size());
        self.by_digest.insert(*signed.digest(), (sender, found));
        if standing.lane != Lane::User {
            self.lanes.insert(*signed.digest(), standing.lane);
        }
        let of_sender = self.senders.entry(sender).or_insert_with(|| Sender {
            queue: Queue::new(account.clone()),
            key: Key::account(sender).digest(),
            last: None,
        });
        of_sender.queue.account = account;
        of_sender.queue.insert(signed);
        self.place(&sender);
        Ok(())
    }

    /// Whether the account covers what may be taken by the transaction and by those of its queue.
    fn check_funds(&self, account: &Account, signed: &SignedTransaction) -> Result<(), Refused> {
        let Some(sender) = self.senders.get(&signed.transaction().from) else { return Ok(()) };
        let needed = sender.queue.needed_with(account, signed);
        if needed > account.balance { Err(Refused::FundsOfQueue { needed, balance: account.balance }) } else { Ok(()) }
    }

    /// The protocol's checks, except for a nonce that is ahead.
    fn check(&self, lane: Lane, account: &Account, signed: &SignedTransaction) -> Result<(), Invalid> {
        let facts = Facts { chain_id: self.chain.chain_id, is_dev: self.chain.is_dev, params: &self.params, base_fees: self.base_fees };
        let admitted = check_form(&facts, lane, signed)?;
        match check_account(account, signed.transaction(), &admitted) {
            Err(Invalid::NonceTooHigh { .. }) => {
                let in_turn = Account { nonce: signed.transaction().nonce, balance: account.balance };
                check_account(&in_turn, signed.transaction(), &admitted)
            }
            checked => checked,
        }
    }

    /// Takes out what the transaction replaces or outbids. Where there is no room for it, nothing changes.
    fn make_room(&mut self, lane: Lane, account: &Account, signed: &SignedTransaction) -> Result<(), Refused> {
        let (sender, nonce) = (signed.transaction().from, signed.transaction().nonce);
        let queue = self.senders.get(&sender).map(|sender| &sender.queue);
        let old = queue.and_then(|queue| queue.waiting().get(&nonce));
        let (most, bump) = (self.limits.per_sender, self.params.fees.replacement_bump);
        match old {
            Some(old) if !replaces(signed, old, bump) => return Err(Refused::Underpriced { bump }),
            None if queue.is_some_and(|queue| queue.waiting().len() >= most) => return Err(Refused::SenderFull { most }),
            _ => {}
        }
        let (transactions, bytes) = old.map_or((0, 0), |old| (1, old.size()));
        let old = old.map(|old| *old.digest());
        let mut excess = Excess {
            transactions: (self.by_digest.len() + 1).saturating_sub(transactions).saturating_sub(self.limits.transactions),
            bytes: self.bytes.saturating_add(signed.size()).saturating_sub(bytes).saturating_sub(self.limits.bytes),
        };
        let evicted = if excess.is_none() { Vec::new() } else { self.outbid(lane, account, signed, &mut excess).ok_or(Refused::Full)? };
        if let Some(old) = old {
            self.drop_one(&old, Refused::Replaced);
        }
        evicted.iter().for_each(|digest| self.drop_one(digest, Refused::Full));
        Ok(())
    }

    /// The transactions that go for this one, or `None` where what would have to go is worth at least as much.
    fn outbid(&self, lane: Lane, account: &Account, signed: &SignedTransaction, excess: &mut Excess) -> Option<Vec<Hash>> {
        let (own, nonce) = (signed.transaction().from, signed.transaction().nonce);
        let before = self.senders.get(&own).map_or(0, |sender| sender.queue.waiting().range(..nonce).count());
        let newcomer = Queue::new(account.clone());
        let worth = Worth { is_reachable: newcomer.is_without_gap(nonce, before), fee: self.fee(lane, signed) };
        let mut lasts = self.last.iter().copied().peekable();
        // Queues of which the end is to go already: what is last then, and what goes.
        let mut shortened: BTreeSet<(Worth, Address, Gone)> = BTreeSet::new();
        let mut evicted = Vec::new();
        for _ in 0..MAX_EVICTED {
            let is_untouched = match (lasts.peek(), shortened.first()) {
                (Some((whole, _)), Some((short, ..))) => whole <= short,
                (whole, _) => whole.is_some(),
            };
            let (least, sender, gone) = match is_untouched {
                true => lasts.next().map(|(least, sender)| (least, sender, Gone::default())),
                false => shortened.pop_first(),
            }?;
            if least >= worth {
                return None;
            }
            let queue = &self.senders[&sender].queue;
            let Some((last, victim)) = queue.waiting().iter().rev().nth(gone.transactions) else { continue };
            // Of its own queue only what comes after it may go; what a block has taken is as good as done.
            if (sender == own && *last <= nonce) || self.taken.contains_key(victim.digest()) {
                continue;
            }
            evicted.push(*victim.digest());
            excess.less(victim);
            if excess.is_none() {
                return Some(evicted);
            }
            let gone = gone.with(victim);
            if let Some(next) = self.worth_of_last(queue, gone) {
                shortened.insert((next, sender, gone));
            }
        }
        None
    }

    fn fee(&self, lane: Lane, signed: &SignedTransaction) -> u128 {
        effective_fee(&self.params, lane, signed, self.base_fees)
    }

    /// What a transaction that waits offers.
    fn fee_of_waiting(&self, signed: &SignedTransaction) -> u128 {
        self.fee(self.rates().lane(signed), signed)
    }

    /// The worth of a queue's last transaction when these at its end are removed.
    fn worth_of_last(&self, queue: &Queue, gone: Gone) -> Option<Worth> {
        let (nonce, last) = queue.waiting().iter().rev().nth(gone.transactions)?;
        let before = queue.waiting().len() - gone.transactions - 1;
        let is_reachable = queue.is_covered_without(gone.committed) && queue.is_without_gap(*nonce, before);
        Some(Worth { is_reachable, fee: self.fee_of_waiting(last) })
    }

    /// Puts a queue that has changed where it belongs among the last ones; an empty one goes.
    fn place(&mut self, sender: &Address) {
        let Some(of_sender) = self.senders.get(sender) else { return };
        let (was, is) = (of_sender.last, self.worth_of_last(&of_sender.queue, Gone::default()));
        if was != is {
            was.map(|worth| self.last.remove(&(worth, *sender)));
            is.map(|worth| self.last.insert((worth, *sender)));
        }
        match self.senders.get_mut(sender) {
            Some(of_sender) if is.is_some() => of_sender.last = is,
            _ => drop(self.senders.remove(sender)),
        }
    }

    /// Whether every queue stands where it belongs among the last ones, and nothing else does.
    #[cfg(test)]
    pub(super) fn is_in_order(&self) -> bool {
        let lasts = self.senders.iter().filter_map(|(sender, of)| Some((self.worth_of_last(&of.queue, Gone::default())?, *sender)));
        lasts.collect::<BTreeSet<_>>() == self.last
    }

    /// What of each sender a block could take now and none has taken, the best offers first.
    pub(super) fn candidates(&self) -> Vec<SignedTransaction> {
        let free = |sender| self.ready(sender, MAX_CANDIDATES).into_iter().cloned().collect::<Vec<_>>();
        let mut runs: Vec<Vec<SignedTransaction>> = self.offered().map(free).filter(|run| !run.is_empty()).collect();
        runs.sort_by_key(|run| std::cmp::Reverse(self.fee_of_waiting(&run[0])));
        runs.into_iter().flatten().take(MAX_CANDIDATES).collect()
    }

    pub(super) fn advance(&mut self, number: u64, writes: &BTreeMap<StateKey, Option<Value>>, base_fees: BaseFees) {
        let is_repriced = std::mem::replace(&mut self.base_fees, base_fees) != base_fees;
        self.number = self.number.max(number);
        self.apart.advance(number);
        self.off.advance(number);
        let (mut done, mut moved) = (Vec::new(), Vec::new());
        for (address, sender) in &mut self.senders {
            let Some(stored) = writes.get(&sender.key) else { continue };
            sender.queue.account = stored.as_ref().and_then(account_of).unwrap_or(Account::UNSEEN);
            let used = (Bound::Unbounded, Bound::Excluded(sender.queue.account.nonce));
            done.extend(sender.queue.waiting().range(used).map(|(_, signed)| *signed.digest()));
            moved.push(*address);
        }
        for digest in &done {
            match self.taken.contains_key(digest) {
                true => drop(self.take_out(digest)),
                // No block that this node knows has taken it: another transaction has used its nonce.
                false => self.drop_one(digest, Refused::Replaced),
            }
        }
        self.taken.retain(|_, taken_by| *taken_by > number);
        match is_repriced {
            true => self.place_all(),
            false => moved.iter().for_each(|sender| self.place(sender)),
        }
        self.expire();
    }

    /// Drops transactions that no block could include for a number of blocks, and those behind them.
    fn expire(&mut self) {
        let (blocks, number) = (self.params.mempool.expiry, self.number);
        let rates = Rates { params: &self.params, base_fees: self.base_fees, lanes: &self.lanes };
        let mut gone = Vec::new();
        for sender in self.senders.values_mut() {
            let Some((first, reason)) = sender.queue.expired(&rates, number, blocks) else { continue };
            gone.extend(sender.queue.waiting().range(first..).map(|(_, signed)| (*signed.digest(), reason.clone())));
        }
        for (digest, reason) in gone {
            self.drop_one(&digest, Refused::Expired { blocks, reason });
        }
    }

    /// Drops everything of a sender, and takes nothing of it for a while.
    pub(super) fn set_apart(&mut self, sender: &Address) {
        let until = self.number.saturating_add(self.params.mempool.set_apart).saturating_add(1);
        self.apart.insert(*sender, until);
        let of_sender = self.senders.get(sender).map(|sender| sender.queue.waiting().values().map(|signed| *signed.digest()).collect());
        let waiting: Vec<Hash> = of_sender.unwrap_or_default();
        waiting.iter().for_each(|digest| self.drop_one(digest, Refused::SetApart { until }));
    }

    /// Proposes nothing of the sender of a transaction for a while; drops the transaction where that happens too often.
    pub(super) fn put_off(&mut self, digest: &Hash) {
        let Some((sender, _)) = self.by_digest.get(digest).copied() else { return };
        let times = self.put_off.entry(*digest).or_default();
        *times += 1;
        if *times >= PUT_OFF_TIMES {
            return self.drop_one(digest, Refused::TooSlow { times: PUT_OFF_TIMES });
        }
        self.off.insert(sender, self.number.saturating_add(PUT_OFF_BLOCKS).saturating_add(1));
    }

    /// The first block for which a proposer takes transactions of this sender again, where it takes none now.
    pub(super) fn off_until(&self, sender: &Address) -> Option<u64> {
        self.off.until(sender)
    }

    /// Puts every queue where it belongs.
    fn place_all(&mut self) {
        let all: Vec<Address> = self.senders.keys().copied().collect();
        all.iter().for_each(|sender| self.place(sender));
    }

    /// Drops a transaction and remembers why.
    pub(super) fn drop_one(&mut self, digest: &Hash, reason: Refused) {
        let Some(sender) = self.take_out(digest) else { return };
        self.place(&sender);
        if self.dropped.insert(*digest, reason).is_none() {
            self.dropped_order.push_back(*digest);
        }
        if self.dropped_order.len() > REMEMBERED_DROPS
            && let Some(oldest) = self.dropped_order.pop_front()
        {
            self.dropped.remove(&oldest);
        }
    }

    /// Takes a transaction out of its queue, and answers whose it is. The queue must be placed anew.
    fn take_out(&mut self, digest: &Hash) -> Option<Address> {
        let (sender, nonce) = self.by_digest.remove(digest)?;
        self.taken.remove(digest);
        self.lanes.remove(digest);
        self.put_off.remove(digest);
        let removed = self.senders.get_mut(&sender).and_then(|sender| sender.queue.remove(&nonce));
        self.bytes = self.bytes.saturating_sub(removed.map_or(0, |removed| removed.size()));
        Some(sender)
    }
}

/// By how much a pool is too full.
struct Excess {
    transactions: usize,
    bytes: usize,
}

impl Excess {
    fn is_none(&self) -> bool {
        self.transactions == 0 && self.bytes == 0
    }

    fn less(&mut self, evicted: &SignedTransaction) {
        self.transactions = self.transactions.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(evicted.size());
    }
}
