//! The relay, which is `cowboyd` under another name.

#[path = "../launch.rs"]
mod launch;

use std::process::ExitCode;

fn main() -> ExitCode {
    launch::cowboyd(env!("CARGO_BIN_NAME"))
}
