//! A request as actors see it (004 §8.1): a CBOR map, the same on the query and on the command path.

use cowboy_types::cbor::Value;
use cowboy_types::{Abort, Address, Hash, error, keccak256};

/// The fields of a request, ascending as canonical CBOR orders keys: by length first.
pub const FIELDS: [&str; 7] = ["body", "host", "path", "query", "method", "headers", "request_id"];

/// What the registry looks at in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The method, upper case.
    pub method: &'a str,
    /// The request's id.
    pub request_id: &'a str,
    /// Bytes of the body.
    pub body_bytes: usize,
}

impl<'a> Envelope<'a> {
    /// Reads a request strictly: these fields and no others, each of its type.
    pub fn read(value: &'a Value) -> Result<Self, Abort> {
        let Value::Map(pairs) = value else { return Err(error::INGRESS_INVALID) };
        let text = |name| value.get(name).and_then(Value::as_text).ok_or(error::INGRESS_INVALID);
        let (method, path, request_id) = (text("method")?, text("path")?, text("request_id")?);
        text("host")?;
        let are_lists = ["headers", "query"].iter().all(|name| value.get(name).is_some_and(is_lists));
        let body_bytes = match value.get("body") {
            Some(Value::Null) => 0,
            Some(Value::Bytes(body)) => body.len(),
            _ => return Err(error::INGRESS_INVALID),
        };
        if pairs.len() != FIELDS.len() || !are_lists || !path.starts_with('/') || !is_request_id(request_id) {
            return Err(error::INGRESS_INVALID);
        }
        Ok(Self { method, request_id, body_bytes })
    }
}

/// A map of texts to lists of texts.
fn is_lists(value: &Value) -> bool {
    let is_texts = |value: &Value| matches!(value, Value::Array(items) if items.iter().all(|item| item.as_text().is_some()));
    matches!(value, Value::Map(pairs) if pairs.iter().all(|(key, item)| key.as_text().is_some() && is_texts(item)))
}

/// The id of a gateway's request to an actor: the UUID of version 4 made of the first 16 bytes of
/// keccak256("cowboy-request:" ‖ genesis hash ‖ gateway ‖ target ‖ salt) (decisions 178, 765). No other gateway can make it, no other target has it, and
/// a transaction that carries it was meant for this chain.
pub fn request_id(genesis: Hash, gateway: Address, target: Address, salt: &[u8; 32]) -> String {
    let mut bytes = keccak256(&[b"cowboy-request:", &genesis.0, &gateway.0, &target.0, salt]).0;
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut text = String::with_capacity(36);
    for (place, byte) in bytes.iter().take(16).enumerate() {
        if [4, 6, 8, 10].contains(&place) {
            text.push('-');
        }
        text.extend([byte >> 4, byte & 0x0f].map(|digit| char::from_digit(u32::from(digit), 16).expect("a digit of base 16")));
    }
    text
}

/// A UUID of version 4 in its usual lower-case form (004 §8.1).
pub fn is_request_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_right = |(place, byte): (usize, &u8)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        14 => *byte == b'4',
        19 => matches!(byte, b'8' | b'9' | b'a' | b'b'),
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    bytes.len() == 36 && bytes.iter().enumerate().all(is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    fn request(changes: &[(&'static str, Option<Value>)]) -> Value {
        let mut fields = vec![
            ("body", Value::Bytes(vec![1, 2])),
            ("headers", Value::dict([("accept", Value::Array(vec![Value::text("a"), Value::text("b")]))])),
            ("host", Value::text("a.cowboy.network")),
            ("method", Value::text("POST")),
            ("path", Value::text("/x")),
            ("query", Value::Map(vec![])),
            ("request_id", Value::text(ID)),
        ];
        for (name, value) in changes {
            fields.retain(|(other, _)| other != name);
            fields.extend(value.clone().map(|value| (*name, value)));
        }
        Value::dict(fields)
    }

    /// every field, each of its type, and no other.
    #[test]
    fn requests_are_read_strictly() {
        let right = request(&[]);
        assert_eq!(Envelope::read(&right), Ok(Envelope { method: "POST", request_id: ID, body_bytes: 2 }));
        assert_eq!(Envelope::read(&request(&[("body", Some(Value::Null))])).map(|envelope| envelope.body_bytes), Ok(0));
        for name in FIELDS {
            assert_eq!(Envelope::read(&request(&[(name, None)])), Err(error::INGRESS_INVALID), "without {name}");
            assert_eq!(Envelope::read(&request(&[(name, Some(Value::uint(1)))])), Err(error::INGRESS_INVALID), "{name}");
        }
        let wrong = [
            ("more", Value::Null),
            ("path", Value::text("x")),
            ("headers", Value::dict([("a", Value::text("b"))])),
            ("headers", Value::dict([("a", Value::Array(vec![Value::uint(1)]))])),
            ("request_id", Value::text("0F8FAD5B-D9CB-469F-A165-70867728950E")),
            ("request_id", Value::text("0f8fad5b-d9cb-169f-a165-70867728950e")),
            ("request_id", Value::text("0f8fad5bd9cb469fa16570867728950e")),
        ];
        for (name, value) in wrong {
            assert_eq!(Envelope::read(&request(&[(name, Some(value.clone()))])), Err(error::INGRESS_INVALID), "{name} {value:?}");
        }
        assert_eq!(Envelope::read(&Value::Null), Err(error::INGRESS_INVALID));
    }

    /// Ids are requests' ids, and differ by each of what they are made of (decisions 178, 765).
    #[test]
    fn ids_are_made() {
        let (one, other, genesis) = (Address([1; 20]), Address([2; 20]), Hash([3; 32]));
        let ids = [
            request_id(genesis, one, other, &[0; 32]),
            request_id(genesis, other, one, &[0; 32]),
            request_id(genesis, one, one, &[0; 32]),
            request_id(genesis, one, other, &[1; 32]),
            request_id(Hash([4; 32]), one, other, &[0; 32]),
        ];
        for (place, id) in ids.iter().enumerate() {
            assert!(is_request_id(id), "{id}");
            assert!(!ids[..place].contains(id), "{id}");
        }
    }

    /// The fields stand in the order in which a canonical map has them.
    #[test]
    fn fields_are_in_canonical_order() {
        let Value::Map(pairs) = request(&[]) else { unreachable!("a request is a map") };
        let names: Vec<&str> = pairs.iter().filter_map(|(name, _)| name.as_text()).collect();
        assert_eq!(names, FIELDS);
    }
}
