"""Subclasses of builtin types that override what others might ask them for: CPython takes the content of some as it lies."""
from collections import Counter, deque


def shown(value):
    if type(value) in (set, frozenset):
        return f"{type(value).__name__} {sorted(value, key=str)}"
    return repr(value)


def attempt(act):
    try:
        return shown(act())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class S(set):
    def __iter__(self):
        return iter([98, 99])

    def __contains__(self, item):
        return item == 97

    def __len__(self):
        return 5


class F(frozenset):
    __iter__, __contains__, __len__ = S.__iter__, S.__contains__, S.__len__


class L(list):
    __iter__, __contains__, __len__ = S.__iter__, S.__contains__, S.__len__

    def __getitem__(self, index):
        return 96


class T(tuple):
    __iter__, __contains__, __len__, __getitem__ = S.__iter__, S.__contains__, S.__len__, L.__getitem__


class B(bytes):
    __iter__, __contains__, __len__, __getitem__ = S.__iter__, S.__contains__, S.__len__, L.__getitem__


class A(bytearray):
    __iter__, __contains__, __len__, __getitem__ = S.__iter__, S.__contains__, S.__len__, L.__getitem__


class W(str):
    def __iter__(self):
        return iter("xy")

    __contains__, __len__ = S.__contains__, S.__len__

    def __getitem__(self, index):
        return "q"


class D(dict):
    def keys(self):
        return ["other"]

    def __getitem__(self, key):
        return 95


class I(dict):
    def __iter__(self):
        return iter(["turned"])

    def items(self):
        return [("item", 1)]

    def values(self):
        return [94]

    def __getitem__(self, key):
        return 93


class M(dict):
    def __len__(self):
        return 7

    def __contains__(self, key):
        return True

    def items(self):
        return [("item", 1)]

    def get(self, key, default=None):
        return "got"


CONTENT = {"S": S([1, 2]), "F": F([1, 2]), "L": L([1, 2]), "T": T([1, 2]), "B": B(b"\1\2"), "A": A(b"\1\2"), "W": W("ab"), "D": D(a=1), "I": I(a=1), "M": M(a=1)}
TAKES = {
    "set": set, "frozenset": frozenset, "list": list, "tuple": tuple, "sorted": lambda x: sorted(x, key=str), "bytes": bytes, "bytearray": bytearray, "dict": dict,
    "fromkeys": dict.fromkeys, "update": lambda x: (lambda d: (d.update(x), d))({"k": 0}), "merged": lambda x: {"k": 0} | x, "turned": lambda x: x | {"k": 0}, "spread": lambda x: {**x},
    "Counter": Counter, "deque": deque, "union": lambda x: {1, 5}.union(x), "or": lambda x: {1, 5} | x, "ror": lambda x: x | {1, 5}, "and": lambda x: {1, 5} & x, "meets": lambda x: {1, 5, 98}.intersection(x), "minus": lambda x: {1, 5, 98} - x,
    "rminus": lambda x: x - {1}, "differs": lambda x: {1, 5, 98}.difference(x), "symmetric": lambda x: {1, 5, 98}.symmetric_difference(x), "below": lambda x: {1} <= x, "same": lambda x: {1, 2} == x, "apart": lambda x: {98}.isdisjoint(x),
    "subset": lambda x: {1, 2}.issubset(x), "superset": lambda x: {1, 2, 3}.issuperset(x), "added": lambda x: (lambda s: (s.update(x), s)[1])({7}), "discard": lambda x: (lambda s: (s.difference_update(x), s)[1])({1, 98, 7}),
    "extend": lambda x: (lambda l: (l.extend(x), l))([0]), "iadd": lambda x: (lambda l: l.__iadd__(x))([0]), "plus": lambda x: [0] + x, "rplus": lambda x: x + x,  "star": lambda x: [*x], "call": lambda x: (lambda *a: a)(*x),
    "keywords": lambda x: (lambda **a: a)(**x), "first": lambda x: (lambda a, b: (a, b))(*x), "max": lambda x: max(x, key=str), "sum": sum, "any": any, "in": lambda x: 97 in x, "len": len, "bool": bool, "repr": repr, "str": str, "zip": lambda x: list(zip(x)),
    "map": lambda x: list(map(str, x)), "enumerate": lambda x: list(enumerate(x)), "reversed": lambda x: list(reversed(x)), "iter": lambda x: [type(iter(x)).__name__, *iter(x)], "join": lambda x: "-".join(x), "joined": lambda x: b"-".join([x, x]), "joins": lambda x: "-".join([x, x]),
    "percent": lambda x: "%s" % x, "format": lambda x: f"{x}|{x!r}", "hash": lambda x: hash(x) == hash(type(x).__mro__[1](x)), "isinstance": lambda x: isinstance(1, x), "equal": lambda x: x == type(x).__mro__[1](x), "copy": lambda x: x.copy(), "count": lambda x: x.count(1),
    "repeat": lambda x: x * 2, "memory": lambda x: bytes(memoryview(x)), "index": lambda x: x[0], "cut": lambda x: x[:1], "startswith": lambda x: "abc".startswith(x), "strip": lambda x: "abc".strip(x), "translate": lambda x: "abc".translate(x),
}
for name, x in CONTENT.items():
    for label, take in TAKES.items():
        print(name, label, attempt(lambda: take(x)))


class R:
    def __radd__(self, other):
        return f"radd {type(other).__name__}"

    def __rmul__(self, other):
        return f"rmul {type(other).__name__}"

    def __ror__(self, other):
        return f"ror {type(other).__name__}"

    def __iter__(self):
        return iter([1, 2])

    def __index__(self):
        return 2

    def keys(self):
        return []


def add(x):
    x += R()
    return x


def multiply(x):
    x *= R()
    return x


def merge(x):
    x |= R()
    return x


for made in (lambda: [0], lambda: (0,), lambda: "a", lambda: b"a", lambda: bytearray(b"a"), lambda: deque([0]), lambda: {1}, lambda: {"k": 1}, lambda: Counter("a"), lambda: 5, lambda: 2.5, lambda: L([0]), lambda: None):
    print(type(made()).__name__, *[attempt(lambda: act(made())) for act in (add, multiply, merge, lambda x: x + R(), lambda x: x * R(), lambda x: x | R())])


class Checks(tuple):
    def __instancecheck__(self, value):
        return "checked"

    __subclasscheck__ = __instancecheck__


class Kinds(type):
    def __instancecheck__(self, value):
        return True

    __subclasscheck__ = __instancecheck__


class Any(metaclass=Kinds):
    pass


class Key:
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return True

    def __repr__(self):
        return f"Key({self.name!r})"


class Name(str):
    def __hash__(self):
        return hash(str(self))

    def __eq__(self, other):
        return str(self) == other


def merged(x, y):
    x |= y
    return x


def keywords(**named):
    return named


for left, right in (({1: "a"}, {Key("k"): "b"}), ({Key("k"): "b"}, {1: "a"}), ({1: "a"}, D({Key("k"): "b"})), (D({1: "a"}), {Key("k"): "b"}), ({1: "a"}, I({Key("k"): "b"})), ({"a": 0}, I(a=1)), (I(a=1), {"b": 2})):
    print(attempt(lambda: left | right), attempt(lambda: merged(left.copy(), right)), attempt(lambda: {**left, **right}), attempt(lambda: (lambda d: (d.update(right), d)[1])(dict(left))), attempt(lambda: type(left).__or__(left, right)),
          attempt(lambda: type(left).__ior__(left.copy(), right)), attempt(lambda: dict(right)), attempt(lambda: right.copy()))
for first, second in (({"a": 1}, {Name("b"): 2}), ({"a": 1}, {Name("a"): 2}), ({Name("a"): 1}, {"a": 2}), ({"a": 1}, {"b": 2, Name("c"): 3}), ({"a": 1}, I(b=2)), ({"a": 1}, I(a=2)), ({"b": 1}, D(a=2)), ({"a": 1}, {1: 2})):
    named = attempt(lambda: list(keywords(**first, **second).items()))
    print(named if named[0] == "[" else named.split(":")[0])
print(isinstance(1, Checks()), isinstance(1, Checks((int,))), issubclass(int, Checks()), issubclass(int, Checks((str, int))), isinstance(1, (str, Any)), issubclass(str, (int, (Any,))))
