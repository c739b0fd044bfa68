//! Signatures that actors check: three schemes, their prices, and what is refused.

use blst::{min_pk, min_sig};
use cowboy_testkit::chain::{Chain, key};
use cowboy_types::keccak256;
use cowboy_types::units::Cycles;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![signatures_hold_at_their_price, unknown_schemes_are_refused,];

const G1: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";
const G2: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One signature of `message` in each scheme: number, public key, signature, price.
fn signed() -> Vec<(u64, Vec<u8>, Vec<u8>, u64)> {
    let ed25519 = ed25519_consensus::SigningKey::from([7; 32]);
    let short = min_sig::SecretKey::key_gen(&[7; 32], &[]).expect("a seed of 32 bytes");
    let long = min_pk::SecretKey::key_gen(&[7; 32], &[]).expect("a seed of 32 bytes");
    let of_account = key(5);
    vec![
        (1, of_account.public_key().0.to_vec(), of_account.sign(&keccak256(&[b"message"])).0[..64].to_vec(), 10_000),
        (2, ed25519.verification_key().as_ref().to_vec(), ed25519.sign(b"message").to_bytes().to_vec(), 5_000),
        (3, short.sk_to_pk().to_bytes().to_vec(), short.sign(b"message", G1, &[]).to_bytes().to_vec(), 8_000),
        (3, long.sk_to_pk().to_bytes().to_vec(), long.sign(b"message", G2, &[]).to_bytes().to_vec(), 8_000),
    ]
}

/// each scheme holds for its message, key and signature and for no other, at its price, whatever the answer.
#[test]
fn signatures_hold_at_their_price() {
    for (scheme, public, signature, price) in signed() {
        let flipped = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            bytes
        };
        let (zeros, ones) = (vec![0; public.len()], vec![0xFF; signature.len()]);
        // The point at infinity, compressed, where the scheme knows one.
        let infinity = |length: usize| [vec![0xC0], vec![0; length - 1]].concat();
        let rows = [
            (public.clone(), "message", signature.clone(), "Bool(true)"),
            (public.clone(), "massage", signature.clone(), "Bool(false)"),
            (public.clone(), "message", flipped(&signature), "Bool(false)"),
            (flipped(&public), "message", signature.clone(), "Bool(false)"),
            (zeros, "message", signature.clone(), "Bool(false)"),
            (public.clone(), "message", ones, "Bool(false)"),
            (infinity(public.len()), "message", infinity(signature.len()), "Bool(false)"),
            (public[1..].to_vec(), "message", signature.clone(), "invalid_argument"),
            (public.clone(), "message", signature[1..].to_vec(), "invalid_argument"),
            (Vec::new(), "message", Vec::new(), "invalid_argument"),
        ];
        let mut chain = Chain::new();
        let handler = |(place, (public, message, signature, _)): (usize, &(Vec<u8>, &str, Vec<u8>, &str))| {
            format!("handler h{place}\n try verify {scheme} 0x{} b'{message}' 0x{}\n return $last\n", hex(public), hex(signature))
        };
        let actor = chain.deploy(&rows.iter().enumerate().map(handler).collect::<String>());
        for (place, (.., expected)) in rows.iter().enumerate() {
            let receipt = chain.call(actor, &format!("h{place}"), b"");
            assert_eq!(std::str::from_utf8(&receipt.return_data).ok(), Some(*expected), "scheme {scheme}, row {place}");
            assert_eq!(receipt.cycles_used, Cycles(21_000 + 20 + price), "scheme {scheme}, row {place}");
        }
    }
}

/// A scheme that nobody knows is refused.
#[test]
fn unknown_schemes_are_refused() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler run\n try verify 4 0x00 b'message' 0x00\n return $last\n");
    assert_eq!(chain.call(actor, "run", b"").return_data[..], *b"invalid_argument");
}
