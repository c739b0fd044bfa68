//! The language against CPython 3.11: the same output, and the same last line of a traceback.
//!
//! `corpus/` has programs by topic, `corpus/errors` programs that fail, and `generate.py` writes random ones. Both sides run
//! every program; nothing is written down that could grow old. `LANGUAGE_SEED` and `LANGUAGE_COUNT` choose the random ones.

use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Programs that do not agree yet, and what they wait for. A program leaves the list in the commit that makes it agree.
const PENDING: &[(&str, &str)] = &[
    // PENDING-ROWS
];

/// What a program did.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    output: String,
    /// The last line of the traceback of what nobody caught.
    error: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn python() -> Command {
    let mut command = Command::new("python3");
    command.arg("-W").arg("ignore").env("PYTHONHASHSEED", "0").env("PYTHONIOENCODING", "utf-8");
    command
}

fn on_cpython(program: &Path) -> Run {
    let done = python().arg(program).output().expect("python3 is on the PATH");
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    let error = errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    let output = String::from_utf8(done.stdout).expect("programs print UTF-8");
    Run { output, error: if done.status.success() { String::new() } else { error } }
}

/// What `generate.py --expect` wrote down.
fn expected(program: &Path) -> Run {
    let text = fs::read_to_string(program.with_extension("out")).expect("the expectation is beside the program");
    match text.trim_end().rsplit_once('\n') {
        Some((output, last)) if last.starts_with("!! ") => Run { output: format!("{output}\n"), error: last[3..].to_owned() },
        None if text.starts_with("!! ") => Run { output: String::new(), error: text.trim_end()[3..].to_owned() },
        _ => Run { output: text, error: String::new() },
    }
}

fn on_the_machine(program: &Path) -> Run {
    let source = fs::read_to_string(program).expect("the program is a file");
    let unit = match compile(&source, "__main__") {
        Ok(unit) => unit,
        Err(error) => {
            return Run { output: String::new(), error: format!("refused at {}:{}: {}", error.line, error.column, error.message) };
        }
    };
    let limits = Limits { cycles: 10_000_000_000, weight_ns: 1_000_000_000_000, ..Limits::default() };
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    let error = match vm.run() {
        Exit::Return(_) => String::new(),
        Exit::Raise(error) => {
            let line = if error.message.is_empty() { error.type_name } else { format!("{}: {}", error.type_name, error.message) };
            line.lines().last().unwrap_or_default().to_owned()
        }
        Exit::Trap(trap) => format!("trap {}", trap.slug()),
        Exit::HostCall(call) => format!("host call {call:?}"),
    };
    Run { output: vm.take_output(), error }
}

/// Where two runs part, in a line or two.
fn difference(expected: &Run, got: &Run) -> Option<String> {
    let mut lines = expected.output.split('\n').map(Some).chain([None]).zip(got.output.split('\n').map(Some).chain([None])).enumerate();
    if let Some((number, (left, right))) = lines.find(|(_, (left, right))| left != right) {
        let show = |line: Option<&str>| line.map_or("end of output".to_owned(), |line| format!("{:?}", around(line, left, right)));
        return Some(format!("line {}: expected {}, got {} ({})", number + 1, show(left), show(right), got.error));
    }
    (expected.error != got.error).then(|| format!("expected the error {:?}, got {:?}", expected.error, got.error))
}

/// The part of a line from a little before the first difference.
fn around(line: &str, left: Option<&str>, right: Option<&str>) -> String {
    let same = left.unwrap_or_default().chars().zip(right.unwrap_or_default().chars()).take_while(|(one, other)| one == other).count();
    line.chars().skip(same.saturating_sub(40)).take(160).collect()
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|end| end == "py"))
        .collect();
    paths.sort();
    paths
}

fn check(programs: &[PathBuf], oracle: impl Fn(&Path) -> Run, replay: &str) {
    let mut report = String::new();
    let is_pending = |program: &&PathBuf| PENDING.iter().any(|(name, _)| program.ends_with(name));
    for program in programs.iter().filter(|program| !is_pending(program)) {
        if let Some(difference) = difference(&oracle(program), &on_the_machine(program)) {
            report += &format!("\n{}: {difference}", program.file_name().unwrap_or_default().to_string_lossy());
        }
    }
    let failures = report.lines().count().saturating_sub(1);
    assert!(report.is_empty(), "{failures} of {} programs differ from CPython. {replay}{report}", programs.len());
}

/// the language, its types, builtins and modules, topic by topic.
#[test]
fn the_corpus_prints_what_cpython_prints() {
    check(&programs(&folder().join("corpus")), on_cpython, "Compare one with core/vm/tests/compare.py.");
}

#[test]
fn failing_programs_end_with_the_same_words() {
    check(&programs(&folder().join("corpus/errors")), on_cpython, "Compare one with core/vm/tests/compare.py.");
}

#[test]
fn random_programs_print_what_cpython_prints() {
    let number = |name: &str, otherwise: u32| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (seed, count) = (number("LANGUAGE_SEED", 1), number("LANGUAGE_COUNT", 300));
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("generated-{seed}-{count}"));
    let _ = fs::remove_dir_all(&scratch);
    let generator = folder().join("generate.py");
    let done = python()
        .arg(generator)
        .args([seed.to_string(), count.to_string()])
        .arg(&scratch)
        .arg("--expect")
        .status()
        .expect("python3 is on the PATH");
    assert!(done.success(), "the generator runs");
    let replay = format!("Replay one with `LANGUAGE_SEED=<its number> LANGUAGE_COUNT=1`; the seed was {seed}.");
    check(&programs(&scratch), expected, &replay);
}
