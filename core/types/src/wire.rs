//! Building blocks of the canonical encoding.
//!
//! [`record!`](crate::record) declares a struct whose encoding is its fields in order;
//! [`variants!`](crate::variants) an enum whose encoding is an explicit number, then the fields.
//! [`Blob`], [`Text`] and [`List`] carry their bound in their type, so no decoder can be asked for
//! more memory than the protocol allows.

use bytes::{Buf as _, BufMut, Bytes};
use commonware_codec::{Buf, EncodeSize, Error, FixedSize, Read, ReadExt as _, Write, varint::UInt};
use std::fmt;

/// Reads a collection's length: a minimal varint of at most `max`.
fn read_length(buf: &mut impl Buf, max: usize) -> Result<usize, Error> {
    let length = UInt::<u32>::read(buf)?.0;
    let length = usize::try_from(length).map_err(|_| Error::InvalidUsize)?;
    if length > max { Err(Error::InvalidLength(length)) } else { Ok(length) }
}

/// A collection's length as it stands on the wire.
fn length_of(length: usize) -> UInt<u32> {
    UInt(u32::try_from(length).expect("every bounded collection is shorter than 2^32"))
}

/// A byte string of at most `MAX` bytes: a varint length, then the bytes.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blob<const MAX: usize>(Bytes);

impl<const MAX: usize> Blob<MAX> {
    /// The longest byte string this type holds.
    pub const MAX: usize = MAX;

    /// The bytes, or `None` when there are more than `MAX` of them.
    pub fn new(bytes: impl Into<Bytes>) -> Option<Self> {
        let bytes = bytes.into();
        (bytes.len() <= MAX).then_some(Self(bytes))
    }

    /// The bytes as a shared buffer.
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }
}

impl<const MAX: usize> std::ops::Deref for Blob<MAX> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<const MAX: usize> fmt::Debug for Blob<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(&self.0))
    }
}

impl<const MAX: usize> Write for Blob<MAX> {
    fn write(&self, buf: &mut impl BufMut) {
        length_of(self.0.len()).write(buf);
        buf.put_slice(&self.0);
    }
}

impl<const MAX: usize> EncodeSize for Blob<MAX> {
    fn encode_size(&self) -> usize {
        length_of(self.0.len()).encode_size().saturating_add(self.0.len())
    }
}

impl<const MAX: usize> Read for Blob<MAX> {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let length = read_length(buf, MAX)?;
        if buf.remaining() < length {
            return Err(Error::EndOfBuffer);
        }
        Ok(Self(buf.copy_to_bytes(length)))
    }
}

#[cfg(feature = "arbitrary")]
impl<'a, const MAX: usize> arbitrary::Arbitrary<'a> for Blob<MAX> {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut bytes = Vec::<u8>::arbitrary(u)?;
        bytes.truncate(MAX);
        Ok(Self(bytes.into()))
    }
}

/// A UTF-8 string of at most `MAX` bytes: a varint length, then the bytes.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    /// The longest string this type holds, in bytes.
    pub const MAX: usize = MAX;

    /// The string, or `None` when it is longer than `MAX` bytes.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (text.len() <= MAX).then_some(Self(text))
    }
}

impl<const MAX: usize> std::ops::Deref for Text<MAX> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> fmt::Debug for Text<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<const MAX: usize> fmt::Display for Text<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<const MAX: usize> Write for Text<MAX> {
    fn write(&self, buf: &mut impl BufMut) {
        length_of(self.0.len()).write(buf);
        buf.put_slice(self.0.as_bytes());
    }
}

impl<const MAX: usize> EncodeSize for Text<MAX> {
    fn encode_size(&self) -> usize {
        length_of(self.0.len()).encode_size().saturating_add(self.0.len())
    }
}

impl<const MAX: usize> Read for Text<MAX> {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let bytes = Blob::<MAX>::read(buf)?;
        match String::from_utf8(bytes.to_vec()) {
            Ok(text) => Ok(Self(text)),
            Err(_) => Err(Error::Invalid("Text", "the bytes are not UTF-8")),
        }
    }
}

#[cfg(feature = "arbitrary")]
impl<'a, const MAX: usize> arbitrary::Arbitrary<'a> for Text<MAX> {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut text = String::arbitrary(u)?;
        while text.len() > MAX {
            text.pop();
        }
        Ok(Self(text))
    }
}

/// A list of at most `MAX` items: a varint length, then the items.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct List<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> List<T, MAX> {
    /// The longest list this type holds.
    pub const MAX: usize = MAX;

    /// The items, or `None` when there are more than `MAX` of them.
    pub fn new(items: Vec<T>) -> Option<Self> {
        (items.len() <= MAX).then_some(Self(items))
    }

    /// Gives the items away.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MAX: usize> std::ops::Deref for List<T, MAX> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Write, const MAX: usize> Write for List<T, MAX> {
    fn write(&self, buf: &mut impl BufMut) {
        length_of(self.0.len()).write(buf);
        for item in &self.0 {
            item.write(buf);
        }
    }
}

impl<T: EncodeSize, const MAX: usize> EncodeSize for List<T, MAX> {
    #[expect(clippy::arithmetic_side_effects, reason = "the sizes of values in memory")]
    fn encode_size(&self) -> usize {
        length_of(self.0.len()).encode_size() + self.0.iter().map(EncodeSize::encode_size).sum::<usize>()
    }
}

impl<T: Read<Cfg = ()>, const MAX: usize> Read for List<T, MAX> {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let length = read_length(buf, MAX)?;
        // An item takes at least a byte, so a lying length cannot reserve more than was sent.
        let mut items = Vec::with_capacity(length.min(buf.remaining()));
        for _ in 0..length {
            items.push(T::read(buf)?);
        }
        Ok(Self(items))
    }
}

#[cfg(feature = "arbitrary")]
impl<'a, T: arbitrary::Arbitrary<'a>, const MAX: usize> arbitrary::Arbitrary<'a> for List<T, MAX> {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut items = Vec::new();
        while items.len() < MAX.min(8) && bool::arbitrary(u)? {
            items.push(T::arbitrary(u)?);
        }
        Ok(Self(items))
    }
}

/// `N` raw bytes, without a length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fixed<const N: usize>(pub [u8; N]);

impl<const N: usize> Default for Fixed<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> fmt::Debug for Fixed<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl<const N: usize> FixedSize for Fixed<N> {
    const SIZE: usize = N;
}

impl<const N: usize> Write for Fixed<N> {
    fn write(&self, buf: &mut impl BufMut) {
        buf.put_slice(&self.0);
    }
}

impl<const N: usize> Read for Fixed<N> {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        if buf.remaining() < N {
            return Err(Error::EndOfBuffer);
        }
        let mut bytes = [0; N];
        buf.copy_to_slice(&mut bytes);
        Ok(Self(bytes))
    }
}

#[cfg(feature = "arbitrary")]
impl<'a, const N: usize> arbitrary::Arbitrary<'a> for Fixed<N> {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut bytes = [0; N];
        u.fill_buffer(&mut bytes)?;
        Ok(Self(bytes))
    }
}

/// Declares a struct whose encoding is its fields, in the order they are written.
///
/// ```
/// cowboy_types::record! {
///     /// A payment.
///     pub struct Payment {
///         /// Who is paid.
///         pub to: cowboy_types::Address,
///         /// How much.
///         pub amount: cowboy_types::Amount,
///     }
/// }
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$attribute:meta])*
        pub struct $Name:ident {
            $( $(#[$field_attribute:meta])* pub $field:ident: $Type:ty ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        pub struct $Name {
            $( $(#[$field_attribute])* pub $field: $Type, )*
        }

        impl ::commonware_codec::Write for $Name {
            fn write(&self, _buf: &mut impl ::bytes::BufMut) {
                $( ::commonware_codec::Write::write(&self.$field, _buf); )*
            }
        }

        impl ::commonware_codec::EncodeSize for $Name {
            fn encode_size(&self) -> usize {
                0 $( + ::commonware_codec::EncodeSize::encode_size(&self.$field) )*
            }
        }

        impl ::commonware_codec::Read for $Name {
            type Cfg = ();
            fn read_cfg(_buf: &mut impl ::commonware_codec::Buf, (): &()) -> Result<Self, ::commonware_codec::Error> {
                Ok(Self { $( $field: <$Type as ::commonware_codec::ReadExt>::read(_buf)?, )* })
            }
        }
    };
}

/// Declares an enum whose encoding is one byte, the variant's number, then the variant's fields.
///
/// Numbers are explicit, because they are forever: a removed variant's number is never used again.
#[macro_export]
macro_rules! variants {
    (
        $(#[$attribute:meta])*
        pub enum $Name:ident {
            $( $(#[$variant_attribute:meta])* $number:literal $Variant:ident $( {
                $( $(#[$field_attribute:meta])* $field:ident: $Type:ty ),* $(,)?
            } )? ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        pub enum $Name {
            $( $(#[$variant_attribute])* $Variant $( { $( $(#[$field_attribute])* $field: $Type, )* } )?, )*
        }

        impl $Name {
            /// The variants' numbers and names, in the order of their declaration.
            pub const VARIANTS: &'static [(u8, &'static str)] = &[ $( ($number, stringify!($Variant)), )* ];

            /// The number that stands for this variant on the wire.
            pub fn number(&self) -> u8 {
                match self { $( Self::$Variant { .. } => $number, )* }
            }

            /// The variant's name, for people.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$Variant { .. } => stringify!($Variant), )* }
            }
        }

        impl ::commonware_codec::Write for $Name {
            fn write(&self, buf: &mut impl ::bytes::BufMut) {
                buf.put_u8(self.number());
                match self {
                    $( Self::$Variant $( { $( $field, )* } )? => { $( $( ::commonware_codec::Write::write($field, buf); )* )? } )*
                }
            }
        }

        impl ::commonware_codec::EncodeSize for $Name {
            fn encode_size(&self) -> usize {
                match self {
                    $( Self::$Variant $( { $( $field, )* } )? => 1 $( $( + ::commonware_codec::EncodeSize::encode_size($field) )* )?, )*
                }
            }
        }

        impl ::commonware_codec::Read for $Name {
            type Cfg = ();
            fn read_cfg(buf: &mut impl ::commonware_codec::Buf, (): &()) -> Result<Self, ::commonware_codec::Error> {
                match <u8 as ::commonware_codec::ReadExt>::read(buf)? {
                    $( $number => Ok(Self::$Variant $( { $( $field: <$Type as ::commonware_codec::ReadExt>::read(buf)?, )* } )?), )*
                    other => Err(::commonware_codec::Error::InvalidEnum(other)),
                }
            }
        }
    };
}
