//! The helper of the tests, and the programs that run in their boxes.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("box") => cowboy_container::child_main(),
        _ => {
            println!("hello {arguments:?}");
            ExitCode::SUCCESS
        }
    }
}
