//! Bodies of blocks travel once ([decision 612](../../../../docs/decisions/0612-bodies-travel-once.md)).
//!
//! Most transactions of a block are in every validator's mempool before it is proposed ([`crate::gossip`]). So a proposer sends its header and sixteen bytes for
//! each transaction. The others take the transactions from their mempools, and ask the sender for those that they lack, and each other
//! ([decision 737](../../../../docs/decisions/0737-bodies-from-whoever-has-them.md)). To the engine this is a channel of blocks: it gives and gets them whole.
//!
//! What is made here is checked as a block that came whole is: its body is the one that the header commits to. A sender that names transactions which do not
//! make this body is asked for all of them, and is left after that. How much a node holds, asks and answers is bounded for each peer and block.

mod answers;
mod budget;
mod rebuild;
mod sources;
#[cfg(test)]
mod tests;
mod wire;

use crate::{account::Accounts, block::SealedBlock, chain::Chain, inbound, mempool::Mempool, pace::longest_view};
use answers::{Answers, Sent};
use budget::{OF_DRAW, budgets};
use bytes::Bytes;
use commonware_actor::{Feedback, Unreliable};
use commonware_codec::{DecodeExt as _, FixedSize as _, ReadExt as _};
use commonware_consensus::{
    BoundedBlock as _,
    types::{Epoch, Round, View},
};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_p2p::{self as p2p, CheckedSender, LimitedSender, Receiver, Recipients, Sender};
use commonware_runtime::{Clock, IoBuf, IoBufs, Spawner, Supervisor};
use commonware_utils::NZUsize;
use cowboy_chain::SignedTransaction;
use cowboy_types::{Block, Hash, block::Header};
use rebuild::{Next, Offer, Rebuilding, Worth};
use std::{
    collections::BTreeSet,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::sync::mpsc;
use wire::{ANSWER, Answer, COMPACT, Compact, Id, MAX_ANSWER_BYTES, REQUEST, Request, WHOLE, id_of, part_of, prefix_of};

/// The size in bytes up to which blocks are sent whole: they cost little, and nobody has to ask for anything.
pub const SMALL: usize = 16 * 1024;

/// The most bytes of a message. The largest are whole blocks.
pub(crate) fn max_payload_size() -> usize {
    1 + SealedBlock::max_encode_size(&()) + Hash::SIZE
}

/// Blocks on their way to the engine, which takes each at once.
const ON_THE_WAY: NonZeroUsize = NZUsize!(64);

/// How long the task sleeps where it waits for no answer.
const IDLE: Duration = Duration::from_secs(3_600);

/// Turns a channel of proposals into one of whole blocks, with a second channel for questions and answers about them. Blocks of up to `small` bytes are sent
/// whole.
pub(crate) fn start<E, S, R>(context: E, chain: Arc<Chain>, small: usize, [proposals, questions]: [(S, R); 2]) -> (Bodies<S>, Whole)
where
    E: Spawner + Supervisor + Clock,
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    let sent = Arc::new(Mutex::new(Sent::default()));
    let (blocks, whole) = mpsc::channel(ON_THE_WAY.get());
    let exchange = Exchange::new(chain, questions.0, sent.clone(), blocks);
    context.spawn(move |clock| exchange.run(clock, proposals.1, questions.1));
    (Bodies { inner: proposals.0, sent, small }, Whole(whole))
}

/// Sends blocks, compact where they are large.
#[derive(Clone)]
pub(crate) struct Bodies<S> {
    inner: S,
    sent: Arc<Mutex<Sent>>,
    small: usize,
}

impl<S: LimitedSender<PublicKey = PublicKey>> LimitedSender for Bodies<S> {
    type PublicKey = PublicKey;
    type Checked<'a> = CheckedBodies<'a, S::Checked<'a>>;

    fn check(&mut self, recipients: Recipients<PublicKey>) -> Result<Self::Checked<'_>, SystemTime> {
        Ok(CheckedBodies { inner: self.inner.check(recipients)?, sent: &self.sent, small: self.small })
    }
}

/// What [`Bodies`] sends through.
pub(crate) struct CheckedBodies<'a, C> {
    inner: C,
    sent: &'a Mutex<Sent>,
    small: usize,
}

impl<C: CheckedSender<PublicKey = PublicKey>> CheckedSender for CheckedBodies<'_, C> {
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        self.inner.recipients()
    }

    fn send(self, message: impl Into<IoBufs> + Send, priority: bool) -> Unreliable<Feedback> {
        let message: IoBufs = message.into();
        let bytes = Bytes::from(message.coalesce());
        let block = (bytes.len() > self.small).then(|| Block::decode(bytes.clone()).ok()).flatten();
        let message = match block {
            None => [&[WHOLE][..], &bytes].concat(),
            Some(block) => {
                let message = Compact::of(&block).encode();
                self.sent.lock().unwrap_or_else(PoisonError::into_inner).keep(block);
                message
            }
        };
        self.inner.send(message, priority)
    }
}

/// Receives blocks whole.
#[derive(Debug)]
pub(crate) struct Whole(mpsc::Receiver<p2p::Message<PublicKey>>);

/// The channel of blocks is closed.
#[derive(Debug, thiserror::Error)]
#[error("the channel of blocks is closed")]
pub(crate) struct Closed;

impl Receiver for Whole {
    type Error = Closed;
    type PublicKey = PublicKey;

    async fn recv(&mut self) -> Result<p2p::Message<PublicKey>, Closed> {
        self.0.recv().await.ok_or(Closed)
    }

    fn capacity(&self) -> NonZeroUsize {
        ON_THE_WAY
    }
}

/// What a node hears of blocks, and asks and answers about them.
struct Exchange<S> {
    chain: Arc<Chain>,
    /// This node; none where it has no keys.
    me: Option<PublicKey>,
    sender: S,
    rebuilding: Rebuilding,
    budgets: Accounts,
    answers: Answers,
    /// To the engine.
    blocks: mpsc::Sender<p2p::Message<PublicKey>>,
}

impl<S: Sender<PublicKey = PublicKey>> Exchange<S> {
    fn new(chain: Arc<Chain>, sender: S, sent: Arc<Mutex<Sent>>, blocks: mpsc::Sender<p2p::Message<PublicKey>>) -> Self {
        let me = chain.keys.as_ref().map(|keys| keys.network.public_key());
        let answers = Answers::new(me.as_ref(), sent);
        Self { chain, me, sender, rebuilding: Rebuilding::default(), budgets: budgets(), answers, blocks }
    }

    async fn run<R: Receiver<PublicKey = PublicKey>>(mut self, clock: impl Clock, mut proposals: R, mut questions: R) {
        let mut may_propose = inbound::proposers(self.chain.clone());
        loop {
            let due = self.rebuilding.due().unwrap_or_else(|| clock.current() + IDLE);
            let next = tokio::select! {
                biased;
                () = clock.sleep_until(due) => {
                    let head = self.chain.head.borrow().number;
                    let requests = self.rebuilding.overdue(head, &|header: &Header| voters(&self.chain, header), clock.current());
                    Some(Next::Ask(requests))
                }
                question = questions.recv() => {
                    let Ok((peer, message)) = question else { return };
                    self.take(&peer, message, clock.current())
                }
                proposal = proposals.recv() => {
                    let Ok((peer, message)) = proposal else { return };
                    self.begin(&peer, message, clock.current(), &mut may_propose)
                }
            };
            match next {
                Some(Next::Block(from, block)) => {
                    let handed_over = self.blocks.send((from, block.into())).await;
                    if handed_over.is_err() {
                        return;
                    }
                }
                Some(Next::Ask(requests)) => requests.into_iter().for_each(|(peer, request)| self.ask(peer, &request, clock.current())),
                None => {}
            }
        }
    }

    /// What follows from a proposal. It begins with the header, by which `may_propose` says whether the rest is decoded.
    fn begin(
        &mut self,
        peer: &PublicKey,
        message: IoBuf,
        now: SystemTime,
        may_propose: &mut impl FnMut(&PublicKey, &IoBuf) -> bool,
    ) -> Option<Next> {
        let mut rest = message;
        let kind = u8::read(&mut rest).ok()?;
        if !may_propose(peer, &rest) {
            return None;
        }
        let header = Header::read(&mut rest.clone()).ok()?;
        // What a leader signed is as much as it likes, and so is what it names as its draw. Nobody checks that where it is not known yet who signs.
        let is_checked = !self.chain.seeds.is_draw_seen(&header) && self.chain.committees.begun(header.context.epoch.0).is_some();
        let of_draw = if is_checked { OF_DRAW } else { 0 };
        if !self.budgets.take(peer, of_draw + rest.len() as u64, now) {
            return None;
        }
        let is_drawn = self.chain.is_leader_drawn(&header);
        match is_drawn {
            Some(false) => return None,
            Some(true) => self.budgets.refund(peer, of_draw),
            None => {}
        }
        match kind {
            WHOLE => Some(Next::Block(peer.clone(), rest.as_ref().to_vec())),
            COMPACT => {
                let compact = Compact::decode(Bytes::from(rest)).ok()?;
                let is_of_leader = peer.as_ref() == header.context.leader.0;
                let offer = Offer {
                    compact,
                    worth: Worth::of(&header, is_of_leader, is_drawn.is_some()),
                    sources: self.sources(peer, is_of_leader),
                    part: part_of(self.chain.committees.newest().committee.members().len()),
                    until: now + longest_view(self.chain.pace.gap()),
                };
                let chain = &self.chain;
                let find = |id: &Id| waiting(&chain.mempool, id);
                self.rebuilding.begin(peer.clone(), offer, find, &|header: &Header| voters(chain, header), now)
            }
            _ => None,
        }
    }

    /// Whom this node asks for transactions of a block that a peer sent: that peer, and where it leads the block, those who sign in the newest epoch, each node
    /// beginning with another one. Nobody where this node is no member: it would get no answer.
    fn sources(&self, from: &PublicKey, is_of_leader: bool) -> Vec<PublicKey> {
        let newest = self.chain.committees.newest();
        let Some(me) = self.me.as_ref().filter(|me| inbound::is_member(&newest, me)) else { return Vec::new() };
        let mut sources = vec![from.clone()];
        if is_of_leader {
            let members = newest.committee.members();
            let (before, after) = members.split_at(members.partition_point(|member| member.network <= *me));
            let others = after.iter().chain(before).map(|member| &member.network);
            sources.extend(others.filter(|other| *other != me && *other != from).cloned());
        }
        sources
    }

    /// What follows from a question, or from an answer.
    fn take(&mut self, peer: &PublicKey, message: IoBuf, now: SystemTime) -> Option<Next> {
        let mut rest = message;
        match u8::read(&mut rest).ok()? {
            REQUEST => {
                // Whoever votes neither in this epoch nor in the next needs no body before its block is final, and takes no part of what voters share.
                let newest = self.chain.committees.newest();
                if !inbound::is_member(&newest, peer) {
                    return None;
                }
                let (request, most) = (Request::decode(Bytes::from(rest)).ok()?, part_of(newest.committee.members().len()));
                self.answers.answer(&mut self.sender, peer, &request, &self.rebuilding, most, now);
                None
            }
            ANSWER => {
                let block = Hash::read(&mut rest.clone()).ok()?;
                // What nobody asked for is not decoded, and nothing that is longer than any answer.
                if !self.rebuilding.is_asked(peer, &block) {
                    return None;
                }
                let answer =
                    Some(rest).filter(|rest| rest.len() < MAX_ANSWER_BYTES).and_then(|rest| Answer::decode(Bytes::from(rest)).ok());
                let transactions = answer.map(|answer| answer.transactions.into_vec()).unwrap_or_default();
                self.rebuilding.answered(peer, &block, transactions, &|header: &Header| voters(&self.chain, header), now)
            }
            _ => None,
        }
    }

    /// Asks a peer, if the channel takes the question.
    fn ask(&mut self, peer: PublicKey, request: &Request, now: SystemTime) {
        if self.sender.send(Recipients::One(peer.clone()), request.encode(), true).is_empty() {
            self.rebuilding.unasked(&peer, &request.block, now);
        }
    }
}

/// Who has voted for the block of a header's round, as far as this node has seen: they have the whole block.
fn voters(chain: &Chain, header: &Header) -> BTreeSet<PublicKey> {
    let context = &header.context;
    let Some(term) = chain.committees.begun(context.epoch.0) else { return BTreeSet::new() };
    let seen = chain.seeds.voters(Round::new(Epoch::new(context.epoch.0), View::new(context.view.0)));
    let has_voted = |place: usize| seen.get(place / 8).is_some_and(|bits| bits >> (place % 8) & 1 == 1);
    let members = term.committee.members().iter().enumerate().filter(|(place, _)| has_voted(*place));
    members.map(|(_, member)| member.network.clone()).collect()
}

/// The transaction of the mempool that an id stands for.
fn waiting(mempool: &Mempool, id: &Id) -> Option<SignedTransaction> {
    mempool.with_prefix(prefix_of(id)).into_iter().find(|signed| id_of(signed.transaction(), signed.digest()) == *id)
}
