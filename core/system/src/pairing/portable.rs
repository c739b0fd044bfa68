//! BLS12-381 in Rust, where there is no C.

use bls12_381::{
    G1Affine, G1Projective, G2Affine, G2Prepared, G2Projective, Gt,
    hash_to_curve::{ExpandMsgXmd, HashToCurve},
    multi_miller_loop,
};
use sha2_010::Sha256;

/// Whether these bytes are a key in G2.
pub(super) fn is_key_in_g2(key: &[u8]) -> bool {
    g2(key).is_some_and(|key| !bool::from(key.is_identity()))
}

/// Whether a signature in G2 of a key in G1 holds.
pub(super) fn holds_in_g2(key: &[u8], message: &[u8], signature: &[u8], suite: &[u8]) -> bool {
    let (Some(key), Some(signature)) = (g1(key), g2(signature)) else { return false };
    if bool::from(key.is_identity()) {
        return false;
    }
    let hashed = G2Affine::from(<G2Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([message], suite));
    is_one(&[(&key, &G2Prepared::from(hashed)), (&-G1Affine::generator(), &G2Prepared::from(signature))])
}

/// Whether a signature in G1 of a key in G2 holds.
pub(super) fn holds_in_g1(key: &[u8], message: &[u8], signature: &[u8], suite: &[u8]) -> bool {
    let (Some(key), Some(signature)) = (g2(key), g1(signature)) else { return false };
    if bool::from(key.is_identity()) {
        return false;
    }
    let hashed = G1Affine::from(<G1Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([message], suite));
    is_one(&[(&hashed, &G2Prepared::from(key)), (&signature, &G2Prepared::from(-G2Affine::generator()))])
}

/// A point of the group, compressed. Others are refused.
fn g1(bytes: &[u8]) -> Option<G1Affine> {
    Option::from(G1Affine::from_compressed(bytes.try_into().ok()?))
}

/// A point of the group, compressed. Others are refused.
fn g2(bytes: &[u8]) -> Option<G2Affine> {
    Option::from(G2Affine::from_compressed(bytes.try_into().ok()?))
}

fn is_one(terms: &[(&G1Affine, &G2Prepared)]) -> bool {
    multi_miller_loop(terms).final_exponentiation() == Gt::identity()
}
