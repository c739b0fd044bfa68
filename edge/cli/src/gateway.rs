//! `cowboy-gateway`: serves names from a chain that it follows and verifies.

use crate::{
    daemon::{
        follow, node_failure, not_running, serving,
        state::Folder,
        state_sync,
        sync::{self, Received},
    },
    log::{self, LogFormat},
};
use clap::Parser;
use cowboy_api::{Client, keystore};
use cowboy_console::{
    failure::Failure,
    output::{self, Output},
};
use cowboy_gateway::{Backend, Listener, Registration, Source, Upstream};
use cowboy_node::{NodeConfig, NodeHandle};
use cowboy_overlay::HttpSource;
use cowboy_store::Directory;
use cowboy_types::{Amount, Hash};
use serde::Deserialize;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Serves actors as web sites: http://<name>.<zone>.
#[derive(Debug, Parser)]
#[command(name = "cowboy-gateway", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// The settings
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The format of log lines on stderr; RUST_LOG selects them
    #[arg(long, value_enum, default_value_t)]
    log_format: LogFormat,
    /// Print results as JSON
    #[arg(long)]
    json: bool,
}

/// What is logged where RUST_LOG says nothing: every request.
const QUIET: &str = "warn,cowboy_gateway=info";

/// `gateway.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The node that is followed, and that takes the transactions.
    node: String,
    /// The genesis hash that its chain must have; trusted where left out.
    genesis: Option<String>,
    /// Where the chain is kept; a temporary folder where left out.
    state: Option<PathBuf>,
    /// Where a new folder begins.
    #[serde(default)]
    start: Start,
    /// The file of the key that signs commands; without one the gateway only reads.
    key_file: Option<PathBuf>,
    /// What the gateway says of itself where it is not registered yet.
    register: Option<Register>,
    /// Where it listens, and what it bears.
    #[serde(default)]
    http: cowboy_gateway::Config,
    /// Where TLS ends; plain HTTP only where left out.
    tls: Option<cowboy_gateway::Tls>,
    /// The name server of the zones; none where left out.
    dns: Option<cowboy_gateway::Dns>,
    /// Domains of other zones; none where left out.
    domains: Option<cowboy_gateway::Domains>,
}

/// Where the chain of a new folder begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Start {
    /// At the beginning: every block is executed.
    #[default]
    Genesis,
    /// At one of the newest blocks: the operations that made its state are fetched, and checked against its header.
    Newest,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Register {
    /// A host name or an address.
    endpoint: String,
    /// The port there.
    http_port: u16,
    /// What it stakes.
    stake_cby: u64,
}

/// Runs it and answers its exit code.
pub(crate) fn run(cli: Cli) -> ExitCode {
    log::begin(cli.log_format, &format!("{QUIET},{}", log::ENGINE));
    let output = Output { json: cli.json };
    let done = settings(&cli.config).and_then(|settings| runtime()?.block_on(serve(settings, output)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            failure.exit_code()
        }
    }
}

/// Handlers run where requests are read: a thread a core.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    cowboy_serve::runtime(None).map_err(serving::threads)
}

fn settings(path: &Path) -> Result<Settings, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::file(path))?;
    toml::from_str(&text).map_err(|error| Failure::argument(format!("{}: {error}", path.display()), "docs/gateways.md has an example"))
}

async fn serve(mut settings: Settings, output: Output) -> Result<(), Failure> {
    let slots = serving::claim(settings.http.limits.connections)?;
    (settings.http.tls, settings.http.dns, settings.http.domains) = (settings.tls.take(), settings.dns.take(), settings.domains.take());
    // The ports come first: a gateway that cannot listen must not touch the folder.
    let listener = Listener::bind_all(&settings.http).await.map_err(node_failure)?;
    let (tls, names) = (listener.tls_address(), listener.names_address());
    let source = Client::new(&settings.node)?;
    let wrong = |_| Failure::argument("genesis is not a hash".to_owned(), "give 0x and 64 hex digits");
    let wanted = settings.genesis.as_deref().map(str::parse::<Hash>).transpose().map_err(wrong)?;
    let (pool, received) = (follow::pool_of(&[settings.node.clone()])?, Received::default());
    let genesis = sync::fetch_genesis(&HttpSource::new(&settings.node)?, wanted).await?;
    let key = settings.key_file.as_deref().map(keystore::read).transpose()?;
    // Not before: at the question for a passphrase, the system ends the program at once.
    let mut signals = serving::StopSignals::listen()?;
    let stake =
        |cby| Amount::from_cby(cby).ok_or_else(|| Failure::argument("the stake is more than the total supply".to_owned(), "stake less"));
    let registration = settings.register.map(|register| {
        Ok::<_, Failure>(Registration { endpoint: register.endpoint, http_port: register.http_port, stake: stake(register.stake_cby)? })
    });
    let registration = registration.transpose()?;
    let folder = Folder::open(settings.state.as_deref(), false)?;
    let directory = folder.path().to_owned();
    let journal = Some(directory.join("commands"));
    let is_new = Directory::genesis_of(&directory).map_err(node_failure)?.is_none();
    if is_new && settings.start == Start::Newest {
        let begun = state_sync::begin_at_newest(&pool, (&genesis, None), &directory, &received).await?;
        let said = begun.map_or("the chain has not begun".to_owned(), |head| format!("began at height {}", head.height));
        output::line(format_args!("{said}"));
    }
    let started =
        tokio::task::spawn_blocking(move || NodeHandle::follow(NodeConfig::follower(directory, genesis))).await.map_err(node_failure)?;
    let (node, feed) = started.map_err(not_running)?;
    let followed = Source::default();
    // Until it is compared with its node.
    followed.note(true);
    let upstream = Upstream::Remote(source.clone());
    let backend = Backend { node: node.clone(), upstream, key, journal, registration, keeps_up: true, source: followed.clone(), slots };
    let gateway = listener.serve(settings.http, backend).map_err(node_failure)?;
    for (what, address) in [("tls", tls), ("names", names)] {
        if let Some(address) = address {
            output::line(format_args!("{what}: {address}"));
        }
    }
    output::line(format_args!("following {} from height {}\nready: http://{}", settings.node, node.head().height, gateway.address()));
    let note = |is_away| followed.note(is_away);
    let done = tokio::select! {
        failure = sync::feed_for_ever(&pool, &node, &feed, &received, output, &note) => Err(failure),
        told = signals.told(&node) => told,
    };
    gateway.stop().await;
    drop(feed);
    tokio::task::spawn_blocking(move || node.shutdown()).await.map_err(node_failure)?;
    drop(folder);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the documentation is right, and mistakes are told.
    #[test]
    fn settings_are_read_strictly() {
        let guide = include_str!("../../../docs/gateways.md");
        let example = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the guide has an example");
        let settings: Settings = toml::from_str(example).expect("the example is right");
        assert_eq!(settings.register.map(|register| register.http_port), Some(443));
        for wrong in ["", "node = 1", "node = \"http://a\"\nmore = 1", "node = \"http://a\"\n[http]\nlisten = \"x\""] {
            assert!(toml::from_str::<Settings>(wrong).is_err(), "{wrong}");
        }
    }
}
