//! A value to a sealed secret and back (decision 141).

use crate::points;
use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_cryptography::bls12381::primitives::variant::MinSig;
use commonware_cryptography::bls12381::tle::{self, Block, Ciphertext};
use cowboy_secrets::identity::{self, Identity, Kind};
use cowboy_secrets::sealed::{self, EncryptedKey, LENGTH_BYTES, Sealed, VALUE_BYTES};
use cowboy_secrets::{PointG1, PointG2};
use cowboy_types::wire::Fixed;
use hkdf::Hkdf;
use rand_core::CryptoRng;
use sha2::Sha256;
use zeroize::Zeroizing;

/// What the key of the body is derived for.
const BODY: &[u8] = b"cowboy-secret-body-v1";

/// The nonce of the body. Each key is used once.
const NONCE: [u8; 12] = [0; 12];

/// Why a value cannot be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// It is too long.
    #[error("a value has at most {VALUE_BYTES} bytes; this one has {0}: put it into a file of a private volume and seal the path")]
    Long(usize),
    /// The identity is not one of a secret.
    #[error("the identity is not one of a secret")]
    Identity,
}

/// Why a sealed secret does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The signature is another's, or the encrypted key was changed.
    #[error("the signature does not open this secret: it is over another identity, by another committee, or U, V or W was changed")]
    Key,
    /// The header or the body was changed.
    #[error("the body does not decrypt: it, or the identity before it, was changed")]
    Body,
    /// The plaintext is not in its one form.
    #[error("the plaintext is no padded value: whoever sealed it did not follow the format")]
    Padding,
}

/// Seals a value to an identity under the public key of a committee.
///
/// # Errors
///
/// If the value is too long, or the identity is not one of a secret.
pub fn seal(rng: &mut impl CryptoRng, committee: &PointG2, identity: Identity, value: &[u8]) -> Result<Sealed, SealError> {
    let long = SealError::Long(value.len());
    if identity.kind != Kind::Secret {
        return Err(SealError::Identity);
    }
    let padded = Sealed::padded_length(value.len()).ok_or(long)?;
    let length = u32::try_from(value.len()).map_err(|_| long)?;
    let mut plaintext = Zeroizing::new(Vec::with_capacity(padded));
    plaintext.extend_from_slice(&length.to_be_bytes());
    plaintext.extend_from_slice(value);
    plaintext.resize(padded, 0);

    let mut key = Zeroizing::new([0; 32]);
    rng.fill_bytes(&mut *key);
    let block = Zeroizing::new(Block::new(*key));
    let target = (identity::NAMESPACE, &identity.encode()[..]);
    let sealed = tle::encrypt::<_, MinSig>(rng, points::to_g2(committee), target, &block);
    let Ciphertext { u, v, w } = sealed.expect("a decoded key is not the identity element");
    let u = points::from_g2(&u).expect("the factor is the hash of a random value, and zero with no probability that matters");
    let key_of_body = EncryptedKey { u, v: bytes32(&v), w: bytes32(&w) };
    let header = sealed::header(&identity, &key_of_body);
    let payload = Payload { msg: &plaintext[..], aad: &header };
    let body = cipher(&key).encrypt(&Nonce::from(NONCE), payload).expect("the plaintext is far shorter than the cipher's limit");
    Ok(Sealed { identity, key: key_of_body, body: Bytes::from(body) })
}

/// Opens a sealed secret with the committee's signature over its identity.
///
/// # Errors
///
/// If the signature is not the one, or the sealed secret was changed or not made by the format.
pub fn open(secret: &Sealed, signature: &PointG1) -> Result<Zeroizing<Vec<u8>>, OpenError> {
    let EncryptedKey { u, v, w } = &secret.key;
    let encrypted = Ciphertext::<MinSig> { u: points::to_g2(u), v: Block::new(v.0), w: Block::new(w.0) };
    let block = Zeroizing::new(tle::decrypt::<MinSig>(&points::to_g1(signature), &encrypted).ok_or(OpenError::Key)?);
    let key = Zeroizing::new(bytes32(&block).0);
    let header = secret.header();
    let payload = Payload { msg: &secret.body[..], aad: &header };
    let plaintext = Zeroizing::new(cipher(&key).decrypt(&Nonce::from(NONCE), payload).map_err(|_| OpenError::Body)?);
    let value = unpadded(&plaintext).ok_or(OpenError::Padding)?;
    Ok(Zeroizing::new(value.to_vec()))
}

/// The value of a plaintext; none where it is not the one padded form of a value.
fn unpadded(plaintext: &[u8]) -> Option<&[u8]> {
    let (length, rest) = plaintext.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (value, zeros) = rest.split_at_checked(length)?;
    let is_canonical = Sealed::padded_length(length) == Some(plaintext.len()) && zeros.iter().all(|byte| *byte == 0);
    is_canonical.then_some(value)
}

/// The cipher of a body.
fn cipher(key: &[u8; 32]) -> Aes256Gcm {
    let mut derived = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(None, key).expand(BODY, &mut *derived).expect("32 bytes can be derived");
    Aes256Gcm::new(&Key::<Aes256Gcm>::from(*derived))
}

fn bytes32(block: &Block) -> Fixed<32> {
    Fixed(std::array::from_fn(|place| block[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plaintext_has_one_form() {
        let padded = |length: u32, bytes: usize| [&length.to_be_bytes()[..], &vec![0; bytes - 4]].concat();
        assert_eq!(unpadded(&padded(60, 64)).map(<[u8]>::len), Some(60));
        assert_eq!(unpadded(&padded(61, 256)).map(<[u8]>::len), Some(61));
        let mut with_rest = padded(59, 64);
        with_rest[63] = 1;
        for plaintext in [padded(61, 64), padded(60, 256), padded(u32::MAX, 64), with_rest, vec![0; 3], Vec::new()] {
            assert_eq!(unpadded(&plaintext), None, "{plaintext:02x?}");
        }
    }
}
