//! `cowboy lint`: what the chain would refuse, and what it would run otherwise than the author thinks; with the place, the reason and
//! what to write instead.

mod imports;
mod linter;
mod mend;
mod rules;

use crate::deploy::Deployment;
use clap::Args;
use cowboy_console::{
    amount::counted,
    failure::Failure,
    output::{self, Output},
};
use cowboy_types::{Abort, error};
use cowboy_vm::{CompileErrorKind, check};
use ruff_text_size::TextRange;
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Checks actors without running them: what the chain refuses, and what surprises.
///
/// Exit codes: 0 nothing to say, or warnings only; 1 something would be refused (with --strict: or warned about).
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cowboy lint actor.py\n  cowboy lint --strict examples/*/actor.py\n  cowboy lint actor.py --json")]
pub struct Lint {
    /// Sources of actors
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
    /// Fix in the files what can be fixed safely: a forgotten await, @runner.continuation, @deferred, missing grants in the manifest
    #[arg(long)]
    fix: bool,
}

/// Something to say about a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) is_error: bool,
    rule: &'static str,
    line: usize,
    column: usize,
    width: usize,
    what: String,
    why: &'static str,
    fix: &'static str,
}

impl Finding {
    /// The finding with its line of source, and the place marked.
    pub(crate) fn show(&self, file: &str, source: &str) -> String {
        let word = if self.is_error { "error" } else { "warning" };
        let mut text = format!("{word}[{}]: {}\n  --> {file}:{}:{}\n", self.rule, self.what, self.line, self.column);
        let line = source.lines().nth(self.line.saturating_sub(1)).unwrap_or_default();
        let left = self.column.saturating_sub(1);
        let width = self.width.min(line.chars().count().saturating_sub(left)).max(1);
        let (pad, marks) = (" ".repeat(left), "^".repeat(width));
        write!(text, "     |\n{:>4} | {line}\n     | {pad}{marks}\n", self.line).expect("a string takes everything");
        for (name, words) in [("why", self.why), ("fix", self.fix)] {
            if !words.is_empty() {
                writeln!(text, "  {name}: {words}").expect("a string takes everything");
            }
        }
        text
    }

    pub(super) fn rule(&self) -> &'static str {
        self.rule
    }

    /// Its line and column, from 1.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.line, self.column)
    }

    fn to_json(&self, file: &str) -> Value {
        json!({
            "file": file, "line": self.line, "column": self.column, "width": self.width, "rule": self.rule,
            "severity": if self.is_error { "error" } else { "warning" }, "what": self.what, "why": self.why, "fix": self.fix,
        })
    }
}

impl Lint {
    /// Prints the findings. Fails if there is an error, or with `--strict` a warning.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut rows = Vec::new();
        let (mut errors, mut warnings) = (0_u64, 0_u64);
        for path in &self.files {
            let name = path.display().to_string();
            let mut source = read(path)?;
            let mut found = findings(&source);
            if self.fix {
                let count = fix(path, &source, &found)?;
                output.progress(format_args!("{name}: {count} mended"));
                source = read(path)?;
                found = findings(&source);
            }
            if found.iter().all(|finding| !finding.is_error) {
                found.extend(grants(&Deployment::of_file(path, None)?));
            }
            for finding in &found {
                *(if finding.is_error { &mut errors } else { &mut warnings }) += 1;
                if output.json {
                    rows.push(finding.to_json(&name));
                } else {
                    output::line(finding.show(&name, &source));
                }
            }
        }
        if output.json {
            output.document(&rows);
        } else {
            output::line(format_args!("{}, {}", counted(errors, "error"), counted(warnings, "warning")));
        }
        if errors > 0 || (self.strict && warnings > 0) { Err(Failure::Said) } else { Ok(()) }
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(path).map_err(Failure::file(path))?;
    let source = cowboy_chain::canonical_source(&bytes).map(|source| source.to_string());
    source.ok_or_else(|| Failure::argument(format!("{} is not UTF-8", path.display()), "save it as UTF-8"))
}

/// Mends a file and the manifest beside it. Answers how many findings are gone.
fn fix(path: &Path, source: &str, found: &[Finding]) -> Result<usize, Failure> {
    if found.iter().any(|finding| finding.is_error) {
        return Ok(0);
    }
    let (text, mut count) = mend::mended(source, found);
    if count > 0 {
        std::fs::write(path, &text).map_err(Failure::file(path))?;
    }
    let deployment = Deployment::of_file(path, None)?;
    let needs = cowboy_api::source::missing(&deployment.code, &deployment.grants());
    let manifest = path.with_file_name("manifest.json");
    if !needs.is_empty()
        && let Ok(known) = std::fs::read_to_string(&manifest)
        && let Some(text) = mend::granted(&known, &needs)
    {
        std::fs::write(&manifest, text).map_err(Failure::file(&manifest))?;
        count += needs.len();
    }
    Ok(count)
}

/// The failure with which the chain refuses a source for such an error.
pub const fn abort_of(kind: CompileErrorKind) -> Abort {
    match kind {
        CompileErrorKind::Syntax => error::SYNTAX_ERROR,
        CompileErrorKind::Forbidden | CompileErrorKind::TooLarge => error::FORBIDDEN_SOURCE,
    }
}

/// What there is to say about a source, in its order: what the chain refuses, or else what surprises.
pub(crate) fn findings(source: &str) -> Vec<Finding> {
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let refused: Vec<Finding> = check(source)
        .into_iter()
        .map(|error| {
            let (what, fix) = error.message.split_once(": ").unwrap_or((&error.message, ""));
            let why = match error.kind {
                CompileErrorKind::Syntax => "it is not Python 3.11",
                CompileErrorKind::Forbidden => "every validator must compute the same result, within the sandbox",
                CompileErrorKind::TooLarge => "the compiler's work is bounded",
            };
            let what = if fix.is_empty() { what.to_owned() } else { format!("{what}: {fix}") };
            Finding {
                is_error: true,
                rule: error::row(abort_of(error.kind).code).slug,
                line: size(error.line),
                column: size(error.column),
                width: size(error.width),
                what,
                why,
                fix: "",
            }
        })
        .collect();
    if !refused.is_empty() {
        return refused;
    }
    let Ok(module) = ruff_python_parser::parse_module(source) else { return Vec::new() };
    let body = module.into_syntax().body;
    let mut found = imports::unknown(source, &body);
    found.extend(linter::surprises(source, &body));
    found.sort_by_key(Finding::place);
    found
}

/// A warning about a place of a source.
fn finding(source: &str, range: TextRange, rule: &rules::Rule, what: String) -> Finding {
    let before = &source[..range.start().to_usize()];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let text = source[range.to_std_range()].lines().next().unwrap_or_default();
    Finding {
        is_error: false,
        rule: rule.name,
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        width: text.chars().count(),
        what,
        why: rule.why,
        fix: rule.fix,
    }
}

/// Refuses a source that the chain would refuse, before it is sent, with everything that is wrong.
pub fn refuse(path: &Path, source: &str) -> Result<(), Failure> {
    let found: Vec<Finding> = findings(source).into_iter().filter(|finding| finding.is_error).collect();
    let Some(first) = found.first() else { return Ok(()) };
    let name = path.display().to_string();
    let shown: Vec<String> = found.iter().map(|finding| finding.show(&name, source)).collect();
    let Finding { rule, line, .. } = first;
    Err(Failure::Node(format!("the chain refuses this source: {rule}, line {line} of {name}\n\n{}", shown.join("\n").trim_end())))
}

/// What the manifest does not grant and the source seems to need.
fn grants(deployment: &Deployment) -> Vec<Finding> {
    let needs = cowboy_api::source::missing(&deployment.code, &deployment.grants());
    let finding = |need: cowboy_api::source::Need| {
        let text = deployment.code.lines().nth(need.line.saturating_sub(1)).unwrap_or_default();
        let column = text.find(need.because.trim_end_matches('=')).map_or(1, |at| text[..at].chars().count() + 1);
        let what = format!("{} needs the entitlement {}, which {} does not grant", need.because, need.id, deployment.manifest_source);
        Finding {
            is_error: false,
            rule: rules::GRANT.name,
            line: need.line,
            column,
            width: need.because.len(),
            what,
            why: rules::GRANT.why,
            fix: rules::GRANT.fix,
        }
    };
    needs.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests;
