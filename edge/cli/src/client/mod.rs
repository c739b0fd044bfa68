//! `cowboy`: the client.

mod account;
mod actor;
mod block;
mod chain;
mod config;
mod deliveries;
mod entitlement;
mod gateway;
mod gov;
mod init;
mod job;
mod name;
mod outcome;
mod proof;
mod rent;
mod runner;
mod session;
mod shell;
mod simulate;
mod template;
mod timer;
mod token;
mod transaction;
mod transfer;
mod validator;
mod verify;
pub(crate) mod vm;
mod wallet;

use crate::{
    failure::Failure,
    output::Output,
    tools::{lint::Lint, test::Test},
};
use clap::{Args, Parser, Subcommand};
use session::Session;
use std::process::ExitCode;

/// The client of a Cowboy chain: wallets, actors, transfers, blocks.
///
/// Keys are looked up in --private-key, COWBOY_PRIVATE_KEY, the key_file of .cowboy/config.json, and .cowboy/key; the node in
/// --rpc-url, COWBOY_RPC_URL, the network of --network or of `cowboy config use`, .cowboy/config.json, and http://localhost:4000.
#[derive(Debug, Parser)]
#[command(name = "cowboy", version, arg_required_else_help = true, after_help = FIRST_STEPS)]
pub(crate) struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

const FIRST_STEPS: &str = "First steps, with `cowboyd dev` in another terminal:
  cowboy init local
  cowboy wallet create
  cowboy faucet
  cowboy actor new hello
  cowboy actor deploy --code hello/actor.py
  cowboy actor execute hello greet --payload Ada
  cowboy actor query hello greetings";

/// What every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Globals {
    /// The node's address
    #[arg(long, global = true, value_name = "URL", help_heading = "Everywhere")]
    pub(crate) rpc_url: Option<String>,
    /// A network of this folder, as `cowboy config add` made it
    #[arg(long, global = true, value_name = "NAME", help_heading = "Everywhere", env = "COWBOY_NETWORK")]
    pub(crate) network: Option<String>,
    /// The key that signs: hex, a PEM block, or a file
    #[arg(long, global = true, value_name = "KEY", help_heading = "Everywhere")]
    pub(crate) private_key: Option<String>,
    /// Print JSON
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set up this folder for a network
    Init(init::Init),
    /// The networks of this folder, and which one it uses
    #[command(subcommand)]
    Config(config::Config),
    /// Make, show, move keys
    #[command(subcommand)]
    Wallet(wallet::Wallet),
    /// Balances and nonces
    #[command(subcommand)]
    Account(account::Account),
    /// Write, deploy, call and read actors
    #[command(subcommand)]
    Actor(actor::Actor),
    /// What manifests may name, and who may do what
    #[command(subcommand)]
    Entitlement(entitlement::Entitlement),
    /// Send CBY
    Transfer(transfer::Transfer),
    /// Ask the faucet of a dev chain for CBY
    Faucet(transfer::Faucet),
    /// Look at and send transactions
    #[command(subcommand)]
    Transaction(transaction::Transaction),
    /// Look at blocks
    #[command(subcommand)]
    Block(block::Block),
    /// Ask a handler of an actor, without a transaction
    Query(actor::Query),
    /// Prove what the node says, against the validators' signature
    Proof(proof::Proof),
    /// Check what a gateway answers: proofs, certificate, and the actor's code once more
    VerifyResponse(verify::VerifyResponse),
    /// How the chain and the node are
    Status,
    /// Ask the off-chain market, and watch it
    #[command(subcommand)]
    Job(job::Job),
    /// Who does off-chain work, and becoming one of them
    #[command(subcommand)]
    Runner(runner::Runner),
    /// Calls that the chain makes by itself at a height
    #[command(subcommand)]
    Timer(timer::Timer),
    /// Tokens of the protocol
    #[command(subcommand)]
    Token(token::Token),
    /// Names of actors
    #[command(subcommand)]
    Name(name::Name),
    /// Who brings requests from outside, and becoming one of them
    #[command(subcommand)]
    Gateway(gateway::Gateway),
    /// What is decided, by whom, and when it takes effect
    #[command(subcommand)]
    Gov(gov::Gov),
    /// Who stakes, and who agrees on blocks
    #[command(subcommand)]
    Validator(validator::Validator),
    /// What an actor owes for its storage, and bringing back what was evicted
    #[command(subcommand)]
    Rent(rent::Rent),
    /// Steer a dev chain: blocks, time, balances
    #[command(subcommand)]
    Chain(chain::Chain),
    /// Run Python in the chain's virtual machine, on this machine
    #[command(subcommand)]
    Vm(vm::Vm),
    /// Run one handler of a source on a chain in memory, and print one JSON line
    Dev(simulate::Dev),
    /// Run tests of actors in the virtual machine, without a node
    Test(Test),
    /// Check actors without running them: what the chain refuses, and what surprises
    Lint(Lint),
    /// Print what makes a shell complete commands: bash, zsh, fish, elvish, powershell
    Completions(shell::Completions),
    /// Write manual pages
    Man(shell::Man),
    /// Print the version
    Version,
}

/// Runs a command and answers its exit code.
pub(crate) fn run(cli: Cli) -> ExitCode {
    let output = Output { json: cli.globals.json };
    match act(cli, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            failure.exit_code()
        }
    }
}

fn act(cli: Cli, output: Output) -> Result<(), Failure> {
    match cli.command {
        Command::Vm(command) => command.run(),
        Command::Dev(command) => command.run(),
        Command::Test(command) => command.run(output),
        Command::Lint(command) => command.run(output),
        Command::Completions(command) => {
            command.run();
            Ok(())
        }
        Command::Man(command) => command.run(output),
        Command::Version => {
            let version = env!("CARGO_PKG_VERSION");
            output.result(&serde_json::json!({ "version": version }), format_args!("cowboy {version}"));
            Ok(())
        }
        command => {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| Failure::Node(error.to_string()))?;
            let session = Session::open(&cli.globals, output)?;
            runtime.block_on(act_online(command, session))
        }
    }
}

async fn act_online(command: Command, session: Session) -> Result<(), Failure> {
    match command {
        Command::Init(command) => command.run(&session),
        Command::Config(command) => command.run(&session),
        Command::Wallet(command) => command.run(&session).await,
        Command::Account(command) => command.run(&session).await,
        Command::Actor(command) => command.run(&session).await,
        Command::Entitlement(command) => command.run(&session).await,
        Command::Transfer(command) => command.run(&session).await,
        Command::Faucet(command) => command.run(&session).await,
        Command::Transaction(command) => command.run(&session).await,
        Command::Block(command) => command.run(&session).await,
        Command::Query(command) => command.run(&session).await,
        Command::Proof(command) => command.run(&session).await,
        Command::VerifyResponse(command) => command.run(&session).await,
        Command::Status => block::status(&session).await,
        Command::Job(command) => command.run(&session).await,
        Command::Runner(command) => command.run(&session).await,
        Command::Timer(command) => command.run(&session).await,
        Command::Token(command) => command.run(&session).await,
        Command::Name(command) => command.run(&session).await,
        Command::Gateway(command) => command.run(&session).await,
        Command::Gov(command) => command.run(&session).await,
        Command::Validator(command) => command.run(&session).await,
        Command::Rent(command) => command.run(&session).await,
        Command::Chain(command) => command.run(&session).await,
        Command::Vm(_)
        | Command::Dev(_)
        | Command::Test(_)
        | Command::Lint(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Version => Ok(()),
    }
}
