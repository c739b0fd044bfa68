//! `cowboy-relay`: keeps shards of volumes.

use super::{Command, EVERY, Globals, Kind, Settings, service_failure, view};
use crate::client::relay::described;
use crate::daemon::serving::StopSignals;
use clap::Parser;
use cowboy_api::Client;
use cowboy_console::{failure::Failure, output::Output};
use cowboy_relay::{Config, Relay as Running};
use cowboy_serve::limits::LimitError;
use cowboy_types::actors;
use serde::Deserialize;
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

/// Runs a relay: it keeps shards of volumes, serves them, and proves that it has them.
#[derive(Debug, Parser)]
#[command(name = "cowboy-relay", version)]
pub(crate) struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Runs a command and answers its exit code.
pub(crate) fn run(cli: Cli) -> ExitCode {
    super::run::<Relay>(cli.globals, cli.command)
}

/// What a relay's configuration has beside that of every service.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Own {
    /// Where it stands: up to 16 of a-z, 0-9 and -.
    region: String,
    /// GiB that it offers.
    capacity_gib: u64,
    /// Base units of CBY for a MiB and an epoch.
    #[serde(default = "usual_ask")]
    ask: u64,
    /// Where Prometheus reads its numbers; nowhere where it is left out.
    metrics: Option<SocketAddr>,
}

/// The price that volumes accept where nothing else is said.
const fn usual_ask() -> u64 {
    cowboy_volumes::USUAL_PRICE
}

/// The kind of service.
pub(super) struct Relay;

impl Kind for Relay {
    type Own = Own;
    const NAME: &'static str = "relay";
    const EXAMPLE: &'static str = include_str!("relay.toml");
    const RECORD: (u8, &'static str) = (actors::RELAYS, "get_relay");

    async fn work(settings: &Settings<Own>, output: Output) -> Result<(), Failure> {
        let (common, own) = (&settings.common, &settings.own);
        let key = common.key()?;
        let config = Config {
            node: common.node.clone(),
            trusted: common.trusted()?,
            state: common.state.clone(),
            listen: common.listen,
            endpoint: common.endpoint.clone(),
            port: common.port,
            region: own.region.clone(),
            capacity: own.capacity_gib.saturating_mul(1 << 30),
            ask: own.ask,
            stake: common.stake()?,
            every: EVERY,
        };
        let mut signals = StopSignals::listen()?;
        let mut relay = Running::start(config, &key).await.map_err(service_failure)?;
        let metrics = match own.metrics {
            Some(address) => Some(relay.serve_metrics(address).await.map_err(service_failure)?.to_string()),
            None => None,
        };
        let address = key.address();
        output.result(
            &json!({ "relay": address.to_string(), "node": common.node, "listening": relay.address().to_string(), "metrics": metrics }),
            format_args!("ready: {address} works for {}, listening at {}", common.node, relay.address()),
        );
        signals.signalled().await
    }

    async fn status(settings: &Settings<Own>, output: Output) -> Result<(), Failure> {
        let (client, address) = (Client::new(&settings.common.node)?, settings.common.key()?.address());
        let argument = json!({ "address": address.to_string() });
        let relay = view(&client, actors::RELAYS, "get_relay", argument.clone()).await?;
        let round = view(&client, actors::RELAYS, "get_round", argument).await?;
        let text =
            if relay.is_null() { format!("{address} is not registered yet") } else { described(&relay, &round, &client.params().await?) };
        output.result(&json!({ "relay": relay, "round": round }), text);
        Ok(())
    }

    fn room(settings: &Settings<Own>) -> Option<Result<(), String>> {
        Some(has_room(&settings.common.state, settings.own.capacity_gib))
    }

    fn has_files() -> Result<(), LimitError> {
        cowboy_relay::has_files()
    }

    fn can_listen(address: SocketAddr) -> std::io::Result<()> {
        std::net::UdpSocket::bind(address).map(drop)
    }
}

/// Fails where the disk of a folder is smaller than what the relay offers.
fn has_room(folder: &Path, capacity_gib: u64) -> Result<(), String> {
    let total = cowboy_serve::total_bytes(folder).map_err(|error| error.to_string())? >> 30;
    if total < capacity_gib {
        return Err(format!("capacity_gib is {capacity_gib}, and the disk of {} has {total} GiB in all", folder.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is offered has to fit on the disk.
    #[test]
    fn a_disk_has_room_for_what_is_offered() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(has_room(folder.path(), 0), Ok(()));
        let problem = has_room(folder.path(), u64::MAX).expect_err("no disk is so large");
        assert!(problem.contains("capacity_gib is 18446744073709551615"), "{problem}");
        assert!(has_room(Path::new("/nowhere"), 0).is_err());
    }
}
