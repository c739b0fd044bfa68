//! Programs that run on CPython 3.11 and here: same output, same last line of the traceback, and the cycles that the table says.
//!
//! Set `COWBOY_GOLDEN=write` to write the table anew after a deliberate change of costs.

use cowboy_vm::{Entry, Exit, Limits, Trap, Vm, compile, script_image};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs whose difference from CPython is known; each has its reason.
const DIFFERENT: &str = include_str!("differences.txt");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn programs() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [folder(), folder().join("errors"), folder().join("frozen")] {
        for entry in std::fs::read_dir(folder).expect("the corpus is in the repository") {
            let path = entry.expect("a readable folder").path();
            if path.extension().is_some_and(|extension| extension == "py") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.strip_prefix(folder()).expect("inside the corpus").to_str().expect("ASCII names").to_owned()
}

fn is_python_311() -> bool {
    Command::new("python3").arg("--version").output().is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("3.11."))
}

/// Output, last line of the traceback, cycles and peak memory here.
fn ours(path: &Path) -> (String, String, u64, usize) {
    let source = std::fs::read_to_string(path).expect("a readable program");
    let unit = match compile(&source, "program.py") {
        Ok(unit) => unit,
        Err(error) => return (String::new(), format!("refused: {error}"), 0, 0),
    };
    let limits = Limits { cycles: 1 << 34, memory_bytes: 1 << 28, weight_ns: 1 << 50, ..Limits::default() };
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    let exit = vm.run();
    let last = match exit {
        Exit::Return(_) => String::new(),
        Exit::Raise(error) if error.message.is_empty() => error.type_name,
        Exit::Raise(error) => format!("{}: {}", error.type_name, error.message),
        other => format!("{other:?}"),
    };
    let usage = vm.usage();
    (vm.take_output(), last, usage.cycles, usage.peak_memory)
}

/// The first 8 bytes of SHA-256 over what a program printed and how it ended.
fn digest(output: &str, last: &str) -> String {
    hex::encode(&Sha256::new().chain_update(output).chain_update([0]).chain_update(last).finalize()[..8])
}

/// what caches remember changes nothing but the time.
#[test]
fn caches_change_nothing() {
    for path in programs() {
        let source = std::fs::read_to_string(&path).expect("a readable program");
        let Ok(unit) = compile(&source, "program.py") else { continue };
        let image = script_image(&unit);
        let run = |has_caches: bool| {
            let limits = Limits { cycles: 1 << 34, memory_bytes: 1 << 28, weight_ns: 1 << 50, ..Limits::default() };
            let mut vm = Vm::start(std::sync::Arc::clone(&image), Entry::Script, limits);
            if !has_caches {
                vm.without_caches();
            }
            let exit = vm.run();
            (format!("{exit:?}"), vm.usage(), vm.take_output())
        };
        let with = run(true);
        assert_eq!(with, run(false), "{}: without inline caches", name(&path));
        assert_eq!(with, run(true), "{}: on an image that ran before", name(&path));
    }
}

/// What is printed about the exception that ends a program here.
fn told_here(path: &Path) -> String {
    let source = std::fs::read_to_string(path).expect("a readable program");
    let unit = compile(&source, "program.py").expect("valid source");
    match Vm::start(script_image(&unit), Entry::Script, Limits::default()).run() {
        Exit::Raise(error) => error.traceback.join("\n"),
        other => format!("{other:?}"),
    }
}

/// The same here and on CPython.
fn told(path: &Path) -> (String, String) {
    let ours = told_here(path);
    let output = Command::new("python3").arg(path).env("PYTHONIOENCODING", "utf-8").output().expect("python3 was found before");
    let theirs = String::from_utf8_lossy(&output.stderr).replace(path.to_str().expect("ASCII names"), "program.py");
    // Code has lines here and no columns, so nothing is underlined.
    let is_underline = |line: &&str| line.contains('^') && line.chars().all(|letter| " |~^".contains(letter));
    (ours, theirs.lines().filter(|line| !is_underline(line)).collect::<Vec<_>>().join("\n"))
}

/// A traceback is CPython's: frames, causes, notes, and the tree of an exception group with its limits.
#[test]
fn what_nobody_caught_is_told_as_by_cpython() {
    if !is_python_311() {
        println!("skipped: python3 on this machine is not 3.11, which tracebacks are compared with");
        return;
    }
    // The limit of recursion differs, comprehensions have no frame, and modules that are written otherwise have others.
    let other = ["recursion_limit.py", "in_comprehension.py", "frozen_dataclass.py", "json_error.py"];
    let mut wrong = String::new();
    for path in programs().into_iter().filter(|path| name(path).starts_with("errors/")) {
        if other.iter().any(|other| path.ends_with(other)) {
            continue;
        }
        let (ours, theirs) = told(&path);
        if ours.trim_end() != theirs.trim_end() {
            writeln!(wrong, "{}: here\n{ours}\n... and CPython\n{theirs}\n", name(&path)).expect("a string");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Output and last line of the traceback of CPython.
fn theirs(path: &Path) -> (String, String) {
    let output = Command::new("python3")
        .args(["-W", "ignore"])
        .arg(path)
        .env("PYTHONHASHSEED", "0")
        .env("PYTHONIOENCODING", "utf-8")
        .output()
        .expect("python3 was found before");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = if output.status.success() { "" } else { errors.trim_end().lines().last().unwrap_or_default() };
    (String::from_utf8_lossy(&output.stdout).into_owned(), last.to_owned())
}

fn known_differences() -> BTreeMap<String, String> {
    DIFFERENT
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| {
            let (name, reason) = line.split_once(' ').expect("a name and its reason");
            (name.to_owned(), reason.trim().to_owned())
        })
        .collect()
}

#[test]
fn the_corpus_runs_as_on_cpython() {
    if !is_python_311() {
        println!("skipped: python3 on this machine is not 3.11, which the corpus is compared with");
        return;
    }
    let known = known_differences();
    let mut wrong = String::new();
    let mut agreeing = 0;
    for path in programs() {
        let name = name(&path);
        let (output, last, _, _) = ours(&path);
        let (expected, expected_last) = theirs(&path);
        // Notes and what a group holds follow the exception itself.
        let ends_alike = |text: &str| text.trim_end().lines().last().unwrap_or_default() == expected_last;
        let same = output == expected && (ends_alike(&last) || (name.starts_with("errors/") && ends_alike(&told_here(&path))));
        agreeing += usize::from(same);
        if same == known.contains_key(&name) {
            let line = output.lines().zip(expected.lines()).position(|(a, b)| a != b);
            let what = if same { "agrees now: take it off differences.txt" } else { "differs" };
            writeln!(wrong, "{name}: {what}, first at line {line:?}; ends with {last:?}, CPython with {expected_last:?}")
                .expect("a string");
        }
    }
    println!("{agreeing} programs agree");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Every special method × everything that a class may hold under its name: a function, a static or class method, a property, a descriptor, an
/// instance that can be called, a class, a bound method, a builtin, `None` and a number.
#[test]
fn special_methods_are_bound_as_on_cpython() {
    if !is_python_311() {
        println!("skipped: python3 on this machine is not 3.11, which special methods are compared with");
        return;
    }
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/matrix.py");
    let made = Command::new("python3").arg(generator).output().expect("python3 was found before");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("special_methods");
    std::fs::create_dir_all(&folder).expect("the target's folder can be written");
    let program = folder.join("matrix.py");
    std::fs::write(&program, made.stdout).expect("the target's folder can be written");
    let ((output, last, ..), (expected, _)) = (ours(&program), theirs(&program));
    assert_eq!(last, "", "it ends by itself");
    let differing = output.lines().zip(expected.lines()).filter(|(ours, theirs)| ours != theirs);
    let shown: Vec<String> = differing.map(|(ours, theirs)| format!("{ours}\n  CPython: {theirs}")).collect();
    assert!(shown.is_empty(), "{} of {} calls differ:\n{}", shown.len(), expected.lines().count(), shown[..shown.len().min(20)].join("\n"));
    assert_eq!(output.lines().count(), expected.lines().count());
    println!("{} calls agree", expected.lines().count());
}

/// What a run leaves when everything of it is dropped: references that are counted wrong would panic on the way, in every test.
#[test]
fn programs_that_let_go_of_everything_leave_no_objects() {
    let rows = [
        ("a function", "def run():\n    return [str(i) for i in range(1000)]\nrun()\n"),
        ("instances", "class A:\n    pass\ndef run():\n    for i in range(300):\n        a = A(); a.x = [i]; a.y = a.x\nrun()\n"),
        (
            "exceptions",
            "def run():\n    for i in range(300):\n        try:\n            [][i]\n        except IndexError as e:\n            f = e\nrun()\n",
        ),
        (
            "generators",
            "def g():\n    try:\n        yield [1]\n    finally:\n        pass\ndef run():\n    for i in range(300):\n        for x in g():\n            break\nrun()\n",
        ),
        ("closures", "def run():\n    for i in range(300):\n        f = lambda: [i]\n        f()\nrun()\n"),
        (
            "views",
            "def run():\n    for i in range(300):\n        b = bytearray(8)\n        with memoryview(b) as v:\n            w = v[2:].cast('H')\n            w[0] = i; list(w); w == v\n        w.release(); b.append(1); bytes(memoryview(b)[::2])\nrun()\n",
        ),
        ("text", "def run():\n    s = ''\n    for i in range(300):\n        s += 'ab%d' % i\n    return {s: (s, s[2:])}\nrun()\n"),
        (
            "natives",
            "def run():\n    for i in range(300):\n        sorted(map(str, [i, 2]), key=len); '{} {}'.format(i, 'x'); max([1.5, i])\nrun()\n",
        ),
    ];
    for (name, source) in rows {
        let objects = |times: usize| {
            let source = format!("{source}{}", "run()\n".repeat(times));
            let unit = compile(&source, "program.py").expect("valid source");
            let limits = Limits { cycles: 1 << 30, weight_ns: 1 << 50, ..Limits::default() };
            let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
            assert!(matches!(vm.run(), Exit::Return(_)), "{name}");
            vm.objects()
        };
        assert_eq!(objects(0), objects(5), "{name}: five more runs leave nothing more");
    }
}

/// A run ends with the same trap wherever its cycles end: nothing that was taken out of an object to be worked on is missed on the way.
/// `CORPUS_CUTS` sets how many ends of each program are tried.
#[test]
fn a_run_ends_wherever_its_cycles_end() {
    let cuts = std::env::var("CORPUS_CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_u64);
    for path in programs() {
        let source = std::fs::read_to_string(&path).expect("a readable program");
        let Ok(unit) = compile(&source, "program.py") else { continue };
        let image = script_image(&unit);
        let (_, last, all, _) = ours(&path);
        let mut state = all;
        for _ in 0..cuts {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let limits = Limits { cycles: (state >> 20) % all, memory_bytes: 1 << 28, weight_ns: 1 << 50, ..Limits::default() };
            let cycles = limits.cycles;
            let exit = Vm::start(std::sync::Arc::clone(&image), Entry::Script, limits).run();
            // What describes an exception that nobody caught may come after all else.
            let ends = matches!(exit, Exit::Trap(Trap::OutOfCycles)) || matches!(exit, Exit::Raise(_)) && !last.is_empty();
            assert!(ends, "{} with {cycles} cycles: {exit:?}", name(&path));
        }
    }
}

/// cycles, peak memory and output of every program are what they were, in any build. `examples/corpus.rs` and
/// `tests/wasm.mjs` hold release builds and WebAssembly to the same table.
#[test]
fn cycles_memory_and_output_are_those_of_the_table() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden_cycles.txt");
    let mut found = String::new();
    for path in programs() {
        let (output, last, cycles, memory) = ours(&path);
        writeln!(found, "{} {cycles} {memory} {}", name(&path), digest(&output, &last)).expect("a string");
    }
    if std::env::var("COWBOY_GOLDEN").is_ok_and(|value| value == "write") {
        std::fs::write(&table, &found).expect("the table can be written");
    }
    let expected = std::fs::read_to_string(&table).expect("the table is in the repository");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "name, cycles, peak memory, digest of the output");
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "one line for each program");
}
