//! Signatures over BLS12-381: by the C library, and in Rust where there is no C.
//!
//! Both check that the points lie in their groups and that the key is not the point at infinity.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(any(target_family = "wasm", test))]
mod portable;

#[cfg(not(target_family = "wasm"))]
use native as library;
#[cfg(target_family = "wasm")]
use portable as library;

/// The suite with signatures in G1, which the chain's own seeds use.
pub const G1_SUITE: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";
/// The suite with signatures in G2, which Ethereum's validators use.
pub const G2_SUITE: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
/// The suite of proofs of possession with signatures in G1.
pub const G1_POSSESSION: &[u8] = b"BLS_POP_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";

/// Whether these bytes are a key in G2: a compressed point of the group, and not the point at infinity.
pub fn is_key_in_g2(key: &[u8]) -> bool {
    library::is_key_in_g2(key)
}

/// Whether a signature in G1 of a key in G2 holds, in this suite.
pub fn holds_in_g1(key: &[u8], message: &[u8], signature: &[u8], suite: &[u8]) -> bool {
    library::holds_in_g1(key, message, signature, suite)
}

/// Whether a signature in G2 of a key in G1 holds, in this suite.
pub fn holds_in_g2(key: &[u8], message: &[u8], signature: &[u8], suite: &[u8]) -> bool {
    library::holds_in_g2(key, message, signature, suite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blst::{min_pk, min_sig};

    /// The library in Rust says of every signature what the C library says, of damaged ones too.
    #[test]
    fn both_libraries_agree() {
        for round in 1_u8..=3 {
            let (short, long) = (
                min_sig::SecretKey::key_gen(&[round; 32], &[]).expect("a seed of 32 bytes"),
                min_pk::SecretKey::key_gen(&[round; 32], &[]).expect("a seed of 32 bytes"),
            );
            let in_g1 = (short.sk_to_pk().to_bytes().to_vec(), short.sign(b"message", G1_SUITE, &[]).to_bytes().to_vec());
            let in_g2 = (long.sk_to_pk().to_bytes().to_vec(), long.sign(b"message", G2_SUITE, &[]).to_bytes().to_vec());
            let infinity = |length: usize| [vec![0xC0], vec![0; length - 1]].concat();
            type Check = fn(&[u8], &[u8], &[u8], &[u8]) -> bool;
            let rows: [(Check, Check, &[u8], (Vec<u8>, Vec<u8>)); 2] = [
                (portable::holds_in_g1, native::holds_in_g1, G1_SUITE, in_g1),
                (portable::holds_in_g2, native::holds_in_g2, G2_SUITE, in_g2),
            ];
            for (rust, c, suite, (key, signature)) in rows {
                let changed = |bytes: &[u8], place: usize, by: u8| {
                    let mut bytes = bytes.to_vec();
                    bytes[place] ^= by;
                    bytes
                };
                let keys = [
                    key.clone(),
                    changed(&key, 40, 1),
                    changed(&key, 0, 0x20),
                    changed(&key, 0, 0x80),
                    infinity(key.len()),
                    vec![0; key.len()],
                ];
                let signatures = [signature.clone(), changed(&signature, 40, 1), changed(&signature, 0, 0x20), infinity(signature.len())];
                for key in &keys {
                    if suite == G1_SUITE {
                        assert_eq!(portable::is_key_in_g2(key), native::is_key_in_g2(key), "{key:02x?}");
                    }
                    for signature in &signatures {
                        let (rust, c) = (rust(key, b"message", signature, suite), c(key, b"message", signature, suite));
                        assert_eq!(rust, c, "{key:02x?} {signature:02x?}");
                    }
                }
                assert!(rust(&key, b"message", &signature, suite));
                assert_eq!(is_key_in_g2(&key), suite == G1_SUITE, "a key of the other suite lies in the other group");
                assert!(!rust(&key, b"massage", &signature, suite));
            }
        }
    }
}
