//! The curve by the C library.

use crate::hash::Hash;
use secp256k1::{
    Message, PublicKey,
    ecdsa::{RecoverableSignature, RecoveryId, Signature as CompactSignature},
};

/// A compressed key's point.
pub(super) fn uncompressed(compressed: &[u8; 33]) -> Option<[u8; 65]> {
    PublicKey::from_slice(compressed).ok().map(|key| key.serialize_uncompressed())
}

/// The key that made a signature with s in the lower half.
pub(super) fn recover(digest: &Hash, compact: &[u8; 64], is_odd: bool) -> Option<[u8; 65]> {
    if !is_low_s(compact) {
        return None;
    }
    let recovery = if is_odd { RecoveryId::One } else { RecoveryId::Zero };
    let signature = RecoverableSignature::from_compact(compact, recovery).ok()?;
    let key = signature.recover_ecdsa(Message::from_digest(digest.0)).ok()?;
    Some(key.serialize_uncompressed())
}

/// Whether a key made a signature with s in the lower half.
pub(super) fn is_signed_by(digest: &Hash, compact: &[u8; 64], compressed: &[u8; 33]) -> bool {
    let (Ok(key), Ok(signature)) = (PublicKey::from_slice(compressed), CompactSignature::from_compact(compact)) else {
        return false;
    };
    // The curve's library takes only the lower half, so that one signature has one form.
    signature.verify(Message::from_digest(digest.0), &key).is_ok()
}

fn is_low_s(compact: &[u8; 64]) -> bool {
    let Ok(signature) = CompactSignature::from_compact(compact) else { return false };
    let mut normalized = signature;
    normalized.normalize_s();
    normalized == signature
}
