//! What is printed: results on stdout, as text or as JSON; progress and failures on stderr.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what this module is for")]

use crate::failure::Failure;
use serde::Serialize;
use std::{fmt::Display, io::Write as _};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// As JSON instead of text.
    pub(crate) json: bool,
}

impl Output {
    /// Prints a result: its JSON, or the text of it.
    pub(crate) fn result(self, value: &impl Serialize, text: impl Display) {
        if self.json {
            line(serde_json::to_string_pretty(value).expect("results are JSON"));
        } else {
            line(text);
        }
    }

    /// Prints a result that reads best as JSON either way.
    pub(crate) fn document(self, value: &impl Serialize) {
        line(serde_json::to_string_pretty(value).expect("results are JSON"));
    }

    /// Says what is going on.
    pub(crate) fn progress(self, text: impl Display) {
        if !self.json {
            note(text);
        }
    }

    /// Says why it failed.
    pub(crate) fn failure(self, failure: &Failure) {
        match failure {
            Failure::Said | Failure::Silent(_) => {}
            failure if self.json => note(failure.to_json()),
            failure => note(format_args!("error: {failure}")),
        }
    }
}

/// A line on stdout. A reader that has left is no failure.
pub(crate) fn line(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Text on stdout as it is.
pub(crate) fn text(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// A line on stderr.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Rows of names and values, the values in one column.
pub(crate) fn table<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let rows: Vec<(&str, String)> = rows.into_iter().collect();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:<width$}  {value}")).collect();
    lines.join("\n")
}
