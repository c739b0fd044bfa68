//! The Ed25519 key of a service.

use cowboy_types::keccak256;
use cowboy_types::signing::PrivateKey;
use cowboy_types::wire::Fixed;
use ed25519_consensus::SigningKey;

/// A key that signs for a service, as the chain verifies it.
#[derive(Clone)]
pub struct Key(SigningKey);

impl Key {
    /// The key that follows from the key of an account, so that nothing else has to be kept. A domain sets it apart from those of other services.
    pub fn of(account: &PrivateKey, domain: &[u8]) -> Self {
        Self(SigningKey::from(keccak256(&[domain, &account.to_bytes()]).0))
    }

    /// The public key.
    pub fn public(&self) -> Fixed<32> {
        Fixed(self.0.verification_key().to_bytes())
    }

    /// The signature of a message.
    pub fn sign(&self, message: &[u8]) -> Fixed<64> {
        Fixed(self.0.sign(message).to_bytes())
    }

    /// The secret.
    pub fn to_bytes(&self) -> zeroize::Zeroizing<[u8; 32]> {
        zeroize::Zeroizing::new(self.0.to_bytes())
    }
}
