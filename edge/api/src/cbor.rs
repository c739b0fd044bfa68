//! Canonical CBOR as JSON, for people and for readers without a CBOR decoder. The codec is that of the protocol, [`cowboy_types::cbor`].
//!
//! Byte strings become hex with `0x`, integers beyond 64 bits decimal text, and keys that are no text the JSON text of themselves. What is not
//! canonical CBOR becomes hex.

use cowboy_types::cbor::{self, MAX_DEPTH, Value};
use serde_json::{Map, Value as Json};

/// Levels of arrays and maps that answers show. One that is deeper becomes the hex of its encoding: a client in Rust reads 128 levels of JSON, and an
/// answer has levels of its own around the value.
const SHOWN_DEPTH: usize = 64;

/// Nine decimal digits.
const GROUP: u64 = 1_000_000_000;

/// The JSON of these bytes, or `None` where they are not exactly one canonical item. What is too deep for an answer is hex in it.
pub fn decode(bytes: &[u8]) -> Option<Json> {
    cbor::decode(bytes).ok().map(|value| shown(&value, SHOWN_DEPTH))
}

/// The JSON of these bytes, or their hex where they are not canonical CBOR.
pub fn decode_or_hex(bytes: &[u8]) -> Json {
    decode(bytes).unwrap_or_else(|| hex_text(bytes))
}

/// An argument as people wrote it: JSON text, else CBOR; `None` where it is neither.
pub fn decode_payload(bytes: &[u8]) -> Option<Json> {
    if bytes.is_empty() {
        return None;
    }
    serde_json::from_slice(bytes).ok().or_else(|| decode(bytes))
}

/// The JSON of a value, with all levels that the protocol allows.
pub fn to_json(value: &Value) -> Json {
    shown(value, MAX_DEPTH)
}

/// The JSON of a value with at most `levels` levels of arrays and maps; what is deeper is the hex of its encoding.
fn shown(value: &Value, levels: usize) -> Json {
    let within = levels.saturating_sub(1);
    match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Integer(number) => integer_to_json(*number),
        Value::Bignum { negative, magnitude } => Json::String(decimal(*negative, magnitude)),
        Value::Float(bits) => f64::from_bits(*bits).into(),
        Value::Text(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => hex_text(bytes),
        Value::Array(_) | Value::Map(_) if levels == 0 => hex_text(&value.encode()),
        Value::Array(items) => Json::Array(items.iter().map(|item| shown(item, within)).collect()),
        Value::Map(pairs) => Json::Object(pairs.iter().map(|(key, item)| (key_text(key), shown(item, within))).collect::<Map<_, _>>()),
    }
}

fn hex_text(bytes: &[u8]) -> Json {
    Json::String(format!("0x{}", hex::encode(bytes)))
}

fn integer_to_json(integer: i128) -> Json {
    match (u64::try_from(integer), i64::try_from(integer)) {
        (Ok(number), _) => number.into(),
        (_, Ok(number)) => number.into(),
        _ => Json::String(integer.to_string()),
    }
}

/// The decimal text of a big-endian magnitude, or of −1 minus it.
fn decimal(negative: bool, magnitude: &[u8]) -> String {
    // The last nine digits come first.
    let mut groups = vec![0_u64];
    let bytes = magnitude.iter().map(|byte| (256, u64::from(*byte)));
    for (factor, mut carry) in bytes.chain(negative.then_some((1, 1))) {
        for group in &mut groups {
            carry += *group * factor;
            (*group, carry) = (carry % GROUP, carry / GROUP);
        }
        if carry > 0 {
            groups.push(carry);
        }
    }
    let sign = if negative { "-" } else { "" };
    let (first, rest) = groups.split_last().expect("there is one group at least");
    let rest: String = rest.iter().rev().map(|group| format!("{group:09}")).collect();
    format!("{sign}{first}{rest}")
}

/// A key as JSON has it. Keys are neither arrays nor maps.
fn key_text(key: &Value) -> String {
    match shown(key, 0) {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// The canonical CBOR of a JSON value. A number with a point or an exponent is a float, and so is an integer beyond 64 bits.
pub fn encode(value: &Json) -> Vec<u8> {
    from_json(value).encode()
}

fn from_json(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Value::uint(number),
            (_, Some(number)) => Value::Integer(i128::from(number)),
            // JSON has no numbers that are not finite.
            _ => Value::Float(number.as_f64().unwrap_or_default().to_bits()),
        },
        Json::String(text) => Value::text(text),
        Json::Array(items) => Value::Array(items.iter().map(from_json).collect()),
        Json::Object(fields) => Value::dict(fields.iter().map(|(name, item)| (name.as_str(), from_json(item)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cbor_reads_as_json() {
        let rows: &[(&str, Option<Json>)] = &[
            ("f6", Some(Json::Null)),
            ("17", Some(json!(23))),
            ("1bffffffffffffffff", Some(json!(u64::MAX))),
            ("3bffffffffffffffff", Some(json!("-18446744073709551616"))),
            ("c249010000000000000000", Some(json!("18446744073709551616"))),
            ("c349010000000000000000", Some(json!("-18446744073709551617"))),
            ("c24d0c9f2c9cd04674edea40000000", Some(json!("1000000000000000000000000000000"))),
            ("20", Some(json!(-1))),
            ("4201ff", Some(json!("0x01ff"))),
            ("a16161f5", Some(json!({"a": true}))),
            ("a10102", Some(json!({"1": 2}))),
            ("fb8000000000000000", Some(json!(0.0))),
            ("fb7ff0000000000000", None),
            ("a2616201616101", None),
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

    /// Whatever the protocol takes is shown, and a client can read what is.
    #[test]
    fn what_is_deeper_than_answers_show_is_hex() {
        for levels in [SHOWN_DEPTH, SHOWN_DEPTH + 1, MAX_DEPTH] {
            let bytes = [vec![0x81; levels], vec![0x00]].concat();
            let text = decode(&bytes).expect("the protocol takes it").to_string();
            let innermost = match levels.saturating_sub(SHOWN_DEPTH) {
                0 => "0".to_owned(),
                hidden => format!("\"0x{}00\"", "81".repeat(hidden)),
            };
            assert_eq!(text, format!("{}{innermost}{}", "[".repeat(SHOWN_DEPTH), "]".repeat(SHOWN_DEPTH)));
            assert!(serde_json::from_str::<Json>(&text).is_ok());
            assert_eq!(encode(&to_json(&cbor::decode(&bytes).expect("it is canonical"))), bytes, "nothing is left out");
        }
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
        assert_eq!(hex::encode(encode(&json!({"bb": 1, "a": 256}))), "a2616119010062626201");
        assert_eq!(hex::encode(encode(&json!(-0.0))), "fb0000000000000000", "there is one zero");
    }
}
