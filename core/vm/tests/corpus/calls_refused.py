# What a builtin function or method that is called wrongly says, and what its class shows of its fields.
import collections
import itertools
import math


def t(name, call):
    try:
        print(name, "->", call())
    except Exception as error:
        print(name, "->", type(error).__name__, error)


# The receiver comes first, then keywords, then the number of arguments.
t("receiver", lambda: int.__add__(None)); t("no receiver", lambda: int.__add__()); t("method", lambda: str.center(None)); t("none", lambda: str.center())
t("slot", lambda: (5).__add__()); t("slot 2", lambda: (5).__add__(1, 2)); t("slot 3", lambda: (5).__abs__(1)); t("slot 4", lambda: (5).__pow__())
t("keyword", lambda: (5).__abs__(x=1)); t("keyword 2", lambda: b"".isascii(1, x=1)); t("keyword 3", lambda: {1}.difference(x=1)); t("keyword 4", lambda: len(1, 2, x=3))
t("sequence", lambda: "a".__mul__()); t("item", lambda: [1].__setitem__(1)); t("new", lambda: range.__new__(1)); t("new 2", lambda: int.__new__())
t("sort", lambda: [1].sort(1)); t("sorted", lambda: sorted(x=1)); t("sorted 2", lambda: sorted([1], x=1)); t("sum", lambda: sum()); t("prod", lambda: math.prod())
t("pow", lambda: pow(x=1)); t("round", lambda: round(1, 2, x=3)); t("complex", lambda: complex(1, 2, x=3)); t("list", lambda: list(1, 2, x=3)); t("view", lambda: memoryview(1, 1))
t("reversed", lambda: reversed()); t("classmethod", lambda: classmethod(1, 2)); t("count", lambda: "a".count()); t("count 2", lambda: [1].count()); t("unicode", lambda: UnicodeDecodeError())
t("update", lambda: {}.update(1, 2)); t("split", lambda: "a".split(1)); t("center", lambda: "a".center(1, 1)); t("count 3", lambda: "a".count(1.5, 1.5)); t("count 4", lambda: b"a".count(1.5, 1.5))
t("encode", lambda: "a".encode("unknown", None)); t("bytes", lambda: bytes(1, 1)); t("str", lambda: str(1, None)); t("maketrans", lambda: "".maketrans("a", 1)); t("hex", lambda: b"a".hex([1]))
t("format", lambda: (5).__format__(None)); t("fromhex", lambda: float.fromhex(1)); t("group", lambda: ExceptionGroup(1, [ValueError()])); t("import", lambda: ImportError(x=1))

# Methods of sequences by name refuse what the operator leaves to the other side.
t("mul", lambda: (1,).__mul__([1])); t("mul 2", lambda: "a".__mul__(1.5)); t("imul", lambda: [1].__imul__(1.5)); t("add", lambda: [1].__add__((1,))); t("add 2", lambda: b"".__add__(1))


class Right:
    def __rmul__(self, left):
        return "rmul", left

    def __radd__(self, left):
        return "radd", left


class Index:
    def __index__(self):
        return 2


for left in "a", b"a", bytearray(b"a"), [1], (1,):
    t("right", lambda: left * Right()); t("right 2", lambda: left + Right()); t("index", lambda: left * Index()); t("index 2", lambda: left.__mul__(Index()))
    t("wrong", lambda: left * 1.5); t("wrong 2", lambda: left + 1.5); t("wrong 3", lambda: 1.5 * left)
for target in "a", b"a", bytearray(b"a"), (1,), {1: 2}, {1}, range(3), None:
    for value in 5, "x", 1.5:
        def add():
            x = target
            x += value
            return x

        def mul():
            x = target
            x *= value
            return x

        t("add in place", add); t("multiply in place", mul)

# Fields of builtin types.
for owner, names in (int, "real imag numerator denominator"), (bool, "real"), (float, "real imag"), (complex, "real imag"), (range, "start stop step"), (slice, "start"):
    for name in names.split():
        t(name, lambda: (hasattr(owner, name), type(getattr(owner, name)).__name__))
t("get", lambda: (int.real.__get__(5), range.start.__get__(range(3, 9)))); t("get 2", lambda: int.real.__get__("x")); t("set", lambda: setattr(5, "real", 1)); t("set 2", lambda: setattr(1j, "real", 1))
t("float", lambda: hasattr(float, "numerator")); t("union", lambda: (int | int, int | str | int))

# Arguments that are checked before anything is made of them.
t("from_bytes", lambda: int.from_bytes("")); t("from_bytes 2", lambda: int.from_bytes(5)); t("from_bytes 3", lambda: int.from_bytes(b"a", 5)); t("from_bytes 4", lambda: int.from_bytes([1, 256]))
t("namedtuple", lambda: collections.namedtuple(5, "a")); t("islice", lambda: itertools.islice([], 2**63)); t("islice 2", lambda: itertools.islice([], 0, 1, 2**63)); t("islice 3", lambda: list(itertools.islice([1], 2**63 - 1)))
t("comb", lambda: (math.comb(70, 35), math.comb(2**70, 3), math.comb(4000, 40) % (2**61 - 1), math.comb(2**32, 5))); t("min", lambda: (max(range(3, 20, 4)), min(range(9, 0, -2)), max(range(5, 6)), min(range(0), default=7)))
t("max", lambda: (max(range(-2**63, 2**63 - 1, 2**62)), min(range(2**63 - 1, -2**63, -2**62)))); t("max 2", lambda: max(range(0)))
