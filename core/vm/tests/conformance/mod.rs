//! CPython's own tests, method by method: `slice.py` cuts them out of the installed python3.11, and the VM runs them.
//!
//! A method that uses what an actor may not use is set apart, by rule; of the others those in `failures.txt` are known to fail, each with
//! its reason, and all the rest have to pass. `COWBOY_CONFORMANCE=write` writes that list and `docs/conformance.md` anew, keeping reasons;
//! `COWBOY_CONFORMANCE=test_int,test_float` runs only those files and says what fails; `COWBOY_METHOD=basic` only methods with that
//! in their name, and shows the program of the first.

use cowboy_vm::{CompileErrorKind, Entry, Exit, Library, LibraryError, LibraryModule, Limits, Rules, Trap, Vm};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

/// Test files that are run: name, and the part of issue 3 that it stands for.
const FILES: &[&str] = &[
    "test_abc",
    "test_bool",
    "test_builtin",
    "test_bytes",
    "test_class",
    "test_collections",
    "test_complex",
    "test_contextlib",
    "test_coroutines",
    "test_dataclasses",
    "test_decimal",
    "test_descr",
    "test_dict",
    "test_enum",
    "test_exception_group",
    "test_exceptions",
    "test_float",
    "test_format",
    "test_fstring",
    "test_functools",
    "test_generators",
    "test_grammar",
    "test_hashlib",
    "test_int",
    "test_itertools",
    "test_json.test_decode",
    "test_json.test_default",
    "test_json.test_dump",
    "test_json.test_encode_basestring_ascii",
    "test_json.test_enum",
    "test_json.test_fail",
    "test_json.test_float",
    "test_json.test_indent",
    "test_json.test_pass1",
    "test_json.test_pass2",
    "test_json.test_pass3",
    "test_json.test_recursion",
    "test_json.test_scanstring",
    "test_json.test_separators",
    "test_json.test_unicode",
    "test_list",
    "test_math",
    "test_memoryview",
    "test_patma",
    "test_range",
    "test_re",
    "test_scope",
    "test_set",
    "test_slice",
    "test_struct",
    "test_super",
    "test_tuple",
    "test_typing",
    "test_unicode",
    "test_with",
];

/// What one method may use: far more than an actor, since CPython's tests were not written for a metered machine.
const LIMITS: Limits =
    Limits { cycles: 400_000_000, cells: 1 << 30, memory_bytes: 128 << 20, recursion: 256, weight_ns: 1 << 50, rules: Rules::GENESIS };

/// What came of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Fail(String),
    /// It uses what an actor may not use: what that is.
    Apart(String),
}

/// One method of one test class.
struct Case {
    file: String,
    method: String,
    reason: Option<String>,
    main: String,
    modules: Vec<(String, String)>,
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// Why CPython's tests cannot be had on this computer.
fn missing() -> Option<String> {
    let ask = Command::new("python3").args(["-c", "import sys, test.test_grammar; print(sys.version_info[:2] == (3, 11))"]).output();
    match ask {
        Ok(output) if String::from_utf8_lossy(&output.stdout).trim() == "True" => None,
        Ok(output) => {
            Some(format!("python3 is not 3.11, or comes without its folder Lib/test: {}", String::from_utf8_lossy(&output.stderr)))
        }
        Err(error) => Some(format!("python3 does not run: {error}")),
    }
}

fn text(row: &Json) -> String {
    row.as_str().unwrap_or_default().to_owned()
}

/// The stand-ins for modules, and every method of these files.
fn cases(files: &[&str]) -> (Vec<(String, String)>, Vec<Case>) {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance-{}.jsonl", std::process::id()));
    let mut slicer = Command::new("python3");
    slicer.args(["-W", "ignore"]).arg(here().join("slice.py")).arg(&out).args(files);
    assert!(slicer.status().is_ok_and(|status| status.success()), "slice.py cuts the test files");
    let rows = fs::read_to_string(&out).expect("slice.py wrote it");
    let _ = fs::remove_file(&out);
    let pairs = |row: &Json| -> Vec<(String, String)> {
        row.as_array().into_iter().flatten().map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
    };
    let mut rows = rows.lines().map(|line| serde_json::from_str::<Json>(line).expect("slice.py writes JSON"));
    let library = rows.next().map(|row| pairs(&row)).unwrap_or_default();
    let cases = rows.map(|row| Case {
        file: text(&row["file"]),
        method: text(&row["method"]),
        reason: row["reason"].as_str().map(str::to_owned),
        main: text(&row["main"]),
        modules: pairs(&row["modules"]),
    });
    (library, cases.collect())
}

fn module((path, source): &(String, String), trusted: bool) -> LibraryModule {
    LibraryModule { path: path.clone(), source: source.clone(), package: matches!(path.as_str(), "test" | "test.support"), trusted }
}

/// The stand-ins, loaded once. One that cannot be loaded yet is left out, and so what imports it is set apart.
fn library(modules: &[(String, String)]) -> Library {
    let mut modules: Vec<LibraryModule> = modules.iter().map(|pair| module(pair, true)).collect();
    loop {
        match Library::default().with(&modules, Limits { cycles: 1 << 40, ..LIMITS }) {
            Ok(library) => return library,
            Err(error) => {
                println!("a stand-in does not load: {error:?}");
                let (LibraryError::Compile(bad, _) | LibraryError::Load(bad)) = error;
                let before = modules.len();
                modules.retain(|module| module.path != bad.split(':').next().unwrap_or_default());
                assert!(modules.len() < before, "the stand-in that does not load is one of the list");
            }
        }
    }
}

fn refused(error: &cowboy_vm::CompileError) -> Verdict {
    match error.kind {
        CompileErrorKind::Forbidden if error.message.starts_with("lone surrogates") => Verdict::Apart("lone surrogates".to_owned()),
        CompileErrorKind::Forbidden => Verdict::Apart(error.message.split(':').next().unwrap_or_default().to_owned()),
        _ => Verdict::Fail(format!("refused: {error}")),
    }
}

/// Refusals of the chain's rules, seen only when the method runs.
const RULES: &[(&str, &str)] = &[
    ("SkipTest: ", ""),
    ("DeterminismError: ", "makes a reference cycle"),
    ("integer has more than 4096 bits", "integers beyond 4,096 bits"),
    ("the decimal context is fixed", "changes the decimal context"),
    ("unknown encoding: ", "encodings other than UTF-8, UTF-16, UTF-32, ASCII and Latin-1"),
    ("format strings may not reach the private attribute", "private attributes in format strings"),
    ("chr() of a surrogate is not supported", "lone surrogates"),
    ("a lone surrogate (", "lone surrogates"),
    ("more cycles than a method may use", "more than 400,000,000 cycles; a block has 80,000,000"),
    ("more memory than a method may use", "more than 128 MiB of memory; an actor has 10"),
];

fn run(library: &Library, case: &Case) -> (Verdict, String) {
    if let Some(reason) = &case.reason {
        return (Verdict::Apart(reason.clone()), String::new());
    }
    let modules: Vec<LibraryModule> = case.modules.iter().map(|pair| module(pair, false)).collect();
    let with;
    let library = if modules.is_empty() {
        library
    } else {
        match library.with(&modules, LIMITS) {
            Ok(above) => {
                with = above;
                &with
            }
            Err(LibraryError::Compile(_, error)) => return (refused(&error), String::new()),
            Err(LibraryError::Load(message)) => return (Verdict::Fail(message), String::new()),
        }
    };
    let unit = match library.compile(&case.main, &case.file) {
        Ok(unit) => unit,
        Err(error) => return (refused(&error), String::new()),
    };
    let mut vm = Vm::start(library.script(&unit), Entry::Script, LIMITS);
    let exit = vm.run();
    let (last, trace) = match exit {
        Exit::Return(_) => return (Verdict::Pass, String::new()),
        Exit::Raise(error) => {
            (format!("{}: {}", error.type_name.rsplit('.').next().unwrap_or_default(), error.message), error.traceback.join("\n"))
        }
        Exit::Trap(Trap::OutOfCycles) => ("more cycles than a method may use".to_owned(), String::new()),
        Exit::Trap(Trap::OutOfMemory) => ("more memory than a method may use".to_owned(), String::new()),
        other => (format!("{other:?}"), String::new()),
    };
    for (mark, reason) in RULES {
        if let Some(at) = last.find(mark) {
            let why = if reason.is_empty() { &last[at + mark.len()..] } else { reason };
            return (Verdict::Apart(why.to_owned()), String::new());
        }
    }
    (Verdict::Fail(last), trace)
}

/// Runs every case, on all the processors.
fn verdicts(library: &Library, cases: &[Case]) -> Vec<(Verdict, String)> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, (Verdict, String))> = thread::scope(|scope| {
        let started: Vec<_> = (0..workers)
            .map(|_| {
                let work = || {
                    let mut mine = Vec::new();
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = cases.get(index) else { return mine };
                        let verdict = panic::catch_unwind(AssertUnwindSafe(|| run(library, case)));
                        let panicked = || (Verdict::Fail("the VM panicked".to_owned()), String::new());
                        mine.push((index, verdict.unwrap_or_else(|_| panicked())));
                    }
                };
                thread::Builder::new().stack_size(16 << 20).spawn_scoped(scope, work).expect("a thread")
            })
            .collect();
        started.into_iter().flat_map(|worker| worker.join().expect("no case panics")).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, verdict)| verdict).collect()
}

/// Methods that are known to fail, with their reasons.
fn known() -> BTreeMap<String, String> {
    let text = fs::read_to_string(here().join("failures.txt")).unwrap_or_default();
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let (name, reason) = line.split_once(": ").expect("a method, a colon and its reason");
            (name.to_owned(), reason.to_owned())
        })
        .collect()
}

/// One line of a message, short.
fn brief(message: &str) -> String {
    let line: String = message.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(150).collect();
    line.replace('|', "\\|")
}

fn write_lists(cases: &[Case], verdicts: &[(Verdict, String)]) {
    let known = known();
    let mut failures = String::from(
        "# Methods of CPython's tests that do not pass here, each with its reason or, after a question mark, with what it says; docs/python.md tells the reasons that are decisions.\n",
    );
    let mut rows: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut apart: BTreeMap<String, usize> = BTreeMap::new();
    for (case, (verdict, _)) in cases.iter().zip(verdicts) {
        let row = rows.entry(case.file.split('.').next().unwrap_or_default()).or_default();
        match verdict {
            Verdict::Pass => row[0] += 1,
            Verdict::Fail(message) => {
                row[1] += 1;
                let name = format!("{} {}", case.file, case.method);
                // A reason that nobody has written yet is what the method says.
                let reason = known.get(&name).filter(|reason| !reason.starts_with("? ")).cloned();
                let reason = reason.unwrap_or_else(|| format!("? {}", brief(message)));
                writeln!(failures, "{name}: {reason}").expect("a string");
            }
            Verdict::Apart(reason) => {
                row[2] += 1;
                *apart.entry(brief(reason)).or_default() += 1;
            }
        }
    }
    fs::write(here().join("failures.txt"), failures).expect("the list can be written");
    let mut page = String::from(include_str!("head.md"));
    let mut sums = [0; 3];
    let mut line = |name: &str, [pass, fail, apart]: [usize; 3]| {
        let share = (1_000 * pass)
            .checked_div(pass + fail)
            .map_or_else(|| "–".to_owned(), |thousandths| format!("{}.{} %", thousandths / 10, thousandths % 10));
        writeln!(page, "| {name} | {pass} | {fail} | {apart} | {share} |").expect("a string");
    };
    for (name, row) in &rows {
        line(&format!("`{name}`"), *row);
        for (sum, part) in sums.iter_mut().zip(row) {
            *sum += part;
        }
    }
    line("**all**", sums);
    page.push_str("\n## Set apart, by what they use\n\n| What | Methods |\n|---|---:|\n");
    let mut apart: Vec<_> = apart.into_iter().collect();
    apart.sort_by_key(|(reason, count)| (usize::MAX - count, reason.clone()));
    for (reason, count) in apart {
        writeln!(page, "| {reason} | {count} |").expect("a string");
    }
    fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md"), page).expect("the page can be written");
}

#[test]
fn cpythons_own_tests_pass_as_listed() {
    if let Some(why) = missing() {
        println!("skipped: {why}");
        return;
    }
    let choice = env::var("COWBOY_CONFORMANCE").unwrap_or_default();
    let write = choice == "write";
    let chosen: Vec<&str> = choice.split(',').filter(|name| !write && !name.is_empty()).collect();
    let files: Vec<&str> =
        FILES.iter().copied().filter(|name| chosen.is_empty() || chosen.iter().any(|file| name.starts_with(file))).collect();
    let (modules, mut cases) = cases(&files);
    if let Ok(part) = env::var("COWBOY_METHOD") {
        cases.retain(|case| case.method.contains(&part));
        for case in cases.iter().take(1) {
            println!("{}", case.main);
        }
    }
    let library = library(&modules);
    let verdicts = verdicts(&library, &cases);
    if write {
        write_lists(&cases, &verdicts);
    }
    let known = known();
    let (mut passed, mut apart, mut wrong) = (0, 0, String::new());
    for (case, (verdict, trace)) in cases.iter().zip(&verdicts) {
        let name = format!("{} {}", case.file, case.method);
        match verdict {
            Verdict::Pass => {
                passed += 1;
                if known.contains_key(&name) {
                    println!("{name}: passes now; ./bench conformance takes it off the list");
                }
            }
            Verdict::Fail(message) => {
                if !chosen.is_empty() {
                    println!("{trace}\n--- {name}: {message}");
                }
                if !known.contains_key(&name) {
                    writeln!(wrong, "{name}: {message}").expect("a string");
                }
            }
            Verdict::Apart(_) => apart += 1,
        }
    }
    println!("{} methods: {passed} pass, {} fail, {apart} set apart", cases.len(), cases.len() - passed - apart);
    assert!(wrong.is_empty(), "{wrong}");
}
