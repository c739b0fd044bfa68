//! The node, and under their names the client, the worker and the gateway.

use std::process::ExitCode;

fn main() -> ExitCode {
    cowboy_cli::run(std::env::args_os())
}
