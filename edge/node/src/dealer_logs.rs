//! The logs of dealers that wait for a block (decision 385).

use crate::{
    block::SealedBlock,
    committees::Term,
    epoch::{MAX_MEMBERS, Payload},
};
use commonware_codec::{Buf, Decode as _};
use commonware_consensus::types::{EpochPhase, Epocher as _, FixedEpocher, Height};
use commonware_cryptography::{
    bls12381::{
        dkg::feldman_desmedt::{Info as Round, Reveal, SignedDealerLog},
        primitives::{sharing::Mode, variant::MinSig},
    },
    ed25519::PublicKey,
};
use commonware_glue::dkg::ReshareBlock as _;
use commonware_utils::N3f1;
use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU64,
    sync::{Arc, Mutex, MutexGuard},
};

/// How often in an epoch a dealer's log is looked at. To check one takes long where validators are many.
const TRIES: u8 = 3;

/// A log, signed by its dealer.
pub(crate) type Log = SignedDealerLog<MinSig, PublicKey>;

/// How players' shares are evaluated, and which of them count as public. The same for everybody.
pub(crate) const SHARING: Mode = Mode::NonZeroCounter;
pub(crate) const REVEAL: Reveal = Reveal::V1;

/// The logs of one epoch that are in no final block yet.
#[derive(Default)]
pub(crate) struct Logs(Mutex<Epoch>);

#[derive(Default)]
struct Epoch {
    number: Option<u64>,
    round: Option<Arc<Round<MinSig, PublicKey>>>,
    waiting: BTreeMap<PublicKey, Log>,
    included: BTreeSet<PublicKey>,
    tried: BTreeMap<PublicKey, u8>,
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
            let parts = term.info.participants();
            let previous = Some(term.info.output.clone());
            let number = term.info.epoch.get();
            let round = Round::new::<N3f1>(namespace, number, previous, SHARING, REVEAL, parts.dealers, parts.players);
            *epoch = Epoch { number: Some(number), round: round.ok().map(Arc::new), ..Epoch::default() };
        }
        epoch
    }

    /// Takes in what a dealer says is its log. What is of another epoch or dealer, malformed, or not signed is left.
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
        if log.clone().check(&round).is_some_and(|(signer, _)| signer == *dealer) {
            self.of(term, namespace).waiting.entry(dealer.clone()).or_insert(log);
        }
    }

    /// Takes note of the log in a final block.
    pub(crate) fn note(&self, term: &Term, namespace: &[u8], log: Log) {
        let round = self.of(term, namespace).round.clone();
        let Some((dealer, _)) = round.and_then(|round| log.check(&round)) else { return };
        let mut epoch = self.of(term, namespace);
        epoch.waiting.remove(&dealer);
        epoch.included.insert(dealer);
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
