//! `cowboy-proxy`: a member of the committee that releases secrets.

use super::{Command, EVERY, Globals, Kind, Settings, service_failure, view};
use crate::client::{proxy::described, seats};
use crate::daemon::serving::StopSignals;
use clap::Parser;
use cowboy_console::{failure::Failure, output::Output};
use cowboy_proxy::{Config, Proxy as Running};
use cowboy_service::Chain;
use cowboy_system::secrets::NUMBER;
use cowboy_types::signing::PrivateKey;
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

/// Runs a proxy: it holds a share of the key of secrets, and releases them to whom the chain says.
#[derive(Debug, Parser)]
#[command(name = "cowboy-proxy", version)]
pub(crate) struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Runs a command and answers its exit code.
pub(crate) fn run(cli: Cli) -> ExitCode {
    super::run::<Proxy>(cli.globals, cli.command)
}

/// A proxy's configuration has nothing that others do not have.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// The kind of service.
pub(super) struct Proxy;

impl Kind for Proxy {
    type Own = Nothing;
    const NAME: &'static str = "proxy";
    const EXAMPLE: &'static str = include_str!("proxy.toml");
    const RECORD: (u8, &'static str) = (NUMBER, "get_proxy");

    async fn work(settings: &Settings<Nothing>, output: Output) -> Result<(), Failure> {
        let common = &settings.common;
        let key = common.key()?;
        let config = Config {
            node: common.node.clone(),
            trusted: common.trusted()?,
            state: common.state.clone(),
            listen: common.listen,
            endpoint: common.endpoint.clone(),
            port: common.port,
            stake: common.stake()?,
            every: EVERY,
        };
        let mut signals = StopSignals::listen()?;
        let proxy = Running::start(config, &key).await.map_err(service_failure)?;
        let address = key.address();
        output.result(
            &json!({ "proxy": address.to_string(), "node": common.node, "listening": proxy.address().to_string() }),
            format_args!("ready: {address} works for {}, listening at {}", common.node, proxy.address()),
        );
        signals.signalled().await
    }

    async fn status(settings: &Settings<Nothing>, output: Output) -> Result<(), Failure> {
        let (common, address) = (&settings.common, settings.common.key()?.address());
        let chain = Chain::connect(&common.node, common.trusted()?).await.map_err(service_failure)?;
        let record = view(&chain.client, NUMBER, "get_proxy", json!({ "address": address.to_string() })).await?;
        let seats = seats::of(&chain, address).await?;
        let text = match record {
            Value::Null => format!("{address} is not registered yet"),
            _ => described(&record, &seats, &chain.client.params().await?),
        };
        output.result(&json!({ "proxy": record, "seats": seats }), text);
        Ok(())
    }

    fn is_readable(state: &Path, key: &PrivateKey) -> Result<(), String> {
        let files = cowboy_proxy::unreadable(state, key).map_err(|error| error.to_string())?;
        if files.is_empty() { Ok(()) } else { Err(format!("these do not open: {}", files.join(", "))) }
    }

    fn can_listen(address: SocketAddr) -> std::io::Result<()> {
        std::net::TcpListener::bind(address).map(drop)
    }
}
