//! How much is served to one peer ([decision 682](../../../docs/decisions/0682-what-is-served-to-one-peer.md)), and to all of them
//! ([decision 700](../../../docs/decisions/0700-what-is-served-to-all-peers.md)).
//!
//! A request for a block has some fifty bytes, and its answer up to five megabytes, which wait in memory for a peer that takes them slowly. Whoever stakes the
//! least is connected to every validator. So the answers to each peer have a number of bytes a second, and those that wait for all of them together a number of
//! bytes ([decision 716](../../../docs/decisions/0716-bytes-that-wait-for-all-peers.md)). To a request beyond either the answer is that there is nothing, so
//! that its sender asks another validator at once ([decision 753](../../../docs/decisions/0753-busy-is-an-answer.md)).

mod served;

pub(crate) use served::{OF_BLOCKS, OF_BODIES, OF_COPIES, Served};

use crate::inbound::Filtered;
use bytes::{Buf as _, Bytes};
use commonware_actor::{Feedback, Unreliable};
use commonware_codec::{DecodeExt as _, FixedSize as _};
use commonware_consensus::marshal::resolver::handler::Key;
use commonware_cryptography::{blake3::Digest, ed25519::PublicKey};
use commonware_p2p::{CheckedSender, LimitedSender, Receiver, Recipients, Sender};
use commonware_resolver::p2p::REQUEST_OVERHEAD;
use commonware_runtime::{Clock, IoBuf, IoBufs};
use cowboy_types::Hash;
use std::time::SystemTime;

/// Where a message says what it is: after the eight bytes that number it.
const KIND: usize = 8;
const REQUEST: u8 = 0;
/// Says that whoever answers has not what was asked for, or gives nothing now.
const NOTHING: u8 = 2;
const _: () = assert!(REQUEST_OVERHEAD == KIND + 1, "a request is a number, its kind and the key");

/// The longest key: its kind, and the hash of a block.
const MAX_KEY_BYTES: usize = 1 + Hash::SIZE;

/// Limits what is served on a channel of requests for blocks.
pub(crate) fn limited<S, R>(clock: impl Clock, (sender, receiver): (S, R)) -> (Serving<S>, impl Receiver<PublicKey = PublicKey>)
where
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    let (served, mut refusing) = (Served::new(OF_BLOCKS), sender.clone());
    let sending = Serving { inner: sender, served: served.clone() };
    let passes = move |peer: &PublicKey, message: &IoBuf| passes(&served, &mut refusing, peer, message.as_ref(), clock.current());
    (sending, Filtered::new(receiver, passes))
}

/// Whether a message is taken: an answer, or a request that is admitted. The engine answers every request whose key it can read, and no other, which would
/// count for ever. Whoever sent a request that is not admitted is told so, with the word of the engine for what it has not: it asks another peer after a tenth
/// of a second, and would wait for two seconds.
fn passes(served: &Served, sender: &mut impl Sender<PublicKey = PublicKey>, peer: &PublicKey, message: &[u8], now: SystemTime) -> bool {
    if message.get(KIND) != Some(&REQUEST) {
        return true;
    }
    let key = message.get(REQUEST_OVERHEAD..).filter(|key| key.len() <= MAX_KEY_BYTES);
    if key.is_none_or(|key| Key::<Digest>::decode(Bytes::copy_from_slice(key)).is_err()) {
        return false;
    }
    let is_admitted = served.admits(peer, now);
    if !is_admitted {
        sender.send(Recipients::One(peer.clone()), nothing_of(message), false);
    }
    is_admitted
}

/// Says that there is nothing, in the place of the answer to a request: of a message of either, which both begin with its number.
fn nothing_of(message: &[u8]) -> Vec<u8> {
    let number = message.get(..KIND).unwrap_or_default();
    [number, &[NOTHING]].concat()
}

/// Sends requests and answers, and counts the answers.
#[derive(Clone, Debug)]
pub(crate) struct Serving<S> {
    inner: S,
    served: Served,
}

impl<S: LimitedSender<PublicKey = PublicKey>> LimitedSender for Serving<S> {
    type PublicKey = PublicKey;
    type Checked<'a> = CheckedServing<'a, S::Checked<'a>>;

    fn check(&mut self, recipients: Recipients<PublicKey>) -> Result<Self::Checked<'_>, SystemTime> {
        // The engine answers one peer.
        let peer = match &recipients {
            Recipients::One(peer) => Some(peer.clone()),
            Recipients::Some(_) | Recipients::All => None,
        };
        match self.inner.check(recipients) {
            Ok(inner) => Ok(CheckedServing { inner: Some(inner), peer, served: &self.served }),
            // Where this would have been an answer, its request counts no more. Only the message says whether it is one; another one is sent again soon.
            Err(_) if peer.as_ref().is_some_and(|peer| self.served.has_request(peer)) => {
                Ok(CheckedServing { inner: None, peer, served: &self.served })
            }
            // It is a request of this node's own, which the engine sends at that time.
            Err(until) => Err(until),
        }
    }
}

/// What [`Serving`] sends through.
pub(crate) struct CheckedServing<'a, C> {
    /// None where the peer has had its messages of this second: nothing is sent.
    inner: Option<C>,
    /// The only recipient, where there is one.
    peer: Option<PublicKey>,
    served: &'a Served,
}

impl<C: CheckedSender<PublicKey = PublicKey>> CheckedSender for CheckedServing<'_, C> {
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        self.inner.as_ref().map(CheckedSender::recipients).unwrap_or_default()
    }

    fn send(self, message: impl Into<IoBufs> + Send, priority: bool) -> Unreliable<Feedback> {
        let message: IoBufs = message.into();
        // Number and kind stand together, before what is long.
        let is_answer = message.chunk().get(KIND) != Some(&REQUEST);
        match (self.peer, self.inner) {
            (Some(peer), inner) if is_answer => {
                let nothing = nothing_of(message.chunk());
                self.served.send(&peer, inner, (message, nothing), priority)
            }
            (_, Some(inner)) => inner.send(message, priority),
            (_, None) => Unreliable::Rejected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Kept, peer};
    use commonware_codec::Encode as _;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    /// A request with this key.
    fn request(key: &[u8]) -> Vec<u8> {
        [&[7; KIND], &[REQUEST][..], key].concat()
    }

    /// The key of a final block.
    fn key() -> Vec<u8> {
        Key::<Digest>::Finalized { height: commonware_consensus::types::Height::new(7) }.encode().to_vec()
    }

    /// What the engine cannot read is not answered, and counts nothing; so nobody takes what others are served with it.
    #[test]
    fn what_is_no_request_counts_nothing() {
        let (served, mut kept, key) = (Served::new(OF_BLOCKS), Kept::default(), key());
        for nonsense in [request(&[]), request(&[9; 33]), request(&[&key[..], &[0]].concat()), request(&key[..1])] {
            assert!(!(0..1_000).any(|_| passes(&served, &mut kept, &peer(1), &nonsense, NOW)), "{nonsense:?}");
        }
        assert_eq!((served.lock().waiting, kept.count()), (0, 0));
        assert!(passes(&served, &mut kept, &peer(2), &request(&key), NOW));
        assert!(served.lock().waiting > 0);
    }

    /// Decision 753: whoever asks for more than it is served is told that there is nothing, at once, in a message that the engine of its node reads. So is whoever
    /// has no room for the answer that was made; and one that has had its messages of this second is told nothing.
    #[test]
    fn who_asks_for_too_much_hears_of_it() {
        let (mut sender, kept, served) = serving();
        let (mut refusing, request) = (kept.clone(), request(&key()));
        let said = [&[7; KIND], &[NOTHING][..]].concat();
        assert_eq!(said.len(), REQUEST_OVERHEAD, "as long as a request without its key");
        let admitted = (0..1_000).take_while(|_| passes(&served, &mut refusing, &peer(1), &request, NOW)).count();
        assert!((3..1_000).contains(&admitted), "{admitted} requests");
        assert_eq!(kept.take(), std::slice::from_ref(&said));
        refusing.is_limited = true;
        assert!(!passes(&served, &mut refusing, &peer(1), &request, NOW));
        assert_eq!(kept.count(), 0);
        assert!([4_000_000, 3_000_000, 2_000_000].into_iter().all(|bytes| send(&mut sender, 1, bytes)));
        let messages = kept.take();
        assert_eq!(messages.iter().map(Vec::len).collect::<Vec<_>>(), [4_000_009, 3_000_009, said.len()]);
        assert_eq!(messages.last(), Some(&said));
    }

    /// No answer is larger than what a request counts for all peers.
    #[test]
    fn the_largest_answer_is_counted() {
        assert!(u64::from(crate::engine::max_message()) <= OF_BLOCKS.largest);
        assert!(crate::refetch::MAX_PART_BYTES + 1_024 <= OF_COPIES.largest as usize);
    }

    /// A sender that serves `peer(1)`, what it sends, and what it has served.
    fn serving() -> (Serving<Kept>, Kept, Served) {
        let (kept, served) = (Kept::default(), Served::new(OF_BLOCKS));
        (Serving { inner: kept.clone(), served: served.clone() }, kept, served)
    }

    /// Sends a message of a kind to `peer(1)`. Whether it was accepted.
    fn send(sender: &mut Serving<Kept>, kind: u8, bytes: usize) -> bool {
        let message = [[7; KIND].as_slice(), &[kind], &vec![0; bytes]].concat();
        sender.check(Recipients::One(peer(1))).is_ok_and(|checked| checked.send(message, false).accepted())
    }

    /// What `peer(1)` is charged with, and what waits for all peers.
    fn counted(served: &Served) -> (u64, u64) {
        let counts = served.lock();
        (counts.peers[&peer(1)].account.used(), counts.waiting)
    }

    /// Answers count, and what this node asks for itself does not. They reach the network as they were made.
    #[test]
    fn answers_are_counted() {
        let (mut sender, kept, served) = serving();
        assert!(served.admits(&peer(1), NOW));
        let asked = counted(&served);
        assert_eq!(asked, (1024 * 1024, OF_BLOCKS.largest));
        assert!(send(&mut sender, REQUEST, 40));
        assert_eq!(counted(&served), asked);
        assert!(send(&mut sender, 1, 991));
        assert_eq!(counted(&served), (1_000, 1_000));
        assert!(!send(&mut sender, 2, 0), "nobody asked for it");
        assert!(served.admits(&peer(1), NOW));
        assert!(send(&mut sender, 2, 0), "there is no such block");
        assert_eq!(counted(&served), (1_009, 1_009));
        assert_eq!(kept.take().iter().map(Vec::len).collect::<Vec<_>>(), [49, 1_000, 9]);
    }

    /// A peer is not charged with an answer that is not sent, because it has had its messages of this second, or because the network takes no more.
    #[test]
    fn what_is_not_sent_is_not_charged() {
        let (mut sender, kept, served) = serving();
        for (is_limited, is_full) in [(true, false), (false, true)] {
            (sender.inner.is_limited, sender.inner.is_full) = (is_limited, is_full);
            assert!(served.admits(&peer(1), NOW));
            let asked = counted(&served);
            assert!(!send(&mut sender, REQUEST, 40));
            assert_eq!(counted(&served), asked, "it is still to be answered");
            assert!(!send(&mut sender, 1, 991));
            assert_eq!(counted(&served).0, 0);
        }
        assert_eq!(counted(&served).1, 0, "no request counts any more");
        assert!(kept.take().is_empty());
    }

    /// While a peer has had its messages of this second, the engine is told until when, unless there is an answer to be made for it: only a message says what it is.
    #[test]
    fn requests_wait_until_the_channel_takes_them() {
        let (mut sender, _, served) = serving();
        sender.inner.is_limited = true;
        let mut refused = |recipients| sender.check(recipients).err();
        assert_eq!(refused(Recipients::All), Some(NOW), "what is for all is no answer");
        assert_eq!(refused(Recipients::One(peer(1))), Some(NOW));
        assert!(served.admits(&peer(1), NOW));
        assert_eq!(refused(Recipients::One(peer(1))), None);
        assert_eq!(refused(Recipients::One(peer(2))), Some(NOW), "another peer");
        served.unanswered(&peer(1));
        assert_eq!(refused(Recipients::One(peer(1))), Some(NOW), "nothing is to be answered any more");
    }
}
