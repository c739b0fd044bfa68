//! The Ed25519 key of a proxy: it signs answers as the chain verifies them, and messages of dealings as the library does.

use commonware_codec::DecodeExt as _;
use commonware_cryptography::ed25519::PrivateKey;
use cowboy_types::keccak256;
use cowboy_types::signing;
use cowboy_types::wire::Fixed;
use ed25519_consensus::SigningKey;

/// The key.
#[derive(Clone)]
pub(crate) struct Keys(SigningKey);

impl Keys {
    /// The key that follows from the key of an account, so that nothing else has to be kept.
    pub(crate) fn of(account: &signing::PrivateKey) -> Self {
        Self(SigningKey::from(keccak256(&[b"cowboy-proxy-key:", &account.to_bytes()]).0))
    }

    pub(crate) fn public(&self) -> Fixed<32> {
        Fixed(self.0.verification_key().to_bytes())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Fixed<64> {
        Fixed(self.0.sign(message).to_bytes())
    }

    /// The key as the library of dealings has it.
    pub(crate) fn dealing(&self) -> PrivateKey {
        PrivateKey::decode(self.0.to_bytes().to_vec()).expect("32 bytes are a key")
    }
}
