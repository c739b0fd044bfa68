//! `cowboy-proxy`: a member of the committee that releases secrets.

use super::{Command, EVERY, Globals, Kind, Settings, service_failure, view};
use crate::daemon::serving::StopSignals;
use clap::Parser;
use cowboy_api::Client;
use cowboy_console::{
    amount,
    failure::Failure,
    output::{Output, table},
};
use cowboy_proxy::{Config, Proxy as Running};
use cowboy_system::secrets::NUMBER;
use cowboy_types::Address;
use cowboy_types::signing::PrivateKey;
use serde::Deserialize;
use serde_json::json;
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

    async fn status(client: &Client, address: Address, output: Output) -> Result<(), Failure> {
        let address = address.to_string();
        let record = view(client, NUMBER, "get_proxy", json!({ "address": address })).await?;
        let key = view(client, NUMBER, "get_key", json!({})).await?;
        let seat = key["members"].as_array().and_then(|members| members.iter().position(|member| member["address"] == json!(address)));
        let state = if record.is_null() {
            "not registered"
        } else if record["is_able"] == json!(true) {
            "can be drawn"
        } else {
            "cannot be drawn"
        };
        let text = table([
            ("proxy", address.clone()),
            ("state", state.to_owned()),
            ("stake", record["stake"].as_u64().map_or_else(|| "none".to_owned(), amount::cby)),
            ("heard of", record["last_heartbeat"].to_string()),
            ("committee", seat.map_or_else(|| "no seat".to_owned(), |seat| format!("seat {seat} of committee {}", key["epoch"]))),
        ]);
        output.result(&json!({ "proxy": record, "key": key, "seat": seat }), text);
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
