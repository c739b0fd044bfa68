//! The OpenAPI document, made from the table.

use crate::{
    error::ApiError,
    table::{Answer, Body, Endpoint, Method, Rate, Shape, Verb},
};
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
    let mut operation = OperationBuilder::new().operation_id(Some(format!("{endpoint:?}"))).summary(Some(method.summary)).tag(method.group);
    for name in segments(method.path) {
        operation = operation
            .parameter(ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True).schema(Some(text())));
    }
    for parameter in method.query {
        let schema = if parameter.is_number { number() } else { text() };
        operation = operation.parameter(
            ParameterBuilder::new()
                .name(parameter.name)
                .parameter_in(ParameterIn::Query)
                .description(Some(parameter.about))
                .schema(Some(schema)),
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
    ObjectBuilder::new().schema_type(Type::Integer).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64))).build().into()
}

fn binary() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary))).build().into()
}

#[cfg(test)]
mod tests {
    use super::*;

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
