//! JSON schemas: a subset that is decided in one walk, without patterns and without references.
//!
//! `type`, `enum`, `const`, `properties`, `required`, `additionalProperties` (a truth value), `items`, `minItems`,
//! `maxItems`, `minLength`, `maxLength`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`. What only
//! describes (`title`, `description`, `default`, `examples`, `$schema`, `$id`, `$comment`, `format`) is skipped. A schema with any other
//! word is refused at submission: a rule that nobody checks would be worse than none.

use super::json::{Json, UNIT};

/// Words that describe and do not decide.
const DESCRIPTIONS: [&str; 8] = ["$comment", "$id", "$schema", "default", "description", "examples", "format", "title"];

/// Names of types.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// A schema that can be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema(Json);

impl Schema {
    /// Reads a schema. Nothing where it is no JSON object, or holds a rule that cannot be decided.
    pub fn parse(text: &str) -> Option<Self> {
        let schema = Json::parse(text.as_bytes()).ok()?;
        is_decidable(&schema).then_some(Self(schema))
    }

    /// Whether the schema's own words show that no value is as it says: bounds that exclude each other, an empty list of
    /// values, `false`, or a member that must be there and cannot be anything.
    pub fn admits_nothing(&self) -> bool {
        is_impossible(&self.0)
    }

    /// Whether a value is as the schema says.
    pub fn admits(&self, value: &Json) -> bool {
        admits(&self.0, value)
    }
}

fn is_decidable(schema: &Json) -> bool {
    let Json::Object(rules) = schema else { return matches!(schema, Json::Bool(_)) };
    rules.iter().all(|(word, rule)| match (word.as_str(), rule) {
        ("type", Json::Text(name)) => TYPES.contains(&name.as_str()),
        ("type", Json::Array(names)) => names.iter().all(|name| matches!(name, Json::Text(name) if TYPES.contains(&name.as_str()))),
        ("enum", Json::Array(_)) | ("const", _) | ("additionalProperties", Json::Bool(_)) => true,
        ("properties", Json::Object(properties)) => properties.iter().all(|(_, property)| is_decidable(property)),
        ("required", Json::Array(names)) => names.iter().all(|name| matches!(name, Json::Text(_))),
        ("items", items) => is_decidable(items),
        ("minItems" | "maxItems" | "minLength" | "maxLength", Json::Number(number)) => *number >= 0 && number % UNIT == 0,
        ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", Json::Number(_)) => true,
        (word, _) => DESCRIPTIONS.contains(&word),
    })
}

fn is_impossible(schema: &Json) -> bool {
    let Json::Object(rules) = schema else { return *schema == Json::Bool(false) };
    let rule = |word: &str| rules.iter().find(|(name, _)| name == word).map(|(_, rule)| rule);
    let number = |word: &str| rule(word).and_then(Json::number);
    // Each of these excludes a value only of the type that it is about.
    let is_of = |name: &str| matches!(rule("type"), Some(Json::Text(named)) if named == name || name == "number" && named == "integer");
    let exceeds = |least: &str, most: &str| matches!((number(least), number(most)), (Some(least), Some(most)) if least > most);
    let meets = |least: &str, most: &str| matches!((number(least), number(most)), (Some(least), Some(most)) if least >= most);
    let has_no_number = exceeds("minimum", "maximum")
        || meets("exclusiveMinimum", "maximum")
        || meets("minimum", "exclusiveMaximum")
        || meets("exclusiveMinimum", "exclusiveMaximum");
    let has_no_member = || match (rule("required"), rule("properties")) {
        (Some(Json::Array(names)), Some(Json::Object(properties))) => {
            properties.iter().any(|(name, property)| names.contains(&Json::Text(name.clone())) && is_impossible(property))
        }
        _ => false,
    };
    matches!(rule("enum"), Some(Json::Array(values)) if values.is_empty())
        || is_of("number") && has_no_number
        || is_of("string") && exceeds("minLength", "maxLength")
        || is_of("array") && exceeds("minItems", "maxItems")
        || is_of("object") && has_no_member()
}

fn admits(schema: &Json, value: &Json) -> bool {
    let Json::Object(rules) = schema else { return *schema == Json::Bool(true) };
    rules.iter().all(|(word, rule)| obeys(rules, word, rule, value))
}

fn obeys(rules: &[(String, Json)], word: &str, rule: &Json, value: &Json) -> bool {
    match (word, rule, value) {
        ("type", Json::Text(name), _) => is_of_type(name, value),
        ("type", Json::Array(names), _) => names.iter().any(|name| matches!(name, Json::Text(name) if is_of_type(name, value))),
        ("enum", Json::Array(values), _) => values.contains(value),
        ("const", rule, _) => rule == value,
        ("properties", Json::Object(properties), Json::Object(pairs)) => {
            let schema_of = |name: &String| properties.iter().find(|(property, _)| property == name);
            pairs.iter().all(|(name, value)| schema_of(name).is_none_or(|(_, schema)| admits(schema, value)))
        }
        ("required", Json::Array(names), Json::Object(pairs)) => {
            let has = |name: &Json| matches!(name, Json::Text(name) if pairs.iter().any(|(key, _)| key == name));
            names.iter().all(has)
        }
        ("additionalProperties", Json::Bool(false), Json::Object(pairs)) => {
            let known = rules.iter().find(|(word, _)| word == "properties").map(|(_, rule)| rule);
            let is_known =
                |name: &String| matches!(known, Some(Json::Object(properties)) if properties.iter().any(|(property, _)| property == name));
            pairs.iter().all(|(name, _)| is_known(name))
        }
        ("items", schema, Json::Array(items)) => items.iter().all(|item| admits(schema, item)),
        ("minItems", Json::Number(least), Json::Array(items)) => whole(items.len()) >= *least,
        ("maxItems", Json::Number(most), Json::Array(items)) => whole(items.len()) <= *most,
        ("minLength", Json::Number(least), Json::Text(text)) => whole(text.chars().count()) >= *least,
        ("maxLength", Json::Number(most), Json::Text(text)) => whole(text.chars().count()) <= *most,
        ("minimum", Json::Number(least), Json::Number(number)) => number >= least,
        ("maximum", Json::Number(most), Json::Number(number)) => number <= most,
        ("exclusiveMinimum", Json::Number(least), Json::Number(number)) => number > least,
        ("exclusiveMaximum", Json::Number(most), Json::Number(number)) => number < most,
        // A rule for another type, or a description.
        _ => true,
    }
}

fn whole(length: usize) -> i128 {
    i128::try_from(length).expect("a length fits").saturating_mul(UNIT)
}

fn is_of_type(name: &str, value: &Json) -> bool {
    match (name, value) {
        ("integer", Json::Number(number)) => number % UNIT == 0,
        ("null", Json::Null) | ("boolean", Json::Bool(_)) | ("number", Json::Number(_)) => true,
        ("string", Json::Text(_)) | ("array", Json::Array(_)) | ("object", Json::Object(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A-215: one row a rule, admitted and not.
    #[test]
    fn rules() {
        let rows = [
            (r#"{"type":"integer"}"#, "3", true),
            (r#"{"type":"integer"}"#, "3.5", false),
            (r#"{"type":["string","null"]}"#, "null", true),
            (r#"{"type":["string","null"]}"#, "1", false),
            (r#"{"enum":["buy","sell"]}"#, r#""sell""#, true),
            (r#"{"enum":["buy","sell"]}"#, r#""hold""#, false),
            (r#"{"const":1}"#, "1.0", true),
            (r#"{"properties":{"a":{"type":"number"}}}"#, r#"{"a":"x"}"#, false),
            (r#"{"properties":{"a":{"type":"number"}}}"#, r#"{"b":"x"}"#, true),
            (r#"{"required":["a"]}"#, r#"{"a":null}"#, true),
            (r#"{"required":["a"]}"#, r#"{"b":1}"#, false),
            (r#"{"properties":{"a":true},"additionalProperties":false}"#, r#"{"a":1}"#, true),
            (r#"{"properties":{"a":true},"additionalProperties":false}"#, r#"{"b":1}"#, false),
            (r#"{"items":{"minimum":0}}"#, "[0,1]", true),
            (r#"{"items":{"minimum":0}}"#, "[0,-1]", false),
            (r#"{"minItems":1,"maxItems":2}"#, "[]", false),
            (r#"{"minItems":1,"maxItems":2}"#, "[1,2]", true),
            (r#"{"minLength":2,"maxLength":3}"#, r#""éé""#, true),
            (r#"{"minLength":2,"maxLength":3}"#, r#""é""#, false),
            (r#"{"exclusiveMinimum":0,"exclusiveMaximum":1}"#, "0.5", true),
            (r#"{"exclusiveMinimum":0,"exclusiveMaximum":1}"#, "1", false),
            ("false", "1", false),
        ];
        for (schema, value, expected) in rows {
            let parsed = Schema::parse(schema).expect(schema);
            assert_eq!(parsed.admits(&Json::parse(value.as_bytes()).expect(value)), expected, "{schema} on {value}");
        }
    }

    #[test]
    fn rules_that_cannot_be_decided_are_refused() {
        let bomb = format!("{}1{}", r#"{"items":"#.repeat(5_000), "}".repeat(5_000));
        let rows = [
            r#"{"pattern":"a+"}"#,
            r##"{"$ref":"#/x"}"##,
            r#"{"allOf":[{}]}"#,
            r#"{"type":"date"}"#,
            r#"{"minItems":-1}"#,
            r#"{"minItems":0.5}"#,
            r#"{"items":1}"#,
            "[]",
            "{",
            &bomb,
        ];
        for schema in rows {
            assert_eq!(Schema::parse(schema), None, "{}", &schema[..schema.len().min(40)]);
        }
    }
}
