//! Canonical CBOR (RFC 8949 §4.2, CIP-6 §11.5): what manifests, event data and payloads are written in.
//!
//! One value has one encoding: shortest lengths and integers, no indefinite lengths, map keys ascending by
//! encoded length and then bytes, no duplicates. Everything else is refused.

/// A CBOR value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer of at most 64 bits and a sign.
    Integer(i128),
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

/// Why bytes are not canonical CBOR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not canonical CBOR at byte {at}: {reason}")]
pub struct CborError {
    /// Where the fault is.
    pub at: usize,
    /// What it is.
    pub reason: &'static str,
}

/// How deep values nest.
const MAX_DEPTH: usize = 64;

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

    fn write(&self, out: &mut Vec<u8>) {
        let length = |length: usize| u64::try_from(length).expect("a length fits 64 bits");
        match self {
            Self::Null => out.push(0xF6),
            Self::Bool(value) => out.push(if *value { 0xF5 } else { 0xF4 }),
            Self::Integer(number) => match u64::try_from(*number) {
                Ok(number) => head(out, 0, number),
                Err(_) => head(out, 1, u64::try_from(-1 - *number).unwrap_or(u64::MAX)),
            },
            Self::Bytes(bytes) => {
                head(out, 2, length(bytes.len()));
                out.extend_from_slice(bytes);
            }
            Self::Text(text) => {
                head(out, 3, length(text.len()));
                out.extend_from_slice(text.as_bytes());
            }
            Self::Array(items) => {
                head(out, 4, length(items.len()));
                items.iter().for_each(|item| item.write(out));
            }
            Self::Map(pairs) => {
                head(out, 5, length(pairs.len()));
                for (key, value) in pairs {
                    key.write(out);
                    value.write(out);
                }
            }
            Self::Float(bits) => {
                out.push(0xFB);
                out.extend_from_slice(&bits.to_be_bytes());
            }
        }
    }
}

fn sort_key(key: &Value) -> (usize, Vec<u8>) {
    let bytes = key.encode();
    (bytes.len(), bytes)
}

fn head(out: &mut Vec<u8>, major: u8, number: u64) {
    let major = major << 5;
    if let Ok(small) = u8::try_from(number) {
        if small < 24 {
            out.push(major | small);
        } else {
            out.extend_from_slice(&[major | 24, small]);
        }
    } else if let Ok(number) = u16::try_from(number) {
        out.push(major | 25);
        out.extend_from_slice(&number.to_be_bytes());
    } else if let Ok(number) = u32::try_from(number) {
        out.push(major | 26);
        out.extend_from_slice(&number.to_be_bytes());
    } else {
        out.push(major | 27);
        out.extend_from_slice(&number.to_be_bytes());
    }
}

/// The one value that these bytes encode.
pub fn decode(bytes: &[u8]) -> Result<Value, CborError> {
    let mut reader = Reader { bytes, at: 0 };
    let value = reader.value(0)?;
    if reader.at == bytes.len() { Ok(value) } else { Err(reader.fault("bytes follow the value")) }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn fault(&self, reason: &'static str) -> CborError {
        CborError { at: self.at, reason }
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], CborError> {
        let count = usize::try_from(count).map_err(|_| self.fault("a length is longer than the bytes"))?;
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len()).ok_or_else(|| self.fault("the bytes end too early"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self, width: u64) -> Result<u64, CborError> {
        Ok(self.take(width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A length or integer in its shortest form.
    fn argument(&mut self, info: u8) -> Result<u64, CborError> {
        let (width, least) = match info {
            0..=23 => return Ok(u64::from(info)),
            24 => (1, 24),
            25 => (2, 0x100),
            26 => (4, 0x1_0000),
            27 => (8, 0x1_0000_0000),
            _ => return Err(self.fault("indefinite lengths are not canonical")),
        };
        let number = self.number(width)?;
        if number < least { Err(self.fault("a number is longer than it needs to be")) } else { Ok(number) }
    }

    fn value(&mut self, depth: usize) -> Result<Value, CborError> {
        if depth > MAX_DEPTH {
            return Err(self.fault("values nest too deeply"));
        }
        let first = self.take(1)?[0];
        let (major, info) = (first >> 5, first & 0x1F);
        if major == 7 {
            return self.simple(info);
        }
        let argument = self.argument(info)?;
        match major {
            0 => Ok(Value::Integer(i128::from(argument))),
            1 => Ok(Value::Integer(-1 - i128::from(argument))),
            2 => Ok(Value::Bytes(self.take(argument)?.to_vec())),
            3 => {
                let text = std::str::from_utf8(self.take(argument)?).map_err(|_| self.fault("a text is not UTF-8"))?;
                Ok(Value::text(text))
            }
            4 => (0..argument).map(|_| self.value(depth + 1)).collect::<Result<_, _>>().map(Value::Array),
            5 => self.pairs(argument, depth),
            _ => Err(self.fault("tags are not canonical here")),
        }
    }

    fn simple(&mut self, info: u8) -> Result<Value, CborError> {
        match info {
            20 => Ok(Value::Bool(false)),
            21 => Ok(Value::Bool(true)),
            22 => Ok(Value::Null),
            27 => {
                let bits = self.number(8)?;
                let is_finite = bits >> 52 & 0x7FF != 0x7FF;
                let is_minus_zero = bits == 1 << 63;
                if is_finite && !is_minus_zero { Ok(Value::Float(bits)) } else { Err(self.fault("only finite floats, and no minus zero")) }
            }
            _ => Err(self.fault("an unknown simple value")),
        }
    }

    fn pairs(&mut self, count: u64, depth: usize) -> Result<Value, CborError> {
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        let mut last: Option<(usize, &'a [u8])> = None;
        for _ in 0..count {
            let start = self.at;
            let key = self.value(depth + 1)?;
            let encoded = (self.at - start, &self.bytes[start..self.at]);
            if last.is_some_and(|last| last >= encoded) {
                return Err(self.fault("keys do not ascend"));
            }
            last = Some(encoded);
            pairs.push((key, self.value(depth + 1)?));
        }
        Ok(Value::Map(pairs))
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
            ("fb8000000000000000", "minus zero"),
            ("6180", "no UTF-8"),
            ("5bffffffffffffffff00", "a lying length"),
            ("9bffffffffffffffff", "a lying list"),
        ];
        for (encoded, why) in rows {
            assert!(decode(&hex(encoded)).is_err(), "{why}");
        }
        assert!(decode(&[0x81; 10_000]).is_err(), "too deep");
    }
}
