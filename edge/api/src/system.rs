//! The methods of system actors in JSON: what an argument, a result or an event is in JSON derives from the tables of `core/system`.
//!
//! Byte strings, addresses and hashes are hex with `0x`; integers of 64 bits are numbers, which may be given as decimal text; integers of 128
//! bits are decimal text, which may be given as numbers.

use crate::cbor as text_cbor;
use cowboy_system::actor::{Actor, Method};
use cowboy_system::registry::{self, ACTORS};
use cowboy_system::schema::{Field, Refused, Shape};
use cowboy_types::cbor::{self, CborError, Value};
use cowboy_types::{Address, Hash};
use serde_json::Value as Json;
use utoipa::openapi::schema::{AdditionalProperties, ArrayBuilder, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};

/// Why JSON is not the argument of a method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// A field is missing or has another form.
    #[error("{}", refused.text(fields))]
    Refused {
        /// The field.
        refused: Refused,
        /// The fields of the method.
        fields: &'static [Field],
    },
    /// The method has no such field.
    #[error("argument `{name}` is unknown; the method takes {known}")]
    Unknown {
        /// The field's path.
        name: String,
        /// The fields that it could be.
        known: String,
    },
}

/// The system actor with this address, name such as `route-registry`, or number such as `0x0e`.
pub fn actor(text: &str) -> Option<&'static Actor> {
    let by_address = || text.parse().ok().and_then(registry::at);
    ACTORS.iter().find(|actor| slug(actor) == text || format!("{:#04x}", actor.number) == text).or_else(by_address)
}

/// A system actor's name as commands have it.
pub fn slug(actor: &Actor) -> String {
    actor.name.to_ascii_lowercase().replace(' ', "-")
}

/// Whether the table has every field that a method takes. The argument of another one is any map.
pub fn is_declared(method: &Method) -> bool {
    !method.is_open && (!method.arguments.is_empty() || method.result != Shape::Any)
}

/// The argument of a method from JSON. Fields that are null count as absent, and fields that the method does not have are refused.
///
/// # Errors
///
/// The field that is missing, unknown, or not of its form.
pub fn argument(method: &Method, json: &Json) -> Result<Value, ArgumentError> {
    let refused = |refused| ArgumentError::Refused { refused, fields: method.arguments };
    if !is_declared(method) {
        return any(json).ok().filter(|value| matches!(value, Value::Map(_))).ok_or_else(|| refused(mismatch()));
    }
    if let Some((name, known)) = unknown(&Shape::Map(method.arguments), json) {
        return Err(ArgumentError::Unknown { name, known });
    }
    read(&Shape::Map(method.arguments), json).map_err(refused)
}

/// A value on the wire as JSON. What does not have the shape is shown as what it is.
pub fn json(shape: &Shape, value: &Value) -> Json {
    match (shape, value) {
        (_, Value::Null) => Json::Null,
        (Shape::Optional(inner), value) => json(inner, value),
        (Shape::Units, Value::Bytes(bytes)) if bytes.len() == 16 => {
            let number = bytes.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
            Json::String(number.to_string())
        }
        (Shape::Units, Value::Integer(number)) => Json::String(number.to_string()),
        (Shape::List(inner, _), Value::Array(items)) => Json::Array(items.iter().map(|item| json(inner, item)).collect()),
        (Shape::Map(fields), Value::Map(_)) => {
            let entry = |field: &Field| Some((field.name.to_owned(), json(&field.shape, value.get(field.name)?)));
            Json::Object(fields.iter().filter_map(entry).collect())
        }
        (_, value) => text_cbor::decode_or_hex(&value.encode()),
    }
}

/// The same for encoded bytes: nothing is null, and what is not CBOR is hex.
pub fn json_of_bytes(shape: &Shape, bytes: &[u8]) -> Json {
    match cbor::decode(bytes) {
        _ if bytes.is_empty() => Json::Null,
        Ok(value) => json(shape, &value),
        Err(_) => text_cbor::decode_or_hex(bytes),
    }
}

const fn mismatch() -> Refused {
    Refused { path: Vec::new(), is_missing: false }
}

/// The first field that a map's shape does not have, with those that it has.
fn unknown(shape: &Shape, json: &Json) -> Option<(String, String)> {
    match (shape, json) {
        (Shape::Optional(inner), json) => unknown(inner, json),
        (Shape::List(inner, _), Json::Array(items)) => items.iter().find_map(|item| unknown(inner, item)),
        (Shape::Map(fields), Json::Object(entries)) => entries.iter().find_map(|(name, item)| {
            let Some(field) = fields.iter().find(|field| field.name == name) else {
                let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
                return Some((name.clone(), if known.is_empty() { "nothing".to_owned() } else { known.join(", ") }));
            };
            unknown(&field.shape, item).map(|(inner, known)| (format!("{name}.{inner}"), known))
        }),
        _ => None,
    }
}

fn read(shape: &Shape, json: &Json) -> Result<Value, Refused> {
    let found = match shape {
        Shape::Null => json.is_null().then_some(Value::Null),
        Shape::Bool => json.as_bool().map(Value::Bool),
        Shape::Number => number::<u64>(json).map(Value::uint),
        Shape::Units => number::<u128>(json).map(units),
        Shape::Text(max) => json.as_str().filter(|text| *max == 0 || text.len() <= *max).map(Value::text),
        // In any case, as the chain reads kinds of jobs; it goes to the chain as the table has it.
        Shape::Word(words) => {
            json.as_str().and_then(|text| words.iter().find(|word| word.eq_ignore_ascii_case(text))).map(|word| Value::text(*word))
        }
        Shape::Bytes(max) => bytes(json).filter(|bytes| *max == 0 || bytes.len() <= *max).map(Value::Bytes),
        Shape::Fixed(length) => bytes(json).filter(|bytes| bytes.len() == *length).map(Value::Bytes),
        Shape::Address => json.as_str().and_then(|text| text.parse::<Address>().ok()).map(|address| Value::Bytes(address.0.to_vec())),
        Shape::Hash => json.as_str().and_then(|text| text.parse::<Hash>().ok()).map(|hash| Value::Bytes(hash.0.to_vec())),
        Shape::Any => any(json).ok(),
        Shape::Optional(_) if json.is_null() => Some(Value::Null),
        Shape::Optional(inner) => return read(inner, json),
        Shape::List(inner, max) => {
            let items = json.as_array().filter(|items| items.len() <= *max).ok_or_else(mismatch)?;
            Some(Value::Array(items.iter().map(|item| read(inner, item)).collect::<Result<_, _>>()?))
        }
        Shape::Map(fields) => return read_fields(fields, json),
    };
    found.ok_or_else(mismatch)
}

fn read_fields(fields: &'static [Field], json: &Json) -> Result<Value, Refused> {
    let entries = json.as_object().ok_or_else(mismatch)?;
    let mut read_ones = Vec::with_capacity(fields.len());
    for field in fields {
        let within = |mut refused: Refused| {
            refused.path.insert(0, field.name);
            refused
        };
        match entries.get(field.name).filter(|item| !item.is_null()) {
            Some(item) => read_ones.push((field.name, read(&field.shape, item).map_err(within)?)),
            None if field.default.is_some() || matches!(field.shape, Shape::Optional(_) | Shape::Null) => {}
            None => return Err(within(Refused { path: Vec::new(), is_missing: true })),
        }
    }
    Ok(Value::dict(read_ones))
}

/// An integer, as a number or as decimal text.
fn number<N: TryFrom<u64> + std::str::FromStr>(json: &Json) -> Option<N> {
    match json {
        Json::Number(number) => number.as_u64().and_then(|number| N::try_from(number).ok()),
        Json::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

fn units(number: u128) -> Value {
    u64::try_from(number).map_or_else(|_| Value::Bytes(number.to_be_bytes().to_vec()), Value::uint)
}

fn bytes(json: &Json) -> Option<Vec<u8>> {
    hex::decode(json.as_str()?.strip_prefix("0x")?).ok()
}

/// Any JSON as canonical CBOR has it. Texts that are hex with 0x are bytes, which is what ids, keys and addresses are.
///
/// # Errors
///
/// A number that canonical CBOR does not have, or too deep a nesting.
pub fn any(json: &Json) -> Result<Value, CborError> {
    cbor::decode(&text_cbor::encode(json)).map(bytes_of_hex)
}

fn bytes_of_hex(value: Value) -> Value {
    match value {
        Value::Text(text) => match text.strip_prefix("0x").and_then(|digits| hex::decode(digits).ok()) {
            Some(bytes) => Value::Bytes(bytes),
            None => Value::Text(text),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(bytes_of_hex).collect()),
        Value::Map(pairs) => Value::Map(pairs.into_iter().map(|(name, item)| (name, bytes_of_hex(item))).collect()),
        other => other,
    }
}

/// The JSON Schema of a shape.
pub(crate) fn schema(shape: &Shape) -> Schema {
    let object = ObjectBuilder::new();
    let text = |about: String| ObjectBuilder::new().schema_type(Type::String).description(Some(about)).build().into();
    let hex =
        |digits: usize| ObjectBuilder::new().schema_type(Type::String).pattern(Some(format!("^0x[0-9a-fA-F]{{{digits}}}$"))).build().into();
    match shape {
        Shape::Null => object.schema_type(Type::Null).build().into(),
        Shape::Bool => object.schema_type(Type::Boolean).build().into(),
        Shape::Number => object.schema_type(Type::Integer).minimum(Some(0)).build().into(),
        Shape::Units => object.schema_type(Type::String).pattern(Some("^[0-9]+$")).description(Some(shape.to_string())).build().into(),
        Shape::Text(_) => text(shape.to_string()),
        Shape::Word(words) => object.schema_type(Type::String).enum_values(Some(words.iter().copied())).build().into(),
        Shape::Bytes(_) => text(format!("{shape}, in hex with 0x")),
        Shape::Fixed(length) => hex(2 * length),
        Shape::Address => hex(40),
        Shape::Hash => hex(64),
        Shape::Any => object.schema_type(SchemaType::AnyValue).build().into(),
        Shape::Optional(inner) => nullable(schema(inner)),
        Shape::List(inner, max) => ArrayBuilder::new().items(RefOr::T(schema(inner))).max_items(Some(*max)).build().into(),
        Shape::Map(fields) => schema_of_fields(fields, ""),
    }
}

/// The JSON Schema of a map with these fields.
pub(crate) fn schema_of_fields(fields: &[Field], about: &str) -> Schema {
    let mut object = ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(AdditionalProperties::FreeForm(false)));
    if !about.is_empty() {
        object = object.description(Some(about));
    }
    for field in fields {
        let described = match schema(&field.shape) {
            Schema::Object(mut object) => {
                let form = object.description.map(|form| format!(" ({form})")).unwrap_or_default();
                object.description = Some(format!("{}{form}", field.doc.trim()));
                Schema::Object(object)
            }
            Schema::Array(mut array) => {
                array.description = Some(field.doc.trim().to_owned());
                Schema::Array(array)
            }
            other => other,
        };
        object = object.property(field.name, RefOr::T(described));
        if field.default.is_none() && !matches!(field.shape, Shape::Optional(_)) {
            object = object.required(field.name);
        }
    }
    object.build().into()
}

fn nullable(schema: Schema) -> Schema {
    let or_null = |schema_type: SchemaType| match schema_type {
        SchemaType::Type(one) => SchemaType::Array(vec![one, Type::Null]),
        other => other,
    };
    match schema {
        Schema::Object(mut object) => {
            object.schema_type = or_null(object.schema_type);
            Schema::Object(object)
        }
        Schema::Array(mut array) => {
            array.schema_type = or_null(array.schema_type);
            Schema::Array(array)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_oneof, proptest};
    use serde_json::json;

    /// What is read from JSON is the same JSON again: ids, amounts of 128 bits, defaults that are left out.
    #[test]
    fn arguments_become_json_again() {
        let method = actor("0x06").and_then(|actor| actor.method("token_create")).expect("the method exists");
        let whole = json!({
            "name": "Ada", "symbol": "ADA", "decimals": 3, "initial_supply": "7", "max_supply": u128::MAX.to_string(),
            "hook": "0x000000000000000000000000000000000000000e", "metadata_uri": "",
        });
        for (given, expected) in
            [(whole.clone(), whole), (json!({ "name": "A", "symbol": "B", "hook": null }), json!({ "name": "A", "symbol": "B" }))]
        {
            let value = argument(method, &given).expect("the argument is right");
            assert_eq!(json(&Shape::Map(method.arguments), &value), expected);
        }
    }

    #[test]
    fn actors_have_names() {
        for text in ["route-registry", "0x0e", "0x000000000000000000000000000000000000000e"] {
            assert_eq!(actor(text).map(|actor| actor.number), Some(0x0e), "{text}");
        }
        assert!(actor("registry").is_none());
    }

    fn some_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<f64>().prop_map(Json::from),
            "(0x)?[0-9a-f]{0,66}".prop_map(Json::from),
            ".{0,20}".prop_map(Json::from),
        ];
        let name = prop_oneof!["[a-z_]{1,12}", Just("name".to_owned()), Just("token_id".to_owned()), Just("amount".to_owned())];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                prop::collection::btree_map(name.clone(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        /// Whatever JSON comes, each method takes it or names what is wrong.
        #[test]
        fn any_json_is_taken_or_refused(json in some_json()) {
            for method in ACTORS.iter().flat_map(Actor::methods) {
                match argument(method, &json) {
                    Ok(value) => prop_assert!(matches!(value, Value::Map(_))),
                    Err(error) => prop_assert!(error.to_string().starts_with("argument"), "{error}"),
                }
            }
        }
    }
}
