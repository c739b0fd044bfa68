//! The OpenAPI document, made from the table.

use crate::{
    error::ApiError,
    system::{self, schema, schema_of_fields},
    table::{Answer, Body, Endpoint, Form, Method, Rate, Shape, Verb},
};
use cowboy_system::{ACTORS, actor};
use cowboy_types::Address;
use std::collections::BTreeMap;
use utoipa::openapi::{
    ContentBuilder, HttpMethod, InfoBuilder, KnownFormat, ObjectBuilder, OpenApi, OpenApiBuilder, PathItem, PathsBuilder, Ref, RefOr,
    Required, ResponseBuilder, ResponsesBuilder, Schema, SchemaFormat,
    content::Content,
    path::{OperationBuilder, ParameterBuilder, ParameterIn},
    request_body::RequestBodyBuilder,
    schema::{ComponentsBuilder, Type},
};

/// The document that `/api-docs/openapi.json` answers.
pub fn document() -> OpenApi {
    let mut schemas = BTreeMap::new();
    let mut paths = PathsBuilder::new();
    for endpoint in Endpoint::ALL {
        let method = endpoint.method();
        let verb = match method.verb {
            Verb::Get => HttpMethod::Get,
            Verb::Post => HttpMethod::Post,
        };
        paths = paths.path(method.path, PathItem::new(verb, operation(*endpoint, &method, &mut schemas)));
    }
    for actor in ACTORS {
        for method in actor.methods().filter(|method| method.is_view) {
            let path = format!("/actors/{}/views/{}", Address::system(actor.number), method.name);
            paths = paths.path(path, PathItem::new(HttpMethod::Post, view(actor, method, &mut schemas)));
        }
        for event in actor.events.iter().copied().flatten() {
            let on_behalf = if event.is_of_account { ", in the name of the account or actor" } else { "" };
            let about = format!("{} Emitted by {}{on_behalf}.", event.doc.trim(), actor.name);
            schemas.insert(format!("Event.{}", event.name), schema_of_fields(event.data, &about).into());
        }
    }
    let info = InfoBuilder::new()
        .title("Cowboy node")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some("Amounts are integers in base units: 1 CBY is 10^9 of them. Bytes, addresses and hashes are hex with 0x."));
    OpenApiBuilder::new()
        .info(info.build())
        .paths(paths.build())
        .components(Some(ComponentsBuilder::new().schemas_from_iter(schemas).build()))
        .build()
}

type Schemas = BTreeMap<String, RefOr<Schema>>;

fn operation(endpoint: Endpoint, method: &Method, schemas: &mut Schemas) -> OperationBuilder {
    let mut operation = OperationBuilder::new()
        .operation_id(Some(format!("{endpoint:?}")))
        .summary(Some(method.summary))
        .description(method.bound.map(|bound| bound.to_string()))
        .tag(method.group);
    for name in segments(method.path) {
        operation = operation
            .parameter(ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True).schema(Some(text())));
    }
    for parameter in method.query {
        operation = operation.parameter(
            ParameterBuilder::new()
                .name(parameter.name)
                .parameter_in(ParameterIn::Query)
                .description(Some(parameter.description()))
                .schema(Some(form(parameter.form))),
        );
    }
    match method.body {
        Body::None => {}
        Body::Json(shape) => {
            operation = operation.request_body(Some(
                RequestBodyBuilder::new().required(Some(Required::True)).content("application/json", json(shape, schemas)).build(),
            ))
        }
        Body::JsonOrBytes(shape) => {
            let body = RequestBodyBuilder::new()
                .required(Some(Required::True))
                .content("application/json", json(shape, schemas))
                .content("application/octet-stream", ContentBuilder::new().schema(Some(binary())).build());
            operation = operation.request_body(Some(body.build()));
        }
    }
    let success = match method.answer {
        Answer::Json(shape) => {
            ("200", ResponseBuilder::new().description(method.summary).content("application/json", json(shape, schemas)).build())
        }
        Answer::Frames => (
            "200",
            ResponseBuilder::new()
                .description("Frames: a length as 4 bytes big-endian, then that many bytes.")
                .content("application/octet-stream", ContentBuilder::new().schema(Some(binary())).build())
                .build(),
        ),
        Answer::Socket(shape) => (
            "101",
            ResponseBuilder::new()
                .description("A WebSocket whose messages are JSON.")
                .content("application/json", json(shape, schemas))
                .build(),
        ),
    };
    let mut responses =
        ResponsesBuilder::new().response(success.0, success.1).response("4XX", failure("Refused: what, why and how to fix it.", schemas));
    if method.dev_only {
        responses = responses.response("403", failure("The chain is not a dev chain.", schemas));
    }
    if method.rate != Rate::Free {
        responses = responses.response("429", failure("Too many requests.", schemas));
    }
    operation.responses(responses.build())
}

/// A view of a system actor, with the forms of its arguments and of what it returns.
fn view(actor: &actor::Actor, method: &actor::Method, schemas: &mut Schemas) -> OperationBuilder {
    let answer = ObjectBuilder::new()
        .property("block_height", number())
        .required("block_height")
        .property("result", schema(&method.result))
        .required("result")
        .property("cycles_used", number())
        .required("cycles_used");
    let body = ContentBuilder::new().schema(Some(schema_of_fields(method.arguments, ""))).build();
    let answer = ContentBuilder::new().schema(Some(Schema::from(answer.build()))).build();
    let responses = ResponsesBuilder::new()
        .response("200", ResponseBuilder::new().description(method.doc.trim()).content("application/json", answer).build())
        .response("4XX", failure("Refused: what, why and how to fix it.", schemas))
        .response("429", failure("Too many requests.", schemas));
    OperationBuilder::new()
        .operation_id(Some(format!("{}.{}", system::slug(actor), method.name)))
        .summary(Some(method.doc.trim()))
        .tag(actor.name)
        .request_body(Some(RequestBodyBuilder::new().required(Some(Required::True)).content("application/json", body).build()))
        .responses(responses.build())
}

fn failure(about: &str, schemas: &mut Schemas) -> utoipa::openapi::Response {
    ResponseBuilder::new().description(about).content("application/json", json(Shape::of::<ApiError>(), schemas)).build()
}

/// A reference to the shape's schema, which joins the components.
fn json(shape: Shape, schemas: &mut Schemas) -> Content {
    let name = (shape.name)().into_owned();
    if !schemas.contains_key(&name) {
        schemas.insert(name.clone(), (shape.schema)());
        let mut others = Vec::new();
        (shape.others)(&mut others);
        for (other, schema) in others {
            schemas.entry(other).or_insert(schema);
        }
    }
    ContentBuilder::new().schema(Some(Ref::from_schema_name(name))).build()
}

/// The names between braces of a path.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn text() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).build().into()
}

fn number() -> Schema {
    form(Form::Number { default: None, max: None })
}

/// The schema of a query parameter.
fn form(form: Form) -> Schema {
    let object = ObjectBuilder::new();
    let object = match form {
        Form::Text => return text(),
        Form::Characters { min, max } => object.schema_type(Type::String).min_length(Some(min)).max_length(Some(max)),
        Form::Number { default, max } => object
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .default(default.map(Into::into))
            .maximum(max),
    };
    object.build().into()
}

fn binary() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary))).build().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{self, words};

    /// Every row stands in the document, and every reference in it leads somewhere.
    #[test]
    fn the_document_has_every_row_and_no_dangling_reference() {
        let document = serde_json::to_value(document()).expect("the document is JSON");
        for endpoint in Endpoint::ALL {
            let method = endpoint.method();
            let verb = if method.verb == Verb::Get { "get" } else { "post" };
            assert!(document["paths"][method.path][verb].is_object(), "{}", method.path);
        }
        let mut references = Vec::new();
        collect(&document, &mut references);
        assert!(references.len() > 100, "schemas refer to each other: {}", references.len());
        for reference in references {
            let name = reference.strip_prefix("#/components/schemas/").expect("references are to components");
            assert!(document["components"]["schemas"][name].is_object(), "{name}");
        }
    }

    /// What the server takes by default, and at most, stands in the document, in its sentences as well.
    #[test]
    fn the_document_has_the_bounds_of_the_server() {
        let document = serde_json::to_value(document()).expect("the document is JSON");
        let parameter = |path: &str, verb: &str, name: &str| {
            let parameters = document["paths"][path][verb]["parameters"].as_array().expect("parameters");
            let found = parameters.iter().find(|parameter| parameter["name"] == name).expect("the parameter");
            (found["schema"].clone(), found["description"].as_str().expect("a sentence").to_owned())
        };
        let bounds = |(schema, about): (serde_json::Value, String)| (schema["default"].as_u64(), schema["maximum"].as_u64(), about);
        let (default, max) = (model::DEFAULT_LIMIT as u64, model::MAX_LIMIT as u64);
        let about = format!("Maximum number of rows. {default} by default, at most {max}.");
        assert_eq!(bounds(parameter("/blocks", "get", "limit")), (Some(default), Some(max), about));
        let (default, max) = (model::DEFAULT_TIMEOUT_MS, model::MAX_TIMEOUT_MS);
        let about = format!("How long to wait, in milliseconds. {default} by default, at most {max}.");
        assert_eq!(bounds(parameter("/submit_wait", "post", "timeout_ms")), (Some(default), Some(max), about));
        let (default, max, about) = bounds(parameter("/operations", "get", "count"));
        assert_eq!((default, max), (None, Some(model::MAX_OPERATIONS)));
        assert!(about.ends_with(&format!("At most {}.", model::MAX_OPERATIONS)), "{about}");
        let (schema, _) = parameter("/search", "get", "text");
        let lengths = (schema["minLength"].as_u64(), schema["maxLength"].as_u64());
        assert_eq!(lengths, (Some(*model::SEARCH_CHARACTERS.start() as u64), Some(*model::SEARCH_CHARACTERS.end() as u64)));
        let bound = &document["paths"]["/proof/multi"]["post"]["description"];
        assert_eq!(bound.as_str(), Some(format!("At most {} records.", model::MAX_PROOF_KEYS).as_str()));
    }

    /// The words of statuses are those of the protocol's types.
    #[test]
    fn the_document_has_the_words_of_the_market() {
        let document = serde_json::to_value(document()).expect("the document is JSON");
        let words = |schema: &str, field: &str| {
            let words = document["components"]["schemas"][schema]["properties"][field]["enum"].as_array().expect("words");
            words.iter().map(|word| word.as_str().expect("text").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words("JobSummary", "status"), words::statuses());
        assert_eq!(words("JobSummary", "kind"), words::kinds());
        assert_eq!(words("JobMember", "verdict"), words::verdicts());
        let job = &document["components"]["schemas"]["Job"]["allOf"];
        assert!(job.to_string().contains(r#""enum":["elected","first_valid","median","majority","latest"]"#), "{job}");
    }

    /// The forms of views and events stand in the document as the tables have them.
    #[test]
    fn the_document_has_every_view_and_event() {
        let document = serde_json::to_value(document()).expect("the document is JSON");
        let view = &document["paths"]["/actors/0x0000000000000000000000000000000000000006/views/token_get"]["post"];
        let argument = &view["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(argument["required"], serde_json::json!(["token_id"]));
        let result = &view["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["result"];
        assert_eq!(result["properties"]["supply"]["type"], "string", "an integer of 128 bits is text");
        assert_eq!(result["properties"]["hook"]["type"], serde_json::json!(["string", "null"]));
        for actor in ACTORS {
            for event in actor.events.iter().copied().flatten() {
                let schema = &document["components"]["schemas"][format!("Event.{}", event.name)];
                let properties = schema["properties"].as_object().map_or(0, serde_json::Map::len);
                assert_eq!(properties, event.data.len(), "{}", event.name);
            }
        }
    }

    /// The explorer's tests hold their scripted node to the document that a node serves.
    #[test]
    fn the_explorers_document_is_up_to_date() {
        const RUN: &str = "run: cargo run -p cowboy-api --example openapi > web/explorer/tests/fixture/openapi.json";
        let kept = include_str!("../../../web/explorer/tests/fixture/openapi.json");
        let kept: serde_json::Value = serde_json::from_str(kept).expect("the file is JSON");
        let served = serde_json::to_value(document()).expect("the document is JSON");
        for place in ["/paths", "/components/schemas"] {
            let entries = served.pointer(place).and_then(serde_json::Value::as_object).expect("an object");
            for (name, entry) in entries {
                assert_eq!(kept.pointer(place).and_then(|kept| kept.get(name)), Some(entry), "{name} differs; {RUN}");
            }
        }
        assert!(kept == served, "{RUN}");
    }

    fn collect(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    match value.as_str() {
                        Some(reference) if name == "$ref" => found.push(reference.to_owned()),
                        _ => collect(value, found),
                    }
                }
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            _ => {}
        }
    }
}
