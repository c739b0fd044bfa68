//! `cowboy`: the client.

mod account;
mod actor;
mod answer;
mod block;
mod chain;
mod config;
mod deliveries;
mod entitlement;
mod evidence;
pub(crate) mod gateway;
mod gov;
mod image;
mod init;
mod job;
mod labels;
mod leaving;
mod listing;
mod method;
mod name;
mod networks;
mod outcome;
mod paid;
mod proof;
pub(crate) mod proxy;
pub(crate) mod relay;
mod rent;
mod runner;
mod search;
pub(crate) mod seats;
mod secret;
mod session;
mod shell;
mod timer;
mod token;
mod transaction;
mod transfer;
mod validator;
mod verify;
pub(crate) mod volume;
mod wallet;

use clap::{Args, Parser, Subcommand};
use cowboy_console::{failure::Failure, output::Output};
use cowboy_devtools::{
    lint::Lint,
    simulate,
    test::{self, Test},
    vm,
};
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
  cowboy init hello && cd hello
  cowboy wallet create
  cowboy faucet
  cowboy actor deploy actor.py --name hello --fund 100cby
  cowboy actor execute hello greet Ada
  cowboy actor query hello greetings";

/// What every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Globals {
    /// The node's address
    #[arg(long, global = true, value_name = "URL", help_heading = "Everywhere")]
    pub(crate) rpc_url: Option<String>,
    /// A network of this folder, added with `cowboy config add`
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
    /// List and select the networks of this folder
    #[command(subcommand)]
    Config(config::Config),
    /// Create, show and import keys
    #[command(subcommand)]
    Wallet(wallet::Wallet),
    /// Show balances and nonces
    #[command(subcommand)]
    Account(account::Account),
    /// Create, deploy, call and read actors
    #[command(subcommand)]
    Actor(actor::Actor),
    /// Show entitlements; grant and revoke permissions
    #[command(subcommand)]
    Entitlement(entitlement::Entitlement),
    /// Send CBY
    Transfer(transfer::Transfer),
    /// Get CBY from the faucet of a dev chain
    Faucet(transfer::Faucet),
    /// Show and send transactions
    #[command(subcommand)]
    Transaction(transaction::Transaction),
    /// Show blocks
    #[command(subcommand)]
    Block(block::Block),
    /// Query a handler of an actor, without a transaction
    Query(actor::Query),
    /// Verify a value from the node against the validators' signature
    Proof(proof::Proof),
    /// Verify a gateway's response: proofs, certificate, and execution of the actor
    VerifyResponse(verify::VerifyResponse),
    /// Search names, classes and handlers of actors, and addresses
    Search(search::Search),
    /// Show the status of the chain and the node
    Status,
    /// Call a method of a system actor, or read one of its views
    #[command(after_help = "Example:
  cowboy call route-registry quote --name mysite --duration-blocks 31536000")]
    Call(method::Call),
    /// Submit off-chain jobs and show them
    #[command(subcommand)]
    Job(job::Job),
    /// Keep secrets that jobs may use; only a committee can open them
    #[command(subcommand)]
    Secret(secret::Secret),
    /// Keep files in volumes, which outlive their writer
    #[command(subcommand)]
    Volume(volume::Volume),
    /// Pack container images, check them, push them, and have them allowed
    #[command(subcommand)]
    Image(image::Image),
    /// Show the proxies that release secrets; leave as one
    #[command(subcommand)]
    Proxy(proxy::Proxy),
    /// Show the relays that keep volumes; leave as one
    #[command(subcommand)]
    Relay(relay::Relay),
    /// Show runners; register and manage your own
    #[command(subcommand)]
    Runner(runner::Runner),
    /// Schedule and cancel calls at a height
    #[command(subcommand)]
    Timer(timer::Timer),
    /// Create and transfer tokens
    #[command(subcommand)]
    Token(token::Token),
    /// Register and resolve names of actors
    #[command(subcommand)]
    Name(name::Name),
    /// Show gateways; register and manage your own
    #[command(subcommand)]
    Gateway(gateway::Gateway),
    /// Governance: proposals, votes, the security council
    #[command(subcommand)]
    Gov(gov::Gov),
    /// Show validators; register and manage your own
    #[command(subcommand)]
    Validator(validator::Validator),
    /// Show and pay storage rent; restore evicted storage
    #[command(subcommand)]
    Rent(rent::Rent),
    /// Control a dev chain: blocks, time, balances
    #[command(subcommand)]
    Chain(chain::Chain),
    /// Run Python in the chain's VM on this computer
    #[command(subcommand)]
    Vm(vm::Vm),
    /// Run one handler of a source on a chain in memory, and print one JSON line
    Dev(simulate::Dev),
    /// Run tests of actors in the virtual machine, without a node
    Test(Test),
    /// Check actors without running them: what the chain refuses, and likely mistakes
    Lint(Lint),
    /// Print shell completions: bash, zsh, fish, elvish, powershell
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
        Command::Vm(command) => command.run(output),
        Command::Dev(command) => command.run(),
        Command::Test(command) if cli.globals.network.as_deref() == Some(test::NETWORK) => {
            // A folder need not know a network of this name.
            let globals = Globals { network: None, ..cli.globals };
            command.on_devnet(Session::open(&globals, output)?.client.url())
        }
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
        Command::Call(command) => command.run(&session).await,
        Command::Job(command) => command.run(&session).await,
        Command::Runner(command) => command.run(&session).await,
        Command::Timer(command) => command.run(&session).await,
        Command::Token(command) => command.run(&session).await,
        Command::Name(command) => command.run(&session).await,
        Command::Gateway(command) => command.run(&session).await,
        Command::Secret(command) => command.run(&session).await,
        Command::Volume(command) => command.run(&session).await,
        Command::Image(command) => command.run(&session).await,
        Command::Proxy(command) => command.run(&session).await,
        Command::Relay(command) => command.run(&session).await,
        Command::Gov(command) => command.run(&session).await,
        Command::Validator(command) => command.run(&session).await,
        Command::Rent(command) => command.run(&session).await,
        Command::Search(command) => command.run(&session).await,
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

#[cfg(test)]
mod tests {
    use super::FIRST_STEPS;

    /// The first steps of the help are those of README, which a test follows, in the same order.
    #[test]
    fn the_first_steps_are_those_of_readme() {
        let readme = include_str!("../../../../README.md");
        let (_, section) = readme.split_once("## Your first actor").expect("README has the section");
        let mut commands = section.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let steps: Vec<&str> = FIRST_STEPS.lines().skip(1).map(str::trim).collect();
        assert!(steps.len() > 4);
        for step in steps {
            assert!(commands.any(|command| command == step), "README has no {step:?} there");
        }
    }
}
