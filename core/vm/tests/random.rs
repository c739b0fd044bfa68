//! Random programs against CPython 3.11: `generate.py` writes them with CPython's output, and the VM prints the same.
//!
//! `LANGUAGE_SEED` and `LANGUAGE_COUNT` choose other programs, or more.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test is not part of the protocol: it may read files and print"
)]

use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};
use std::{env, fs, path::Path, process::Command, thread};

/// Programs that one CPython process writes and runs.
const BATCH: u32 = 500;

/// Output, and the last line of the traceback of what nobody caught after `!! `.
fn ours(program: &Path) -> String {
    let source = fs::read_to_string(program).expect("a readable program");
    let unit = match compile(&source, "program.py") {
        Ok(unit) => unit,
        Err(error) => return format!("refused: {error}"),
    };
    let limits = Limits { cycles: 1 << 34, weight_ns: 1 << 50, ..Limits::default() };
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    let exit = vm.run();
    let output = vm.take_output();
    match exit {
        Exit::Return(_) => output,
        Exit::Raise(error) if error.message.is_empty() => format!("{output}!! {}\n", error.type_name),
        Exit::Raise(error) => format!("{output}!! {}: {}\n", error.type_name, error.message),
        other => format!("{output}!! {other:?}\n"),
    }
}

/// any program, not only those that somebody thought of.
#[test]
fn random_programs_print_what_cpython_prints() {
    let version = Command::new("python3").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("3.11.")) {
        println!("skipped: python3 on this machine is not 3.11, which programs are compared with");
        return;
    }
    let number = |name: &str, otherwise: u32| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (seed, count) = (number("LANGUAGE_SEED", 1), number("LANGUAGE_COUNT", 1_000));
    println!("seeds {seed} to {}", seed + count - 1);
    let workers = u32::try_from(thread::available_parallelism().map_or(1, usize::from)).unwrap_or(1).min(count).max(1);
    let share = count.div_ceil(workers);
    let wrong: String = thread::scope(|scope| {
        let started: Vec<_> = (0..workers)
            .map(|worker| (seed + worker * share, share.min(count.saturating_sub(worker * share))))
            .map(|(first, count)| {
                let work = move || -> String {
                    let batches = (0..count).step_by(BATCH as usize);
                    batches.map(|begun| differences(first + begun, BATCH.min(count - begun))).collect()
                };
                thread::Builder::new().stack_size(16 << 20).spawn_scoped(scope, work).expect("a thread")
            })
            .collect();
        started.into_iter().map(|worker| worker.join().expect("programs do not panic")).collect()
    });
    assert!(wrong.is_empty(), "programs differ from CPython; run one again with\n{wrong}");
}

/// Writes these programs with one CPython process, runs them here, and says which print something else.
fn differences(first: u32, count: u32) -> String {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("generated-{first}-{count}"));
    let _ = fs::remove_dir_all(&scratch);
    let mut generate = Command::new("python3");
    generate.args(["-W", "ignore", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/generate.py"), &first.to_string(), &count.to_string()]);
    assert!(generate.arg(&scratch).arg("--expect").status().is_ok_and(|status| status.success()), "the generator runs");
    let mut wrong = String::new();
    for seed in first..first + count {
        let program = scratch.join(format!("g{seed}.py"));
        let expected = fs::read_to_string(program.with_extension("out")).expect("the expectation is beside its program");
        let got = ours(&program);
        if got != expected {
            let line = got.lines().zip(expected.lines()).position(|(one, other)| one != other);
            wrong +=
                &format!("LANGUAGE_SEED={seed} LANGUAGE_COUNT=1 cargo test -p cowboy-vm --test vm random::    # first at line {line:?}\n");
        }
    }
    // What differs stays, to be looked at.
    if wrong.is_empty() {
        let _ = fs::remove_dir_all(&scratch);
    }
    wrong
}
