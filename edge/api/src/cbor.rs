//! Canonical CBOR as JSON, for people and for readers without a CBOR decoder.
//!
//! Byte strings become hex with `0x`, integers beyond 64 bits decimal text, and keys that are no text the JSON text of
//! themselves. What is no CBOR becomes hex.

use ciborium::Value as Cbor;
use serde_json::{Map, Value as Json, json};

/// Deeper values than this are shown as hex.
const MAX_DEPTH: usize = 64;

/// The JSON of these bytes, or `None` where they are not exactly one CBOR item.
pub fn decode(bytes: &[u8]) -> Option<Json> {
    parse(bytes).as_ref().map(to_json)
}

/// The item of these bytes, or `None` where they are not exactly one.
pub(crate) fn parse(bytes: &[u8]) -> Option<Cbor> {
    let mut rest = bytes;
    let value = ciborium::de::from_reader_with_recursion_limit(&mut rest, MAX_DEPTH).ok()?;
    rest.is_empty().then_some(value)
}

/// The JSON of these bytes, or their hex where they are no CBOR.
pub fn decode_or_hex(bytes: &[u8]) -> Json {
    decode(bytes).unwrap_or_else(|| Json::String(format!("0x{}", hex::encode(bytes))))
}

/// An argument as people wrote it: JSON text, else CBOR; `None` where it is neither.
pub fn decode_payload(bytes: &[u8]) -> Option<Json> {
    if bytes.is_empty() {
        return None;
    }
    serde_json::from_slice(bytes).ok().or_else(|| decode(bytes))
}

fn to_json(value: &Cbor) -> Json {
    match value {
        Cbor::Null => Json::Null,
        Cbor::Bool(bool) => Json::Bool(*bool),
        Cbor::Integer(integer) => integer_to_json(i128::from(*integer)),
        Cbor::Float(float) => serde_json::Number::from_f64(*float).map_or_else(|| Json::String(float.to_string()), Json::Number),
        Cbor::Text(text) => Json::String(text.clone()),
        Cbor::Bytes(bytes) => Json::String(format!("0x{}", hex::encode(bytes))),
        Cbor::Array(items) => Json::Array(items.iter().map(to_json).collect()),
        Cbor::Map(entries) => Json::Object(entries.iter().map(|(key, value)| (key_text(key), to_json(value))).collect::<Map<_, _>>()),
        Cbor::Tag(tag, inner) => json!({ "tag": tag, "value": to_json(inner) }),
        _ => Json::Null,
    }
}

fn integer_to_json(integer: i128) -> Json {
    match (u64::try_from(integer), i64::try_from(integer)) {
        (Ok(number), _) => number.into(),
        (_, Ok(number)) => number.into(),
        _ => Json::String(integer.to_string()),
    }
}

fn key_text(key: &Cbor) -> String {
    match to_json(key) {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// The canonical CBOR of a JSON value: shortest integers, keys by encoded length, then bytewise; floats as binary64.
pub fn encode(value: &Json) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(value, &mut bytes);
    bytes
}

fn write(value: &Json, bytes: &mut Vec<u8>) {
    match value {
        Json::Null => bytes.push(0xf6),
        Json::Bool(false) => bytes.push(0xf4),
        Json::Bool(true) => bytes.push(0xf5),
        Json::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(positive), _, _) => head(0, positive, bytes),
            (_, Some(negative), _) => head(1, negative.unsigned_abs() - 1, bytes),
            (_, _, float) => {
                bytes.push(0xfb);
                bytes.extend(float.unwrap_or(0.0).to_be_bytes());
            }
        },
        Json::String(text) => {
            head(3, text.len() as u64, bytes);
            bytes.extend(text.as_bytes());
        }
        Json::Array(items) => {
            head(4, items.len() as u64, bytes);
            items.iter().for_each(|item| write(item, bytes));
        }
        Json::Object(fields) => {
            head(5, fields.len() as u64, bytes);
            let mut entries: Vec<(Vec<u8>, &Json)> =
                fields.iter().map(|(key, value)| (encode(&Json::String(key.clone())), value)).collect();
            entries.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
            for (key, value) in entries {
                bytes.extend(key);
                write(value, bytes);
            }
        }
    }
}

fn head(major: u8, number: u64, bytes: &mut Vec<u8>) {
    let major = major << 5;
    match number {
        0..=23 => bytes.push(major | number as u8),
        24..=0xff => bytes.extend([major | 24, number as u8]),
        0x100..=0xffff => {
            bytes.push(major | 25);
            bytes.extend((number as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            bytes.push(major | 26);
            bytes.extend((number as u32).to_be_bytes());
        }
        _ => {
            bytes.push(major | 27);
            bytes.extend(number.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cbor_reads_as_json() {
        let rows: &[(&str, Option<Json>)] = &[
            ("f6", Some(Json::Null)),
            ("17", Some(json!(23))),
            ("1bffffffffffffffff", Some(json!(u64::MAX))),
            ("3bffffffffffffffff", Some(json!("-18446744073709551616"))),
            ("20", Some(json!(-1))),
            ("4201ff", Some(json!("0x01ff"))),
            ("a16161f5", Some(json!({"a": true}))),
            ("a10102", Some(json!({"1": 2}))),
            ("fb7ff0000000000000", Some(json!("inf"))),
            ("8201", None),
            ("0101", None),
            ("", None),
        ];
        for (bytes, expected) in rows {
            assert_eq!(&decode(&hex::decode(bytes).expect("the row is hex")), expected, "{bytes}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_without_harm() {
        assert_eq!(decode(&[0x81; 100_000]), None);
    }

    #[test]
    fn json_writes_as_canonical_cbor_and_reads_back() {
        let rows = [
            json!(null),
            json!(0),
            json!(-1),
            json!(i64::MIN),
            json!(u64::MAX),
            json!("é"),
            json!([1, [2], {}]),
            json!({"bb": 1, "a": 256, "c": 65_536}),
            json!(1.5),
        ];
        for row in rows {
            assert_eq!(decode(&encode(&row)), Some(row));
        }
        assert_eq!(hex::encode(encode(&json!({"bb": 1, "a": 256}))), "a261611901006262620 1".replace(" ", ""));
    }
}
