# How messages name classes that CPython has in C, and what they say about fields that nobody sets or deletes.
import collections
import decimal
import enum
import itertools
import math
import re


def t(name, call):
    try:
        print(name, "->", call())
    except Exception as error:
        print(name, "->", type(error).__name__, error)


class Whole(int):
    pass


class Real(float):
    pass


class Level(enum.IntEnum):
    LOW = 1


class Kind(enum.Enum):
    A = 1


class Own(int):
    real = 3


class Plain:
    pass


class Slotted:
    __slots__ = ("a",)


D = decimal.Decimal
matched = re.match("(a)", "a")
for value in D(1), D("NaN"), re.compile("a"), matched, collections.deque([1]), collections.OrderedDict(a=1), collections.defaultdict(int), Plain(), None, 1j, memoryview(b"a"):
    t("x", lambda: "%x" % (value,)); t("f", lambda: "%f" % (value if not isinstance(value, D) else matched,)); t("type", lambda: type("x", value, {})); t("type 2", lambda: type("x", (), value if not isinstance(value, dict) else 1))
    t("slice", lambda: slice(1).indices(value)); t("pow", lambda: pow(value if not isinstance(value, D) else matched, 2, 3)); t("sep", lambda: print(sep=value) if value is not None else 0)
    t("floor", lambda: math.floor(value)); t("ceil", lambda: math.ceil(value)); t("maketrans", lambda: "".maketrans("a", value) if value is not None else 0)
t("dict", lambda: dict(D(1))); t("dict 2", lambda: dict(re.compile("a"))); t("mapping", lambda: "%(a)s" % Kind.A); t("mapping 2", lambda: "%(a)s" % Plain()); t("bytes", lambda: b"%d" % matched)

# Fields of builtin types in classes below them.
for value in Whole(1), Real(1.5), Level.LOW, 5, 1.5, True:
    t("set", lambda: setattr(value, "real", 5)); t("delete", lambda: delattr(value, "real")); t("imag", lambda: setattr(value, "imag", 5)); t("value", lambda: value.real)
t("denominator", lambda: setattr(Whole(1), "denominator", 2)); t("own", lambda: setattr(Own(1), "real", 5)); t("start", lambda: setattr(slice(1), "start", 5)); t("stop", lambda: delattr(range(1), "stop"))

# What the class has is not the object's.
for value in "a", b"a", 1, 1.5, None, [1], (1,), {1: 2}, {1}, range(3), Slotted(), object():
    for name in "__doc__", "__eq__", "__hash__", "__init__", "missing", "append", "format":
        t(name, lambda: delattr(value, name)); t(name, lambda: setattr(value, name, 5))
    t("class", lambda: setattr(value, "__class__", 5)); t("no class", lambda: setattr(value, "__class__", None)); t("delete class", lambda: delattr(value, "__class__"))

# Groups and templates of other types.
for group in slice(1, 2), [], {}, D(1), 1.5, "n", b"n", None, 9, True:
    t("item", lambda: matched[group]); t("group", lambda: matched.group(group)); t("start", lambda: matched.start(group)); t("span", lambda: matched.span(group))
for template in 1, None, [1], b"a", "\\1", len:
    t("expand", lambda: matched.expand(template))
for template in 1, None, 1.5:
    t("sub", lambda: re.sub("a", template, "a")); t("subn", lambda: re.compile("a").subn(template, "bab"))

# Enumerations without members, and counts of what is no number.
t("enum", lambda: enum.Enum(1)); t("flag", lambda: enum.IntEnum("a")); t("empty", lambda: enum.Enum("E", ())(1))
for value in None, "a", [1], (1,), b"", {}, Plain():
    t("count", lambda: itertools.count(value)); t("step", lambda: itertools.count(1, value))
for value in 1.5, 1j, True, D(1), Whole(3):
    t("count", lambda: next(itertools.count(value))); t("step", lambda: next(itertools.count(1, value)))
