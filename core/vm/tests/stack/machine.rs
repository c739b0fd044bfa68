//! What programs make as deep as they can, at the limit and far beyond it, on 256 KiB of stack.

use super::on_stack;
use cowboy_vm::{Entry, Exit, HostValue, Limits, PyError, Rules, STACK_BYTES, Vm, build_image, compile, script_image};

/// The native stack that the VM runs on here.
const SMALL: usize = 256 << 10;

const LIMITS: Limits =
    Limits { cycles: 200_000_000, cells: 1 << 20, memory_bytes: 64 << 20, recursion: 256, weight_ns: 1 << 50, rules: Rules::GENESIS };

/// Runs a program, compiled on a thread of the size that is promised.
fn run(source: &str) -> Exit {
    let image = on_stack(STACK_BYTES, || {
        let unit = compile(source, "deep.py").unwrap_or_else(|error| panic!("{source}: {error}"));
        script_image(&unit)
    });
    on_stack(SMALL, move || Vm::start(image, Entry::Script, LIMITS).run())
}

/// What a program leaves in `result`, or the name of the exception that ends it.
fn result(source: &str) -> String {
    let source = format!("{source}\nraise KeyError(result)\n");
    match run(&source) {
        Exit::Raise(PyError { type_name, message, .. }) if type_name == "KeyError" => message.trim_matches('\'').to_owned(),
        Exit::Raise(error) => error.type_name,
        other => format!("{other:?}"),
    }
}

/// Values that hold others of their sort: how the innermost is made, and how one more is put around `x`.
const NESTS: &[(&str, &str)] = &[
    ("[]", "[x]"),
    ("()", "(x,)"),
    ("{}", "{0: x}"),
    ("()", "frozenset([x])"),
    ("0", "slice(x, x)"),
    ("int", "list[x]"),
    ("(lambda: 0)", "Method(lambda a: 0, x)"),
    ("{}", "{0: x}.values()"),
    ("{}", "{0: x}.items()"),
    ("{}", "type(type.__dict__)({0: x})"),
    ("iter([1])", "zip(x)"),
    ("iter([1])", "zip(x, x)"),
    ("iter([1])", "zip([1], x, strict=True)"),
    ("iter([1])", "enumerate(x)"),
    ("iter([1])", "map(lambda a: a, x)"),
    ("iter([1])", "filter(None, x)"),
    ("[1]", "(a for a in x)"),
    ("iter([1])", "reversed([x])"),
    ("()", "ValueError(x)"),
    ("()", "KeyError(x)"),
    ("()", "OSError(1, x)"),
    ("()", "OSError(1, 'a', x)"),
    ("()", "StopIteration(x)"),
    ("()", "SyntaxError(x)"),
    ("()", "SystemExit(x)"),
    ("()", "Own(x)"),
    ("ValueError()", "ExceptionGroup('', [x])"),
    ("ValueError()", "caused(x)"),
    ("ValueError()", "noted(x)"),
    ("ValueError()", "during(x)"),
    ("int", "(x,)"),
    ("(lambda: 0)", "staticmethod(x)"),
    ("(lambda: 0)", "classmethod(x)"),
    ("(lambda: 0)", "property(x)"),
    ("(lambda: 0)", "Calls(x)"),
    ("(lambda: 0)", "type('C', (), {'__call__': x})()"),
    ("object", "type('C', (), {'__new__': x})"),
    ("object", "type('C', (), {'__init__': x})"),
    ("(lambda *a: 0)", "type('C', (), {'__eq__': x, '__hash__': x, '__str__': x, '__bool__': x, '__iter__': x})()"),
    ("object", "type('C', (x,), {})"),
    ("(lambda: 0)", "closure(x)"),
    ("None", "Holds(x)"),
    ("[]", "__import__functools.partial(len, x)"),
];

/// What is done with such a value. Each may end in an error of its own.
const ACTS: &[&str] = &[
    "repr(x)",
    "str(x)",
    "f'{x} {x!r} {x!s:>4}'",
    "'%s %r' % (x, x)",
    "'{} {!r}'.format(x, x)",
    "print(x)",
    "format(x, '')",
    "x == y",
    "x < y",
    "x in [y]",
    "[x].index(y)",
    "sorted([x, y])",
    "hash(x)",
    "{x: 1}",
    "next(x)",
    "list(x)",
    "a, *b = x",
    "isinstance(1, x)",
    "issubclass(int, x)",
    "x()",
    "x(1, 2)",
    "bool(x)",
    "len(x)",
    "iter(x)",
    "x | x",
    "json.dumps(x)",
    "pvm_host.cbor_encode(x)",
    "x.close()",
    "raise x",
    "assert 0, x",
    "[1, x].sort()",
    "''.join(x)",
    "dict(x)",
    "x.missing",
    "min(x, y)",
];

const PRELUDE: &str = "
import json, pvm_host, functools as __import__functools
class Own(Exception): pass
class Holds:
    def __init__(self, held): self.held = held
class Calls:
    def __init__(self, held): self.__call__ = held
    @property
    def __call__(self): return self.held
    @__call__.setter
    def __call__(self, held): self.held = held
def caused(x):
    e = ValueError(); e.__cause__ = x; return e
def during(x):
    e = ValueError(); e.__context__ = x; return e
def noted(x):
    e = ValueError(); e.add_note('a'); e.__notes__.append(x); return e
def closure(x): return lambda: x
class Bound:
    def method(self): pass
Method = type(Bound().method)
";

/// No value that a program nests ends the process, whatever it does with it: at the depth that the VM still follows natively, and
/// far beyond.
#[test]
fn nothing_that_a_program_nests_exhausts_the_stack() {
    for (innermost, around) in NESTS {
        for depth in [195, 205, 20_000] {
            let acts: String =
                ACTS.iter().map(|act| format!("    try:\n        {act}\n    except Exception as e:\n        pass\n")).collect();
            // Where making a value twice and using it is too much for the limits, that is the end of the program and no more.
            let source = format!(
                "{PRELUDE}\ndef run():\n    x = y = {innermost}\n    try:\n        for i in range({depth}):\n            x = {around}\n            \
                 if i < 210: y = (lambda x: {around})(y)\n    except Exception:\n        pass\n{acts}    del x, y\nrun()\n"
            );
            run(&source);
        }
    }
}

/// One act at a time on each value, so that no earlier one stands in the way.
#[test]
fn each_act_on_the_deepest_values_ends() {
    let kept = ["repr(x)", "str(x)", "x == y", "hash(x)", "next(x)", "x()", "raise x", "assert 0, x", "isinstance(1, x)", "json.dumps(x)"];
    for (innermost, around) in NESTS {
        for act in kept {
            run(&format!("{PRELUDE}\nx = y = {innermost}\nfor i in range(198):\n    x = {around}\n{act}\n"));
        }
    }
}

#[test]
fn iterators_inside_one_another_are_bounded_where_they_are_made() {
    let nested =
        |around: &str, depth: usize| format!("x = iter([1, 2])\nfor i in range({depth}):\n    x = {around}\nresult = repr(next(x))");
    for around in ["zip(x)", "enumerate(x)", "zip(x, strict=True)"] {
        assert!(result(&nested(around, 199)).ends_with("1,))") || result(&nested(around, 199)).contains('1'), "{around}");
        for depth in [200, 10_000, 100_000] {
            assert_eq!(result(&nested(around, depth)), "RecursionError", "{around} {depth}");
        }
    }
    // What is used up no longer counts.
    let used = "for i in range(1000):\n    x = zip([1])\n    x = zip(x)\n    list(x)\n    x = zip(x)\nresult = 'fine'";
    assert_eq!(result(used), "fine");
}

/// Every layer of an iterator costs cycles, so that no step is free.
#[test]
fn a_step_of_nested_iterators_is_paid_for() {
    let cycles = |depth: usize| {
        let source = format!("x = iter(range(100))\nfor i in range({depth}):\n    x = enumerate(x)\nfor a in x: pass\n");
        let unit = compile(&source, "deep.py").expect("valid source");
        let mut vm = Vm::start(script_image(&unit), Entry::Script, LIMITS);
        assert!(matches!(vm.run(), Exit::Return(_)));
        vm.usage().cycles
    };
    assert!(cycles(150) - cycles(50) >= 100 * 100 * 8, "{} {}", cycles(150), cycles(50));
}

/// What a program makes deep or wide costs cycles for every part that is gone through, however few instructions ask for it.
#[test]
fn work_inside_nested_values_is_paid_for() {
    let cases = [
        ("members of unions", "x = int\nfor i in range(1000): x = x | list[i]\n", 1_000 * 1_000 / 2 - 10_000),
        ("hashes", "x = ()\nfor i in range(150): x = (x,)\nfor i in range(100): hash(x)\n", 150 * 100 * 10),
        (
            "labels",
            "b = [0] * 40000\nc = [[]]\nfor i in range(99):\n    n = []\n    c[-1].append(n)\n    c.append(n)\nfor n in c: n.append(b)\n",
            99 * 40_000 / 4,
        ),
        ("repr", "x = ()\nfor i in range(150): x = (x,)\nfor i in range(10): repr(x)\n", 10 * 150 * 150 / 2 / 8),
        ("classes", "t = (int,)\nfor i in range(16): t = (t, t)\nisinstance('', t)\n", (1 << 17) * 4),
        (
            "calls",
            "x = object\nfor i in range(50): x = type('C', (), {'__new__': x})\nfor i in range(20):\n    try: x()\n    except TypeError: pass\n",
            20 * 46 * 60,
        ),
    ];
    for (name, source, least) in cases {
        let unit = compile(source, "deep.py").expect("valid source");
        let mut vm = Vm::start(script_image(&unit), Entry::Script, LIMITS);
        assert!(matches!(vm.run(), Exit::Return(_)), "{name}");
        assert!(vm.usage().cycles >= least, "{name}: {} cycles, at least {least}", vm.usage().cycles);
    }
}

#[test]
fn the_text_of_nested_exceptions_is_a_recursion_error() {
    let shows = ["str(x)", "f'{x}'", "'%s' % x", "'{}'.format(x)", "format(x)", "print(x)", "repr(x)"];
    for class in ["ValueError", "OSError", "StopIteration", "SyntaxError", "ImportError", "SystemExit", "KeyError"] {
        for show in shows {
            let source = format!("x = ()\nfor i in range(30000):\n    x = {class}(x)\nresult = {show}");
            assert_eq!(result(&source), "RecursionError", "{class} {show}");
        }
        for ending in ["raise x", "assert 0, x"] {
            let exit = run(&format!("x = ()\nfor i in range(30000):\n    x = {class}(x)\n{ending}\n"));
            assert!(matches!(exit, Exit::Raise(PyError { ref message, .. }) if message == "<exception str() failed>"), "{class} {exit:?}");
        }
    }
    assert_eq!(result("x = 'a'\nfor i in range(150):\n    x = ValueError(x)\nresult = str(x)"), "a");
}

/// Classes and tuples of classes have more ways through them than there is time, so none is searched way by way.
#[test]
fn ways_through_classes_are_not_walked_one_by_one() {
    let source = "class A: pass\nclass B(A): pass\nfor i in range(27):\n    A, B = B, type('C', (B, A), {})\nresult = len(B.__mro__)";
    assert_eq!(result(source), "30");
    let source = "t = (int,)\nfor i in range(31):\n    t = (t, t)\nresult = isinstance('', t)";
    assert!(matches!(run(source), Exit::Trap(_)));
    let source = "t = (int,)\nfor i in range(31):\n    t = (t, t)\nresult = issubclass(str, t)";
    assert!(matches!(run(source), Exit::Trap(_)));
}

#[test]
fn callees_that_stand_for_others_are_bounded() {
    let chains = [
        ("x = lambda *a: 0", "Method(x, 1)"),
        ("x = lambda *a: 0", "Method(lambda *a: 0, x)"),
        ("x = object", "type('C', (), {'__new__': x})"),
        ("x = lambda *a: 0", "type('C', (), {'__call__': x})()"),
    ];
    for (innermost, around) in chains {
        let source = format!(
            "{PRELUDE}\n{innermost}\nfor i in range(20000):\n    x = {around}\nheld = [x]\ntry:\n    x()\nexcept (RecursionError, TypeError):\n    pass\nresult = 'fine'"
        );
        assert_eq!(result(&source), "fine", "{around}");
    }
}

/// A generator that others wait for is thrown into through all of them.
#[test]
fn generators_that_delegate_are_bounded() {
    let source = "
def g(inner):
    yield from inner
x = g([1, 2])
for i in range(20000):
    x = g(x)
try:
    next(x)
except RecursionError:
    result = 'bounded'
";
    assert_eq!(result(source), "bounded");
    let source = "
def g(inner):
    try:
        yield from inner
    finally:
        pass
x = g([1, 2])
for i in range(240):
    x = g(x)
next(x)
try:
    x.throw(ValueError)
except ValueError:
    pass
del x
result = 'fine'
";
    assert_eq!(result(source), "fine");
}

#[test]
fn regular_expressions_nest_as_deep_as_the_parser_goes() {
    for (open, close) in [("(", ")"), ("(?:", ")*"), ("(?=", ")"), ("(?<=", ")"), ("(?>", ")"), ("(a|", ")"), ("(?i:", ")+?")] {
        for depth in [150, 190, 100_000] {
            let source = format!(
                "import re\ntry:\n    p = re.compile('{open}' * {depth} + 'a' + '{close}' * {depth})\n    p.match('aaaa')\n    \
                 p.findall('aaaa')\n    del p\nexcept (RecursionError, re.error):\n    pass\nresult = 'fine'"
            );
            assert_eq!(result(&source), "fine", "{open} {depth}");
        }
    }
}

/// An image holds what its module made, however deep, and is dropped with it.
#[test]
fn images_of_deep_values_are_frozen_and_dropped() {
    for (innermost, around) in NESTS {
        let source =
            format!("{PRELUDE}\nx = {innermost}\ntry:\n    for i in range(20000):\n        x = {around}\nexcept Exception:\n    pass\n");
        let unit = on_stack(STACK_BYTES, || compile(&source, "deep.py").expect("valid source"));
        on_stack(SMALL, || drop(build_image(&unit, LIMITS)));
    }
}

#[test]
fn values_for_the_host_are_bounded_in_depth() {
    for depth in [250, 300, 50_000] {
        let source = format!("x = []\nfor i in range({depth}):\n    x = [x]\nprint(x == 1)\n");
        assert!(matches!(run(&source), Exit::Return(HostValue::None)), "{depth}");
        let source = format!("import pvm_host\nx = []\nfor i in range({depth}):\n    x = [x]\nresult = len(pvm_host.cbor_encode(x))");
        result(&source);
        let source = format!(
            "import pvm_host, json\ntry:\n    pvm_host.cbor_decode(b'\\x81' * {depth} + b'\\0')\nexcept Exception:\n    pass\ntry:\n    json.loads('[' * {depth} + ']' * {depth})\nexcept RecursionError:\n    pass\nresult = 'fine'"
        );
        assert_eq!(result(&source), "fine", "{depth}");
    }
}
