//! BLS12-381 by the C library. Points were checked when they were decoded, and are not checked again.

use super::{G1_SUITE, G2_POSSESSION, PointG1, PointG2};
use blst::{BLST_ERROR, Pairing, blst_fp12, blst_p1_affine, blst_p2_affine, min_pk, min_sig};
use std::any::Any;

/// The generator of G1, compressed.
const G1: PointG1 = PointG1([
    0x97, 0xf1, 0xd3, 0xa7, 0x31, 0x97, 0xd7, 0x94, 0x26, 0x95, 0x63, 0x8c, 0x4f, 0xa9, 0xac, 0x0f, 0xc3, 0x68, 0x8c, 0x4f, 0x97, 0x74,
    0xb9, 0x05, 0xa1, 0x4e, 0x3a, 0x3f, 0x17, 0x1b, 0xac, 0x58, 0x6c, 0x55, 0xe8, 0x3f, 0xf9, 0x7a, 0x1a, 0xef, 0xfb, 0x3a, 0xf0, 0x0a,
    0xdb, 0x22, 0xc6, 0xbb,
]);

/// Whether these bytes are a point of G1 other than the identity element.
pub(super) fn is_in_g1(bytes: &[u8; 48]) -> bool {
    min_pk::PublicKey::key_validate(bytes).is_ok()
}

/// Whether these bytes are a point of G2 other than the identity element.
pub(super) fn is_in_g2(bytes: &[u8; 96]) -> bool {
    min_sig::PublicKey::key_validate(bytes).is_ok()
}

/// Whether a proof of possession holds.
pub(super) fn is_possessed(key: &PointG1, message: &[u8], proof: &PointG2) -> bool {
    holds(G2_POSSESSION, &affine_g1(key), &affine_g2(proof), message, None)
}

/// Whether a signature holds.
pub(super) fn is_signature(key: &PointG2, message: &[u8], signature: &PointG1) -> bool {
    holds(G1_SUITE, &affine_g2(key), &affine_g1(signature), message, None)
}

/// Whether both equations of a partial answer hold.
pub(super) fn is_encrypted([e1, e3]: [&PointG1; 2], e2: &PointG2, tpk: &PointG1, share: &PointG2, message: &[u8]) -> bool {
    let e2 = affine_g2(e2);
    let mut product = Pairing::new(true, G1_SUITE);
    product.raw_aggregate(&e2, &affine_g1(&G1));
    product.commit();
    let mut expected = blst_fp12::default();
    Pairing::aggregated(&mut expected, &affine_g1(e1));
    product.finalverify(Some(&expected)) && holds(G1_SUITE, &affine_g2(share), &affine_g1(e3), message, Some((&e2, &affine_g1(tpk))))
}

/// Whether the pairing of the signature with the generator is that of the key with the hashed message, times that of a further pair.
fn holds(suite: &[u8], key: &dyn Any, signature: &dyn Any, message: &[u8], further: Option<(&blst_p2_affine, &blst_p1_affine)>) -> bool {
    let mut product = Pairing::new(true, suite);
    if product.aggregate(key, false, signature, false, message, &[]) != BLST_ERROR::BLST_SUCCESS {
        return false;
    }
    if let Some((q, p)) = further {
        product.raw_aggregate(q, p);
    }
    product.commit();
    product.finalverify(None)
}

fn affine_g1(point: &PointG1) -> blst_p1_affine {
    let key = min_pk::PublicKey::from_bytes(&point.0).expect("the bytes were decoded before");
    *<&blst_p1_affine>::from(&key)
}

fn affine_g2(point: &PointG2) -> blst_p2_affine {
    let key = min_sig::PublicKey::from_bytes(&point.0).expect("the bytes were decoded before");
    *<&blst_p2_affine>::from(&key)
}
