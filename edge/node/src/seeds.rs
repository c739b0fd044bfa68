//! The seeds of past rounds, as certificates reveal them (decision 114).

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
    collections::BTreeMap,
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
    changed: Notify,
}

impl Seeds {
    /// The seed of a round, where it is known.
    pub fn get(&self, round: Round) -> Option<SeedBytes> {
        self.signature(round).map(to_bytes)
    }

    fn signature(&self, round: Round) -> Option<Signature> {
        self.0.seen.lock().expect("nothing panics while it holds the lock").get(&round).copied()
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
        let epoch = Epoch::new(header.context.epoch.0);
        let parent = View::new(header.context.parent_view.0);
        let views: Vec<View> = carried(parent, View::new(header.context.view.0)).collect();
        views.len() == header.seeds.len()
            && views.iter().zip(header.seeds.iter()).all(|(view, seed)| self.is_seed(Round::new(epoch, *view), seed, scheme))
    }

    fn is_seed(&self, round: Round, seed: &SeedBytes, scheme: &Scheme) -> bool {
        if self.get(round).is_some_and(|known| known == *seed) {
            return true;
        }
        let Ok(signature) = <Signature as commonware_codec::DecodeExt<()>>::decode(seed.0.to_vec()) else { return false };
        let genuine = Seed::<MinSig>::new(round, signature).verify(scheme);
        if genuine {
            self.put(round, signature);
        }
        genuine
    }
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
