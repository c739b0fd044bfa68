//! `cowboy job run --local`: a job on this computer, with the executors and rules of a runner.

use super::{refused, spec_argument, with_hashes};
use crate::client::{
    secret::{name, read_value},
    session::Session,
};
use clap::Args;
use cowboy_console::{amount, failure::Failure, output::table, pairs, payload};
use cowboy_runner::{
    Config,
    execute::NotReady,
    local::{self, Given, LocalError},
};
use cowboy_secrets::Name;
use cowboy_types::{Address, job::JobKind};
use std::path::PathBuf;

/// Whether a job is done on this computer, and with what.
#[derive(Args, Debug)]
pub(crate) struct Local {
    /// Execute it on this computer, as a runner would, without a chain
    #[arg(long)]
    pub(super) local: bool,
    /// The runner's configuration file [default: a runner that only fetches web pages]
    #[arg(long, value_name = "FILE", requires = "local")]
    config: Option<PathBuf>,
    /// Allow hosts at private addresses
    #[arg(long, requires = "local")]
    allow_private: bool,
    /// The file with the value of a secret of the job, without the line break at its end; values on a chain are not fetched
    #[arg(long = "secret", value_name = "NAME=@FILE", requires = "local", value_parser = value)]
    secrets: Vec<(Name, PathBuf)>,
}

/// `NAME=@FILE`.
fn value(text: &str) -> Result<(Name, PathBuf), String> {
    let read = pairs::pair(text).and_then(|(secret, file)| Some((secret, file.strip_prefix('@')?)));
    let (secret, file) = read.ok_or_else(|| format!("{text:?} is not NAME=@FILE, like WEATHER_KEY=@key.txt"))?;
    Ok((name(secret)?, file.into()))
}

impl Local {
    /// The values of the job's secrets.
    fn given(&self) -> Result<Given, Failure> {
        pairs::once("--secret", self.secrets.iter().map(|(name, _)| name.as_str()))?;
        let mut given = Given::new();
        for (name, file) in &self.secrets {
            given.insert(name.as_str().to_owned(), read_value(file)?);
        }
        Ok(given)
    }

    pub(super) async fn run(self, session: &Session, spec: &str) -> Result<(), Failure> {
        let mut config = match &self.config {
            Some(path) => Config::read(path).map_err(|error| Failure::argument(error.to_string(), error.fix()))?,
            None => Config { http: Some(Default::default()), ..Config::default() },
        };
        if let Some(http) = &mut config.http {
            http.allow_private |= self.allow_private;
        }
        let given = self.given()?;
        // Nothing is looked up by the hashes here, so that a job needs no key.
        let job = with_hashes(spec_argument(spec)?, || Ok(Address::ZERO))?;
        let answer = local::run(&config, &payload::method_argument(&job)?, &given).await.map_err(failure)?;
        let mut lines = vec![table([
            ("valid", if answer.is_valid { "yes, as far as a single result can show".to_owned() } else { "no".to_owned() }),
            ("price", amount::cby(answer.price)),
            ("took", format!("{} ms, {}", answer.usage.compute_ms, amount::counted(answer.usage.requests, "request"))),
            ("tokens", format!("{} in, {} out", answer.usage.input_tokens, answer.usage.output_tokens)),
        ])];
        lines.extend(answer.fault.iter().map(|fault| format!("no result: {fault}")));
        lines.extend(answer.result.iter().map(|result| format!("result: {result}")));
        session.output.result(&answer, lines.join("\n"));
        if answer.fault.is_some() { Err(Failure::Said) } else { Ok(()) }
    }
}

/// Why a job does not run here, and what to do about it.
fn failure(error: LocalError) -> Failure {
    let fix = match &error {
        LocalError::Refused(_, mistake) => return refused(mistake.clone()),
        LocalError::NoValue(name) => format!("give it with --secret {name}=@FILE; values on a chain are not fetched"),
        LocalError::NoSecret(_) => "add it to the job's `secrets`, or leave out --secret".to_owned(),
        LocalError::OtherWork(kind) => format!("give --config FILE, with a table {} in the file (docs/runners.md)", table_of(kind)),
        LocalError::NotReady(NotReady { kind: "container", reason }) if reason.contains("denied") || reason.contains("not permitted") => {
            "run it as root: containers need it, and Linux 5.13 or newer with Landlock and control groups".to_owned()
        }
        LocalError::NotReady(_) | LocalError::Malformed(_) => "see docs/jobs.md and docs/runners.md".to_owned(),
    };
    Failure::argument(error.to_string(), fix)
}

/// The table of a runner's configuration with which it does jobs of a kind.
const fn table_of(kind: &JobKind) -> &'static str {
    match kind {
        JobKind::Llm => "[llm]",
        JobKind::Http => "[http]",
        JobKind::Mcp => "[mcp.NAME]",
        JobKind::Custom => "[tools.NAME]",
        JobKind::Container => "[container]",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_name_and_a_file() {
        let read = value("KEY=@a=@b.txt").expect("a name and a file");
        assert_eq!((read.0.as_str(), read.1), ("KEY", PathBuf::from("a=@b.txt")));
        for wrong in ["KEY", "KEY=value", "key=@file", "=@file"] {
            assert!(value(wrong).is_err(), "{wrong}");
        }
    }

    /// No value is taken for another: a secret is given once.
    #[test]
    fn a_secret_is_given_once() {
        let secrets = ["KEY=@a.txt", "OTHER=@a.txt", "KEY=@b.txt"].map(|text| value(text).expect("a name and a file")).to_vec();
        let refused = Local { local: true, config: None, allow_private: false, secrets }.given();
        let said = refused.err().map(|failure| failure.to_string()).unwrap_or_default();
        assert!(said.starts_with("--secret has KEY twice"), "{said}");
    }

    /// Each refusal says what to give, once.
    #[test]
    fn refusals_say_what_to_give() {
        let not_ready = |reason: &str| LocalError::NotReady(NotReady { kind: "container", reason: reason.into() });
        let rows = [
            (LocalError::NoValue("KEY".into()), "give it with --secret KEY=@FILE"),
            (LocalError::NoSecret("KEY".into()), "or leave out --secret"),
            (LocalError::OtherWork(JobKind::Container), "with a table [container]"),
            (not_ready("opening the folder of boxes b: Permission denied (os error 13)"), "run it as root"),
            (not_ready("images is no image layout"), "see docs/jobs.md"),
        ];
        for (error, fix) in rows {
            let said = failure(error).to_string();
            assert!(said.contains(fix), "{said}");
            assert_eq!(said.matches("fix:").count(), 1, "{said}");
        }
    }
}
