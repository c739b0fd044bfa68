//! Canonical CBOR (RFC 8949 §4.2, the profile of CIP-6 §11.5, decision 29): the one codec of the protocol and of the virtual machine.
//!
//! One value has one encoding: shortest heads, integers beyond 64 bits as bignums, floats always binary64, finite and with one zero, map
//! keys unique and ascending by encoded length and then bytes, nothing of indefinite length. The words of refusals are those of
//! `cowboy_sdk.codec`, which follows the published SDK 0.1.6.
//!
//! [`Reader`] gives the items of an encoding one after the other, without recursion; the functions `write_*` append items. What an item
//! becomes is up to the caller: `cowboy-types` has a tree, the virtual machine makes Python objects.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing))]

mod read;
mod write;

pub use read::{Item, Reader};
pub use write::{
    check_keys, key_order, write_array, write_bool, write_bytes, write_float, write_integer, write_map, write_null, write_text,
};

/// Arrays, maps and bignums that may be inside each other.
pub const MAX_DEPTH: usize = 256;

/// Bits of the largest integer, without its sign: the limit of the virtual machine's integers.
pub const MAX_INTEGER_BITS: usize = 4_096;

/// Why bytes are not canonical CBOR, or why a value has no encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There are no bytes.
    Empty,
    /// The bytes end inside a value.
    End,
    /// Bytes follow the value; the number is that of all bytes.
    Trailing(usize),
    /// A length or integer has a longer head than it needs.
    NonMinimal,
    /// An item of indefinite length.
    Indefinite,
    /// A head that the standard does not define.
    Head(u8),
    /// More than [`MAX_DEPTH`] levels.
    TooDeep,
    /// A text that is not UTF-8.
    NotUtf8,
    /// A tag other than those of bignums.
    Tag(u64),
    /// A bignum that is no byte string, or would fit a shorter form.
    Bignum,
    /// An integer of more than [`MAX_INTEGER_BITS`] bits.
    IntegerSize,
    /// A float of 16 or 32 bits.
    FloatWidth,
    /// Not a number, or infinite.
    NonFinite,
    /// A simple value other than false, true and null.
    Simple(u8),
    /// Map keys that do not ascend.
    KeyOrder,
    /// An array or map as map key.
    KeyKind,
    /// Two map keys that are one key in Python, such as 1 and 1.0.
    KeyTwice,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => out.write_str("Empty CBOR data"),
            Self::End => out.write_str("CBOR: unexpected end of input"),
            Self::Trailing(total) => write!(out, "CBOR: trailing bytes (total {total} bytes)"),
            Self::NonMinimal => out.write_str("CBOR: non-minimal integer or length head"),
            Self::Indefinite => out.write_str("CBOR: indefinite-length items not supported (Canonical CBOR only)"),
            Self::Head(info) => write!(out, "CBOR: unsupported additional info={info}"),
            Self::TooDeep => write!(out, "CBOR: nesting exceeds {MAX_DEPTH} levels"),
            Self::NotUtf8 => out.write_str("CBOR: text string is not valid UTF-8"),
            Self::Tag(tag) => write!(out, "CBOR: unsupported tag {tag}"),
            Self::Bignum => out.write_str("CBOR: non-minimal or invalid bignum"),
            Self::IntegerSize => write!(out, "CBOR: integer has more than {MAX_INTEGER_BITS} bits"),
            Self::FloatWidth => out.write_str("CBOR: floats must use binary64"),
            Self::NonFinite => out.write_str("CBOR: non-finite float"),
            Self::Simple(info) => write!(out, "CBOR: unsupported simple/float info={info}"),
            Self::KeyOrder => out.write_str("CBOR: duplicate or misordered map key"),
            Self::KeyKind => out.write_str("CBOR: unhashable map key"),
            Self::KeyTwice => out.write_str("CBOR: duplicate decoded map key"),
        }
    }
}

/// A [`Fault`] with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CborError {
    /// Bytes before the fault.
    pub at: usize,
    /// What it is.
    pub fault: Fault,
}

impl std::fmt::Display for CborError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.fault {
            Fault::Trailing(total) => write!(out, "CBOR: trailing bytes at offset {} (total {total} bytes)", self.at),
            fault => write!(out, "{fault}"),
        }
    }
}

impl std::error::Error for CborError {}

/// What two numeric map keys have in common when they are one key in Python: sign and magnitude of an integer, also of one that is
/// written as a truth value or float. `None` for what equals no other kind of key.
fn numeric_key(item: &Item<'_>) -> Option<(bool, Vec<u8>)> {
    match *item {
        Item::Bool(truth) => Some((false, if truth { vec![1] } else { Vec::new() })),
        Item::Integer { negative, magnitude } => {
            Some((negative, trimmed(&u128::from(magnitude).saturating_add(u128::from(negative)).to_be_bytes())))
        }
        Item::Bignum { negative, magnitude } => Some((negative, if negative { successor(magnitude) } else { magnitude.to_vec() })),
        Item::Float(bits) => integral(bits),
        _ => None,
    }
}

/// Bytes without zeros before them.
fn trimmed(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().skip_while(|byte| *byte == 0).collect()
}

/// A big-endian number plus one.
fn successor(magnitude: &[u8]) -> Vec<u8> {
    let mut bytes = magnitude.to_vec();
    for byte in bytes.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            return bytes;
        }
    }
    bytes.insert(0, 1);
    bytes
}

/// Sign and magnitude of a finite float that is an integer.
fn integral(bits: u64) -> Option<(bool, Vec<u8>)> {
    let negative = bits >> 63 == 1;
    let exponent = bits >> 52 & 0x7FF;
    let fraction = bits & ((1 << 52) - 1);
    if exponent == 0 {
        return (fraction == 0).then(|| (false, Vec::new()));
    }
    let mantissa = fraction | 1 << 52;
    // The value is mantissa × 2^(exponent − 1075).
    match exponent.checked_sub(1_075) {
        Some(shift) => {
            let shifted = u128::from(mantissa).checked_shl(u32::try_from(shift % 8).ok()?)?;
            let mut bytes = trimmed(&shifted.to_be_bytes());
            bytes.resize(bytes.len().checked_add(usize::try_from(shift / 8).ok()?)?, 0);
            Some((negative, bytes))
        }
        None => {
            let places = u32::try_from(1_075_u64.checked_sub(exponent)?).ok()?;
            let is_whole = places <= 52 && mantissa.trailing_zeros() >= places;
            is_whole.then_some((negative, trimmed(&mantissa.checked_shr(places)?.to_be_bytes())))
        }
    }
}
