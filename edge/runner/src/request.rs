//! What a job asks a runner to do, out of its submission: a job as the specification has it, or the message of the published SDK.
//!
//! Both say the same: a kind and named fields. The message has arguments by place as well: [`PLACES`] names them.

use cowboy_types::cbor::{self, Value};
use cowboy_types::job::JobKind;
use serde_json::{Map, Value as Json};

/// What the arguments by place of the SDK's message are called.
const PLACES: &[(JobKind, &[&str])] = &[
    (JobKind::Llm, &["prompt"]),
    (JobKind::Http, &["url"]),
    (JobKind::Mcp, &["server", "tool", "arguments"]),
    (JobKind::Custom, &["tool", "input"]),
];

/// What a message says beside a tool's own arguments: to the chain, or about the call. Everything else that is given by name is the tool's.
const NOT_THE_TOOLS: &[&str] = &[
    "server",
    "tool",
    "arguments",
    "max_price",
    "tip",
    "timeout_blocks",
    "verify",
    "verification",
    "result_schema",
    "max_input_tokens",
    "max_tokens",
    "max_wall_time_ms",
    "max_memory_mb",
    "resume_cycles",
    "resume_cells",
    "required_runner_pool",
    "requires",
    "model_id",
    "toolchain_digest",
    "seed",
    "system_prompt",
    "extract",
];

/// Where a job of the specification's form may have its fields: in `job_type`, or in an object of this name beside it.
const BESIDE: &str = "payload";

/// What a runner is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What kind of work.
    pub kind: JobKind,
    /// What it needs to know, by name. Byte strings are hex with `0x`.
    pub fields: Map<String, Json>,
}

/// Why a submission cannot be done by anybody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

impl Request {
    /// Reads a submission.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let value = cbor::decode(bytes).map_err(|error| Malformed(error.to_string()))?;
        if value.get("kind").and_then(Value::as_text) == Some("runner_job") { Self::message(&value) } else { Self::job(&value) }
    }

    fn job(value: &Value) -> Result<Self, Malformed> {
        let kind_of = value.get("job_type").ok_or_else(|| Malformed("there is no job_type".into()))?;
        let mut fields = Map::new();
        let name = match kind_of {
            Value::Map(_) => {
                copy(kind_of, &mut fields);
                fields.remove("type").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
            }
            other => other.as_text().unwrap_or_default().to_owned(),
        };
        if let Some(rules) = value.get("extract") {
            fields.insert("extract".into(), json(rules));
        }
        if let Some(beside) = value.get(BESIDE) {
            copy(beside, &mut fields);
        }
        Ok(Self { kind: kind(&name)?, fields })
    }

    fn message(value: &Value) -> Result<Self, Malformed> {
        let name = match value.get("job_type").and_then(Value::as_text).unwrap_or_default() {
            "agent" => "custom",
            name => name,
        };
        let kind = kind(name)?;
        let mut fields = Map::new();
        let payload = value.get("payload");
        if let Some(named) = payload.and_then(|payload| payload.get("kwargs")) {
            copy(named, &mut fields);
        }
        if let Some(Value::Array(arguments)) = payload.and_then(|payload| payload.get("args")) {
            let names = PLACES.iter().find(|(of, _)| *of == kind).map_or(&[][..], |(_, names)| *names);
            // Names that were given are not given again by place.
            let names: Vec<&str> = names.iter().copied().filter(|name| !fields.contains_key(*name)).collect();
            if arguments.len() > names.len() {
                return Err(Malformed(format!("a {name} job takes {} arguments by place, not {}", names.len(), arguments.len())));
            }
            for (name, argument) in names.iter().zip(arguments) {
                fields.insert((*name).to_owned(), json(argument));
            }
        }
        if kind == JobKind::Mcp && !fields.contains_key("arguments") {
            gather_arguments(&mut fields);
        }
        Ok(Self { kind, fields })
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
            Some(_) => Err(Malformed(format!("{name} is no text"))),
        }
    }

    /// A whole number that may be left out.
    pub fn number_or_none(&self, name: &str) -> Result<Option<u64>, Malformed> {
        match self.fields.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| Malformed(format!("{name} is no whole number"))),
        }
    }

    /// A truth value, `false` where it is left out.
    pub fn flag(&self, name: &str) -> Result<bool, Malformed> {
        match self.fields.get(name) {
            None | Some(Json::Null) => Ok(false),
            Some(Json::Bool(flag)) => Ok(*flag),
            Some(_) => Err(Malformed(format!("{name} is no truth value"))),
        }
    }

    /// The value of a name, where it is there.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.fields.get(name).filter(|value| !value.is_null())
    }
}

fn kind(name: &str) -> Result<JobKind, Malformed> {
    JobKind::from_name(name).ok_or_else(|| Malformed(format!("{name:?} is no kind of job")))
}

/// The published form of a tool's call, `runner.mcp("fs", "read_file", path="/x")`: what stands beside server and tool is for the tool.
fn gather_arguments(fields: &mut Map<String, Json>) {
    let (kept, arguments): (Map<_, _>, Map<_, _>) =
        std::mem::take(fields).into_iter().partition(|(name, _)| NOT_THE_TOOLS.contains(&name.as_str()));
    *fields = kept;
    if !arguments.is_empty() {
        fields.insert("arguments".to_owned(), Json::Object(arguments));
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

    #[test]
    fn both_forms_say_the_same() {
        let http = |fields: Json| Ok::<_, &str>((JobKind::Http, fields));
        let rows = [
            (json!({ "job_type": { "type": "Http", "url": "https://a.b" } }), http(json!({ "url": "https://a.b" }))),
            (json!({ "job_type": "http", "payload": { "url": "https://a.b" } }), http(json!({ "url": "https://a.b" }))),
            (
                json!({ "kind": "runner_job", "job_type": "http", "payload": { "args": ["https://a.b"], "kwargs": { "method": "POST" } } }),
                http(json!({ "url": "https://a.b", "method": "POST" })),
            ),
            (
                json!({ "kind": "runner_job", "job_type": "mcp", "payload": { "args": ["shop", "find", { "x": 1 }], "kwargs": {} } }),
                Ok((JobKind::Mcp, json!({ "server": "shop", "tool": "find", "arguments": { "x": 1 } }))),
            ),
            (
                json!({ "kind": "runner_job", "job_type": "mcp", "payload": { "args": [{ "x": 1 }], "kwargs": { "server": "shop", "tool": "find" } } }),
                Ok((JobKind::Mcp, json!({ "server": "shop", "tool": "find", "arguments": { "x": 1 } }))),
            ),
            (
                json!({ "kind": "runner_job", "job_type": "mcp", "payload": { "args": ["fs", "read_file"], "kwargs": { "path": "/x", "tip": 7 } } }),
                Ok((JobKind::Mcp, json!({ "server": "fs", "tool": "read_file", "tip": 7, "arguments": { "path": "/x" } }))),
            ),
            (
                json!({ "kind": "runner_job", "job_type": "mcp", "payload": { "args": ["fs", "list", { "path": "/" }], "kwargs": { "tip": 7 } } }),
                Ok((JobKind::Mcp, json!({ "server": "fs", "tool": "list", "arguments": { "path": "/" }, "tip": 7 }))),
            ),
            (
                json!({ "kind": "runner_job", "job_type": "mcp", "payload": { "args": ["fs", "list"], "kwargs": {} } }),
                Ok((JobKind::Mcp, json!({ "server": "fs", "tool": "list" }))),
            ),
            (
                json!({ "kind": "runner_job", "job_type": "agent", "payload": { "args": ["count"] } }),
                Ok((JobKind::Custom, json!({ "tool": "count" }))),
            ),
            (json!({ "kind": "runner_job", "job_type": "http", "payload": { "args": [1, 2] } }), Err("by place")),
            (json!({ "job_type": "Dance" }), Err("no kind of job")),
            (json!({}), Err("no job_type")),
        ];
        for (value, expected) in rows {
            let read = Request::read(&submission(&value));
            match expected {
                Ok((kind, fields)) => {
                    let read = read.unwrap_or_else(|error| panic!("{value}: {error}"));
                    assert_eq!((read.kind, Json::Object(read.fields)), (kind, fields), "{value}");
                }
                Err(part) => assert!(read.is_err_and(|error| error.0.contains(part)), "{value}"),
            }
        }
        assert!(Request::read(b"\xff").is_err());
    }
}
