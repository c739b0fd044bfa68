//! `cowboy-runner doctor`: everything that a runner needs, checked in order, with what to do about what is missing.

use super::{key, runner_failure};
use cowboy_api::{Client, model};
use cowboy_console::{amount, failure::Failure, output::Output};
use cowboy_runner::{Config, execute::Executors, register};
use serde::Serialize;

/// One thing that was checked.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    is_right: bool,
    says: String,
}

/// Checks, prints, and fails where anything is missing.
pub(super) async fn run(config: &Config, output: Output) -> Result<(), Failure> {
    let mut findings = Vec::new();
    let mut found = |what, result: Result<String, String>| {
        let is_right = result.is_ok();
        findings.push(Finding { what, is_right, says: result.unwrap_or_else(|reason| reason) });
        is_right
    };
    let key = key(config);
    found("key", key.as_ref().map(|key| key.address().to_string()).map_err(ToString::to_string));
    let client = Client::new(&config.node.url)?;
    let health = client.health().await;
    let has_node = found(
        "node",
        health.as_ref().map(|health| format!("{} at height {}", config.node.url, health.height)).map_err(ToString::to_string),
    );
    if let (Ok(key), true) = (&key, has_node) {
        found("account", account(config, &client, key.address()).await);
    }
    found("journal", journal(config));
    match Executors::of(config) {
        Ok(executors) => {
            for (kind, result) in executors.check().await {
                found(kind, result);
            }
        }
        Err(error) => drop(found("executors", Err(error.to_string()))),
    }
    if let Some(endpoint) = &config.runner.endpoint {
        let answer: Result<serde_json::Value, _> = Client::new(endpoint)?.get("/status").await;
        let says =
            |error| format!("{endpoint} does not answer, so this runner cannot aggregate; start it, or correct runner.endpoint ({error})");
        found("endpoint", answer.map(|_| endpoint.clone()).map_err(says));
    }
    let lines: Vec<String> = findings
        .iter()
        .map(|finding| format!("{} {:<9} {}", if finding.is_right { "ok     " } else { "MISSING" }, finding.what, finding.says))
        .collect();
    output.result(&findings, lines.join("\n"));
    match findings.iter().filter(|finding| !finding.is_right).count() {
        0 => Ok(()),
        missing => Err(runner_failure(format_args!("{missing} of {} checks failed", findings.len()))),
    }
}

/// Whether the account can stake, or has.
async fn account(config: &Config, client: &Client, address: cowboy_types::Address) -> Result<String, String> {
    let balance = client.account_or_empty(&address).await.map_err(|error| error.to_string())?.balance;
    let record: Option<model::Runner> = client.get(&format!("/runner/{address}")).await.ok();
    let staked = record.as_ref().map_or(0, |record| record.stake);
    let stake = cowboy_types::Amount::from_cby(config.runner.stake_cby).map_or(u64::MAX, |amount| amount.0);
    let health = record.map_or_else(|| "not registered yet".to_owned(), |record| record.health);
    let says = format!("{} free, {} at stake, {health}", amount::cby(balance), amount::cby(staked));
    match register::to_add(staked, stake, balance) {
        Ok(_) => Ok(says),
        Err(needed) => Err(format!("{says}; send it {} more, for the stake and for fees", amount::cby(needed.saturating_sub(balance)))),
    }
}

/// Whether the journal's folder can be written to.
fn journal(config: &Config) -> Result<String, String> {
    let folder = &config.runner.state;
    let probe = folder.join("doctor.tmp");
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&probe, b"")).and_then(|()| std::fs::remove_file(&probe));
    written.map(|()| folder.display().to_string()).map_err(|error| format!("{}: {error}; set another runner.state", folder.display()))
}
