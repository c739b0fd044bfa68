//! `cowboy-gateway`: serves names from a chain that it follows and verifies.

mod doctor;
mod status;

use crate::{
    daemon::{
        doctor::reached,
        follow, node_failure, not_running, serving,
        state::Folder,
        state_sync,
        sync::{self, Received},
    },
    log,
    service::{Command, Globals, Program},
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
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Runs a gateway: it serves actors as web sites, at http://<name>.<zone>.
#[derive(Debug, Parser)]
#[command(name = "cowboy-gateway", version)]
pub(crate) struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Option<Command>,
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

/// A configuration to start from.
const EXAMPLE: &str = include_str!("gateway/example.toml");

/// Runs a command and answers its exit code.
pub(crate) fn run(cli: Cli) -> ExitCode {
    let program = Program { name: "gateway", example: EXAMPLE, logged: format!("{QUIET},{}", log::ENGINE) };
    program.run(cli.globals, cli.command, |path, command, output| {
        settings(path).and_then(|settings| {
            runtime()?.block_on(async {
                match command {
                    Command::Doctor => doctor::run(&settings, output).await,
                    Command::Status => status::run(&settings, output).await,
                    Command::Run | Command::Example => serve(settings, output).await,
                }
            })
        })
    })
}

impl Settings {
    /// The genesis hash that the chain must have.
    fn expected_genesis(&self) -> Result<Option<Hash>, Failure> {
        let wrong = |_| Failure::argument("genesis is not a hash".to_owned(), "give 0x and 64 hex digits");
        self.genesis.as_deref().map(str::parse::<Hash>).transpose().map_err(wrong)
    }

    /// Everything that the gateway's server is told.
    fn server(&self) -> cowboy_gateway::Config {
        cowboy_gateway::Config { tls: self.tls.clone(), dns: self.dns.clone(), domains: self.domains.clone(), ..self.http.clone() }
    }
}

impl Register {
    /// What it stakes.
    fn stake(&self) -> Result<Amount, Failure> {
        Amount::from_cby(self.stake_cby)
            .ok_or_else(|| Failure::argument("the stake is more than the total supply".to_owned(), "stake less"))
    }
}

/// What the gateway at the address of these settings says of itself, if one runs there.
async fn running(settings: &Settings) -> Option<Value> {
    Client::new(&format!("http://{}", reached(settings.http.listen))).ok()?.get("/_cowboy/info").await.ok()
}

/// Handlers run where requests are read: a thread a core.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    cowboy_serve::runtime(None).map_err(serving::threads)
}

fn settings(path: &Path) -> Result<Settings, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::file(path))?;
    toml::from_str(&text)
        .map_err(|error| Failure::argument(format!("{}: {error}", path.display()), "see docs/gateways.md, or cowboy-gateway example"))
}

async fn serve(settings: Settings, output: Output) -> Result<(), Failure> {
    let config = settings.server();
    let slots = serving::claim(config.limits.connections)?;
    // The ports come first: a gateway that cannot listen must not touch the folder.
    let listener = Listener::bind_all(&config).await.map_err(node_failure)?;
    let (tls, names) = (listener.tls_address(), listener.names_address());
    let source = Client::new(&settings.node)?;
    let wanted = settings.expected_genesis()?;
    let (pool, received) = (follow::pool_of(std::slice::from_ref(&settings.node))?, Received::default());
    let genesis = sync::fetch_genesis(&HttpSource::new(&settings.node)?, wanted).await?;
    let key = settings.key_file.as_deref().map(keystore::read).transpose()?;
    // Not before: at the question for a passphrase, the system ends the program at once.
    let mut signals = serving::StopSignals::listen()?;
    let registration = settings.register.as_ref().map(|register| {
        let (endpoint, http_port) = (register.endpoint.clone(), register.http_port);
        Ok::<_, Failure>(Registration { endpoint, http_port, stake: register.stake()? })
    });
    let registration = registration.transpose()?;
    let folder = Folder::open(settings.state.as_deref())?;
    let directory = folder.path();
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
    let gateway = listener.serve(config, backend).map_err(node_failure)?;
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

    /// The example is that of the documentation, and mistakes are told.
    #[test]
    fn settings_are_read_strictly() {
        let guide = include_str!("../../../docs/gateways.md");
        assert_eq!(guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()), Some(EXAMPLE));
        let settings: Settings = toml::from_str(EXAMPLE).expect("the example is right");
        assert!(settings.expected_genesis().is_ok_and(|genesis| genesis == Some(Hash::ZERO)));
        assert!(settings.server().tls.is_some_and(|tls| tls.acme.is_some()));
        assert_eq!(settings.register.map(|register| register.http_port), Some(443));
        for wrong in ["", "node = 1", "node = \"http://a\"\nmore = 1", "node = \"http://a\"\n[http]\nlisten = \"x\""] {
            assert!(toml::from_str::<Settings>(wrong).is_err(), "{wrong}");
        }
    }

    /// It has the commands of the other services, and without one it works; its file has its own name.
    #[test]
    fn it_is_called_as_the_other_services() {
        for (arguments, is_right) in [(&["example"][..], true), (&["--config", "a.toml", "doctor"], true), (&[], true), (&["serve"], false)]
        {
            let parsed = Cli::try_parse_from([&["cowboy-gateway"], arguments].concat());
            assert_eq!(parsed.is_ok(), is_right, "{arguments:?}");
        }
        let help = <Cli as clap::CommandFactory>::command().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("gateway.toml for cowboy-gateway"), "{help}");
    }
}
