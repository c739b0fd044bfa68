//! `cowboy-runner`: the worker of the off-chain market.

use crate::{
    daemon::serving::{self, StopSignals},
    log::{self, LogFormat},
};
use clap::{Parser, Subcommand};
use cowboy_api::{
    HexAddress,
    keystore::{self, ENV_KEY, ENV_RPC_URL},
};
use cowboy_console::{failure::Failure, output::Output};
use cowboy_runner::{Config, Feed, Runner};
use cowboy_serve::limits::MAX_CONNECTIONS;
use cowboy_types::signing::PrivateKey;
use std::{path::PathBuf, process::ExitCode};

mod doctor;
mod status;

/// Runs a runner: it does jobs for the chain for payment.
#[derive(Debug, Parser)]
#[command(name = "cowboy-runner", version)]
pub(crate) struct Cli {
    /// The configuration; `cowboy-runner example` prints one to start from
    #[arg(long, global = true, value_name = "FILE", default_value = "runner.toml")]
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
    /// Check everything that a runner needs, and print how to fix what is missing
    Doctor,
    /// Print the state of this configuration's runner, and its record on the chain
    Status,
    /// Print a configuration to start from
    Example,
    /// Build the box of a container; the runner calls this
    #[command(hide = true)]
    Box,
}

/// What is logged where RUST_LOG says nothing.
const TALKATIVE: &str = "info,redb=warn";

/// Runs a command and answers its exit code.
pub(crate) fn run(cli: Cli) -> ExitCode {
    // Whoever makes namespaces has one thread: nothing may start another before this.
    if matches!(cli.command, Some(Command::Box)) {
        return cowboy_container::child_main();
    }
    log::begin(cli.log_format, TALKATIVE);
    let output = Output { json: cli.json };
    let done = match cli.command {
        Some(Command::Example) => {
            cowboy_console::output::text(cowboy_runner::config::EXAMPLE);
            Ok(())
        }
        command => runtime().and_then(|runtime| runtime.block_on(act(&cli.config, command.unwrap_or(Command::Run), output))),
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
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(runner_failure)
}

async fn act(path: &std::path::Path, command: Command, output: Output) -> Result<(), Failure> {
    let config = read(path)?;
    match command {
        Command::Doctor => doctor::run(&config, output).await,
        Command::Status => status::run(&config, output).await,
        Command::Run | Command::Example | Command::Box => work(config, output).await,
    }
}

/// The configuration, with what the environment says beside it.
fn read(path: &std::path::Path) -> Result<Config, Failure> {
    let mut config = Config::read(path).map_err(|error| Failure::argument(error.to_string(), error.fix()))?;
    if let Ok(url) = std::env::var(ENV_RPC_URL) {
        config.node.url = url;
    }
    Ok(config)
}

/// The runner's key: the environment's, or the file's.
fn key(config: &Config) -> Result<PrivateKey, Failure> {
    match std::env::var(ENV_KEY) {
        Ok(text) => Ok(keystore::decode(&text)?),
        Err(_) => Ok(keystore::read(&config.runner.key)?),
    }
}

async fn work(config: Config, output: Output) -> Result<(), Failure> {
    serving::claim_limits(MAX_CONNECTIONS)?;
    if std::env::var_os(ENV_KEY).is_none() {
        serving::warn_of_readers(&config.runner.key);
    }
    let key = key(&config)?;
    let client = cowboy_api::Client::new(&config.node.url)?;
    let feed = Feed::start(client, config.poll_every());
    let mut signals = StopSignals::listen()?;
    let mut told = std::pin::pin!(signals.signalled());
    // A runner that starts before its node waits for it.
    let started = async {
        loop {
            match Runner::start(config.clone(), key.clone(), &feed).await {
                Err(cowboy_runner::RunnerError::Api(error)) if error.code == cowboy_api::error::UNREACHABLE.code => {
                    tracing::warn!(%error, "the node does not answer yet");
                    tokio::time::sleep(config.poll_every()).await;
                }
                other => return other,
            }
        }
    };
    let mut runner = tokio::select! {
        started = started => started.map_err(runner_failure)?,
        told = &mut told => return told,
    };
    let address = HexAddress::from(key.address());
    let listening = runner.address().map_or_else(|| "nowhere".to_owned(), |address| format!("http://{address}"));
    output.result(
        &serde_json::json!({ "runner": address, "node": config.node.url, "listening": listening }),
        format_args!("ready: {address} works for {}, listening at {listening}", config.node.url),
    );
    tokio::select! {
        ended = runner.ended() => Err(runner_failure(ended)),
        told = told => told,
    }
}

/// Anything that keeps a runner from running.
fn runner_failure(error: impl std::fmt::Display) -> Failure {
    Failure::Node(error.to_string())
}
