//! The 20-byte names of accounts and actors.

use crate::hash::{Hash, ParseHexError, keccak256, parse_hex};
use crate::wire::Fixed;
use bytes::BufMut;
use commonware_codec::{Buf, Error, FixedSize, Read, ReadExt as _, Write};
use std::{fmt, str::FromStr};

/// The 20-byte name of an account or an actor (003 §1).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Address(pub [u8; 20]);

impl Address {
    /// The address that nobody holds.
    pub const ZERO: Self = Self([0; 20]);

    /// The system actor of this number (003 §9).
    pub const fn system(number: u8) -> Self {
        let mut bytes = [0; 20];
        bytes[19] = number;
        Self(bytes)
    }

    /// Where an actor is deployed: the last 20 bytes of keccak256(creator ‖ salt ‖ code hash) (003 §1.2).
    pub fn of_actor(creator: &Self, salt: &Hash, code_hash: &Hash) -> Self {
        Self::last_20(&keccak256(&[&creator.0, &salt.0, &code_hash.0]))
    }

    /// The address of a public key, given as the 64 bytes x ‖ y, as on Ethereum.
    pub fn of_public_key(uncompressed: &[u8; 64]) -> Self {
        Self::last_20(&keccak256(&[uncompressed]))
    }

    fn last_20(hash: &Hash) -> Self {
        let mut bytes = [0; 20];
        bytes.copy_from_slice(&hash.0[12..]);
        Self(bytes)
    }

    /// The address as a number, where it is small enough for a `u16`.
    fn small(&self) -> Option<u16> {
        let (high, low) = self.0.split_last_chunk()?;
        high.iter().all(|byte| *byte == 0).then_some(u16::from_be_bytes(*low))
    }

    /// Whether the address lies in the range of system actors, 0x0000…0100 included (003 §1.3).
    pub fn is_reserved(&self) -> bool {
        self.small().is_some_and(|number| number <= 0x100)
    }

    /// Whether the address may not be named as a timer's payer: zero and 0x01 to 0x0F (003 §9 note 4).
    pub fn is_system_band(&self) -> bool {
        self.small().is_some_and(|number| number <= 0x0F)
    }

    /// Whether the address owes no rent: everything below 0x100 (003 §9 note 4).
    pub fn is_rent_exempt(&self) -> bool {
        self.small().is_some_and(|number| number < 0x100)
    }
}

impl AsRef<[u8]> for Address {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Address {
    type Err = ParseHexError;
    fn from_str(text: &str) -> Result<Self, ParseHexError> {
        parse_hex(text).map(Self)
    }
}

impl FixedSize for Address {
    const SIZE: usize = 20;
}

impl Write for Address {
    fn write(&self, buf: &mut impl BufMut) {
        buf.put_slice(&self.0);
    }
}

impl Read for Address {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self(Fixed::<20>::read(buf)?.0))
    }
}
