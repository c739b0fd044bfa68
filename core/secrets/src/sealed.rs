//! The bytes of a sealed secret (decision 141).

use crate::curve::PointG2;
use crate::identity::{Identity, Kind};
use bytes::Bytes;
use commonware_codec::{Encode as _, ReadExt as _};
use cowboy_types::wire::Fixed;

/// The version of the format.
pub const VERSION: u8 = 1;

/// The most bytes of a sealed secret.
pub const MAX_BYTES: usize = 65_536;

/// The lengths of plaintexts: the value, four bytes with its length before it, and zeros after it.
pub const LENGTHS: [usize; 6] = [64, 256, 1_024, 4_096, 16_384, LONGEST];

const LONGEST: usize = 65_024;

/// Bytes of the tag of AES-256-GCM.
pub const TAG_BYTES: usize = 16;

/// Bytes before the ciphertext. They are its associated data.
pub const HEADER_BYTES: usize = 1 + Identity::SIZE + 96 + 32 + 32;

/// Bytes of the length before a value.
pub const LENGTH_BYTES: usize = 4;

/// The longest value.
pub const VALUE_BYTES: usize = LONGEST - LENGTH_BYTES;

/// A sealed secret: `0x01 ‖ identity ‖ U ‖ V ‖ W ‖ body`. U, V and W are a key encrypted to the identity, and the body is the padded value under
/// that key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// What it is sealed to.
    pub identity: Identity,
    /// U, V and W of the encrypted key.
    pub key: EncryptedKey,
    /// The ciphertext, with its tag.
    pub body: Bytes,
}

/// A key of 32 bytes, encrypted to an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedKey {
    /// r · g2.
    pub u: PointG2,
    /// The masked seed of r.
    pub v: Fixed<32>,
    /// The masked key.
    pub w: Fixed<32>,
}

/// Why bytes are not a sealed secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealedError {
    /// No sealed secret has this length.
    #[error(
        "a sealed secret has {HEADER_BYTES} bytes, then 16 bytes more than 64, 256, 1,024, 4,096, 16,384 or 65,024; these are {0} bytes"
    )]
    Length(usize),
    /// Another version.
    #[error("version {0} is unknown: the only version is {VERSION}")]
    Version(u8),
    /// No identity of a secret stands where one must.
    #[error("bytes 1 to 129 are not the identity of a secret")]
    Identity,
    /// U is not a point of G2 other than the identity element.
    #[error("U is not a point of G2 in compressed form, or it is the identity element")]
    Point,
}

impl Sealed {
    /// The length of the plaintext that holds a value of `length` bytes; none where the value is too long.
    pub fn padded_length(length: usize) -> Option<usize> {
        let needed = length.checked_add(LENGTH_BYTES)?;
        LENGTHS.into_iter().find(|padded| needed <= *padded)
    }

    /// The sealed secret of these bytes.
    ///
    /// # Errors
    ///
    /// The first that does not hold: length, version, identity, U.
    pub fn parse(bytes: &[u8]) -> Result<Self, SealedError> {
        let wrong_length = SealedError::Length(bytes.len());
        if !LENGTHS.iter().any(|padded| bytes.len().checked_sub(HEADER_BYTES + TAG_BYTES) == Some(*padded)) {
            return Err(wrong_length);
        }
        let mut rest = Bytes::copy_from_slice(bytes);
        let version = u8::read(&mut rest).map_err(|_| wrong_length)?;
        if version != VERSION {
            return Err(SealedError::Version(version));
        }
        let identity = Identity::read(&mut rest).ok().filter(|identity| identity.kind == Kind::Secret);
        let identity = identity.ok_or(SealedError::Identity)?;
        let u = PointG2::read(&mut rest).map_err(|_| SealedError::Point)?;
        let v = Fixed::read(&mut rest).map_err(|_| wrong_length)?;
        let w = Fixed::read(&mut rest).map_err(|_| wrong_length)?;
        Ok(Self { identity, key: EncryptedKey { u, v, w }, body: rest })
    }

    /// The bytes before the body.
    pub fn header(&self) -> Vec<u8> {
        header(&self.identity, &self.key)
    }

    /// The bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.header()[..], &self.body].concat()
    }
}

/// The bytes before the body of a sealed secret.
pub fn header(identity: &Identity, key: &EncryptedKey) -> Vec<u8> {
    [&[VERSION], &identity.encode()[..], key.u.bytes(), &key.v.0, &key.w.0].concat()
}
