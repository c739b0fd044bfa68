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
mod random;
mod send;
mod service;
mod worker;

/// What `cowboy-volume` needs of the client: the arguments of `cowboy volume serve` and `mount`, keys of partitions, commits.
pub mod volumes {
    pub use crate::client::volume::access::{Access, Cli, Common, Files, Mount, Rights, Serve, Stop};
}

use clap::{CommandFactory as _, Parser as _, error::ErrorKind};
use cowboy_console::{failure::Failure, output::Output};
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
    let is_json = program == Program::Client && arguments.iter().any(|argument| argument == "--json");
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
            if let Some(failure) = mistake(&refusal).filter(|_| is_json) {
                Output { json: true }.failure(&failure);
                return failure.exit_code();
            }
            // Help goes to stdout with code 0, mistakes to stderr with code 2. A closed pipe is no failure.
            let _ = refusal.print();
            ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(2))
        }
    }
}

/// A mistake in the arguments. Nothing where help or the version was asked for.
fn mistake(refusal: &clap::Error) -> Option<Failure> {
    const FIX: &str = "--help lists what the command takes";
    if !refusal.use_stderr() {
        return None;
    }
    if refusal.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Some(Failure::argument("a command or an argument is missing", FIX));
    }
    let text = refusal.render().to_string();
    let end = ["\n\nUsage:", "\n\nFor more information"].iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len());
    // What is missing is listed in lines of its own.
    let what = text[..end].split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Failure::argument(what.strip_prefix("error: ").unwrap_or(&what), FIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_json_too() {
        let rows = [
            (vec!["cowboy", "chain", "mine", "many", "--json"], Some("invalid value 'many' for '[BLOCKS]'")),
            (vec!["cowboy", "actor", "execute", "--json"], Some("the following required arguments were not provided: <ACTOR> <HANDLER>")),
            (vec!["cowboy", "--json", "--no-such-option"], Some("unexpected argument '--no-such-option' found")),
            (vec!["cowboy", "--json", "chain"], Some("a command or an argument is missing")),
            (vec!["cowboy", "chain", "--json", "--help"], None),
        ];
        for (arguments, expected) in rows {
            let refusal = client::Cli::try_parse_from(&arguments).expect_err("it does not run");
            let said = mistake(&refusal).map(|failure| failure.to_json()["error"]["what"].as_str().unwrap_or_default().to_owned());
            assert_eq!(said.is_some(), expected.is_some(), "{arguments:?}: {said:?}");
            assert!(said.is_none_or(|said| said.starts_with(expected.unwrap_or_default()) && !said.contains("Usage")), "{arguments:?}");
        }
    }
}
