//! What the engine tells of past rounds: the seeds that certificates reveal (decision 114), and who voted (decision 133).

use commonware_actor::Feedback;
use commonware_codec::Encode as _;
use commonware_consensus::{
    Reporter,
    simplex::{
        scheme::bls12381_threshold::vrf::{self, Seed, Seedable as _},
        types::Activity,
    },
    types::{Epoch, Round, View},
};
use commonware_cryptography::{
    blake3::Digest,
    bls12381::primitives::variant::{MinSig, Variant},
    ed25519,
};
use cowboy_types::{Header, block::MAX_SEEDS, wire::Fixed};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};
use tokio::sync::Notify;

/// The signing scheme of votes: BLS threshold signatures that also reveal a seed per round.
pub type Scheme = vrf::Scheme<ed25519::PublicKey, MinSig>;

/// A seed as a header carries it.
pub type SeedBytes = cowboy_types::block::Seed;

type Signature = <MinSig as Variant>::Signature;

/// Rounds whose seeds are held in memory.
const HELD_ROUNDS: usize = 4 * MAX_SEEDS;

/// The seeds that this node has seen. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Seeds(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    seen: Mutex<BTreeMap<Round, Signature>>,
    /// Whose votes for a block were seen, by round.
    voters: Mutex<BTreeMap<Round, BTreeSet<usize>>>,
    changed: Notify,
}

impl Seeds {
    /// Whether a certificate of any round was seen: then the network has begun.
    pub fn is_any_seen(&self) -> bool {
        !self.0.seen.lock().expect("nothing panics while it holds the lock").is_empty()
    }

    /// The seed of a round, where it is known.
    pub fn get(&self, round: Round) -> Option<SeedBytes> {
        self.signature(round).map(to_bytes)
    }

    fn signature(&self, round: Round) -> Option<Signature> {
        self.0.seen.lock().expect("nothing panics while it holds the lock").get(&round).copied()
    }

    /// The view of the newest round whose seed is known.
    pub fn newest(&self) -> Option<u64> {
        let seen = self.0.seen.lock().expect("nothing panics while it holds the lock");
        seen.last_key_value().map(|(round, _)| round.view().get())
    }

    fn put(&self, round: Round, signature: Signature) {
        let mut seen = self.0.seen.lock().expect("nothing panics while it holds the lock");
        seen.insert(round, signature);
        while seen.len() > HELD_ROUNDS {
            seen.pop_first();
        }
        drop(seen);
        self.0.changed.notify_waiters();
    }

    /// Takes note of a validator's vote for a block of this round.
    fn voted(&self, round: Round, voter: usize) {
        let mut voters = self.0.voters.lock().expect("nothing panics while it holds the lock");
        voters.entry(round).or_default().insert(voter);
        while voters.len() > HELD_ROUNDS {
            voters.pop_first();
        }
    }

    /// Whose votes for the block of this round this node has seen: bit i of byte j is the validator 8j + i. Empty where
    /// it has seen none.
    ///
    /// A claim: a threshold certificate names nobody, and the votes behind it were not all seen by all.
    pub fn voters(&self, round: Round) -> Vec<u8> {
        let voters = self.0.voters.lock().expect("nothing panics while it holds the lock");
        let mut bitmap = Vec::new();
        for voter in voters.get(&round).into_iter().flatten() {
            bitmap.resize(voter / 8 + 1, 0);
            bitmap[voter / 8] |= 1 << (voter % 8);
        }
        bitmap
    }

    /// The seeds that a header of `round` on a parent of view `parent` carries. Waits until all are known.
    pub async fn between(&self, parent: View, round: Round) -> Vec<SeedBytes> {
        let mut seeds = Vec::new();
        for view in carried(parent, round.view()) {
            seeds.push(self.wait(Round::new(round.epoch(), view)).await);
        }
        seeds
    }

    async fn wait(&self, round: Round) -> SeedBytes {
        loop {
            let changed = self.0.changed.notified();
            if let Some(seed) = self.get(round) {
                return seed;
            }
            changed.await;
        }
    }

    /// Whether the header carries exactly the seeds of the rounds between its parent's and its own.
    ///
    /// One pairing for each that this node has not seen itself.
    pub fn verify(&self, header: &Header, scheme: &Scheme) -> bool {
        let is_genuine = |(round, seed): (Round, SeedBytes)| {
            let Some(signature) = signature_of(&seed) else { return false };
            let genuine = Seed::<MinSig>::new(round, signature).verify(scheme);
            if genuine {
                self.put(round, signature);
            }
            genuine
        };
        self.unseen(header).is_some_and(|unseen| unseen.into_iter().all(is_genuine))
    }

    /// Whether this node has seen the seed that draws the leader of a header's round, or there is none.
    pub(crate) fn is_draw_seen(&self, header: &Header) -> bool {
        drawing_round(header).is_none_or(|round| self.signature(round).is_some())
    }

    /// The seed that draws the leader of a header's round, if one does.
    ///
    /// One pairing if this node has not seen it.
    ///
    /// # Errors
    ///
    /// Where this node has not seen it, and what the header has in its place is another one.
    pub(crate) fn draw(&self, header: &Header, scheme: &Scheme) -> Result<Option<SeedBytes>, Unknown> {
        let Some(round) = drawing_round(header) else { return Ok(None) };
        if let Some(seed) = self.get(round) {
            return Ok(Some(seed));
        }
        let seed = *header.seeds.last().ok_or(Unknown)?;
        let signature = signature_of(&seed).ok_or(Unknown)?;
        if !Seed::<MinSig>::new(round, signature).verify(scheme) {
            return Err(Unknown);
        }
        self.put(round, signature);
        Ok(Some(seed))
    }

    /// The seeds of a header that this node has not seen itself. `None` where the header has not as many as there are rounds between its parent's and its
    /// own.
    pub(crate) fn unseen(&self, header: &Header) -> Option<Vec<(Round, SeedBytes)>> {
        let epoch = Epoch::new(header.context.epoch.0);
        let parent = View::new(header.context.parent_view.0);
        let views: Vec<View> = carried(parent, View::new(header.context.view.0)).collect();
        if views.len() != header.seeds.len() {
            return None;
        }
        let rounds = views.into_iter().map(|view| Round::new(epoch, view)).zip(header.seeds.iter().copied());
        Some(rounds.filter(|(round, seed)| self.get(*round) != Some(*seed)).collect())
    }
}

/// A seed is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unknown;

/// The round whose seed draws the leader of a header's round; none for the first of an epoch.
fn drawing_round(header: &Header) -> Option<Round> {
    let before = header.context.view.0.checked_sub(1).filter(|view| *view > 0)?;
    Some(Round::new(Epoch::new(header.context.epoch.0), View::new(before)))
}

/// The signature that a seed is; `None` where the bytes are no point of the curve.
pub(crate) fn signature_of(seed: &SeedBytes) -> Option<Signature> {
    <Signature as commonware_codec::DecodeExt<()>>::decode(seed.0.to_vec()).ok()
}

/// The views whose seeds stand in a header: the parent's up to the one before, at most the newest 256. View 0 has none.
fn carried(parent: View, view: View) -> impl Iterator<Item = View> {
    let most = u64::try_from(MAX_SEEDS).expect("a small constant");
    let first = parent.get().max(1).max(view.get().saturating_sub(most));
    (first..view.get()).map(View::new)
}

fn to_bytes(signature: Signature) -> SeedBytes {
    let mut bytes = [0; 48];
    bytes.copy_from_slice(&signature.encode());
    Fixed(bytes)
}

impl Reporter for Seeds {
    type Activity = Activity<Scheme, Digest>;

    fn report(&mut self, activity: Self::Activity) -> Feedback {
        if let Activity::Notarize(vote) = &activity {
            self.voted(vote.proposal.round, usize::from(vote.attestation.signer));
        }
        let seed = match activity {
            Activity::Notarization(certificate) | Activity::Certification(certificate) => Some(certificate.seed()),
            Activity::Finalization(certificate) => Some(certificate.seed()),
            Activity::Nullification(nullification) => {
                nullification.certificate.get().map(|signatures| Seed::new(nullification.round, signatures.seed_signature))
            }
            _ => None,
        };
        if let Some(seed) = seed {
            self.put(seed.round, seed.signature);
        }
        Feedback::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::committee::{Committee, ValidatorKeys};
    use commonware_consensus::simplex::types::{Notarization, Notarize, Nullification, Nullify, Proposal};
    use commonware_parallel::Sequential;
    use commonware_utils::iter::NonEmpty;
    use cowboy_types::{Amount, units::Count, wire::List};

    const NAMESPACE: &[u8] = b"test";

    fn committee(seed: &[u8]) -> (Committee, Vec<ValidatorKeys>) {
        let (validators, sharing, keys) = Committee::derive(seed, 4, Amount(1));
        let info = crate::committee::first_epoch(&validators, &sharing).expect("an epoch");
        (Committee::of(&info).expect("a committee"), keys)
    }

    fn round(view: u64) -> Round {
        Round::new(Epoch::new(0), View::new(view))
    }

    fn schemes(committee: &Committee, keys: &[ValidatorKeys]) -> Vec<Scheme> {
        let shares = keys.iter().take(3).filter_map(|keys| keys.share.clone());
        shares.map(|share| committee.voter(NAMESPACE, share).expect("a share of it")).collect()
    }

    /// A certificate by three of four that the view was given up.
    fn nullified(schemes: &[Scheme], view: u64) -> Activity<Scheme, Digest> {
        let votes: Vec<_> = schemes.iter().map(|scheme| Nullify::sign::<Digest>(scheme, round(view)).expect("it votes")).collect();
        let votes = NonEmpty::try_new(votes.iter()).expect("there are votes");
        Activity::Nullification(Nullification::from_nullifies(&schemes[0], votes, &Sequential).expect("three are enough"))
    }

    /// A certificate by three of four for some block.
    fn notarized(schemes: &[Scheme], view: u64) -> Activity<Scheme, Digest> {
        let proposal = Proposal::new(round(view), View::new(view - 1), Digest::from([u8::try_from(view).expect("small"); 32]));
        let votes: Vec<_> = schemes.iter().map(|scheme| Notarize::sign(scheme, proposal.clone()).expect("it votes")).collect();
        let votes = NonEmpty::try_new(votes.iter()).expect("there are votes");
        Activity::Notarization(Notarization::from_notarizes(&schemes[0], votes, &Sequential).expect("three are enough"))
    }

    /// A header of view 5 on a parent of view 2, with these seeds.
    fn header(seeds: Vec<SeedBytes>) -> Header {
        let (genesis, _) = crate::genesis::dev(Default::default()).expect("a genesis");
        let mut header = genesis.block.header().clone();
        header.context.view = Count(5);
        header.context.parent_view = Count(2);
        header.seeds = List::new(seeds).expect("few");
        header
    }

    /// every round has one seed, given up or not, whatever was voted for; a header carries those of all rounds since its
    /// parent's, and each verifies against the group key, for its own round only.
    #[test]
    fn headers_carry_every_rounds_seed() {
        let (committee, keys) = committee(b"ours");
        let schemes = schemes(&committee, &keys);
        let mut seen = Seeds::default();
        for activity in [notarized(&schemes, 2), nullified(&schemes, 3), nullified(&schemes, 4)] {
            seen.report(activity);
        }
        let seeds: Vec<SeedBytes> = (2..5).map(|view| seen.get(round(view)).expect("its certificate was seen")).collect();
        let mut others = Seeds::default();
        others.report(nullified(&schemes, 2));
        assert_eq!(others.get(round(2)), Some(seeds[0]), "a round's seed does not depend on what became of it");

        let verifier = committee.verifier(NAMESPACE);
        let (foreign, foreign_keys) = self::committee(b"theirs");
        let mut theirs = Seeds::default();
        theirs.report(nullified(&self::schemes(&foreign, &foreign_keys), 3));
        let foreign_seed = theirs.get(round(3)).expect("its certificate was seen");
        let [second, third, fourth] = seeds[..] else { unreachable!("there are three") };
        let rows = [
            ("all of them", vec![second, third, fourth], &verifier, true),
            ("one is missing", vec![second, fourth], &verifier, false),
            ("none", vec![], &verifier, false),
            ("one too many", vec![second, second, third, fourth], &verifier, false),
            ("in another order", vec![third, second, fourth], &verifier, false),
            ("another group's", vec![second, foreign_seed, fourth], &verifier, false),
            ("no point of the curve", vec![second, Fixed([0xFF; 48]), fourth], &verifier, false),
            ("against another group's key", vec![second, third, fourth], &foreign.verifier(NAMESPACE), false),
            ("of another chain", vec![second, third, fourth], &committee.verifier(b"other"), false),
        ];
        for (name, seeds, verifier, expected) in rows {
            let nothing_seen = Seeds::default();
            assert_eq!(nothing_seen.verify(&header(seeds), verifier), expected, "{name}");
        }
    }

    /// Decision 737: the seed that draws a leader is the one that this node has seen, or the last one of the header, if it is right.
    #[test]
    fn a_header_brings_the_seed_of_its_draw() {
        let (committee, keys) = committee(b"ours");
        let (schemes, verifier) = (schemes(&committee, &keys), committee.verifier(NAMESPACE));
        let mut seen = Seeds::default();
        for view in [3, 4] {
            seen.report(nullified(&schemes, view));
        }
        let [third, fourth] = [3, 4].map(|view| seen.get(round(view)).expect("its certificate was seen"));
        assert_eq!(seen.draw(&header(vec![]), &verifier), Ok(Some(fourth)));
        let unseen = Seeds::default();
        for wrong in [vec![], vec![fourth, third], vec![Fixed([0xFF; 48])]] {
            assert_eq!(unseen.draw(&header(wrong), &verifier), Err(Unknown));
        }
        let right = header(vec![third, fourth]);
        assert!(seen.is_draw_seen(&right) && !unseen.is_draw_seen(&right));
        assert_eq!(unseen.draw(&right, &verifier), Ok(Some(fourth)));
        assert!(unseen.is_draw_seen(&right), "it is remembered");
        let mut first = right;
        first.context.view = Count(1);
        let nothing_seen = Seeds::default();
        assert!(nothing_seen.is_draw_seen(&first));
        assert_eq!(nothing_seen.draw(&first, &verifier), Ok(None), "nothing was drawn before");
    }

    /// Decision 133: whose votes were seen, a bit each.
    #[test]
    fn voters_are_a_bitmap() {
        let (committee, keys) = committee(b"ours");
        let mut seen = Seeds::default();
        assert!(seen.voters(round(2)).is_empty(), "nobody voted");
        for scheme in [0, 2] {
            let proposal = Proposal::new(round(2), View::new(1), Digest::from([1; 32]));
            let vote = Notarize::sign(&schemes(&committee, &keys)[scheme], proposal).expect("it votes");
            seen.report(Activity::Notarize(vote));
        }
        assert_eq!(seen.voters(round(2)), [0b101]);
        for voter in [8, 17] {
            seen.voted(round(3), voter);
        }
        assert_eq!((seen.voters(round(3)), seen.voters(round(4))), (vec![0, 1, 2], vec![]));
    }
}
