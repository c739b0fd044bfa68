//! Damaged blocks of the ledger are fetched again from peers.
//!
//! A read that meets a damaged row notes the block as missing, and so does the list of blocks that a repair could not save. One at a
//! time they are asked for, the newest first, of one validator after another. What comes is checked against the header, and the header
//! against a certificate, the next block or this node's own index: nobody is trusted. Whoever has no copy, or gives none now, says so, and another one is asked
//! at once ([decision 753](../../../docs/decisions/0753-busy-is-an-answer.md)).

mod server;

use crate::{certificate::is_certificate, chain::Chain};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_p2p::{Receiver, Recipients, Sender};
use commonware_runtime::{Clock, Spawner, Supervisor};
use cowboy_store::{BlockCopy, StoreError};
use cowboy_types::Hash;
use rand_core::CryptoRng;
use server::{Request, Server};
use std::{sync::Arc, time::Duration};
use tokio::sync::mpsc;

/// How often it is looked what is missing, and how long a peer has for each part.
const TICK: Duration = Duration::from_secs(1);

/// The most bytes of a copy in one message.
pub const MAX_PART_BYTES: usize = 512 * 1024;

/// The most bytes of a copy: a block's body at its largest, and its receipts.
pub const MAX_COPY_BYTES: usize = 64 * 1024 * 1024;

/// The most requests of other validators that wait for their answers.
const MAX_REQUESTS: usize = 64;

const REQUEST: u8 = 0;
const PART: u8 = 1;
const BUSY: u8 = 2;

/// A message of two nodes about one block.
#[derive(Debug, PartialEq, Eq)]
enum Message<'a> {
    /// Asks for the bytes of a block's copy from here on.
    Request { number: u64, offset: u64 },
    /// Some of them, and how many there are in all; none in all where the sender has no copy.
    Part { number: u64, offset: u64, total: u64, bytes: &'a [u8] },
    /// The answer to a request of which no part is sent now: its sender is to ask another peer.
    Busy { number: u64, offset: u64 },
}

impl<'a> Message<'a> {
    fn encode(&self) -> Vec<u8> {
        match self {
            Self::Request { number, offset } => [[REQUEST].as_slice(), &number.to_be_bytes(), &offset.to_be_bytes()].concat(),
            Self::Busy { number, offset } => [[BUSY].as_slice(), &number.to_be_bytes(), &offset.to_be_bytes()].concat(),
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
            BUSY if rest.is_empty() => Some(Self::Busy { number, offset }),
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
    let server = Server::new(chain.clone(), sender.clone());
    context.child("serve").spawn(move |context| server.run(context, requested));
    let exchange = Exchange { chain, sender, me, requests, order: Order::default(), fetch: None, missing: Vec::new(), refused: 0 };
    context.spawn(move |context| exchange.run(context, receiver));
}

/// A copy on its way.
struct Fetch {
    number: u64,
    peer: PublicKey,
    bytes: Vec<u8>,
    /// Whether something came since the last tick.
    is_alive: bool,
    /// Whether the next part was asked for a second time.
    is_repeated: bool,
}

/// Which of the missing blocks is asked for next, and whom.
#[derive(Debug, Default)]
struct Order {
    /// How often a copy was asked for since one came.
    asked: usize,
    /// How many copies came.
    came: usize,
}

impl Order {
    /// The places of the peer among `peers`, and of the block among `missing`, of which the last comes first. Every peer is asked for a block before the next
    /// one is asked for.
    fn next(&mut self, peers: usize, missing: usize) -> (usize, usize) {
        let (peer, block) = (self.asked.wrapping_add(self.came) % peers, missing - 1 - (self.asked / peers) % missing);
        self.asked = self.asked.wrapping_add(1);
        (peer, block)
    }

    /// A copy came. The next block is asked of another peer: each reads few blocks in a second.
    fn came(&mut self) {
        (self.asked, self.came) = (0, self.came.wrapping_add(1));
    }
}

struct Exchange<S> {
    chain: Arc<Chain>,
    sender: S,
    me: PublicKey,
    order: Order,
    fetch: Option<Fetch>,
    /// The blocks that were missing when it was looked last.
    missing: Vec<u64>,
    /// How many peers had no copy since the last tick, or were busy.
    refused: usize,
    /// To the task that serves copies.
    requests: mpsc::Sender<Request>,
}

impl<S: Sender<PublicKey = PublicKey>> Exchange<S> {
    async fn run<E: Clock + CryptoRng>(mut self, mut context: E, mut receiver: impl Receiver<PublicKey = PublicKey>) {
        let mut next = context.current() + TICK;
        loop {
            tokio::select! {
                biased;
                () = context.sleep_until(next) => {
                    next = context.current() + TICK;
                    self.refused = 0;
                    self.look();
                }
                received = receiver.recv() => {
                    let Ok((peer, message)) = received else { return };
                    let bytes: bytes::Bytes = message.into();
                    match Message::decode(&bytes) {
                        Some(Message::Request { number, offset }) => self.requested(peer, number, offset),
                        Some(Message::Busy { number, offset }) => self.busy(&peer, (number, offset)),
                        Some(Message::Part { number, offset, total, bytes }) => self.take(&mut context, &peer, (number, offset, total), bytes),
                        None => {}
                    }
                }
            }
        }
    }

    /// Asks for what is missing, unless a copy is on its way. A peer that is silent is left, and another one asked.
    fn look(&mut self) {
        if let Some(fetch) = &mut self.fetch {
            if std::mem::take(&mut fetch.is_alive) {
                return;
            }
            // The channel takes some messages a second, and drops more: a request for a later part may have been one too many, or its answer.
            if !fetch.bytes.is_empty() && !std::mem::replace(&mut fetch.is_repeated, true) {
                let (peer, number, offset) = (fetch.peer.clone(), fetch.number, fetch.bytes.len());
                return self.ask(&peer, number, offset);
            }
        }
        self.missing = self.chain.ledger.missing().unwrap_or_else(|error| {
            tracing::warn!(%error, "it is not known what is missing in the ledger");
            Vec::new()
        });
        self.begin();
    }

    /// Asks the next peer for the next block that is missing.
    fn begin(&mut self) {
        self.fetch = None;
        let peers = self.peers();
        if self.missing.is_empty() || peers.is_empty() {
            return;
        }
        // The newest first, which the others may be proven by.
        let (peer, block) = self.order.next(peers.len(), self.missing.len());
        let (peer, number) = (peers[peer].clone(), self.missing[block]);
        self.ask(&peer, number, 0);
        self.fetch = Some(Fetch { number, peer, bytes: Vec::new(), is_alive: true, is_repeated: false });
    }

    /// Whom this node may ask: the other signers.
    fn peers(&self) -> Vec<PublicKey> {
        self.chain.term().committee.network_keys().into_iter().filter(|key| *key != self.me).collect()
    }

    /// The peer that was asked has no copy, or gives none now: the next one is asked at once, and after all of them nobody before the next tick.
    fn refused(&mut self) {
        self.fetch = None;
        self.refused = self.refused.saturating_add(1);
        if self.refused < self.peers().len() {
            self.begin();
        }
    }

    /// Hands a request over to the task that serves copies. Where too many wait, this node is busy.
    fn requested(&mut self, peer: PublicKey, number: u64, offset: u64) {
        if self.requests.try_send(Request { peer: peer.clone(), number, offset }).is_err() {
            self.sender.send(Recipients::One(peer), Message::Busy { number, offset }.encode(), false);
        }
    }

    /// A peer is busy. One that has given a part of the copy has more room soon: it is asked for the next part once more at the next tick.
    fn busy(&mut self, peer: &PublicKey, (number, offset): (u64, u64)) {
        let is_first = |fetch: &Fetch| fetch.number == number && fetch.peer == *peer && fetch.bytes.is_empty() && offset == 0;
        if self.fetch.as_ref().is_some_and(is_first) {
            self.refused();
        }
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
        (fetch.is_alive, fetch.is_repeated) = (true, false);
        fetch.bytes.extend_from_slice(bytes);
        let (length, total) = (fetch.bytes.len(), usize::try_from(total).unwrap_or(usize::MAX));
        if has_more(length, total, bytes.len()) {
            return self.ask(peer, number, length);
        }
        let fetched = self.fetch.take().map(|fetch| fetch.bytes).unwrap_or_default();
        match self.chain.take_copy(number, &fetched, random) {
            Ok(true) => {
                tracing::info!(number, "a damaged block of the ledger was fetched again from a peer");
                self.order.came();
                self.look();
            }
            Ok(false) => {
                tracing::debug!(number, %peer, "a peer has no good copy of a block");
                // To look at a bad copy takes time: after one the next peer is asked at the next tick.
                if fetched.is_empty() {
                    self.refused();
                }
            }
            Err(error) => tracing::warn!(number, %error, "a block that was fetched again cannot be kept"),
        }
    }
}

/// Whether a copy of `total` bytes, of which `length` are here, is continued after a part of this many. A part before the last is as long as parts get: else
/// a peer could give a byte a second, for a year.
fn has_more(length: usize, total: usize, part: usize) -> bool {
    length < total && total <= MAX_COPY_BYTES && part == MAX_PART_BYTES
}

fn wide(bytes: usize) -> u64 {
    u64::try_from(bytes).expect("there are no larger machines")
}

#[cfg(test)]
mod tests {
    use super::{server::reads, *};
    use crate::{
        execute::tests::{chain, chain_of},
        testing::Kept,
    };
    use commonware_cryptography::ed25519::PrivateKey;
    use commonware_runtime::{Runner as _, deterministic};
    use std::time::SystemTime;

    /// What asks for copies, where these blocks are missing, and what it sends.
    fn exchange(chain: Arc<Chain>, missing: Vec<u64>) -> (Exchange<Kept>, Kept) {
        let (me, sender) = (chain.keys.as_ref().expect("a validator").network.public_key(), Kept::default());
        let (requests, _) = mpsc::channel(1);
        let kept = sender.clone();
        (Exchange { chain, sender, me, requests, order: Order::default(), fetch: None, missing, refused: 0 }, kept)
    }

    /// A long copy has more parts than the channel takes messages in a second. What was dropped is asked for once more, before the peer is left.
    #[test]
    fn a_part_that_was_dropped_is_asked_for_again() {
        let peer = PrivateKey::from_seed(1).public_key();
        let fetch = |bytes| Some(Fetch { number: 7, peer: peer.clone(), bytes, is_alive: true, is_repeated: false });
        let (mut exchange, sender) = exchange(chain(None), Vec::new());
        let next = Message::Request { number: 7, offset: wide(MAX_PART_BYTES) }.encode();
        for (part, expected) in [(MAX_PART_BYTES, vec![next]), (0, vec![])] {
            exchange.fetch = fetch(vec![1; part]);
            let looks: Vec<bool> = std::iter::repeat_with(|| {
                exchange.look();
                exchange.fetch.is_some()
            })
            .take_while(|is_kept| *is_kept)
            .collect();
            assert_eq!(sender.take(), expected);
            assert_eq!(looks.len(), 1 + expected.len(), "it is left when nothing comes");
        }
    }

    /// Decision 753: whoever is busy, or has no copy, is left at once for the next peer, until all were asked. One that has given a part of the copy is not left.
    #[test]
    fn who_gives_nothing_is_left_at_once() {
        deterministic::Runner::default().start(|mut context| async move {
            let (mut exchange, sender) = exchange(chain_of(4, None), vec![7]);
            let (mut peers, first) = (Vec::new(), Message::Request { number: 7, offset: 0 }.encode());
            exchange.begin();
            while let Some(peer) = exchange.fetch.as_ref().map(|fetch| fetch.peer.clone()) {
                assert_eq!(sender.take(), std::slice::from_ref(&first));
                match peers.len() {
                    0 => exchange.busy(&peer, (7, 0)),
                    _ => exchange.take(&mut context, &peer, (7, 0, 0), &[]),
                }
                peers.push(peer);
            }
            exchange.refused = 0;
            exchange.fetch = Some(Fetch { number: 7, peer: peers[0].clone(), bytes: Vec::new(), is_alive: true, is_repeated: false });
            exchange.take(&mut context, &peers[0], (7, 0, 1), &[1]);
            assert!(exchange.fetch.is_none() && sender.count() == 0, "a bad copy");
            let asked: std::collections::BTreeSet<&PublicKey> = peers.iter().collect();
            assert_eq!((asked.len(), peers.len(), sender.count()), (3, 3, 0), "each once before the next tick");

            let (peer, bytes) = (peers[0].clone(), vec![1; MAX_PART_BYTES]);
            exchange.refused = 0;
            exchange.fetch = Some(Fetch { number: 7, peer, bytes, is_alive: false, is_repeated: false });
            exchange.busy(&peers[0], (7, wide(MAX_PART_BYTES)));
            exchange.busy(&peers[1], (7, 0));
            assert_eq!(sender.count(), 0);
            exchange.look();
            assert_eq!(sender.take(), [Message::Request { number: 7, offset: wide(MAX_PART_BYTES) }.encode()], "it is asked once more");
        });
    }

    /// A request that has no room among those that wait has an answer.
    #[test]
    fn a_request_too_many_is_answered() {
        let (peer, (mut exchange, sender)) = (PrivateKey::from_seed(1).public_key(), exchange(chain(None), Vec::new()));
        let (requests, mut requested) = mpsc::channel(1);
        exchange.requests = requests;
        (0..2).for_each(|offset| exchange.requested(peer.clone(), 7, offset));
        assert_eq!(sender.take(), [Message::Busy { number: 7, offset: 1 }.encode()]);
        assert_eq!(requested.try_recv().map(|request| request.offset), Ok(0));
    }

    /// A repair uses what every peer reads in a second.
    #[test]
    fn a_repair_asks_all_peers() {
        let peers: Vec<PublicKey> = (0..3).map(|seed| PrivateKey::from_seed(seed).public_key()).collect();
        let (now, mut order, mut reads, mut missing) = (SystemTime::UNIX_EPOCH + 10 * TICK, Order::default(), reads(), 60);
        for now in [now, now + TICK] {
            for _ in 0..12 {
                let (peer, block) = order.next(peers.len(), missing);
                assert_eq!(block, missing - 1, "the newest");
                assert!(reads.take(&peers[peer], 1, now), "{missing} blocks are missing");
                order.came();
                missing -= 1;
            }
        }
        let mut order = Order::default();
        let turns: Vec<_> = (0..5).map(|_| order.next(2, 2)).collect();
        assert_eq!(turns, [(0, 1), (1, 1), (0, 0), (1, 0), (0, 1)], "where no copy comes, every peer is asked for every block");
    }

    /// A part that is short ends a copy that is not whole.
    #[test]
    fn a_peer_that_drips_is_left() {
        assert!(has_more(MAX_PART_BYTES, MAX_COPY_BYTES, MAX_PART_BYTES));
        assert!(!has_more(1, 1_000, 1), "one byte at a time");
        assert!(!has_more(0, 1_000, 0), "nothing");
        assert!(!has_more(1_000, 1_000, 1_000), "the end");
        assert!(!has_more(MAX_PART_BYTES, MAX_COPY_BYTES + 1, MAX_PART_BYTES), "more than any copy has");
    }

    #[test]
    fn messages_come_out_as_they_went_in() {
        let part = Message::Part { number: 7, offset: 9, total: 12, bytes: &[1, 2, 3] };
        let messages = [Message::Request { number: 7, offset: 9 }, Message::Busy { number: 7, offset: 9 }, part];
        for message in messages {
            let bytes = message.encode();
            assert_eq!(Message::decode(&bytes), Some(message));
            assert!((0..17).all(|length| Message::decode(&bytes[..length]).is_none()), "cut off");
        }
        let busy = Message::Busy { number: 7, offset: 9 }.encode();
        assert_eq!(Message::decode(&[busy.as_slice(), &[0]].concat()), None, "and more");
        assert!((3..=u8::MAX).all(|kind| Message::decode(&[&[kind], &busy[1..]].concat()).is_none()), "of an unknown kind");
    }
}
