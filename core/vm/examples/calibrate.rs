//! Nanoseconds a cycle, worst first: of every instruction, of every native function with arguments of many kinds and sizes, and of
//! mutated programs of the corpus. `calibrate [opcodes|natives|search|all] [--seed N] [--seconds S] [--only TEXT]` prints Markdown.
//!
//! A figure is the time of a whole loop over its cycles: what somebody gets who runs just that. Each program marks where its setup ends
//! with a host call; from there on it has a fixed number of cycles, and runs until they are used up.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench reads files and the clock, and prints"
)]

use cowboy_vm::{Entry, Exit, HostValue, Limits, NativeCost, Unit, Vm, compile, disassemble, native_costs, script_image};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sizes of arguments.
const SIZES: &[usize] = &[1, 24, 300, 5_000, 60_000];
/// Cycles that a setup may use.
const SETUP: u64 = 1 << 32;

/// Programs' own random numbers (xorshift64*), from a printed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(mixed).expect("31 bits") % bound.max(1)
    }

    fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

/// One measurement.
#[derive(Clone, Debug)]
struct Figure {
    /// Which row.
    name: String,
    /// What ran.
    program: String,
    /// Nanoseconds a cycle, the least of the rounds.
    time: f64,
    /// The same by the frozen weights.
    weight: f64,
}

/// Nanoseconds that this thread has been running on a processor: what others do meanwhile does not count.
fn processor_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Runs a compiled program beyond its mark, `rounds` times. None where it has no mark, or uses too little to be measured.
fn measure(unit: &Arc<Unit>, budget: u64, rounds: usize) -> Option<(f64, f64)> {
    let image = script_image(unit);
    let mut least: Option<(f64, f64)> = None;
    for _ in 0..rounds {
        let limits = Limits { cycles: SETUP, memory_bytes: 64 << 20, weight_ns: 1 << 50, ..Limits::default() };
        let mut vm = Vm::start(Arc::clone(&image), Entry::Script, limits);
        if !matches!(vm.run(), Exit::HostCall(_)) {
            return None;
        }
        let before = vm.usage();
        vm.charge(SETUP.saturating_sub(before.cycles).saturating_sub(budget), 0, 0).ok()?;
        let start = vm.usage();
        let begin = processor_time();
        let exit = vm.resume(Ok(HostValue::None));
        let time = processor_time() - begin;
        let used = vm.usage();
        if !matches!(exit, Exit::Return(_) | Exit::Raise(_) | Exit::Trap(_)) {
            return None;
        }
        let cycles = used.cycles.saturating_sub(start.cycles);
        if cycles < budget / 4 && time < 2e6 {
            return None;
        }
        let figure = (time / cycles.max(1) as f64, used.weight_ns.saturating_sub(start.weight_ns) as f64 / cycles.max(1) as f64);
        if least.is_none_or(|least| figure.0 < least.0) {
            least = Some(figure);
        }
    }
    least
}

// ---- instructions ----

/// Statements by the instruction that they are about. `N` is a size.
const STATEMENTS: &[(&str, &str)] = &[
    ("Move", "a = b"),
    ("LoadConst", "a = 'text'"),
    ("LoadInt", "a = 7"),
    ("LoadNone", "a = None"),
    ("LoadGlobal", "a = G"),
    ("StoreGlobal", "global G; G = a"),
    ("MakeCell", "(lambda: a)"),
    ("Add", "c = a + b"),
    ("Add floats", "c = x + y"),
    ("Add text", "c = s + 'a'"),
    ("Sub", "c = a - b"),
    ("Sub floats", "c = x - y"),
    ("Mul", "c = a * b"),
    ("Mul floats", "c = x * y"),
    ("TrueDiv", "c = a / b"),
    ("TrueDiv floats", "c = x / y"),
    ("FloorDiv", "c = a // b"),
    ("FloorDiv floats", "c = x // y"),
    ("Mod", "c = a % b"),
    ("Mod floats", "c = x % y"),
    ("Mod of far floats", "c = 1e308 % 3e-308"),
    ("Mod text", "c = '%s %d' % (a, b)"),
    ("Pow", "c = a ** 2"),
    ("Pow large", "c = a ** 1000"),
    ("Pow floats", "c = x ** y"),
    ("Pow far floats", "c = 1.0000001 ** 12345678.9"),
    ("LeftShift", "c = a << 3"),
    ("LeftShift large", "c = a << 4000"),
    ("RightShift", "c = a >> 3"),
    ("And", "c = a & b"),
    ("Or", "c = a | b"),
    ("Xor", "c = a ^ b"),
    ("Mul large", "c = big * big"),
    ("FloorDiv large", "c = big * big // big"),
    ("Mod large", "c = (big * big) % (big - 1)"),
    ("Add large", "c = big + big"),
    ("Negative", "c = -a"),
    ("Invert", "c = ~a"),
    ("Not", "c = not a"),
    ("Less", "c = a < b"),
    ("Less floats", "c = x < y"),
    ("Less text", "c = s < t"),
    ("Equal text", "c = s == t"),
    ("Equal lists", "c = items == items2"),
    ("Equal nested", "c = nested == nested2"),
    ("Equal mixed", "c = a == x"),
    ("Is", "c = a is b"),
    ("In list", "c = -1 in items"),
    ("In text", "c = 'zz' in s"),
    ("In dict", "c = a in table"),
    ("In tuple key", "c = (a, b) in table"),
    ("Jump", "pass"),
    ("JumpIfTrue", "c = a or b"),
    ("JumpLess", "c = 1 if a < b else 2"),
    ("LoadAttr", "c = o.value"),
    ("LoadAttr of a slot", "c = slotted.value"),
    ("LoadAttr of a property", "c = o.prop"),
    ("LoadAttr missing", "c = hasattr(o, 'nothing')"),
    ("LoadAttr by __getattr__", "c = late.anything"),
    ("StoreAttr", "o.value = a"),
    ("StoreAttr new", "p = Plain(); p.one = 1; p.two = 2; p.three = 3"),
    ("DeleteAttr", "o.extra = 1; del o.extra"),
    ("LoadMethod", "o.method()"),
    ("GetItem list", "c = items[3]"),
    ("GetItem tuple", "c = row[1]"),
    ("GetItem dict", "c = table[3]"),
    ("GetItem dict of text", "c = words['key']"),
    ("GetItem dict of tuples", "c = pairs[(1, 2)]"),
    ("GetItem text", "c = s[1]"),
    ("SetItem list", "items[3] = a"),
    ("SetItem dict", "table[3] = a"),
    ("SetItem new", "d = {}; d[a] = 1; d[b] = 2"),
    ("DeleteItem", "table[-5] = 1; del table[-5]"),
    ("GetSlice", "c = items[1:4]"),
    ("GetSlice text", "c = s[1:4]"),
    ("GetSlice long", "c = items[:]"),
    ("GetSlice stepped", "c = items[::-1]"),
    ("SetSlice", "items[1:3] = (1, 2)"),
    ("BuildSlice", "c = slice(1, 2, 3)"),
    ("BuildList", "c = [a, b, a]"),
    ("BuildList empty", "c = []"),
    ("BuildTuple", "c = (a, b, a)"),
    ("BuildSet", "c = {a, b}"),
    ("BuildDict", "c = {a: b}"),
    ("BuildDict empty", "c = {}"),
    ("ListAppend", "c = [i for i in row]"),
    ("ListExtend", "c = [*row, *row]"),
    ("SetAdd", "c = {i for i in row}"),
    ("DictSet", "c = {i: i for i in row}"),
    ("DictUpdate", "c = {**small, **small}"),
    ("DictMerge", "c = keywords(**small)"),
    ("BuildString", "c = f'{s2}{s2}'"),
    ("Format", "c = f'{a}'"),
    ("Format float", "c = f'{x:.3f}'"),
    ("Format float repr", "c = f'{third}'"),
    ("Format padded", "c = f'{a:>20}'"),
    ("Format large", "c = f'{big}'"),
    ("Call", "c = plain(a)"),
    ("Call of a closure", "c = closure(a)"),
    ("Call of a class", "c = Plain()"),
    ("Call of a class with __init__", "c = Point(a, b)"),
    ("Call of a dataclass", "c = Data(a, b)"),
    ("CallKeyword", "c = keywords(one=a, two=b)"),
    ("CallSpread", "c = plain(*one)"),
    ("CallSpread many", "c = spread(*items)"),
    ("MakeFunction", "c = lambda: 1"),
    ("GetIter", "for i in row: pass"),
    ("ForIter range", "for i in range(20): pass"),
    ("ForIter list", "for i in items: pass"),
    ("ForIter dict", "for i in table: pass"),
    ("ForIter items", "for k, v in table.items(): pass"),
    ("ForIter text", "for i in s: pass"),
    ("ForIter zip", "for k, v in zip(items, items): pass"),
    ("ForIter generator", "for i in generate(20): pass"),
    ("ForIter of a class", "for i in Count(20): pass"),
    ("Unpack", "c, d = row2"),
    ("UnpackRest", "c, *d = items"),
    ("Raise", "try:\n            raise ValueError\n        except ValueError:\n            pass"),
    ("Raise deep", "try:\n            deep(20)\n        except ValueError:\n            pass"),
    ("Raise with a message", "try:\n            int('x')\n        except ValueError:\n            pass"),
    ("MatchException", "try:\n            items[10 ** 9]\n        except (KeyError, IndexError):\n            pass"),
    ("Yield", "c = list(generate(20))"),
    ("YieldFrom", "c = list(delegate(20))"),
    ("Await", "drive(waits())"),
    ("Import", "import math"),
    ("ImportFrom", "from math import sqrt"),
    ("ClassBody", "class C: pass"),
    ("ClassBody with methods", "class C(Plain):\n            x = 1\n            def f(self): pass"),
    ("With", "with manager: pass"),
    ("MatchSequence", "match row2:\n            case [p, q]: pass"),
    ("MatchMapping", "match small:\n            case {'one': p}: pass"),
    ("MatchClass", "match point:\n            case Point(one=p): pass"),
    ("MatchRest", "match small:\n            case {'one': p, **rest}: pass"),
    ("Comparison by __lt__", "c = point < point"),
    ("Comparison by __eq__", "c = data == data2"),
    ("Hash by __hash__", "c = hash(data)"),
    ("Arithmetic by __add__", "c = point + point"),
    ("Super", "c = child.method()"),
    ("Property", "c = o.prop"),
    ("Store that relabels", "chain = []\n        for i in range(20): chain = [chain]"),
    ("Enumeration", "c = Colour.RED"),
    ("Enumeration by value", "c = Colour(1)"),
    ("Dictionary of enumeration", "c = {Colour.RED: 1}"),
    ("Attributes of many classes", "for o2 in many: c = o2.value"),
];

const SETTING: &str = "\
import pvm_host
from dataclasses import dataclass
from enum import Enum
G = 1
class Plain:
    pass
class O:
    def __init__(self):
        self.value = 1
    def method(self):
        pass
    @property
    def prop(self):
        return 1
class Slotted:
    __slots__ = ('value',)
    def __init__(self):
        self.value = 1
class Late:
    def __getattr__(self, name):
        return 1
class Child(O):
    def method(self):
        return super().method()
class Point:
    __match_args__ = ('one', 'two')
    def __init__(self, one, two):
        self.one = one
        self.two = two
    def __lt__(self, other):
        return True
    def __add__(self, other):
        return self
@dataclass(frozen=True)
class Data:
    one: int
    two: int
class Count:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return self
    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        return self.n
class Manager:
    def __enter__(self):
        return self
    def __exit__(self, *problem):
        pass
class Colour(Enum):
    RED = 1
    GREEN = 2
def plain(x):
    return x
def keywords(one=1, two=2):
    return one
def spread(*values):
    return 1
def generate(n):
    for i in range(n):
        yield i
def delegate(n):
    yield from generate(n)
def deep(n):
    if n == 0:
        raise ValueError
    deep(n - 1)
async def nothing():
    return 1
async def waits():
    return await nothing()
def drive(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass
def outer():
    n = 1
    def closure(x):
        return n
    return closure
def run():
    a, b, x, y, third = 7, 3, 2.5, 1.25, 1 / 3
    big = 3 ** 1290
    s, t, s2 = 'ab' * N, 'ab' * N + 'c', 'ab'
    items, items2 = list(range(N + 4)), list(range(N + 4))
    nested = [[[i] for i in range(9)] for j in range(9)]
    nested2 = [[[i] for i in range(9)] for j in range(9)]
    row, row2, one = (1, 2, 3, 4, 5), (1, 2), (1,)
    table = {i: i for i in range(N + 4)}
    words = {'key': 1, 'other': 2}
    pairs = {(1, 2): 3}
    small = {'one': 1, 'two': 2}
    o, slotted, late, child, manager = O(), Slotted(), Late(), Child(), Manager()
    point, data, data2 = Point(1, 2), Data(1, 2), Data(1, 2)
    closure = outer()
    many = [type('C%d' % i, (), {'value': 1})() for i in range(12)]
    pvm_host.current_block()
    for turn in range(1000000000):
";

fn opcodes(only: &str, rounds: usize) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, statement) in STATEMENTS.iter().filter(|(name, _)| name.contains(only)) {
        let mut worst: Option<Figure> = None;
        for size in [4, 300] {
            let body = format!("        {statement}\n").repeat(8);
            let program = format!("N = {size}\n{SETTING}{body}run()\n");
            let unit = match compile(&program, "program.py") {
                Ok(unit) => unit,
                Err(error) => {
                    eprintln!("{name}: {error}");
                    continue;
                }
            };
            seen.extend(disassemble(&unit).lines().filter_map(|line| line.get(19..37).map(|name| name.trim().to_owned())));
            let Some((time, weight)) = measure(&unit, 1_000_000, rounds) else {
                eprintln!("{name}: nothing was measured");
                continue;
            };
            if worst.as_ref().is_none_or(|worst| worst.time < time) {
                worst = Some(Figure { name: (*name).to_owned(), program: statement.replace("\n        ", " ⏎ "), time, weight });
            }
        }
        figures.extend(worst);
    }
    let missing: Vec<&str> = cowboy_vm::OPCODES.iter().map(|row| row.name).filter(|name| !seen.contains(*name)).collect();
    if only.is_empty() {
        eprintln!("instructions in no statement: {}", missing.join(", "));
    }
    figures
}

// ---- native functions ----

/// What arguments may be, `N` being a size.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "N",
    "2**62",
    "2**N if N < 4000 else 2**4000",
    "1.5",
    "1e308",
    "5e-324",
    "None",
    "True",
    "''",
    "'a'",
    "'ab'*N",
    "'é'*N",
    "'1'*N",
    "' '*N",
    "'a,'*N",
    "'\\n'*N",
    "b''",
    "b'a'*N",
    "b'1,'*N",
    "bytearray(b'ab'*N)",
    "[]",
    "list(range(N))",
    "['a']*N",
    "[1.5]*N",
    "[[i] for i in range(min(N, 2000))]",
    "tuple(range(N))",
    "('a','b')",
    "{i: i for i in range(min(N, 5000))}",
    "{str(i): i for i in range(min(N, 5000))}",
    "set(range(min(N, 5000)))",
    "range(N)",
    "iter([1]*N)",
    "(i for i in range(N))",
    "len",
    "str",
    "int",
    "abs",
    "object()",
    "(lambda *a: 0)",
    "'%s'*min(N, 500)",
    "'{}'*min(N, 500)",
    "'(a*)*b'",
    "'[1, 2.5, \"x\", {}]'",
    "'['*min(N, 90)+']'*min(N, 90)",
    "'big'",
    "'little'",
    "'utf-8'",
    "'<%dQ' % min(N, 500)",
    "slice(None, None, -1)",
    "slice(0, N)",
    "ValueError('x')",
    "type",
];

/// Receivers by owner.
const RECEIVERS: &[(&str, &[&str])] = &[
    ("int", &["7", "2**62", "2**4000"]),
    ("bool", &["True"]),
    ("float", &["1.5", "1e308", "5e-324"]),
    ("complex", &["(1+2j)"]),
    ("str", &["'ab'*N", "'é'*N", "'1'*N", "'a,'*N", "' '*N", "'Ab\\n'*N", "'{}'*min(N, 500)"]),
    ("bytes", &["b'ab'*N", "b'1'*N", "b'a,'*N"]),
    ("bytearray", &["bytearray(b'ab'*N)", "bytearray(b'a,'*N)"]),
    ("list", &["list(range(N))", "['ab']*N", "[[1]]*N", "[1.5]*N"]),
    ("tuple", &["tuple(range(N))", "('ab',)*N"]),
    ("dict", &["{i: i for i in range(min(N, 5000))}", "{str(i): [i] for i in range(min(N, 5000))}"]),
    ("set", &["set(range(min(N, 5000)))"]),
    ("frozenset", &["frozenset(range(min(N, 5000)))"]),
    ("range", &["range(N)", "range(0, 10**18, 7)"]),
    ("slice", &["slice(1, N, 2)"]),
    ("object", &["object()"]),
    ("type", &["int", "type('T', (), {})"]),
    ("property", &["property(len)"]),
    ("generator", &["(i for i in range(N))"]),
    ("function", &["(lambda *a: 0)"]),
    ("super", &["super(int, 7)"]),
    ("BaseException", &["ValueError('x'*N)"]),
    ("NoneType", &["None"]),
    ("ellipsis", &["..."]),
    ("dict_keys", &["{i: i for i in range(min(N, 5000))}.keys()"]),
    ("dict_values", &["{i: i for i in range(min(N, 5000))}.values()"]),
    ("dict_items", &["{i: i for i in range(min(N, 5000))}.items()"]),
    ("memoryview", &[]),
];

/// A program that calls one native function again and again.
fn call_program(row: &NativeCost, size: usize, random: &mut Random) -> Option<(String, String)> {
    let (owner, short) = row.name.rsplit_once('.').unwrap_or(("", row.name));
    let most = if row.takes_more { row.positional + 3 } else { row.positional };
    let bound = RECEIVERS.iter().find(|(name, _)| *name == owner);
    let (mut import, mut receiver) = (String::new(), String::new());
    let callee = match (bound, owner) {
        (None, "") => short.to_owned(),
        (None, module) => {
            let top = module.split('.').next().unwrap_or_default();
            import = format!("import {top}\n");
            format!("{module}.{short}")
        }
        (Some((_, receivers)), _) => {
            if receivers.is_empty() {
                return None;
            }
            receiver = random.of(receivers).to_owned();
            format!("R.{short}")
        }
    };
    // A method's own row counts its receiver.
    let skipped = usize::from(bound.is_some() && row.is_method);
    let least = row.required.saturating_sub(skipped);
    let count = least + random.below(most.saturating_sub(skipped).saturating_sub(least) + 1);
    let arguments: Vec<&str> = (0..count).map(|_| random.of(VALUES)).collect();
    let names: Vec<String> = (0..count).map(|index| format!("A{index}")).collect();
    let is_fresh = !receiver.is_empty() && random.below(3) == 0;
    let mut program = format!("import pvm_host\n{import}N = {size}\n");
    if !receiver.is_empty() {
        writeln!(program, "R = {receiver}").expect("a string takes everything");
    }
    for (name, value) in names.iter().zip(&arguments) {
        writeln!(program, "{name} = {value}").expect("a string takes everything");
    }
    let call =
        if is_fresh { format!("R = {receiver}\n            R.{short}({})", names.join(", ")) } else { format!("F({})", names.join(", ")) };
    writeln!(
        program,
        "F = {callee}\ntry:\n    F({0})\nexcept Exception:\n    pass\ndef run():\n    pvm_host.current_block()\n    for turn in range(1000000000):\n        try:\n            {call}\n        except Exception:\n            pass\nrun()",
        names.join(", ")
    )
    .expect("a string takes everything");
    let shown = if receiver.is_empty() {
        format!("{callee}({})", arguments.join(", "))
    } else {
        format!("({receiver}).{short}({})", arguments.join(", "))
    };
    Some((program, format!("N={size}: {shown}{}", if is_fresh { ", fresh" } else { "" })))
}

fn natives(only: &str, random: &mut Random, tries: usize) -> Vec<Figure> {
    let mut figures = Vec::new();
    let rows = native_costs();
    let chosen: Vec<&NativeCost> = rows.iter().filter(|row| row.name.contains(only)).collect();
    for (index, row) in chosen.iter().enumerate() {
        if index % 100 == 0 {
            eprintln!("{index} of {} native functions", chosen.len());
        }
        let mut worst: Option<(f64, Arc<Unit>, String, u64)> = None;
        for attempt in 0..tries {
            let size = SIZES[attempt % SIZES.len()];
            let Some((program, shown)) = call_program(row, size, random) else { break };
            let Ok(unit) = compile(&program, "program.py") else { continue };
            let budget = if size > 1_000 { 1_500_000 } else { 150_000 };
            let Some((time, _)) = measure(&unit, budget, 1) else { continue };
            if worst.as_ref().is_none_or(|worst| worst.0 < time) {
                worst = Some((time, unit, shown, budget));
            }
        }
        // What looks worst was perhaps only interrupted: the figure is the least of several.
        let Some((_, unit, shown, budget)) = worst else { continue };
        if let Some((time, weight)) = measure(&unit, budget, 4) {
            figures.push(Figure { name: row.name.to_owned(), program: shown, time, weight });
        }
    }
    figures
}

// ---- search ----

fn corpus() -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["tests/corpus", "tests/corpus/frozen", "benches/programs"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.extension().is_some_and(|end| end == "py")) {
            if let Ok(text) = std::fs::read_to_string(&path) {
                found.push((path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(), text));
            }
        }
    }
    found.sort();
    found
}

/// The program, over and over.
fn repeated(source: &str) -> String {
    let body: String = source.lines().map(|line| format!("    {line}\n")).collect();
    format!("import pvm_host\npvm_host.current_block()\nfor repetition in range(1000000000):\n{body}")
}

const NUMBERS: &[&str] =
    &["0", "1", "-1", "7", "64", "1000", "65536", "2**63", "10**50", "2**4000", "0.1", "1e300", "'a'*999", "[0]*999", "None"];
const METHODS: &[&str] = &[
    "upper", "split", "sort", "copy", "items", "strip", "encode", "count", "index", "replace", "append", "extend", "update", "join",
    "format",
];
const OPERATORS: &[&str] = &["+", "-", "*", "//", "%", "**", "<<", ">>", "&", "|", "==", "<", "in"];

/// A small change somewhere in a program.
fn mutated(source: &str, random: &mut Random) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let at = random.below(lines.len());
    let line = lines[at];
    let tokens = |is: &dyn Fn(char) -> bool| -> Vec<(usize, usize)> {
        let mut spans = Vec::new();
        let mut start = None;
        for (index, letter) in line.char_indices().chain([(line.len(), ' ')]) {
            match (is(letter) && index < line.len(), start) {
                (true, None) => start = Some(index),
                (false, Some(from)) => {
                    spans.push((from, index));
                    start = None;
                }
                _ => {}
            }
        }
        spans
    };
    let changed = match random.below(5) {
        0 => {
            let spans = tokens(&|letter| letter.is_ascii_digit());
            spans.get(random.below(spans.len())).map(|(from, to)| format!("{}{}{}", &line[..*from], random.of(NUMBERS), &line[*to..]))
        }
        1 => {
            let spans: Vec<(usize, usize)> = tokens(&|letter| letter.is_ascii_alphabetic() || letter == '_')
                .into_iter()
                .filter(|(from, _)| line[..*from].ends_with('.'))
                .collect();
            spans.get(random.below(spans.len())).map(|(from, to)| format!("{}{}{}", &line[..*from], random.of(METHODS), &line[*to..]))
        }
        2 => {
            let spans = tokens(&|letter| "+-*/%<>&|=".contains(letter));
            spans.get(random.below(spans.len())).map(|(from, to)| format!("{} {} {}", &line[..*from], random.of(OPERATORS), &line[*to..]))
        }
        3 => {
            let indent: String = line.chars().take_while(|letter| *letter == ' ').collect();
            Some(format!("{line}\n{indent}{}", line.trim_start()))
        }
        _ => {
            let indent: String = line.chars().take_while(|letter| *letter == ' ').collect();
            Some(format!("{indent}for again in range(20):\n{indent}    {}", line.trim_start()))
        }
    };
    let changed = changed.unwrap_or_else(|| line.to_owned());
    let mut out = String::with_capacity(source.len() + changed.len());
    for (index, line) in lines.iter().enumerate() {
        out.push_str(if index == at { &changed } else { line });
        out.push('\n');
    }
    out
}

/// Hill climbing from every program: a change that makes a cycle more expensive is kept.
fn search(random: &mut Random, time: Duration) -> (Vec<Figure>, usize) {
    let begin = Instant::now();
    let mut pool: Vec<(f64, String, String)> = Vec::new();
    let try_one = |name: &str, source: &str, rounds: usize| -> Option<(f64, f64)> {
        let unit = compile(&repeated(source), name).ok()?;
        measure(&unit, 400_000, rounds)
    };
    for (name, source) in corpus() {
        if let Some((time, _)) = try_one(&name, &source, 1) {
            pool.push((time, name, source));
        }
    }
    let mut tried = pool.len();
    while begin.elapsed() < time && !pool.is_empty() {
        let chosen = random.below(pool.len()).min(random.below(pool.len()));
        let (before, name, source) = pool[chosen].clone();
        let mut changed = mutated(&source, random);
        for _ in 0..random.below(3) {
            changed = mutated(&changed, random);
        }
        tried += 1;
        let Some((first, _)) = try_one(&name, &changed, 1) else { continue };
        if first > before && try_one(&name, &changed, 3).is_some_and(|(time, _)| time > before) {
            pool[chosen] = (first, name, changed);
            pool.sort_by(|one, other| other.0.total_cmp(&one.0));
        }
    }
    let figures = pool.into_iter().take(40).filter_map(|(_, name, source)| {
        let (time, weight) = try_one(&name, &source, 5)?;
        Some(Figure { name, program: source, time, weight })
    });
    (figures.collect(), tried)
}

// ---- output ----

fn table(title: &str, mut figures: Vec<Figure>, show: usize) {
    figures.sort_by(|one, other| other.time.total_cmp(&one.time));
    let above = |bound: f64| figures.iter().filter(|figure| figure.time > bound).count();
    let middle = figures.get(figures.len() / 2).map_or(0.0, |figure| figure.time);
    println!("### {title}\n");
    println!("{} rows; median {middle:.1} ns a cycle; above 5: {}; above 10: {}.\n", figures.len(), above(5.0), above(10.0));
    println!("| row | ns a cycle | by weight | what ran |\n|---|---|---|---|");
    for figure in figures.iter().take(show) {
        let program = figure.program.lines().next().unwrap_or_default().replace('|', "\\|");
        let program: String = program.chars().take(110).collect();
        println!("| {} | {:.1} | {:.1} | `{program}` |", figure.name, figure.time, figure.weight);
    }
    println!();
}

fn main() {
    let mut options: BTreeMap<String, String> = BTreeMap::new();
    let mut what = "all".to_owned();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix("--") {
            Some(name) => drop(options.insert(name.to_owned(), arguments.next().unwrap_or_default())),
            None => what = argument,
        }
    }
    let number = |name: &str, default: u64| options.get(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seed, show) = (number("seed", 1), usize::try_from(number("show", 60)).expect("a small number"));
    let only = options.get("only").cloned().unwrap_or_default();
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    eprintln!("seed {seed}");
    if matches!(what.as_str(), "all" | "opcodes") {
        table("Instructions", opcodes(&only, 5), show);
    }
    if matches!(what.as_str(), "all" | "natives") {
        let tries = usize::try_from(number("tries", 40)).expect("a small number");
        table("Native functions", natives(&only, &mut random, tries), show);
    }
    if matches!(what.as_str(), "all" | "search") {
        let (figures, tried) = search(&mut random, Duration::from_secs(number("seconds", 60)));
        eprintln!("{tried} programs tried");
        if let Some(folder) = options.get("keep") {
            for (index, figure) in figures.iter().enumerate() {
                let path = PathBuf::from(folder).join(format!("{index:02}_{:.0}_{}.py", figure.time, figure.name));
                std::fs::write(path, &figure.program).expect("the folder can be written");
            }
        }
        table(&format!("Adversarial search, {tried} programs from the corpus"), figures, show.min(20));
    }
}
