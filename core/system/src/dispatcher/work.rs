//! Work that every runner would refuse, and that the chain refuses at submission: an address that nobody asks (decision 736), rules for a page, or a
//! schema of a model's answer, that nobody can read (decision 601).

use super::request::Request;
use super::rules::require;
use super::verification::SCHEMA;
use crate::market::mistake::Mistake;
use crate::market::schema::Schema;
use crate::market::{address, extraction};
use cowboy_types::cbor::Value;
use cowboy_types::job::JobKind;

/// Refuses it by its field. A job with rules must have a result of JSON.
pub(super) fn check(request: &Request, data_format: &str) -> Result<(), Mistake> {
    let work = |name: &str| request.work.get(name);
    if request.kind == JobKind::Http {
        address::require(work("url").and_then(Value::as_text))?;
    }
    match (work("extract"), work("selector")) {
        (Some(rules), _) => {
            extraction::check(rules)?;
            let is_json = data_format == "json" || data_format.starts_with('{');
            require(is_json, || "extract: it has to be left out unless data_format is json or a schema.".into())?;
        }
        (None, Some(selector)) => extraction::check_selector(selector)?,
        (None, None) => {}
    }
    // Runners look at the first one that is there.
    let schema = ["response_model", "response_schema"].into_iter().find_map(|name| Some((name, work(name)?)));
    let Some((name, schema)) = schema else { return Ok(()) };
    require(Schema::of(schema).is_some(), || format!("{name}: it has to be {SCHEMA}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a job of this kind with this work is refused with; nothing where it is not.
    fn refusal(kind: &str, data_format: &str, work: &[(&str, Value)]) -> String {
        let url = (kind == "Http").then(|| ("url", Value::text("https://example.com")));
        let job = Value::map([("job_type", Value::text(kind)), ("payload", Value::dict(url.into_iter().chain(work.iter().cloned())))]);
        let request = Request::of(job).expect("a job");
        check(&request, data_format).err().map_or_else(String::new, |mistake| mistake.explanation)
    }

    #[test]
    fn work_that_nobody_can_read_is_refused_by_its_field() {
        let rule = Value::map([("name", Value::text("a")), ("type", Value::text("css")), ("rule", Value::text("b"))]);
        let rules = Value::Array(vec![rule]);
        let schema = |keyword: &str| Value::map([(keyword, Value::text("string"))]);
        let text = |text: &str| Value::text(text);
        let rows = [
            ("Http", "json", vec![("extract", rules.clone())], ""),
            ("Http", r#"{"type":"object"}"#, vec![("extract", rules.clone())], ""),
            ("Http", "text", vec![("extract", rules)], "extract: it has to be left out unless data_format"),
            ("Http", "json", vec![("extract", text("b"))], "extract: it has to be a list"),
            ("Http", "text", vec![("selector", text("li b"))], ""),
            ("Http", "text", vec![("selector", text("li ~ b"))], "selector: it has to be"),
            ("Llm", "text", vec![("response_model", schema("type"))], ""),
            ("Llm", "text", vec![("response_schema", text(r#"{"type": "string"}"#))], ""),
            ("Llm", "text", vec![("response_model", schema("type")), ("response_schema", text("?"))], ""),
            ("Llm", "text", vec![("response_model", schema("$ref"))], "response_model: it has to be a JSON schema"),
            ("Llm", "text", vec![("response_schema", text("{"))], "response_schema: it has to be a JSON schema"),
            ("Llm", "text", vec![("response_model", Value::uint(1))], "response_model: it has to be a JSON schema"),
        ];
        for (kind, format, work, expected) in rows {
            let found = refusal(kind, format, &work);
            assert!(found.starts_with(expected) && found.is_empty() == expected.is_empty(), "{work:?}: {found:?}");
        }
    }
}
