//! `cowboy-proxy`: a member of the committee that releases secrets.

use crate::daemon::serving::StopSignals;
use crate::log::{self, LogFormat};
use clap::{Parser, Subcommand};
use cowboy_api::{Client, HexBytes, HexHash, keystore};
use cowboy_console::{
    amount,
    failure::Failure,
    output::{self, Output, table},
};
use cowboy_proxy::{Config, Proxy, Store};
use cowboy_service::Chain;
use cowboy_system::secrets::NUMBER;
use cowboy_types::signing::PrivateKey;
use cowboy_types::{Address, Amount, Hash};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// A configuration to start from.
const EXAMPLE: &str = include_str!("proxy.toml");

/// What is logged where RUST_LOG says nothing.
const TALKATIVE: &str = "info";

/// How often the chain is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// Runs a proxy: it holds a share of the key of secrets, and releases them to whom the chain says.
#[derive(Debug, Parser)]
#[command(name = "cowboy-proxy", version)]
pub(crate) struct Cli {
    /// The configuration; `cowboy-proxy example` prints one to start from
    #[arg(long, global = true, value_name = "FILE", default_value = "proxy.toml")]
    config: PathBuf,
    /// The format of log lines on stderr; RUST_LOG selects them
    #[arg(long, global = true, value_enum, default_value_t)]
    log_format: LogFormat,
    /// Print results as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Register and work until stopped; the default command
    Run,
    /// Check everything that a proxy needs, and print how to fix what is missing
    Doctor,
    /// Print the proxy's record on the chain, and its seat
    Status,
    /// Print a configuration to start from
    Example,
}

/// `proxy.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The node that is asked. What it says is believed with a proof only.
    node: String,
    /// The genesis hash of the chain.
    genesis: Option<HexHash>,
    /// The validators' group key.
    group_key: Option<HexBytes>,
    /// Whether the node's word is taken for both: on a chain for development.
    #[serde(default)]
    trust_node: bool,
    /// The file of the key of the proxy's account.
    key_file: PathBuf,
    /// The folder of seeds and shares.
    state: PathBuf,
    /// Where it listens.
    listen: SocketAddr,
    /// The host name or IPv6 address at which others reach it.
    endpoint: String,
    /// The port there; that of `listen` where it is left out.
    #[serde(default)]
    port: u16,
    /// What it stakes.
    stake_cby: u64,
}

/// Runs a command and answers its exit code.
pub(crate) fn run(cli: Cli) -> ExitCode {
    log::begin(cli.log_format, TALKATIVE);
    let output = Output { json: cli.json };
    let command = cli.command.unwrap_or(Command::Run);
    let done = match command {
        Command::Example => {
            output::text(EXAMPLE);
            Ok(())
        }
        command => settings(&cli.config).and_then(|settings| runtime()?.block_on(act(settings, command, output))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            failure.exit_code()
        }
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(proxy_failure)
}

/// Anything that keeps a proxy from running.
fn proxy_failure(error: impl std::fmt::Display) -> Failure {
    Failure::Node(error.to_string())
}

fn settings(path: &Path) -> Result<Settings, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::file(path))?;
    let settings: Settings =
        toml::from_str(&text).map_err(|error| Failure::argument(format!("{}: {error}", path.display()), "see docs/proxies.md"))?;
    if !settings.trust_node && (settings.genesis.is_none() || settings.group_key.is_none()) {
        let fix = "give both, as the chain's founders publish them; trust_node = true is for chains for development";
        return Err(Failure::argument("genesis and group_key are missing: the node could show another chain", fix));
    }
    Ok(settings)
}

impl Settings {
    fn trusted(&self) -> Result<Option<(Hash, [u8; 96])>, Failure> {
        match (&self.genesis, &self.group_key) {
            (Some(genesis), Some(key)) => {
                let wrong = |_| Failure::argument("group_key does not have 96 bytes", "copy group_key of the chain's /genesis");
                Ok(Some((genesis.0, key.0[..].try_into().map_err(wrong)?)))
            }
            _ => Ok(None),
        }
    }

    fn key(&self) -> Result<PrivateKey, Failure> {
        Ok(keystore::read(&self.key_file)?)
    }

    fn stake(&self) -> Result<Amount, Failure> {
        Amount::from_cby(self.stake_cby).ok_or_else(|| Failure::argument("the stake is more than the total supply", "stake less"))
    }

    fn config(&self) -> Result<Config, Failure> {
        Ok(Config {
            node: self.node.clone(),
            trusted: self.trusted()?,
            state: self.state.clone(),
            listen: self.listen,
            endpoint: self.endpoint.clone(),
            port: self.port,
            stake: self.stake()?,
            every: EVERY,
        })
    }
}

async fn act(settings: Settings, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Doctor => doctor(&settings, output).await,
        Command::Status => status(&settings, output).await,
        Command::Run | Command::Example => work(&settings, output).await,
    }
}

async fn work(settings: &Settings, output: Output) -> Result<(), Failure> {
    let key = settings.key()?;
    let config = settings.config()?;
    let mut signals = StopSignals::listen()?;
    let proxy = Proxy::start(config, &key).await.map_err(proxy_failure)?;
    let address = key.address();
    output.result(
        &json!({ "proxy": address.to_string(), "node": settings.node, "listening": proxy.address().to_string() }),
        format_args!("ready: {address} works for {}, listening at {}", settings.node, proxy.address()),
    );
    signals.signalled().await
}

async fn view(client: &Client, method: &str, argument: Value) -> Result<Value, Failure> {
    Ok(client.view(&Address::system(NUMBER), method, &argument).await?.result)
}

async fn status(settings: &Settings, output: Output) -> Result<(), Failure> {
    let client = Client::new(&settings.node)?;
    let address = settings.key()?.address().to_string();
    let record = view(&client, "get_proxy", json!({ "address": address })).await?;
    let key = view(&client, "get_key", json!({})).await?;
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

/// One thing that a proxy needs, and what to do where it is missing.
struct Check {
    what: &'static str,
    problem: Option<String>,
    fix: &'static str,
}

async fn doctor(settings: &Settings, output: Output) -> Result<(), Failure> {
    let mut checks = Vec::new();
    let mut check = |what, result: Result<(), String>, fix| checks.push(Check { what, problem: result.err(), fix });
    let text = |failure: Failure| failure.to_string();
    let key = settings.key();
    check("key", key.as_ref().map(drop).map_err(ToString::to_string), "cowboy wallet create, and name its file in key_file");
    let chain = match settings.trusted() {
        Ok(trusted) => Chain::connect(&settings.node, trusted).await.map_err(|error| error.to_string()),
        Err(failure) => Err(text(failure)),
    };
    check(
        "node and chain",
        chain.as_ref().map(drop).map_err(Clone::clone),
        "start the node, and compare genesis and group_key with its /genesis",
    );
    let folder = Store::open(&settings.state).map(drop).map_err(|error| error.to_string());
    check("folder", folder, "name a folder that this account may write in state");
    let port = std::net::TcpListener::bind(settings.listen).map(drop).map_err(|error| error.to_string());
    check("port", port, "end what listens there (a running proxy does), or choose another listen");
    if let (Ok(key), Ok(chain)) = (&key, &chain) {
        let address = key.address();
        let record = view(&chain.client, "get_proxy", json!({ "address": address.to_string() })).await?;
        let balance = chain.client.account_or_empty(&address).await?.balance;
        let is_funded = !record.is_null() || balance > settings.stake()?.0;
        let problem = if is_funded { Ok(()) } else { Err(format!("{address} has {}", amount::cby(balance))) };
        check("stake", problem, "send it the stake, and something for fees");
    }
    let rows: Vec<Value> = checks.iter().map(|check| json!({ "what": check.what, "problem": check.problem })).collect();
    let line = |check: &Check| match &check.problem {
        None => format!("ok    {}", check.what),
        Some(problem) => format!("bad   {}: {problem}\n      fix: {}", check.what, check.fix),
    };
    output.result(&rows, checks.iter().map(line).collect::<Vec<_>>().join("\n"));
    match checks.iter().filter(|check| check.problem.is_some()).count() {
        0 => Ok(()),
        bad => Err(Failure::Node(format!("{bad} of {} checks failed", checks.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example is right, and a node's word alone is refused.
    #[test]
    fn settings_are_read_strictly() {
        let example: Settings = toml::from_str(EXAMPLE).expect("the example is right");
        assert_eq!((example.stake_cby, example.trust_node, example.genesis.is_some()), (10_000, false, true));
        for wrong in ["", "node = 1", "node = \"http://a\"\nmore = 1"] {
            assert!(toml::from_str::<Settings>(wrong).is_err(), "{wrong}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("proxy.toml");
        let bare =
            EXAMPLE.lines().filter(|line| !line.starts_with("genesis") && !line.starts_with("group_key")).collect::<Vec<_>>().join("\n");
        std::fs::write(&path, &bare).expect("it is written");
        assert!(settings(&path).is_err(), "nothing says which chain it is");
        std::fs::write(&path, format!("trust_node = true\n{bare}")).expect("it is written");
        assert!(settings(&path).is_ok());
    }
}
