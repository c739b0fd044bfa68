//! BLS12-381 by the C library.

use blst::{BLST_ERROR, Pairing, blst_p1_affine, blst_p2_affine, min_pk, min_sig};
use std::any::Any;

/// Whether these bytes are a key in G2.
pub(super) fn is_key_in_g2(key: &[u8]) -> bool {
    min_sig::PublicKey::key_validate(key).is_ok()
}

/// Whether a signature in G2 of a key in G1 holds.
pub(super) fn holds_in_g2(key: &[u8], message: &[u8], signature: &[u8], suite: &[u8]) -> bool {
    match (min_pk::PublicKey::from_bytes(key), min_pk::Signature::from_bytes(signature)) {
        (Ok(key), Ok(signature)) => pairs(<&blst_p1_affine>::from(&key), <&blst_p2_affine>::from(&signature), message, suite),
        _ => false,
    }
}

/// Whether a signature in G1 of a key in G2 holds.
pub(super) fn holds_in_g1(key: &[u8], message: &[u8], signature: &[u8], suite: &[u8]) -> bool {
    match (min_sig::PublicKey::from_bytes(key), min_sig::Signature::from_bytes(signature)) {
        (Ok(key), Ok(signature)) => pairs(<&blst_p2_affine>::from(&key), <&blst_p1_affine>::from(&signature), message, suite),
        _ => false,
    }
}

/// The pairing equation of one key, one signature and one message. Both points are checked to lie in their groups, and
/// the key not to be the point at infinity. The library's own `verify` would hand this to a pool of threads.
fn pairs(key: &dyn Any, signature: &dyn Any, message: &[u8], suite: &[u8]) -> bool {
    let mut pairing = Pairing::new(true, suite);
    if pairing.aggregate(key, true, signature, true, message, &[]) != BLST_ERROR::BLST_SUCCESS {
        return false;
    }
    pairing.commit();
    pairing.finalverify(None)
}
