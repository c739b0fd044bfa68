//! Bodies of blocks travel once ([decision 612](../../../../docs/decisions/0612-bodies-travel-once.md)).
//!
//! Most transactions of a block are in every validator's mempool before it is proposed ([`crate::gossip`]). So a proposer sends its header and sixteen bytes for
//! each transaction. The others take the transactions from their mempools, and ask the sender for those that they lack. To the engine this is a channel of
//! blocks: it gives and gets them whole.
//!
//! What is made here is checked as a block that came whole is: its body is the one that the header commits to. A sender that names transactions which do not
//! make this body is asked for all of them, and is left after that. How much a node holds, asks and answers is bounded for each peer and block.

mod budget;
mod rebuild;
#[cfg(test)]
mod tests;
mod wire;

use crate::{
    account::Accounts,
    block::SealedBlock,
    chain::Chain,
    inbound,
    mempool::Mempool,
    serving::{OF_BODIES, Served},
};
use budget::budgets;
use bytes::Bytes;
use commonware_actor::{Feedback, Unreliable};
use commonware_codec::{DecodeExt as _, FixedSize as _, ReadExt as _};
use commonware_consensus::BoundedBlock as _;
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{self as p2p, CheckedSender, LimitedSender, Receiver, Recipients, Sender};
use commonware_runtime::{Clock, IoBuf, IoBufs, Spawner, Supervisor};
use commonware_utils::NZUsize;
use cowboy_chain::SignedTransaction;
use cowboy_types::{Block, Hash};
use rebuild::{Next, Rebuilding};
use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::sync::mpsc;
use wire::{ANSWER, Answer, COMPACT, Compact, Id, REQUEST, Request, WHOLE, id_of, prefix_of};

/// The size in bytes up to which blocks are sent whole: they cost little, and nobody has to ask for anything.
pub const SMALL: usize = 16 * 1024;

/// The most bytes of a message. The largest are whole blocks and answers with all transactions of one.
pub(crate) fn max_payload_size() -> usize {
    1 + SealedBlock::max_encode_size(&()) + Hash::SIZE
}

/// Blocks of this node whose transactions others may ask for.
const MAX_SENT: usize = 4;

/// How often a peer is answered about one block: with what it lacked, and with everything.
const MAX_ANSWERS: u32 = 2;

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
    let (rebuilding, budgets, served) = (Rebuilding::default(), budgets(), Served::new(OF_BODIES));
    let exchange = Exchange { chain, sender: questions.0, sent: sent.clone(), rebuilding, budgets, served, blocks };
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

/// The newest blocks that this node sent compact.
#[derive(Debug, Default)]
struct Sent(VecDeque<SentBlock>);

#[derive(Debug)]
struct SentBlock {
    digest: Hash,
    block: Block,
    /// How often each peer was answered.
    answered: BTreeMap<PublicKey, u32>,
}

impl Sent {
    fn keep(&mut self, block: Block) {
        let digest = block.digest();
        if self.0.iter().any(|sent| sent.digest == digest) {
            return;
        }
        self.0.push_back(SentBlock { digest, block, answered: BTreeMap::new() });
        if self.0.len() > MAX_SENT {
            self.0.pop_front();
        }
    }

    /// The message with the transactions that a peer asks for; `None` where it has had its answers, or asks for what was not sent.
    fn answer(&mut self, peer: &PublicKey, request: &Request) -> Option<Vec<u8>> {
        let sent = self.0.iter_mut().find(|sent| sent.digest == request.block)?;
        let answered = sent.answered.entry(peer.clone()).or_default();
        if *answered >= MAX_ANSWERS {
            return None;
        }
        *answered += 1;
        Some(Answer::of(&sent.block, request).encode())
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
    sender: S,
    sent: Arc<Mutex<Sent>>,
    rebuilding: Rebuilding,
    budgets: Accounts,
    served: Served,
    /// To the engine.
    blocks: mpsc::Sender<p2p::Message<PublicKey>>,
}

impl<S: Sender<PublicKey = PublicKey>> Exchange<S> {
    async fn run<R: Receiver<PublicKey = PublicKey>>(mut self, clock: impl Clock, mut proposals: R, mut questions: R) {
        let mut may_propose = inbound::proposers(self.chain.clone());
        loop {
            let due = self.rebuilding.due().unwrap_or_else(|| clock.current() + IDLE);
            let (peer, next) = tokio::select! {
                biased;
                () = clock.sleep_until(due) => {
                    for (peer, request) in self.rebuilding.overdue(clock.current()) {
                        self.ask(peer, &request);
                    }
                    continue;
                }
                question = questions.recv() => {
                    let Ok((peer, message)) = question else { return };
                    let next = self.take(&peer, message, clock.current());
                    (peer, next)
                }
                proposal = proposals.recv() => {
                    let Ok((peer, message)) = proposal else { return };
                    let next = self.begin(&peer, message, clock.current(), &mut may_propose);
                    (peer, next)
                }
            };
            match next {
                Some(Next::Block(block)) => {
                    let handed_over = self.blocks.send((peer, block.into())).await;
                    if handed_over.is_err() {
                        return;
                    }
                }
                Some(Next::Ask(request)) => self.ask(peer, &request),
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
        // What a leader signed is as much as it likes.
        if !may_propose(peer, &rest) || !self.budgets.take(peer, rest.len() as u64, now) {
            return None;
        }
        match kind {
            WHOLE => Some(Next::Block(rest.as_ref().to_vec())),
            COMPACT => {
                let compact = Compact::decode(Bytes::from(rest)).ok()?;
                let mempool = &self.chain.mempool;
                self.rebuilding.begin(peer.clone(), compact, |id| waiting(mempool, id), now)
            }
            _ => None,
        }
    }

    /// What follows from a question, or from an answer.
    fn take(&mut self, peer: &PublicKey, message: IoBuf, now: SystemTime) -> Option<Next> {
        let mut rest = message;
        match u8::read(&mut rest).ok()? {
            REQUEST => {
                // Whoever votes neither in this epoch nor in the next needs no body before its block is final, and takes no part of what voters share.
                if !inbound::is_member(&self.chain.committees.newest(), peer) {
                    return None;
                }
                let request = Request::decode(Bytes::from(rest)).ok()?;
                // What waits for a peer that takes nothing is bounded: it gets the block another way, once it is final.
                if !self.served.admits(peer, now) {
                    return None;
                }
                let answer = self.sent.lock().unwrap_or_else(PoisonError::into_inner).answer(peer, &request);
                match answer {
                    Some(answer) => {
                        let checked = self.sender.check(Recipients::One(peer.clone())).ok();
                        self.served.send(peer, checked, answer, true);
                    }
                    None => self.served.unanswered(peer),
                }
                None
            }
            ANSWER => {
                let block = Hash::read(&mut rest.clone()).ok()?;
                // What nobody asked for is not decoded.
                let asked = self.rebuilding.asked(peer, &block)?;
                match Answer::decode(Bytes::from(rest)) {
                    Ok(answer) => asked.answered(answer.transactions.into_vec(), now),
                    Err(_) => asked.answered(Vec::new(), now),
                }
            }
            _ => None,
        }
    }

    fn ask(&mut self, peer: PublicKey, request: &Request) {
        self.sender.send(Recipients::One(peer), request.encode(), true);
    }
}

/// The transaction of the mempool that an id stands for.
fn waiting(mempool: &Mempool, id: &Id) -> Option<SignedTransaction> {
    mempool.with_prefix(prefix_of(id)).into_iter().find(|signed| id_of(signed.transaction(), signed.digest()) == *id)
}
