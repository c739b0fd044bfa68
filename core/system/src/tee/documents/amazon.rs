//! Documents of Nitro enclaves: COSE_Sign1 over CBOR, with the certificates inside.

use super::{Proven, certificates};
use ciborium::Value;

/// Amazon's root certificate for its enclaves.
pub(super) const ROOT: &[u8] = include_bytes!("aws_nitro_root.der");

/// The algorithm of the signature: ES384 (RFC 9053).
const ES384: i128 = -35;

/// The tag that a COSE_Sign1 may carry (RFC 9052).
const COSE_SIGN1: u64 = 18;

/// The registers that name a program: its image, its kernel, its application.
const REGISTERS: [i128; 3] = [0, 1, 2];

pub(super) fn verify(roots: &[Vec<u8>], document: &[u8], seconds: u64) -> Option<Proven> {
    let parts = match decode(document)? {
        Value::Tag(COSE_SIGN1, inner) => inner.into_array().ok()?,
        value => value.into_array().ok()?,
    };
    let [protected, _, payload, signature] = <[Value; 4]>::try_from(parts).ok()?;
    let (protected, payload, signature) = (protected.into_bytes().ok()?, payload.into_bytes().ok()?, signature.into_bytes().ok()?);
    let algorithm = field(&decode(&protected)?, &Value::from(1))?.as_integer().map(i128::from);
    let content = decode(&payload)?;
    let named = |name: &str| field(&content, &Value::from(name));
    let leaf = named("certificate")?.into_bytes().ok()?;
    let bundle: Vec<Vec<u8>> =
        named("cabundle")?.into_array().ok()?.into_iter().map(|item| item.into_bytes().ok()).collect::<Option<_>>()?;
    let (root, between) = bundle.split_first()?;
    let path: Vec<&[u8]> = between.iter().map(Vec::as_slice).chain([&leaf[..]]).collect();
    let signed = Value::Array(vec![Value::from("Signature1"), Value::Bytes(protected), Value::Bytes(Vec::new()), Value::Bytes(payload)]);
    let mut message = Vec::new();
    ciborium::into_writer(&signed, &mut message).ok()?;
    let holds = algorithm == Some(ES384)
        && named("digest")?.as_text() == Some("SHA384")
        && roots.contains(root)
        && certificates::leads_to(root, &path, seconds)
        && certificates::has_signed(&leaf, &message, &signature);
    if !holds {
        return None;
    }
    let registers = named("pcrs")?;
    let register = |number: &i128| field(&registers, &Value::Integer((*number).try_into().ok()?))?.into_bytes().ok();
    let measurement = REGISTERS.iter().map(register).collect::<Option<Vec<Vec<u8>>>>()?.concat();
    let data = named("user_data").and_then(|data| data.into_bytes().ok()).unwrap_or_default();
    Some(Proven { measurement, data })
}

/// One CBOR value and nothing behind it.
fn decode(mut bytes: &[u8]) -> Option<Value> {
    let value = ciborium::from_reader(&mut bytes).ok()?;
    bytes.is_empty().then_some(value)
}

/// A map's value under a key.
fn field(map: &Value, key: &Value) -> Option<Value> {
    map.as_map()?.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
}
