//! A second implementation, from the page `docs/secrets.md` and with another library, reads the published vectors.

use crate::vectors::PUBLISHED;
use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use bls12_381::hash_to_curve::{ExpandMsgXmd, HashToCurve, HashToField};
use bls12_381::{G1Affine, G1Projective, G2Affine, G2Projective, Gt, Scalar, pairing};
use cowboy_types::keccak256;
use serde_json::Value;
use sha2_010::{Digest as _, Sha256};

const G1_SUITE: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";
const G2_POSSESSION: &[u8] = b"BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
const FACTOR: &[u8] = b"TLE_BLS12381_XMD:SHA-256_SSWU_RO_H3_";

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().expect("a text")).expect("hexadecimal")
}

fn g1(bytes: &[u8]) -> G1Projective {
    G1Affine::from_compressed(bytes.try_into().expect("48 bytes")).expect("a point").into()
}

fn g2(bytes: &[u8]) -> G2Projective {
    G2Affine::from_compressed(bytes.try_into().expect("96 bytes")).expect("a point").into()
}

fn scalar(value: &Value) -> Scalar {
    let mut little_endian = bytes(value);
    little_endian.reverse();
    Scalar::from_bytes(&little_endian.try_into().expect("32 bytes")).expect("a scalar")
}

fn hashed(identity: &[u8]) -> G1Projective {
    let message = [&[16], &b"cowboy-secret-v1"[..], identity].concat();
    <G1Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([&message], G1_SUITE)
}

fn e(p: G1Projective, q: G2Projective) -> Gt {
    pairing(&p.into(), &q.into())
}

/// The bytes of an element of GT: twelve numbers of 48 bytes, big-endian. The library prints them and does not export them; it prints them in
/// the order (w, v, u), and the format has (v, w, u).
fn gt_bytes(element: &Gt) -> Vec<u8> {
    let text = element.to_string();
    let numbers: Vec<&str> = text.split("0x").skip(1).map(|rest| &rest[..96]).collect();
    assert_eq!(numbers.len(), 12, "{text}");
    let order = (0..3).flat_map(|v| (0..2).flat_map(move |w| (0..2).map(move |u| w * 6 + v * 2 + u)));
    order.flat_map(|place: usize| hex::decode(numbers[place]).expect("hexadecimal")).collect()
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    Sha256::digest(parts.concat()).into()
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// HKDF of RFC 5869 for 32 bytes, without a salt.
fn derived(key: &[u8], info: &[u8]) -> [u8; 32] {
    let hmac = |key: [u8; 32], message: &[u8]| {
        let padded = |by: u8| [key.map(|byte| byte ^ by), [by; 32]].concat();
        sha256(&[&padded(0x5C), &sha256(&[&padded(0x36), message])])
    };
    hmac(hmac([0; 32], key), &[info, &[1]].concat())
}

/// The value of a sealed secret.
fn opened(sealed: &[u8], signature: G1Projective) -> Vec<u8> {
    let (header, body) = sealed.split_at(1 + 129 + 96 + 32 + 32);
    let (u, v, w) = (&header[130..226], &header[226..258], &header[258..290]);
    let seed = xor(v, &sha256(&[b"h2", &gt_bytes(&e(signature, g2(u)))]));
    let key = xor(w, &sha256(&[b"h4", &seed]));
    let mut factor = [Scalar::zero()];
    Scalar::hash_to_field::<ExpandMsgXmd<Sha256>, _>([&[&seed[..], &key].concat()], FACTOR, &mut factor);
    assert_eq!(G2Projective::generator() * factor[0], g2(u), "U is made of the seed and the key");
    let cipher = Aes256Gcm::new(&derived(&key, b"cowboy-secret-body-v1").into());
    let plaintext = cipher.decrypt(&Nonce::from([0; 12]), Payload { msg: body, aad: header }).expect("it decrypts");
    let length = u32::from_be_bytes(plaintext[..4].try_into().expect("four bytes"));
    plaintext[4..4 + usize::try_from(length).expect("short")].to_vec()
}

#[test]
fn it_agrees_with_the_vectors() {
    let file: Value = serde_json::from_str(PUBLISHED).expect("JSON");
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let name = &file["name"];
    let text = name["name"].as_str().expect("a name");
    assert_eq!(bytes(&name["hash"]), keccak256(&[b"cowboy-secret-name:", &bytes(&name["account"]), text.as_bytes()]).0);

    let polynomial: Vec<G2Projective> = list(&file["polynomial"]).iter().map(|point| g2(&bytes(point))).collect();
    let shares: Vec<Scalar> = list(&file["shares"]).iter().map(scalar).collect();
    // The master secret: the first three shares at zero, by Lagrange: 3·s1 − 3·s2 + s3.
    let master = Scalar::from(3) * (shares[0] - shares[1]) + shares[2];
    assert_eq!(G2Projective::generator() * master, polynomial[0]);

    let transport = &file["transport"];
    let (secret, key) = (scalar(&transport["secret"]), bytes(&transport["key"]));
    assert_eq!(G1Projective::generator() * secret, g1(&key));
    let message = [&[19], &b"cowboy-transport-v1"[..], &key].concat();
    let possession = <G2Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([&message], G2_POSSESSION);
    assert_eq!(possession * secret, g2(&bytes(&transport["proof"])));

    for row in list(&file["secrets"]) {
        let (identity, sealed) = (bytes(&row["identity"]), bytes(&row["sealed"]));
        assert_eq!(sealed[..130], [&[1], &identity[..]].concat());
        let signature = hashed(&identity) * master;
        assert_eq!(bytes(&row["signature"]), G1Affine::from(signature).to_compressed());
        assert_eq!(opened(&sealed, signature), bytes(&row["value"]));

        let release = keccak256(&[b"cowboy-release:", &bytes(&file["job"]), &bytes(&file["runner"]), &keccak256(&[&identity]).0]).0;
        assert_eq!(bytes(&row["release_id"]), release);
        for (index, answer) in (0_u16..).zip(list(&row["answers"])) {
            let encoded = bytes(&answer["answer"]);
            let (e1, e2, e3) = (g1(&encoded[..48]), g2(&encoded[48..144]), g1(&encoded[144..]));
            assert_eq!(e(e1, G2Projective::generator()), e(G1Projective::generator(), e2));
            assert_eq!(e3 - e1 * secret, hashed(&identity) * shares[usize::from(index)], "member {index}");
            let digest = keccak256(&[b"cowboy-partial:", &release, &7_u64.to_be_bytes(), &index.to_be_bytes(), &encoded]);
            assert_eq!(bytes(&answer["digest_at_epoch_7"]), digest.0);
        }
    }
}
