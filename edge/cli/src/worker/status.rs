//! `cowboy-runner status`: what a runner does, in its own words and the chain's.

use super::key;
use cowboy_api::{Client, model};
use cowboy_console::{amount, failure::Failure, output::Output};
use cowboy_runner::Config;

/// Prints the runner's own status, where it listens, and the chain's record.
pub(super) async fn run(config: &Config, output: Output) -> Result<(), Failure> {
    let address = key(config)?.address();
    let client = Client::new(&config.node.url)?;
    let record: model::Runner = client.get(&format!("/runner/{address}")).await?;
    let own: Option<serde_json::Value> = match config.runner.listen {
        Some(listen) => Client::new(&format!("http://{listen}"))?.get("/status").await.ok(),
        None => None,
    };
    let mut lines = vec![cowboy_console::output::table([
        ("runner", address.to_string()),
        ("health", record.health.clone()),
        ("stake", amount::cby(record.stake)),
        ("reputation", record.reputation.to_string()),
        ("jobs", format!("{} under way, {} done, {} failed", record.active_jobs, record.jobs_done, record.jobs_failed)),
        ("heard of", format!("at {}", record.last_heartbeat)),
        ("process", if own.is_some() { "running".to_owned() } else { "does not answer at runner.listen".to_owned() }),
    ])];
    for job in own.iter().filter_map(|own| own["jobs"].as_array()).flatten() {
        let text = |name: &str| job[name].as_str().unwrap_or_default().to_owned();
        lines.push(format!("  {}  {:<9} {}", text("job_id"), text("status"), text("step")));
    }
    output.result(&serde_json::json!({ "chain": record, "process": own }), lines.join("\n"));
    Ok(())
}
