//! Finalization certificates from outside.

use crate::{block::engine_digest, seeds::Scheme};
use commonware_codec::Decode as _;
use commonware_consensus::simplex::types::Finalization;
use commonware_cryptography::blake3::Digest;
use commonware_parallel::Sequential;
use cowboy_types::Hash;
use rand_core::CryptoRng;

/// The finalization of exactly this block by the validators whose group key `verifier` has; `None` where the bytes are none.
pub(crate) fn finalization(
    random: &mut impl CryptoRng,
    verifier: &Scheme,
    digest: &Hash,
    certificate: &[u8],
) -> Option<Finalization<Scheme, Digest>> {
    let decoded = Finalization::<Scheme, Digest>::decode_cfg(bytes::Bytes::copy_from_slice(certificate), &());
    let of_block = decoded.ok().filter(|finalization| finalization.proposal.payload == engine_digest(digest))?;
    of_block.verify(random, verifier, &Sequential).then_some(of_block)
}

/// Whether there is one.
pub(crate) fn is_certificate(random: &mut impl CryptoRng, verifier: &Scheme, digest: &Hash, certificate: &[u8]) -> bool {
    finalization(random, verifier, digest, certificate).is_some()
}
