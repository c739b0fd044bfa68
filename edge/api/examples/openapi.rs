//! Prints the OpenAPI document with a line for each method and each schema: `web/explorer/tests/fixture/openapi.json`.

use serde_json::Value;
use std::io::Write as _;

/// Levels of objects whose fields have a line each: the document, its parts, and the paths and schemas in them.
const LEVELS: usize = 3;

fn main() -> std::io::Result<()> {
    let document = serde_json::to_value(cowboy_api::openapi::document())?;
    writeln!(std::io::stdout().lock(), "{}", laid_out(&document, 0))
}

/// A value as JSON text, at a level of the document.
fn laid_out(value: &Value, level: usize) -> String {
    let Value::Object(fields) = value else { return value.to_string() };
    if level == LEVELS || fields.is_empty() {
        return value.to_string();
    }
    let indent = "  ".repeat(level);
    let line = |(name, field): (&String, &Value)| format!("{indent}  {}: {}", Value::from(name.as_str()), laid_out(field, level + 1));
    let lines: Vec<String> = fields.iter().map(line).collect();
    format!("{{\n{}\n{indent}}}", lines.join(",\n"))
}
