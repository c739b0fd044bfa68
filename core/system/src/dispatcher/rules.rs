//! The rules of a job that compare its fields with each other, and with the parameters (002 §3 step 1; 003 §5.4).

use crate::market::judge::is_format;
use crate::market::mistake::Mistake;
use cowboy_params::{Jobs, Params};
use cowboy_types::Hash;
use cowboy_types::job::{Callback, JobKind, JobSpec, Mode, Verification};
use cowboy_types::units::{Amount, Cells, Count};
use std::ops::RangeInclusive;

/// Fails with an explanation unless a rule holds.
pub(super) fn require(holds: bool, explanation: impl FnOnce() -> String) -> Result<(), Mistake> {
    if holds { Ok(()) } else { Err(Mistake::invalid(explanation())) }
}

/// Fails unless a field's number is in a range.
fn within(name: &str, number: u64, range: RangeInclusive<u64>) -> Result<(), Mistake> {
    require(range.contains(&number), || format!("{name} is {number}; it has to be from {} to {}.", range.start(), range.end()))
}

/// Bounds, prices, sizes, and what the mode asks for. A callback gets `callback_cells` at most.
pub(super) fn check(rows: &Jobs, callback_cells: Cells, spec: &JobSpec) -> Result<(), Mistake> {
    let (bounds, schema) = (&spec.bounds, &spec.schema);
    require(bounds.wall_ms > Count::ZERO, || "max_wall_time_ms is 0; the work needs time.".into())?;
    let has_tokens = spec.kind != JobKind::Llm || bounds.output_tokens > Count::ZERO;
    require(has_tokens, || "max_output_tokens is 0; a model's answer needs at least 1.".into())?;
    require(spec.max_price > Amount::ZERO, || "max_price is 0; it has to be more.".into())?;
    require(spec.max_price.checked_add(spec.tip).is_some(), || "max_price and tip together are more than there can be.".into())?;
    within("timeout_blocks", spec.timeout_blocks.0, 1..=rows.timeout_max)?;
    within("max_return_bytes", schema.max_return_bytes.0, 1..=rows.result_bytes)?;
    require(schema.expected_execution_ms > Count::ZERO, || "expected_execution_ms is 0; it has to be more.".into())?;
    require(is_format(&schema.data_format), || {
        "data_format: it has to be empty, text, json, cbor, binary, or a JSON schema with the keywords of docs/jobs.md.".into()
    })?;
    spec.callback.as_ref().map_or(Ok(()), |callback| check_callback(callback, callback_cells))?;
    check_verification(rows, &spec.verification)?;
    // Decisions 46 and 82: the same bytes mean something only where environment, tools and seed are the same.
    let is_reproducible =
        spec.verification.mode != Mode::Deterministic || spec.verification.is_tee_required && spec.toolchain_digest != Hash::ZERO;
    require(is_reproducible, || "The mode deterministic needs tee_required and toolchain_digest.".into())
}

fn check_callback(callback: &Callback, most: Cells) -> Result<(), Mistake> {
    let cycles = Params::row("jobs.callback_cycles").expect("a row of the table");
    within("callback.cycles", callback.cycles.0, cycles.min..=cycles.max)?;
    // More would be paid for and never given (decision 583).
    within("callback.cells", callback.cells.0, 0..=most.0)
}

fn check_verification(rows: &Jobs, verification: &Verification) -> Result<(), Mistake> {
    let (mode, runners) = (&verification.mode, verification.runners.0);
    let (least, most) = (mode.least_runners(), if mode.is_single() { 1 } else { rows.runners_max });
    require(runners == 0 || (least..=most).contains(&runners), || {
        let takes = if least == most { least.to_string() } else { format!("{least} to {most}") };
        format!("runners is {runners}; the mode {} takes {takes}, or 0 for the protocol's number.", mode.slug())
    })?;
    let most_agreeing = if runners == 0 { rows.runners_max } else { runners };
    let least_agreeing = if mode.is_single() { 1 } else { 2 };
    let threshold = verification.threshold.0;
    require(threshold == 0 || (least_agreeing..=most_agreeing).contains(&threshold), || {
        format!("threshold is {threshold}; it has to be from {least_agreeing} to {most_agreeing}, or 0 for the protocol's number.")
    })?;
    within("similarity_bps", verification.similarity.0, 0..=10_000)?;
    within("dispute_window_blocks", verification.dispute_window.0, 0..=rows.timeout_max)
}
