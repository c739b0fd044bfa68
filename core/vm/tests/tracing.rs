//! Traced runs: every line is seen before it runs, and nothing else is different.

use cowboy_vm::{Entry, Exit, Limits, LineEvent, Usage, Vm, compile, script_image};
use std::cell::RefCell;

thread_local! {
    /// What the hook saw: depth, line, `call` or nothing, and what was printed before.
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn see(event: &LineEvent<'_>) {
    let call = if event.is_call { format!(" call {}", event.function) } else { String::new() };
    let printed = if event.printed.is_empty() { String::new() } else { format!(" after {:?}", event.printed) };
    SEEN.with_borrow_mut(|seen| seen.push(format!("{}:{}{call}{printed}", event.depth, event.line)));
}

fn run(source: &str, is_traced: bool) -> (String, Usage, Vec<String>) {
    let unit = compile(source, "script.py").expect("the source is sound");
    // Enough for every program to end: where a run stops for want of cycles, it stops at the next look, and a traced one looks more often.
    let limits = Limits { cycles: 1 << 40, memory_bytes: 1 << 30, weight_ns: 1 << 50, ..Limits::default() };
    let mut machine = Vm::start(script_image(&unit), Entry::Script, limits);
    if is_traced {
        machine.trace_lines(see);
    }
    let exit = machine.run();
    let end = match exit {
        Exit::Return(_) => String::new(),
        Exit::Raise(error) => [error.traceback.as_slice(), &[error.message]].concat().join("\n"),
        other => format!("{other:?}"),
    };
    let (output, usage) = (machine.take_output(), machine.usage());
    (output + &end, usage, SEEN.with_borrow_mut(std::mem::take))
}

#[test]
fn lines_are_seen_before_they_run() {
    let rows: &[(&str, &[&str])] = &[
        ("x = 1\ny = x\n", &["1:1 call <module>", "1:2"]),
        ("print('a')\nprint('b')\n", &["1:1 call <module>", "1:2 after \"a\\n\""]),
        ("for i in range(2):\n    i\n", &["1:1 call <module>", "1:2", "1:1", "1:2", "1:1"]),
        ("i = 0\nwhile i < 2: i += 1\n", &["1:1 call <module>", "1:2", "1:2"]),
        ("def f():\n    return 1\nf()\nf()\n", &["1:1 call <module>", "1:3", "2:2 call f", "1:4", "2:2 call f"]),
        ("def g():\n    yield 1\n    yield 2\nlist(g())\n", &["1:1 call <module>", "1:4", "2:2 call g", "2:3"]),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass\n", &["1:2 call <module>", "1:3", "1:4"]),
    ];
    for (source, expected) in rows {
        let (_, _, seen) = run(source, true);
        assert_eq!(seen, *expected, "{source}");
    }
}

/// A trace changes neither what a run does nor what it costs.
#[test]
fn the_corpus_runs_as_it_does_untraced() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut scripts: Vec<_> =
        std::fs::read_dir(folder).expect("the corpus is there").map(|entry| entry.expect("readable").path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    scripts.sort();
    assert!(!scripts.is_empty());
    for path in scripts {
        let source = std::fs::read_to_string(&path).expect("a script is text");
        let (plain, plain_usage, _) = run(&source, false);
        let (_, usage, seen) = run(&source, true);
        assert_eq!(usage, plain_usage, "{}", path.display());
        assert!(!seen.is_empty() && (plain.is_empty() || !plain.contains("Trap")), "{}: {plain}", path.display());
    }
}

#[test]
fn a_traceback_counts_what_repeats() {
    let (said, _, _) = run("def f(n): return f(n + 1)\nf(0)\n", false);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.iter().filter(|line| line.contains("line 1, in f")).count(), 3, "{said}");
    assert!(lines.contains(&"  [Previous line repeated 252 more times]"), "{said}");
}
