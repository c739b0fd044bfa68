//! The Cowboy programs in one binary. The name it is called by says which one it is.
//!
//! - [`daemon`]: `cowboyd`, the node: a devnet, a validator, a follower.
//! - [`client`]: `cowboy`, the client: wallets, actors, transfers, blocks, local runs.
//! - [`worker`]: `cowboy-runner`, which does jobs for the chain.
//! - [`gateway`]: `cowboy-gateway`. [`service`]: `cowboy-proxy` and `cowboy-relay`.
//!
//! Exit codes: 1 failed, 2 usage, 3 only a newer release helps.

mod address;
mod client;
mod confirm;
mod daemon;
mod gateway;
mod log;
mod mistake;
mod random;
mod send;
mod service;
mod worker;

/// What `cowboy-volume` needs of the client: the arguments of `cowboy volume serve` and `mount`, keys of partitions, commits.
pub mod volumes {
    pub use crate::client::volume::access::{Access, Cli, Common, Files, Mount, Rights, Serve, Stop};
}

use clap::{CommandFactory as _, Parser as _};
use cowboy_console::output::Output;
use std::{ffi::OsString, path::Path, process::ExitCode};

/// One of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// `cowboyd`.
    Node,
    /// `cowboy`.
    Client,
    /// `cowboy-runner`.
    Runner,
    /// `cowboy-gateway`.
    Gateway,
    /// `cowboy-proxy`.
    Proxy,
    /// `cowboy-relay`.
    Relay,
}

impl Program {
    /// The program of this name, like a link's.
    fn of_name(name: &str) -> Option<Self> {
        match name {
            "cowboyd" => Some(Self::Node),
            "cowboy" => Some(Self::Client),
            // Runners start the helpers of containers as /proc/self/exe, whatever their own name is.
            "cowboy-runner" | "exe" => Some(Self::Runner),
            "cowboy-gateway" => Some(Self::Gateway),
            "cowboy-proxy" => Some(Self::Proxy),
            "cowboy-relay" => Some(Self::Relay),
            _ => None,
        }
    }

    /// Its commands and arguments, with those that `cowboy` makes only when they are asked for.
    fn command(self) -> clap::Command {
        match self {
            Self::Node => daemon::Cli::command(),
            Self::Client => {
                let mut command = client::Cli::command();
                command.build();
                command
            }
            Self::Runner => worker::Cli::command(),
            Self::Gateway => gateway::Cli::command(),
            Self::Proxy => service::proxy::Cli::command(),
            Self::Relay => service::relay::Cli::command(),
        }
    }
}

/// Runs `work`, which may compile and run programs, with the stack that they need, whatever the shell gives the first thread.
fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("main".to_owned()).stack_size(2 * cowboy_vm::STACK_BYTES);
        let thread = thread.spawn_scoped(scope, work).expect("the system gives a command one thread");
        thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    })
}

/// The commands and arguments of `cowboy`.
pub fn client_command() -> clap::Command {
    client::Cli::command()
}

/// Runs the program that the first argument names, or else the node. Answers the exit code: 0 done, 1 failed, 2 usage.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let name = arguments.first().and_then(|path| Path::new(path).file_stem()?.to_str().map(str::to_owned));
    let program = name.as_deref().and_then(Program::of_name).unwrap_or(Program::Node);
    let is_json = arguments.iter().any(|argument| argument == "--json");
    let given = arguments.clone();
    let done = match program {
        Program::Node => daemon::Cli::try_parse_from(arguments).map(daemon::run),
        Program::Client => client::Cli::try_parse_from(arguments).map(|cli| with_stack(|| client::run(cli))),
        Program::Runner => worker::Cli::try_parse_from(arguments).map(worker::run),
        Program::Gateway => gateway::Cli::try_parse_from(arguments).map(gateway::run),
        Program::Proxy => service::proxy::Cli::try_parse_from(arguments).map(service::proxy::run),
        Program::Relay => service::relay::Cli::try_parse_from(arguments).map(service::relay::run),
    };
    match done {
        Ok(code) => code,
        Err(refusal) => {
            let own = mistake::own(&refusal, &program.command(), &given);
            if let Some(failure) = own.or_else(|| mistake::of(&refusal).filter(|_| is_json)) {
                Output { json: is_json }.failure(&failure);
                return failure.exit_code();
            }
            // Help goes to stdout with code 0, mistakes to stderr with code 2. A closed pipe is no failure.
            let _ = refusal.print();
            ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(2))
        }
    }
}
