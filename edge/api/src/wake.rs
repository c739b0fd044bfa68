//! What the payload of a timer means to the SDK: a named handler, or an interval that arms itself again.

use cowboy_types::cbor::{self, Value};
use std::collections::BTreeMap;

/// The handler that gets the fires of timers. An actor that defines it itself gets those of intervals too, and arms them again itself.
pub const TIMER_HANDLER: &str = "handle_timer";

/// What the SDK puts before an interval.
const INTERVAL_TAG: &[u8] = b"\x00CINT";

/// The bytes of an interval before the length of the handler's name: tag, id, blocks, cycles and cells.
const INTERVAL_HEAD: usize = INTERVAL_TAG.len() + 32 + 3 * 8;

/// What a timer runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wake {
    /// The handler.
    pub handler: String,
    /// The handler's argument.
    pub data: Vec<u8>,
    /// Blocks between two fires of an interval.
    pub every: Option<u64>,
}

/// What the payload names, or `None` where it names nothing and the timer's own handler runs.
pub fn wake(payload: &[u8]) -> Option<Wake> {
    interval(payload).or_else(|| named(payload)).or_else(|| named_in_json(payload))
}

/// The most bytes of a handler's name.
const MAX_NAME: usize = 256;

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
}

/// tag ‖ id (32) ‖ blocks, cycles and cells (8 each) ‖ length of the handler's name (2) ‖ name ‖ data
fn interval(payload: &[u8]) -> Option<Wake> {
    payload.strip_prefix(INTERVAL_TAG)?;
    let (head, rest) = payload.split_at_checked(INTERVAL_HEAD)?;
    let every = u64::from_be_bytes(*head.get(INTERVAL_TAG.len() + 32..)?.first_chunk()?);
    let (length, rest) = rest.split_first_chunk::<2>()?;
    let (name, data) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    Some(Wake { handler: String::from_utf8(name.to_vec()).ok()?, data: data.to_vec(), every: Some(every) })
}

/// The canonical CBOR map of `_handler` and `_payload`.
fn named(payload: &[u8]) -> Option<Wake> {
    // A map of two, as the SDK writes it: nothing else is worth decoding.
    if payload.first() != Some(&0xa2) {
        return None;
    }
    let fields = cbor::decode(payload).ok()?;
    match (fields.get("_handler"), fields.get("_payload")) {
        (Some(Value::Text(handler)), Some(Value::Bytes(data))) if is_name(handler) => {
            Some(Wake { handler: handler.clone(), data: data.clone(), every: None })
        }
        _ => None,
    }
}

/// The older form: a JSON object with `_handler`, whose `_payload`, or else what else it has, is passed on as JSON.
fn named_in_json(payload: &[u8]) -> Option<Wake> {
    if payload.first() != Some(&b'{') {
        return None;
    }
    let mut fields: BTreeMap<String, serde_json::Value> = serde_json::from_slice(payload).ok()?;
    let handler = fields.remove("_handler")?.as_str().filter(|name| is_name(name))?.to_owned();
    let mut data = fields.remove("_payload").unwrap_or_else(|| fields.into_iter().collect());
    // As the SDK writes it, at every level.
    data.sort_all_objects();
    Some(Wake { handler, data: serde_json::to_vec(&data).ok()?, every: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn an_interval(name_length: u16, name: &[u8], data: &[u8]) -> Vec<u8> {
        [INTERVAL_TAG, &[7; 32], &5u64.to_be_bytes(), &[0; 16], &name_length.to_be_bytes(), name, data].concat()
    }

    #[test]
    fn payloads_name_what_runs() {
        let named = |handler: &str, data: &[u8], every| Some(Wake { handler: handler.into(), data: data.to_vec(), every });
        let rows: &[(&[u8], Option<Wake>)] = &[
            (b"", None),
            (b"plain", None),
            (INTERVAL_TAG, None),
            (&an_interval(4, b"beat", b""), named("beat", b"", Some(5))),
            (&an_interval(4, b"beat", b"xy"), named("beat", b"xy", Some(5))),
            (&an_interval(9, b"beat", b""), None),
            (&an_interval(2, b"\xff\xff", b""), None),
            (b"\xa2\x68_handler\x64tick\x68_payload\x41\x01", named("tick", &[1], None)),
            (b"\xa2\x68_handler\x64tick\x68_payload\x01", None),
            (b"\xa2\x68_handler\x64tick\x68_payload\x41\x01\x00", None),
            (b"\xa1\x68_handler\x64tick", None),
            (b"\xa2\x68_handler\x60\x68_payload\x41\x01", None),
            (br#"{"_handler":"tick","_payload":{"b":1,"a":2}}"#, named("tick", br#"{"a":2,"b":1}"#, None)),
            (br#"{"b":1,"_handler":"tick","a":[2]}"#, named("tick", br#"{"a":[2],"b":1}"#, None)),
            (br#"{"_handler":""}"#, None),
            (br#"{"_handler":5}"#, None),
            (br#"{"_payload":1}"#, None),
            (b"{", None),
            (b"[1]", None),
        ];
        for (payload, expected) in rows {
            assert_eq!(wake(payload), *expected, "{payload:?}");
        }
    }
}
