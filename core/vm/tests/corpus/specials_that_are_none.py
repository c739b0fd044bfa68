"""`None` under the name of a special method × what uses it."""
import collections.abc as abc
import math, functools, json
def attempt(call):
    try:
        out = call()
        return type(out).__name__ + " " + (repr(out).split(" at 0x")[0] if type(out) in (int, str, bool, list, tuple, bytes, float, type(None), dict, set) else "")
    except BaseException as error:
        return type(error).__name__ + ": " + str(error).split(" at 0x")[0]
class Base:
    def __add__(s, o): return "base add"
    def __radd__(s, o): return "base radd"
    def __eq__(s, o): return True
    def __lt__(s, o): return True
    def __hash__(s): return 3
    def __contains__(s, o): return True
    def __iter__(s): return iter([1, 2])
    def __len__(s): return 2
    def __getitem__(s, i): return [1, 2][i]
    def __bool__(s): return False
    def __call__(s): return 1
    def __enter__(s): return s
    def __exit__(s, *a): return True
def iadd(x): x += 1; return x
def isub(x): x -= 1; return x
def ilst(x): l = [0]; l += x; return l
def setit(x): x[0] = 1
def delit(x): del x[0]
def seta(x): x.q = 1
def dela(x): del x.q
def withit(x):
    with x as y: return 1
def unpack(x):
    a, b = x
    return a
def star(x): return [*x]
def starcall(x): return (lambda *a: a)(*x)
def kwcall(x): return (lambda **a: a)(**x)
def yfrom(x):
    def g(): yield from x
    return list(g())
def forloop(x):
    for i in x: return i
def comp(x): return [i for i in x]
def match_seq(x):
    match x:
        case [a, b]: return "seq"
        case {"a": 1}: return "map"
        case _: return "other"
USES = {
 "__add__": ["x + 1", "1 + x", "x + x", "iadd(x)", "sum([x], 0)", "functools.reduce(lambda a, b: a + b, [x, x])"], "__radd__": ["1 + x", "x + 1", "sum([x])", "[] + x", "'' + x"], "__iadd__": ["iadd(x)"], "__sub__": ["x - 1", "isub(x)"], "__isub__": ["isub(x)"],
 "__mul__": ["x * 2", "2 * x", "[1] * x"], "__rmul__": ["2 * x"], "__mod__": ["x % 2", "'%s' % x"], "__rmod__": ["2 % x", "'%s' % x"], "__pow__": ["x ** 2", "pow(x, 2, 3)"], "__divmod__": ["divmod(x, 2)"], "__neg__": ["-x"], "__pos__": ["+x"], "__invert__": ["~x"],
 "__and__": ["x & 1"], "__or__": ["x | 1", "x | x"], "__ror__": ["1 | x"], "__lshift__": ["x << 1"], "__matmul__": ["x @ 1"], "__abs__": ["abs(x)"], "__round__": ["round(x)", "round(x, 1)"], "__floor__": ["math.floor(x)"], "__ceil__": ["math.ceil(x)"], "__trunc__": ["math.trunc(x)", "int(x)"],
 "__int__": ["int(x)"], "__float__": ["float(x)", "math.sqrt(x)"], "__complex__": ["complex(x)"], "__index__": ["[1][x]", "range(x)", "hex(x)", "int(x)", "float(x)", "'a' * x", "bytes(x)", "math.gcd(x, 1)", "chr(x)"],
 "__eq__": ["x == x", "x == 1", "1 == x", "x != 1", "x in [x]", "x in [1]", "[x] == [x]", "[1].count(x)", "[1].index(x)", "{x: 1}", "hash(x)", "{x}"], "__ne__": ["x != 1", "1 != x", "x == 1"], "__lt__": ["x < 1", "1 > x", "x < x", "sorted([x, x])", "min(x, x)", "max([x, x])"], "__gt__": ["x > 1", "1 < x"], "__le__": ["x <= 1"], "__ge__": ["x >= 1"],
 "__hash__": ["hash(x)", "{x: 1}", "{x}", "{}[x]", "x in {}", "isinstance(x, abc.Hashable)", "frozenset([x])", "set().add(x)", "{}.get(x)", "hash((x,))"], "__bool__": ["bool(x)", "not x", "1 if x else 2", "x and 1", "all([x])", "any([x])", "list(filter(None, [x]))"],
 "__len__": ["len(x)", "bool(x)", "list(x)", "reversed(x)", "isinstance(x, abc.Sized)"], "__iter__": ["list(x)", "iter(x)", "forloop(x)", "unpack(x)", "star(x)", "starcall(x)", "yfrom(x)", "comp(x)", "1 in x", "tuple(x)", "set(x)", "dict(x)", "sum(x)", "sorted(x)", "any(x)", "zip(x)", "enumerate(x)", "map(abs, x)", "filter(None, x)", "min(x)", "''.join(x)", "[].extend(x)", "ilst(x)", "isinstance(x, abc.Iterable)", "bytes(x)", "next(x)", "match_seq(x)", "frozenset(x)", "dict.fromkeys(x)", "bytearray(x)"],
 "__next__": ["next(x)", "forloop(x)", "iter(x)"], "__contains__": ["1 in x", "1 not in x", "isinstance(x, abc.Container)"], "__reversed__": ["reversed(x)", "list(reversed(x))"], "__getitem__": ["x[0]", "x[0:1]", "list(x)", "iter(x)", "reversed(x)", "1 in x"], "__setitem__": ["setit(x)"], "__delitem__": ["delit(x)"],
 "__length_hint__": ["list(x)", "list(iter(x))"], "__call__": ["x()", "callable(x)", "list(map(x, [1]))", "list(iter(x, 1))", "isinstance(x, abc.Callable)"], "__enter__": ["withit(x)"], "__exit__": ["withit(x)"],
 "__str__": ["str(x)", "f'{x}'", "print(x)", "'%s' % x", "format(x)", "str(x).split(' at ')[0]"], "__repr__": ["repr(x)", "str(x)", "f'{x!r}'", "[x]", "'%r' % x", "ascii(x)"], "__format__": ["format(x)", "f'{x}'", "'{}'.format(x)"], "__bytes__": ["bytes(x)"],
 "__getattr__": ["x.missing", "getattr(x, 'missing', 5)", "hasattr(x, 'missing')"], "__getattribute__": ["x.any"], "__setattr__": ["seta(x)"], "__delattr__": ["dela(x)"], "__dir__": ["dir(x)"], "__init__": ["type(x)()"], "__new__": ["type(x)()"],
 "__copy__": [], "__missing__": ["x['k']"], "__keys__": ["kwcall(x)"], "keys": ["kwcall(x)", "dict(x)"], "__set_name__": [], "__init_subclass__": ["type('S', (type(x),), {})"], "__class_getitem__": ["type(x)[1]"], "__instancecheck__": ["isinstance(1, x)"], "__subclasscheck__": ["issubclass(int, x)"], "__mro_entries__": [], "__fspath__": [], "__get__": [], "__await__": [], "__aiter__": ["aiter(x)"], "__anext__": ["anext(x)"],
}
USE = {
    "'%r' % x": lambda x: '%r' % x,
    "'%s' % x": lambda x: '%s' % x,
    "'' + x": lambda x: '' + x,
    "''.join(x)": lambda x: ''.join(x),
    "'a' * x": lambda x: 'a' * x,
    "'{}'.format(x)": lambda x: '{}'.format(x),
    '+x': lambda x: +x,
    '-x': lambda x: -x,
    '1 != x': lambda x: 1 != x,
    '1 + x': lambda x: 1 + x,
    '1 < x': lambda x: 1 < x,
    '1 == x': lambda x: 1 == x,
    '1 > x': lambda x: 1 > x,
    '1 if x else 2': lambda x: 1 if x else 2,
    '1 in x': lambda x: 1 in x,
    '1 not in x': lambda x: 1 not in x,
    '1 | x': lambda x: 1 | x,
    '2 % x': lambda x: 2 % x,
    '2 * x': lambda x: 2 * x,
    '[1] * x': lambda x: [1] * x,
    '[1].count(x)': lambda x: [1].count(x),
    '[1].index(x)': lambda x: [1].index(x),
    '[1][x]': lambda x: [1][x],
    '[] + x': lambda x: [] + x,
    '[].extend(x)': lambda x: [].extend(x),
    '[x]': lambda x: [x],
    '[x] == [x]': lambda x: [x] == [x],
    'abs(x)': lambda x: abs(x),
    'aiter(x)': lambda x: aiter(x),
    'all([x])': lambda x: all([x]),
    'anext(x)': lambda x: anext(x),
    'any([x])': lambda x: any([x]),
    'any(x)': lambda x: any(x),
    'ascii(x)': lambda x: ascii(x),
    'bool(x)': lambda x: bool(x),
    'bytearray(x)': lambda x: bytearray(x),
    'bytes(x)': lambda x: bytes(x),
    'callable(x)': lambda x: callable(x),
    'chr(x)': lambda x: chr(x),
    'comp(x)': lambda x: comp(x),
    'complex(x)': lambda x: complex(x),
    'dela(x)': lambda x: dela(x),
    'delit(x)': lambda x: delit(x),
    'dict(x)': lambda x: dict(x),
    'dict.fromkeys(x)': lambda x: dict.fromkeys(x),
    'dir(x)': lambda x: dir(x),
    'divmod(x, 2)': lambda x: divmod(x, 2),
    'enumerate(x)': lambda x: enumerate(x),
    "f'{x!r}'": lambda x: f'{x!r}',
    "f'{x}'": lambda x: f'{x}',
    'filter(None, x)': lambda x: filter(None, x),
    'float(x)': lambda x: float(x),
    'forloop(x)': lambda x: forloop(x),
    'format(x)': lambda x: format(x),
    'frozenset([x])': lambda x: frozenset([x]),
    'frozenset(x)': lambda x: frozenset(x),
    'functools.reduce(lambda a, b: a + b, [x, x])': lambda x: functools.reduce(lambda a, b: a + b, [x, x]),
    "getattr(x, 'missing', 5)": lambda x: getattr(x, 'missing', 5),
    "hasattr(x, 'missing')": lambda x: hasattr(x, 'missing'),
    'hash((x,))': lambda x: hash((x,)),
    'hash(x)': lambda x: hash(x),
    'hex(x)': lambda x: hex(x),
    'iadd(x)': lambda x: iadd(x),
    'ilst(x)': lambda x: ilst(x),
    'int(x)': lambda x: int(x),
    'isinstance(1, x)': lambda x: isinstance(1, x),
    'isinstance(x, abc.Callable)': lambda x: isinstance(x, abc.Callable),
    'isinstance(x, abc.Container)': lambda x: isinstance(x, abc.Container),
    'isinstance(x, abc.Hashable)': lambda x: isinstance(x, abc.Hashable),
    'isinstance(x, abc.Iterable)': lambda x: isinstance(x, abc.Iterable),
    'isinstance(x, abc.Sized)': lambda x: isinstance(x, abc.Sized),
    'issubclass(int, x)': lambda x: issubclass(int, x),
    'isub(x)': lambda x: isub(x),
    'iter(x)': lambda x: iter(x),
    'kwcall(x)': lambda x: kwcall(x),
    'len(x)': lambda x: len(x),
    'list(filter(None, [x]))': lambda x: list(filter(None, [x])),
    'list(iter(x))': lambda x: list(iter(x)),
    'list(iter(x, 1))': lambda x: list(iter(x, 1)),
    'list(map(x, [1]))': lambda x: list(map(x, [1])),
    'list(reversed(x))': lambda x: list(reversed(x)),
    'list(x)': lambda x: list(x),
    'map(abs, x)': lambda x: map(abs, x),
    'match_seq(x)': lambda x: match_seq(x),
    'math.ceil(x)': lambda x: math.ceil(x),
    'math.floor(x)': lambda x: math.floor(x),
    'math.gcd(x, 1)': lambda x: math.gcd(x, 1),
    'math.sqrt(x)': lambda x: math.sqrt(x),
    'math.trunc(x)': lambda x: math.trunc(x),
    'max([x, x])': lambda x: max([x, x]),
    'min(x)': lambda x: min(x),
    'min(x, x)': lambda x: min(x, x),
    'next(x)': lambda x: next(x),
    'not x': lambda x: not x,
    'pow(x, 2, 3)': lambda x: pow(x, 2, 3),
    'print(x)': lambda x: print(x),
    'range(x)': lambda x: range(x),
    'repr(x)': lambda x: repr(x),
    'reversed(x)': lambda x: reversed(x),
    'round(x)': lambda x: round(x),
    'round(x, 1)': lambda x: round(x, 1),
    'set().add(x)': lambda x: set().add(x),
    'set(x)': lambda x: set(x),
    'seta(x)': lambda x: seta(x),
    'setit(x)': lambda x: setit(x),
    'sorted([x, x])': lambda x: sorted([x, x]),
    'sorted(x)': lambda x: sorted(x),
    'star(x)': lambda x: star(x),
    'starcall(x)': lambda x: starcall(x),
    'str(x)': lambda x: str(x),
    "str(x).split(' at ')[0]": lambda x: str(x).split(' at ')[0],
    'sum([x])': lambda x: sum([x]),
    'sum([x], 0)': lambda x: sum([x], 0),
    'sum(x)': lambda x: sum(x),
    'tuple(x)': lambda x: tuple(x),
    "type('S', (type(x),), {})": lambda x: type('S', (type(x),), {}),
    'type(x)()': lambda x: type(x)(),
    'type(x)[1]': lambda x: type(x)[1],
    'unpack(x)': lambda x: unpack(x),
    'withit(x)': lambda x: withit(x),
    'x != 1': lambda x: x != 1,
    'x % 2': lambda x: x % 2,
    'x & 1': lambda x: x & 1,
    'x * 2': lambda x: x * 2,
    'x ** 2': lambda x: x ** 2,
    'x + 1': lambda x: x + 1,
    'x + x': lambda x: x + x,
    'x - 1': lambda x: x - 1,
    'x < 1': lambda x: x < 1,
    'x < x': lambda x: x < x,
    'x << 1': lambda x: x << 1,
    'x <= 1': lambda x: x <= 1,
    'x == 1': lambda x: x == 1,
    'x == x': lambda x: x == x,
    'x > 1': lambda x: x > 1,
    'x >= 1': lambda x: x >= 1,
    'x @ 1': lambda x: x @ 1,
    'x and 1': lambda x: x and 1,
    'x in [1]': lambda x: x in [1],
    'x in [x]': lambda x: x in [x],
    'x in {}': lambda x: x in {},
    'x | 1': lambda x: x | 1,
    'x | x': lambda x: x | x,
    'x()': lambda x: x(),
    'x.any': lambda x: x.any,
    'x.missing': lambda x: x.missing,
    "x['k']": lambda x: x['k'],
    'x[0:1]': lambda x: x[0:1],
    'x[0]': lambda x: x[0],
    'yfrom(x)': lambda x: yfrom(x),
    'zip(x)': lambda x: zip(x),
    '{x: 1}': lambda x: {x: 1},
    '{x}': lambda x: {x},
    '{}.get(x)': lambda x: {}.get(x),
    '{}[x]': lambda x: {}[x],
    '~x': lambda x: ~x,
}
# The words differ, or what stands for the method in a builtin base does.
UNLIKE = {
    "__class_getitem__": ["type(x)[1]"], "__getitem__": ["1 in x", "iter(x)", "reversed(x)"], "__index__": ["'a' * x", "bytes(x)", "chr(x)"],
    "__instancecheck__": ["isinstance(1, x)"], "__subclasscheck__": ["issubclass(int, x)"], "__len__": ["reversed(x)"], "__mul__": ["[1] * x"],
    "__iter__": ["''.join(x)", "bytearray(x)", "bytes(x)", "frozenset(x)", "ilst(x)", "set(x)"], "__next__": ["iter(x)"],
    "keys": ["dict(x)"],
}
BASES = {"object": (), "Base": (Base,), "int": (int,), "list": (list,), "dict": (dict,), "str": (str,), "tuple": (tuple,), "set": (set,), "float": (float,)}
for name, uses in USES.items():
    for label, bases in BASES.items():
        try:
            cls = type("C", bases, {name: None})
            x = cls.__new__(cls) if name not in ("__new__",) and not (name == "__init__") else object.__new__(cls) if label in ("object", "Base") else None
        except BaseException as error:
            print(name, label, "made", type(error).__name__, error)
            continue
        for use in uses:
            if use in UNLIKE.get(name, ()):
                continue
            print(name, label, use, attempt(lambda: USE[use](x)))
