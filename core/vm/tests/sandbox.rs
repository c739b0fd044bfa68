//! What an actor may not do, and what stops it: refusals with their place, traps, and exceptions it cannot swallow.

use cowboy_vm::{CompileErrorKind, Entry, Exit, Limits, Rules, Trap, Vm, build_image, compile, script_image};

const SMALL: Limits =
    Limits { cycles: 20_000_000, cells: 1_000, memory_bytes: 10 << 20, recursion: 256, weight_ns: 1 << 50, rules: Rules::GENESIS };

fn run(source: &str) -> (String, Exit) {
    let unit = compile(source, "test.py").expect("the source compiles");
    let mut vm = Vm::start(script_image(&unit), Entry::Script, SMALL);
    let exit = vm.run();
    (vm.take_output(), exit)
}

/// What takes as long as it is large is refused for its size before it is begun.
#[test]
fn work_without_bounds_is_refused_by_its_size() {
    let decimal = "decimal is too long to write out\n";
    for (expression, refusal) in [
        ("type('X', (int,) * 33, {})", "a class may have at most 32 others in its method resolution order\n"),
        ("type('X', (int,) * 32, {})", "duplicate base class int\n"),
        ("format(Decimal('nan'), '>9999999')", decimal),
        ("format(Decimal('1e-99999999999999'), 'f')", decimal),
        ("format(Decimal('-inf'), '09999999')", decimal),
    ] {
        let source =
            format!("from decimal import Decimal\ntry:\n    {expression}\nexcept (TypeError, ValueError) as error:\n    print(error)\n");
        assert_eq!(run(&source).0, refusal, "{expression}");
    }
}

/// A-72 … … A-83: refused before anything runs, with line and column.
#[test]
fn forbidden_things_do_not_compile() {
    let rows = [
        ("import os", 1, 8),
        ("import sys", 1, 8),
        ("x = 1\nimport subprocess", 2, 8),
        ("import time", 1, 8),
        ("from datetime import datetime", 1, 1),
        ("import random", 1, 8),
        ("import socket", 1, 8),
        ("import urllib.request", 1, 8),
        ("import threading", 1, 8),
        ("import multiprocessing", 1, 8),
        ("import concurrent.futures", 1, 8),
        ("import weakref", 1, 8),
        ("import gc", 1, 8),
        ("import inspect", 1, 8),
        ("import pickle", 1, 8),
        ("from . import other", 1, 1),
        ("eval('1')", 1, 1),
        ("exec('1')", 1, 1),
        ("compile('1', 'x', 'exec')", 1, 1),
        ("__import__('os')", 1, 1),
        ("globals()['x'] = 1", 1, 1),
        ("().__class__.__subclasses__()", 1, 14),
        ("(lambda: 0).__globals__", 1, 13),
        ("x = 'a'\nprint(x is 'a')", 2, 7),
        ("n = 5\nif n is not 5:\n    pass", 2, 4),
    ];
    for (source, line, column) in rows {
        let error = compile(source, "test.py").expect_err(source);
        assert_eq!((error.kind, error.line, error.column), (CompileErrorKind::Forbidden, line, column), "{source}: {error}");
    }
}

/// newer syntax is not Python 3.11, and what is no Python is refused with its place.
#[test]
fn syntax_errors_have_a_place() {
    for source in ["def f(:", "x = = 1", "type X = int", "def f[T](x): pass", "class A[T]: pass", "\u{0}", "return 1", "break", "'abc"] {
        let error = compile(source, "test.py").expect_err(source);
        assert_eq!(error.kind, CompileErrorKind::Syntax, "{source}: {error}");
        assert!(error.line >= 1, "{source}");
    }
}

/// A refusal shows its line with carets under what is wrong, as CPython does.
#[test]
fn refusals_show_their_place() {
    let rows = [
        ("def f(:", "def f(:", "      ^"),
        ("x = 1\nif x:\n    import subprocess", "import subprocess", "       ^^^^^^^^^^"),
        ("y = 2\nx = 'a'\nprint(x is 'a')", "print(x is 'a')", "      ^^^^^^^^"),
        ("é = 'ä' + eval('1')", "é = 'ä' + eval('1')", "          ^^^^"),
    ];
    for (source, line, carets) in rows {
        let error = compile(source, "test.py").expect_err(source);
        let shown = [format!("  File \"test.py\", line {}", error.line), format!("    {line}"), format!("    {carets}")];
        assert_eq!(error.shown("test.py", source), shown, "{source}");
    }
}

/// A-84 and the limits beside it: traps that no handler catches.
#[test]
fn limits_trap() {
    let rows = [
        ("while True:\n    pass", Trap::OutOfCycles),
        ("while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass", Trap::OutOfCycles),
        ("x = 'x' * 11000000", Trap::OutOfMemory),
        ("x = [0] * 2000000", Trap::OutOfMemory),
        ("x = b'x' * 10000\ny = []\nwhile True:\n    y.append(x + b'1')", Trap::OutOfMemory),
        ("x = list(range(10 ** 9))", Trap::OutOfCycles),
        ("sum(range(10 ** 12))", Trap::OutOfCycles),
        // A long name that is written often.
        ("C = type('x' * 1000000, (), {})\nrepr(list[(C,) * 1000])", Trap::OutOfMemory),
    ];
    for (source, trap) in rows {
        let (_, exit) = run(source);
        assert!(matches!(exit, Exit::Trap(found) if found == trap), "{source}: {exit:?}");
    }
}

/// recursion, huge integers and format strings that walk attributes.
#[test]
fn escapes_raise() {
    let rows = [
        ("def f(n):\n    return f(n + 1)\nf(0)", "RecursionError"),
        ("x = 2 ** 5000", "OverflowError"),
        ("x = 1 << 4097", "OverflowError"),
        ("x = pow(3, 10 ** 6)", "OverflowError"),
        ("'{0.__class__}'.format(1)", "AttributeError"),
        ("'{0._x}'.format(1)", "AttributeError"),
        ("x = []\nfor i in range(400): x = [x]\nrepr(x)", "RecursionError"),
        ("x = list[int]\nfor i in range(400): x = type(x)(x, int)\nhash(x)", "RecursionError"),
        ("getattr(int, '__subclasses__')()", "AttributeError"),
    ];
    for (source, class) in rows {
        let (_, exit) = run(source);
        assert!(matches!(&exit, Exit::Raise(error) if error.type_name == class), "{source}: {exit:?}");
    }
}

/// the store that would close a cycle raises, and `except Exception` does not swallow it.
#[test]
fn reference_cycles_are_refused_at_the_store() {
    let rows = [
        "a = []\na.append(a)",
        "a = []\nb = [a]\na.append(b)",
        "a = {}\na['a'] = a",
        "a = {}\nb = {'a': a}\nc = [b]\na['c'] = c",
        "class N: pass\nn = N()\nn.next = n",
        "class N: pass\na, b = N(), N()\na.other = b\nb.other = a",
        "class N: pass\na = N()\nb = [a]\na.items = b",
        "a = []\nb = (a,)\na.append(b)",
        "a = [1, 2]\na[0] = [a]",
        "a = []\na.extend([a])",
        "a = []\nb = list([a])\na.append(b)",
        "a = {}\na.setdefault('x', [a])",
        "a = []\na += [[a]]",
        "class N: pass\nn = N()\nn.__dict__['n'] = n",
        "class N:\n    m = lambda self: 1\nn = N()\nn.call = n.m",
        "class N:\n    m = lambda self: 1\nn = N()\nn.calls = [n.m]",
        "a = []\na.append(a.append)",
    ];
    for source in rows {
        let guarded = format!("try:\n    {}\nexcept Exception:\n    pass", source.replace('\n', "\n    "));
        let (_, exit) = run(&guarded);
        assert!(matches!(&exit, Exit::Raise(error) if error.type_name == "DeterminismError"), "{source}: {exit:?}");
    }
}

/// trees and shared objects are no cycles.
#[test]
fn trees_are_fine() {
    let rows = [
        "a = []\nb = [a, a]\nc = {'b': b, 'a': a}\nb.append([])\na.append({})",
        "class N:\n    def __init__(self, left=None, right=None):\n        self.left, self.right = left, right\nn = N()\nfor _ in range(100): n = N(n, N())",
        "rows = [[0] * 3 for _ in range(3)]\nrows[0], rows[1] = rows[1], rows[0]",
        "a = []\nfor i in range(50):\n    a = [a, {'i': [i]}]",
        "d = {}\nd['x'] = {}\nd['x']['y'] = []\nd['x']['y'].append({'z': d['x'].keys()})",
    ];
    for source in rows {
        let (_, exit) = run(source);
        assert!(matches!(exit, Exit::Return(_)), "{source}: {exit:?}");
    }
}

/// The same image from the same source, and runs above it do not see each other.
#[test]
fn runs_above_an_image_are_fresh() {
    let source = "table = {'n': 0}\nclass Box:\n    items = []\nn = 1\n";
    let unit = compile(source, "test.py").expect("compiles");
    let (_, first) = build_image(&unit, SMALL).expect("runs");
    let (_, second) = build_image(&unit, SMALL).expect("runs");
    assert_eq!(first, second, "cycles and memory of the same body");
}

/// text that is deep or mutated is refused or runs; it never ends the process.
#[test]
fn hostile_sources_never_panic() {
    let deep = ["(".repeat(60_000), "[".repeat(60_000), "-".repeat(60_000), "1+".repeat(60_000) + "1", "a.".repeat(60_000) + "b"];
    let more =
        ["f".to_owned() + &"()".repeat(60_000), "not ".repeat(30_000) + "1", "x = ".repeat(20_000) + "1", "lambda: ".repeat(20_000) + "1"];
    let indented: String = (0..300).map(|depth| " ".repeat(depth) + "if 1:\n").collect();
    for source in deep.iter().chain(&more).chain([&indented]) {
        let outcome = compile(source, "deep.py");
        assert!(outcome.is_err() || source.starts_with("x = "), "{}", &source[..20]);
    }
    let program = include_str!("corpus/statements_misc.py");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..300 {
        let mut bytes = program.as_bytes().to_vec();
        for _ in 0..8 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let place = usize::try_from(state % bytes.len() as u64).expect("within the text");
            let other = usize::try_from((state >> 20) % bytes.len() as u64).expect("within the text");
            bytes[place] = bytes[other];
        }
        let source = String::from_utf8_lossy(&bytes).into_owned();
        if let Ok(unit) = compile(&source, "mutated.py") {
            let limits = Limits { cycles: 50_000, ..SMALL };
            let exit = Vm::start(script_image(&unit), Entry::Script, limits).run();
            assert!(!matches!(exit, Exit::Trap(Trap::Internal)), "{source}");
        }
    }
}
