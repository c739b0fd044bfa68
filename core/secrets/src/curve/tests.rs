use super::*;
use bls12_381::{
    G1Affine, G1Projective, Scalar,
    hash_to_curve::{ExpandMsgXmd, HashToCurve},
};
use sha2_010::Sha256;

const MESSAGE: &[u8] = b"message";

fn g1(factor: Scalar) -> PointG1 {
    PointG1(G1Affine::from(G1Affine::generator() * factor).to_compressed())
}

fn g2(factor: Scalar) -> PointG2 {
    PointG2(G2Affine::from(G2Affine::generator() * factor).to_compressed())
}

/// Damaged forms of compressed bytes, among them the identity element, other encodings of it, and points outside the group.
fn damaged<const N: usize>(bytes: [u8; N]) -> Vec<[u8; N]> {
    let with = |place: usize, by: u8| {
        let mut bytes = bytes;
        bytes[place] ^= by;
        bytes
    };
    let filled = |first: u8, last: u8| {
        let mut bytes = [0; N];
        (bytes[0], bytes[N - 1]) = (first, last);
        bytes
    };
    let mut rows =
        vec![with(0, 0x80), with(0, 0x40), filled(0xC0, 0), filled(0xC0, 1), filled(0xE0, 0), filled(0, 0), [0xFF; N], [0x9F; N]];
    // Most of these x have no point, and the points of the others are outside the subgroup.
    rows.extend((1..=12).map(|x| filled(0x80, x)));
    rows
}

#[test]
fn only_points_of_the_groups_decode_and_both_libraries_agree() {
    let (short, long) = (*g1(Scalar::from(7)).bytes(), *g2(Scalar::from(7)).bytes());
    assert!(PointG1::new(short).is_some() && PointG2::new(long).is_some());
    let is_on_curve = |bytes: &[u8; 48]| bool::from(G1Affine::from_compressed_unchecked(bytes).is_some());
    assert!(damaged(short).iter().skip(8).any(is_on_curve), "some rows are on the curve and outside the subgroup");
    for bytes in damaged(short) {
        assert_eq!((native::is_in_g1(&bytes), portable::is_in_g1(&bytes)), (false, false), "{bytes:02x?}");
        assert!(PointG1::read(&mut bytes::Bytes::copy_from_slice(&bytes)).is_err());
    }
    for bytes in damaged(long) {
        assert_eq!((native::is_in_g2(&bytes), portable::is_in_g2(&bytes)), (false, false), "{bytes:02x?}");
        assert!(PointG2::read(&mut bytes::Bytes::copy_from_slice(&bytes)).is_err());
    }
}

/// An answer's equations hold for what a member makes and for nothing else; both libraries agree on each row.
#[test]
fn equations_hold_for_honest_answers_alone() {
    let (share, transport, blinding) = (Scalar::from(11), Scalar::from(13), Scalar::from(17));
    let hashed = <G1Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([MESSAGE], G1_SUITE);
    let third = |factor: Scalar| PointG1(G1Affine::from(G1Affine::generator() * (transport * factor) + hashed * share).to_compressed());
    let (e1, e2, e3) = (g1(blinding), g2(blinding), third(blinding));
    let (tpk, key) = (g1(transport), g2(share));
    let other = Scalar::from(19);
    let rows = [
        ("honest", true, e1, e2, e3, tpk, key, MESSAGE),
        ("another blinding in E1", false, g1(other), e2, e3, tpk, key, MESSAGE),
        ("another blinding in E2", false, e1, g2(other), e3, tpk, key, MESSAGE),
        ("another blinding in both", false, g1(other), g2(other), e3, tpk, key, MESSAGE),
        ("another blinding in E3", false, e1, e2, third(other), tpk, key, MESSAGE),
        ("another transport key", false, e1, e2, e3, g1(other), key, MESSAGE),
        ("another member's share", false, e1, e2, e3, tpk, g2(other), MESSAGE),
        ("another identity", false, e1, e2, e3, tpk, key, b"massage"),
    ];
    for (name, expected, e1, e2, e3, tpk, key, message) in rows {
        let found = [native::is_encrypted, portable::is_encrypted].map(|check| check([&e1, &e3], &e2, &tpk, &key, message));
        assert_eq!(found, [expected; 2], "{name}");
    }
    let signature = PointG1(G1Affine::from(hashed * share).to_compressed());
    for (expected, key, message) in [(true, key, MESSAGE), (false, key, &b"massage"[..]), (false, g2(other), MESSAGE)] {
        let found = [native::is_signature, portable::is_signature].map(|check| check(&key, message, &signature));
        assert_eq!(found, [expected; 2]);
    }
}

#[test]
fn the_key_of_a_share_is_the_polynomial_at_its_index_and_one() {
    let scalars = [3_u64, 5, 7];
    let polynomial = scalars.map(|factor| g2(Scalar::from(factor)));
    for index in [0_u16, 1, 2, 15, u16::MAX] {
        let x = Scalar::from(u64::from(index) + 1);
        let value = Scalar::from(3) + Scalar::from(5) * x + Scalar::from(7) * x * x;
        assert_eq!(share_key(&polynomial, index), Some(g2(value)), "index {index}");
    }
    assert_eq!(share_key(&[], 0), None);
    // 1 − x is zero at the first index.
    assert_eq!(share_key(&[g2(Scalar::one()), g2(-Scalar::one())], 0), None);
}

/// A transport key is possessed with its owner's proof alone; both libraries agree on each row.
#[test]
fn a_proof_of_possession_is_of_one_key() {
    let own = Scalar::from(23);
    let key = g1(own);
    let message = in_namespace(crate::transport::NAMESPACE, key.bytes());
    let signed = |message: &[u8], factor: Scalar| {
        let hashed = <G2Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([message], G2_POSSESSION);
        PointG2(G2Affine::from(hashed * factor).to_compressed())
    };
    let rows = [
        (true, key, signed(&message, own)),
        (false, g1(Scalar::from(29)), signed(&message, own)),
        (false, key, signed(&message, Scalar::from(29))),
        (false, key, signed(key.bytes(), own)),
    ];
    for (expected, key, proof) in rows {
        let message = in_namespace(crate::transport::NAMESPACE, key.bytes());
        let found = [native::is_possessed, portable::is_possessed].map(|check| check(&key, &message, &proof));
        assert_eq!(found, [expected; 2]);
        assert_eq!(crate::TransportKey { key, proof }.is_possessed(), expected);
    }
}
