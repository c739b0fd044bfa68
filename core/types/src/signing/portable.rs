//! The curve in Rust, where there is no C.

use crate::hash::Hash;
use k256::ecdsa::{RecoveryId, Signature, VerifyingKey, signature::hazmat::PrehashVerifier as _};

/// A compressed key's point.
pub(super) fn uncompressed(compressed: &[u8; 33]) -> Option<[u8; 65]> {
    key_of(compressed).and_then(|key| point(&key))
}

/// The key that made a signature with s in the lower half.
pub(super) fn recover(digest: &Hash, compact: &[u8; 64], is_odd: bool) -> Option<[u8; 65]> {
    let signature = low(compact)?;
    let key = VerifyingKey::recover_from_prehash(&digest.0, &signature, RecoveryId::new(is_odd, false)).ok()?;
    point(&key)
}

/// Whether a key made a signature with s in the lower half.
pub(super) fn is_signed_by(digest: &Hash, compact: &[u8; 64], compressed: &[u8; 33]) -> bool {
    let (Some(signature), Some(key)) = (low(compact), key_of(compressed)) else { return false };
    key.verify_prehash(&digest.0, &signature).is_ok()
}

/// A key in its one form: the library also reads a form without a sign, which begins with 5 and is nobody else's.
fn key_of(compressed: &[u8; 33]) -> Option<VerifyingKey> {
    matches!(compressed[0], 2 | 3).then(|| VerifyingKey::from_sec1_bytes(compressed).ok()).flatten()
}

/// A signature with s in the lower half.
fn low(compact: &[u8; 64]) -> Option<Signature> {
    Signature::from_slice(compact).ok().filter(|signature| signature.normalize_s() == *signature)
}

fn point(key: &VerifyingKey) -> Option<[u8; 65]> {
    key.to_sec1_point(false).as_bytes().try_into().ok()
}
