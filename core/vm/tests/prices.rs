//! What is charged for work that a program makes as large as it likes: cycles grow with the size of what is copied, looked at or moved,
//! and memory with what is kept. Each row was work without a price.

use cowboy_vm::{Entry, Exit, Limits, Usage, Vm, compile, script_image};

/// What a program uses.
fn usage(source: &str) -> Usage {
    let unit = compile(source, "prices.py").expect("the program is Python");
    let limits = Limits { cycles: 1 << 40, memory_bytes: 1 << 30, weight_ns: 1 << 60, ..Limits::default() };
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    let exit = vm.run();
    assert!(matches!(exit, Exit::Return(_)), "{exit:?}: {}", &source[..source.len().min(2_000)]);
    vm.usage()
}

/// The cycles of a statement after a setup with a size.
fn cycles(setup: &str, body: &str, size: usize) -> u64 {
    let program = |body: &str| usage(&format!("N = {size}\n{setup}\ntry:\n    {body}\nexcept Exception: pass\n")).cycles;
    program(body) - program("pass")
}

/// Setup, statement, two sizes, and how many cycles the larger one takes more, at least.
const GROWING: &[(&str, &str, usize, usize, u64)] = &[
    ("t = ('x',) * N", "'abc'.startswith(t)", 10, 10_010, 20_000),
    ("t = (b'x',) * N", "b'abc'.endswith(t)", 10, 10_010, 20_000),
    ("t = ('a' * N,) * 9", "('b' + 'a' * N).startswith(t, 1)", 100, 10_100, 9 * 312),
    ("class C: pass\nfor i in range(N): setattr(C, 'a%d' % i, i)\np = C.__dict__", "p.items()", 10, 1_010, 3_000),
    ("class C: pass\nfor i in range(N): setattr(C, 'a%d' % i, i)\np = C.__dict__", "iter(p)", 10, 1_010, 1_000),
    ("class C: pass\nfor i in range(N): setattr(C, 'a%d' % i, i)\nC.x = 1", "del C.x", 10, 1_010, 125),
    ("class C: pass\nclass D: pass\nfor i in range(N): setattr(C, 'a%d' % i, i)\no = C()", "o.__class__ = D", 10, 1_010, 1_000),
    ("d = {i * (2 ** 61 - 1): 0 for i in range(N)}", "d.popitem()", 20, 220, 600),
    ("d = {i * (2 ** 61 - 1) for i in range(N)}", "for i in range(N): d.pop()", 20, 120, 10_000),
    ("C = type('a' * N, (), {})", "C.__name__", 10, 8_074, 1_000),
    ("C = type('a' * N, (), {})", "C.__qualname__", 10, 8_074, 1_000),
    ("class C: pass\ns = 'a' * N", "C.__name__ = s", 8, 8_008, 1_000),
    ("C = type('a' * N, (), {})\no = C()", "object.__repr__(o)", 10, 8_074, 1_000),
    ("def f(): pass\nf.__qualname__ = 'a' * N", "f(1)", 10, 8_074, 1_000),
    ("class C: pass\nfor i in range(N): C = type('C', (C,), {})", "C.__mro__", 4, 28, 12),
    ("g = ExceptionGroup('a' * N, [ValueError()])", "str(g)", 8, 8_008, 1_000),
    ("g = ExceptionGroup('a', [ValueError()] * N)", "g.exceptions", 8, 8_008, 8_000),
    ("m = memoryview(bytes(1)).cast('B', [1] * N)", "m.shape", 1, 64, 63),
    ("import json\nd = {'k%d' % i: i for i in range(N)}\nd = {'a': float('nan'), **d}", "json.dumps(d, allow_nan=False)", 8, 808, 200),
    ("import json\nd = json.JSONDecoder()\ns = 'é' * N + '1'", "d.raw_decode(s, N)", 8, 8_008, 2_000),
    ("import json\ns = '{' + ','.join(['\"%05d\":1' % i for i in range(N)]) + '}'", "json.loads(s)", 1, 1_025, 20_000),
    ("import json\nd = {'a' * N + str(i): i for i in range(8)}", "json.dumps(d, sort_keys=True)", 1, 6_401, 8 * 4 * 200),
    ("class C:\n    def __repr__(self): return 'C'\nd = [C()] * 8 + [0] * N", "repr(d)", 8, 8_008, 1_000),
    ("L = [(str(i * 7919 % 1000), 'b') for i in range(N)]", "L.sort()", 1, 1_000, 30_000),
    ("L = [(i * 7919 % 1000) << 90 for i in range(N)]", "L.sort()", 1, 1_000, 30_000),
    ("a = 1 << N", "~a", 70, 4_095, 60),
    ("a = 1 << N", "-a", 70, 4_095, 60),
    ("a = 1 << N\nb = a + 1", "a < b", 70, 4_095, 15),
    ("a = 1 << N", "a == 1.5", 60, 70, 3),
    ("a = (1 << N) + 1", "pow(3, -1, a)", 70, 4_070, 4_000),
    ("L = [0] * N", "list(enumerate(L))", 10, 10_010, 50_000),
    ("import json\ns = '[' + '1e5,' * N + '1]'", "json.loads(s)", 1, 101, 4_000),
    ("import math\nx = 2.0 ** N", "math.fmod(x, 3.0)", 2, 1_002, 60),
    ("import math\nx = 2.0 ** N", "math.remainder(x, 3.0)", 2, 1_002, 60),
    ("L = [1.5, 2] * N", "sum(L)", 1, 1_001, 7_000),
    ("import math\nL = [2.0 ** (i * 37 % 2_000 - 1_000) for i in range(N)]", "math.fsum(L)", 1, 1_001, 100_000),
    ("L = [0] * N", "list(zip(L, L))", 10, 10_010, 80_000),
    ("d = dict.fromkeys(range(N), 0)\ne = dict(d)", "d == e", 10, 1_010, 5_000),
    ("d = dict.fromkeys(range(N), 0)", "dict(d)", 10, 1_010, 5_000),
    ("s = 'Σ' * N", "s.lower()", 10, 1_010, 10_000),
    ("s = 'a' * N", "s.encode('utf-16')", 8, 8_008, 4_000),
];

#[test]
fn cycles_grow_with_what_is_copied_or_looked_at() {
    let mut wrong = Vec::new();
    for &(setup, body, small, large, least) in GROWING {
        let (one, other) = (cycles(setup, body, small), cycles(setup, body, large));
        if other.saturating_sub(one) < least {
            wrong.push(format!("{body}: {one} cycles for {small}, {other} for {large}, which should be {least} more\n{setup}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_template_counts_as_a_call_of_a_native_function() {
    let weight = |body: &str| usage(&format!("s = 'a%s'\n{body}\n")).weight_ns;
    let (filled, joined) = (weight("s % 'b'"), weight("s + 'b'"));
    assert!(filled >= joined + 200, "{filled} and {joined} ns");
}

/// What takes no longer where there is more of it, because nothing is copied.
#[test]
fn what_is_shared_costs_the_same_at_any_size() {
    let rows = [
        ("class C: pass\nfor i in range(N): setattr(C, 'a%d' % i, i)\np = C.__dict__", "p.get('a3'), len(p)"),
        ("from types import MappingProxyType\np = MappingProxyType({i: i for i in range(N)})", "iter(p), p.get(3), len(p)"),
        ("def f(a): pass\nt = (0,) * N", "f.__defaults__ = t; f.__defaults__; f()"),
        ("def f(*, a=1): pass\nd = {'k%d' % i: i for i in range(N)}\nd['a'] = 2", "f.__kwdefaults__ = d; f.__kwdefaults__; f()"),
        ("C = type('a' * 10 * N, (), {})\no = C()", "hasattr(o, 'x'), getattr(o, 'y', 0); o + 1"),
        ("t = [0] * N", "SyntaxError('a', t)"),
        ("import hashlib\nh = hashlib.shake_128(b'a' * N)", "h.digest()"),
    ];
    for (setup, body) in rows {
        let setup = setup.replace("from types import MappingProxyType", "MappingProxyType = type(type.__dict__)");
        assert_eq!(cycles(&setup, body, 100), cycles(&setup, body, 3_000), "{body}\n{setup}");
    }
}

/// A function with `count` local variables, all unbound, and what calls it.
fn many_locals(count: usize, word: &str, call: &str) -> String {
    let lines: String = (0..count).map(|index| format!("        a{index} = 1\n")).collect();
    format!("def f(x):\n    if x:\n{lines}    {word}\n{call}\n")
}

#[test]
fn registers_of_large_functions_are_charged() {
    let rows = [
        ("return x", "for i in range(10): f(0)", 10),
        ("yield x", "for i in range(10): list(f(0))", 30),
        ("1 / 0", "try: f(0)\nexcept Exception: pass", 1),
    ];
    for (word, call, times) in rows {
        let (small, large) = (usage(&many_locals(10, word, call)).cycles, usage(&many_locals(2_058, word, call)).cycles);
        assert!(large >= small + times * 248, "{word}: {small} and {large} cycles");
    }
}

#[test]
fn parameters_without_an_argument_are_charged() {
    let parameters = |count: usize, default: &str| (0..count).map(|index| format!("a{index}{default}")).collect::<Vec<_>>().join(", ");
    let keywords = |count: usize| (0..count).map(|index| format!("a{index}=1")).collect::<Vec<_>>().join(", ");
    let rows: [(&dyn Fn(usize) -> String, u64); 3] = [
        (&|count| format!("def f(*, {}): pass\nf()\n", parameters(count, "=1")), 3 * 1_000),
        (&|count| format!("def f({}): pass\ntry: f()\nexcept TypeError: pass\n", parameters(count, "")), 6 * 1_000),
        (&|count| format!("def f({}): pass\nf({})\n", parameters(count, ""), keywords(count)), 1_000 * 1_000 / 16),
    ];
    for (program, least) in rows {
        let (small, large) = (usage(&program(50)).cycles, usage(&program(1_050)).cycles);
        assert!(large >= small + least, "{small} and {large} cycles\n{}", program(3));
    }
}

/// Memory is what a program keeps, in whatever it keeps it.
#[test]
fn memory_grows_with_what_is_kept() {
    let suspended = |locals: usize| many_locals(locals, "yield x", "kept = [f(0) for i in range(100)]\nfor g in kept: next(g)");
    let rows: [(&str, &dyn Fn(usize) -> String, usize); 4] = [
        ("registers of generators", &suspended, 100 * 2_000 * 8),
        ("generators that never ran", &|locals| many_locals(locals, "yield x", "kept = [f(0) for i in range(100)]"), 100 * 2_000 * 8),
        ("names of classes", &|length| format!("kept = [type('a' * {length}, (), {{}}) for i in range(100)]\n"), 100 * 2_000 * 2),
        ("iterators that are zipped", &|count| format!("t = ((),) * {count}\nkept = [zip(*t) for i in range(100)]\n"), 100 * 2_000 * 8),
    ];
    for (what, program, least) in rows {
        let (small, large) = (usage(&program(100)).peak_memory, usage(&program(2_100)).peak_memory);
        assert!(large >= small + least, "{what}: {small} and {large} bytes");
    }
    let renamed = |length: usize| format!("class C: pass\nC.__name__ = 'a' * {length}\nC.__name__ = 'b'\nD = C\n");
    assert!(usage(&renamed(1_000_000)).peak_memory > 2_000_000, "the text, and the name that it becomes");
}
