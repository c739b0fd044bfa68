//! The helper of the tests, a runner that tests end, and the programs that run in boxes.
//!
//! A program prints one line: what it reached, or the name of the error that stopped it.
#![allow(unsafe_code, reason = "attacks are system calls that no library offers; one function makes them")]

mod attacks;
mod calls;
mod fills;
mod runner;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["box"] => return cowboy_container::child_main(),
        ["runner", folder, rootfs, mount] => runner::run(folder, rootfs, mount),
        ["repeat", count, folder, rootfs] => runner::repeat(count, folder, rootfs),
        ["fill", name] => return fills::run(name),
        [name, rest @ ..] => match attacks::run(name, rest) {
            Ok(found) => calls::say(&found),
            Err(error) => calls::say(&calls::error_name(&error)),
        },
        [] => calls::say("hello"),
    }
    ExitCode::SUCCESS
}
