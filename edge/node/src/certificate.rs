//! Finalization certificates from outside.

use crate::{block::engine_digest, seeds::Scheme};
use commonware_codec::Decode as _;
use commonware_consensus::simplex::types::{Finalization, Subject};
use commonware_cryptography::{blake3::Digest, certificate::Verifier as _};
use commonware_parallel::Sequential;
use commonware_utils::iter::NonEmpty;
use cowboy_types::Hash;
use rand_chacha::ChaCha20Rng;
use rand_core::{CryptoRng, SeedableRng as _};
use rayon::prelude::*;

/// The fewest certificates for which a core of its own is worth one check of pairings more.
const CHUNK: usize = 16;

/// The finalization in these bytes, where it names exactly this block. Its signatures are not verified.
fn decoded(digest: &Hash, certificate: &[u8]) -> Option<Finalization<Scheme, Digest>> {
    let decoded = Finalization::<Scheme, Digest>::decode_cfg(bytes::Bytes::copy_from_slice(certificate), &());
    decoded.ok().filter(|finalization| finalization.proposal.payload == engine_digest(digest))
}

/// Whether all of these are by the validators whose group key `verifier` has: one check of pairings for all of them, or on each core where they are many.
fn hold(random: &mut impl CryptoRng, verifier: &Scheme, finalizations: &[Finalization<Scheme, Digest>]) -> bool {
    let length = finalizations.len().div_ceil(rayon::current_num_threads()).max(CHUNK);
    // However many cores there are, as much is taken of the randomness.
    let mut seeds = generator(random);
    let chunks: Vec<_> = finalizations.chunks(length).map(|chunk| (chunk, generator(&mut seeds))).collect();
    chunks.into_par_iter().all(|(chunk, mut random)| hold_together(&mut random, verifier, chunk))
}

fn generator(random: &mut impl CryptoRng) -> ChaCha20Rng {
    let mut seed = [0; 32];
    random.fill_bytes(&mut seed);
    ChaCha20Rng::from_seed(seed)
}

fn hold_together(random: &mut impl CryptoRng, verifier: &Scheme, finalizations: &[Finalization<Scheme, Digest>]) -> bool {
    let certificates = finalizations.iter().map(|finalization| {
        let subject = Subject::Finalize { proposal: &finalization.proposal };
        (subject, &finalization.certificate)
    });
    match NonEmpty::try_new(certificates) {
        Some(certificates) => verifier.verify_certificates::<_, Digest, _>(random, certificates, &Sequential),
        None => true,
    }
}

/// The finalizations of exactly these blocks by the validators whose group key `verifier` has, up to the first that is none; and the place of that one,
/// where there is one. They are verified together, and where that fails, half of them, and so on: a wrong one costs few more checks.
pub(crate) fn finalizations<'a>(
    random: &mut impl CryptoRng,
    verifier: &Scheme,
    certificates: impl IntoIterator<Item = (Hash, &'a [u8])>,
) -> (Vec<Finalization<Scheme, Digest>>, Option<usize>) {
    let (mut found, mut wrong) = (Vec::new(), None);
    for (digest, certificate) in certificates {
        let Some(finalization) = decoded(&digest, certificate) else {
            wrong = Some(found.len());
            break;
        };
        found.push(finalization);
    }
    // A signature is decoded when it is needed, which takes as long as half of the check: on all cores.
    found.par_iter().for_each(|finalization| {
        let _ = finalization.certificate.get();
    });
    if let Some(place) = first_wrong(&found, |some| hold(random, verifier, some)) {
        wrong = Some(place);
        found.truncate(place);
    }
    (found, wrong)
}

/// The place of the first item that does not hold, if `hold` says of some items whether all of them do.
pub(crate) fn first_wrong<T>(items: &[T], mut hold: impl FnMut(&[T]) -> bool) -> Option<usize> {
    if hold(items) {
        return None;
    }
    let (mut start, mut end) = (0, items.len());
    while end.saturating_sub(start) > 1 {
        let middle = start.midpoint(end);
        if hold(&items[start..middle]) {
            start = middle;
        } else {
            end = middle;
        }
    }
    Some(start)
}

/// Whether these bytes are the finalization of exactly this block by the validators whose group key `verifier` has.
pub(crate) fn is_certificate(random: &mut impl CryptoRng, verifier: &Scheme, digest: &Hash, certificate: &[u8]) -> bool {
    decoded(digest, certificate).is_some_and(|finalization| hold(random, verifier, &[finalization]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::committee::{Committee, first_epoch};
    use commonware_codec::Encode as _;
    use commonware_consensus::{
        simplex::types::{Finalize, Proposal},
        types::{Epoch, Round, View},
    };
    use cowboy_types::Amount;

    /// Where several cores verify a run of certificates, the first wrong one is found as in a short run, and those before it hold.
    #[test]
    fn a_wrong_one_of_many_is_found() {
        const COUNT: u8 = 40;
        let (validators, dealing, keys) = Committee::derive(b"seed", 1, Amount(1));
        let committee = Committee::of(&first_epoch(&validators, &dealing).expect("an epoch")).expect("a committee");
        let voter = committee.voter(b"test", keys[0].share.clone().expect("it has a share")).expect("a share of it");
        let certified = |number: u8| {
            let (digest, view) = (Hash([number; 32]), u64::from(number));
            let proposal = Proposal::new(Round::new(Epoch::new(0), View::new(view)), View::new(view - 1), engine_digest(&digest));
            let vote = Finalize::sign(&voter, proposal).expect("it votes");
            let votes = NonEmpty::try_new(std::iter::once(&vote)).expect("there is one");
            (digest, Finalization::from_finalizes(&voter, votes, &Sequential).expect("one is enough").encode().to_vec())
        };
        let right: Vec<(Hash, Vec<u8>)> = (1..=COUNT).map(certified).collect();
        let (verifier, mut random) = (committee.verifier(b"test"), ChaCha20Rng::from_seed([7; 32]));
        for wrong in [None, Some(0), Some(15), Some(16), Some(39)] {
            let mut all = right.clone();
            if let Some(place) = wrong {
                // The two signatures of the next one.
                let (from, end) = (all[(place + 1) % all.len()].1.clone(), all[place].1.len() - 96);
                all[place].1.truncate(end);
                all[place].1.extend(&from[from.len() - 96..]);
            }
            let (found, first) = finalizations(&mut random, &verifier, all.iter().map(|(digest, bytes)| (*digest, bytes.as_slice())));
            assert_eq!((found.len(), first), (wrong.unwrap_or(right.len()), wrong));
            let chunk = &found[..found.len().min(CHUNK + 1)];
            assert!(hold(&mut random, &verifier, chunk) && hold_together(&mut random, &verifier, chunk));
        }
    }

    /// The first wrong one of a run is found wherever it is, with few more checks than one; all that are wrong cost no more.
    #[test]
    fn the_first_wrong_one_of_a_run_is_found() {
        for length in [1usize, 2, 3, 64] {
            for first in 0..=length {
                for others in [false, true] {
                    let items: Vec<bool> = (0..length).map(|place| place < first || !others && place != first).collect();
                    let mut checks = 0usize;
                    let found = first_wrong(&items, |some| {
                        checks += 1;
                        some.iter().all(|holds| *holds)
                    });
                    assert_eq!(found, (first < length).then_some(first), "{length} {first} {others}");
                    let most = if first < length { 8 } else { 1 };
                    assert!(checks <= most, "{checks} checks for the {first}. of {length}");
                }
            }
        }
        assert_eq!(first_wrong::<bool>(&[], |_| true), None);
    }
}
