//! How much is served to one peer ([decision 682](../../../docs/decisions/0682-what-is-served-to-one-peer.md)), and to all of them
//! ([decision 700](../../../docs/decisions/0700-what-is-served-to-all-peers.md)).
//!
//! A request for a block has some fifty bytes, and its answer up to five megabytes, which wait in memory for a peer that takes them slowly. Whoever stakes the
//! least is connected to every validator. So the answers to each peer have a number of bytes a second, and those to all of them together
//! ([decision 710](../../../docs/decisions/0710-what-waits-for-all-peers.md)). A request beyond either is left, and its sender asks another validator.

use crate::inbound::Filtered;
use bytes::{Buf as _, Bytes};
use commonware_actor::{Feedback, Unreliable};
use commonware_codec::{DecodeExt as _, FixedSize as _};
use commonware_consensus::marshal::resolver::handler::Key;
use commonware_cryptography::{blake3::Digest, ed25519::PublicKey};
use commonware_p2p::{CheckedSender, LimitedSender, Receiver, Recipients};
use commonware_resolver::p2p::REQUEST_OVERHEAD;
use commonware_runtime::{Clock, IoBuf, IoBufs};
use cowboy_types::Hash;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

/// What one peer is served on a channel, where few ask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Bytes at once.
    pub(crate) at_once: u64,
    /// Bytes in a second after that.
    pub(crate) per_second: u64,
}

/// Peers that are served so much at a time. Where more ask, they share it.
const FEW: usize = 4;

/// For how long a peer counts that asked for something: longer than one stays connected that takes nothing. It is counted once a second.
const RECENT: Duration = Duration::from_secs(120);
const COUNT: Duration = Duration::from_secs(1);

impl Bounds {
    /// Those of all peers together.
    fn of_all(self) -> Self {
        let few = |bytes: u64| bytes.saturating_mul(FEW as u64);
        Self { at_once: few(self.at_once), per_second: few(self.per_second) }
    }

    /// The part of each of this many peers.
    fn of_each(self, peers: usize) -> Self {
        let (all, peers) = (self.of_all(), peers.max(FEW) as u64);
        Self { at_once: all.at_once / peers, per_second: all.per_second / peers }
    }
}

/// Blocks that are final, and answers about those that are not.
pub(crate) const OF_BLOCKS: Bounds = Bounds { at_once: 32 * 1024 * 1024, per_second: 4 * 1024 * 1024 };

/// What a request counts for its peer until its answer is made: less than the largest answer, because the engine of a peer has sixteen requests under way, to
/// all validators together.
const UNKNOWN: u64 = 1024 * 1024;

/// What it counts for all peers together until then: the largest answer, so that the answers go beyond what is served to all by one of them at most.
const LARGEST: u64 = 6 * 1024 * 1024;

/// Where a message says what it is: after the eight bytes that number it.
const KIND: usize = 8;
const REQUEST: u8 = 0;
const _: () = assert!(REQUEST_OVERHEAD == KIND + 1, "a request is a number, its kind and the key");

/// The longest key: its kind, and the hash of a block.
const MAX_KEY_BYTES: usize = 1 + Hash::SIZE;

/// Limits what is served on a channel of requests for blocks.
pub(crate) fn limited<S, R>(clock: impl Clock, (sender, receiver): (S, R)) -> (Serving<S>, impl Receiver<PublicKey = PublicKey>)
where
    R: Receiver<PublicKey = PublicKey>,
{
    let served = Arc::new(Mutex::new(Served::new(OF_BLOCKS)));
    let sending = Serving { inner: sender, served: served.clone() };
    let passes = move |peer: &PublicKey, message: &IoBuf| passes(&served, peer, message.as_ref(), clock.current());
    (sending, Filtered::new(receiver, passes))
}

/// Whether a message is taken: an answer, or a request that is admitted. The engine answers every request whose key it can read, and no other, which would
/// count for as long as it takes to forget it.
fn passes(served: &Mutex<Served>, peer: &PublicKey, message: &[u8], now: SystemTime) -> bool {
    let key = || message.get(REQUEST_OVERHEAD..).filter(|key| key.len() <= MAX_KEY_BYTES);
    let has_key = || key().is_some_and(|key| Key::<Digest>::decode(Bytes::copy_from_slice(key)).is_ok());
    message.get(KIND) != Some(&REQUEST) || has_key() && lock(served).admits(peer, now)
}

fn lock(served: &Mutex<Served>) -> MutexGuard<'_, Served> {
    served.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was served to each peer.
#[derive(Debug)]
pub(crate) struct Served {
    bounds: Bounds,
    /// Those of peers that asked for something recently.
    accounts: BTreeMap<PublicKey, Account>,
    /// That of all peers together.
    all: Account,
    counted: SystemTime,
}

#[derive(Debug)]
struct Account {
    /// Bytes that were served, or that requests count, less those of the time since.
    bytes: u64,
    at: SystemTime,
}

impl Account {
    fn new(at: SystemTime) -> Self {
        Self { bytes: 0, at }
    }

    /// Forgets what the time since has paid. Nothing is forgotten where the clock was set back.
    fn forget(&mut self, per_second: u64, now: SystemTime) {
        let passed = now.duration_since(self.at).unwrap_or_default().as_micros();
        let forgotten = u64::try_from(passed.saturating_mul(u128::from(per_second)) / 1_000_000).unwrap_or(u64::MAX);
        (self.bytes, self.at) = (self.bytes.saturating_sub(forgotten), now);
    }

    /// Counts the answer in the place of what its request counted.
    fn answered(&mut self, request: u64, answer: u64) {
        self.bytes = self.bytes.saturating_sub(request).saturating_add(answer);
    }
}

impl Served {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let (all, counted) = (Account::new(SystemTime::UNIX_EPOCH), SystemTime::UNIX_EPOCH);
        Self { bounds, accounts: BTreeMap::new(), all, counted }
    }

    /// Whether a request of this peer is answered. It counts from now on.
    pub(crate) fn admits(&mut self, peer: &PublicKey, now: SystemTime) -> bool {
        // Where the clock was set back, nobody knows when somebody asked.
        let is_within = |at: SystemTime, time| now.duration_since(at).map_or(true, |passed| passed < time);
        if !is_within(self.counted, COUNT) {
            self.accounts.retain(|_, account| is_within(account.at, RECENT));
            self.counted = now;
        }
        self.accounts.entry(peer.clone()).or_insert(Account::new(now));
        let (bounds, all) = (self.bounds.of_each(self.accounts.len()), self.bounds.of_all());
        let Some(account) = self.accounts.get_mut(peer) else { return false };
        account.forget(bounds.per_second, now);
        self.all.forget(all.per_second, now);
        let is_admitted = account.bytes < bounds.at_once && self.all.bytes < all.at_once;
        if is_admitted {
            account.answered(0, UNKNOWN);
            self.all.answered(0, LARGEST);
        }
        is_admitted
    }

    /// Counts the answer to a request of this peer in the place of the request.
    pub(crate) fn answered(&mut self, peer: &PublicKey, bytes: usize) {
        if let Some(account) = self.accounts.get_mut(peer) {
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            account.answered(UNKNOWN, bytes);
            self.all.answered(LARGEST, bytes);
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
    use commonware_codec::Encode as _;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;
    const LARGEST_ANSWER: usize = LARGEST as usize;

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
        let mut served = Served::new(OF_BLOCKS);
        let at_once = admitted(&mut served, &asks, NOW);
        assert_eq!(at_once, 22, "as many of the largest as all peers are served at once");
        (0..at_once).for_each(|_| served.answered(&asks, 9));
        assert_eq!(admitted(&mut served, &asks, NOW), at_once, "the answers were short");
        (0..at_once).for_each(|_| served.answered(&asks, LARGEST_ANSWER));
        assert_eq!([&asks, &other].map(|peer| admitted(&mut served, peer, NOW)), [0; 2], "so much waits for one of them");
        let second = NOW + Duration::from_secs(1);
        assert_eq!([&asks, &other].map(|peer| admitted(&mut served, peer, second)), [0, 2], "the other has asked for nothing yet");
        (0..2).for_each(|_| served.answered(&other, 9));
        // Of 132 MiB, 104 are forgotten, so that four more are within 32.
        assert_eq!(admitted(&mut served, &asks, NOW + Duration::from_secs(26)), 4);
        assert_eq!(admitted(&mut served, &asks, NOW), 0, "the clock was set back");
        assert_eq!(admitted(&mut served, &asks, NOW + Duration::from_secs(3_600)), at_once, "no more come together");
        served.answered(&peer(3), LARGEST_ANSWER);
        assert!(!served.accounts.contains_key(&peer(3)), "nobody asked");
    }

    /// However many peers ask and take nothing, little waits for all of them together; and each is served something. Who has not asked for a while takes no
    /// part any more.
    #[test]
    fn many_peers_share_what_is_served() {
        const MIB: usize = 1024 * 1024;
        let mut served = Served::new(OF_BLOCKS);
        let mut serve = |seeds: &mut dyn Iterator<Item = u64>, seconds: u64, answer: usize| {
            let of_peer = |seed: u64| {
                let admits = |_: &usize| {
                    let is_admitted = served.admits(&peer(seed), NOW + Duration::from_secs(seconds));
                    if is_admitted {
                        served.answered(&peer(seed), answer);
                    }
                    is_admitted
                };
                (0..1_000).take_while(admits).count()
            };
            seeds.map(of_peer).collect::<Vec<_>>()
        };
        assert_eq!(serve(&mut (0..4), 0, MIB), [32; 4], "few have their whole part");
        assert_eq!(serve(&mut (4..104), 0, MIB), [0; 100], "nothing is left at this moment");
        let mut of_each = vec![0; 104];
        for second in 1..=60 {
            // Another one is the first each time.
            let order: Vec<u64> = (0..104).map(|place| (place + 37 * second) % 104).collect();
            for (seed, now) in order.iter().zip(serve(&mut order.iter().copied(), second, LARGEST_ANSWER)) {
                of_each[*seed as usize] += now;
            }
        }
        assert!(of_each[4..].iter().all(|served| *served > 0), "{of_each:?}");
        assert!(of_each.iter().sum::<usize>() * LARGEST_ANSWER <= (60 * 16 + 6) * MIB, "{of_each:?}");
        assert_eq!(serve(&mut (0..4), 600, MIB), [32; 4], "the others went away");
    }

    /// What the engine cannot read is not answered, and counts nothing; so nobody takes what others are served with it.
    #[test]
    fn what_is_no_request_counts_nothing() {
        let served = Mutex::new(Served::new(OF_BLOCKS));
        let request = |key: &[u8]| [&[7; KIND], &[REQUEST][..], key].concat();
        let key = Key::<Digest>::Finalized { height: commonware_consensus::types::Height::new(7) }.encode();
        for nonsense in [request(&[]), request(&[9; 33]), request(&[&key[..], &[0]].concat()), request(&key[..1])] {
            assert!(!(0..1_000).any(|_| passes(&served, &peer(1), &nonsense, NOW)), "{nonsense:?}");
        }
        assert_eq!(lock(&served).all.bytes, 0);
        assert!(passes(&served, &peer(2), &request(&key), NOW));
        assert!(lock(&served).all.bytes > 0);
    }

    /// No answer is larger than what a request counts for all peers.
    #[test]
    fn the_largest_answer_is_counted() {
        assert!(u64::from(crate::engine::max_message()) <= LARGEST);
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
        let served = Arc::new(Mutex::new(Served::new(OF_BLOCKS)));
        let mut sender = Serving { inner: Nowhere(asks.clone()), served: served.clone() };
        let mut send = |kind: u8, bytes: usize| {
            let message = [[7; KIND].as_slice(), &[kind], &vec![0; bytes]].concat();
            let checked = sender.check(Recipients::One(peer(1))).expect("nothing limits it");
            assert!(checked.send(message, false).accepted());
            lock(&served).accounts[&asks].bytes
        };
        assert!(lock(&served).admits(&asks, NOW));
        assert_eq!(send(REQUEST, 40), UNKNOWN);
        assert_eq!(send(1, 991), 1_000);
        assert_eq!(send(2, 0), 9, "there is no such block");
    }
}
