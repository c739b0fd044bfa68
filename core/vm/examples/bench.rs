//! Time of programs on this VM against CPython's, metering on: `cargo run --release -p cowboy-vm --example bench`.

#![allow(clippy::disallowed_types, reason = "a bench measures time")]

use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

const ROUNDS: usize = 5;

/// Runs the program inside CPython as often and prints the shortest time in seconds, start-up excluded.
const CPYTHON: &str = "
import contextlib, io, sys, time
source = compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')
best = 1e9
for _ in range(int(sys.argv[2])):
    with contextlib.redirect_stdout(io.StringIO()):
        start = time.perf_counter()
        exec(source, {'__name__': '__main__'})
        best = min(best, time.perf_counter() - start)
print(best)
";

fn ours(path: &Path) -> (f64, u64) {
    let source = std::fs::read_to_string(path).expect("a readable program");
    let unit = compile(&source, "program.py").expect("a program that compiles");
    let image = script_image(&unit);
    let limits = Limits { cycles: 1 << 40, memory_bytes: 1 << 30, weight_ns: 1 << 50, ..Limits::default() };
    let mut best = f64::MAX;
    let mut cycles = 0;
    for _ in 0..ROUNDS {
        let start = std::time::Instant::now();
        let mut vm = Vm::start(image.clone(), Entry::Script, limits);
        let exit = vm.run();
        best = best.min(start.elapsed().as_secs_f64());
        assert!(matches!(exit, Exit::Return(_)), "{} ended with {exit:?}", path.display());
        cycles = vm.usage().cycles;
    }
    (best, cycles)
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/programs");
    let mut programs: Vec<_> = std::fs::read_dir(&folder).expect("the programs").map(|entry| entry.expect("an entry").path()).collect();
    programs.sort();
    let wanted = std::env::args().nth(1);
    let mut out = std::io::stdout();
    let mut logarithms = Vec::new();
    writeln!(out, "| program | CPython ms | Cowboy ms | ratio | ns per cycle |\n|---|---|---|---|---|").expect("stdout is open");
    for path in programs {
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("ASCII names").to_owned();
        if wanted.as_ref().is_some_and(|wanted| *wanted != name) {
            continue;
        }
        let output = Command::new("python3").args(["-c", CPYTHON]).arg(&path).arg(ROUNDS.to_string()).output().expect("python3");
        let theirs: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a time");
        let (ours, cycles) = ours(&path);
        let ratio = ours / theirs;
        logarithms.push(ratio.ln());
        let per_cycle = ours * 1e9 / cycles as f64;
        writeln!(out, "| {name} | {:.1} | {:.1} | {ratio:.2} | {per_cycle:.1} |", theirs * 1e3, ours * 1e3).expect("stdout is open");
    }
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    writeln!(out, "| geometric mean | | | {mean:.2} | |").expect("stdout is open");
}
