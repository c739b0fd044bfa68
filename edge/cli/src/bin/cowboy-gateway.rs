//! The ingress daemon.

use std::process::ExitCode;

fn main() -> ExitCode {
    cowboy_cli::run(std::env::args_os(), cowboy_cli::Program::Gateway)
}
