//! Serves a volume over S3, or mounts it as a folder.

use std::process::ExitCode;

fn main() -> ExitCode {
    cowboy_access::run(std::env::args_os())
}
