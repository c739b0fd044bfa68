//! The fields of a verification rule and of its checks, by name: one that nobody reads refuses the job, as everywhere in a submission
//! (decision 181).

use super::refusal::{Place, Refusal};
use cowboy_types::cbor::Value;

/// The fields of the published SDK's `verify`.
pub(super) const VERIFY: &[&str] = &[
    "mode",
    "runners",
    "threshold",
    "timeout_blocks",
    "vote_field",
    "checks",
    "snapshot",
    "snapshot_field",
    "tee_required",
    "dispute_window_blocks",
];

/// The fields of the checks that the published SDK writes, beside `kind`.
const PUBLISHED: &[(&str, &[&str])] = &[
    ("not_empty", &[]),
    ("exact_match", &["value"]),
    ("deterministic_output", &[]),
    ("structured_match", &["fields"]),
    ("majority_vote", &["threshold", "field"]),
    ("supermajority_vote", &["threshold", "field"]),
    ("numeric_tolerance", &["field", "tolerance"]),
    ("numeric_range", &["field", "min", "max"]),
    ("semantic_similarity", &["threshold", "reference"]),
    ("json_schema_valid", &["schema"]),
    ("field_exists", &["fields"]),
    ("format_check", &["format"]),
    ("contains_all", &["substrings"]),
    ("contains_none", &["substrings"]),
    ("contains", &["substring"]),
    ("length_bounds", &["min", "max"]),
    ("length_limit", &["max_bytes", "min_bytes"]),
    ("entropy_check", &["min_entropy"]),
    ("no_prompt_leak", &[]),
    ("tee_attestation", &["expected_measurement"]),
];

/// The fields of the checks of a job as the specification has it, beside `type`.
const SPECIFIED: &[(&str, &[&str])] = &[
    ("json_schema", &["schema"]),
    ("json_schema_valid", &["schema"]),
    ("field", &["field"]),
    ("exact_match", &["field"]),
    ("field_majority", &["field"]),
    ("numeric_tolerance", &["field", "tolerance", "relative_bps"]),
    ("numeric_range", &["field", "min", "max"]),
    ("length_bounds", &["min", "max"]),
    ("entropy_check", &["min_millibits"]),
    ("no_prompt_leak", &["markers"]),
    ("contains_all", &["texts"]),
    ("contains_none", &["texts"]),
    ("freshness", &["field", "reference", "max_age_seconds"]),
];

/// Where checks stand.
const CHECKS: Place = Place::closed("checks");

/// Refuses checks with a field that nobody reads. Checks of another name are refused by whoever reads them.
pub(super) fn require_known(rule: &Value, is_published: bool) -> Result<(), Refusal> {
    let (name_field, table) = if is_published { ("kind", PUBLISHED) } else { ("type", SPECIFIED) };
    let Some(Value::Array(checks)) = rule.get("checks") else { return Ok(()) };
    for check in checks {
        let name = check.get(name_field).and_then(Value::as_text);
        let Some((_, known)) = table.iter().find(|(of, _)| Some(*of) == name) else { continue };
        let Value::Map(pairs) = check else { continue };
        let is_read = |field: &str| field == name_field || known.contains(&field);
        let unread = pairs.iter().find(|(field, _)| !field.as_text().is_some_and(is_read));
        if let Some((field, _)) = unread {
            return Err(Refusal::Unknown(field.as_text().unwrap_or("?").to_string(), CHECKS));
        }
        if check.get("tolerance").is_some() && check.get("relative_bps").is_some() {
            return Err(Refusal::Twice("tolerance".to_string()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::PUBLISHED;

    /// The SDK has a method for every check that is read here, and writes all its fields.
    #[test]
    fn the_sdk_writes_what_is_read() {
        let methods: Vec<&str> = include_str!("../../../sdk/cowboy_sdk/verify.py").split("\n    def ").collect();
        for (kind, fields) in PUBLISHED {
            let method = methods.iter().find(|method| method.starts_with(&format!("{kind}(")));
            let body = method.unwrap_or_else(|| panic!("Verify has no {kind}"));
            assert!(body.contains(&format!("\"{kind}\"")), "{kind}");
            for field in *fields {
                assert!(body.contains(&format!("{field}=")) || body.contains(&format!("\"{field}\":")), "{kind} writes no {field}");
            }
        }
    }
}
