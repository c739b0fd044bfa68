//! The published SDK's `verify`: its modes and checks in the chain's words.
//!
//! A check that nobody here can decide refuses the job: a rule that is not enforced would be worse than none.

use super::verification::{SCHEMA, mode_of, snapshot_of};
use crate::market::json::{UNIT, decimal};
use crate::market::mistake::Mistake;
use crate::market::schema::Schema;
use crate::reader::Reader;
use cowboy_types::cbor::Value;
use cowboy_types::job::{Check, MAX_CHECKS, Mode, Verification};
use cowboy_types::units::Count;
use cowboy_types::{List, Text};

/// Numbers of checks are read to fifteen decimals: that many a binary fraction holds.
const ROUND: i128 = 1_000;

/// The shortest line of a system prompt that marks it.
const SHORTEST_MARKER: usize = 12;

/// The longest marker, in bytes.
const LONGEST_MARKER: usize = 256;

/// The most markers.
const MOST_MARKERS: usize = 16;

/// What a number of a check is.
const NUMBER: &str = "a number";

/// What a share is.
const SHARE: &str = "a number from 0 to 1";

/// What a message's `verify` asks for. `system_prompt` is what a model's answer must not repeat.
pub(super) fn verification(reader: &Reader<'_>, system_prompt: &str) -> Result<Verification, Mistake> {
    let name = reader.text_or_empty("mode")?;
    let mode = mode_of(reader)?;
    // One runner is what the builder writes where the author says nothing; a committee's mode then has the epoch's number.
    let chosen = |count: u64| if mode.is_single() || count > 1 { count } else { 0 };
    let runners = chosen(reader.number_or("runners", 1)?);
    let mut rule = Verification {
        threshold: Count(chosen(reader.number_or("threshold", 1)?)),
        runners: Count(runners),
        vote_field: reader.bounded_text("vote_field")?,
        checks: List::default(),
        snapshot: snapshot_of(reader)?,
        snapshot_field: reader.bounded_text("snapshot_field")?,
        similarity: Count(0),
        is_tee_required: name == "tee" || reader.flag("tee_required")?,
        tee_type: Text::default(),
        dispute_window: reader.count_or("dispute_window_blocks", 0)?,
        mode,
    };
    let mut checks = Vec::new();
    for item in reader.items("checks")? {
        let name = item.get("kind").and_then(Value::as_text).unwrap_or("checks");
        check(&Reader::new(item, name), system_prompt, &mut rule, &mut checks)?;
    }
    rule.checks = List::new(checks).ok_or_else(|| reader.wrong("checks", &format!("a list of at most {MAX_CHECKS} checks")))?;
    Ok(rule)
}

/// Adds what one check asks for, to the list or to the rule itself.
fn check(reader: &Reader<'_>, system_prompt: &str, rule: &mut Verification, checks: &mut Vec<Check>) -> Result<(), Mistake> {
    let path = || reader.bounded_text("field");
    match reader.text_or_empty("kind")? {
        // Always so.
        "not_empty" => {}
        "exact_match" if reader.get("value").is_some() => {
            checks.push(schema_of(reader, "value", &map([("const", value(reader, "value")?)]))?);
        }
        "exact_match" | "deterministic_output" => match rule.mode {
            // They compare whole results already: all must be the same.
            Mode::MajorityVote | Mode::Deterministic => rule.threshold = rule.runners,
            Mode::StructuredMatch => checks.push(Check::Field { path: Text::default() }),
            Mode::None | Mode::EconomicBond => {}
            Mode::SemanticSimilarity => return Err(undecided(reader)),
        },
        "structured_match" => {
            for field in reader.items("fields")? {
                let path = field.as_text().and_then(Text::new).ok_or_else(|| reader.wrong("fields", "a list of names"))?;
                checks.push(Check::Field { path });
            }
        }
        kind @ ("majority_vote" | "supermajority_vote") => {
            if rule.runners > Count::ZERO {
                let part = number(reader, "threshold")?.saturating_mul(i128::from(rule.runners.0));
                // "More than" for the one, "at least" for the other.
                let agreeing = if kind == "majority_vote" { part / UNIT + 1 } else { (part + UNIT - 1) / UNIT };
                rule.threshold = Count(u64::try_from(agreeing).map_err(|_| reader.wrong("threshold", SHARE))?);
            }
            if rule.mode == Mode::MajorityVote {
                rule.vote_field = path()?;
            } else {
                checks.push(Check::FieldMajority { path: path()? });
            }
        }
        "numeric_tolerance" => {
            let absolute = u128::try_from(number(reader, "tolerance")?).map_err(|_| reader.wrong("tolerance", "0 or more"))?;
            checks.push(Check::Tolerance { path: path()?, absolute });
        }
        "numeric_range" => {
            let bound = |name: &str, open: i128| if reader.get(name).is_some() { number(reader, name) } else { Ok(open) };
            checks.push(Check::Range { path: path()?, least: bound("min", i128::MIN)?, greatest: bound("max", i128::MAX)? });
        }
        "semantic_similarity" if reader.get("reference").is_none() => {
            let share = number(reader, "threshold")?.saturating_mul(10_000) / UNIT;
            rule.similarity = Count(u64::try_from(share).map_err(|_| reader.wrong("threshold", SHARE))?);
        }
        "json_schema_valid" => checks.push(schema_of(reader, "schema", &value(reader, "schema")?)?),
        "field_exists" => {
            let fields = Value::Array(reader.items("fields")?.to_vec());
            checks.push(schema_of(reader, "fields", &map([("type", Value::text("object")), ("required", fields)]))?);
        }
        "format_check" => checks.push(format_of(reader)?),
        "contains_all" => checks.push(Check::ContainsAll { texts: reader.texts("substrings")? }),
        "contains_none" => checks.push(Check::ContainsNone { texts: reader.texts("substrings")? }),
        "contains" => {
            let text = reader.bounded_text("substring")?;
            checks.push(Check::ContainsAll { texts: List::new(vec![text]).expect("one fits") });
        }
        "length_bounds" => {
            checks.push(Check::Length { least: reader.count_or("min", 0)?, greatest: reader.count_or("max", u64::MAX)? });
        }
        "length_limit" => {
            checks.push(Check::Length { least: reader.count_or("min_bytes", 0)?, greatest: Count(reader.number("max_bytes")?) });
        }
        "entropy_check" => {
            let millibits = number(reader, "min_entropy")?.saturating_mul(1_000) / UNIT;
            let least = u64::try_from(millibits).map_err(|_| reader.wrong("min_entropy", "0 or more"))?;
            checks.push(Check::Entropy { least: Count(least) });
        }
        "no_prompt_leak" => checks.push(Check::NoLeak { markers: List::new(markers(system_prompt)).ok_or_else(|| undecided(reader))? }),
        "tee_attestation" if reader.get("expected_measurement").is_none() => rule.is_tee_required = true,
        _ => return Err(undecided(reader)),
    }
    Ok(())
}

/// The check of a format.
fn format_of(reader: &Reader<'_>) -> Result<Check, Mistake> {
    let schema = match reader.text_or_empty("format")? {
        "json" => map([]),
        name @ ("integer" | "boolean") => map([("type", Value::text(name))]),
        "float" => map([("type", Value::text("number"))]),
        _ => return Err(reader.wrong("format", "json, integer, boolean or float")),
    };
    schema_of(reader, "format", &schema)
}

/// The mistake of a check that nobody can decide.
fn undecided(reader: &Reader<'_>) -> Mistake {
    reader.wrong("kind", "a check that the chain can decide as it stands: docs/trust.md has them")
}

/// The lines of a system prompt that are long enough to mark it.
fn markers(prompt: &str) -> Vec<Text<LONGEST_MARKER>> {
    let cut = |line: &str| {
        let end = (0..=line.len().min(LONGEST_MARKER)).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
        Text::new(&line[..end])
    };
    let lines = prompt.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_MARKER);
    lines.filter_map(cut).take(MOST_MARKERS).collect()
}

fn value(reader: &Reader<'_>, name: &str) -> Result<Value, Mistake> {
    reader.get(name).cloned().ok_or_else(|| reader.wrong(name, "there"))
}

fn map<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Value::Map(pairs.into_iter().map(|(name, value)| (Value::text(name), value)).collect())
}

/// The check of a schema, which a field asks for.
fn schema_of(reader: &Reader<'_>, name: &str, value: &Value) -> Result<Check, Mistake> {
    let mut text = String::new();
    let is_schema = write_json(value, &mut text).is_some() && Schema::parse(&text).is_some();
    let schema = if is_schema { Text::new(text) } else { None };
    Ok(Check::JsonSchema { schema: schema.ok_or_else(|| reader.wrong(name, SCHEMA))? })
}

/// A number of a check, in 10⁻¹⁸: whole, a finite fraction, or a decimal in a text.
fn number(reader: &Reader<'_>, name: &str) -> Result<i128, Mistake> {
    reader.get(name).and_then(fixed).ok_or_else(|| reader.wrong(name, NUMBER))
}

fn fixed(value: &Value) -> Option<i128> {
    match value {
        Value::Integer(number) => number.checked_mul(UNIT),
        Value::Text(text) => decimal(text),
        Value::Float(bits) => of_float(*bits),
        _ => None,
    }
}

/// The decimal nearest to a binary64, to fifteen places.
fn of_float(bits: u64) -> Option<i128> {
    let (exponent, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    if exponent == 0x7ff {
        return None;
    }
    let mantissa = i128::from(if exponent == 0 { fraction } else { fraction | (1 << 52) });
    // The value is mantissa · 2^shift.
    let shift = i64::try_from(exponent.max(1)).ok()? - 1_075;
    let scaled = mantissa.checked_mul(UNIT)?;
    let size = u32::try_from(shift.unsigned_abs()).ok()?;
    let whole = if shift >= 0 {
        let factor = 1_i128.checked_shl(size).filter(|_| size < 127)?;
        scaled.checked_mul(factor)?
    } else if size < 127 {
        scaled >> size
    } else {
        0
    };
    let rounded = (whole + ROUND / 2) / ROUND * ROUND;
    Some(if bits >> 63 == 1 { -rounded } else { rounded })
}

/// A CBOR value as JSON text; none where JSON has no such value.
fn write_json(value: &Value, out: &mut String) -> Option<()> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Integer(number) => out.push_str(&number.to_string()),
        Value::Float(_) => {
            let number = fixed(value)?;
            let sign = if number < 0 { "-" } else { "" };
            let (whole, rest) = (number.unsigned_abs() / UNIT.unsigned_abs(), number.unsigned_abs() % UNIT.unsigned_abs());
            out.push_str(&format!("{sign}{whole}.{rest:018}"));
        }
        Value::Text(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_json(item, out)?;
            }
            out.push(']');
        }
        Value::Map(pairs) => {
            out.push('{');
            for (place, (name, item)) in pairs.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_text(name.as_text()?, out);
                out.push(':');
                write_json(item, out)?;
            }
            out.push('}');
        }
        Value::Bytes(_) | Value::Bignum { .. } => return None,
    }
    Some(())
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::error;

    fn rule(mode: &str, runners: u64, threshold: u64, checks: Vec<Value>) -> Result<Verification, Mistake> {
        let value = map([
            ("mode", Value::text(mode)),
            ("runners", Value::uint(runners)),
            ("threshold", Value::uint(threshold)),
            ("checks", Value::Array(checks)),
        ]);
        verification(&Reader::new(&value, "verify"), "You are a careful judge.\nshort\n")
    }

    fn kind<const N: usize>(name: &str, more: [(&str, Value); N]) -> Value {
        let mut pairs = vec![(Value::text("kind"), Value::text(name))];
        pairs.extend(more.into_iter().map(|(name, value)| (Value::text(name), value)));
        Value::Map(pairs)
    }

    fn float(bits: u64) -> Value {
        Value::Float(bits)
    }

    fn text<const MAX: usize>(text: &str) -> Text<MAX> {
        Text::new(text).expect("short")
    }

    fn texts(one: &str) -> List<Text<256>, 16> {
        List::new(vec![text(one)]).expect("one fits")
    }

    /// A-214, A-215, A-236: modes by the published SDK's names, and what its builder leaves unsaid.
    #[test]
    fn modes() {
        let rows = [
            ("none", 1, 1, Some((Mode::None, 1, 1, false))),
            ("optimistic", 1, 1, Some((Mode::EconomicBond, 1, 1, false))),
            ("consensus", 3, 2, Some((Mode::MajorityVote, 3, 2, false))),
            ("consensus", 1, 1, Some((Mode::MajorityVote, 0, 0, false))),
            ("tee", 3, 3, Some((Mode::Deterministic, 3, 3, true))),
            ("structured_match", 5, 4, Some((Mode::StructuredMatch, 5, 4, false))),
            ("zk", 1, 1, None),
        ];
        for (name, runners, threshold, expected) in rows {
            let found = rule(name, runners, threshold, vec![]).ok();
            let found = found.map(|rule| (rule.mode, rule.runners.0, rule.threshold.0, rule.is_tee_required));
            assert_eq!(found, expected, "{name}");
        }
    }

    /// A-215: each check that is decided here, in the chain's words.
    #[test]
    fn checks() {
        let (tenth, minus_half) = (0x3fb9_9999_9999_999a, 0xbfe0_0000_0000_0000);
        let schema = |text: &str| Check::JsonSchema { schema: Text::new(text).expect("short") };
        let rows = [
            (kind("exact_match", []), vec![Check::Field { path: text("") }]),
            (kind("exact_match", [("value", Value::text("a\"b"))]), vec![schema(r#"{"const":"a\"b"}"#)]),
            (
                kind("structured_match", [("fields", Value::Array(vec![Value::text("a"), Value::text("b")]))]),
                vec![Check::Field { path: text("a") }, Check::Field { path: text("b") }],
            ),
            (
                kind("numeric_tolerance", [("field", Value::text("p")), ("tolerance", float(tenth))]),
                vec![Check::Tolerance { path: text("p"), absolute: 100_000_000_000_000_000 }],
            ),
            (
                kind("numeric_range", [("field", Value::text("p")), ("min", float(minus_half))]),
                vec![Check::Range { path: text("p"), least: -500_000_000_000_000_000, greatest: i128::MAX }],
            ),
            (kind("contains", [("substring", Value::text("x"))]), vec![Check::ContainsAll { texts: texts("x") }]),
            (kind("length_bounds", [("min", Value::uint(3))]), vec![Check::Length { least: Count(3), greatest: Count(u64::MAX) }]),
            (kind("entropy_check", [("min_entropy", float(0x4008_0000_0000_0000))]), vec![Check::Entropy { least: Count(3_000) }]),
            (kind("no_prompt_leak", []), vec![Check::NoLeak { markers: texts("You are a careful judge.") }]),
            (
                kind("field_exists", [("fields", Value::Array(vec![Value::text("a")]))]),
                vec![schema(r#"{"type":"object","required":["a"]}"#)],
            ),
            (
                kind("json_schema_valid", [("schema", map([("minimum", float(tenth))]))]),
                vec![schema(r#"{"minimum":0.100000000000000000}"#)],
            ),
            (kind("format_check", [("format", Value::text("float"))]), vec![schema(r#"{"type":"number"}"#)]),
            (kind("not_empty", []), vec![]),
        ];
        for (check, expected) in rows {
            let found = rule("structured_match", 3, 2, vec![check.clone()]).expect("it is decided here");
            assert_eq!(found.checks.to_vec(), expected, "{check:?}");
        }
    }

    #[test]
    fn checks_that_nobody_decides_are_refused() {
        let rows =
            ["regex_match", "set_equality", "http_status", "response_time", "signature_valid", "custom", "custom_actor", "nonsense", ""];
        for name in rows {
            let refused = rule("structured_match", 3, 2, vec![kind(name, [])]).expect_err("nobody decides it");
            assert_eq!((refused.abort, refused.explanation.contains("kind: it has to be")), (error::JOB_INVALID, true), "{name}");
        }
        assert!(rule("none", 1, 1, vec![kind("json_schema_valid", [("schema", map([("pattern", Value::text("a"))]))])]).is_err());
    }

    /// Votes and similarity are parts of the rule itself.
    #[test]
    fn thresholds() {
        let vote = |name, bits| kind(name, [("threshold", float(bits)), ("field", Value::text("v"))]);
        let majority = rule("consensus", 5, 1, vec![vote("majority_vote", 0x3fe0_0000_0000_0000)]).expect("decided");
        assert_eq!((majority.threshold.0, &majority.vote_field[..]), (3, "v"), "more than a half of five");
        let same = rule("consensus", 5, 3, vec![kind("exact_match", [])]).expect("decided");
        assert_eq!((same.threshold.0, same.checks.len()), (5, 0), "all of them");
        let great = rule("consensus", 3, 1, vec![vote("supermajority_vote", 0x3fe5_70a3_d70a_3d71)]).expect("decided");
        assert_eq!(great.threshold.0, 3, "0.67 of three");
        let alike = rule("semantic_similarity", 3, 2, vec![vote("semantic_similarity", 0x3feb_3333_3333_3333)]).expect("decided");
        assert_eq!(alike.similarity.0, 8_500);
    }
}
