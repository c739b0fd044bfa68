//! The methods, events and forms of the system actors for machines, from their tables.

use crate::actor::{Actor, Method};
use crate::registry::ACTORS;
use crate::schema::{EventRow, Field, Shape};
use cowboy_types::Address;
use serde_json::{Value, json};

/// Every system actor: an object with its number, address, name, methods and events.
pub fn interface() -> Value {
    ACTORS.iter().map(of_actor).collect()
}

fn of_actor(actor: &Actor) -> Value {
    json!({
        "number": actor.number,
        "address": Address::system(actor.number).to_string(),
        "name": actor.name,
        "doc": actor.doc,
        "methods": actor.methods().map(of_method).collect::<Value>(),
        "events": actor.events.iter().copied().flatten().map(of_event).collect::<Value>(),
    })
}

fn of_method(method: &Method) -> Value {
    json!({
        "name": method.name,
        "doc": method.doc.trim(),
        "arguments": of_fields(method.arguments),
        "result": of_shape(&method.result),
        "is_view": method.is_view,
        "is_payable": method.is_payable,
        "is_governed": method.is_governed,
        "is_routine": method.is_routine,
        "is_duty": method.is_duty,
        "is_open": method.is_open,
        "since": method.since,
    })
}

fn of_event(event: &EventRow) -> Value {
    json!({ "name": event.name, "doc": event.doc.trim(), "is_of_account": event.is_of_account, "data": of_fields(event.data) })
}

fn of_fields(fields: &[Field]) -> Value {
    let of_field = |field: &Field| {
        let is_required = field.default.is_none() && !matches!(field.shape, Shape::Optional(_));
        json!({
            "name": field.name,
            "doc": field.doc.trim(),
            "form": of_shape(&field.shape),
            "is_required": is_required,
            "default": field.default,
        })
    };
    fields.iter().map(of_field).collect()
}

/// A form by its name, with what bounds it. Recursive: as deep as the types of the tables are.
fn of_shape(shape: &Shape) -> Value {
    match shape {
        Shape::Null => json!({ "form": "null" }),
        Shape::Bool => json!({ "form": "bool" }),
        Shape::Number => json!({ "form": "integer", "bits": 64 }),
        Shape::Units => json!({ "form": "integer", "bits": 128 }),
        Shape::Text(0) => json!({ "form": "text" }),
        Shape::Text(max) => json!({ "form": "text", "max": max }),
        Shape::Word(words) => json!({ "form": "word", "words": words }),
        Shape::Bytes(0) => json!({ "form": "bytes" }),
        Shape::Bytes(max) => json!({ "form": "bytes", "max": max }),
        Shape::Fixed(length) => json!({ "form": "bytes", "length": length }),
        Shape::Address => json!({ "form": "address" }),
        Shape::Hash => json!({ "form": "hash" }),
        Shape::Any => json!({ "form": "any" }),
        Shape::Optional(inner) => json!({ "form": "optional", "of": of_shape(inner) }),
        Shape::List(inner, max) => json!({ "form": "list", "max": max, "of": of_shape(inner) }),
        Shape::Map(fields) => json!({ "form": "map", "fields": of_fields(fields) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the example actor declares stands in the document, with nothing left out.
    #[test]
    fn a_method_is_described() {
        let all = interface();
        let all = all.as_array().expect("a list of actors");
        assert_eq!(all.len(), ACTORS.len());
        let example = all.last().expect("the example actor is the last one");
        let sign = &example["methods"][0];
        assert_eq!((&sign["name"], &sign["is_payable"], &sign["is_view"]), (&json!("sign"), &json!(true), &json!(false)));
        let expected = json!([
            { "name": "name", "doc": "The name.", "form": { "form": "text", "max": 8 }, "is_required": true, "default": null },
            { "name": "times", "doc": "How many times.", "form": { "form": "integer", "bits": 64 }, "is_required": false, "default": "1" },
        ]);
        assert_eq!(sign["arguments"], expected);
        let signed = &example["events"][0];
        assert_eq!((&signed["data"][1]["name"], &signed["is_of_account"]), (&json!("paid"), &json!(false)));
    }
}
