//! What the chain asks of the modules beyond CPython's results: files, the decimal context, and work that is paid for.

use cowboy_vm::{Entry, Exit, Limits, Rules, Trap, Usage, Vm, compile, script_image};

const LIMITS: Limits =
    Limits { cycles: 20_000_000, cells: 1 << 20, memory_bytes: 10 << 20, recursion: 256, weight_ns: 1 << 50, rules: Rules::GENESIS };

fn run_with(source: &str, limits: Limits) -> (String, Exit, Usage) {
    let unit = compile(source, "test.py").expect("the source compiles");
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    let exit = vm.run();
    let usage = vm.usage();
    (vm.take_output(), exit, usage)
}

/// What a script printed, and the exception it ended with.
fn run(source: &str) -> String {
    let (output, exit, _) = run_with(source, LIMITS);
    match exit {
        Exit::Return(_) => output,
        Exit::Raise(error) => format!("{output}{}: {}", error.type_name, error.message),
        other => format!("{output}{other:?}"),
    }
}

fn check(rows: &[(&str, &str)]) {
    for (source, expected) in rows {
        assert_eq!(run(source), *expected, "{source}");
    }
}

/// A-78: 256 KiB together, only in `/tmp`, and every way out refused.
#[test]
fn files_are_in_tmp_and_bounded() {
    check(&[
        ("with open('/tmp/a', 'w') as f: f.write('x' * 262144)\nprint(len(open('/tmp/a').read()))", "262144\n"),
        ("f = open('/tmp/a', 'w')\nf.write('x' * 262145)", "OSError: [Errno 28] No space left on device"),
        (
            "open('/tmp/a', 'w').write('x' * 200000)\nopen('/tmp/b', 'w').write('x' * 62144)\nopen('/tmp/c', 'w').write('x')",
            "OSError: [Errno 28] No space left on device",
        ),
        ("open('/tmp/a', 'w').write('x' * 262144)\nopen('/tmp/a', 'w').write('y' * 262144)\nprint(open('/tmp/a').read(1))", "y\n"),
        ("f = open('/tmp/a', 'wb')\nf.seek(10 ** 9)\nf.write(b'x')", "OSError: [Errno 28] No space left on device"),
        ("open('/tmp/a', 'w').truncate(300000)", "OSError: [Errno 28] No space left on device"),
        ("open('/tmp/nothing')", "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/nothing'"),
    ]);
    for path in [
        "/etc/passwd",
        "/tmp/../etc/passwd",
        "/tmp/a/../../etc/passwd",
        "tmp/a",
        "a",
        "../tmp/a",
        "/",
        "/tmpfile",
        "//etc/passwd",
        "/tmp/..",
        "/proc/self/environ",
        "~/.ssh/id",
        "/tmp/../tmp/a",
    ] {
        for mode in ["r", "w", "a", "x", "rb", "r+"] {
            let found = run(&format!("open({path:?}, {mode:?})"));
            assert!(found.starts_with("PermissionError: [Errno 13] Permission denied"), "{path} {mode}: {found}");
        }
    }
    let many = run("for i in range(300): open('/tmp/%d' % i, 'w')");
    assert!(many.starts_with("OSError: [Errno 28]"), "{many}");
}

/// A-78: what one run wrote is not there in the next.
#[test]
fn files_are_wiped() {
    let source =
        "try:\n    print(open('/tmp/a').read())\nexcept FileNotFoundError:\n    print('fresh')\nopen('/tmp/a', 'w').write('kept?')";
    let unit = compile(source, "test.py").expect("the source compiles");
    let image = script_image(&unit);
    for _ in 0..2 {
        let mut vm = Vm::start(image.clone(), Entry::Script, LIMITS);
        assert!(matches!(vm.run(), Exit::Return(_)));
        assert_eq!(vm.take_output(), "fresh\n");
    }
}

/// A-49: a byte written is a cell, and cells run out.
#[test]
fn bytes_in_files_are_cells() {
    let rows = [
        ("open('/tmp/a', 'w').write('x' * 1000)", 1_000),
        ("open('/tmp/a', 'w').write('é' * 1000)", 2_000),
        ("f = open('/tmp/a', 'wb')\nfor _ in range(10): f.write(b'12345')", 50),
        ("f = open('/tmp/a', 'wb')\nfor _ in range(10):\n    f.seek(0)\n    f.write(b'12345')", 50),
        ("f = open('/tmp/a', 'wb')\nf.truncate(77)", 77),
        ("open('/tmp/a', 'w')\nopen('/tmp/a').read()", 0),
    ];
    for (source, cells) in rows {
        assert_eq!(run_with(source, LIMITS).2.cells, cells, "{source}");
    }
    let source = "try:\n    open('/tmp/a', 'w').write('x' * 1000)\nexcept BaseException:\n    pass";
    let (_, exit, _) = run_with(source, Limits { cells: 999, ..LIMITS });
    assert!(matches!(exit, Exit::Trap(Trap::OutOfCells)), "{exit:?}");
}

/// A-69: 28 digits, half to even, and nothing changes that; rounding is told by argument.
#[test]
fn the_decimal_context_is_fixed() {
    check(&[
        (
            "from decimal import *\nprint(Decimal(1) / 3, Decimal('0.5').quantize(Decimal(1)), Decimal('1.5').quantize(Decimal(1)))",
            "0.3333333333333333333333333333 0 2\n",
        ),
        ("from decimal import *\nprint(getcontext().prec, getcontext().rounding)", "28 ROUND_HALF_EVEN\n"),
        ("from decimal import *\nprint(Decimal('2.5').quantize(Decimal(1), rounding=ROUND_HALF_UP))", "3\n"),
        ("from decimal import *\ngetcontext().prec = 28\ngetcontext().rounding = ROUND_HALF_EVEN", ""),
    ]);
    let changes = [
        "getcontext().prec = 50",
        "getcontext().rounding = ROUND_UP",
        "getcontext().traps[DivisionByZero] = False",
        "getcontext().Emax = 5",
        "setcontext(Context(prec=9))",
        "localcontext(prec=9)",
        "localcontext(rounding=ROUND_DOWN)",
        "Context(rounding=ROUND_FLOOR)",
    ];
    for change in changes {
        let found = run(&format!("from decimal import *\n{change}"));
        assert!(found.starts_with("TypeError: the decimal context is fixed"), "{change}: {found}");
    }
}

/// A-89: patterns that blow up run out of cycles or memory, the same every time; none of them uses the host's stack.
#[test]
fn regular_expressions_are_metered() {
    let rows = [
        (r#"re.match(r"(a+)+b", "a" * 64)"#, Trap::OutOfCycles),
        (r#"re.match(r"(a|a)*b", "a" * 64)"#, Trap::OutOfCycles),
        (r#"re.match(r"(a*)*b", "a" * 64)"#, Trap::OutOfCycles),
        (r#"re.match(r"(.*)(.*)(.*)(.*)(.*)(.*)x", "a" * 2000)"#, Trap::OutOfCycles),
        (r#"re.search(r"a{1000}b", "a" * 100000)"#, Trap::OutOfCycles),
        (r#"re.match(r"(?:){4000000000}x", "")"#, Trap::OutOfCycles),
        (r#"re.sub(r"(?=((a+)+)b)", "", "a" * 64)"#, Trap::OutOfCycles),
        (r#"re.match(r"(?:a|b)*c", "ab" * 400000)"#, Trap::OutOfMemory),
        (r#"re.sub("a", "b" * 10000, "a" * 10000)"#, Trap::OutOfMemory),
    ];
    for (call, trap) in rows {
        let source = format!("import re\ntry:\n    {call}\nexcept BaseException:\n    pass");
        let (_, exit, first) = run_with(&source, LIMITS);
        assert!(matches!(exit, Exit::Trap(found) if found == trap), "{call}: {exit:?}");
        assert_eq!(first, run_with(&source, LIMITS).2, "{call}: the same cycles and memory again");
    }
    check(&[
        (r#"import re; print(re.match(r"(?:a|b)*", "ab" * 20000).end())"#, "40000\n"),
        (r#"import re; re.compile("(" * 5000 + ")" * 5000)"#, "RecursionError: maximum recursion depth exceeded"),
        (r#"import re; print(re.compile("(?:" * 150 + "a" + ")*" * 150).match("aaa").end())"#, "3\n"),
    ]);
}

/// A-87: sorted and compact, byte for byte what CPython writes, and deep values end as an exception.
#[test]
fn json_is_compact_and_bounded() {
    check(&[
        (
            "import json\nprint(json.dumps({'b': [1, 2.5, None, True], 'a': {'d': 'é', 'c': {}}}, sort_keys=True, separators=(',', ':')))",
            "{\"a\":{\"c\":{},\"d\":\"\\u00e9\"},\"b\":[1,2.5,null,true]}\n",
        ),
        (
            "import json\njson.loads('[' * 100000)",
            "RecursionError: maximum recursion depth exceeded while decoding a JSON array from a unicode string",
        ),
        (
            "import json\nx = []\nfor _ in range(300): x = [x]\njson.dumps(x)",
            "RecursionError: maximum recursion depth exceeded while encoding a JSON object",
        ),
        (
            "import json\njson.loads('9' * 5000)",
            "ValueError: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits; use sys.set_int_max_str_digits() to increase the limit",
        ),
    ]);
}

/// A-89: what the frozen modules are made of can be reached through them; whatever it is given, it raises or runs.
#[test]
fn private_natives_take_anything() {
    let source = "
import re, json, struct, decimal, functools, typing
import json.encoder, json.decoder
holders = [re, json.encoder, struct, decimal, functools, typing]
names = ['_re', '_json', '_struct', '_decimal', '_functools']
found = []
for holder in holders:
    for name in names:
        module = getattr(holder, name, None)
        if module is not None:
            found += [getattr(module, each) for each in dir(module) if not each.startswith('__')]
program = re.compile('(a)|(é)')._program
number = decimal.Decimal('1E+999999999999')._n
values = [None, True, -1, 0, 1, 10 ** 12, 2 ** 63 - 1, -2 ** 63, 2 ** 100, 1.5, '', 'aé', b'', b'a' * 10, b's\\xff' * 5, (), (1, 'x'), [1],
          {'a': 1}, program, number, decimal.Decimal('sNaN'), decimal.Decimal('-1E-999999999'), len, int, NotImplemented]
state = 12345
calls = 0
for function in found:
    for turn in range(300):
        arguments = []
        state = (state * 1103515245 + 12345) % 2147483648
        for _ in range(state // 65536 % 9):
            state = (state * 1103515245 + 12345) % 2147483648
            arguments.append(values[state // 65536 % len(values)])
        try:
            function(*arguments)
        except Exception:
            pass
        calls += 1
packer = struct.Struct('<IH')
packer._plan = b's\\x01\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff'
for attempt in (lambda: packer.pack(1, 2), lambda: packer.unpack(b'123456')):
    try:
        attempt()
    except Exception:
        pass
print(len(found) > 30, calls)
";
    let limits = Limits { cycles: 1 << 33, memory_bytes: 64 << 20, ..LIMITS };
    let (output, exit, _) = run_with(&source.replace("\\\\", "\\"), limits);
    assert!(output.starts_with("True ") && matches!(exit, Exit::Return(_)), "{output} {exit:?}");
}

/// Decisions 319 and 363: what weighs beside its cycles, and how much.
#[test]
fn native_calls_exceptions_and_classes_weigh() {
    let beside_cycles = |body: &str| {
        let (_, exit, used) = run_with(&format!("for i in range(1000):\n    {body}\n"), LIMITS);
        assert!(matches!(exit, Exit::Return(_)), "{exit:?}");
        used.weight_ns - 4 * used.cycles
    };
    let nothing = beside_cycles("x = i");
    let row = cowboy_vm::native_costs().into_iter().find(|row| row.name == "abs").expect("a native function");
    assert_eq!(row.weight, 200 + 4 * row.cycles);
    assert_eq!(beside_cycles("x = abs(i)") - nothing, 1_000 * u64::from(row.weight));
    assert_eq!(beside_cycles("try: 1 // 0\n    except ZeroDivisionError: pass") - nothing, 1_000_000);
    assert!(beside_cycles("class C: pass") - nothing >= 2_000_000);
}

/// Decision 282: text that an exception ends is paid for as far as it was written.
#[test]
fn unfinished_text_is_paid_for() {
    let cycles = |make: &str, body: &str| {
        let source =
            format!("x = 1\nfor i in range(1000): x = {make}\nfor i in range(100):\n    try: {body}\n    except RecursionError: pass\n");
        run_with(&source, LIMITS).2.cycles
    };
    for (make, level) in [("list[x]", "list["), ("[x]", "["), ("{1: x}", "{1: "), ("(x,)", "(")] {
        let written = u64::try_from(level.len()).expect("a short text") * 190 * 100;
        for body in ["str(x)", "repr(x)", "f'{x}'", "'%s' % (x,)"] {
            assert!(cycles(make, body) - cycles(make, "pass") > written, "{body} of {make}");
        }
    }
}

/// Each part of a path has to be a module, and what a package's `__getattr__` does not know either is an ImportError.
#[test]
fn imports_of_what_is_not_there_are_import_errors() {
    let missing = "ImportError: cannot import name 'missing' from 'cowboy_sdk' (unknown location)";
    check(&[
        ("import collections.missing", "ModuleNotFoundError: No module named 'collections.missing'"),
        ("import cowboy_sdk.missing.more", "ModuleNotFoundError: No module named 'cowboy_sdk.missing'"),
        ("import math.sqrt", "ModuleNotFoundError: No module named 'math.sqrt'; 'math' is not a package"),
        ("from abc.missing import x", "ModuleNotFoundError: No module named 'abc.missing'; 'abc' is not a package"),
        ("import json.decoder.x", "ModuleNotFoundError: No module named 'json.decoder.x'; 'json.decoder' is not a package"),
        ("from cowboy_sdk import missing", missing),
        ("from cowboy_sdk import actor, missing", missing),
        ("from cowboy_sdk import routes", "ImportError: cowboy_sdk.routes is not available: this version of the SDK has no HTTP routes"),
        ("import cowboy_sdk\ncowboy_sdk.missing", "AttributeError: module 'cowboy_sdk' has no attribute 'missing'"),
        ("from math import missing", "ImportError: cannot import name 'missing' from 'math' (unknown location)"),
        ("try:\n    from cowboy_sdk import missing\nexcept ImportError as error:\n    print(error.name, error.path)", "cowboy_sdk None\n"),
        ("try:\n    from math import missing\nexcept ImportError as error:\n    print(error.name)", "math\n"),
        ("try:\n    import json.missing.x\nexcept ImportError as error:\n    print(error.name)", "json.missing\n"),
        (
            "try:\n    1 // 0\nexcept Exception:\n    try:\n        from cowboy_sdk import missing\n    except ImportError as error:\n        print(repr(error.__context__))",
            "ZeroDivisionError('integer division or modulo by zero')\n",
        ),
        ("import json.decoder, collections.abc\nprint(json.__name__, collections.abc.__name__)", "json collections.abc\n"),
    ]);
}
