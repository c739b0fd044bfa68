//! What a job asks a runner to do: the one reading of a submission that the chain checked, as JSON.

use cowboy_system::offchain::request as submission;
use cowboy_types::cbor::Value;
use cowboy_types::job::JobKind;
use serde_json::{Map, Value as Json};

/// What a runner is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The kind of work.
    pub kind: JobKind,
    /// What it needs to know, by name. Byte strings are hex with `0x`.
    pub fields: Map<String, Json>,
}

/// Why a submission cannot be done by anybody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

impl Request {
    /// Reads a submission, as the chain did.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let read = submission::Request::read(bytes).map_err(|refusal| Malformed(refusal.to_string()))?;
        Ok(Self { kind: read.kind, fields: read.work.iter().map(|(name, value)| (name.clone(), json(value))).collect() })
    }

    /// A text that has to be there.
    pub fn text(&self, name: &str) -> Result<&str, Malformed> {
        self.text_or_none(name)?.ok_or_else(|| Malformed(format!("there is no {name}")))
    }

    /// A text that may be left out.
    pub fn text_or_none(&self, name: &str) -> Result<Option<&str>, Malformed> {
        match self.fields.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err(Malformed(format!("{name} is not text"))),
        }
    }

    /// A whole number that may be left out.
    pub fn number_or_none(&self, name: &str) -> Result<Option<u64>, Malformed> {
        match self.fields.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| Malformed(format!("{name} is not an integer"))),
        }
    }

    /// A truth value, `false` where it is left out.
    pub fn flag(&self, name: &str) -> Result<bool, Malformed> {
        match self.fields.get(name) {
            None | Some(Json::Null) => Ok(false),
            Some(Json::Bool(flag)) => Ok(*flag),
            Some(_) => Err(Malformed(format!("{name} is not a truth value"))),
        }
    }

    /// Whether it uses secrets, whose values are put into it before it is done.
    pub fn names_secrets(&self) -> bool {
        self.get("secrets").and_then(Json::as_array).is_some_and(|secrets| !secrets.is_empty())
    }

    /// The value of a name, where it is there.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.fields.get(name).filter(|value| !value.is_null())
    }
}

fn copy(from: &Value, to: &mut Map<String, Json>) {
    if let Value::Map(pairs) = from {
        to.extend(pairs.iter().filter_map(|(name, value)| Some((name.as_text()?.to_owned(), json(value)))));
    }
}

/// CBOR as JSON: byte strings as hex, other keys than texts left out.
pub(crate) fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(bool) => Json::Bool(*bool),
        Value::Integer(number) => match (u64::try_from(*number), i64::try_from(*number)) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => number.to_string().into(),
        },
        Value::Bytes(bytes) => format!("0x{}", hex::encode(bytes)).into(),
        Value::Text(text) => text.clone().into(),
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Map(_) => {
            let mut fields = Map::new();
            copy(value, &mut fields);
            Json::Object(fields)
        }
        Value::Bignum { negative: false, magnitude } => format!("0x{}", hex::encode(magnitude)).into(),
        Value::Bignum { negative: true, magnitude } => format!("-1-0x{}", hex::encode(magnitude)).into(),
        Value::Float(bits) => f64::from_bits(*bits).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn submission(value: &Json) -> Vec<u8> {
        cowboy_api::cbor::encode(value)
    }

    /// What the chain's reading is tested for in `core/system`, as JSON: bytes as hex, and what names nothing is refused.
    #[test]
    fn the_work_as_json() {
        let read = |value: Json| Request::read(&submission(&value));
        let asked = json!({ "job_type": { "type": "Http", "url": "https://a.b", "headers": { "a": "b" }, "x-mark": 7 }, "tip": 1 });
        let request = read(asked).expect("a job");
        assert_eq!(request.kind, JobKind::Http);
        assert_eq!(Json::Object(request.fields), json!({ "url": "https://a.b", "headers": { "a": "b" }, "x-mark": 7 }));
        let twice = json!({ "job_type": { "type": "Http", "url": "https://a.b" }, "payload": { "url": "https://c.d" } });
        assert!(read(twice).is_err_and(|error| error.0.contains("\"url\"")));
        assert!(Request::read(b"\xff").is_err());
    }
}
