//! 32-byte digests, and the two functions that make them.

use crate::wire::Fixed;
use bytes::BufMut;
use commonware_codec::{Buf, Error, FixedSize, Read, ReadExt as _, Write};
use sha3::Digest as _;
use std::{fmt, str::FromStr};

/// A 32-byte digest. Which function made it, the place where it stands says.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// All zero: the digest of nothing.
    pub const ZERO: Self = Self([0; 32]);
}

/// Keccak-256 of the parts, one after the other (Ethereum's padding).
pub fn keccak256(parts: &[&[u8]]) -> Hash {
    let mut hasher = sha3::Keccak256::new();
    for part in parts {
        hasher.update(part);
    }
    Hash(hasher.finalize().into())
}

/// BLAKE3 of the parts, one after the other.
pub fn blake3(parts: &[&[u8]]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    Hash(*hasher.finalize().as_bytes())
}

impl AsRef<[u8]> for Hash {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = ParseHexError;
    fn from_str(text: &str) -> Result<Self, ParseHexError> {
        parse_hex(text).map(Self)
    }
}

impl FixedSize for Hash {
    const SIZE: usize = 32;
}

impl Write for Hash {
    fn write(&self, buf: &mut impl BufMut) {
        buf.put_slice(&self.0);
    }
}

impl Read for Hash {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self(Fixed::<32>::read(buf)?.0))
    }
}

/// Why a text is not `N` bytes in hex.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseHexError {
    /// A character is no hex digit.
    #[error("not hex: only 0-9 and a-f may follow the optional 0x")]
    Digit,
    /// Too few or too many digits.
    #[error("{found} hex digits where {expected} are needed")]
    Length {
        /// Digits in the text, without `0x`.
        found: usize,
        /// Digits that the type has.
        expected: usize,
    },
}

/// `N` bytes from hex, with or without `0x`.
pub fn parse_hex<const N: usize>(text: &str) -> Result<[u8; N], ParseHexError> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if Some(digits.len()) != N.checked_mul(2) {
        return Err(ParseHexError::Length { found: digits.len(), expected: N.saturating_mul(2) });
    }
    let mut bytes = [0; N];
    hex::decode_to_slice(digits, &mut bytes).map_err(|_| ParseHexError::Digit)?;
    Ok(bytes)
}
