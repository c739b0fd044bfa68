//! Arguments of handlers as people write them, and results as people read them.

use crate::failure::Failure;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use cowboy_api::{
    ApiError, Client, cbor,
    error::UNREACHABLE,
    model,
    source::{self, Format},
    system,
};
use cowboy_types::Address;
use serde_json::{Value, json};
use std::path::Path;

/// The bytes of an argument: `@FILE` for a file's, `0x…` for hex, else the text itself.
pub fn bytes(text: &str) -> Result<Vec<u8>, Failure> {
    if let Some(path) = text.strip_prefix('@') {
        return std::fs::read(path).map_err(Failure::file(Path::new(path)));
    }
    match text.strip_prefix("0x") {
        Some(digits) => hex::decode(digits)
            .map_err(|error| Failure::argument(format!("{text:?} is not hex: {error}"), "give JSON, hex with 0x, or @FILE")),
        None => Ok(text.as_bytes().to_vec()),
    }
}

/// The JSON of an argument: the text itself, or `@FILE` for a file's.
pub fn json(text: &str) -> Result<Value, Failure> {
    serde_json::from_slice(&bytes(text)?).map_err(|error| match text.strip_prefix('@') {
        Some(file) => Failure::argument(format!("{file} is not JSON: {error}"), "correct it at that place"),
        None => Failure::argument(format!("not JSON: {error}"), "give JSON, or @FILE"),
    })
}

/// The bytes of an argument for a handler of this format: `@FILE` and `0x…` as they are, JSON as what the handler reads. Text that is no
/// JSON is a string, unless it begins as JSON does: that is a mistake, and refused.
pub fn encode(text: &str, format: Format) -> Result<Vec<u8>, Failure> {
    if text.is_empty() || text.starts_with('@') || text.starts_with("0x") || format == Format::Raw {
        return bytes(text);
    }
    let value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) if text.trim_start().starts_with(['{', '[', '"']) => {
            return Err(Failure::argument(
                format!("the payload {text} is not JSON: {error}"),
                "quote it for the shell as one argument, like '{\"name\": \"Ada\"}', '[\"Ada\", 3]' or '\"Ada\"'",
            ));
        }
        Err(_) => Value::String(text.to_owned()),
    };
    match format {
        Format::Json => Ok(value.to_string().into_bytes()),
        Format::Cbor | Format::Raw => Ok(cbor::encode(&value)),
    }
}

/// The bytes of an argument for a handler of this source, as [`encode`] makes them. Hex that has the length of an address is one where the
/// handler takes a single `Address`; other hex for a handler that reads CBOR has to be CBOR.
pub fn argument(text: &str, code: &str, handler: &str) -> Result<Vec<u8>, Failure> {
    let format = source::format(code, handler);
    let bytes = encode(text, format)?;
    if code.is_empty() || !text.starts_with("0x") || format != Format::Cbor || bytes.is_empty() {
        return Ok(bytes);
    }
    if text.parse::<Address>().is_ok() && source::single_annotation(code, handler).as_deref() == Some("Address") {
        return Ok(cbor::encode(&Value::String(text.to_owned())));
    }
    match cbor::decode(&bytes) {
        Some(_) => Ok(bytes),
        None => Err(Failure::argument(
            format!("the payload {text} is raw bytes, and {handler} reads CBOR, which they are not"),
            format!("quote it to send it as text: '\"{text}\"'; or give the arguments by name: '{{\"name\": \"0x…\"}}'"),
        )),
    }
}

/// JSON as the argument of a system actor's method: canonical CBOR, in which texts that are hex with 0x are bytes.
pub fn method_argument(argument: &Value) -> Result<Vec<u8>, Failure> {
    let value = system::any(argument).map_err(|error| {
        Failure::argument(format!("the JSON cannot be encoded as canonical CBOR: {error}"), "use integers, strings, lists and objects")
    })?;
    Ok(value.encode())
}

/// What a handler of this format returned, as JSON: decoded where it can be, text as text, else hex.
pub fn decode(bytes: &[u8], format: Format) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    let from_json = || serde_json::from_slice(bytes).ok();
    let decoded = match format {
        Format::Cbor => cbor::decode(bytes).or_else(from_json),
        Format::Json | Format::Raw => from_json().or_else(|| cbor::decode(bytes)),
    };
    decoded.unwrap_or_else(|| match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => Value::String(text.to_owned()),
        _ => cbor::decode_or_hex(bytes),
    })
}

/// The same for bytes in base64, as queries answer them.
pub fn decode_base64(text: &str, format: Format) -> Result<Value, Failure> {
    let bytes =
        BASE64_STANDARD.decode(text).map_err(|error| ApiError::of_fault(UNREACHABLE).with(json!({ "reason": error.to_string() })))?;
    Ok(decode(&bytes, format))
}

/// The source of a deployed actor, which says how its handlers read arguments. Empty where it has none to look at.
pub async fn source_of(client: &Client, actor: &Address) -> String {
    let code: Result<model::Code, ApiError> = client.get(&format!("/actor/{actor}/code")).await;
    code.map(|code| code.source).unwrap_or_default()
}

/// Bytes in base64, as queries take them.
pub fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_what_the_handler_reads() {
        let rows: &[(&str, Format, &[u8])] = &[
            ("", Format::Cbor, b""),
            ("41", Format::Cbor, &[0x18, 41]),
            ("\"Ada\"", Format::Cbor, &[0x63, b'A', b'd', b'a']),
            ("Ada", Format::Cbor, &[0x63, b'A', b'd', b'a']),
            ("0x00ff", Format::Cbor, &[0, 0xff]),
            ("41", Format::Json, b"41"),
            ("Ada", Format::Json, b"\"Ada\""),
            ("{\"a\": 1}", Format::Json, b"{\"a\":1}"),
            ("{", Format::Raw, b"{"),
            ("{}", Format::Raw, b"{}"),
        ];
        for (text, format, expected) in rows {
            assert_eq!(encode(text, *format).ok().as_deref(), Some(*expected), "{text:?} {format:?}");
        }
        assert_eq!(decode(b"1", Format::Json), json!(1));
        assert_eq!(decode(&[0x18, 41], Format::Cbor), json!(41));
        assert_eq!(decode(&[0xff, 0], Format::Raw), json!("0xff00"));
        assert!(bytes("0xz").is_err());
        for malformed in ["{\"name\":", " [1", "\"Ada", "{name: 1}"] {
            for format in [Format::Cbor, Format::Json] {
                let refused = encode(malformed, format).expect_err("no JSON").to_string();
                assert!(refused.starts_with(&format!("the payload {malformed} is not JSON: ")), "{refused}");
            }
        }
    }

    /// An address needs no quotes where a handler takes nothing else; other hex is CBOR, or refused.
    #[test]
    fn hex_is_an_address_or_cbor() {
        let code =
            "@actor\nclass A:\n    @public\n    def init(self, owner: Address): pass\n    @public\n    def greet(self, name: str): pass\n";
        let address = "0x4a7d6bf26964af9d7eed9e03e53415d37aa96045";
        assert_eq!(argument(address, code, "init").ok(), Some(cbor::encode(&json!(address))));
        assert_eq!(argument("0x63416461", code, "greet").ok(), Some(cbor::encode(&json!("Ada"))));
        assert_eq!(argument(address, "", "greet").map(|bytes| bytes.len()).ok(), Some(20), "without a source nothing is known");
        let refused = argument(address, code, "greet").expect_err("it is no CBOR").to_string();
        assert!(refused.starts_with(&format!("the payload {address} is raw bytes, and greet reads CBOR")), "{refused}");
        assert!(refused.contains(&format!("'\"{address}\"'")), "{refused}");
    }
}
