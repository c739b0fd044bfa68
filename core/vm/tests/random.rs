//! Random programs against CPython 3.11: `generate.py` writes them with CPython's output, and the VM prints the same.
//!
//! `LANGUAGE_SEED` and `LANGUAGE_COUNT` choose other programs, or more.

use crate::generated::differences;
use std::{env, path::Path, process::Command, thread};

/// Programs that one CPython process writes and runs.
const BATCH: u32 = 500;

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
                    batches.map(|begun| repeated(first + begun, BATCH.min(count - begun))).collect()
                };
                thread::Builder::new().stack_size(16 << 20).spawn_scoped(scope, work).expect("a thread")
            })
            .collect();
        started.into_iter().map(|worker| worker.join().expect("programs do not panic")).collect()
    });
    assert!(wrong.is_empty(), "programs differ from CPython; run one again with\n{wrong}");
}

/// How to run again each of these programs that prints something else.
fn repeated(first: u32, count: u32) -> String {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("generated-{first}-{count}"));
    let again = "LANGUAGE_COUNT=1 cargo test -p cowboy-vm --test vm random::";
    let differing = differences(first, count, &scratch).into_iter();
    differing.map(|(seed, line)| format!("LANGUAGE_SEED={seed} {again}    # first at line {line:?}\n")).collect()
}
