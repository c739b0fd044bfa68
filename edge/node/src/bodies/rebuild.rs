//! Blocks whose transactions this node collects ([decision 737](../../../../docs/decisions/0737-bodies-from-whoever-has-them.md)).
//!
//! The leader of a block is asked first, and if more is missing than one answer has room for, others beside it: those that voted for the block have all
//! transactions, and those that collect it, too, have some. Each gives as many as one answer has room for, and each gives others. So a leader sends a body a few
//! times, however many lack it, and a peer that is silent costs little.

use super::{
    sources::{AT_ONCE, Brought, Sources},
    wire::{Answer, Compact, Id, PART_BYTES, Request, id_of},
};
use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_cryptography::ed25519::PublicKey;
use cowboy_chain::SignedTransaction;
use cowboy_types::{
    Hash, Transaction,
    block::{Header, MAX_BLOCK_BODY_BYTES},
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::SystemTime,
};

/// Blocks that wait for answers, and those of them that one peer sent.
pub(super) const MAX_WAITING: usize = 16;
pub(super) const MAX_OF_PEER: usize = 2;

/// Blocks that were put together last, of which others may ask for transactions.
pub(super) const MAX_WHOLE: usize = 4;

/// Bytes that a transaction is taken to have where none of its block is here.
const GUESS: usize = 512;

/// Bytes that an answer brings at least if its sender is asked again at once, unless nothing is missing any more. Fewer may come from several peers in vain.
const USEFUL_BYTES: usize = PART_BYTES / 4;

/// What follows from a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A block is whole: who sent it, and its encoding.
    Block(PublicKey, Vec<u8>),
    /// Peers are asked for transactions.
    Ask(Vec<(PublicKey, Request)>),
}

/// What a block that waits is worth: most in the newest round, from the leader that was drawn for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Worth {
    is_of_leader: bool,
    is_drawn: bool,
    epoch: u64,
    view: u64,
}

impl Worth {
    /// The worth of the block with this header. `is_of_leader` says that its leader sent it, and `is_drawn` that it is known to be the one of the round.
    pub(super) fn of(header: &Header, is_of_leader: bool, is_drawn: bool) -> Self {
        let (epoch, view) = (header.context.epoch.0, header.context.view.0);
        // Where nobody can say who leads, the round that comes first counts most: anyone names a far one.
        Self { is_of_leader, is_drawn, epoch, view: if is_drawn { view } else { u64::MAX - view } }
    }

    /// Whether the leader of its round is known, and sent it. Others have signed nothing that counts, as much of it as they like.
    fn is_proposed(self) -> bool {
        self.is_of_leader && self.is_drawn
    }
}

/// A block that a peer sent without its transactions.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) compact: Compact,
    pub(super) worth: Worth,
    /// Who is asked for transactions, in this order: first who sent the block.
    pub(super) sources: Vec<PublicKey>,
    /// The most bytes of an answer of theirs.
    pub(super) part: usize,
    /// When nobody needs the block any more before it is final.
    pub(super) until: SystemTime,
}

/// The blocks that wait for answers, the oldest first, and those that were put together.
#[derive(Debug, Default)]
pub(super) struct Rebuilding {
    waiting: Vec<Waiting>,
    whole: VecDeque<(Hash, Vec<(Id, SignedTransaction)>)>,
}

impl Rebuilding {
    /// Begins with a block that a peer sent. `find` looks for transactions in the mempool, and `voters` says who has voted for a block. What has come of the block
    /// because another peer sent it is not asked for again.
    pub(super) fn begin(
        &mut self,
        peer: PublicKey,
        offer: Offer,
        find: impl Fn(&Id) -> Option<SignedTransaction>,
        voters: &impl Fn(&Header) -> BTreeSet<PublicKey>,
        now: SystemTime,
    ) -> Option<Next> {
        let here = self.here(&offer.compact.header.digest());
        let waiting = Waiting::new(peer, offer, |id: &Id| find(id).or_else(|| here.get(id).cloned()), now)?;
        if !waiting.is_short() {
            match waiting.completed() {
                Some(block) => return Some(self.keep(waiting, block)),
                // Another body without transactions is no mistake of a mempool.
                None if waiting.found.is_empty() => return None,
                None => {}
            }
        }
        let is_here = self.waiting.iter().any(|other| other.block == waiting.block && other.peer == waiting.peer);
        if is_here || waiting.sources.is_empty() {
            return None;
        }
        let place = self.insert(waiting)?;
        self.go_on(place, voters, now)
    }

    /// Whether an answer of this peer about this block is due. Any other one is not decoded.
    pub(super) fn is_asked(&self, peer: &PublicKey, block: &Hash) -> bool {
        self.place(peer, block).is_some()
    }

    /// What follows from the transactions in an answer of a peer that was asked.
    pub(super) fn answered(
        &mut self,
        peer: &PublicKey,
        block: &Hash,
        transactions: Vec<Transaction>,
        voters: &impl Fn(&Header) -> BTreeSet<PublicKey>,
        now: SystemTime,
    ) -> Option<Next> {
        let place = self.place(peer, block)?;
        self.waiting[place].take(peer, transactions, now);
        self.go_on(place, voters, now)
    }

    /// Takes back a question that was not sent.
    pub(super) fn unasked(&mut self, peer: &PublicKey, block: &Hash, now: SystemTime) {
        if let Some(place) = self.place(peer, block) {
            self.waiting[place].sources.unasked(peer, now);
        }
    }

    /// When somebody else is to be asked, or a block is given up.
    pub(super) fn due(&self) -> Option<SystemTime> {
        self.waiting.iter().map(Waiting::due).min()
    }

    /// Whom to ask now, as no answer came in time, or a pause is over. Blocks that nobody needs any more are given up: their time is over, or the block of
    /// number `head` is final.
    pub(super) fn overdue(
        &mut self,
        head: u64,
        voters: &impl Fn(&Header) -> BTreeSet<PublicKey>,
        now: SystemTime,
    ) -> Vec<(PublicKey, Request)> {
        self.waiting.retain(|waiting| waiting.until > now && waiting.compact.header.number.0 > head);
        let ask = |waiting: &mut Waiting| {
            waiting.sources.expire(now);
            waiting.ask(voters, now)
        };
        self.waiting.iter_mut().flat_map(ask).collect()
    }

    /// An answer to a peer that asks for transactions of a block that this node has put together, or collects: see [`Answer::of`]. `None` where it has none of
    /// them.
    pub(super) fn answer(&self, request: &Request, first: u8, most: usize) -> Option<Answer> {
        if let Some((_, transactions)) = self.whole.iter().find(|(block, _)| *block == request.block) {
            return Answer::of(request, first, most, |index| transactions.get(index).map(|(_, signed)| signed.transaction()));
        }
        let mut waiting = self.waiting.iter().filter(|waiting| waiting.block == request.block);
        waiting.find_map(|waiting| Answer::of(request, first, most, |index| Some(waiting.found.get(index)?.as_ref()?.transaction())))
    }

    /// The transactions of a block that are here, because it was put together or is collected.
    fn here(&self, block: &Hash) -> BTreeMap<Id, SignedTransaction> {
        let whole = self.whole.iter().filter(|(other, _)| other == block).flat_map(|(_, transactions)| transactions.iter().cloned());
        let waiting = self.waiting.iter().filter(|other| other.block == *block);
        let found = waiting.flat_map(|other| other.compact.ids.iter().zip(&other.found));
        whole.chain(found.filter_map(|(id, found)| Some((*id, found.clone()?)))).collect()
    }

    /// The block about which this peer was asked.
    fn place(&self, peer: &PublicKey, block: &Hash) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.block == *block && waiting.sources.is_asked(peer))
    }

    /// What follows once something of a block was found, or it has its place.
    fn go_on(&mut self, place: usize, voters: &impl Fn(&Header) -> BTreeSet<PublicKey>, now: SystemTime) -> Option<Next> {
        let waiting = self.waiting.get_mut(place)?;
        let completed = if waiting.is_short() { None } else { waiting.completed() };
        if let Some(block) = completed {
            let waiting = self.waiting.remove(place);
            return Some(self.keep(waiting, block));
        }
        // What is answered is no more than a body has, either.
        if waiting.bytes > MAX_BLOCK_BODY_BYTES || (!waiting.is_short() && waiting.is_again) {
            tracing::debug!(peer = %waiting.peer, block = %waiting.block, "a peer names transactions that are not those of its block");
            self.waiting.remove(place);
            return None;
        }
        if !waiting.is_short() {
            waiting.begin_again(now);
        }
        Some(waiting.ask(voters, now)).filter(|requests| !requests.is_empty()).map(Next::Ask)
    }

    /// Hands a block over, which nobody is asked about any more, and keeps its transactions for others, if somebody may ask for them.
    fn keep(&mut self, waiting: Waiting, block: Vec<u8>) -> Next {
        self.waiting.retain(|other| other.block != waiting.block);
        if waiting.worth.is_proposed() && !waiting.found.is_empty() {
            self.whole.retain(|(other, _)| *other != waiting.block);
            let transactions = waiting.compact.ids.iter().copied().zip(waiting.found.into_iter().flatten());
            self.whole.push_back((waiting.block, transactions.collect()));
            if self.whole.len() > MAX_WHOLE {
                self.whole.pop_front();
            }
        }
        Next::Block(waiting.peer, block)
    }

    /// Gives a block a place. `None` where everything that has one is worth more.
    fn insert(&mut self, waiting: Waiting) -> Option<usize> {
        let has_room = self.make_room(MAX_OF_PEER, waiting.worth, |other| other.peer == waiting.peer)
            && self.make_room(MAX_WAITING, waiting.worth, |_| true);
        has_room.then(|| {
            self.waiting.push(waiting);
            self.waiting.len() - 1
        })
    }

    /// Whether fewer than `most` of the blocks that count wait, once the one that is worth least has given way to one that is worth as much.
    fn make_room(&mut self, most: usize, worth: Worth, counts: impl Fn(&Waiting) -> bool) -> bool {
        let counted: Vec<(usize, Worth)> =
            self.waiting.iter().enumerate().filter(|(_, other)| counts(other)).map(|(place, other)| (place, other.worth)).collect();
        if counted.len() < most {
            return true;
        }
        let least = counted.into_iter().min_by_key(|(_, worth)| *worth).filter(|(_, least)| *least <= worth);
        least.is_some_and(|(place, _)| {
            self.waiting.remove(place);
            true
        })
    }
}

/// A block that waits for transactions.
#[derive(Debug)]
struct Waiting {
    /// Who sent it.
    peer: PublicKey,
    block: Hash,
    compact: Compact,
    worth: Worth,
    /// In their order; `None` for those that are missing.
    found: Vec<Option<SignedTransaction>>,
    /// Bytes of those that are not.
    bytes: usize,
    sources: Sources,
    /// The most bytes of an answer.
    part: usize,
    /// Whether what was found made another body before.
    is_again: bool,
    until: SystemTime,
}

impl Waiting {
    /// `None` where the body would be too large.
    fn new(peer: PublicKey, offer: Offer, find: impl Fn(&Id) -> Option<SignedTransaction>, now: SystemTime) -> Option<Self> {
        let Offer { compact, worth, sources, part, until } = offer;
        let (mut found, mut bytes) = (Vec::with_capacity(compact.ids.len()), 0usize);
        for id in compact.ids.iter() {
            let signed = find(id);
            bytes = bytes.saturating_add(signed.as_ref().map_or(0, SignedTransaction::size));
            // One small transaction named often enough makes a body of any size.
            if bytes > MAX_BLOCK_BODY_BYTES {
                return None;
            }
            found.push(signed);
        }
        let (block, sources) = (compact.header.digest(), Sources::new(sources, now));
        Some(Self { peer, block, compact, worth, found, bytes, sources, part, is_again: false, until })
    }

    /// The indices of the transactions that are missing.
    fn missing(&self) -> impl Iterator<Item = usize> {
        self.found.iter().enumerate().filter(|(_, found)| found.is_none()).map(|(index, _)| index)
    }

    fn is_short(&self) -> bool {
        self.missing().next().is_some()
    }

    /// Peers that are to be asked at once: as many as there are answers with what is missing, if those transactions are as long as the others. Few bytes are asked
    /// of twice as many each time that a peer was silent, or brought little: one after another, a third of the set would cost more time than a view has.
    fn askable(&self) -> usize {
        let missing = self.missing().count();
        let usual = self.bytes.checked_div(self.found.len() - missing);
        let bytes = missing.saturating_mul(usual.unwrap_or(GUESS).max(1));
        // A guess may be far too low, and silence the fault of links that are full.
        let is_little = usual.is_some() && bytes <= USEFUL_BYTES;
        let times = if is_little { 1_usize << self.sources.delays().min(AT_ONCE.ilog2()) } else { 1 };
        bytes.div_ceil(self.part.max(1)).saturating_mul(times).min(AT_ONCE)
    }

    /// Asks for what is missing, as many peers at once as may be asked.
    fn ask(&mut self, voters: &impl Fn(&Header) -> BTreeSet<PublicKey>, now: SystemTime) -> Vec<(PublicKey, Request)> {
        let (mut peers, mut voted) = (Vec::new(), None);
        while self.sources.asked() < self.askable() {
            let voted = voted.get_or_insert_with(|| voters(&self.compact.header));
            let Some(source) = self.sources.next(voted, now) else { break };
            source.ask(now);
            peers.push(source.peer.clone());
        }
        let request = Request::new(self.block, self.missing());
        peers.into_iter().map(|peer| (peer, request.clone())).collect()
    }

    /// When somebody else is to be asked, or the block is given up.
    fn due(&self) -> SystemTime {
        let is_short = self.sources.asked() < self.askable();
        self.sources.due(is_short).map_or(self.until, |due| due.min(self.until))
    }

    /// Takes what is missing out of an answer, of which it reads a part: to hash transactions takes longer than to send them. Who brings little of what is missing is
    /// of no use: it would have its place among those that are asked for as long as it likes.
    fn take(&mut self, peer: &PublicKey, transactions: Vec<Transaction>, now: SystemTime) {
        let mut missing: BTreeMap<Id, usize> = self.missing().map(|index| (self.compact.ids[index], index)).collect();
        let (mut read, mut new, is_empty) = (0usize, 0usize, transactions.is_empty());
        for transaction in transactions {
            let bytes = transaction.encode();
            read = read.saturating_add(bytes.len());
            if read > self.part {
                break;
            }
            // A copy: what was decoded from an answer holds all of it.
            let Ok(copy) = Transaction::decode(bytes) else { continue };
            let signed = SignedTransaction::unchecked(copy);
            if let Some(index) = missing.remove(&id_of(signed.transaction(), signed.digest())) {
                new = new.saturating_add(signed.size());
                self.found[index] = Some(signed);
            }
        }
        self.bytes = self.bytes.saturating_add(new);
        let brought = match (new >= USEFUL_BYTES || !self.is_short(), is_empty) {
            (true, _) => Brought::Much,
            (false, true) => Brought::Nothing,
            (false, false) => Brought::Little,
        };
        self.sources.answered(peer, brought, now);
    }

    /// The encoding of the block. `None` where something is missing, or the header commits to another body.
    fn completed(&self) -> Option<Vec<u8>> {
        let all = self.found.iter().map(|found| found.as_ref().map(|signed| signed.transaction().clone()));
        self.compact.with(all.collect::<Option<_>>()?)
    }

    /// Asks who sent the block for everything: what was found makes another body, so a mempool may have a transaction with the id of another one.
    fn begin_again(&mut self, now: SystemTime) {
        self.found.fill(None);
        (self.bytes, self.is_again) = (0, true);
        self.sources = Sources::new(vec![self.peer.clone()], now);
    }
}
