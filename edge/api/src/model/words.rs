//! The words of the job market in JSON. What a submission can name has the word of a submission.

use cowboy_types::job::{Check, JobKind, JobStatus, Snapshot, Verdict};
use utoipa::openapi::{
    ObjectBuilder,
    schema::{Object, Type},
};

/// How far a job is.
pub fn status(status: &JobStatus) -> String {
    lower_case(status.name())
}

/// What kind of work a job is.
pub fn kind(kind: &JobKind) -> String {
    lower_case(kind.name())
}

/// What the verifier thinks of a member's result.
pub fn verdict(verdict: &Verdict) -> String {
    lower_case(verdict.name())
}

/// Which good result is handed on. A submission names none for `elected`.
pub fn snapshot(snapshot: &Snapshot) -> &'static str {
    match snapshot {
        Snapshot::Elected => "elected",
        Snapshot::FirstValid => "first_valid",
        Snapshot::Median => "median",
        Snapshot::Majority => "majority",
        Snapshot::Latest => "latest",
    }
}

/// A step of the pipeline of checks.
pub fn check(check: &Check) -> &'static str {
    match check {
        Check::JsonSchema { .. } => "json_schema",
        Check::Field { .. } => "field",
        Check::Tolerance { .. } | Check::RelativeTolerance { .. } => "numeric_tolerance",
        Check::Range { .. } => "numeric_range",
        Check::FieldMajority { .. } => "field_majority",
        Check::Length { .. } => "length_bounds",
        Check::Entropy { .. } => "entropy_check",
        Check::NoLeak { .. } => "no_prompt_leak",
        Check::ContainsAll { .. } => "contains_all",
        Check::ContainsNone { .. } => "contains_none",
        Check::Freshness { .. } => "freshness",
    }
}

/// All words of [`status`].
pub(crate) fn statuses() -> Vec<String> {
    all(JobStatus::VARIANTS)
}

/// All words of [`kind`].
pub(crate) fn kinds() -> Vec<String> {
    all(JobKind::VARIANTS)
}

/// All words of [`verdict`].
pub(crate) fn verdicts() -> Vec<String> {
    all(Verdict::VARIANTS)
}

/// All snapshots. One that is added to the protocol has to be added here, or this does not compile.
const SNAPSHOTS: [Snapshot; Snapshot::VARIANTS.len()] =
    [Snapshot::Elected, Snapshot::FirstValid, Snapshot::Median, Snapshot::Majority, Snapshot::Latest];

fn all(variants: &[(u8, &str)]) -> Vec<String> {
    variants.iter().map(|(_, name)| lower_case(name)).collect()
}

fn lower_case(name: &str) -> String {
    name.to_lowercase()
}

pub(super) fn status_schema() -> Object {
    one_of("How far it is.", statuses())
}

pub(super) fn kind_schema() -> Object {
    one_of("What kind of work it is.", kinds())
}

pub(super) fn verdict_schema() -> Object {
    one_of("What the verifier thinks of its result.", verdicts())
}

pub(super) fn snapshot_schema() -> Object {
    one_of("Which good result is handed on.", SNAPSHOTS.iter().map(|one| snapshot(one).to_owned()).collect())
}

fn one_of(about: &str, words: Vec<String>) -> Object {
    ObjectBuilder::new().schema_type(Type::String).description(Some(about)).enum_values(Some(words)).build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cbor;
    use cowboy_params::Params;
    use cowboy_system::offchain::lower::{self, Offer};
    use cowboy_types::{
        Address,
        job::{JobSpec, Verification},
        units::Count,
        wire::{List, Text},
    };
    use serde_json::{Value, json};

    fn verification(rule: &Value) -> Verification {
        let submission = json!({
            "job_type": { "type": "Http", "url": "https://example.com" },
            "bounds": { "max_wall_time_ms": 1_000 },
            "result_schema": { "max_return_bytes": 1_000, "expected_execution_ms": 1_000, "data_format": "json" },
            "verification": rule,
            "max_price": 1_000_000,
            "timeout_blocks": 100,
        });
        let submission = lower::decoded(&cbor::encode(&submission)).expect("canonical CBOR");
        let spec: JobSpec = lower::lower(&Offer::reading(&Params::GENESIS, Address::ZERO), &submission).expect("a job");
        spec.verification
    }

    fn path() -> cowboy_types::job::spec::Path {
        Text::new("a").expect("a short path")
    }

    fn texts() -> List<Text<256>, 16> {
        List::new(vec![Text::new("x").expect("a short text")]).expect("one text")
    }

    /// Whoever reads a job can submit the same: each word is the one that a submission has for the same thing.
    #[test]
    fn checks_and_snapshots_have_the_words_of_submissions() {
        const UNIT: u128 = 1_000_000_000_000_000_000;
        let schema = r#"{"type":"object"}"#;
        let rows = [
            (Check::JsonSchema { schema: Text::new(schema).expect("a short schema") }, json!({ "schema": schema })),
            (Check::Field { path: path() }, json!({ "field": "a" })),
            (Check::Tolerance { path: path(), absolute: UNIT / 2 }, json!({ "field": "a", "tolerance": "0.5" })),
            (Check::RelativeTolerance { path: path(), share: Count(100) }, json!({ "field": "a", "relative_bps": 100 })),
            (Check::Range { path: path(), least: 0, greatest: UNIT as i128 }, json!({ "field": "a", "min": 0, "max": 1 })),
            (Check::FieldMajority { path: path() }, json!({ "field": "a" })),
            (Check::Length { least: Count(1), greatest: Count(10) }, json!({ "min": 1, "max": 10 })),
            (Check::Entropy { least: Count(1) }, json!({ "min_millibits": 1 })),
            (Check::NoLeak { markers: texts() }, json!({ "markers": ["x"] })),
            (Check::ContainsAll { texts: texts() }, json!({ "texts": ["x"] })),
            (Check::ContainsNone { texts: texts() }, json!({ "texts": ["x"] })),
            (Check::Freshness { path: path(), reference: Count::ZERO, max_age: Count(60) }, json!({ "field": "a", "max_age_seconds": 60 })),
        ];
        assert_eq!(rows.len(), Check::VARIANTS.len(), "every check has a row");
        for (step, mut fields) in rows {
            fields["type"] = check(&step).into();
            let read = verification(&json!({ "mode": "structured_match", "checks": [fields] }));
            assert_eq!(read.checks.to_vec(), [step]);
        }
        for one in SNAPSHOTS {
            let word = if one == Snapshot::Elected { "" } else { snapshot(&one) };
            let read = verification(&json!({ "mode": "structured_match", "snapshot": word, "snapshot_field": "a" }));
            assert_eq!(read.snapshot, one);
        }
    }

    /// A status that is added has to be added to what shows it: the explorer's table, and the commands that wait for a job's end.
    #[test]
    fn every_status_has_its_place() {
        let expected = ["drawing", "assigned", "revealing", "verified", "disputed", "settled", "failed", "waiting"];
        assert_eq!(statuses(), expected);
        let explorer = include_str!("../../../../web/explorer/site/verdicts.js");
        let table = explorer.split("export const STATUSES").nth(1).and_then(|rest| rest.split("};").next()).expect("the explorer's table");
        for word in statuses() {
            assert!(table.contains(&format!("  {word}: [")), "the explorer has no word for {word}");
        }
    }
}
