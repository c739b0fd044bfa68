//! Names of secrets, and the identities that secrets are sealed to (decisions 139, 140).

use commonware_codec::Encode as _;
use cowboy_types::{Address, Hash, keccak256, record, variants};

use crate::curve;

/// The namespace of the message that a committee signs.
pub const NAMESPACE: &[u8] = b"cowboy-secret-v1";

/// The longest name of a secret, in bytes.
pub const NAME_BYTES: usize = 64;

/// The name of a secret: `[A-Z][A-Z0-9_]{0,63}`. It never stands on the chain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

impl Name {
    /// The name, or none where the text is not one.
    pub fn new(text: &str) -> Option<Self> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        let is_name = is_plain && text.len() <= NAME_BYTES && text.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
        is_name.then(|| Self(text.to_string()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands for the name on the chain: keccak256("cowboy-secret-name:" ‖ account ‖ name). Common names can be guessed from it.
    pub fn hash(&self, account: Address) -> Hash {
        keccak256(&[b"cowboy-secret-name:", &account.0, self.0.as_bytes()])
    }
}

variants! {
    /// What an identity is for.
    #[derive(Copy)]
    pub enum Kind {
        /// A version of a secret.
        1 Secret,
        /// A version of the key of a volume's partition: `name_hash` is the volume's id, and `policy_hash` that of the partition's name.
        2 Partition,
    }
}

record! {
    /// What a secret is sealed to. Its encoding has 129 bytes, numbers big-endian.
    pub struct Identity {
        /// What it is for.
        pub kind: Kind,
        /// The genesis hash of the chain.
        pub genesis: Hash,
        /// The number of the committees' key.
        pub key_id: u32,
        /// The owner.
        pub account: Address,
        /// What stands for the secret's name.
        pub name_hash: Hash,
        /// The version, from 1.
        pub version: u64,
        /// The hash of the policy.
        pub policy_hash: Hash,
    }
}

impl Identity {
    /// Encoded bytes of an identity.
    pub const SIZE: usize = 129;

    /// The message that the committee signs.
    pub fn message(&self) -> Vec<u8> {
        curve::in_namespace(NAMESPACE, &self.encode())
    }

    /// The hash of the identity, which release ids contain.
    pub fn hash(&self) -> Hash {
        keccak256(&[&self.encode()])
    }
}
