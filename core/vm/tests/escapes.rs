//! Ways out of the sandbox, one row each: refused before anything runs, or leading nowhere when it runs; and sources in other guises.

use cowboy_vm::{CompileErrorKind, Entry, Exit, Limits, Rules, Vm, compile, script_image};

const LIMITS: Limits =
    Limits { cycles: 1_000_000, cells: 1_000, memory_bytes: 10 << 20, recursion: 256, weight_ns: 1 << 50, rules: Rules::GENESIS };

fn run(source: &str) -> (String, Exit) {
    let unit = compile(source, "test.py").unwrap_or_else(|error| panic!("{source}: {error}"));
    let mut vm = Vm::start(script_image(&unit), Entry::Script, LIMITS);
    let exit = vm.run();
    (vm.take_output(), exit)
}

/// A-74 the system, A-75 clocks, A-76 chance, A-80 frames and the collector, A-81 weak references, A-82 threads and processes: an actor
/// that names them is refused, with line and column.
#[test]
fn what_003_forbids_is_refused_with_its_place() {
    let rows = [
        ("A-74", "import sys\nsys.exit()", 1, 8),
        ("A-74", "import os\nos.environ['HOME']", 1, 8),
        ("A-74", "x = 1\nfrom os import system", 2, 1),
        ("A-74", "def f():\n    import subprocess", 2, 12),
        ("A-74", "exit()", 1, 1),
        ("A-75", "import time\ntime.time()", 1, 8),
        ("A-75", "from time import sleep", 1, 1),
        ("A-75", "from datetime import datetime\ndatetime.now()", 1, 1),
        ("A-76", "import random\nrandom.random()", 1, 8),
        ("A-76", "import secrets", 1, 8),
        ("A-76", "import uuid", 1, 8),
        ("A-80", "import gc\ngc.collect()", 1, 8),
        ("A-80", "import inspect", 1, 8),
        ("A-80", "def g():\n    yield\nx = g().gi_frame", 3, 9),
        ("A-80", "try:\n    1 / 0\nexcept Exception as e:\n    f = e.__traceback__.tb_frame", 4, 25),
        ("A-80", "f = (lambda: 0).__code__", 1, 17),
        ("A-80", "f = (lambda: 0).__closure__", 1, 17),
        ("A-81", "import weakref", 1, 8),
        ("A-81", "from weakref import ref", 1, 1),
        ("A-82", "import threading", 1, 8),
        ("A-82", "import multiprocessing.pool", 1, 8),
        ("A-82", "from concurrent.futures import ThreadPoolExecutor", 1, 1),
        ("A-82", "import asyncio", 1, 8),
    ];
    for (item, source, line, column) in rows {
        let error = compile(source, "test.py").expect_err(source);
        let place = (error.kind, error.line, error.column);
        assert_eq!(place, (CompileErrorKind::Forbidden, line, column), "{item} {source}: {error}");
    }
}

/// A-79, A-80: names put together at run time reach no code, globals, frames or other classes.
#[test]
fn names_made_at_run_time_lead_nowhere() {
    let rows = [
        "getattr(lambda: 0, '__glo' + 'bals__')",
        "getattr(lambda: 0, '__co' + 'de__')",
        "getattr(lambda: 0, '__clo' + 'sure__')",
        "getattr(lambda: 0, '__buil' + 'tins__')",
        "getattr((x for x in [1]), 'gi_fr' + 'ame')",
        "getattr(int, '__subcl' + 'asses__')()",
        "getattr(print, '__se' + 'lf__')",
        "getattr(1, '__redu' + 'ce_ex__')(2)",
        "object.__getattribute__(lambda: 0, '__glo' + 'bals__')",
        "type.__getattribute__(int, '__subcl' + 'asses__')",
        "super(bool, True).__getattribute__('__redu' + 'ce__')",
        "vars()['__buil' + 'tins__']",
        "locals()['__lo' + 'ader__']",
        "type(lambda: 0)(1, 2)",
        "'{0.__class__.__init__}'.format(1)",
        "'{x.__class__}'.format_map({'x': 1})",
        "'{0._hidden}'.format(1)",
        "try:\n    1 / 0\nexcept Exception as e:\n    getattr(e.__traceback__, 'tb_fr' + 'ame')",
    ];
    for source in rows {
        let (_, exit) = run(source);
        let refused =
            matches!(&exit, Exit::Raise(error) if matches!(error.type_name.as_str(), "AttributeError" | "KeyError" | "TypeError"));
        assert!(refused, "{source}: {exit:?}");
    }
}

/// A chain of callables that stand for each other ends in RecursionError, not in an overflow of the native stack.
#[test]
fn endless_chains_of_callables_are_recursion_errors() {
    let rows = ["class A: pass\nA.__call__ = A()\nA()()", "f = print\nfor _ in range(5000): f = staticmethod(f)\nf()"];
    for source in rows {
        let (_, exit) = run(source);
        assert!(matches!(&exit, Exit::Raise(error) if error.type_name == "RecursionError"), "{source}: {exit:?}");
    }
}

/// Which characters a name has is a table of the parser's: letters that Unicode has from 16.0 and 17.0 on are some, an unassigned character is none
/// (decision 757).
#[test]
fn names_have_the_characters_of_one_version_of_unicode() {
    for (name, is_name) in [("\u{e9}", true), ("\u{10d50}", true), ("\u{16ea0}", true), ("\u{378}", false), ("\u{20ac}", false)] {
        assert_eq!(compile(&format!("{name} = 1\n"), "test.py").is_ok(), is_name, "{name:?}");
    }
}

/// A-64: the same program in other guises, and guises that are refused with their place.
#[test]
fn sources_are_canonical() {
    let same = [
        ("\u{feff}print('x')", "x\n"),
        ("x = 1\r\nprint(x)\r\n", "1\n"),
        ("x = 2\rprint(x)\r", "2\n"),
        ("print(repr('''a\r\nb\rc'''))", "'a\\nb\\nc'\n"),
        ("\u{fb01} = 3\nprint(fi)", "3\n"),
        ("print(len('e\u{301}'))", "2\n"),
    ];
    for (source, output) in same {
        let (found, exit) = run(source);
        assert!(matches!(exit, Exit::Return(_)), "{source:?}: {exit:?}");
        assert_eq!(found, output, "{source:?}");
    }
    let brackets = format!("x = {}", "(".repeat(128 << 10));
    let refused = [
        ("x = 1\n\0", 2, 1),
        ("match 1:\n    case 1: pass\ntype X = int", 3, 1),
        ("def f[T](x): pass", 1, 6),
        ("x = 1\nclass A[T]: pass", 2, 8),
        ("f'{'a' + f\"{1}\"}'", 1, 4),
        (&brackets, 1, 504),
    ];
    for (source, line, column) in refused {
        let error = compile(source, "test.py").expect_err("refused");
        assert_ne!(error.kind, CompileErrorKind::Forbidden, "{error}");
        assert_eq!((error.line, error.column), (line, column), "{}: {error}", &source[..source.len().min(60)]);
    }
}
