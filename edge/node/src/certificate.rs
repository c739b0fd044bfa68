//! Finalization certificates from outside.

use crate::{block::engine_digest, seeds::Scheme};
use commonware_codec::Decode as _;
use commonware_consensus::simplex::types::Finalization;
use commonware_cryptography::blake3::Digest;
use commonware_parallel::Sequential;
use cowboy_types::Hash;
use rand_core::CryptoRng;

/// Whether the bytes are a finalization of exactly this block by the validators whose group key `verifier` has.
pub(crate) fn is_certificate(random: &mut impl CryptoRng, verifier: &Scheme, digest: &Hash, certificate: &[u8]) -> bool {
    let decoded = Finalization::<Scheme, Digest>::decode_cfg(bytes::Bytes::copy_from_slice(certificate), &());
    decoded.is_ok_and(|finalization| {
        finalization.proposal.payload == engine_digest(digest) && finalization.verify(random, verifier, &Sequential)
    })
}
