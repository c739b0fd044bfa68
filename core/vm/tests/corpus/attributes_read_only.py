"""Attributes of builtin objects × setting and deleting them: what CPython refuses is refused. The words differ for some."""
import collections
import dataclasses
import decimal
import enum
import functools
import hashlib
import itertools
import json
import re
import struct
import typing


def gen():
    yield 1


async def coro():
    return 1


async def agen():
    yield 1


def func(a, b=1):
    return lambda: a


class Plain:
    def method(self):
        return self

    @property
    def prop(self):
        return 1

    @classmethod
    def cm(cls):
        return 1

    @staticmethod
    def sm():
        return 1


class Slotted:
    __slots__ = ("a", "b")


class Color(enum.Enum):
    RED = 1


class Flags(enum.Flag):
    A = 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int = 1


Pair = collections.namedtuple("Pair", "left right")
pattern = re.compile("(?P<n>a)")
try:
    raise ValueError("v")
except ValueError as error:
    caught = error

OBJECTS = {
    "int": 5, "bool": True, "float": 1.5, "complex": 1j, "None": None, "Ellipsis": ..., "NotImplemented": NotImplemented,
    "str": "text", "bytes": b"b", "bytearray": bytearray(b"b"), "memoryview": memoryview(b"abc"), "list": [1], "tuple": (1,), "dict": {1: 2},
    "set": {1}, "frozenset": frozenset([1]), "range": range(3), "slice": slice(1, 2, 3), "keys": {1: 2}.keys(), "values": {1: 2}.values(),
    "items": {1: 2}.items(), "list_iterator": iter([1]), "range_iterator": iter(range(1)), "map": map(abs, [1]), "filter": filter(abs, [1]),
    "zip": zip([1]), "enumerate": enumerate([1]), "reversed": reversed([1]), "callable_iterator": iter(int, 0),
    "generator": gen(), "coroutine": coro(), "async_generator": agen(), "function": func, "lambda": lambda: 1, "method": Plain().method, "builtin": len,
    "builtin_method": [].append, "wrapper": (5).__add__, "slot": int.__add__, "descriptor": str.upper, "classmethod": Plain.__dict__["cm"],
    "staticmethod": Plain.__dict__["sm"], "property": Plain.__dict__["prop"], "member": Slotted.__dict__["a"], "object": object(), "plain": Plain(),
    "slotted": Slotted(), "super": super(Plain, Plain()), "union": int | str, "alias": list[int], "proxy": Plain.__dict__, "type": int, "class": Plain,
    "pattern": pattern, "match": pattern.match("a"), "scanner": pattern.scanner("a"), "deque": collections.deque([1], 3), "defaultdict": collections.defaultdict(int), "OrderedDict": collections.OrderedDict(),
    "Counter": collections.Counter(), "ChainMap": collections.ChainMap(), "namedtuple": Pair(1, 2), "partial": functools.partial(abs, 1, x=2),
    "cached": functools.lru_cache(abs), "count": itertools.count(1), "chain": itertools.chain([1]), "repeat": itertools.repeat(1, 2), "cycle": itertools.cycle([1]),
    "islice": itertools.islice([1], 1), "accumulate": itertools.accumulate([1]), "groupby": itertools.groupby([1]), "product": itertools.product([1]),
    "enum_member": Color.RED, "flag": Flags.A, "decimal": decimal.Decimal(1), "sha256": hashlib.sha256(b""),
    "Struct": struct.Struct("<I"), "decoder": json.JSONDecoder(), "encoder": json.JSONEncoder(),
    "exception": caught, "group": ExceptionGroup("g", [ValueError(1)]), "oserror": OSError(1, "b"), "stop": StopIteration(3), "unicode": UnicodeDecodeError("ascii", b"x", 0, 1, "r"),
    "key": KeyError(1), "import": ImportError("m"), "syntax": SyntaxError("m"), "attribute": AttributeError("m"), "exit": SystemExit(1),
    "module": re, "typevar": typing.TypeVar("T"), "frozen": Frozen(),
    "cmp": functools.cmp_to_key(abs)(1), "wraps": functools.wraps(func)(lambda: 1),
    "chars": iter("abc"), "rows": iter({1: 2}.items()), "any": typing.Any, "optional": typing.Optional[int],
}
NAMES = """__class__ __dict__ __doc__ __module__ __name__ __qualname__ __len__ __iter__ __hash__ __eq__ __init__ __call__ missing
real imag numerator denominator start stop step mapping obj format itemsize nbytes ndim shape strides readonly contiguous
gi_frame gi_running gi_code gi_yieldfrom cr_frame cr_running cr_await cr_origin ag_frame ag_running __code__ __closure__ __globals__ __defaults__ __kwdefaults__
__annotations__ __func__ __self__ __wrapped__ __isabstractmethod__ fget fset fdel __thisclass__ __self_class__ __origin__ __args__ __parameters__
__bases__ __base__ __mro__ pattern flags groups groupindex string re pos endpos lastindex lastgroup regs maxlen default_factory maps parents left _fields
func args keywords cache_info cache_clear value name _value_ _name_ digest_size block_size digest size getvalue closed strict object_hook indent
__cause__ __context__ __suppress_context__ __traceback__ __notes__ message exceptions errno strerror filename reason object encoding end msg path lineno text offset code
append method a b x left right cell_contents upper __objclass__ __text_signature__ __bound__ __constraints__ __slots__ __weakref__ __setattr__ __getattribute__ data""".split()


# Weak references and signatures as text are not there; descriptors have no dict, forms of typing no check, and some a fixed name or text.
UNLIKE = {"classmethod", "staticmethod", "optional", "builtin", "builtin_method", "property", "cached", "unicode", "any"}
ABSENT = {"__weakref__", "__text_signature__"}


def attempt(act):
    try:
        act()
    except (AttributeError, TypeError):
        return "refused"
    return "done"


for label, thing in OBJECTS.items():
    if label in UNLIKE:
        continue
    changed = []
    for name in NAMES:
        if name in ABSENT or label in ("module", "class") and name in ("__class__", "__dict__"):
            continue
        if attempt(lambda: setattr(thing, name, 5)) == "done":
            changed.append(name)
            changed.append(attempt(lambda: delattr(thing, name)))
        elif name != "__dict__" and attempt(lambda: delattr(thing, name)) == "done":
            changed.append("del " + name)
    print(label, *changed)
matched = pattern.match("a")
for thing, name in ((pattern, "pattern"), (pattern, "flags"), (pattern, "groups"), (matched, "string"), (matched, "re")):
    for change in (lambda: setattr(thing, name, 5), lambda: delattr(thing, name), lambda: object.__setattr__(thing, name, 5), lambda: getattr(type(thing), name).__set__(thing, 5)):
        try:
            change()
        except AttributeError as error:
            print(name, error)
print(pattern.pattern, pattern.groups, matched.string, matched.re is pattern)
