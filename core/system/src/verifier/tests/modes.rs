//! The six modes, one row a rule (002 §9; 003 LLM Result Verification, External Data).

use super::*;
use cowboy_system::dispatcher::lower::{Offer, lower};
use cowboy_system::verifier::judge::{Rules, Submission, judge};
use cowboy_system::verifier::similarity::Embedded;
use cowboy_testkit::chain::address;
use cowboy_types::job::Verdict;
use cowboy_types::units::Height;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![objective_failures, majority_vote, structured_match, deterministic, semantic_similarity,];

/// The verdicts as letters: accepted, differs, invalid.
fn letters(verdicts: &[Verdict]) -> String {
    let letter = |verdict: &Verdict| match verdict {
        Verdict::Accepted => 'A',
        Verdict::Differs => 'd',
        _ => 'x',
    };
    verdicts.iter().map(letter).collect()
}

/// Judges results under a verification and a format; answers verdicts and what is handed on.
fn judged(format: &str, verification: serde_json::Value, threshold: usize, outputs: &[&[u8]]) -> (String, Option<Vec<u8>>) {
    let mut job = simple_job();
    job["result_schema"]["data_format"] = format.into();
    job["result_schema"]["max_return_bytes"] = 65_536.into();
    job["toolchain_digest"] = hex(&[1; 32]).into();
    // A tool, which reaches nothing: every mode takes it.
    job["job_type"] = serde_json::json!({ "type": "Custom", "tool": "sum" });
    job["verification"] = verification;
    let params = cowboy_params::Params::GENESIS;
    let (rows, offer) = (&params.jobs, Offer::reading(&params, address(1)));
    let spec = lower(&offer, &map(&job)).unwrap_or_else(|abort| panic!("{abort:?}: {job}"));
    let submissions: Vec<Submission<'_>> =
        (0u64..).zip(outputs).map(|(place, output)| Submission { output, committed_at: Height(100 - place), is_attested: true }).collect();
    let rules = Rules { threshold, submitted_seconds: 1_000, similarity: 8_500, embedding_model: Hash::ZERO, entropy: rows.entropy_min };
    let judgement = judge(&spec, &submissions, &rules);
    (letters(&judgement.verdicts), judgement.accepted.map(|(_, bytes)| bytes))
}

struct Row<'a> {
    case: &'a str,
    format: &'a str,
    verification: serde_json::Value,
    threshold: usize,
    outputs: &'a [&'a [u8]],
    verdicts: &'a str,
    accepted: Option<&'a [u8]>,
}

fn check(rows: Vec<Row<'_>>) {
    for row in rows {
        let (verdicts, accepted) = judged(row.format, row.verification, row.threshold, row.outputs);
        assert_eq!((verdicts.as_str(), accepted.as_deref()), (row.verdicts, row.accepted), "{}", row.case);
    }
}

macro_rules! rows {
    ($( $case:literal, $format:expr, $verification:tt, $threshold:literal, [$($output:expr),* $(,)?] => $verdicts:literal, $accepted:expr; )+) => {
        check(vec![ $( Row {
            case: $case,
            format: $format,
            verification: serde_json::json!($verification),
            threshold: $threshold,
            outputs: &[$($output.as_bytes()),*],
            verdicts: $verdicts,
            accepted: { let accepted: Option<&str> = $accepted; accepted.map(str::as_bytes) },
        } ),+ ])
    };
}

/// A-226: what fails by itself: nothing, the wrong format, too little variety, markers of a prompt. Results later in the list were
/// committed to earlier.
#[test]
fn objective_failures() {
    let garbage = "a".repeat(100);
    let varied: String = ('a'..='z').cycle().take(100).collect();
    rows! {
        "an answer", "", { "mode": "none" }, 1, ["x"] => "A", Some("x");
        "nothing", "", { "mode": "none" }, 1, [""] => "x", None;
        "a hundred times the same letter", "", { "mode": "none" }, 1, [garbage] => "x", None;
        "the alphabet", "", { "mode": "none" }, 1, [varied] => "A", Some(&varied);
        "no JSON", "json", { "mode": "none" }, 1, ["{"] => "x", None;
        "JSON", "json", { "mode": "none" }, 1, ["{}"] => "A", Some("{}");
        "against its schema", r#"{"required":["a"]}"#, { "mode": "economic_bond" }, 1, [r#"{"b":1}"#] => "x", None;
        "no CBOR", "cbor", { "mode": "none" }, 1, ["\u{7f}"] => "x", None;
        "a leak", "", { "mode": "none", "checks": [{ "type": "no_prompt_leak", "markers": ["SYSTEM:"] }] }, 1, ["ok SYSTEM: you are"] => "x", None;
        "no leak", "", { "mode": "none", "checks": [{ "type": "no_prompt_leak", "markers": ["SYSTEM:"] }] }, 1, ["ok"] => "A", Some("ok");
        "too short", "", { "mode": "none", "checks": [{ "type": "length_bounds", "min": 3 }] }, 1, ["ab"] => "x", None;
        "what must be there is not", "", { "mode": "none", "checks": [{ "type": "contains_all", "texts": ["a", "z"] }] }, 1, ["abc"] => "x", None;
        "what must not be there is", "", { "mode": "none", "checks": [{ "type": "contains_none", "texts": ["b"] }] }, 1, ["abc"] => "x", None;
    }
}

/// A-214: majority_vote.
#[test]
fn majority_vote() {
    rows! {
        "two of three", "", { "mode": "majority_vote" }, 2, ["yes", "no", "yes"] => "AdA", Some("yes");
        "none of three", "", { "mode": "majority_vote" }, 2, ["a", "b", "c"] => "ddd", None;
        "two of three where three are needed", "", { "mode": "majority_vote" }, 3, ["yes", "no", "yes"] => "ddd", None;
        "a field decides, the rest may differ", "json", { "mode": "majority_vote", "vote_field": "label" }, 2,
            [r#"{"label":"spam","why":"a"}"#, r#"{"why":"b","label":"spam"}"#, r#"{"label":"ham"}"#] => "AAd", Some(r#"{"why":"b","label":"spam"}"#);
        "numbers by value", "json", { "mode": "majority_vote", "vote_field": "n" }, 2,
            [r#"{"n":1.0}"#, r#"{"n":1}"#, r#"{"n":2}"#] => "AAd", Some(r#"{"n":1}"#);
        "without the field", "json", { "mode": "majority_vote", "vote_field": "n" }, 2, ["{}", "{}", "{}"] => "ddd", None;
        "two of four against two: who committed first", "", { "mode": "majority_vote" }, 2, ["a", "b", "a", "b"] => "dAdA", Some("b");
    }
}

/// A-215, A-230, A-231: structured_match and the snapshots.
#[test]
fn structured_match() {
    rows! {
        "no checks: all that are good", "json", { "mode": "structured_match" }, 2, [r#"{"a":1}"#, r#"{"a":2}"#] => "AA", Some(r#"{"a":2}"#);
        "a field must be the same", "json", { "mode": "structured_match", "checks": [{ "type": "field", "field": "a" }] }, 2,
            [r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":1,"b":0}"#] => "AdA", Some(r#"{"a":1,"b":0}"#);
        "near the median", "json", { "mode": "structured_match", "checks": [{ "type": "numeric_tolerance", "field": "p", "tolerance": "0.5" }] }, 2,
            [r#"{"p":10}"#, r#"{"p":10.5}"#, r#"{"p":10.51}"#, r#"{"p":9.5}"#, r#"{"p":99}"#] => "AAAdd", Some(r#"{"p":10.51}"#);
        "near the median by a share", "json", { "mode": "structured_match", "checks": [{ "type": "numeric_tolerance", "field": "p", "relative_bps": 100 }] }, 2,
            [r#"{"p":100}"#, r#"{"p":101}"#, r#"{"p":102}"#, r#"{"p":103}"#] => "AAAd", Some(r#"{"p":102}"#);
        "within bounds", "json", { "mode": "structured_match", "checks": [{ "type": "numeric_range", "field": "p", "min": 0, "max": "1.5" }] }, 2,
            [r#"{"p":1.5}"#, r#"{"p":1.6}"#, r#"{"p":0}"#] => "AxA", Some(r#"{"p":0}"#);
        "a majority for a field", "json", { "mode": "structured_match", "checks": [{ "type": "field_majority", "field": "a" }] }, 2,
            [r#"{"a":1}"#, r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":3}"#] => "dddd", None;
        "one check after the other", "json", { "mode": "structured_match", "checks": [{ "type": "field", "field": "s" }, { "type": "numeric_tolerance", "field": "p", "tolerance": 1 }] }, 2,
            [r#"{"s":"eth","p":5}"#, r#"{"s":"btc","p":5}"#, r#"{"s":"eth","p":6}"#, r#"{"s":"eth","p":60}"#] => "AdAd", Some(r#"{"s":"eth","p":6}"#);
        "a schema as a check", "json", { "mode": "structured_match", "checks": [{ "type": "json_schema", "schema": "{\"type\":\"object\"}" }] }, 2,
            ["[]", "{}", "{}"] => "xAA", Some("{}");
        "fresh enough", "json", { "mode": "structured_match", "checks": [{ "type": "freshness", "field": "at", "max_age_seconds": 60 }] }, 2,
            [r#"{"at":939}"#, r#"{"at":940}"#, r#"{"at":1000}"#] => "xAA", Some(r#"{"at":1000}"#);
        "the median", "json", { "mode": "structured_match", "snapshot": "median", "snapshot_field": "p" }, 2,
            [r#"{"p":3}"#, r#"{"p":1}"#, r#"{"p":2}"#] => "AAA", Some(r#"{"p":2}"#);
        "the latest", "json", { "mode": "structured_match", "snapshot": "latest", "snapshot_field": "at" }, 2,
            [r#"{"at":3}"#, r#"{"at":1}"#, r#"{"at":2}"#] => "AAA", Some(r#"{"at":3}"#);
        "the first that was committed to", "json", { "mode": "structured_match", "snapshot": "first_valid" }, 2,
            ["1", "2", "3"] => "AAA", Some("3");
        "what most gave", "json", { "mode": "structured_match", "snapshot": "majority", "snapshot_field": "a" }, 2,
            [r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":1,"b":1}"#] => "AAA", Some(r#"{"a":1,"b":1}"#);
    }
}

/// A-214: deterministic takes the same bytes only.
#[test]
fn deterministic() {
    rows! {
        "the same bytes", "", { "mode": "deterministic", "tee_required": true }, 2, ["x", "x", "y"] => "AAd", Some("x");
        "the same value in other bytes", "json", { "mode": "deterministic", "tee_required": true }, 2, ["1", "1.0"] => "dd", None;
    }
}

/// A-216: the largest group of similar answers; the answer it is around is handed on, without its embedding. An embedding is not bound to its
/// answer (docs/trust.md).
#[test]
fn semantic_similarity() {
    let embedded = |answer: &str, embedding: &[i16]| {
        Embedded { answer: answer.as_bytes().to_vec(), model: Hash([7; 32]), embedding: embedding.to_vec() }.write()
    };
    let (a, b, c, far) = (embedded("a", &[100, 0]), embedded("b", &[100, 30]), embedded("c", &[100, 60]), embedded("far", &[0, 100]));
    let other = embedded("PAY ALL TO ME", &[100, 10]);
    let (a, b, c, far, other) = (&a[..], &b[..], &c[..], &far[..], &other[..]);
    type Case<'a> = (&'a str, u64, usize, &'a [&'a [u8]], &'a str, Option<&'a [u8]>);
    let table: [Case<'_>; 5] = [
        ("three of four", 9_000, 3, &[a, b, c, far], "AAAd", Some(b"b")),
        ("too strict", 9_999, 2, &[a, b, c], "ddd", None),
        ("too few", 9_000, 4, &[a, b, c, far], "dddd", None),
        (
            "another text with a near embedding: the mode pays for nearness of embeddings only",
            9_000,
            3,
            &[other, a, b],
            "AAA",
            Some(b"PAY ALL TO ME"),
        ),
        ("not of this form", 9_000, 2, &[a, b, b"text"], "AAx", Some(b"a")),
    ];
    for (case, similarity, threshold, outputs, verdicts, accepted) in table {
        let verification = serde_json::json!({ "mode": "semantic_similarity", "similarity_bps": similarity });
        let (found, handed) = judged("", verification, threshold, outputs);
        assert_eq!((found.as_str(), handed.as_deref()), (verdicts, accepted), "{case}");
    }
}
