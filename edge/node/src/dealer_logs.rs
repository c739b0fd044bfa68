//! The logs of dealers that wait for a block (decision 385).

use crate::{
    block::SealedBlock,
    committees::Term,
    epoch::{Info, MAX_MEMBERS, Payload},
};
use commonware_codec::{Buf, Decode as _, EncodeSize as _};
use commonware_consensus::types::{EpochPhase, Epocher as _, FixedEpocher, Height};
use commonware_cryptography::{
    bls12381::{
        dkg::feldman_desmedt::{DealerLogSummary, Info as Round, Reveal, SignedDealerLog},
        primitives::{sharing::Mode, variant::MinSig},
    },
    ed25519::PublicKey,
};
use commonware_glue::dkg::ReshareBlock as _;
use commonware_utils::N3f1;
use std::{
    collections::{BTreeMap, BTreeSet},
    num::{NonZeroU32, NonZeroU64},
    sync::{Arc, Mutex, MutexGuard},
};

/// How often in an epoch a dealer's log is looked at. To check one takes long where validators are many.
const TRIES: u8 = 3;

/// A log, signed by its dealer.
pub(crate) type Log = SignedDealerLog<MinSig, PublicKey>;

/// How players' shares are evaluated, and which of them count as public. The same for everybody.
pub(crate) const SHARING: Mode = Mode::NonZeroCounter;
pub(crate) const REVEAL: Reveal = Reveal::V1;

/// By player, the dealers that lack its acknowledgement, and whose logs therefore publish what they dealt to it.
type Lacking = BTreeMap<PublicKey, BTreeSet<PublicKey>>;

/// The logs of one epoch that are in no final block yet, and what those in final blocks say of acknowledgements.
#[derive(Default)]
pub(crate) struct Logs(Mutex<Epoch>);

#[derive(Default)]
struct Epoch {
    number: Option<u64>,
    round: Option<Arc<Round<MinSig, PublicKey>>>,
    waiting: BTreeMap<PublicKey, Log>,
    included: BTreeSet<PublicKey>,
    tried: BTreeMap<PublicKey, u8>,
    lacking: Lacking,
    /// The epoch whose logs came before these, and what they say.
    before: (Option<u64>, Lacking),
}

/// Whether the block of this number may contain a dealer's log.
pub(crate) fn takes_logs(length: NonZeroU64, number: u64) -> bool {
    let found = FixedEpocher::new(length).containing(Height::new(number));
    found.is_some_and(|epoch| matches!(epoch.phase(), EpochPhase::Midpoint | EpochPhase::Late) && epoch.last() != Height::new(number))
}

impl Logs {
    /// The logs of this epoch; those of another are forgotten.
    fn of(&self, term: &Term, namespace: &[u8]) -> MutexGuard<'_, Epoch> {
        let mut epoch = self.0.lock().expect("nothing panics while it holds the lock");
        if epoch.number != Some(term.info.epoch.get()) {
            let round = round(&term.info, namespace).map(Arc::new);
            let before = (epoch.number, std::mem::take(&mut epoch.lacking));
            *epoch = Epoch { number: Some(term.info.epoch.get()), round, before, ..Epoch::default() };
        }
        epoch
    }

    /// Takes in what a dealer says is its log. What is of another epoch or dealer, malformed, not signed, or would be refused in a block is left.
    pub(crate) fn take(&self, term: &Term, namespace: &[u8], dealer: &PublicKey, bytes: impl Buf) {
        let round = {
            let mut epoch = self.of(term, namespace);
            let is_known = epoch.waiting.contains_key(dealer) || epoch.included.contains(dealer);
            if is_known || term.info.output.players().position(dealer).is_none() {
                return;
            }
            let tried = epoch.tried.entry(dealer.clone()).or_default();
            if *tried == TRIES {
                return;
            }
            *tried += 1;
            epoch.round.clone()
        };
        let Some(round) = round else { return };
        let Ok(log) = Log::decode_cfg(bytes, &MAX_MEMBERS) else { return };
        if dealer_of(&term.info, &round, &log, log.encode_size()).is_some_and(|signer| signer == *dealer) {
            self.of(term, namespace).waiting.entry(dealer.clone()).or_insert(log);
        }
    }

    /// Takes note of the log in a final block.
    pub(crate) fn note(&self, term: &Term, namespace: &[u8], log: Log) {
        let round = self.of(term, namespace).round.clone();
        let Some((dealer, log)) = round.and_then(|round| log.check(&round)) else { return };
        let mut epoch = self.of(term, namespace);
        // A dealer that lacks too many does not say which.
        if let DealerLogSummary::Ok { reveals, .. } = log.summary() {
            for player in reveals.iter() {
                epoch.lacking.entry(player.clone()).or_default().insert(dealer.clone());
            }
        }
        epoch.waiting.remove(&dealer);
        epoch.included.insert(dealer);
    }

    /// The dealers that had no acknowledgement of this player in an epoch, as far as their logs were in final blocks since the node started. Known until
    /// the middle of the next epoch but one.
    pub(crate) fn lacking(&self, epoch: u64, player: &PublicKey) -> Vec<PublicKey> {
        let held = self.0.lock().expect("nothing panics while it holds the lock");
        let earlier = (held.before.0, &held.before.1);
        let of_epoch = [(held.number, &held.lacking), earlier].into_iter().find(|(number, _)| *number == Some(epoch));
        let dealers = of_epoch.and_then(|(_, lacking)| lacking.get(player));
        dealers.map_or_else(Vec::new, |dealers| dealers.iter().cloned().collect())
    }

    /// Whether the log of this dealer is in a final block.
    pub(crate) fn is_included(&self, term: &Term, namespace: &[u8], dealer: &PublicKey) -> bool {
        self.of(term, namespace).included.contains(dealer)
    }

    /// A log that is in none of these blocks, nor in a final one.
    pub(crate) fn next(&self, term: &Term, namespace: &[u8], blocks: &[SealedBlock]) -> Option<Log> {
        let under_way: Vec<Log> = blocks
            .iter()
            .filter_map(|block| match block.payload() {
                Some(Payload::DealerLog(log)) => Some(log),
                _ => None,
            })
            .collect();
        self.of(term, namespace).waiting.values().find(|log| !under_way.contains(log)).cloned()
    }
}

/// The round of dealing of an epoch. `None` where the epoch's description does not fit together.
fn round(info: &Info, namespace: &[u8]) -> Option<Round<MinSig, PublicKey>> {
    let (parts, previous) = (info.participants(), Some(info.output.clone()));
    Round::new::<N3f1>(namespace, info.epoch.get(), previous, SHARING, REVEAL, parts.dealers, parts.players).ok()
}

/// The dealer of a log of this many bytes, where it is of a dealer of this epoch, signed by it, and no longer than its players need. Proposers take
/// no other log, and verifiers accept none.
///
/// Whether the dealing itself is sound is found out when the epoch ends, by everybody alike.
fn dealer_of(info: &Info, round: &Round<MinSig, PublicKey>, log: &Log, bytes: usize) -> Option<PublicKey> {
    let players = u32::try_from(info.players.len()).ok().and_then(NonZeroU32::new)?;
    let (dealer, _) = log.clone().check(round).filter(|_| bytes <= Log::max_encode_size(players))?;
    info.output.players().position(&dealer).map(|_| dealer)
}

/// Whether a block of this epoch may contain a log, which has this many bytes there.
pub(crate) fn is_log_of(info: &Info, namespace: &[u8], log: &Log, bytes: usize) -> bool {
    round(info, namespace).and_then(|round| dealer_of(info, &round, log, bytes)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::committee::{Committee, ValidatorKeys, first_epoch};
    use commonware_codec::Encode as _;
    use commonware_cryptography::{
        Signer as _,
        bls12381::dkg::feldman_desmedt::{Dealer, Player},
        ed25519::PrivateKey,
        transcript::{Transcript, Version},
    };
    use commonware_utils::{TestRng, ordered::Set};
    use cowboy_types::Amount;

    /// Half of an epoch takes logs, but for the last block: docs/nodes.md says how many signers an epoch is long enough for.
    #[test]
    fn the_second_half_takes_logs() {
        for (length, blocks) in [(7, 3), (30, 14), (134, 66), (135, 67), (3_600, 1_799)] {
            let length = NonZeroU64::new(length).expect("it is not zero");
            let (first, middle) = (5 * length.get(), 5 * length.get() + length.get() / 2);
            assert_eq!((middle..first + length.get()).filter(|number| takes_logs(length, *number)).count(), blocks, "{length}");
            assert!((first..middle).all(|number| !takes_logs(length, number)), "the first half deals");
        }
    }

    /// The dealers without a player's acknowledgement are known, also while the logs of the next epoch come.
    #[test]
    fn dealers_without_an_acknowledgement_are_named() {
        let (validators, sharing, keys) = Committee::derive(b"logs", 4, Amount(1));
        let info = first_epoch(&validators, &sharing).expect("an epoch");
        let here = round(&info, b"here").expect("a round");
        let (signer, share, silent) = (&keys[0].network, keys[0].share.clone(), keys[3].network.public_key());
        let (mut dealer, public, private) = Dealer::start::<N3f1>(TestRng::new(1), here.clone(), signer.clone(), share).expect("a dealer");
        for (key, dealt) in private.into_iter().filter(|(key, _)| *key != silent) {
            let own = keys.iter().find(|keys| keys.network.public_key() == key).expect("every player is a validator");
            let mut player = Player::new(here.clone(), own.network.clone()).expect("a player");
            let taken = player.dealer_message::<N3f1>(signer.public_key(), public.clone(), dealt).expect("it fits");
            dealer.receive_player_ack(key, taken.expect("it is the first")).expect("a player");
        }
        let (logs, term) = (Logs::default(), Term::new(info.clone()).expect("a term"));
        logs.note(&term, b"here", dealer.finalize::<N3f1>());
        let next = Term::new(Info { epoch: commonware_consensus::types::Epoch::new(1), ..info }).expect("a term");
        for _ in 0..2 {
            assert_eq!(logs.lacking(0, &silent), [signer.public_key()]);
            assert!(logs.lacking(0, &keys[1].network.public_key()).is_empty() && logs.lacking(1, &silent).is_empty());
            drop(logs.of(&next, b"here"));
        }
    }

    /// Logs of strangers, of another epoch or chain, or longer than a log to the players of the epoch are no logs of it.
    #[test]
    fn logs_are_of_dealers() {
        let (validators, sharing, keys) = Committee::derive(b"logs", 4, Amount(1));
        let info = first_epoch(&validators, &sharing).expect("an epoch");
        let stranger = ValidatorKeys::derive(b"stranger").network;
        let log = |epoch: u64, signer: &PrivateKey, players: &Set<PublicKey>, share| {
            let (dealers, previous) = match share {
                Some(_) => (info.output.players().clone(), Some(info.output.clone())),
                None => (Set::from_iter_dedup([signer.public_key()]), None),
            };
            let round = Round::new::<N3f1>(b"here", epoch, previous, SHARING, REVEAL, dealers, players.clone()).expect("a round");
            let (dealer, ..) = Dealer::start::<N3f1>(TestRng::new(1), round, signer.clone(), share).expect("a dealer");
            dealer.finalize::<N3f1>()
        };
        let is_sound = |namespace: &[u8], log: &Log| is_log_of(&info, namespace, log, log.encode_size());
        let (own, share) = (&keys[0].network, keys[0].share.clone());
        let good = log(0, own, &info.players, share.clone());
        assert!(is_sound(b"here", &good));
        assert!(!is_sound(b"elsewhere", &good));
        assert!(!is_log_of(&info, b"here", &good, 10_000), "a log to hundreds of players");
        assert!(!is_sound(b"here", &log(1, own, &info.players, share)), "another epoch");
        assert!(!is_sound(b"here", &log(0, &stranger, &info.players, None)), "nobody asked it to deal");
    }

    /// A log, signed by its dealer for a round, of what it dealt in another one.
    fn resigned(namespace: &[u8], round: &Round<MinSig, PublicKey>, info: &Info, signer: &PrivateKey, log: &Log) -> Log {
        let mut transcript = Transcript::new(b"_COMMONWARE_CRYPTOGRAPHY_BLS12381_DKG", Version::V0);
        let (previous, number) = (Some(info.output.clone()), info.epoch.get());
        transcript.commit(namespace).commit(number.encode()).commit(previous.encode());
        // The last are the modes: the first one is zero, and Reveal::V1 is one.
        transcript.commit(info.output.players().encode()).commit(info.players.encode()).commit([0x80, 1].as_slice());
        let bytes = log.encode();
        let dealt = &bytes[32..bytes.len() - 64];
        let mut signed = Transcript::resume(transcript.summarize(), Version::V0).fork(b"log");
        let signature = signed.commit(dealt).sign(signer);
        let bytes = [signer.public_key().as_ref(), dealt, signature.as_ref()].concat();
        let log = Log::decode_cfg(bytes::Bytes::from(bytes), &MAX_MEMBERS).expect("a log");
        assert!(log.clone().check(round).is_some(), "the signature holds");
        log
    }

    /// A dealer's log is taken only where a block may contain it: one that verifiers refuse would make every proposal invalid.
    #[test]
    fn what_verifiers_refuse_is_never_proposed() {
        let (validators, sharing, keys) = Committee::derive(b"logs", 4, Amount(1));
        let info = first_epoch(&validators, &sharing).expect("an epoch");
        let term = Term::new(info.clone()).expect("a term");
        let here = round(&info, b"here").expect("a round");
        let (_, _, many) = Committee::derive(b"many", 24, Amount(1));
        let many = Set::from_iter_dedup(many.iter().map(|keys| keys.network.public_key()));
        let (signer, share) = (&keys[0].network, keys[0].share.clone());
        let dealt_to = |players: Set<PublicKey>| {
            let (dealers, previous) = (info.output.players().clone(), Some(info.output.clone()));
            let round = Round::new::<N3f1>(b"here", 0, previous, SHARING, REVEAL, dealers, players).expect("a round");
            let (dealer, ..) = Dealer::start::<N3f1>(TestRng::new(1), round, signer.clone(), share.clone()).expect("a dealer");
            resigned(b"here", &here, &info, signer, &dealer.finalize::<N3f1>())
        };
        for (players, is_taken) in [(info.players.clone(), true), (many, false)] {
            let log = dealt_to(players);
            let logs = Logs::default();
            logs.take(&term, b"here", &signer.public_key(), log.encode());
            let proposed = logs.next(&term, b"here", &[]);
            assert_eq!(proposed.is_some(), is_taken);
            assert_eq!(is_log_of(&info, b"here", &log, log.encode_size()), is_taken);
        }
    }
}
