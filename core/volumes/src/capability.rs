//! Capabilities: the right of another account to a partition (decision 154).

use commonware_codec::Encode as _;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, keccak256, record, variants};

variants! {
    /// What a holder may do. Nobody but the owner deletes.
    #[derive(Copy)]
    pub enum Mode {
        /// Read.
        1 Read,
        /// Write, and read nothing.
        2 Write,
        /// Both.
        3 ReadWrite,
    }
}

impl Mode {
    /// Whether the holder may read.
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Its letters: r, w or rw.
    pub const fn letters(self) -> &'static str {
        match self {
            Self::Read => "r",
            Self::Write => "w",
            Self::ReadWrite => "rw",
        }
    }

    /// The one with these letters.
    pub fn of_letters(letters: &str) -> Option<Self> {
        [Self::Read, Self::Write, Self::ReadWrite].into_iter().find(|mode| mode.letters() == letters)
    }

    /// Whether the holder may write.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }
}

record! {
    /// What a holder shows to a relay. It is worth nothing without the holder's signature over the connection.
    pub struct Token {
        /// The genesis hash of the chain.
        pub genesis: Hash,
        /// The volume.
        pub volume: Hash,
        /// The capability; zeros for the owner itself, and for relays of the volume.
        pub capability: Fixed<16>,
        /// Who holds it.
        pub holder: Address,
    }
}

/// The version byte before a token.
const VERSION: u8 = 1;

impl Token {
    /// Bytes of a token with its version.
    pub const BYTES: usize = 101;

    /// The bytes: 0x01 ‖ genesis hash ‖ volume ‖ capability ‖ holder.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&[VERSION][..], &self.encode()].concat()
    }

    /// What the holder signs: keccak256("cowboy-cap-session:" ‖ token ‖ what the TLS session exports ‖ relay). A token that is shown to one relay
    /// opens no connection to another.
    pub fn digest(&self, exported: &[u8; 32], relay: Address) -> Hash {
        keccak256(&[b"cowboy-cap-session:", &self.to_bytes(), exported, &relay.0])
    }
}

/// The id of an account's capability: the first 16 bytes of keccak256("cowboy-capability:" ‖ volume ‖ delivery).
pub fn id(volume: &Hash, delivery: &Hash) -> Fixed<16> {
    let hash = keccak256(&[b"cowboy-capability:", &volume.0, &delivery.0]);
    Fixed(*hash.0.first_chunk().unwrap_or(&[0; 16]))
}
