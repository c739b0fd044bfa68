//! Private keys, and signing with them.

use super::address_of;
use crate::address::Address;
use crate::hash::Hash;
use crate::transaction::{CoSignature, Signature, Transaction};
use secp256k1::{Message, PublicKey, SecretKey, ecdsa::RecoverableSignature};
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
        address_of(&PublicKey::from_secret_key(&self.0).serialize_uncompressed())
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
