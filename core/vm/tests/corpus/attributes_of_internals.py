"""Attributes that builtin objects have: what can be set and deleted, and what their values may be."""
import collections
import collections.abc
import enum
import functools
import itertools


def attempt(call):
    try:
        return call()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


class C:
    """Documented."""

    def method(self):
        return super()

    @classmethod
    def made(cls):
        return super()


def f(a, b=1, *, c=2):
    return a, b, c


for name in ("__name__", "__qualname__", "__defaults__", "__kwdefaults__", "__annotations__", "__code__", "__globals__", "__closure__", "__builtins__", "__dict__"):
    for value in (5, "g", (7,), {"c": 8}, None, [1]):
        print(name, value, attempt(lambda: setattr(f, name, value)), attempt(lambda: f(0)))
        f.__defaults__, f.__kwdefaults__ = (1,), {"c": 2}
    if name != "__dict__":
        print(name, attempt(lambda: delattr(f, name)))
for name in ("__name__", "__qualname__", "__bases__", "__module__", "__mro__", "__dict__", "__doc__"):
    print(name, attempt(lambda: delattr(C, name)))
for name in ("__name__", "__dict__", "__mro__", "__module__", "__doc__"):
    print(name, attempt(lambda: setattr(C, name, 5)))

error = Exception(1, 2)
for args in (5, "ab", [1], (1, 2), iter([3]), (x for x in (4, 5)), None, {"k": 1}, b"xy"):
    print(attempt(lambda: setattr(error, "args", args)), error.args, str(error))
for make, name in ((OSError(1, "b"), "errno"), (OSError(1, "b", "f"), "strerror"), (OSError(2, "c"), "filename"), (ImportError("m"), "msg"), (SyntaxError("m"), "msg")):
    setattr(make, name, "set")
    print(type(make).__name__, name, str(make))
print(str(SyntaxError("m", ("/d/f", 3, 2, "t"))), str(SyntaxError()), str(SyntaxError("m", (None, 3, 2, "t"))), str(OSError()), str(OSError("x")))

for view in ({}.keys(), {}.items(), {}.values(), C.__dict__):
    print(type(view).__name__, attempt(lambda: type(hash(view)).__name__))
bound = C().method()
print(bound.__self__.__class__, bound.__thisclass__, bound.__self_class__, C.made().__self__, super(C).__self__, super(C).__thisclass__, super(C).__self_class__)
print(object.__lt__(1, 2), object().__ge__(3), [hasattr(C(), "__" + name + "__") for name in ("lt", "le", "gt", "ge")])
print(attempt(lambda: C() < C()), attempt(lambda: object() >= 1))

abstract = collections.abc
for kind in (abstract.Iterator, abstract.Iterable, abstract.Generator, abstract.Sequence, abstract.Mapping, abstract.Set, abstract.Awaitable, abstract.Coroutine, abstract.AsyncIterator, abstract.Container, abstract.Collection, abstract.KeysView, abstract.MutableSequence, abstract.Sized, abstract.Hashable, collections.deque, collections.ChainMap, collections.Counter, collections.defaultdict, collections.OrderedDict, itertools.chain, functools.partial, enumerate, ExceptionGroup, list, type, int, range, enum.Enum):
    print(kind.__name__, attempt(lambda: kind[int]))


class Listed(list):
    pass


class Walk(abstract.Iterator[int]):
    def __next__(self):
        raise StopIteration


print(Listed[int], Walk.__mro__[1], list(Walk()), Walk[str])
print([range(0, 10, 3)[1:], range(10)[::-1], range(10)[5:2], range(0, 10, 3)[::2], range(10, 0, -3)[1:], range(5)[10:], range(5)[-9:-7], range(5)[3:0:-2], range(0)[::-1]])
print([range(0, 10, 3)[1 << 70 :], range(9)[: -(1 << 70)], range(9)[:: -3], range(0, -9, -2)[::-1]])
for size in (1 << 65, -1, -(1 << 65)):
    print(attempt(lambda: bytearray(size)), attempt(lambda: bytes(size)))
print(attempt(lambda: 1 @ 2), attempt(lambda: 1.5 @ 2), attempt(lambda: (1 << 70) @ 1), "%-05d|%-5d|%05d" % (5, 6, 7))
print(attempt(lambda: type()), attempt(lambda: type(1, 2)), attempt(lambda: type("A", (), {}, 1)))


class Writer:
    def __init__(self):
        self.parts = []

    def write(self, part):
        self.parts.append(part)

    def flush(self):
        self.parts.append("flushed")


writer = Writer()
print(1, "a", [2], sep="-", end="!", file=writer, flush=True)
print(file=writer)
print("shown", file=None)
print(writer.parts, attempt(lambda: print(1, file=5)), attempt(lambda: print(1, sep=5, file=writer)))
print("{:>{}}|{:{}}{:{}}|{:{}.{}f}|{0}".replace("{0}", "").format("x", 5, 1, 3, 2, 4, 3.14, 10, 2), "{!r:>{}}".format("x", 5), "{0:{1}}".format(1, 5))
for text in ("{:{1}}", "{0:{}}", "{:{}}"):
    print(text, attempt(lambda: text.format(1, 5)))
for call in (lambda: max([], key=len, default=None), lambda: min((), key=abs, default=None), lambda: max([], key=len), lambda: max(key=len), lambda: max(1, 2, key=None, default=3), lambda: max([1], key=5), lambda: min([3, -4, 2], key=abs, default=None)):
    print(attempt(call))


async def counted():
    yield 1


async def steps():
    numbers = aiter(counted())
    return [await anext(numbers), await anext(numbers, "end"), attempt(lambda: aiter(5)), attempt(lambda: anext(5))]


try:
    steps().send(None)
except StopIteration as end:
    print(end.value)


def named(input, compile=1):
    exit = input + compile
    return [eval for eval in (exit, exit)]


print(named(input=2))
