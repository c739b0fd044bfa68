//! Writing: each function appends one item.

use crate::read::Numbers;
use crate::{Fault, Item, MAX_INTEGER_BITS, Reader};
use std::cmp::Ordering;

/// Appends a head: the major type and its number in the shortest form.
fn write_head(out: &mut Vec<u8>, major: u8, number: u64) {
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

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Appends null.
pub fn write_null(out: &mut Vec<u8>) {
    out.push(0xF6);
}

/// Appends a truth value.
pub fn write_bool(out: &mut Vec<u8>, truth: bool) {
    out.push(if truth { 0xF5 } else { 0xF4 });
}

/// Appends the integer `magnitude`, or −1 − `magnitude`: a bignum where 64 bits do not hold it. Zeros before the magnitude, which is
/// big-endian, do not matter. The caller counts a bignum as a level of nesting.
pub fn write_integer(out: &mut Vec<u8>, negative: bool, magnitude: &[u8]) -> Result<(), Fault> {
    let start = magnitude.iter().position(|byte| *byte != 0).unwrap_or(magnitude.len());
    let magnitude = magnitude.get(start..).unwrap_or_default();
    if magnitude.len() <= 8 {
        let number = magnitude.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        write_head(out, u8::from(negative), number);
        return Ok(());
    }
    if magnitude.len() > MAX_INTEGER_BITS / 8 {
        return Err(Fault::IntegerSize);
    }
    write_head(out, 6, if negative { 3 } else { 2 });
    write_bytes(out, magnitude);
    Ok(())
}

/// Appends a binary64 by its bits; minus zero is written as zero.
pub fn write_float(out: &mut Vec<u8>, bits: u64) -> Result<(), Fault> {
    if bits >> 52 & 0x7FF == 0x7FF {
        return Err(Fault::NonFinite);
    }
    out.push(0xFB);
    out.extend_from_slice(&(if bits == 1 << 63 { 0 } else { bits }).to_be_bytes());
    Ok(())
}

/// Appends a byte string.
pub fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_head(out, 2, length(bytes.len()));
    out.extend_from_slice(bytes);
}

/// Appends a text.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    write_head(out, 3, length(text.len()));
    out.extend_from_slice(text.as_bytes());
}

/// Appends the head of an array; its values have to follow.
pub fn write_array(out: &mut Vec<u8>, count: usize) {
    write_head(out, 4, length(count));
}

/// Appends the head of a map; its pairs have to follow, in the order of [`key_order`].
pub fn write_map(out: &mut Vec<u8>, count: usize) {
    write_head(out, 5, length(count));
}

/// Which of two encoded keys comes first in a map.
pub fn key_order(left: &[u8], right: &[u8]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

/// Whether encoded keys, in their order, may stand in one map.
pub fn check_keys<'a>(keys: impl IntoIterator<Item = &'a [u8]>) -> Result<(), Fault> {
    let (mut previous, mut numbers) = (None, Numbers::default());
    for key in keys {
        if previous == Some(key) {
            return Err(Fault::KeyOrder);
        }
        previous = Some(key);
        let first = Reader::new(key).next_item().map_err(|error| error.fault)?;
        if matches!(first, Some(Item::Array(_) | Item::Map(_))) {
            return Err(Fault::KeyKind);
        }
        if first.is_some_and(|key| !numbers.insert(&key)) {
            return Err(Fault::KeyTwice);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_the_shortest_form() {
        let rows: [(bool, &[u8], &str); 7] = [
            (false, &[], "00"),
            (false, &[0, 23], "17"),
            (false, &[24], "1818"),
            (true, &[], "20"),
            (false, &[0xFF; 8], "1bffffffffffffffff"),
            (false, &[1, 0, 0, 0, 0, 0, 0, 0, 0], "c249010000000000000000"),
            (true, &[1, 0, 0, 0, 0, 0, 0, 0, 0], "c349010000000000000000"),
        ];
        for (negative, magnitude, encoded) in rows {
            let mut out = Vec::new();
            assert_eq!(write_integer(&mut out, negative, magnitude), Ok(()));
            assert_eq!(hex::encode(out), encoded);
        }
        assert_eq!(write_integer(&mut Vec::new(), false, &[1; 513]), Err(Fault::IntegerSize));
    }

    #[test]
    fn keys_have_an_order_and_are_unique() {
        assert_eq!(key_order(b"\x61b", b"\x62aa"), Ordering::Less);
        assert_eq!(key_order(b"\x61b", b"\x61a"), Ordering::Greater);
        let check = |keys: &[&[u8]]| check_keys(keys.iter().copied());
        assert_eq!(check(&[&[0x01], &[0x61, 0x61]]), Ok(()));
        assert_eq!(check(&[&[0x01], &[0x01]]), Err(Fault::KeyOrder));
        assert_eq!(check(&[&[0x01], &[0xF5]]), Err(Fault::KeyTwice));
        assert_eq!(check(&[&[0x80]]), Err(Fault::KeyKind));
    }

    #[test]
    fn there_is_one_zero_and_nothing_without_an_end() {
        let mut out = Vec::new();
        assert_eq!(write_float(&mut out, 1 << 63), Ok(()));
        assert_eq!(hex::encode(out), "fb0000000000000000");
        assert_eq!(write_float(&mut Vec::new(), 0x7FF0 << 48), Err(Fault::NonFinite));
    }
}
