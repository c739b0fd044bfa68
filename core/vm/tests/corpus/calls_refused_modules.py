# What a function of a module says about a wrong number of arguments and about keywords that it does not know, where CPython has it in C.
import collections
import decimal
import functools
import itertools
import math
import re
import struct

FUNCTIONS = [
    ("itertools", itertools, "count repeat chain cycle accumulate compress dropwhile takewhile filterfalse starmap pairwise islice groupby tee"),
    ("itertools", itertools, "product permutations combinations combinations_with_replacement"),
    ("chain", itertools.chain, "from_iterable"),
    ("functools", functools, "reduce cmp_to_key"),
    ("struct", struct, "calcsize pack unpack unpack_from iter_unpack Struct"),
    ("math", math, "log sqrt pow atan2 comb gcd hypot fsum prod isclose ldexp perm"),
    ("collections", collections, "deque"),
    ("decimal", decimal, "Decimal getcontext setcontext"),
    ("Decimal", decimal.Decimal, "from_float"),
]
METHODS = [
    (lambda: collections.deque([1]), "append appendleft extend extendleft pop popleft clear copy reverse rotate count index insert remove"),
    (lambda: collections.OrderedDict(a=1), "move_to_end popitem"),
    (lambda: re.compile("a"), "search match fullmatch findall finditer split sub subn"),
    (lambda: re.match("a", "a"), "groups groupdict expand start end span"),
    (lambda: struct.Struct("i"), "pack pack_into unpack unpack_from iter_unpack"),
    (lambda: decimal.Decimal(1), "as_tuple as_integer_ratio adjusted copy_abs is_nan is_zero conjugate sqrt exp normalize next_plus compare fma"),
    (lambda: decimal.Decimal(1), "copy_sign max same_quantum scaleb quantize to_integral_value"),
    (lambda: decimal.getcontext(), "power minus Etiny radix"),
]


def words(function, count, keywords):
    try:
        function(*[1] * count, **{name: 1 for name in keywords})
    except Exception as error:
        text = str(error)
        if "argument" in text and ("given" in text or "keyword" in text or "missing" in text or "got" in text or "requires" in text):
            return type(error).__name__ + " " + text
    return None


def show(name, make):
    seen = []
    for count in range(8):
        for keywords in (), ("first",), ("first", "second"):
            said = words(make(), count, keywords)
            if said is not None and said not in seen:
                seen.append(said)
                print(name, count, len(keywords), "->", said)


for owner, module, names in FUNCTIONS:
    for name in names.split():
        show(owner + "." + name, lambda: getattr(module, name))
show("ascii", lambda: ascii)
for make, names in METHODS:
    for name in names.split():
        show(type(make()).__name__ + "." + name, lambda: getattr(make(), name))

# Keywords that both know, once more.
for call in (
    lambda: itertools.count(1, start=2),
    lambda: itertools.accumulate([], iterable=[]),
    lambda: itertools.product(repeat=1, x=2),
    lambda: collections.deque([], iterable=[]),
    lambda: collections.deque([1]).append(x=1),
    lambda: re.compile("a").sub("b", repl="c"),
    lambda: struct.Struct("i").unpack(buffer=b"abcd"),
    lambda: struct.unpack_from("i", b"abcd", buffer=b"abcd"),
):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)

# The kinds of arguments.
for call in (
    lambda: struct.pack_into("i", b"abcd", 0, 1),
    lambda: struct.pack_into("i", memoryview(b"abcd"), 0, 1),
    lambda: struct.pack_into("i", [1], 0, 1),
    lambda: struct.pack_into("i", bytearray(4), 0),
):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)
view = bytearray(4)
struct.pack_into("<i", memoryview(view), 0, 258)
print(view)

# What is given to methods that write or read bytes, turn or look groups up.
match = re.match("(?P<a>x)(y)?", "x")
rows = struct.Struct("<ih")
for call in (
    lambda: struct.pack_into("i"),
    lambda: struct.pack_into("i", bytearray(4)),
    lambda: struct.pack_into("i", bytearray(4), "x", 1),
    lambda: struct.pack_into("i", bytearray(4), 1.5, 1),
    lambda: struct.pack_into("i", None, 0, 1),
    lambda: rows.pack_into(),
    lambda: rows.pack_into(bytearray(6), 1, 2, 3),
    lambda: struct.unpack("i", "1234"),
    lambda: struct.unpack("i", [1, 2, 3, 4]),
    lambda: struct.unpack_from("i", b"123456", offset="x"),
    lambda: struct.iter_unpack("i", None),
    lambda: struct.pack("d", 10**400),
    lambda: struct.pack("e", 70000),
    lambda: struct.pack("P", -1),
    lambda: struct.pack("P", 2**64),
    lambda: struct.pack("\u00e9", 1),
    lambda: struct.calcsize("3 s"),
    lambda: collections.deque([1]).rotate("x"),
    lambda: collections.deque([1]).rotate(None),
    lambda: collections.deque([], True),
    lambda: collections.deque.rotate(),
    lambda: re.Match.group(),
    lambda: struct.Struct.pack(),
    lambda: decimal.Decimal.sqrt(),
    lambda: match.group(x=1),
    lambda: match.group([]),
    lambda: match.group(1.5),
    lambda: match.group(True),
    lambda: match.group("a", "b"),
    lambda: decimal.getcontext().add(),
    lambda: decimal.getcontext().divide(1, 2, 3),
    lambda: decimal.Decimal(1).sqrt(1),
    lambda: decimal.Decimal(1).compare(2, context=3),
    lambda: decimal.Decimal(1).quantize(1, exp=2),
    lambda: decimal.Decimal(1).quantize(1, None, 3),
):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)


class Odd:
    def __index__(self):
        return "7"


for call in (lambda: range(Odd()), lambda: hex(Odd()), lambda: [1][Odd():], lambda: struct.pack("i", Odd())):
    try:
        print(call())
    except TypeError as error:
        print(error)
