//! What this node answers to those who ask for transactions of a block.

use super::{
    rebuild::Rebuilding,
    wire::{Answer, MAX_ANSWER_BYTES, Request},
};
use crate::serving::{OF_BODIES, Served};
use bytes::Bytes;
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Recipients, Sender};
use cowboy_types::{Block, Hash};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::SystemTime,
};

/// Blocks of this node whose transactions others may ask for.
pub(super) const MAX_SENT: usize = 4;

/// The newest blocks that this node sent compact.
#[derive(Debug, Default)]
pub(super) struct Sent(VecDeque<(Hash, Block)>);

impl Sent {
    pub(super) fn keep(&mut self, block: Block) {
        let digest = block.digest();
        if self.0.iter().any(|(sent, _)| *sent == digest) {
            return;
        }
        self.0.push_back((digest, block));
        if self.0.len() > MAX_SENT {
            self.0.pop_front();
        }
    }

    /// An answer to who asks for transactions of a block: see [`Answer::of`]. `None` where it was not sent.
    pub(super) fn answer(&self, request: &Request, first: u8, most: usize) -> Option<Answer> {
        let (_, block) = self.0.iter().find(|(sent, _)| *sent == request.block)?;
        Answer::of(request, first, most, |index| block.transactions.get(index))
    }
}

/// Answers to peers.
pub(super) struct Answers {
    /// What the key of this node begins with.
    own: u8,
    sent: Arc<Mutex<Sent>>,
    pub(super) served: Served,
    /// What waits for each peer until its connection takes it.
    waiting: BTreeMap<PublicKey, Weak<Vec<u8>>>,
}

impl Answers {
    pub(super) fn new(me: Option<&PublicKey>, sent: Arc<Mutex<Sent>>) -> Self {
        let mut limits = OF_BODIES;
        // It is what a request counts until it is answered, which is before the next one. What waits is counted as it is: parts, of which a third of the largest
        // set that takes nothing leaves half of the room to others.
        limits.largest = MAX_ANSWER_BYTES as u64;
        Self { own: me.map_or(0, first_byte), sent, served: Served::new(limits), waiting: BTreeMap::new() }
    }

    /// Answers a request with `most` bytes of transactions at most, also where there is nothing for it, or no more may wait: its sender asks another peer then, at
    /// once. Nothing is sent to a peer that has had its messages of this second.
    pub(super) fn answer<S>(
        &mut self,
        sender: &mut S,
        peer: &PublicKey,
        request: &Request,
        rebuilding: &Rebuilding,
        most: usize,
        now: SystemTime,
    ) where
        S: Sender<PublicKey = PublicKey>,
    {
        let nothing = Answer::nothing(request.block).encode();
        if !self.is_waiting(peer) && self.served.admits(peer, now) {
            match self.transactions(peer, request, rebuilding, most) {
                Some(answer) => {
                    let answer = self.wait(peer, answer.encode());
                    let checked = sender.check(Recipients::One(peer.clone())).ok();
                    self.served.send(peer, checked, (answer, nothing), true);
                    return;
                }
                None => self.served.unanswered(peer),
            }
        }
        sender.send(Recipients::One(peer.clone()), nothing, true);
    }

    /// What there is for a peer. Two nodes give a peer different transactions, and a node gives two peers different ones: so they have some for each other.
    fn transactions(&self, peer: &PublicKey, request: &Request, rebuilding: &Rebuilding, most: usize) -> Option<Answer> {
        let first = self.own.wrapping_add(first_byte(peer));
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner).answer(request, first, most);
        sent.or_else(|| rebuilding.answer(request, first, most))
    }

    /// Whether the connection of a peer has not taken the answer before.
    fn is_waiting(&self, peer: &PublicKey) -> bool {
        self.waiting.get(peer).is_some_and(|answer| answer.strong_count() > 0)
    }

    /// An answer that waits from now on until it is dropped.
    fn wait(&mut self, peer: &PublicKey, answer: Vec<u8>) -> Bytes {
        let answer = Arc::new(answer);
        self.waiting.retain(|_, other| other.strong_count() > 0);
        self.waiting.insert(peer.clone(), Arc::downgrade(&answer));
        Bytes::from_owner(Waiting(answer))
    }
}

/// The first byte of a key.
fn first_byte(key: &PublicKey) -> u8 {
    key.first().copied().unwrap_or_default()
}

/// An answer that waits.
struct Waiting(Arc<Vec<u8>>);

impl AsRef<[u8]> for Waiting {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
