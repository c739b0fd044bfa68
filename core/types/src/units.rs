//! Newtypes of the protocol's numbers, so that a height is never taken for an amount.

use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, FixedSize, Read, ReadExt as _, Write, varint::UInt};
use std::fmt;

macro_rules! unit {
    ($(#[$attribute:meta])* $Unit:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        pub struct $Unit(pub u64);

        impl $Unit {
            /// Nothing of it.
            pub const ZERO: Self = Self(0);
            /// As much as the type holds.
            pub const MAX: Self = Self(u64::MAX);

            /// The plain number.
            pub const fn get(self) -> u64 {
                self.0
            }

            /// The sum, or `None` where it does not fit.
            #[must_use]
            pub const fn checked_add(self, other: Self) -> Option<Self> {
                match self.0.checked_add(other.0) { Some(sum) => Some(Self(sum)), None => None }
            }

            /// The difference, or `None` where it is negative.
            #[must_use]
            pub const fn checked_sub(self, other: Self) -> Option<Self> {
                match self.0.checked_sub(other.0) { Some(rest) => Some(Self(rest)), None => None }
            }

            /// The sum, at most [`Self::MAX`].
            #[must_use]
            pub const fn saturating_add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            /// The difference, at least zero.
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl fmt::Display for $Unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

macro_rules! varint_unit {
    ($(#[$attribute:meta])* $Unit:ident) => {
        unit! { $(#[$attribute])* $Unit }

        impl Write for $Unit {
            fn write(&self, buf: &mut impl BufMut) {
                UInt(self.0).write(buf);
            }
        }

        impl EncodeSize for $Unit {
            fn encode_size(&self) -> usize {
                UInt(self.0).encode_size()
            }
        }

        impl Read for $Unit {
            type Cfg = ();
            fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
                Ok(Self(UInt::<u64>::read(buf)?.0))
            }
        }
    };
}

unit! {
    /// CBY in base units: 1 CBY is 10^9 of them, and all CBY fit a `u64`. Eight bytes on the wire (003 §2.5).
    Amount
}

impl Amount {
    /// One CBY.
    pub const CBY: Self = Self(1_000_000_000);

    /// Whole CBY, or `None` where they do not fit.
    pub const fn from_cby(cby: u64) -> Option<Self> {
        match cby.checked_mul(Self::CBY.0) {
            Some(units) => Some(Self(units)),
            None => None,
        }
    }
}

impl FixedSize for Amount {
    const SIZE: usize = 8;
}

impl Write for Amount {
    fn write(&self, buf: &mut impl BufMut) {
        buf.put_u64(self.0);
    }
}

impl Read for Amount {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        Ok(Self(u64::read(buf)?))
    }
}

varint_unit! {
    /// The number that tells one chain's signatures from another's (003 §1.1).
    ChainId
}
varint_unit! {
    /// How many transactions an account has sent.
    Nonce
}
varint_unit! {
    /// Compute, in steps of the cost table (003 §4.1).
    Cycles
}
varint_unit! {
    /// Bytes (003 §4.1): one cell is one byte.
    Cells
}
varint_unit! {
    /// Base units of CBY for one cycle or one cell.
    Price
}
varint_unit! {
    /// A block's place in the chain: its number and the heights that a dev chain skipped before it.
    Height
}
varint_unit! {
    /// Milliseconds since 1970-01-01 UTC.
    TimestampMs
}
varint_unit! {
    /// A plain count, where nothing more telling fits.
    Count
}

impl Height {
    /// The height after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}
