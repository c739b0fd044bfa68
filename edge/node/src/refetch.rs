//! Damaged blocks of the ledger are fetched again from peers.
//!
//! A read that meets a damaged row notes the block as missing, and so does the list of blocks that a repair could not save. One at a
//! time they are asked for, the newest first, of one validator after another. What comes is checked against the header, and the header
//! against a certificate, the next block or this node's own index: nobody is trusted.

use crate::{certificate::is_certificate, chain::Chain};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_p2p::{Receiver, Recipients, Sender};
use commonware_runtime::{Clock, Spawner, Supervisor};
use cowboy_store::{BlockCopy, StoreError};
use cowboy_types::Hash;
use rand_core::CryptoRng;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::sync::mpsc;

/// How often it is looked what is missing, and how long a peer has for each part.
const TICK: Duration = Duration::from_secs(1);

/// The most bytes of a copy in one message.
pub const MAX_PART_BYTES: usize = 512 * 1024;

/// The most bytes of a copy: a block's body at its largest, and its receipts.
pub const MAX_COPY_BYTES: usize = 64 * 1024 * 1024;

/// The most requests of other validators that wait for their answers.
const MAX_REQUESTS: usize = 64;

/// Blocks that are read for one peer in a second. A request has 17 bytes, and a block is read whole for it.
const MAX_READS: u32 = 4;

/// Copies that are kept for their next parts, as long as they have no more bytes together than the largest.
const MAX_SERVED: usize = 4;

const REQUEST: u8 = 0;
const PART: u8 = 1;

/// A message of two nodes about one block.
#[derive(Debug, PartialEq, Eq)]
enum Message<'a> {
    /// Asks for the bytes of a block's copy from here on.
    Request { number: u64, offset: u64 },
    /// Some of them, and how many there are in all; none in all where the sender has no copy.
    Part { number: u64, offset: u64, total: u64, bytes: &'a [u8] },
}

impl<'a> Message<'a> {
    fn encode(&self) -> Vec<u8> {
        match self {
            Self::Request { number, offset } => [[REQUEST].as_slice(), &number.to_be_bytes(), &offset.to_be_bytes()].concat(),
            Self::Part { number, offset, total, bytes } => {
                [[PART].as_slice(), &number.to_be_bytes(), &offset.to_be_bytes(), &total.to_be_bytes(), bytes].concat()
            }
        }
    }

    fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let (offset, rest) = rest.split_first_chunk::<8>()?;
        let (number, offset) = (u64::from_be_bytes(*number), u64::from_be_bytes(*offset));
        match *kind {
            REQUEST if rest.is_empty() => Some(Self::Request { number, offset }),
            PART => {
                let (total, bytes) = rest.split_first_chunk::<8>()?;
                Some(Self::Part { number, offset, total: u64::from_be_bytes(*total), bytes })
            }
            _ => None,
        }
    }
}

impl Chain {
    /// The copy of a final block that another node may ask for; `None` where this node has not got all of it.
    pub fn copy_of(&self, number: u64) -> Option<Vec<u8>> {
        let copy = self.ledger.view().and_then(|view| view.copy(number));
        copy.unwrap_or_else(|error| {
            tracing::warn!(%error, "a block of the ledger cannot be served to other nodes");
            None
        })
        .map(|copy| copy.encode())
    }

    /// Takes a copy of a block that is missing here. False, and nothing changes, where it is not that block as the validators made it.
    pub fn take_copy(&self, number: u64, bytes: &[u8], random: &mut impl CryptoRng) -> Result<bool, StoreError> {
        let Some(copy) = BlockCopy::decode(bytes).filter(|copy| copy.block.header.number.0 == number) else { return Ok(false) };
        let digest = copy.block.digest();
        let is_certified = copy.certificate.as_ref().map(|certificate| is_certificate(random, &self.verifier, &digest, certificate));
        let is_final = match is_certified {
            Some(is_certified) => is_certified,
            None => self.is_known(number, &digest),
        };
        if is_final {
            self.ledger.restore(copy)?;
        }
        Ok(is_final)
    }

    /// Whether the next block follows this one, or the ledger's index has it here.
    fn is_known(&self, number: u64, digest: &Hash) -> bool {
        let Ok(view) = self.ledger.view() else { return false };
        let is_parent = matches!(view.block(number.saturating_add(1)), Ok(Some(next)) if next.header.parent == *digest);
        is_parent || matches!(view.number_of(digest), Ok(Some(found)) if found == number)
    }
}

/// Serves copies to the other validators, and asks them for what is missing here.
pub fn start<E: Spawner + Supervisor + Clock + CryptoRng>(
    context: E,
    chain: Arc<Chain>,
    channel: (impl Sender<PublicKey = PublicKey>, impl Receiver<PublicKey = PublicKey>),
) {
    let Some(keys) = &chain.keys else { return };
    let me = keys.network.public_key();
    let (sender, receiver) = channel;
    let (requests, requested) = mpsc::channel(MAX_REQUESTS);
    let server = Server { chain: chain.clone(), sender: sender.clone(), served: VecDeque::new() };
    context.child("serve").spawn(move |context| server.run(context, requested));
    let exchange = Exchange { chain, sender, me, requests, asked: 0, fetch: None, askers: Askers::default() };
    context.spawn(move |context| exchange.run(context, receiver));
}

/// A copy on its way.
struct Fetch {
    number: u64,
    peer: PublicKey,
    bytes: Vec<u8>,
    /// Whether something came since the last tick.
    is_alive: bool,
}

/// What another validator asks for.
struct Request {
    peer: PublicKey,
    number: u64,
    offset: u64,
}

/// Serves copies of this node's blocks, one request after another, so that what comes for this node waits for none of them.
struct Server<S> {
    chain: Arc<Chain>,
    sender: S,
    /// The copies that were asked for last, with their numbers: their parts are asked for one after another.
    served: VecDeque<(u64, Vec<u8>)>,
}

impl<S: Sender<PublicKey = PublicKey>> Server<S> {
    async fn run<E: Spawner + Supervisor>(mut self, context: E, mut requests: mpsc::Receiver<Request>) {
        while let Some(request) = requests.recv().await {
            if self.served.iter().all(|(served, _)| *served != request.number)
                && let Some(copy) = self.read(&context, request.number).await
            {
                self.keep(request.number, copy);
            }
            self.serve(request);
        }
    }

    /// Reads and encodes a copy where it holds up nothing else.
    async fn read<E: Spawner + Supervisor>(&self, context: &E, number: u64) -> Option<Vec<u8>> {
        let chain = self.chain.clone();
        let copy = context.child("copy").shared(true).spawn(move |_| async move { chain.copy_of(number) }).await;
        copy.ok().flatten()
    }

    /// Keeps a copy for its next parts, in the place of the oldest where there are too many.
    fn keep(&mut self, number: u64, copy: Vec<u8>) {
        self.served.push_back((number, copy));
        while self.served.len() > 1
            && (self.served.len() > MAX_SERVED || self.served.iter().map(|(_, copy)| copy.len()).sum::<usize>() > MAX_COPY_BYTES)
        {
            self.served.pop_front();
        }
    }

    /// Sends the part that is asked for, out of the copy that was read.
    fn serve(&mut self, Request { peer, number, offset }: Request) {
        let copy = self.served.iter().find(|(served, _)| *served == number).map_or([].as_slice(), |(_, copy)| copy);
        let rest = usize::try_from(offset).ok().and_then(|offset| copy.get(offset..)).unwrap_or_default();
        let bytes = &rest[..rest.len().min(MAX_PART_BYTES)];
        let part = Message::Part { number, offset, total: wide(copy.len()), bytes }.encode();
        if bytes.len() == rest.len() {
            // That was its end, and nobody asks for more of it soon.
            self.served.retain(|(served, _)| *served != number);
        }
        self.sender.send(Recipients::One(peer), part, false);
    }
}

/// For how many blocks each peer asked in the second that began last.
#[derive(Debug, Default)]
struct Askers(BTreeMap<PublicKey, Asker>);

#[derive(Debug)]
struct Asker {
    began: SystemTime,
    /// The block it asked for last.
    number: u64,
    reads: u32,
}

impl Askers {
    /// Whether a peer's request for a part of a block is served: parts of one block are, and further blocks up to the limit.
    fn admits(&mut self, peer: &PublicKey, number: u64, now: SystemTime) -> bool {
        let asker = self.0.entry(peer.clone()).or_insert(Asker { began: now, number, reads: 1 });
        if now.duration_since(asker.began).is_ok_and(|passed| passed >= TICK) {
            // A block that it went on asking for may have to be read again.
            *asker = Asker { began: now, number, reads: 1 };
        } else if asker.number != number {
            (asker.number, asker.reads) = (number, asker.reads.saturating_add(1));
        }
        asker.reads <= MAX_READS
    }
}

struct Exchange<S> {
    chain: Arc<Chain>,
    sender: S,
    me: PublicKey,
    /// How often a copy was asked for: says which peer and which of the missing blocks is next.
    asked: usize,
    fetch: Option<Fetch>,
    /// To the task that serves copies.
    requests: mpsc::Sender<Request>,
    askers: Askers,
}

impl<S: Sender<PublicKey = PublicKey>> Exchange<S> {
    async fn run<E: Clock + CryptoRng>(mut self, mut context: E, mut receiver: impl Receiver<PublicKey = PublicKey>) {
        let mut next = context.current() + TICK;
        loop {
            tokio::select! {
                biased;
                () = context.sleep_until(next) => {
                    next = context.current() + TICK;
                    self.look();
                }
                received = receiver.recv() => {
                    let Ok((peer, message)) = received else { return };
                    let bytes: bytes::Bytes = message.into();
                    match Message::decode(&bytes) {
                        Some(Message::Request { number, offset }) => self.admit(Request { peer, number, offset }, context.current()),
                        Some(Message::Part { number, offset, total, bytes }) => self.take(&mut context, &peer, (number, offset, total), bytes),
                        None => {}
                    }
                }
            }
        }
    }

    /// Has a request served, or leaves it: who is not answered asks another validator.
    fn admit(&mut self, request: Request, now: SystemTime) {
        if self.askers.admits(&request.peer, request.number, now) {
            drop(self.requests.try_send(request));
        }
    }

    /// Asks for what is missing, unless a copy is on its way. A peer that is silent is left, and another one asked.
    fn look(&mut self) {
        if let Some(fetch) = &mut self.fetch
            && std::mem::take(&mut fetch.is_alive)
        {
            return;
        }
        self.fetch = None;
        let missing = self.chain.ledger.missing().unwrap_or_else(|error| {
            tracing::warn!(%error, "it is not known what is missing in the ledger");
            Vec::new()
        });
        let signers = self.chain.term().committee.network_keys();
        let peers: Vec<PublicKey> = signers.into_iter().filter(|key| *key != self.me).collect();
        if missing.is_empty() || peers.is_empty() {
            return;
        }
        // Every peer is asked for a block before the next one is asked for: the newest first, which the others may be proven by.
        let turn = self.asked / peers.len();
        let number = missing[missing.len() - 1 - turn % missing.len()];
        let peer = peers[self.asked % peers.len()].clone();
        self.asked = self.asked.wrapping_add(1);
        self.ask(&peer, number, 0);
        self.fetch = Some(Fetch { number, peer, bytes: Vec::new(), is_alive: true });
    }

    fn ask(&mut self, peer: &PublicKey, number: u64, offset: usize) {
        let request = Message::Request { number, offset: wide(offset) };
        self.sender.send(Recipients::One(peer.clone()), request.encode(), false);
    }

    fn take(&mut self, random: &mut impl CryptoRng, peer: &PublicKey, (number, offset, total): (u64, u64, u64), bytes: &[u8]) {
        let Some(fetch) = &mut self.fetch else { return };
        if fetch.number != number || fetch.peer != *peer || wide(fetch.bytes.len()) != offset {
            return;
        }
        fetch.is_alive = true;
        fetch.bytes.extend_from_slice(bytes);
        let (length, total) = (fetch.bytes.len(), usize::try_from(total).unwrap_or(usize::MAX));
        if length < total && total <= MAX_COPY_BYTES && !bytes.is_empty() {
            return self.ask(peer, number, length);
        }
        let fetched = self.fetch.take().map(|fetch| fetch.bytes).unwrap_or_default();
        match self.chain.take_copy(number, &fetched, random) {
            Ok(true) => {
                tracing::info!(number, "a damaged block of the ledger was fetched again from a peer");
                self.asked = 0;
                self.look();
            }
            Ok(false) => tracing::debug!(number, %peer, "a peer has no good copy of a block"),
            Err(error) => tracing::warn!(number, %error, "a block that was fetched again cannot be kept"),
        }
    }
}

fn wide(bytes: usize) -> u64 {
    u64::try_from(bytes).expect("there are no larger machines")
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::ed25519::PrivateKey;

    /// Parts of one block come as fast as they are asked for; a peer that asks for one block after another has few of them read in a second.
    #[test]
    fn a_peer_has_few_blocks_read() {
        let [one, other] = [1, 2].map(|seed| PrivateKey::from_seed(seed).public_key());
        let (start, mut askers) = (SystemTime::UNIX_EPOCH, Askers::default());
        assert!((0..100).all(|_| askers.admits(&one, 7, start)), "parts of one block");
        let read = (0..100).filter(|turn| askers.admits(&one, turn % 2, start)).count();
        assert_eq!(read, 3, "the fifth block of the second, and all behind it, are not read");
        assert!(askers.admits(&other, 7, start));
        assert!(askers.admits(&one, 9, start + TICK));
    }

    #[test]
    fn messages_come_out_as_they_went_in() {
        let messages = [Message::Request { number: 7, offset: 9 }, Message::Part { number: 7, offset: 9, total: 12, bytes: &[1, 2, 3] }];
        for message in messages {
            let bytes = message.encode();
            assert_eq!(Message::decode(&bytes), Some(message));
            assert!((0..17).all(|length| Message::decode(&bytes[..length]).is_none()), "cut off");
        }
        assert_eq!(Message::decode(&[2; 40]), None);
    }
}
