//! What a test run says: a line or a letter for each test, the reasons of those that failed, and a summary.

use super::discover::TestFile;
use cowboy_vm::PyError;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// How a test came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    /// With the reason.
    Skipped(String),
    /// With what to print about it.
    Failed(String),
}

/// A test that ran.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// `tests/test_counter.py::TestAdd::test_one[3]`
    pub(crate) id: String,
    pub(crate) verdict: Verdict,
    /// Cycles of the test's own code, and of what it had done on its chains.
    pub(crate) test_cycles: u64,
    pub(crate) chain_cycles: u64,
    /// What it printed.
    pub(crate) printed: String,
}

impl Ran {
    /// All its cycles.
    pub(crate) fn cycles(&self) -> u64 {
        self.test_cycles.saturating_add(self.chain_cycles)
    }

    /// Its word.
    pub(crate) fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Passed => "PASSED",
            Verdict::Skipped(_) => "SKIPPED",
            Verdict::Failed(_) => "FAILED",
        }
    }

    /// Its letter.
    pub(crate) fn mark(&self) -> &'static str {
        match self.verdict {
            Verdict::Passed => ".",
            Verdict::Skipped(_) => "s",
            Verdict::Failed(_) => "F",
        }
    }

    /// As JSON.
    pub(crate) fn to_json(&self) -> Value {
        let reason = match &self.verdict {
            Verdict::Passed => Value::Null,
            Verdict::Skipped(reason) | Verdict::Failed(reason) => json!(reason),
        };
        json!({
            "id": self.id, "outcome": self.word().to_lowercase(), "reason": reason, "cycles": self.cycles(),
            "cycles_test": self.test_cycles, "cycles_chain": self.chain_cycles, "printed": self.printed,
        })
    }
}

/// Why a test failed: where, the assert or the line, the exception, and the actor's own traceback is in its words.
pub(crate) fn failure(file: &TestFile, error: &PyError) -> String {
    let lines: Vec<&str> = file.source.lines().collect();
    let mut text = String::new();
    let frames = frames(error, &file.name);
    for (index, (line, function)) in frames.iter().enumerate() {
        let is_last = index + 1 == frames.len();
        let source = match file.asserts.get(line).filter(|_| is_last) {
            Some(assert) => assert.as_str(),
            None => usize::try_from(*line).ok().and_then(|line| lines.get(line.saturating_sub(1))).map_or("", |line| line.trim()),
        };
        writeln!(text, "{}:{line}: in {function}", file.name).expect("a string takes everything");
        let mark = if is_last { '>' } else { ' ' };
        for part in source.lines() {
            writeln!(text, "{mark}   {part}").expect("a string takes everything");
        }
    }
    let name = error.type_name.rsplit('.').next().unwrap_or_default();
    let said = if error.message.is_empty() { name.to_owned() } else { format!("{name}: {}", error.message) };
    for line in said.lines() {
        writeln!(text, "E   {line}").expect("a string takes everything");
    }
    text
}

/// Lines and functions of the traceback that stand in the test file, outermost first, without the call that runs the test.
fn frames(error: &PyError, file: &str) -> Vec<(u32, String)> {
    let head = format!("File \"{file}\", line ");
    let place = |line: &String| {
        let (number, function) = line.trim_start().strip_prefix(&head)?.split_once(", in ")?;
        Some((number.parse().ok()?, function.to_owned()))
    };
    let mut frames: Vec<(u32, String)> = error.traceback.iter().filter_map(place).collect();
    if frames.len() > 1 && frames[0].1 == "<module>" {
        frames.remove(0);
    }
    frames
}
