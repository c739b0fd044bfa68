//! What authors look at their programs with: profiles that account for every cycle, listings, and all refusals at once.

use cowboy_vm::{CompileErrorKind, Entry, Limits, Profile, Profiler, Usage, Vm, check, compile, disassemble, script_image};

const PROGRAM: &str = "\
import json

def leaf(n):
    return sorted(range(n))

def branch(n):
    total = 0
    for i in range(n):
        total += len(leaf(i))
    return total

print(branch(9))
print(json.dumps({'a': [1, 2.5]}))
";

fn run(source: &str, profiler: Option<&Profiler>) -> (String, Usage) {
    let unit = compile(source, "program.py").expect("the source is sound");
    let mut machine = Vm::start(script_image(&unit), Entry::Script, Limits::default());
    if let Some(profiler) = profiler {
        machine.profile(profiler);
    }
    machine.run();
    (machine.take_output(), machine.usage())
}

fn profile(source: &str) -> (Usage, Profile) {
    let profiler = Profiler::new("program.py");
    let (output, usage) = run(source, Some(&profiler));
    assert_eq!((output, usage), run(source, None), "a profile changes nothing");
    (usage, profiler.take())
}

/// cycles are exact, so what a profile shows adds up to what was charged.
#[test]
fn a_profile_accounts_for_every_cycle() {
    let raises = "def f(x):\n    return 1 // x\ntry:\n    f(0)\nexcept ZeroDivisionError:\n    pass\nf(0)\n";
    let generators = "def g(n):\n    for i in range(n):\n        yield i * i\nprint(sum(g(20)), [x for x in g(3)])\n";
    let recursion = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nprint(fib(9))\n";
    let endless = "while True:\n    pass\n";
    for source in [PROGRAM, raises, generators, recursion, endless, "print('a' * 9)\n"] {
        let (usage, profile) = profile(source);
        assert_eq!(profile.cycles(), usage.cycles, "{source}");
        let lines: u64 = profile.lines.values().map(|count| count.cycles).sum();
        assert_eq!(lines, usage.cycles, "{source}");
    }
}

#[test]
fn a_profile_says_which_function_and_which_line() {
    let (_, profile) = profile(PROGRAM);
    let stacks: Vec<String> = profile.stacks.keys().map(|stack| stack.join(" > ")).collect();
    for wanted in [
        "<module> (program.py:1)",
        "<module> (program.py:1) > branch (program.py:6)",
        "<module> (program.py:1) > branch (program.py:6) > leaf (program.py:3)",
    ] {
        assert!(stacks.iter().any(|stack| stack == wanted), "{wanted} in {stacks:#?}");
    }
    assert!(stacks.iter().any(|stack| stack.starts_with("<module> (program.py:1) > dumps (json")), "the library is seen: {stacks:#?}");
    let visits = |line: u32| profile.lines.get(&("program.py".into(), line)).map_or(0, |count| count.visits);
    assert_eq!([visits(4), visits(9), visits(10), visits(12)], [9, 9, 1, 1]);
}

#[test]
fn profilers_of_several_sources_fill_one_profile() {
    let all = Profiler::new("one.py");
    let (_, first) = run("x = 1\n", Some(&all));
    let (_, second) = run("y = 1 + 1\nz = 2\n", Some(&all.for_file("two.py")));
    let profile = all.take();
    assert_eq!(profile.cycles(), first.cycles + second.cycles);
    let files: Vec<(&str, u32)> = profile.lines.keys().map(|(file, line)| (&**file, *line)).collect();
    assert_eq!(files, [("one.py", 1), ("two.py", 1), ("two.py", 2)]);
    assert_eq!(all.take(), Profile::default(), "what was taken is gone");
}

#[test]
fn a_listing_shows_lines_costs_and_operands() {
    let source =
        "RATE = 250\n\ndef fee(amount, tip=0):\n    if amount > 1000:\n        return amount * RATE + tip\n    return len('abc')\n";
    let listing = disassemble(&compile(source, "fee.py").expect("valid source"));
    for wanted in [
        "<module> (fee.py:1)",
        "fee (fee.py:3)",
        "    4  if amount > 1000:",
        "amount > immediate 1000",
        "LoadGlobal",
        "global or builtin of RATE",
        "  1  Mul",
        "= \"abc\"",
        "= function of code fee",
    ] {
        assert!(listing.contains(wanted), "{wanted:?} in\n{listing}");
    }
    assert!(!listing.contains('?'), "everything has a name:\n{listing}");
}

/// what may not be said is refused before anything runs, with its place; all of it at once for whoever asks.
#[test]
fn a_check_names_every_refusal_with_its_place() {
    let source = "import time\nimport random as r\n\ndef f(x):\n    eval('1')\n    return x is 'a', x.__globals__\n";
    let found = check(source);
    let places: Vec<(u32, u32, u32)> = found.iter().map(|error| (error.line, error.column, error.width)).collect();
    assert_eq!(places, [(1, 8, 4), (2, 8, 11), (5, 5, 4), (6, 12, 8), (6, 24, 11)]);
    for (error, hint) in
        found.iter().zip(["cowboy_sdk.pvm_time", "cowboy_sdk.vrf", "write the expression out", "use '=='", "outside the sandbox"])
    {
        assert_eq!(error.kind, CompileErrorKind::Forbidden);
        assert!(error.message.contains(hint), "{hint} in {}", error.message);
    }
    let first = compile(source, "a.py").expect_err("it is refused");
    assert_eq!((first.line, first.column), (1, 8), "deploying stops at the first");
}

#[test]
fn a_check_agrees_with_the_compiler() {
    let rows: &[(&str, usize)] = &[
        ("x = 1\n", 0),
        ("", 0),
        ("x = = 1\n", 1),
        ("def f(:\n    pass\n", 1),
        ("type X = int\n", 1),
        ("return 1\n", 1),
        ("x = 'a\0b'\n", 1),
        ("import os\r\nimport sys\r\n", 2),
    ];
    for (source, least) in rows {
        let found = check(source);
        assert_eq!(found.is_empty(), compile(source, "a.py").is_ok(), "{source:?}: {found:?}");
        assert!(found.len() >= *least, "{source:?}: {found:?}");
        assert!(found.iter().all(|error| error.line > 0 && error.column > 0 && error.width > 0), "{source:?}: {found:?}");
    }
}
