//! What a job asks a runner to do: the one reading of a submission that the chain checked, as JSON.

use cowboy_api::cbor;
use cowboy_system::offchain::request as submission;
use cowboy_types::job::JobKind;
use serde_json::{Map, Value as Json};

/// What a runner is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The kind of work.
    pub kind: JobKind,
    /// What it needs to know, by name, in the JSON of [`cbor`].
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
        Ok(Self { kind: read.kind, fields: read.work.iter().map(|(name, value)| (name.clone(), cbor::to_json(value))).collect() })
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

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::cbor::Value;
    use serde_json::json;

    /// What the chain's reading is tested for in `core/system`, as JSON: bytes as hex, and what names nothing is refused.
    #[test]
    fn the_work_as_json() {
        let read = |value: Json| Request::read(&cbor::encode(&value));
        let asked = json!({ "job_type": { "type": "Http", "url": "https://a.b", "headers": { "a": "b" }, "x-mark": 7 }, "tip": 1 });
        let request = read(asked).expect("a job");
        assert_eq!(request.kind, JobKind::Http);
        assert_eq!(Json::Object(request.fields), json!({ "url": "https://a.b", "headers": { "a": "b" }, "x-mark": 7 }));
        let twice = json!({ "job_type": { "type": "Http", "url": "https://a.b" }, "payload": { "url": "https://c.d" } });
        assert!(read(twice).is_err_and(|error| error.0.contains("\"url\"")));
        assert!(Request::read(b"\xff").is_err());
    }

    /// What JSON has no form of is written as everywhere in the API: large integers as decimal text, keys that are no text as theirs.
    #[test]
    fn the_work_has_the_json_of_the_api() {
        let large = Value::Bignum { negative: true, magnitude: vec![1, 0, 0, 0, 0, 0, 0, 0, 0] };
        let mark = Value::Map(vec![(Value::uint(1), large), (Value::text("a"), Value::Bytes(vec![1, 2]))]);
        let work = Value::map([("type", Value::text("Http")), ("url", Value::text("https://a.b")), ("x-mark", mark)]);
        let request = Request::read(&Value::map([("job_type", work)]).encode()).expect("a job");
        assert_eq!(request.get("x-mark"), Some(&json!({ "1": "-18446744073709551617", "a": "0x0102" })));
    }
}
