# What a function of a module says about a wrong number of arguments and about keywords that it does not know, where CPython has it in C.
import collections
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
    ("struct", struct, "calcsize unpack unpack_from iter_unpack Struct"),
    ("math", math, "log sqrt pow atan2 comb gcd hypot fsum prod isclose ldexp perm"),
    ("collections", collections, "deque"),
]
METHODS = [
    (lambda: collections.deque([1]), "append appendleft extend extendleft pop popleft clear copy reverse count index insert remove"),
    (lambda: collections.OrderedDict(a=1), "move_to_end popitem"),
    (lambda: re.compile("a"), "search match fullmatch findall finditer split sub subn"),
    (lambda: re.match("a", "a"), "groups groupdict expand start end span"),
    (lambda: struct.Struct("i"), "unpack unpack_from iter_unpack"),
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
