//! Runs the corpus and compares with `tests/golden_cycles.txt`: `cargo run --release -p cowboy-vm --example corpus`, so that a release
//! build is held to the same cycles, memory and output as the tests hold a debug build.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a check reads files and prints")]

mod run;

use std::{path::Path, process::ExitCode};

fn main() -> ExitCode {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let table = std::fs::read_to_string(tests.join("golden_cycles.txt")).expect("the table is in the repository");
    let mut wrong = 0;
    for line in table.lines() {
        let (name, expected) = line.split_once(' ').expect("a name and what it uses");
        let source = std::fs::read_to_string(tests.join("corpus").join(name)).expect("a readable program");
        let found = run::report(&source);
        if found != expected {
            println!("{name}: {found}, and the table says {expected}");
            wrong += 1;
        }
    }
    println!("{} programs, {wrong} differ from the table", table.lines().count());
    ExitCode::from(u8::from(wrong > 0))
}
