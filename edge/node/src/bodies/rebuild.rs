//! Blocks whose transactions this node collects.

use super::wire::{Compact, Id, Request, id_of};
use commonware_cryptography::ed25519::PublicKey;
use cowboy_chain::SignedTransaction;
use cowboy_types::{Hash, Transaction, block::MAX_BLOCK_BODY_BYTES};
use std::{
    collections::VecDeque,
    time::{Duration, SystemTime},
};

/// How long a peer has for an answer before it is asked again.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often a peer is asked about one block.
const MAX_ASKED: u32 = 2;

/// Blocks that wait for answers, and those of them that one peer sent.
pub(super) const MAX_WAITING: usize = 16;
pub(super) const MAX_OF_PEER: usize = 2;

/// What follows from a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A block is whole: its encoding.
    Block(Vec<u8>),
    /// The peer is asked for transactions.
    Ask(Request),
}

/// The blocks that wait for answers, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Rebuilding(VecDeque<Waiting>);

/// A block that waits for an answer of the peer that sent it.
#[derive(Debug)]
struct Waiting {
    peer: PublicKey,
    block: Hash,
    compact: Compact,
    /// In their order; `None` for those that the peer is asked for.
    found: Vec<Option<SignedTransaction>>,
    asked: u32,
    due: SystemTime,
}

impl Rebuilding {
    /// Begins with a block that a peer sent. `find` looks for transactions in the mempool.
    pub(super) fn begin(
        &mut self,
        peer: PublicKey,
        compact: Compact,
        find: impl Fn(&Id) -> Option<SignedTransaction>,
        now: SystemTime,
    ) -> Option<Next> {
        let mut bytes = 0usize;
        let mut found = Vec::with_capacity(compact.ids.len());
        for id in compact.ids.iter() {
            let signed = find(id);
            bytes = bytes.saturating_add(signed.as_ref().map_or(0, SignedTransaction::size));
            // One small transaction named often enough makes a body of any size.
            if bytes > MAX_BLOCK_BODY_BYTES {
                return None;
            }
            found.push(signed);
        }
        let waiting = Waiting { peer, block: compact.header.digest(), compact, found, asked: 0, due: now };
        if waiting.missing().next().is_some() {
            return self.ask(waiting, now);
        }
        waiting.completed(Vec::new()).map(Next::Block).or_else(|| self.ask_for_all(waiting, now))
    }

    /// The block about which this peer was asked, taken out until its answer is read.
    pub(super) fn asked(&mut self, peer: &PublicKey, block: &Hash) -> Option<Asked<'_>> {
        let place = self.0.iter().position(|waiting| waiting.peer == *peer && waiting.block == *block)?;
        let waiting = self.0.remove(place)?;
        Some(Asked { rebuilding: self, waiting })
    }

    /// When the next answer is due.
    pub(super) fn due(&self) -> Option<SystemTime> {
        self.0.iter().map(|waiting| waiting.due).min()
    }

    /// Whom to ask again, as no answer came in time. Blocks about which nobody is asked any more are given up.
    pub(super) fn overdue(&mut self, now: SystemTime) -> Vec<(PublicKey, Request)> {
        self.0.retain(|waiting| waiting.due > now || waiting.asked < MAX_ASKED);
        let late = self.0.iter_mut().filter(|waiting| waiting.due <= now);
        late.map(|waiting| (waiting.peer.clone(), waiting.request(now))).collect()
    }

    /// Asks for everything: some of what was found, or answered, is not what the header commits to.
    fn ask_for_all(&mut self, mut waiting: Waiting, now: SystemTime) -> Option<Next> {
        if waiting.asked >= MAX_ASKED || waiting.found.is_empty() {
            tracing::debug!(peer = %waiting.peer, block = %waiting.block, "a peer names transactions that are not those of its block");
            return None;
        }
        waiting.found.fill(None);
        self.ask(waiting, now)
    }

    fn ask(&mut self, mut waiting: Waiting, now: SystemTime) -> Option<Next> {
        let of_peer = |other: &Waiting| other.peer == waiting.peer;
        if self.0.iter().filter(|other| of_peer(other)).count() >= MAX_OF_PEER
            && let Some(oldest) = self.0.iter().position(of_peer)
        {
            self.0.remove(oldest);
        }
        if self.0.len() >= MAX_WAITING {
            self.0.pop_front();
        }
        let request = waiting.request(now);
        self.0.push_back(waiting);
        Some(Next::Ask(request))
    }
}

impl Waiting {
    /// The indices of the transactions that are missing.
    fn missing(&self) -> impl Iterator<Item = usize> {
        self.found.iter().enumerate().filter(|(_, found)| found.is_none()).map(|(index, _)| index)
    }

    /// Asks for what is missing.
    fn request(&mut self, now: SystemTime) -> Request {
        self.asked += 1;
        self.due = now + PATIENCE;
        Request::new(self.block, self.missing())
    }

    /// The block with these transactions for those that are missing. `None` where they are not those that were asked for, or do not make its body.
    fn completed(&self, missing: Vec<Transaction>) -> Option<Vec<u8>> {
        let mut missing = missing.into_iter();
        let named = self.found.iter().zip(self.compact.ids.iter());
        let all = named.map(|(found, id)| match found {
            Some(signed) => Some(signed.transaction().clone()),
            None => missing.next().filter(|transaction| id_of(transaction, &transaction.digest()) == *id),
        });
        let all: Vec<Transaction> = all.collect::<Option<_>>()?;
        self.compact.with(all).filter(|_| missing.next().is_none())
    }
}

/// A block whose answer is here.
pub(super) struct Asked<'a> {
    rebuilding: &'a mut Rebuilding,
    waiting: Waiting,
}

impl Asked<'_> {
    /// What follows from the transactions of the answer.
    pub(super) fn answered(self, transactions: Vec<Transaction>, now: SystemTime) -> Option<Next> {
        let Self { rebuilding, waiting } = self;
        waiting.completed(transactions).map(Next::Block).or_else(|| rebuilding.ask_for_all(waiting, now))
    }
}
