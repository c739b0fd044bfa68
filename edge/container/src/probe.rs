//! Tests the limits of a box from within: a box whose program is this library.

use crate::child::checks::{COUNT, Finding, LAST, MEMORY_MIB};
use crate::plan::{End, Outcome, Plan};
use std::time::Duration;

/// What a probe found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Limits that hold.
    pub held: Vec<String>,
    /// Limits that do not hold, with what happened. A runner with any must not offer containers.
    pub broken: Vec<String>,
}

impl Report {
    /// Whether every limit holds.
    pub fn is_safe(&self) -> bool {
        self.broken.is_empty() && !self.held.is_empty()
    }
}

/// A box with small limits.
pub(crate) fn plan() -> Plan {
    let mut plan = Plan::new("/", vec!["probe".to_owned()]);
    plan.limits.memory_mib = MEMORY_MIB;
    plan.limits.scratch_mib = 1;
    plan.limits.pids = 16;
    plan.limits.cpu_millicores = 100;
    plan.limits.max_duration = Duration::from_secs(30);
    plan
}

/// What the inside printed, and how it ended: memory is the last that it tries.
pub(crate) fn report(outcome: &Outcome) -> Report {
    let text = String::from_utf8_lossy(&outcome.stdout);
    let mut report = Report::default();
    for finding in text.lines().filter_map(|line| serde_json::from_str::<Finding>(line).ok()) {
        match finding.failure {
            None => report.held.push(finding.limit),
            Some(failure) => report.broken.push(format!("{}: {failure}", finding.limit)),
        }
    }
    if outcome.end == End::OutOfMemory && report.held.len() + report.broken.len() == COUNT - 1 {
        report.held.push(LAST.to_owned());
    }
    if report.held.len() + report.broken.len() != COUNT {
        report.broken.push(format!("the probe did not finish: {:?}; {}", outcome.end, String::from_utf8_lossy(&outcome.stderr).trim()));
    }
    report
}
