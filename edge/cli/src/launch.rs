//! Starts `cowboyd` under another of its names. A launcher is a few hundred kilobytes, so that a build links the whole program once.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// Replaces this process by the `cowboyd` beside it, which acts as the program `name`. Returns only where that fails, with exit code 1.
#[allow(clippy::print_stderr, reason = "the program that formats errors did not start")]
pub(crate) fn cowboyd(name: &str) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(launcher) => launcher.with_file_name("cowboyd"),
        Err(error) => {
            eprintln!("{name}: cannot tell where this program is: {error}");
            return ExitCode::FAILURE;
        }
    };
    let error = Command::new(&program).arg0(name).args(std::env::args_os().skip(1)).exec();
    eprintln!(
        "{name}: cannot start {}: {error}. Keep cowboyd in the folder of {name}, or build it: cargo build --bin cowboyd",
        program.display()
    );
    ExitCode::FAILURE
}
