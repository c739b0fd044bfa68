//! Checks that no result can pass, as far as they show it by themselves: refused at submission, since a committee would work for
//! nothing and be blamed for it (decision 303).

use crate::market::mistake::Mistake;
use crate::market::schema::Schema;
use cowboy_types::error;
use cowboy_types::job::{Check, JobSpec};

/// The most that bytes can vary, in thousandths of a bit a byte.
const MAX_ENTROPY: u64 = 8_000;

/// Refuses a job whose checks exclude each other.
pub(super) fn check(spec: &JobSpec) -> Result<(), Mistake> {
    let checks = &spec.verification.checks;
    let is_wanted = |text: &str| {
        checks.iter().any(|check| matches!(check, Check::ContainsAll { texts } if texts.iter().any(|wanted| wanted.contains(text))))
    };
    let longest = spec.schema.max_return_bytes.0;
    let is_impossible = |check: &Check| match check {
        Check::Length { least, greatest } => least > greatest || least.0 > longest || greatest.0 == 0,
        Check::Range { least, greatest, .. } => least > greatest,
        Check::Entropy { least } => least.0 > MAX_ENTROPY,
        Check::JsonSchema { schema } => is_empty(schema),
        Check::ContainsAll { texts } => texts.iter().any(|text| u64::try_from(text.len()).is_ok_and(|length| length > longest)),
        // What a result must not say includes what it must.
        Check::ContainsNone { texts } | Check::NoLeak { markers: texts } => texts.iter().any(|text| !text.is_empty() && is_wanted(text)),
        _ => false,
    };
    let format = &spec.schema.data_format;
    let is_schema = !matches!(&format[..], "" | "text" | "json" | "cbor" | "binary");
    let wrong = match checks.iter().position(is_impossible) {
        Some(place) => format!("checks[{place}]: no result of at most {longest} bytes passes it and the others."),
        None if is_schema && is_empty(format) => "data_format: no result is as the schema says.".to_string(),
        None => return Ok(()),
    };
    Err(Mistake::new(error::JOB_CONTRADICTION, wrong))
}

fn is_empty(schema: &str) -> bool {
    Schema::parse(schema).is_some_and(|schema| schema.admits_nothing())
}
