//! The Ed25519 key of a proxy: it signs answers as the chain verifies them, and messages of dealings as the library does. And the key of its files.

use commonware_codec::DecodeExt as _;
use commonware_cryptography::ed25519::PrivateKey;
use cowboy_service::Key;
use cowboy_types::signing;
use cowboy_types::wire::Fixed;
use zeroize::Zeroizing;

/// What sets the key apart from those of other services of the account.
const DOMAIN: &[u8] = b"cowboy-proxy-key:";

/// The same for what encrypts the proxy's files.
const STORE: &[u8] = b"cowboy-proxy-store:";

/// The key that encrypts the files of an account's proxy.
pub(crate) fn of_store(account: &signing::PrivateKey) -> Zeroizing<[u8; 32]> {
    Key::of(account, STORE).to_bytes()
}

/// The key.
#[derive(Clone)]
pub(crate) struct Keys(Key);

impl Keys {
    /// The key that follows from the key of an account.
    pub(crate) fn of(account: &signing::PrivateKey) -> Self {
        Self(Key::of(account, DOMAIN))
    }

    pub(crate) fn public(&self) -> Fixed<32> {
        self.0.public()
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Fixed<64> {
        self.0.sign(message)
    }

    /// The key as the library of dealings has it.
    pub(crate) fn dealing(&self) -> PrivateKey {
        PrivateKey::decode(self.0.to_bytes().to_vec()).expect("32 bytes are a key")
    }
}
