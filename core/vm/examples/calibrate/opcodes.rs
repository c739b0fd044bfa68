//! Statements that cover the instructions, each in a loop of its own.

use crate::measure::{Bench, Figure};
use cowboy_vm::{compile, disassemble};
use std::collections::BTreeSet;

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

/// Cycles of one measurement.
const BUDGET: u64 = 1_000_000;

/// The statements whose name contains `only`, the worse of two sizes each.
pub(crate) fn opcodes(bench: &mut Bench, only: &str, rounds: usize) -> Vec<Figure> {
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
            let Some(cost) = bench.measure(&unit, name, BUDGET, rounds) else {
                eprintln!("{name}: nothing was measured");
                continue;
            };
            if worst.as_ref().is_none_or(|worst| worst.cost.time < cost.time) {
                worst = Some(Figure { name: (*name).to_owned(), program: statement.replace("\n        ", " ⏎ "), whole: program, cost });
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
