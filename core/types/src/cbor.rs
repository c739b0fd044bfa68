//! Canonical CBOR as a tree: what manifests, event data and payloads are written in. The codec is that of `cowboy-cbor`, which actors
//! use as well.

use cowboy_cbor::{write_array, write_bool, write_bytes, write_float, write_integer, write_map, write_null, write_text};

pub use cowboy_cbor::{CborError, Fault, Item, MAX_DEPTH, MAX_INTEGER_BITS, Reader};

/// A CBOR value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer of at most 64 bits and a sign.
    Integer(i128),
    /// A larger integer, of at most 4,096 bits: `magnitude`, or −1 − `magnitude`.
    Bignum {
        /// Whether it is below zero.
        negative: bool,
        /// The integer, or −1 minus it, big-endian, without zeros before it.
        magnitude: Vec<u8>,
    },
    /// A byte string.
    Bytes(Vec<u8>),
    /// A text.
    Text(String),
    /// A list.
    Array(Vec<Value>),
    /// Pairs, ascending by their keys' encodings.
    Map(Vec<(Value, Value)>),
    /// A finite binary64, by its bits. Allowed between SDK and runtime only.
    Float(u64),
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// An unsigned integer.
    pub fn uint(number: u64) -> Self {
        Self::Integer(i128::from(number))
    }

    /// A map with text keys, in any order.
    pub fn map<const N: usize>(pairs: [(&str, Value); N]) -> Self {
        Self::dict(pairs)
    }

    /// A map with as many text keys as there are, in any order.
    pub fn dict<'a>(pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().map(|(key, value)| (Self::text(key), value)).collect();
        pairs.sort_by_key(|(key, _)| sort_key(key));
        Self::Map(pairs)
    }

    /// The value of a map's text key.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(pairs) = self else { return None };
        pairs.iter().find(|(key, _)| matches!(key, Self::Text(text) if text == name)).map(|(_, value)| value)
    }

    /// The integer, where it is one and fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The text, where it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes, where it is a byte string.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The canonical encoding. Maps must be in order already, as [`Value::map`] and [`decode`] leave them.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Recursive: a value that was decoded has at most [`MAX_DEPTH`] levels, and the protocol makes none that are deeper.
    fn write(&self, out: &mut Vec<u8>) {
        let written = match self {
            Self::Null => {
                write_null(out);
                Ok(())
            }
            Self::Bool(value) => {
                write_bool(out, *value);
                Ok(())
            }
            Self::Integer(number) => {
                let negative = *number < 0;
                write_integer(out, negative, &(if negative { !*number } else { *number }).to_be_bytes())
            }
            Self::Bignum { negative, magnitude } => write_integer(out, *negative, magnitude),
            Self::Bytes(bytes) => {
                write_bytes(out, bytes);
                Ok(())
            }
            Self::Text(text) => {
                write_text(out, text);
                Ok(())
            }
            Self::Array(items) => {
                write_array(out, items.len());
                items.iter().for_each(|item| item.write(out));
                Ok(())
            }
            Self::Map(pairs) => {
                write_map(out, pairs.len());
                for (key, value) in pairs {
                    key.write(out);
                    value.write(out);
                }
                Ok(())
            }
            Self::Float(bits) => write_float(out, *bits),
        };
        debug_assert!(written.is_ok(), "a float is finite and an integer has at most 4,096 bits");
    }
}

fn sort_key(key: &Value) -> (usize, Vec<u8>) {
    let bytes = key.encode();
    (bytes.len(), bytes)
}

/// The one value that these bytes encode.
pub fn decode(bytes: &[u8]) -> Result<Value, CborError> {
    let (mut reader, mut open, mut whole) = (Reader::new(bytes), Vec::new(), Value::Null);
    while let Some(item) = reader.next_item()? {
        let mut value = match item {
            Item::Null => Value::Null,
            Item::Bool(truth) => Value::Bool(truth),
            Item::Integer { negative: false, magnitude } => Value::Integer(i128::from(magnitude)),
            Item::Integer { negative: true, magnitude } => Value::Integer(!i128::from(magnitude)),
            Item::Bignum { negative, magnitude } => Value::Bignum { negative, magnitude: magnitude.to_vec() },
            Item::Float(bits) => Value::Float(bits),
            Item::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            Item::Text(text) => Value::text(text),
            Item::Array(left @ 1..) => {
                open.push(Partial { left, key: None, value: Value::Array(Vec::new()) });
                continue;
            }
            Item::Map(left @ 1..) => {
                open.push(Partial { left, key: None, value: Value::Map(Vec::new()) });
                continue;
            }
            Item::Array(0) => Value::Array(Vec::new()),
            Item::Map(0) => Value::Map(Vec::new()),
        };
        // A value may be the last of what holds it, which may be the last of what holds that.
        while let Some(mut partial) = open.pop() {
            match partial.add(value) {
                Some(full) => value = full,
                None => {
                    open.push(partial);
                    value = Value::Null;
                    break;
                }
            }
        }
        whole = value;
    }
    Ok(whole)
}

/// An array or map that is being read.
struct Partial {
    /// Values or pairs to come.
    left: u64,
    /// The key whose value is next.
    key: Option<Value>,
    value: Value,
}

impl Partial {
    /// Adds a value; gives the array or map when it was the last one.
    fn add(&mut self, value: Value) -> Option<Value> {
        match (&mut self.value, self.key.take()) {
            (Value::Array(items), _) => items.push(value),
            (Value::Map(pairs), Some(key)) => pairs.push((key, value)),
            _ => {
                self.key = Some(value);
                return None;
            }
        }
        self.left = self.left.saturating_sub(1);
        (self.left == 0).then(|| std::mem::replace(&mut self.value, Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        ::hex::decode(text).expect("hex")
    }

    /// rows of RFC 8949 appendix A that are canonical, both ways.
    #[test]
    fn values_have_one_encoding() {
        let rows = [
            ("00", Value::uint(0)),
            ("17", Value::uint(23)),
            ("1818", Value::uint(24)),
            ("1903e8", Value::uint(1000)),
            ("1a000f4240", Value::uint(1_000_000)),
            ("1bffffffffffffffff", Value::uint(u64::MAX)),
            ("3bffffffffffffffff", Value::Integer(-18_446_744_073_709_551_616)),
            ("c249010000000000000000", Value::Bignum { negative: false, magnitude: vec![1, 0, 0, 0, 0, 0, 0, 0, 0] }),
            ("c349010000000000000000", Value::Bignum { negative: true, magnitude: vec![1, 0, 0, 0, 0, 0, 0, 0, 0] }),
            ("20", Value::Integer(-1)),
            ("f4", Value::Bool(false)),
            ("f6", Value::Null),
            ("4401020304", Value::Bytes(vec![1, 2, 3, 4])),
            ("63c3bc61", Value::text("\u{fc}a")),
            ("83010203", Value::Array(vec![Value::uint(1), Value::uint(2), Value::uint(3)])),
            ("a26161016162820203", Value::map([("b", Value::Array(vec![Value::uint(2), Value::uint(3)])), ("a", Value::uint(1))])),
            ("fb3ff199999999999a", Value::Float(0x3FF1_9999_9999_999A)),
        ];
        for (encoded, value) in rows {
            assert_eq!(value.encode(), hex(encoded), "{value:?}");
            assert_eq!(decode(&hex(encoded)), Ok(value));
        }
    }

    /// everything else is refused.
    #[test]
    fn other_encodings_are_refused() {
        let rows = [
            ("", "nothing"),
            ("1817", "a longer number than needed"),
            ("190017", "a longer number than needed"),
            ("5f42010243030405ff", "an indefinite length"),
            ("9fff", "an indefinite list"),
            ("a2616201616101", "keys out of order"),
            ("a2616101616102", "a key twice"),
            ("0000", "bytes behind"),
            ("c074", "a tag"),
            ("f97e00", "a half float"),
            ("fb7ff8000000000000", "a NaN"),
            ("6180", "no UTF-8"),
            ("5bffffffffffffffff00", "a lying length"),
            ("9bffffffffffffffff", "a lying list"),
        ];
        for (encoded, why) in rows {
            assert!(decode(&hex(encoded)).is_err(), "{why}");
        }
        assert!(decode(&[0x81; 10_000]).is_err(), "too deep");
        assert_eq!(decode(&hex("fb8000000000000000")), Ok(Value::Float(0)), "minus zero reads as zero, as in the published SDK");
        let deep = [vec![0x81; MAX_DEPTH], vec![0x00]].concat();
        assert_eq!(decode(&deep).map(|value| value.encode()), Ok(deep), "as deep as in the virtual machine");
    }
}
