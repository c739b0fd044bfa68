//! What a service's doctor found.

use cowboy_console::{failure::Failure, output::Output};
use serde_json::{Value, json};

/// One thing that a service needs, and what to do where it is missing.
struct Check {
    what: &'static str,
    problem: Option<String>,
    fix: String,
}

impl Check {
    fn line(&self) -> String {
        match &self.problem {
            None => format!("ok    {}", self.what),
            Some(problem) => format!("bad   {}: {problem}\n      fix: {}", self.what, self.fix),
        }
    }
}

/// Everything that was checked, in order.
#[derive(Default)]
pub(crate) struct Checks(Vec<Check>);

impl Checks {
    /// Adds a check with what is wrong, and what to do about it then. A remedy that the failure has of its own is left out: one is enough.
    pub(crate) fn add(&mut self, what: &'static str, result: Result<(), String>, fix: impl Into<String>) {
        let problem = result.err().map(|text| text.split("\n  fix: ").next().unwrap_or_default().to_owned());
        self.0.push(Check { what, problem, fix: fix.into() });
    }

    /// The same where what to do depends on what is wrong.
    pub(crate) fn add_mended(&mut self, what: &'static str, result: Result<(), (String, String)>) {
        match result {
            Ok(()) => self.add(what, Ok(()), ""),
            Err((problem, fix)) => self.add(what, Err(problem), fix),
        }
    }

    /// Prints all, and fails where one did.
    pub(crate) fn print(self, output: Output) -> Result<(), Failure> {
        let fix = |check: &Check| check.problem.as_ref().map(|_| check.fix.clone());
        let row = |check: &Check| json!({ "what": check.what, "problem": check.problem, "fix": fix(check) });
        let rows: Vec<Value> = self.0.iter().map(row).collect();
        output.result(&rows, self.0.iter().map(Check::line).collect::<Vec<_>>().join("\n"));
        match self.0.iter().filter(|check| check.problem.is_some()).count() {
            0 => Ok(()),
            bad => Err(Failure::Node(format!("{bad} of {} checks failed", self.0.len()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong has its remedy below it, and one wrong check fails the whole.
    #[test]
    fn what_is_wrong_has_its_remedy() {
        let mut checks = Checks::default();
        checks.add("key", Ok(()), "make one");
        checks.add_mended("port", Err(("it is taken".to_owned(), "choose another".to_owned())));
        let lines: Vec<String> = checks.0.iter().map(Check::line).collect();
        assert_eq!(lines, ["ok    key", "bad   port: it is taken\n      fix: choose another"]);
        let failed = checks.print(Output { json: true }).expect_err("one is wrong").to_string();
        assert_eq!(failed, "1 of 2 checks failed");
    }

    /// A failure that brings a remedy of its own gets one line all the same: that of the check.
    #[test]
    fn what_is_wrong_has_one_remedy() {
        let mut checks = Checks::default();
        checks.add("key", Err("relay.key cannot be used\n  fix: check the path".to_owned()), "cowboy wallet create");
        assert_eq!(checks.0[0].line(), "bad   key: relay.key cannot be used\n      fix: cowboy wallet create");
    }
}
