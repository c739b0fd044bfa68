//! `cowboyd doctor`: everything that a node needs, checked in order, with what to do about what is wrong.

mod chain;
mod computer;
mod files;

use super::{
    node_failure,
    serving::{self, Serving},
};
pub(crate) use chain::{MAX_OFFSET_MS, offset};
pub(crate) use computer::{NO_SPACE, free_at, reached};

use chain::{Beside, Node};
use clap::Args;
use cowboy_api::Client;
use cowboy_console::{failure::Failure, output::Output};
use files::Setup;
use serde::Serialize;
use std::{fmt, path::PathBuf};

/// Checks a node, its configuration and the computer that it runs on.
#[derive(Args, Debug)]
#[command(
    after_help = "It changes nothing, and it works whether the node runs or not: while it runs, doctor also asks it for its peers, its progress
and its place among the validators. The node of a new validator cannot know its place yet: name another node with --source. The exit code is 1
if a check failed.

Examples:
  cowboyd doctor --config validator.json --port 4000
  cowboyd doctor --config validator.json --port 4000 --source http://192.0.2.7:4000"
)]
pub(crate) struct Doctor {
    /// The configuration of a validator or of a full node
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Another node of the chain, which says how far the chain is, and the validator, where the own node is behind or does not run
    #[arg(long, value_name = "URL")]
    source: Option<String>,
    #[command(flatten)]
    serving: Serving,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// It is right.
    Ok,
    /// It works, and may not for long.
    Warn,
    /// The node does not start, or does not take its part.
    Fail,
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    level: Level,
    says: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        };
        write!(f, "{level:<4}  {:<9} {}", self.check, self.says)?;
        match &self.fix {
            Some(fix) => write!(f, "\n        fix: {fix}"),
            None => Ok(()),
        }
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn ok(&mut self, check: &'static str, says: impl Into<String>) {
        self.0.push(Finding { check, level: Level::Ok, says: says.into(), fix: None });
    }

    fn warn(&mut self, check: &'static str, says: impl Into<String>, fix: impl Into<String>) {
        self.0.push(Finding { check, level: Level::Warn, says: says.into(), fix: Some(fix.into()) });
    }

    fn fail(&mut self, check: &'static str, says: impl Into<String>, fix: impl Into<String>) {
        self.0.push(Finding { check, level: Level::Fail, says: says.into(), fix: Some(fix.into()) });
    }

    /// A failure of a command, which says what to do about it, or else `otherwise`.
    fn failure(&mut self, check: &'static str, failure: &Failure, otherwise: &str) {
        let text = failure.to_string();
        let (says, fix) = text.split_once("\n  fix: ").unwrap_or((&text, otherwise));
        self.fail(check, says, fix);
    }

    fn print(self, output: Output) -> Result<(), Failure> {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        output.result(&self.0, lines.join("\n"));
        match self.0.iter().filter(|finding| finding.level == Level::Fail).count() {
            0 => Ok(()),
            failed => Err(node_failure(format_args!("{failed} of {} checks failed", self.0.len()))),
        }
    }
}

impl Doctor {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        let mut findings = Findings::default();
        computer::version(&mut findings);
        let setup = self.config.as_deref().and_then(|config| files::check(config, &mut findings));
        computer::disk(setup.as_ref(), &mut findings);
        serving::runtime()?.block_on(async {
            computer::limits(&mut findings);
            let running = self.running(setup.as_ref()).await;
            computer::ports(&self.serving, setup.as_ref(), running.as_ref().map(|(_, health)| health), &mut findings);
            let source = chain::source(setup.as_ref(), running.as_ref(), self.source.as_deref(), &mut findings).await;
            of_chain(setup.as_ref(), running.as_ref(), source.as_ref(), &mut findings).await;
        });
        findings.print(output)
    }

    /// The node of this chain that serves the API at the port of `--port`.
    async fn running(&self, setup: Option<&Setup>) -> Option<Node> {
        let client = Client::new(&format!("http://{}", computer::reached_at(&self.serving))).ok()?;
        let health = client.health().await.ok()?;
        let is_own = setup.and_then(|setup| setup.genesis.as_ref()).is_none_or(|genesis| genesis.hash() == health.genesis.0);
        is_own.then_some((client, health))
    }
}

/// What the running node says of the chain, and the other node, where the own one does not run or is behind it.
async fn of_chain(setup: Option<&Setup>, running: Option<&Node>, source: Option<&Node>, findings: &mut Findings) {
    let own_height = running.map(|(_, health)| health.height);
    let ahead = source.filter(|(_, health)| own_height.is_none_or(|own| own < health.height));
    let record = match ahead.or(running) {
        Some((client, _)) => chain::validator(setup, client, findings).await,
        None => None,
    };
    let Some((_, health)) = running else { return };
    let validator = setup.and_then(Setup::validator);
    let beside = Beside {
        height: source.map(|(_, health)| health.height.max(own_height.unwrap_or_default())),
        record: record.as_ref(),
        is_validator: validator.is_some(),
        has_share: validator.is_some_and(|file| file.secrets.share.is_some()),
    };
    chain::peers(health, findings);
    chain::progress(health, beside, findings);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line that is not right says what to do: in the words of the failure, or else in those of the check.
    #[test]
    fn what_is_wrong_has_a_remedy() {
        let mut findings = Findings::default();
        findings.failure("keys", &node_failure("the key is not valid"), "copy it again");
        findings.failure("peers", &Failure::refused("the host is not found", "correct its name"), "copy it again");
        findings.ok("disk", "there is room");
        let lines: Vec<String> = findings.0.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "fail  keys      the key is not valid\n        fix: copy it again",
                "fail  peers     the host is not found\n        fix: correct its name",
                "ok    disk      there is room",
            ]
        );
    }
}
