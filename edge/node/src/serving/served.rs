//! What was served to each peer, and what waits for it
//! ([decision 716](../../../../docs/decisions/0716-bytes-that-wait-for-all-peers.md)).
//!
//! An answer that is sent waits in the library's queues until the peer's connection takes it, which holds it until it is written
//! ([`crate::peers`]). So it is sent as bytes whose owner is counted until it is dropped: the count is right wherever the answer is, also where a queue
//! was full or the connection ended.

use crate::account::{Account, Bounds};
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

/// What a request counts for its peer until its answer is made, and after that at most where the answer is left: less than the largest answer, because the
/// engine of a peer has sixteen requests under way, to all validators together.
const UNKNOWN: u64 = MIB;

/// For how long a peer counts that asked for something: longer than one stays connected that takes nothing.
const RECENT: Duration = Duration::from_secs(120);

/// How often old requests are looked for.
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

    /// Whether a request of this peer has no answer yet.
    pub(super) fn has_request(&self, peer: &PublicKey) -> bool {
        self.lock().peers.get(peer).is_some_and(|peer| peer.requests > 0)
    }

    /// A request of this peer has no answer.
    pub(crate) fn unanswered(&self, peer: &PublicKey) {
        self.lock().settle(peer);
    }

    /// Sends the answer to a request of this peer. Where too much waits for the peer, it is left, and `busy` sent in its place, so that the peer asks another
    /// one at once. Its account is not charged with what is not sent, also where the channel has had its messages of this second (`None`), or takes no more.
    pub(crate) fn send<C>(
        &self,
        peer: &PublicKey,
        checked: Option<C>,
        (answer, busy): (impl Into<IoBufs>, impl Into<IoBufs>),
        priority: bool,
    ) -> Unreliable<Feedback>
    where
        C: CheckedSender<PublicKey = PublicKey>,
    {
        let Some(checked) = checked else {
            self.unanswered(peer);
            return Unreliable::Rejected;
        };
        let (answer, busy): (IoBufs, IoBufs) = (answer.into(), busy.into());
        let (bytes, is_asked) = (answer.len() as u64, self.has_request(peer));
        let Some(answer) = self.waiting(peer, answer) else {
            return if is_asked { checked.send(busy, priority) } else { Unreliable::Rejected };
        };
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

/// An answer that waits until the peer's connection has written it, or is gone.
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
        self.served.lock().written(&self.peer, self.answer.len() as u64);
    }
}

/// What a channel counts.
#[derive(Debug)]
pub(super) struct Counts {
    limits: Limits,
    /// Those that asked for something recently, or for which something waits.
    pub(super) peers: BTreeMap<PublicKey, Peer>,
    /// Bytes that all of them together have waiting: answers that are not written yet, and the largest answer for each request that has none yet.
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
    /// Answers that its connection has not written yet.
    answers: u64,
    /// Bytes of them.
    waiting: u64,
}

impl Peer {
    fn new(now: SystemTime) -> Self {
        Self { account: Account::new(now), asked: now, requests: 0, answers: 0, waiting: 0 }
    }

    /// Whether this many bytes more may wait for it, where its part has this many. Whatever it has, one answer may wait while another is written.
    fn has_room(&self, bytes: u64, part: u64) -> bool {
        self.answers < 2 || self.waiting.saturating_add(bytes) <= part
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
            && peer.has_room(1, part)
            && self.waiting.saturating_add(self.limits.largest) <= self.limits.waiting;
        if is_admitted {
            peer.account.charge(UNKNOWN);
            peer.requests = peer.requests.saturating_add(1);
            self.waiting = self.waiting.saturating_add(self.limits.largest);
        }
        is_admitted
    }

    /// A request of this peer counts no more. None where it has no request.
    fn settle(&mut self, peer: &PublicKey) -> Option<&mut Peer> {
        let peer = self.peers.get_mut(peer).filter(|peer| peer.requests > 0)?;
        peer.requests = peer.requests.saturating_sub(1);
        peer.account.refund(UNKNOWN);
        self.waiting = self.waiting.saturating_sub(self.limits.largest);
        Some(peer)
    }

    /// Counts an answer of this many bytes in the place of its request. False where it is left: it would be more than may wait for the peer, or the peer has no
    /// request.
    fn answered(&mut self, peer: &PublicKey, bytes: u64) -> bool {
        let part = self.limits.part(self.peers.len());
        let Some(peer) = self.settle(peer) else { return false };
        if !peer.has_room(bytes, part) {
            // It was made all the same.
            peer.account.charge(bytes.min(UNKNOWN));
            return false;
        }
        peer.account.charge(bytes);
        peer.answers = peer.answers.saturating_add(1);
        peer.waiting = peer.waiting.saturating_add(bytes);
        self.waiting = self.waiting.saturating_add(bytes);
        true
    }

    /// The channel took no answer of this many bytes.
    fn unsent(&mut self, peer: &PublicKey, bytes: u64) {
        if let Some(peer) = self.peers.get_mut(peer) {
            peer.account.refund(bytes);
        }
    }

    /// An answer of this many bytes waits no more: the connection has written it, or it is gone.
    fn written(&mut self, peer: &PublicKey, bytes: u64) {
        let Some(peer) = self.peers.get_mut(peer) else { return };
        peer.answers = peer.answers.saturating_sub(1);
        peer.waiting = peer.waiting.saturating_sub(bytes);
        self.waiting = self.waiting.saturating_sub(bytes);
    }

    /// Forgets, once in a while, peers that have not asked recently.
    pub(super) fn look(&mut self, now: SystemTime) {
        // Where the clock was set back, no time has passed.
        let passed = |since: SystemTime| now.duration_since(since).unwrap_or_default();
        if passed(self.looked) < LOOK {
            return;
        }
        self.looked = now;
        for peer in self.peers.values_mut().filter(|peer| passed(peer.asked) >= RECENT) {
            // The engine answers every request. Were one left, it must not count for ever: too many would leave nothing for others.
            self.waiting = self.waiting.saturating_sub(self.limits.largest.saturating_mul(std::mem::take(&mut peer.requests)));
        }
        self.peers.retain(|_, peer| passed(peer.asked) < RECENT || peer.answers > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{quic::IO_TIMEOUT, testing::peer};
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use std::collections::VecDeque;

    const LARGEST: u64 = OF_BLOCKS.largest;

    fn at(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(second)
    }

    /// An answer of this many bytes.
    fn answer(bytes: u64) -> IoBufs {
        vec![0_u8; usize::try_from(bytes).expect("there is as much memory")].into()
    }

    /// Answers of this many bytes to what a peer asks for, until nothing is sent to it. Each waits until it is dropped.
    fn answers(served: &Served, peer: &PublicKey, second: u64, bytes: u64) -> impl Iterator<Item = IoBufs> {
        let next = move || served.admits(peer, at(second)).then(|| served.waiting(peer, answer(bytes))).flatten();
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

    /// A part of all that may wait does so for one peer, until it is written.
    #[test]
    fn little_waits_for_one_peer() {
        let (served, half, [slow, other]) = (Served::new(OF_BLOCKS), MIB / 2, [1, 2].map(peer));
        let mut waits: Vec<IoBufs> = answers(&served, &slow, 0, half).collect();
        assert_eq!(waits.len(), 16, "a sixteenth of 128 MiB");
        assert_eq!(answers(&served, &slow, 0, 9).count(), 0);
        assert_eq!(answers(&served, &other, 0, half).take(9).count(), 9, "another peer takes what it gets");
        waits.truncate(14);
        waits.extend(answers(&served, &slow, 0, half));
        assert_eq!(waits.len(), 16, "two were written");
        assert_eq!(served.lock().waiting, 16 * half);
        waits.clear();
        assert_eq!(served.lock().waiting, 0);
        let large: Vec<IoBufs> = answers(&served, &slow, 0, 2 * LARGEST).take(3).collect();
        assert_eq!(large.len(), 2, "one may always wait while another is written");
    }

    /// Whoever has answers made for which there is no room is charged with what its requests counted for them, or with their bytes where they have fewer: blocks
    /// are read for nobody as often as it asks.
    #[test]
    fn answers_that_are_left_are_charged() {
        let (served, slow) = (Served::new(OF_BLOCKS), peer(1));
        let mut waits: Vec<IoBufs> = answers(&served, &slow, 0, 3 * MIB).take(2).collect();
        let is_left = |second: u64, bytes: u64| served.admits(&slow, at(second)) && served.waiting(&slow, answer(bytes)).is_none();
        assert_eq!((0..1_000).take_while(|_| is_left(0, 3 * MIB)).count(), 26);
        let used = || served.lock().peers[&slow].account.used();
        assert_eq!(used(), 32 * MIB);
        waits.extend(answers(&served, &slow, 1, 2 * MIB - 5).take(1));
        assert_eq!((waits.len(), used()), (3, 30 * MIB - 5));
        assert!(is_left(1, 9), "five bytes have room");
        assert_eq!(used(), 30 * MIB + 4);
    }

    /// However many peers ask, what waits for all of them together is bounded, together with what is not made yet.
    #[test]
    fn little_waits_for_all_peers() {
        let served = Served::new(OF_BLOCKS);
        let waits: Vec<IoBufs> = (0..50).flat_map(|seed| answers(&served, &peer(seed), 0, LARGEST).collect::<Vec<_>>()).collect();
        assert_eq!(waits.len(), 21);
        assert_eq!(served.lock().waiting, 21 * LARGEST);
        assert!(!served.admits(&peer(60), at(0)));
        drop(waits);
        assert_eq!(served.lock().waiting, 0, "all are written");
        assert!((60..81).all(|seed| served.admits(&peer(seed), at(0))));
        assert!(!served.admits(&peer(81), at(0)), "no answer is made yet");
        (60..81).for_each(|seed| served.unanswered(&peer(seed)));
        assert_eq!(served.lock().waiting, 0);
    }

    /// A body that a hundred validators lack is served to each of them as soon as there is room, which is when another answer is written.
    #[test]
    fn a_leader_serves_all_validators() {
        let (served, body) = (Served::new(OF_BODIES), 5_000_000);
        let mut lack: VecDeque<PublicKey> = (0..100).map(peer).collect();
        let (mut waits, mut most) = (VecDeque::new(), 0);
        while let Some(validator) = lack.pop_front() {
            let answer = answers(&served, &validator, 0, body).next();
            match answer {
                Some(answer) => waits.push_back(answer),
                None => {
                    assert!(waits.pop_front().is_some(), "an answer is written, and there is room");
                    lack.push_front(validator);
                }
            }
            most = waits.len().max(most);
        }
        assert_eq!(most, 19, "as many wait as 96 MiB have");
    }

    /// Bytes that a peer takes in ten minutes beside this many others that ask for as much, take nothing, and are disconnected for it each time.
    fn taken_beside(others: u64, bytes: u64) -> u64 {
        let served = Served::new(OF_BLOCKS);
        let peers: Vec<PublicKey> = (0..=others).map(peer).collect();
        // Since when each of the others is written to, and what waits for it.
        let mut stalled: Vec<(u64, Vec<IoBufs>)> = (0..others).map(|_| Default::default()).collect();
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
                if second - *since >= IO_TIMEOUT.as_secs() {
                    waits.clear();
                }
                if waits.is_empty() {
                    *since = second;
                }
                waits.extend(answers);
            }
            let waits = stalled.iter().map(|(_, waits)| bytes * waits.len() as u64).sum::<u64>();
            let counted = served.lock().waiting;
            assert!(waits == counted && counted <= OF_BLOCKS.waiting, "{waits} of {counted} bytes");
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

    /// An answer counts until the network has written it, however long that takes, and no longer than there is a connection.
    #[test]
    fn messages_are_held_until_they_are_written() {
        use commonware_p2p::{Address, AddressableManager as _, LimitedSender as _, Recipients, authenticated::lookup};
        use commonware_runtime::{Clock as _, Listener as _, Network as _, Quota, Runner as _, Supervisor as _, deterministic};
        use commonware_stream::Upgrader as _;
        use commonware_utils::{NZU32, NZUsize, ordered::Map};
        use std::net::{Ipv4Addr, SocketAddr};
        // More than the runtime's connections take before anybody reads them.
        const BYTES: u64 = 100_000;
        const SOON: Duration = Duration::from_millis(50);
        deterministic::Runner::default().start(|context| async move {
            let [own, other] = [3_001, 3_002].map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
            let settings = crate::peers::settings(PrivateKey::from_seed(1), b"test", own, NZUsize!(2), BYTES as u32);
            let (mut network, mut oracle) = lookup::Network::new(context.child("network"), settings);
            let located = [(1, own), (2, other)].map(|(seed, address)| (peer(seed), Address::Symmetric(address)));
            let _ = oracle.track(0, Map::from_iter_dedup(located));
            let (mut sender, _receiver) = network.register(0, Quota::per_second(NZU32!(64)));
            network.start();
            let (served, asks) = (Served::new(OF_BLOCKS), peer(2));
            let mut send = |now: SystemTime| {
                assert!(served.admits(&asks, now));
                let checked = sender.check(Recipients::One(asks.clone())).ok();
                assert!(served.send(&asks, checked, (answer(BYTES), answer(1)), false).accepted());
            };
            let waiting = || served.lock().waiting;
            send(context.current());
            assert_eq!(waiting(), BYTES);
            context.sleep(SOON).await;
            assert_eq!(waiting(), 0, "there is no connection");
            let mut listener = context.bind(other).await.expect("the port is free");
            let (_, sink, stream) = listener.accept().await.expect("the network dials");
            let handshake = crate::peers::handshake(PrivateKey::from_seed(2));
            let shaken = handshake.listen(context.child("peer"), b"test_STREAM", 2 * BYTES as u32, |_| async { true }, stream, sink).await;
            let (_, back, mut taken) = shaken.expect("it is who it says");
            for _ in 0..40 {
                if waiting() == 0 {
                    send(context.current());
                    context.sleep(SOON).await;
                }
            }
            context.sleep(2 * IO_TIMEOUT).await;
            assert_eq!(waiting(), BYTES, "the peer takes nothing");
            assert!(taken.recv().await.expect("it comes").len() >= BYTES as usize);
            context.sleep(SOON).await;
            assert_eq!(waiting(), 0, "it is written");
            send(context.current());
            context.sleep(SOON).await;
            assert_eq!(waiting(), BYTES);
            drop((back, taken));
            context.sleep(SOON).await;
            assert_eq!(waiting(), 0, "the connection has ended");
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
