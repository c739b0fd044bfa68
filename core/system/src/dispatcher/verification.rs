//! The `verification` of a submission as the specification has it: the mode, the committee, and the checks of results (002 §8).

use crate::market::json::{UNIT, decimal};
use crate::market::mistake::Mistake;
use crate::market::schema::Schema;
use crate::reader::Reader;
use cowboy_types::cbor::Value;
use cowboy_types::job::{Check, MAX_CHECKS, Mode, Snapshot, Verification};
use cowboy_types::units::Count;
use cowboy_types::{List, Text};

/// What a mode of verification is called.
const MODES: &str = "none, economic_bond, majority_vote, structured_match, deterministic or semantic_similarity";

/// How the result of several is chosen.
const SNAPSHOTS: &str = "first_valid, median, majority or latest";

/// What a schema is.
pub(super) const SCHEMA: &str = "a JSON schema with the keywords of docs/jobs.md";

/// Reads a rule of verification.
pub(super) fn verification(reader: &Reader<'_>) -> Result<Verification, Mistake> {
    let name = reader.text_or_empty("mode")?;
    let checks = reader.items("checks")?.iter().map(check_of).collect::<Result<Vec<_>, _>>()?;
    Ok(Verification {
        mode: mode_of(reader)?,
        runners: reader.count_or("runners", 0)?,
        threshold: reader.count_or("threshold", 0)?,
        vote_field: reader.bounded_text("vote_field")?,
        checks: List::new(checks).ok_or_else(|| reader.wrong("checks", &format!("a list of at most {MAX_CHECKS} checks")))?,
        snapshot: snapshot_of(reader)?,
        snapshot_field: reader.bounded_text("snapshot_field")?,
        similarity: reader.count_or("similarity_bps", 0)?,
        // The SDK's name for a trusted environment says so by itself (decision 47).
        is_tee_required: name == "tee" || reader.flag("tee_required")?,
        tee_type: Text::default(),
        dispute_window: reader.count_or("dispute_window_blocks", 0)?,
    })
}

/// The mode that a rule names; `none` where it names no mode.
pub(super) fn mode_of(reader: &Reader<'_>) -> Result<Mode, Mistake> {
    Mode::from_name(reader.text_or_empty("mode")?).ok_or_else(|| reader.wrong("mode", MODES))
}

/// The snapshot that a rule names.
pub(super) fn snapshot_of(reader: &Reader<'_>) -> Result<Snapshot, Mistake> {
    Ok(match reader.text_or_empty("snapshot")? {
        "" => Snapshot::Elected,
        "first_valid" => Snapshot::FirstValid,
        "median" => Snapshot::Median,
        "majority" => Snapshot::Majority,
        "latest" => Snapshot::Latest,
        _ => return Err(reader.wrong("snapshot", SNAPSHOTS)),
    })
}

/// A number of a check: whole, or a decimal in a text.
fn decimal_of(reader: &Reader<'_>, name: &str) -> Result<i128, Mistake> {
    let number = match reader.get(name) {
        Some(Value::Integer(number)) => number.checked_mul(UNIT),
        Some(Value::Text(text)) => decimal(text),
        _ => None,
    };
    number.ok_or_else(|| reader.wrong(name, "a whole number, or a decimal in a string"))
}

fn check_of(item: &Value) -> Result<Check, Mistake> {
    let reader = &Reader::new(item, item.get("type").and_then(Value::as_text).unwrap_or("checks"));
    let path = || reader.bounded_text("field");
    Ok(match reader.text_or_empty("type")? {
        "json_schema" | "json_schema_valid" => {
            let schema = reader.text_or_empty("schema")?;
            let text = Schema::parse(schema).and_then(|_| Text::new(schema));
            Check::JsonSchema { schema: text.ok_or_else(|| reader.wrong("schema", SCHEMA))? }
        }
        "field" | "exact_match" => Check::Field { path: path()? },
        "field_majority" => Check::FieldMajority { path: path()? },
        "numeric_tolerance" if reader.get("relative_bps").is_some() => {
            Check::RelativeTolerance { path: path()?, share: Count(reader.number("relative_bps")?) }
        }
        "numeric_tolerance" => {
            let absolute = u128::try_from(decimal_of(reader, "tolerance")?).map_err(|_| reader.wrong("tolerance", "0 or more"))?;
            Check::Tolerance { path: path()?, absolute }
        }
        "numeric_range" => Check::Range { path: path()?, least: decimal_of(reader, "min")?, greatest: decimal_of(reader, "max")? },
        "length_bounds" => Check::Length { least: reader.count_or("min", 0)?, greatest: reader.count_or("max", u64::MAX)? },
        "entropy_check" => Check::Entropy { least: Count(reader.number("min_millibits")?) },
        "no_prompt_leak" => Check::NoLeak { markers: reader.texts("markers")? },
        "contains_all" => Check::ContainsAll { texts: reader.texts("texts")? },
        "contains_none" => Check::ContainsNone { texts: reader.texts("texts")? },
        "freshness" => Check::Freshness {
            path: path()?,
            reference: reader.count_or("reference", 0)?,
            max_age: Count(reader.number("max_age_seconds")?),
        },
        name => return Err(Mistake::invalid(format!("checks: no check of a job has the type \"{}\".", name.escape_default()))),
    })
}
