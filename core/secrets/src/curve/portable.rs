//! BLS12-381 in Rust, where there is no C. Points were checked when they were decoded, and are not checked again.

use super::{G1_SUITE, G2_POSSESSION, PointG1, PointG2};
use bls12_381::{
    G1Affine, G1Projective, G2Affine, G2Prepared, G2Projective, Gt,
    hash_to_curve::{ExpandMsgXmd, HashToCurve},
    multi_miller_loop,
};
use sha2_010::Sha256;

/// Whether these bytes are a point of G1 other than the identity element.
pub(super) fn is_in_g1(bytes: &[u8; 48]) -> bool {
    Option::<G1Affine>::from(G1Affine::from_compressed(bytes)).is_some_and(|point| !bool::from(point.is_identity()))
}

/// Whether these bytes are a point of G2 other than the identity element.
pub(super) fn is_in_g2(bytes: &[u8; 96]) -> bool {
    Option::<G2Affine>::from(G2Affine::from_compressed(bytes)).is_some_and(|point| !bool::from(point.is_identity()))
}

/// Whether a proof of possession holds.
pub(super) fn is_possessed(key: &PointG1, message: &[u8], proof: &PointG2) -> bool {
    let hashed = G2Affine::from(<G2Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([message], G2_POSSESSION));
    is_one(&[(-affine_g1(key), hashed), (G1Affine::generator(), affine_g2(proof))])
}

/// Whether a signature holds.
pub(super) fn is_signature(key: &PointG2, message: &[u8], signature: &PointG1) -> bool {
    is_one(&[(-hashed(message), affine_g2(key)), (affine_g1(signature), G2Affine::generator())])
}

/// Whether both equations of a partial answer hold.
pub(super) fn is_encrypted([e1, e3]: [&PointG1; 2], e2: &PointG2, tpk: &PointG1, share: &PointG2, message: &[u8]) -> bool {
    let (g2, e2) = (G2Affine::generator(), affine_g2(e2));
    is_one(&[(affine_g1(e1), g2), (-G1Affine::generator(), e2)])
        && is_one(&[(affine_g1(e3), g2), (-affine_g1(tpk), e2), (-hashed(message), affine_g2(share))])
}

fn hashed(message: &[u8]) -> G1Affine {
    G1Affine::from(<G1Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([message], G1_SUITE))
}

fn affine_g1(point: &PointG1) -> G1Affine {
    Option::from(G1Affine::from_compressed_unchecked(&point.0)).expect("the bytes were decoded before")
}

fn affine_g2(point: &PointG2) -> G2Affine {
    Option::from(G2Affine::from_compressed_unchecked(&point.0)).expect("the bytes were decoded before")
}

/// Whether the product of the pairings is one.
fn is_one(pairs: &[(G1Affine, G2Affine)]) -> bool {
    let prepared: Vec<(G1Affine, G2Prepared)> = pairs.iter().map(|(p, q)| (*p, G2Prepared::from(*q))).collect();
    let terms: Vec<(&G1Affine, &G2Prepared)> = prepared.iter().map(|(p, q)| (p, q)).collect();
    multi_miller_loop(&terms).final_exponentiation() == Gt::identity()
}
