//! `cowboyd`: the node.

mod admin;
mod backup;
mod banner;
mod ceremony;
mod check;
mod checkpoint;
mod demo;
mod dev;
pub(crate) mod doctor;
mod examples;
pub(crate) mod follow;
mod forget;
mod genesis_file;
mod join;
mod kept;
mod keys;
mod lag;
mod link;
mod network;
mod node_files;
mod overlay;
mod runners;
mod services;
pub(crate) mod serving;
mod snapshot;
pub(crate) mod state;
pub(crate) mod state_sync;
pub(crate) mod sync;
mod temporary;
mod testnet;
mod upgrade;

use crate::log::{self, LogFormat};
use clap::{Parser, Subcommand};
use cowboy_console::{failure::Failure, output::Output};
use cowboy_node::{NodeError, Outdated};
use std::process::ExitCode;

/// A node of a Cowboy chain.
#[derive(Debug, Parser)]
#[command(name = "cowboyd", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// The format of log lines on stderr; RUST_LOG selects them
    #[arg(long, global = true, value_enum, default_value_t)]
    log_format: LogFormat,
    /// Print results as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a devnet: one validator, funded accounts, faucet, explorer
    Dev(Box<dev::Dev>),
    /// Run a network on this computer, each member in a process of its own
    Testnet(testnet::Testnet),
    /// Run a validator or a follower
    Start(network::Start),
    /// Join a network as a full node: find peers, fetch and verify the chain, and serve the API
    Join(join::Join),
    /// Print the record of a node, by which others join
    Record(join::ShowRecord),
    /// Follow other nodes: verify and execute their blocks, and serve the API
    Follow(follow::Follow),
    /// Create the genesis and the validators' files of a new network
    Genesis(network::NewNetwork),
    /// Create a genesis together with other founders, without anybody who has the group key
    Ceremony(ceremony::Ceremony),
    /// Set up a folder for a node that follows a chain
    Init(network::Init),
    /// Export the chain of a stopped node to a file, or import it
    #[command(subcommand)]
    Snapshot(snapshot::Snapshot),
    /// Check the state folder of a stopped node, and repair its ledger
    Check(check::Check),
    /// Check a node, its configuration and the computer that it runs on
    Doctor(doctor::Doctor),
    /// See and steer a running node on this computer: metrics, log, peers, pool, stores
    Admin(admin::Admin),
    /// Try out a protocol version on the blocks of a stopped node
    #[command(subcommand)]
    Upgrade(upgrade::Upgrade),
    /// Create, print, back up and restore a validator's keys
    #[command(subcommand)]
    Keys(keys::Keys),
    /// Print the version
    Version,
}

/// What is logged where RUST_LOG says nothing, beside the engine.
const QUIET: &str = "warn,cowboy_node::progress=info";

/// Runs a command and answers its exit code.
pub(crate) fn run(cli: Cli) -> ExitCode {
    log::begin(cli.log_format, &format!("{QUIET},{}", log::ENGINE));
    let output = Output { json: cli.json };
    let done = match cli.command {
        Command::Dev(dev) => dev.run(output),
        Command::Testnet(testnet) => testnet.run(output),
        Command::Start(start) => start.run(output),
        Command::Join(join) => join.run(output),
        Command::Record(record) => record.run(output),
        Command::Follow(follow) => follow.run(output),
        Command::Genesis(network) => network.run(output),
        Command::Ceremony(ceremony) => ceremony.run(output),
        Command::Init(init) => init.run(output),
        Command::Snapshot(snapshot) => snapshot.run(output),
        Command::Check(check) => check.run(output),
        Command::Doctor(doctor) => doctor.run(output),
        Command::Admin(admin) => admin.run(output),
        Command::Upgrade(upgrade) => upgrade.run(output),
        Command::Keys(keys) => keys.run(output),
        Command::Version => {
            let version = env!("CARGO_PKG_VERSION");
            output.result(&serde_json::json!({ "version": version }), format_args!("cowboyd {version}"));
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            failure.exit_code()
        }
    }
}

/// The exit code of a node that cannot execute the next block: starting the same build again is of no use.
const OUTDATED: u8 = 3;

/// Why a node does not run, or no longer.
pub(crate) fn not_running(error: NodeError) -> Failure {
    match error {
        NodeError::Outdated(error) => outdated(error),
        other => node_failure(other),
    }
}

/// The chain runs, or will run next, a protocol version that this build does not know.
fn outdated(error: Outdated) -> Failure {
    Failure::Coded { message: error.to_string(), code: OUTDATED }
}

/// Anything that keeps a node from running.
pub(crate) fn node_failure(error: impl std::fmt::Display) -> Failure {
    Failure::Node(error.to_string())
}
