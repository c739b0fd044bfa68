//! secp256k1 signatures as on Ethereum: deterministic (RFC 6979), low-S, recoverable (003 §1.1, §2.5).

use crate::address::Address;
use crate::hash::Hash;
use crate::transaction::{CoSignature, Signature, Transaction};
use secp256k1::{
    Message, PublicKey, SecretKey,
    ecdsa::{RecoverableSignature, RecoveryId, Signature as CompactSignature},
};
use std::fmt;

/// A secp256k1 private key. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct PrivateKey(SecretKey);

impl PrivateKey {
    /// The key of these 32 bytes, or `None` where they are zero or beyond the curve's order.
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        SecretKey::from_secret_bytes(bytes).ok().map(Self)
    }

    /// The 32 secret bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_secret_bytes()
    }

    /// The address that the key controls.
    pub fn address(&self) -> Address {
        address_of(&PublicKey::from_secret_key(&self.0))
    }

    /// The public key, compressed.
    pub fn public_key(&self) -> crate::wire::Fixed<33> {
        crate::wire::Fixed(PublicKey::from_secret_key(&self.0).serialize())
    }

    /// Signs a digest.
    pub fn sign(&self, digest: &Hash) -> Signature {
        let signature = RecoverableSignature::sign_ecdsa_recoverable(Message::from_digest(digest.0), &self.0);
        let (recovery, compact) = signature.serialize_compact();
        let mut bytes = [0; 65];
        bytes[..64].copy_from_slice(&compact);
        bytes[64] = u8::from(recovery);
        crate::wire::Fixed(bytes)
    }

    /// Puts the sender's signature on a transaction.
    pub fn sign_transaction(&self, transaction: &mut Transaction) {
        transaction.signature = self.sign(&transaction.digest());
    }

    /// A co-signature for a transaction whose list of signers is complete already.
    pub fn co_sign(&self, transaction: &Transaction) -> CoSignature {
        CoSignature { address: self.address(), signature: self.sign(&transaction.digest()) }
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey of {}", self.address())
    }
}

/// The address of a compressed public key, or `None` where the bytes are none.
pub fn address_of_public_key(compressed: &crate::wire::Fixed<33>) -> Option<Address> {
    PublicKey::from_slice(&compressed.0).ok().map(|key| address_of(&key))
}

fn address_of(key: &PublicKey) -> Address {
    let uncompressed = key.serialize_uncompressed();
    let mut coordinates = [0; 64];
    coordinates.copy_from_slice(&uncompressed[1..]);
    Address::of_public_key(&coordinates)
}

/// The address whose key signed the digest, or `None` where the signature is no signature:
/// v above 1, r or s out of range, or s in the upper half (003 §2.2c).
pub fn recover(digest: &Hash, signature: &Signature) -> Option<Address> {
    let (compact, v) = signature.0.split_at(64);
    let recovery = match v {
        [0] => RecoveryId::Zero,
        [1] => RecoveryId::One,
        _ => return None,
    };
    if !is_low_s(compact) {
        return None;
    }
    let signature = RecoverableSignature::from_compact(compact, recovery).ok()?;
    let key = signature.recover_ecdsa(Message::from_digest(digest.0)).ok()?;
    Some(address_of(&key))
}

/// Whether a compressed public key signed the digest; r ‖ s with s in the lower half, no recovery id.
pub fn is_signed_by(digest: &Hash, compact: &[u8; 64], compressed: &crate::wire::Fixed<33>) -> bool {
    let (Ok(key), Ok(signature)) = (PublicKey::from_slice(&compressed.0), CompactSignature::from_compact(compact)) else {
        return false;
    };
    // The curve's library takes only the lower half, so that one signature has one form.
    signature.verify(Message::from_digest(digest.0), &key).is_ok()
}

fn is_low_s(compact: &[u8]) -> bool {
    let Ok(signature) = CompactSignature::from_compact(compact) else { return false };
    let mut normalized = signature;
    normalized.normalize_s();
    normalized == signature
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
