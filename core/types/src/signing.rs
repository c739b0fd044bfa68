//! secp256k1 signatures as on Ethereum: deterministic (RFC 6979), low-S, recoverable (003 §1.1, §2.5).
//!
//! By the C library everywhere but on wasm32, where there is no C: there signatures are checked by a library in Rust, and
//! nothing signs.

use crate::address::Address;
use crate::hash::Hash;
use crate::transaction::{Signature, Transaction};

#[cfg(not(target_family = "wasm"))]
mod key;
#[cfg(any(target_family = "wasm", test))]
mod portable;

#[cfg(not(target_family = "wasm"))]
mod native;

#[cfg(not(target_family = "wasm"))]
pub use key::PrivateKey;
#[cfg(not(target_family = "wasm"))]
use native as curve;
#[cfg(target_family = "wasm")]
use portable as curve;

/// The address of a compressed public key, or `None` where the bytes are none.
pub fn address_of_public_key(compressed: &crate::wire::Fixed<33>) -> Option<Address> {
    curve::uncompressed(&compressed.0).map(|key| address_of(&key))
}

/// The address of an uncompressed public key.
fn address_of(uncompressed: &[u8; 65]) -> Address {
    let mut coordinates = [0; 64];
    coordinates.copy_from_slice(&uncompressed[1..]);
    Address::of_public_key(&coordinates)
}

/// The address whose key signed the digest, or `None` where the signature is no signature:
/// v above 1, r or s out of range, or s in the upper half (003 §2.2c).
pub fn recover(digest: &Hash, signature: &Signature) -> Option<Address> {
    let (compact, v) = signature.0.split_at(64);
    let is_odd = match v {
        [0] => false,
        [1] => true,
        _ => return None,
    };
    let compact = compact.try_into().expect("64 bytes were split off");
    curve::recover(digest, compact, is_odd).map(|key| address_of(&key))
}

/// Whether a compressed public key signed the digest; r ‖ s with s in the lower half, no recovery id.
pub fn is_signed_by(digest: &Hash, compact: &[u8; 64], compressed: &crate::wire::Fixed<33>) -> bool {
    curve::is_signed_by(digest, compact, &compressed.0)
}

/// Why a transaction's signatures do not hold (003 §2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The sender's signature does not recover to `from`.
    #[error("the signature is not one by the sender")]
    Sender,
    /// A co-signer's signature does not recover to the address beside it.
    #[error("the signature of an additional signer is not one by that signer")]
    CoSigner,
}

/// Checks the sender's signature and every co-signature against the digest. Answers the digest.
pub fn verify(transaction: &Transaction) -> Result<Hash, SignatureError> {
    let digest = transaction.digest();
    if recover(&digest, &transaction.signature) != Some(transaction.from) {
        return Err(SignatureError::Sender);
    }
    for signer in transaction.additional_signers.iter() {
        if recover(&digest, &signer.signature) != Some(signer.address) {
            return Err(SignatureError::CoSigner);
        }
    }
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::keccak256;

    /// The library in Rust says of every signature what the C library says, of damaged ones too.
    #[test]
    fn both_libraries_agree() {
        let order = hex::decode("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").expect("hex");
        for round in 1_u8..=40 {
            let key = PrivateKey::from_bytes([round; 32]).expect("a key");
            let (digest, public) = (keccak256(&[&[round]]), key.public_key());
            let good: [u8; 64] = key.sign(&digest).0[..64].try_into().expect("64 bytes");
            let mut damaged = vec![good];
            for place in [0, 31, 32, 63] {
                let mut bytes = good;
                bytes[place] ^= round;
                damaged.push(bytes);
            }
            // The same signature with s in the upper half, s of zero, and r beyond the order.
            let mut high = good;
            let mut borrow = 0_i16;
            for place in (0..32).rev() {
                let digit = i16::from(order[place]) - i16::from(good[32 + place]) - borrow;
                borrow = i16::from(digit < 0);
                high[32 + place] = u8::try_from(digit.rem_euclid(256)).expect("a digit");
            }
            let (mut zero, mut beyond) = (good, good);
            zero[32..].fill(0);
            beyond[..32].fill(255);
            damaged.extend([high, zero, beyond]);
            for compact in &damaged {
                for is_odd in [false, true] {
                    assert_eq!(portable::recover(&digest, compact, is_odd), native::recover(&digest, compact, is_odd), "{compact:02x?}");
                }
                let (rust, c) = (portable::is_signed_by(&digest, compact, &public.0), native::is_signed_by(&digest, compact, &public.0));
                assert_eq!(rust, c, "{compact:02x?}");
            }
            assert!(portable::is_signed_by(&digest, &good, &public.0));
            let mut point = public.0;
            for first in 0..=5 {
                point[0] = first;
                assert_eq!(portable::uncompressed(&point), native::uncompressed(&point), "{point:02x?}");
            }
        }
    }
}
