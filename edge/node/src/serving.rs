//! How much of old blocks is served to one peer ([decision 682](../../../docs/decisions/0682-what-is-served-to-one-peer.md)).
//!
//! A request for a block has some fifty bytes, and its answer up to five megabytes, which wait in memory for a peer that takes them slowly. Whoever stakes the
//! least is connected to every validator. So the answers to each peer have a number of bytes a second. A request beyond that is left, and its sender asks
//! another validator.

use crate::inbound::Filtered;
use bytes::Buf as _;
use commonware_actor::{Feedback, Unreliable};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{CheckedSender, LimitedSender, Receiver, Recipients};
use commonware_resolver::p2p::REQUEST_OVERHEAD;
use commonware_runtime::{Clock, IoBuf, IoBufs};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// Bytes that a peer is served at once, and those that it is served in a second after that.
const AT_ONCE: u64 = 32 * 1024 * 1024;
const PER_SECOND: u64 = 4 * 1024 * 1024;

/// What a request counts until its answer is made. The engine of a peer has sixteen requests under way, to all validators together.
const UNKNOWN: u64 = 1024 * 1024;

/// Where a message says what it is: after the eight bytes that number it.
const KIND: usize = 8;
const REQUEST: u8 = 0;
const _: () = assert!(REQUEST_OVERHEAD == KIND + 1, "a request is a number, its kind and the key");

/// Limits what is served on a channel of requests for blocks.
pub(crate) fn limited<S, R>(clock: impl Clock, (sender, receiver): (S, R)) -> (Serving<S>, impl Receiver<PublicKey = PublicKey>)
where
    R: Receiver<PublicKey = PublicKey>,
{
    let served = Arc::new(Mutex::new(Served::default()));
    let sending = Serving { inner: sender, served: served.clone() };
    let passes = move |peer: &PublicKey, message: &IoBuf| {
        let message: &[u8] = message.as_ref();
        message.get(KIND) != Some(&REQUEST) || lock(&served).admits(peer, clock.current())
    };
    (sending, Filtered::new(receiver, passes))
}

fn lock(served: &Mutex<Served>) -> MutexGuard<'_, Served> {
    served.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was served to each peer.
#[derive(Debug, Default)]
struct Served(BTreeMap<PublicKey, Account>);

#[derive(Debug)]
struct Account {
    /// Bytes that were served, or that requests count, less those of the time since.
    bytes: u64,
    at: SystemTime,
}

impl Served {
    /// Whether a request of this peer is answered. It counts from now on.
    fn admits(&mut self, peer: &PublicKey, now: SystemTime) -> bool {
        let account = self.0.entry(peer.clone()).or_insert(Account { bytes: 0, at: now });
        // Nothing is forgotten where the clock was set back.
        let passed = now.duration_since(account.at).unwrap_or_default().as_micros();
        let forgotten = u64::try_from(passed.saturating_mul(u128::from(PER_SECOND)) / 1_000_000).unwrap_or(u64::MAX);
        (account.bytes, account.at) = (account.bytes.saturating_sub(forgotten), now);
        let is_admitted = account.bytes < AT_ONCE;
        if is_admitted {
            account.bytes = account.bytes.saturating_add(UNKNOWN);
        }
        is_admitted
    }

    /// Counts the answer to a request of this peer in the place of the request.
    fn answered(&mut self, peer: &PublicKey, bytes: usize) {
        if let Some(account) = self.0.get_mut(peer) {
            account.bytes = account.bytes.saturating_sub(UNKNOWN).saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        }
    }
}

/// Sends requests and answers, and counts the answers.
#[derive(Clone, Debug)]
pub(crate) struct Serving<S> {
    inner: S,
    served: Arc<Mutex<Served>>,
}

impl<S: LimitedSender<PublicKey = PublicKey>> LimitedSender for Serving<S> {
    type PublicKey = PublicKey;
    type Checked<'a> = CheckedServing<'a, S::Checked<'a>>;

    fn check(&mut self, recipients: Recipients<PublicKey>) -> Result<Self::Checked<'_>, SystemTime> {
        Ok(CheckedServing { inner: self.inner.check(recipients)?, served: &self.served })
    }
}

/// What [`Serving`] sends through.
pub(crate) struct CheckedServing<'a, C> {
    inner: C,
    served: &'a Mutex<Served>,
}

impl<C: CheckedSender<PublicKey = PublicKey>> CheckedSender for CheckedServing<'_, C> {
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        self.inner.recipients()
    }

    fn send(self, message: impl Into<IoBufs> + Send, priority: bool) -> Unreliable<Feedback> {
        let message: IoBufs = message.into();
        // Number and kind stand together, before what is long.
        if message.chunk().get(KIND) != Some(&REQUEST) {
            let (mut served, bytes) = (lock(self.served), message.remaining());
            self.inner.recipients().iter().for_each(|peer| served.answered(peer, bytes));
        }
        self.inner.send(message, priority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use std::time::Duration;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;
    const LARGEST: usize = 5 * 1024 * 1024;

    fn peer(seed: u64) -> PublicKey {
        PrivateKey::from_seed(seed).public_key()
    }

    /// How many requests of a peer are admitted at a moment.
    fn admitted(served: &mut Served, peer: &PublicKey, at: SystemTime) -> usize {
        (0..1_000).take_while(|_| served.admits(peer, at)).count()
    }

    /// A peer that asks for large blocks gets no more of them than links carry, whatever it has asked for at once; small ones, and what is not here, cost it
    /// little, and another peer's account is its own.
    #[test]
    fn a_peer_is_served_few_large_blocks() {
        let (asks, other) = (peer(1), peer(2));
        let mut served = Served::default();
        let at_once = admitted(&mut served, &asks, NOW);
        assert_eq!(at_once, 32);
        (0..at_once).for_each(|_| served.answered(&asks, 9));
        assert_eq!(admitted(&mut served, &asks, NOW), at_once, "the answers were short");
        (0..at_once).for_each(|_| served.answered(&asks, LARGEST));
        assert_eq!(admitted(&mut served, &asks, NOW), 0);
        assert_eq!(admitted(&mut served, &other, NOW), at_once);
        // Of 160 MiB, 132 are forgotten, so that four more are within 32.
        assert_eq!(admitted(&mut served, &asks, NOW + Duration::from_secs(33)), 4);
        assert_eq!(admitted(&mut served, &asks, NOW), 0, "the clock was set back");
        assert_eq!(admitted(&mut served, &asks, NOW + Duration::from_secs(3_600)), at_once, "no more come together");
        served.answered(&peer(3), LARGEST);
        assert!(!served.0.contains_key(&peer(3)), "nobody asked");
    }

    /// Sends nothing, to one peer.
    #[derive(Clone, Debug)]
    struct Nowhere(PublicKey);

    impl LimitedSender for Nowhere {
        type PublicKey = PublicKey;
        type Checked<'a> = Self;

        fn check(&mut self, _: Recipients<PublicKey>) -> Result<Self, SystemTime> {
            Ok(self.clone())
        }
    }

    impl CheckedSender for Nowhere {
        type PublicKey = PublicKey;

        fn recipients(&self) -> Vec<PublicKey> {
            vec![self.0.clone()]
        }

        fn send(self, _: impl Into<IoBufs> + Send, _: bool) -> Unreliable<Feedback> {
            Unreliable::new(Feedback::Ok)
        }
    }

    /// Answers count, and what this node asks for itself does not.
    #[test]
    fn answers_are_counted() {
        let asks = peer(1);
        let served = Arc::new(Mutex::new(Served::default()));
        let mut sender = Serving { inner: Nowhere(asks.clone()), served: served.clone() };
        let mut send = |kind: u8, bytes: usize| {
            let message = [[7; KIND].as_slice(), &[kind], &vec![0; bytes]].concat();
            let checked = sender.check(Recipients::One(peer(1))).expect("nothing limits it");
            assert!(checked.send(message, false).accepted());
            lock(&served).0[&asks].bytes
        };
        assert!(lock(&served).admits(&asks, NOW));
        assert_eq!(send(REQUEST, 40), UNKNOWN);
        assert_eq!(send(1, 991), 1_000);
        assert_eq!(send(2, 0), 9, "there is no such block");
    }
}
