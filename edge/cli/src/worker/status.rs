//! `cowboy-runner status`: what a runner does, in its own words and the chain's.

use super::key;
use cowboy_api::{Client, model};
use cowboy_console::{
    amount,
    failure::Failure,
    output::{Output, table},
};
use cowboy_runner::{Config, register};
use cowboy_types::Address;

/// Prints the runner's own status, where it listens, and the chain's record.
pub(super) async fn run(config: &Config, output: Output) -> Result<(), Failure> {
    let address = key(config)?.address();
    let client = Client::new(&config.node.url)?;
    let record = register::find(&client, &address).await?;
    let own: Option<serde_json::Value> = match config.runner.listen {
        Some(listen) => Client::new(&format!("http://{listen}"))?.get("/status").await.ok(),
        None => None,
    };
    let process = if own.is_some() { "running" } else { "does not answer at runner.listen" };
    let mut lines = vec![described(address, record.as_ref(), process)];
    for job in own.iter().filter_map(|own| own["jobs"].as_array()).flatten() {
        let text = |name: &str| job[name].as_str().unwrap_or_default().to_owned();
        lines.push(format!("  {}  {:<9} {}", text("job_id"), text("status"), text("step")));
    }
    output.result(&serde_json::json!({ "chain": record, "process": own }), lines.join("\n"));
    Ok(())
}

/// A runner for people, as the chain has it.
fn described(address: Address, record: Option<&model::Runner>, process: &str) -> String {
    let Some(record) = record else {
        let state = format!("{address} is not registered yet: it registers when `cowboy-runner` starts");
        return table([("runner", state), ("process", process.to_owned())]);
    };
    table([
        ("runner", address.to_string()),
        ("health", record.health.clone()),
        ("stake", amount::cby(record.stake)),
        ("reputation", record.reputation.to_string()),
        ("jobs", format!("{} under way, {} done, {} failed", record.active_jobs, record.jobs_done, record.jobs_failed)),
        ("heard of", format!("at {}", record.last_heartbeat)),
        ("process", process.to_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who looks before the first start reads that the runner registers by itself.
    #[test]
    fn a_runner_that_is_not_registered_says_so() {
        let shown = described(Address([7; 20]), None, "does not answer at runner.listen");
        assert!(shown.contains("is not registered yet") && shown.contains("process  does not answer"), "{shown}");
    }
}
