//! What a call holds when it is refused is released: a program that catches the error a thousand times needs no more memory than one that
//! catches it once.

use cowboy_vm::{Entry, Limits, Vm, compile, script_image};

const NAMES: &str = r#"
import abc
import json
import math
class A:
    pass
class Adds:
    def __add__(self, other):
        return 1
    __radd__ = __add__
class Bad:
    def __bool__(self):
        1 / 0
    def __hash__(self):
        1 / 0
    def __add__(self, other):
        1 / 0
    __radd__ = __add__
class Takes:
    def __init__(self, one):
        pass
class Odd:
    def __next__(self, other):
        pass
class Plain:
    __new__ = A
class Kind:
    __new__ = type
def word():
    return "word%d" % 5
def words():
    return ["word%d" % i for i in range(10)]
def often(count, call, *arguments):
    for _ in range(count):
        call(*arguments)
def attempt(call):
    try:
        call()
    except BaseException:
        pass
"#;

const REFUSED: &[&str] = &[
    "min([A(), A()])",
    "max(words() + [1], default=word())",
    "min(iter([word(), A()]))",
    "max(*[word(), [word()]])",
    "any([[], Bad()])",
    "sum([[word()], 2], [])",
    "sum([[word()], Adds()], [])",
    "sum([[word()], Bad()], [])",
    "'x'.join(words() + [5])",
    "b'x'.join([b'word' * 20, 5])",
    "math.prod([10**1000] * 3)",
    "math.dist([1, 'a'], [3, 4])",
    "math.fsum(words())",
    "dict.fromkeys(words() + [[]])",
    "dict.fromkeys(words() + [Bad()], word())",
    "{}.update([(word(), 1), ([], 2)])",
    "set(words() + [[]])",
    "frozenset([word(), []])",
    "set().update(words(), [[]])",
    "set(words()).union(words(), [[]])",
    "set(words()).issubset([word(), []])",
    "{word(): 1}.keys() & [word(), []]",
    "list(zip(words(), words()[:3], strict=True))",
    "[*words(), *5]",
    "sorted(words() + [5])",
    "(lambda one, other: 0)(*words())",
    "(lambda one: 0)(word(), one=word())",
    "Takes()",
    "Takes(1, 2)",
    "Plain(words())",
    "Kind(words(), word(), 1, 2)",
    "abc.ABCMeta(word(), (A,), {word(): 1, 'f': abc.abstractmethod(word)})()",
    "abc.ABCMeta(word(), (list,), {word(): 1, 'f': abc.abstractmethod(word)})(words())",
    "next(Odd(), words())",
    "(lambda x: x(words()))(5)",
    "type(word(), (A,), {word(): 5, '__slots__': ['a', 'a b']})",
    "type(word(), (A,), {word(): 5, '__qualname__': 5})",
    "json.loads('[\"word\", {\"word\": [1.5')",
    // Stores that would close a cycle.
    "(lambda x: x.append(x))(words())",
    "(lambda x: x.extend([word(), x]))(words())",
    "(lambda x: x.__iadd__([word(), x]))(words())",
    "(lambda x: x.__setitem__(slice(0, 1), [word(), x]))(words())",
    "(lambda x: x.__setitem__(slice(0, 4, 2), [word(), x]))(words())",
    "(lambda x: x.__setitem__(word(), x))({word(): words()})",
    "(lambda x: x.update(word=x))({word(): words()})",
    "(lambda x: x.setdefault(word(), x))({word(): words()})",
    "(lambda x: setattr(x, 'word', [x]))(A())",
    // Nothing is refused here: what was there before is released.
    "dict(zip(words(), words()))",
    "(lambda x: often(5, x.__init__, A(), A()))(property(A()))",
    "(lambda x: often(5, x.__init__, words()))(Exception(words()))",
];

fn peak(expression: &str, count: usize) -> usize {
    let source = format!("{NAMES}\nfor _ in range({count}):\n    attempt(lambda: {expression})\nprint('done')\n");
    let unit = compile(&source, "test.py").expect("the source compiles");
    let mut vm = Vm::start(
        script_image(&unit),
        Entry::Script,
        Limits { cycles: 1 << 34, memory_bytes: 1 << 30, weight_ns: 1 << 50, ..Limits::default() },
    );
    let exit = vm.run();
    assert_eq!(vm.take_output(), "done\n", "{expression}: {exit:?}");
    vm.usage().peak_memory
}

#[test]
fn what_a_refused_call_holds_is_released() {
    for expression in REFUSED {
        let (few, many) = (peak(expression, 10), peak(expression, 200));
        assert!(many < few + 2_000, "{expression}: {few} bytes, and {many} after 200 times");
    }
}
