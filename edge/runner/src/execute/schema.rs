//! JSON schemas that strangers wrote, decided by the chain's own rule: what a runner lets through, the chain does.
//!
//! That rule knows no references and no patterns, so a short schema cannot ask for endless work. Whatever it does not know, it refuses.

use cowboy_system::offchain::{json, schema};
use serde_json::Value as Json;

/// A schema that can be checked in bounded time.
pub(crate) struct Schema(schema::Schema);

impl Schema {
    /// Reads a schema, or says why it is refused.
    pub(crate) fn read(value: &Json) -> Result<Self, String> {
        let schema = schema::Schema::parse(&value.to_string()).ok_or("it is not a schema with the keywords that docs/jobs.md lists")?;
        Ok(Self(schema))
    }

    /// Why a value is not of the schema.
    pub(crate) fn check(&self, value: &Json) -> Result<(), String> {
        let value = json::Json::parse(value.to_string().as_bytes()).map_err(|error| error.to_string())?;
        if self.0.admits(&value) { Ok(()) } else { Err("it is not of the schema".into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_hold_or_are_refused() {
        let price = json!({ "type": "object", "required": ["price"], "properties": { "price": { "type": "number", "minimum": 0 } } });
        let rows = [
            (price.clone(), json!({ "price": 3 }), Ok(())),
            (price.clone(), json!({ "price": -3 }), Err("not of the schema")),
            (price, json!({}), Err("not of the schema")),
            (json!({ "pattern": "^(a+)+$" }), json!("aab"), Err("not a schema")),
            (json!({ "$ref": "https://example.com/schema" }), json!(1), Err("not a schema")),
            (json!({ "properties": { "next": { "$ref": "#" } } }), json!(1), Err("not a schema")),
            (json!({ "type": "nonsense" }), json!(1), Err("not a schema")),
        ];
        for (schema, value, expected) in rows {
            let found = Schema::read(&schema).and_then(|schema| schema.check(&value));
            match expected {
                Ok(()) => assert_eq!(found, Ok(()), "{schema}"),
                Err(part) => assert!(found.as_ref().is_err_and(|reason| reason.contains(part)), "{schema}: {found:?}"),
            }
        }
    }

    /// A schema bomb: each definition takes the next one twice. And one that only nests.
    #[test]
    fn bombs_are_refused() {
        let mut definitions = serde_json::Map::new();
        for number in 0..40 {
            let next = json!({ "$ref": format!("#/$defs/d{}", number + 1) });
            definitions.insert(format!("d{number}"), json!({ "allOf": [next, next] }));
        }
        assert!(Schema::read(&json!({ "$ref": "#/$defs/d0", "$defs": definitions })).is_err());
        let deep = format!("{}{}{}", r#"{"items":"#.repeat(100), r#"{"type":"number"}"#, "}".repeat(100));
        let deep: Json = serde_json::from_str(&deep).expect("JSON");
        assert!(Schema::read(&deep).is_err());
    }
}
