//! Canonical CBOR between the VM and its actors' storage, payloads and results (RFC 8949 §4.2, the profile of CIP-6 §11.5).
//!
//! One value, one encoding: shortest heads, integers past 64 bits as bignums, floats always binary64, finite and with one
//! zero, map keys unique and ordered by encoded length and then bytes, nothing of indefinite length. Words of refusals are
//! those of `cowboy_sdk.codec`, which is the reference.

use crate::host::HostValue;
use crate::num::F64;
use crate::num::int;
use dashu_int::{IBig, Sign};

/// Nesting allowed in both directions, so that what is written can be read.
pub(crate) const MAX_DEPTH: usize = 256;

/// The canonical bytes of a value, or why it has none.
pub fn encode(value: &HostValue) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    write(value, 0, &mut out)?;
    Ok(out)
}

fn write(value: &HostValue, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
    match value {
        HostValue::None => out.push(0xF6),
        HostValue::Bool(value) => out.push(if *value { 0xF5 } else { 0xF4 }),
        HostValue::Int(number) => write_int(number, depth, out)?,
        HostValue::Float(number) => {
            if !number.is_finite() {
                return Err("CBOR: non-finite float".into());
            }
            let number = if number.is_zero() { F64::ZERO } else { *number };
            out.push(0xFB);
            out.extend_from_slice(&number.0.to_be_bytes());
        }
        HostValue::Bytes(bytes) => {
            head(2, bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        }
        HostValue::Str(text) => {
            head(3, text.len() as u64, out);
            out.extend_from_slice(text.as_bytes());
        }
        HostValue::List(items) => {
            deeper(depth)?;
            head(4, items.len() as u64, out);
            for item in items {
                write(item, depth + 1, out)?;
            }
        }
        HostValue::Map(pairs) => {
            deeper(depth)?;
            head(5, pairs.len() as u64, out);
            let mut encoded = Vec::with_capacity(pairs.len());
            for (key, item) in pairs {
                let mut bytes = Vec::new();
                write(key, depth + 1, &mut bytes)?;
                encoded.push((bytes, item));
            }
            encoded.sort_by(|(left, _), (right, _)| left.len().cmp(&right.len()).then_with(|| left.cmp(right)));
            for (key, item) in encoded {
                out.extend_from_slice(&key);
                write(item, depth + 1, out)?;
            }
        }
    }
    Ok(())
}

fn deeper(depth: usize) -> Result<(), String> {
    if depth >= MAX_DEPTH { Err(format!("CBOR: nesting exceeds {MAX_DEPTH} levels")) } else { Ok(()) }
}

fn write_int(number: &IBig, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let (major, magnitude) = if number.sign() == Sign::Negative { (1, -number - IBig::ONE) } else { (0, number.clone()) };
    if let Ok(small) = u64::try_from(&magnitude) {
        head(major, small, out);
        return Ok(());
    }
    // A bignum is a tag around a byte string: the tag counts as a level, here as in decoding.
    deeper(depth)?;
    let length = int::bit_length(&magnitude).div_ceil(8);
    let bytes = int::to_bytes(&magnitude, length, true, false).map_err(|_| "CBOR: integer too large".to_owned())?;
    head(6, u64::from(2 + major), out);
    head(2, length as u64, out);
    out.extend_from_slice(&bytes);
    Ok(())
}

fn head(major: u8, number: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    match (u8::try_from(number), u16::try_from(number), u32::try_from(number)) {
        (Ok(number), _, _) if number < 24 => out.push(major | number),
        (Ok(number), _, _) => out.extend_from_slice(&[major | 24, number]),
        (_, Ok(number), _) => {
            out.push(major | 25);
            out.extend_from_slice(&number.to_be_bytes());
        }
        (_, _, Ok(number)) => {
            out.push(major | 26);
            out.extend_from_slice(&number.to_be_bytes());
        }
        _ => {
            out.push(major | 27);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

/// The value that the bytes encode, or why they are not canonical.
pub fn decode(bytes: &[u8]) -> Result<HostValue, String> {
    if bytes.is_empty() {
        return Err("Empty CBOR data".into());
    }
    let mut reader = Reader { bytes, at: 0 };
    let value = reader.value(0)?;
    if reader.at == bytes.len() {
        Ok(value)
    } else {
        Err(format!("CBOR: trailing bytes at offset {} (total {} bytes)", reader.at, bytes.len()))
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], String> {
        let end = usize::try_from(count).ok().and_then(|count| self.at.checked_add(count)).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or("CBOR: unexpected end of input")?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn head(&mut self, info: u8) -> Result<u64, String> {
        let (width, least) = match info {
            0..=23 => return Ok(u64::from(info)),
            24 => (1, 24),
            25 => (2, 1 << 8),
            26 => (4, 1 << 16),
            27 => (8, 1 << 32),
            31 => return Err("CBOR: indefinite-length items not supported (Canonical CBOR only)".into()),
            _ => return Err(format!("CBOR: unsupported additional info={info}")),
        };
        let number = self.take(width)?.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte));
        if number < least { Err("CBOR: non-minimal integer or length head".into()) } else { Ok(number) }
    }

    fn value(&mut self, depth: usize) -> Result<HostValue, String> {
        let first = self.take(1)?[0];
        let (major, info) = (first >> 5, first & 31);
        if major == 7 {
            return self.simple(info);
        }
        let number = self.head(info)?;
        match major {
            0 => return Ok(HostValue::int(number)),
            1 => return Ok(HostValue::Int(-IBig::from(number) - IBig::ONE)),
            2 => return Ok(HostValue::Bytes(self.take(number)?.to_vec())),
            3 => {
                let text = std::str::from_utf8(self.take(number)?).map_err(|_| "CBOR: text string is not valid UTF-8")?;
                return Ok(HostValue::Str(text.to_owned()));
            }
            6 if number != 2 && number != 3 => return Err(format!("CBOR: unsupported tag {number}")),
            _ => deeper(depth)?,
        }
        match major {
            4 => (0..number).map(|_| self.value(depth + 1)).collect::<Result<_, _>>().map(HostValue::List),
            5 => self.map(number, depth),
            _ => self.bignum(number, depth),
        }
    }

    fn simple(&mut self, info: u8) -> Result<HostValue, String> {
        match info {
            20 => Ok(HostValue::Bool(false)),
            21 => Ok(HostValue::Bool(true)),
            22 => Ok(HostValue::None),
            25 | 26 => Err("CBOR: floats must use binary64".into()),
            27 => {
                let bits = self.take(8)?.iter().fold(0, |bits, byte| (bits << 8) | u64::from(*byte));
                let number = F64(bits);
                if !number.is_finite() {
                    return Err("CBOR: non-finite float".into());
                }
                if number.is_zero() && number.is_negative() {
                    return Err("CBOR: negative zero is not canonical".into());
                }
                Ok(HostValue::Float(number))
            }
            _ => Err(format!("CBOR: unsupported simple/float info={info}")),
        }
    }

    fn map(&mut self, count: u64, depth: usize) -> Result<HostValue, String> {
        let mut pairs: Vec<(HostValue, HostValue)> = Vec::new();
        let mut previous: Option<&'a [u8]> = None;
        for _ in 0..count {
            let start = self.at;
            let key = self.value(depth + 1)?;
            let encoded = &self.bytes[start..self.at];
            if previous.is_some_and(|previous| (encoded.len(), encoded) <= (previous.len(), previous)) {
                return Err("CBOR: duplicate or misordered map key".into());
            }
            previous = Some(encoded);
            if matches!(key, HostValue::List(_) | HostValue::Map(_)) {
                return Err("CBOR: unhashable map key".into());
            }
            let value = self.value(depth + 1)?;
            pairs.push((key, value));
        }
        Ok(HostValue::Map(pairs))
    }

    fn bignum(&mut self, tag: u64, depth: usize) -> Result<HostValue, String> {
        let HostValue::Bytes(bytes) = self.value(depth + 1)? else { return Err("CBOR: non-minimal or invalid bignum".into()) };
        if bytes.len() <= 8 || bytes[0] == 0 || bytes.len() > int::MOST_BITS / 8 {
            return Err("CBOR: non-minimal or invalid bignum".into());
        }
        let magnitude = int::from_bytes(&bytes, true, false);
        Ok(HostValue::Int(if tag == 2 { magnitude } else { -magnitude - IBig::ONE }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &HostValue, hex: &str) {
        let bytes = encode(value).expect("encodable");
        assert_eq!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), hex, "{value:?}");
        assert_eq!(decode(&bytes).as_ref(), Ok(value));
    }

    #[test]
    fn one_value_one_encoding() {
        let text = |text: &str| HostValue::Str(text.to_owned());
        check(&HostValue::int(23), "17");
        check(&HostValue::int(24), "1818");
        check(&HostValue::int(-1), "20");
        check(&HostValue::int(u64::MAX), "1bffffffffffffffff");
        check(&HostValue::Int(IBig::from(1) << 64), "c249010000000000000000");
        check(&HostValue::Int(-(IBig::from(1) << 64) - IBig::ONE), "c349010000000000000000");
        check(&HostValue::Float(F64(0x3ff8_0000_0000_0000)), "fb3ff8000000000000");
        check(&HostValue::List(vec![HostValue::None, HostValue::Bool(true)]), "82f6f5");
        check(&HostValue::Map(vec![(text("b"), HostValue::int(1)), (text("aa"), HostValue::int(2))]), "a261620162616102");
    }

    #[test]
    fn keys_are_sorted_by_length_then_bytes() {
        let key = |text: &str| (HostValue::Str(text.to_owned()), HostValue::None);
        let shuffled = HostValue::Map(vec![key("aa"), key("b"), key("a")]);
        let sorted = HostValue::Map(vec![key("a"), key("b"), key("aa")]);
        assert_eq!(encode(&shuffled), encode(&sorted));
        assert_eq!(decode(&encode(&shuffled).expect("encodable")), Ok(sorted));
    }

    /// nothing has a second encoding.
    #[test]
    fn what_is_not_canonical_is_refused() {
        let rows: [(&str, &[u8]); 12] = [
            ("nothing", &[]),
            ("a number longer than needed", &[0x18, 0x17]),
            ("an indefinite list", &[0x9F, 0xFF]),
            ("a half float", &[0xF9, 0x3C, 0x00]),
            ("minus zero", &[0xFB, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            ("infinity", &[0xFB, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]),
            ("keys out of order", &[0xA2, 0x61, 0x62, 0xF6, 0x61, 0x61, 0xF6]),
            ("a key twice", &[0xA2, 0x61, 0x61, 0xF6, 0x61, 0x61, 0xF6]),
            ("a small bignum", &[0xC2, 0x41, 0x01]),
            ("a foreign tag", &[0xC1, 0x00]),
            ("bytes behind the value", &[0x00, 0x00]),
            ("a list longer than its bytes", &[0x9A, 0xFF, 0xFF, 0xFF, 0xFF]),
        ];
        for (case, bytes) in rows {
            assert!(decode(bytes).is_err(), "{case}");
        }
        let deep = [vec![0x81; MAX_DEPTH + 1], vec![0x00]].concat();
        assert!(decode(&deep).is_err(), "nested too deeply");
        assert!(decode(&deep[1..]).is_ok(), "nested as deeply as allowed");
    }
}
