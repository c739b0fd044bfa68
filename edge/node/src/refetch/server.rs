//! Serves copies of this node's blocks.

use super::{MAX_COPY_BYTES, MAX_PART_BYTES, Message, wide};
use crate::{
    account::{Accounts, Bounds},
    chain::Chain,
    serving::{OF_COPIES, Served},
};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Recipients, Sender};
use commonware_runtime::{Clock, Spawner, Supervisor};
use std::{collections::VecDeque, sync::Arc};
use tokio::sync::mpsc;

/// Blocks that are read for one peer at once, and in a second after that. A request has 17 bytes, and a block is read whole for it.
const MAX_READS: u64 = 4;

/// Copies that are kept for their next parts, as long as they have no more bytes together than the largest.
const MAX_SERVED: usize = 4;

/// What another validator asks for.
pub(super) struct Request {
    pub(super) peer: PublicKey,
    pub(super) number: u64,
    pub(super) offset: u64,
}

/// Serves copies of this node's blocks, one request after another, so that what comes for this node waits for none of them.
pub(super) struct Server<S> {
    chain: Arc<Chain>,
    sender: S,
    copies: Copies,
    /// How many blocks were read for each peer.
    reads: Accounts,
    served: Served,
}

impl<S: Sender<PublicKey = PublicKey>> Server<S> {
    pub(super) fn new(chain: Arc<Chain>, sender: S) -> Self {
        Self { chain, sender, copies: Copies::default(), reads: reads(), served: Served::new(OF_COPIES) }
    }

    pub(super) async fn run<E: Spawner + Supervisor + Clock>(mut self, context: E, mut requests: mpsc::Receiver<Request>) {
        while let Some(Request { peer, number, offset }) = requests.recv().await {
            // Of what is beyond the peer is told, not served: it asks for a next part once more, and for a first part another validator.
            let busy = Message::Busy { number, offset }.encode();
            if !self.served.admits(&peer, context.current()) {
                self.sender.send(Recipients::One(peer), busy, false);
                continue;
            }
            // A peer for which no more blocks are read in this second is told that there is none, and asks another validator: silence would hold it up longer.
            if !self.copies.has(number)
                && self.reads.take(&peer, 1, context.current())
                && let Some(copy) = self.read(&context, number).await
            {
                self.copies.keep(number, copy);
            }
            let part = self.copies.part(number, offset);
            let checked = self.sender.check(Recipients::One(peer.clone())).ok();
            self.served.send(&peer, checked, (part, busy), false);
        }
    }

    /// Reads and encodes a copy where it holds up nothing else.
    async fn read<E: Spawner + Supervisor>(&self, context: &E, number: u64) -> Option<Vec<u8>> {
        let chain = self.chain.clone();
        let copy = context.child("copy").shared(true).spawn(move |_| async move { chain.copy_of(number) }).await;
        copy.ok().flatten()
    }
}

/// The copies that were asked for last, with their numbers: their parts are asked for one after another.
#[derive(Debug, Default)]
struct Copies(VecDeque<(u64, Vec<u8>)>);

impl Copies {
    fn has(&self, number: u64) -> bool {
        self.0.iter().any(|(kept, _)| *kept == number)
    }

    /// Keeps a copy for its next parts, in the place of the oldest where there are too many.
    fn keep(&mut self, number: u64, copy: Vec<u8>) {
        self.0.push_back((number, copy));
        while self.0.len() > 1 && (self.0.len() > MAX_SERVED || self.0.iter().map(|(_, copy)| copy.len()).sum::<usize>() > MAX_COPY_BYTES) {
            self.0.pop_front();
        }
    }

    /// The message with the part that begins here.
    fn part(&mut self, number: u64, offset: u64) -> Vec<u8> {
        let copy = self.0.iter().find(|(kept, _)| *kept == number).map_or([].as_slice(), |(_, copy)| copy);
        let rest = usize::try_from(offset).ok().and_then(|offset| copy.get(offset..)).unwrap_or_default();
        let bytes = &rest[..rest.len().min(MAX_PART_BYTES)];
        let part = Message::Part { number, offset, total: wide(copy.len()), bytes }.encode();
        if !bytes.is_empty() && bytes.len() == rest.len() {
            // That was its end, and nobody asks for more of it soon.
            self.0.retain(|(kept, _)| *kept != number);
        }
        part
    }
}

/// How many blocks are read for each peer.
pub(super) fn reads() -> Accounts {
    Accounts::new(Bounds { at_once: MAX_READS, per_second: MAX_READS })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        execute::tests::chain,
        refetch::{PART, TICK},
        testing::Kept,
    };
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use commonware_runtime::{Runner as _, deterministic};
    use std::time::{Duration, SystemTime};

    /// Decisions 700 and 753: a peer that asks for part after part gets sixteen of them at once and two a second after that; and fewer where it takes none. Another
    /// peer is served nevertheless. Every request has an answer.
    #[test]
    fn a_peer_is_served_few_parts() {
        let [one, other] = [1, 2].map(|seed| PrivateKey::from_seed(seed).public_key());
        deterministic::Runner::default().start(|context| async move {
            let sender = Kept::default();
            let mut server = Server::new(chain(None), sender.clone());
            server.copies.keep(7, vec![1; 3 * MAX_PART_BYTES]);
            let (requests, requested) = mpsc::channel(64);
            context.child("serve").spawn(move |context| server.run(context, requested));
            let ask = async |peer: &PublicKey, is_taken: bool| {
                let mut answers = Vec::new();
                for _ in 0..40 {
                    let request = Request { peer: peer.clone(), number: 7, offset: 0 };
                    assert!(requests.send(request).await.is_ok(), "it serves");
                    context.sleep(Duration::from_millis(1)).await;
                    if is_taken {
                        answers.extend(sender.take());
                    }
                }
                context.sleep(Duration::from_millis(20)).await;
                answers.extend(sender.take());
                assert_eq!(answers.len(), 40);
                answers.iter().filter(|answer| answer.first() == Some(&PART)).count()
            };
            assert!((16..18).contains(&ask(&one, true).await));
            assert_eq!(ask(&other, false).await, 3, "as many as wait for one peer");
            assert_eq!(ask(&other, true).await, 0, "others were made for it, too");
            context.sleep(Duration::from_secs(2)).await;
            assert!((4..7).contains(&ask(&one, true).await));
            assert!((3..6).contains(&ask(&other, true).await));
        });
    }

    /// Of a peer that asks for one block after another, few are read in a second.
    #[test]
    fn a_peer_has_few_blocks_read() {
        let [one, other] = [1, 2].map(|seed| PrivateKey::from_seed(seed).public_key());
        let (start, mut reads) = (SystemTime::UNIX_EPOCH, reads());
        assert_eq!((0..100).filter(|_| reads.take(&one, 1, start)).count(), 4);
        assert!(reads.take(&other, 1, start));
        assert!(reads.take(&one, 1, start + TICK));
    }

    /// Requests beyond the end of a copy have it read once, and requests for all of it few times a second.
    #[test]
    fn repeated_requests_have_few_blocks_read() {
        let peer = PrivateKey::from_seed(1).public_key();
        for (offset, expected) in [(u64::MAX, 1), (10, 1), (0, 4)] {
            let (mut copies, mut accounts, mut read) = (Copies::default(), reads(), 0);
            for _ in 0..100 {
                if !copies.has(7) && accounts.take(&peer, 1, SystemTime::UNIX_EPOCH) {
                    copies.keep(7, vec![1; 10]);
                    read += 1;
                }
                copies.part(7, offset);
            }
            assert_eq!(read, expected, "from {offset} on");
        }
    }
}
