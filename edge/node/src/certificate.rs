//! Finalization certificates from outside.

use crate::{block::engine_digest, seeds::Scheme};
use commonware_codec::Decode as _;
use commonware_consensus::simplex::types::{Finalization, Subject};
use commonware_cryptography::{blake3::Digest, certificate::Verifier as _};
use commonware_parallel::Sequential;
use commonware_utils::iter::NonEmpty;
use cowboy_types::Hash;
use rand_core::CryptoRng;
use rayon::prelude::*;

/// The finalization in these bytes, where it names exactly this block. Its signatures are not verified.
fn decoded(digest: &Hash, certificate: &[u8]) -> Option<Finalization<Scheme, Digest>> {
    let decoded = Finalization::<Scheme, Digest>::decode_cfg(bytes::Bytes::copy_from_slice(certificate), &());
    decoded.ok().filter(|finalization| finalization.proposal.payload == engine_digest(digest))
}

/// Whether all of these are by the validators whose group key `verifier` has: one check of pairings for all of them.
fn hold(random: &mut impl CryptoRng, verifier: &Scheme, finalizations: &[Finalization<Scheme, Digest>]) -> bool {
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
fn first_wrong<T>(items: &[T], mut hold: impl FnMut(&[T]) -> bool) -> Option<usize> {
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
