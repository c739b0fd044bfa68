//! Proofs that who registers a validator has its keys (decision 292).
//!
//! Both keys sign the same message: the genesis hash, who registers, and both public keys. So a proof made for another
//! chain, another account or another pair of keys proves nothing, and nobody can register a key that is not theirs.

use crate::pairing;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash};

/// What sets the message apart from everything else that the keys sign.
const DOMAIN: &[u8] = b"cowboy-validator-keys-v1:";

/// Which keys an account registers on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The chain's genesis hash.
    pub genesis: Hash,
    /// The account that registers.
    pub account: Address,
    /// The Ed25519 key.
    pub network_key: Fixed<32>,
    /// The BLS12-381 key.
    pub vrf_key: Fixed<96>,
}

impl Registration {
    /// The message that both keys sign.
    pub fn message(&self) -> Vec<u8> {
        [DOMAIN, &self.genesis.0, &self.account.0, &self.network_key.0, &self.vrf_key.0].concat()
    }

    /// Whether both signatures hold: Ed25519 by the network key, and a BLS proof of possession by the VRF key.
    pub fn is_proven(&self, network_proof: &Fixed<64>, vrf_proof: &Fixed<48>) -> bool {
        let message = self.message();
        network_key_signs(&self.network_key, &message, network_proof.0)
            && pairing::holds_in_g1(&self.vrf_key.0, &message, &vrf_proof.0, pairing::G1_POSSESSION)
    }
}

/// Whether a network key is a point of the curve, encoded as it has to be and not of small order.
pub fn is_network_key(key: &Fixed<32>) -> bool {
    !is_degenerate(key) && ed25519_consensus::VerificationKey::try_from(key.0).is_ok()
}

/// Whether a VRF key is a point of its group, compressed, and not the point at infinity.
pub fn is_vrf_key(key: &Fixed<96>) -> bool {
    pairing::is_key_in_g2(&key.0)
}

/// Whether an Ed25519 signature by the network key holds. Keys of small order sign everything and are refused.
pub fn network_key_signs(key: &Fixed<32>, message: &[u8], signature: [u8; 64]) -> bool {
    if !is_network_key(key) {
        return false;
    }
    let key = ed25519_consensus::VerificationKey::try_from(key.0);
    key.is_ok_and(|key| key.verify(&signature.into(), message).is_ok())
}

/// The y coordinates of the points of small order of Curve25519, little-endian: of order 4, 1, 2, and 8.
const SMALL_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [
        0xEC, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F,
    ],
    [
        0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0, 0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6,
        0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
    ],
    [
        0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F, 0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39,
        0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
    ],
];

/// Whether an Ed25519 key is a point of small order, or is encoded by a y coordinate that is not below the field's prime.
fn is_degenerate(key: &Fixed<32>) -> bool {
    let mut y = key.0;
    // The highest bit is the sign of x.
    y[31] &= 0x7F;
    let is_reduced = y[0] < 0xED || y[31] != 0x7F || y[1..31].iter().any(|byte| *byte != 0xFF);
    !is_reduced || SMALL_ORDER.contains(&y)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every encoding of a point of small order, with either sign, and every y that is not reduced.
    #[test]
    fn degenerate_keys_are_refused() {
        let mut rows: Vec<[u8; 32]> = SMALL_ORDER.to_vec();
        rows.extend((0xED..=0xFF_u8).map(|low| {
            let mut y = [0xFF; 32];
            (y[0], y[31]) = (low, 0x7F);
            y
        }));
        for y in rows {
            for sign in [0, 0x80] {
                let mut key = y;
                key[31] |= sign;
                assert!(is_degenerate(&Fixed(key)), "{key:02x?}");
                // With R the identity and s = 0 such a key signs whatever one likes, or is no key at all.
                let mut forged = [0; 64];
                forged[0] = 1;
                assert!(!network_key_signs(&Fixed(key), b"message", forged), "{key:02x?}");
            }
        }
        let honest = ed25519_consensus::SigningKey::from([7; 32]);
        let key = Fixed(honest.verification_key().to_bytes());
        assert!(!is_degenerate(&key));
        assert!(network_key_signs(&key, b"message", honest.sign(b"message").to_bytes()));
        assert!(!network_key_signs(&key, b"massage", honest.sign(b"message").to_bytes()));
    }
}
