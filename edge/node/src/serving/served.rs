//! What was served to each peer, and what waits for it
//! ([decision 716](../../../../docs/decisions/0716-bytes-that-wait-for-all-peers.md)).
//!
//! An answer that is sent waits in the library's queues until the connection takes it, which copies it and writes it. So it is sent as bytes whose owner is
//! counted until it is dropped: the count is right wherever the answer is, also where a queue was full or the connection ended.

use crate::{
    account::{Account, Bounds},
    quic::IO_TIMEOUT,
};
use bytes::Bytes;
use commonware_actor::{Feedback, Unreliable};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::CheckedSender;
use commonware_runtime::{IoBuf, IoBufs};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

/// What is served on a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes that one peer is served, where few ask.
    pub(crate) of_peer: Bounds,
    /// Bytes that may wait for all peers together.
    pub(crate) waiting: u64,
    /// Bytes of the largest answer. A request counts as many among those that wait, until its answer is made.
    pub(crate) largest: u64,
}

/// Peers that are served so much at a time. Where more ask, they share it.
const FEW: usize = 4;

/// The part of what may wait that one peer has: one of sixteen, or less where more ask. So those who take nothing leave room for others.
const PARTS: usize = 16;

/// What a request counts for its peer until its answer is made: less than the largest answer, because the engine of a peer has sixteen requests under way, to
/// all validators together.
const UNKNOWN: u64 = MIB;

/// For how long a peer counts that asked for something: longer than one stays connected that takes nothing.
const RECENT: Duration = Duration::from_secs(120);

/// How often old requests and written answers are looked for.
const LOOK: Duration = Duration::from_secs(1);

const MIB: u64 = 1024 * 1024;

/// Blocks that are final. The largest message of any channel is below 6 MiB.
pub(crate) const OF_BLOCKS: Limits =
    Limits { of_peer: Bounds { at_once: 32 * MIB, per_second: 4 * MIB }, waiting: 128 * MIB, largest: 6 * MIB };

/// Answers about bodies of blocks that are not final.
pub(crate) const OF_BODIES: Limits = Limits { waiting: 96 * MIB, ..OF_BLOCKS };

/// Parts of copies of damaged blocks.
pub(crate) const OF_COPIES: Limits = Limits { of_peer: Bounds { at_once: 8 * MIB, per_second: MIB }, waiting: 32 * MIB, largest: MIB };

/// What waits on all three channels together.
const _: () = assert!(OF_BLOCKS.waiting + OF_BODIES.waiting + OF_COPIES.waiting == 256 * MIB, "decision 716");

impl Limits {
    /// What each of this many peers is served.
    fn of_each(self, peers: usize) -> Bounds {
        let (few, peers) = (FEW as u64, peers.max(FEW) as u64);
        let part = |bytes: u64| bytes.saturating_mul(few) / peers;
        Bounds { at_once: part(self.of_peer.at_once), per_second: part(self.of_peer.per_second) }
    }

    /// Bytes that may wait for each of this many peers.
    fn part(self, peers: usize) -> u64 {
        self.waiting / peers.max(PARTS) as u64
    }
}

/// What was served on a channel, and what waits there.
#[derive(Clone, Debug)]
pub(crate) struct Served(Arc<Mutex<Counts>>);

impl Served {
    pub(crate) fn new(limits: Limits) -> Self {
        let counts = Counts { limits, peers: BTreeMap::new(), waiting: 0, looked: SystemTime::UNIX_EPOCH };
        Self(Arc::new(Mutex::new(counts)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request of this peer is answered. It counts until its answer is sent, or it turns out to have none.
    pub(crate) fn admits(&self, peer: &PublicKey, now: SystemTime) -> bool {
        self.lock().admits(peer, now)
    }

    /// A request of this peer has no answer.
    pub(crate) fn unanswered(&self, peer: &PublicKey) {
        self.lock().answered(peer, 0);
    }

    /// Sends the answer to a request of this peer, or leaves it where too much waits for the peer. Its account is not charged with what is not sent, also where
    /// the channel has had its messages of this second (`None`), or takes no more.
    pub(crate) fn send<C>(&self, peer: &PublicKey, checked: Option<C>, answer: impl Into<IoBufs>, priority: bool) -> Unreliable<Feedback>
    where
        C: CheckedSender<PublicKey = PublicKey>,
    {
        let Some(checked) = checked else {
            self.unanswered(peer);
            return Unreliable::Rejected;
        };
        let answer: IoBufs = answer.into();
        let bytes = answer.len() as u64;
        let Some(answer) = self.waiting(peer, answer) else { return Unreliable::Rejected };
        let feedback = checked.send(answer, priority);
        if !feedback.accepted() {
            self.lock().unsent(peer, bytes);
        }
        feedback
    }

    /// The answer to a request of this peer, which waits from now on until it is dropped. None where it is left.
    fn waiting(&self, peer: &PublicKey, answer: IoBufs) -> Option<IoBufs> {
        let is_sent = self.lock().answered(peer, answer.len() as u64);
        is_sent.then(|| Bytes::from_owner(Waiting { answer: answer.coalesce(), peer: peer.clone(), served: self.clone() }).into())
    }
}

/// An answer that waits until the peer's connection takes it, or is gone.
struct Waiting {
    answer: IoBuf,
    peer: PublicKey,
    served: Served,
}

impl AsRef<[u8]> for Waiting {
    fn as_ref(&self) -> &[u8] {
        self.answer.as_ref()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.served.lock().taken(&self.peer, self.answer.len() as u64);
    }
}

/// What a channel counts.
#[derive(Debug)]
pub(super) struct Counts {
    limits: Limits,
    /// Those that asked for something recently, or for which something waits.
    pub(super) peers: BTreeMap<PublicKey, Peer>,
    /// Bytes that all of them together have waiting: answers that wait or are written, and the largest answer for each request that has none yet.
    pub(super) waiting: u64,
    looked: SystemTime,
}

/// What is counted of one peer.
#[derive(Debug)]
pub(super) struct Peer {
    /// Bytes that were served, or that requests count.
    pub(super) account: Account,
    /// When it asked last.
    asked: SystemTime,
    /// Requests that have no answer yet.
    requests: u64,
    /// Bytes of answers that its connection has not taken.
    queued: u64,
    /// Bytes of the largest answer that its connection has taken and may still write.
    written: u64,
    /// When that was noticed.
    noticed: Option<SystemTime>,
}

impl Peer {
    fn new(now: SystemTime) -> Self {
        Self { account: Account::new(now), asked: now, requests: 0, queued: 0, written: 0, noticed: None }
    }

    /// Bytes that wait for it.
    fn waiting(&self) -> u64 {
        self.queued.saturating_add(self.written)
    }
}

impl Counts {
    fn admits(&mut self, peer: &PublicKey, now: SystemTime) -> bool {
        self.look(now);
        self.peers.entry(peer.clone()).or_insert_with(|| Peer::new(now));
        let (of_each, part) = (self.limits.of_each(self.peers.len()), self.limits.part(self.peers.len()));
        let Some(peer) = self.peers.get_mut(peer) else { return false };
        peer.asked = now;
        peer.account.advance(of_each.per_second, now);
        let is_admitted = peer.account.used() < of_each.at_once
            && (peer.queued == 0 || peer.waiting() < part)
            && self.waiting.saturating_add(self.limits.largest) <= self.limits.waiting;
        if is_admitted {
            peer.account.charge(UNKNOWN);
            peer.requests = peer.requests.saturating_add(1);
            self.waiting = self.waiting.saturating_add(self.limits.largest);
        }
        is_admitted
    }

    /// Counts an answer of this many bytes in the place of its request. False where it is left: it would be more than may wait for the peer, or the peer has no
    /// request. One answer may always wait.
    fn answered(&mut self, peer: &PublicKey, bytes: u64) -> bool {
        let part = self.limits.part(self.peers.len());
        let Some(peer) = self.peers.get_mut(peer).filter(|peer| peer.requests > 0) else { return false };
        peer.requests = peer.requests.saturating_sub(1);
        peer.account.refund(UNKNOWN);
        self.waiting = self.waiting.saturating_sub(self.limits.largest);
        let is_sent = peer.queued == 0 || peer.waiting().saturating_add(bytes) <= part;
        if is_sent {
            peer.account.charge(bytes);
            peer.queued = peer.queued.saturating_add(bytes);
            self.waiting = self.waiting.saturating_add(bytes);
        }
        is_sent
    }

    /// The channel took no answer of this many bytes.
    fn unsent(&mut self, peer: &PublicKey, bytes: u64) {
        if let Some(peer) = self.peers.get_mut(peer) {
            peer.account.refund(bytes);
        }
    }

    /// An answer of this many bytes waits no more: the connection has taken it, or is gone. It writes one message at a time (decision 701), so that it holds the
    /// largest of those that it has taken at most. There is no sign when it has written that one: it counts until it has been written in any case.
    fn taken(&mut self, peer: &PublicKey, bytes: u64) {
        let Some(peer) = self.peers.get_mut(peer) else { return };
        let larger = bytes.saturating_sub(peer.written);
        peer.queued = peer.queued.saturating_sub(bytes);
        (peer.written, peer.noticed) = (peer.written.saturating_add(larger), None);
        self.waiting = self.waiting.saturating_sub(bytes).saturating_add(larger);
    }

    /// Forgets, once in a while, peers that have not asked recently, and answers that were written, or whose connection has ended for it.
    pub(super) fn look(&mut self, now: SystemTime) {
        // Where the clock was set back, no time has passed.
        let passed = |since: SystemTime| now.duration_since(since).unwrap_or_default();
        if passed(self.looked) < LOOK {
            return;
        }
        self.looked = now;
        for peer in self.peers.values_mut() {
            match peer.noticed {
                // It may have been taken earlier, so it counts for too long rather than not long enough.
                None => peer.noticed = Some(now),
                Some(noticed) if passed(noticed) >= IO_TIMEOUT => {
                    self.waiting = self.waiting.saturating_sub(std::mem::take(&mut peer.written));
                }
                Some(_) => {}
            }
        }
        for peer in self.peers.values_mut().filter(|peer| passed(peer.asked) >= RECENT) {
            // The engine answers every request. Were one left, it must not count for ever: too many would leave nothing for others.
            self.waiting = self.waiting.saturating_sub(self.limits.largest.saturating_mul(std::mem::take(&mut peer.requests)));
        }
        self.peers.retain(|_, peer| passed(peer.asked) < RECENT || peer.waiting() > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::peer;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};

    const LARGEST: u64 = OF_BLOCKS.largest;

    fn at(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(second)
    }

    /// Answers of this many bytes to what a peer asks for, until nothing is sent to it. Each waits until it is dropped.
    fn answers(served: &Served, peer: &PublicKey, second: u64, bytes: u64) -> impl Iterator<Item = IoBufs> {
        let answer = move || IoBufs::from(vec![0_u8; usize::try_from(bytes).expect("there is as much memory")]);
        let next = move || served.admits(peer, at(second)).then(|| served.waiting(peer, answer())).flatten();
        std::iter::from_fn(next).take(1_000)
    }

    /// A peer that takes everything at once gets no more of it than links carry, whatever it has asked for; small answers cost it little, and another peer's
    /// account is its own.
    #[test]
    fn a_peer_is_served_few_large_blocks() {
        let served = Served::new(OF_BLOCKS);
        let taken = |seed: u64, second: u64, bytes: u64| answers(&served, &peer(seed), second, bytes).count();
        assert_eq!([taken(1, 0, MIB), taken(1, 0, MIB), taken(2, 0, MIB)], [32, 0, 32]);
        assert_eq!(taken(1, 1, MIB), 4);
        assert_eq!(taken(1, 0, MIB), 0, "the clock was set back");
        assert_eq!(taken(3, 1, 9), 1_000, "the answers are short");
        assert_eq!(taken(1, 3_600, LARGEST), 6, "no more come together");
        assert_eq!(served.waiting(&peer(4), vec![0_u8].into()).map(|answer| answer.len()), None, "it asked for nothing");
        assert!(!served.lock().peers.contains_key(&peer(4)));
    }

    /// A part of all that may wait does so for one peer. What its connection has taken may still be written, until the connection would have ended for it.
    #[test]
    fn little_waits_for_one_peer() {
        let (served, half, [slow, other]) = (Served::new(OF_BLOCKS), MIB / 2, [1, 2].map(peer));
        let mut waits: Vec<IoBufs> = answers(&served, &slow, 0, half).collect();
        assert_eq!(waits.len(), 16, "a sixteenth of 128 MiB");
        assert_eq!(answers(&served, &slow, 0, 9).count(), 0);
        assert_eq!(answers(&served, &other, 0, half).take(9).count(), 9, "another peer takes what it gets");
        waits.truncate(15);
        assert_eq!(answers(&served, &slow, 0, half).count(), 0, "it is being written");
        waits.truncate(14);
        waits.extend(answers(&served, &slow, 0, half));
        assert_eq!(waits.len(), 15, "and so is the next one now");
        assert_eq!(served.lock().waiting, 17 * half);
        waits.clear();
        assert_eq!(served.lock().waiting, 2 * half, "one for each of the two");
        for (second, expected) in [(1, 2), (60, 2), (61, 0)] {
            served.lock().look(at(second));
            assert_eq!(served.lock().waiting, expected * half, "after {second} seconds");
        }
        let large: Vec<IoBufs> = answers(&served, &slow, 61, 2 * LARGEST).take(2).collect();
        assert_eq!(large.len(), 1, "one answer may always wait");
    }

    /// However many peers ask, what waits for all of them together is bounded, together with what their connections write and what is not made yet.
    #[test]
    fn little_waits_for_all_peers() {
        let served = Served::new(OF_BLOCKS);
        let waits: Vec<IoBufs> = (0..50).flat_map(|seed| answers(&served, &peer(seed), 0, LARGEST).collect::<Vec<_>>()).collect();
        assert_eq!(waits.len(), 21);
        assert_eq!(served.lock().waiting, 21 * LARGEST);
        drop(waits);
        assert_eq!(served.lock().waiting, 21 * LARGEST, "each is written");
        assert!(!served.admits(&peer(60), at(1)));
        assert!((60..81).all(|seed| served.admits(&peer(seed), at(61))));
        assert!(!served.admits(&peer(81), at(61)), "no answer is made yet");
        (60..81).for_each(|seed| served.unanswered(&peer(seed)));
        assert_eq!(served.lock().waiting, 0);
    }

    /// Bytes that a peer takes in ten minutes beside this many others that ask for as much, take nothing, and are disconnected for it each time.
    fn taken_beside(others: u64, bytes: u64) -> u64 {
        let served = Served::new(OF_BLOCKS);
        let peers: Vec<PublicKey> = (0..=others).map(peer).collect();
        let mut stalled: Vec<(Option<u64>, Vec<IoBufs>)> = (0..others).map(|_| Default::default()).collect();
        let mut taken = 0;
        for second in 0..600 {
            // Another one is the first each time.
            for place in 0..peers.len() {
                let place = (place + 37 * second as usize) % peers.len();
                let answers = answers(&served, &peers[place], second, bytes);
                let Some((since, waits)) = stalled.get_mut(place) else {
                    taken += bytes * answers.count() as u64;
                    continue;
                };
                if since.is_some_and(|since| second - since >= IO_TIMEOUT.as_secs()) {
                    (*since, *waits) = (None, Vec::new());
                }
                for answer in answers {
                    match since {
                        // Its connection takes the first.
                        None => *since = Some(second),
                        Some(_) => waits.push(answer),
                    }
                }
            }
            let waits = stalled.iter().map(|(since, waits)| bytes * (waits.len() + usize::from(since.is_some())) as u64).sum::<u64>();
            let counted = served.lock().waiting;
            assert!(waits <= counted && counted <= OF_BLOCKS.waiting, "{waits} of {counted} bytes");
        }
        taken
    }

    /// Decisions 700 and 716: beside peers that take nothing, one that takes what it gets has its part of what is served: of the largest blocks beside nine others,
    /// and of blocks full of transfers beside a hundred.
    #[test]
    fn many_peers_share_what_is_served() {
        for (others, bytes) in [(0, LARGEST), (4, LARGEST), (9, LARGEST), (4, MIB / 2), (9, MIB / 2), (100, MIB / 2)] {
            let part = 600 * 4 * OF_BLOCKS.of_peer.per_second / (others + 1).max(4);
            let taken = taken_beside(others, bytes);
            assert!(taken * 5 >= part * 4, "{taken} of {part} bytes beside {others} others");
            assert!(taken <= part + OF_BLOCKS.of_peer.at_once + bytes, "{taken} of {part} bytes beside {others} others");
        }
    }

    /// The library's network hands on what it is given, and drops it once the peer's connection has taken it, or where the peer has no connection.
    #[test]
    fn the_network_drops_what_it_has_sent() {
        use commonware_p2p::{Address, AddressableManager as _, LimitedSender as _, Receiver as _, Recipients, authenticated::lookup};
        use commonware_runtime::{Clock as _, Quota, Runner as _, Supervisor as _, deterministic};
        use commonware_utils::{NZU32, NZUsize, ordered::Map};
        use std::net::{Ipv4Addr, SocketAddr};
        deterministic::Runner::default().start(|context| async move {
            let join = |seed: u16| {
                let place = |seed: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, 3_000 + seed));
                let handshake = crate::peers::handshake(PrivateKey::from_seed(seed.into()));
                let settings = lookup::Config::local(handshake, b"test", place(seed), NZUsize!(2), 1_024, NZUsize!(16));
                let (mut network, mut oracle) = lookup::Network::new(context.child("network").with_attribute("seed", seed), settings);
                let located = [1_u16, 2].map(|seed| (peer(seed.into()), Address::Symmetric(place(seed))));
                let _ = oracle.track(0, Map::from_iter_dedup(located));
                let ends = network.register(0, Quota::per_second(NZU32!(64)));
                network.start();
                (oracle, ends)
            };
            let ((_oracle, (mut sender, _receiver)), (_other, (_sender, mut receiver))) = (join(1), join(2));
            let (served, asks, mut is_received) = (Served::new(OF_BLOCKS), peer(2), false);
            let queued = || served.lock().peers[&asks].queued;
            for _ in 0..600 {
                assert!(served.admits(&asks, context.current()));
                let checked = sender.check(Recipients::One(asks.clone())).ok();
                assert!(served.send(&asks, checked, vec![7_u8; 1_000], false).accepted());
                assert_eq!(queued(), 1_000, "it waits");
                is_received = tokio::select! {
                    received = receiver.recv() => received.is_ok_and(|(_, message)| message.len() == 1_000),
                    () = context.sleep(Duration::from_millis(100)) => false,
                };
                context.sleep(Duration::from_millis(100)).await;
                assert_eq!(queued(), 0, "whether there is a connection or not");
                if is_received {
                    break;
                }
            }
            assert!(is_received, "nothing comes within a minute");
        });
    }

    /// However many peers come and go, those who have not asked for a while are forgotten.
    #[test]
    fn peers_that_went_away_are_forgotten() {
        let served = Served::new(OF_BLOCKS);
        for seed in 0..1_000 {
            assert_eq!(answers(&served, &peer(seed), seed, MIB).take(1).count(), 1);
            let kept = served.lock().peers.len();
            assert!(kept <= 120, "{kept} peers");
        }
        for second in [1_200, 1_300] {
            served.lock().look(at(second));
        }
        assert_eq!(served.lock().peers.len(), 0);
        // A request that has no answer after that has none.
        assert!(served.admits(&peer(0), at(2_000)) && served.lock().waiting == LARGEST);
        served.lock().look(at(2_119));
        assert_eq!(served.lock().waiting, LARGEST);
        served.lock().look(at(2_120));
        assert_eq!(served.lock().waiting, 0);
        assert_eq!(served.lock().peers.len(), 0);
    }
}
