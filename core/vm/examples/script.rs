//! Runs a script in the VM: `cargo run -p cowboy-vm --example script FILE.py`.

#![allow(clippy::disallowed_methods, reason = "an example reads its arguments and a file")]

use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};
use std::io::Write as _;

fn main() {
    let path = std::env::args().nth(1).expect("a file name");
    let source = std::fs::read_to_string(&path).expect("a readable file");
    let unit = match compile(&source, &path) {
        Ok(unit) => unit,
        Err(error) => {
            writeln!(std::io::stderr(), "{path}: {error}").expect("stderr is open");
            std::process::exit(2);
        }
    };
    let limits = Limits { cycles: 1 << 40, memory_bytes: 1 << 30, weight_ns: 1 << 50, ..Limits::default() };
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    let exit = vm.run();
    write!(std::io::stdout(), "{}", vm.take_output()).expect("stdout is open");
    let code = match exit {
        Exit::Return(_) => 0,
        Exit::Raise(error) => {
            writeln!(std::io::stderr(), "{}", error.traceback.join("\n")).expect("stderr is open");
            1
        }
        other => {
            writeln!(std::io::stderr(), "{other:?}").expect("stderr is open");
            3
        }
    };
    if std::env::var_os("STATS").is_some() {
        writeln!(std::io::stderr(), "{:?}", vm.usage()).expect("stderr is open");
    }
    std::process::exit(code);
}
