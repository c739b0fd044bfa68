//! Arguments of handlers as people write them, and results as people read them.

use crate::failure::Failure;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use cowboy_api::{ApiError, cbor, error::UNREACHABLE};
use serde_json::{Value, json};
use std::path::Path;

/// The bytes of an argument: `@FILE` for a file's, `0x…` for hex, else the text itself.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, Failure> {
    if let Some(path) = text.strip_prefix('@') {
        return std::fs::read(path).map_err(Failure::file(Path::new(path)));
    }
    match text.strip_prefix("0x") {
        Some(digits) => hex::decode(digits).map_err(|error| Failure::argument(format!("{text:?} is no hex: {error}"), "give JSON, hex with 0x, or @FILE")),
        None => Ok(text.as_bytes().to_vec()),
    }
}

/// The bytes of a handler's argument: JSON becomes the canonical CBOR that handlers decode; hex and files go out as they are.
pub(crate) fn argument(text: &str) -> Result<Vec<u8>, Failure> {
    if text.is_empty() || text.starts_with('@') || text.starts_with("0x") {
        return bytes(text);
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Failure::argument(format!("{text:?} is no JSON: {error}"), "give JSON (text in double quotes), hex with 0x, or @FILE"))?;
    Ok(cbor::encode(&value))
}

/// What a handler returned, as JSON: CBOR or JSON decoded, text as text, else hex.
pub(crate) fn decode(bytes: &[u8]) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    cbor::decode(bytes).or_else(|| serde_json::from_slice(bytes).ok()).unwrap_or_else(|| match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => Value::String(text.to_owned()),
        _ => cbor::decode_or_hex(bytes),
    })
}

/// The same for bytes in base64, as queries answer them.
pub(crate) fn decode_base64(text: &str) -> Result<Value, Failure> {
    let bytes = BASE64_STANDARD.decode(text).map_err(|error| ApiError::of_fault(UNREACHABLE).with(json!({ "reason": error.to_string() })))?;
    Ok(decode(&bytes))
}

/// Bytes in base64, as queries take them.
pub(crate) fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}
