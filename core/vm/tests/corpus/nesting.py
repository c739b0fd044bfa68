"""Values inside one another, as deep as both machines follow them."""

x = iter([1, 2])
for i in range(60):
    x = zip(x) if i % 2 else enumerate(x)
first = next(x)
depth = 0
while isinstance(first, tuple):
    first = first[-1]
    depth += 1
print(depth, first, len(list(x)))

for zipped in (zip(zip([1, 2]), zip([3])), zip(enumerate("ab"), enumerate("cd"), strict=True), enumerate(enumerate(enumerate("ab")))):
    print(type(zipped).__name__, list(zipped))

try:
    list(zip(enumerate("ab"), zip("a"), strict=True))
except ValueError as error:
    print(error)

text = "innermost"
for i in range(60):
    text = (ValueError, KeyError, OSError, StopIteration)[i % 4](text)
print(str(text).count("\\") > 0, f"{ValueError(ValueError('a'))}", "%s" % KeyError(KeyError("b")), repr(ValueError(ValueError())))


def call(*args):
    return len(args)


class Bound:
    def method(self):
        pass


Method = type(Bound().method)
chain = call
for i in range(60):
    chain = Method(chain, i)
print(chain(), chain(1, 2), chain.__name__, chain.__self__, Method(call, chain)())
held = [chain, {0: chain}]
print(held[1][0] is chain)

static = call
for i in range(60):
    static = staticmethod(static)
print(static(1, 2), static.__name__)


class Calls:
    def __init__(self, inner):
        self.inner = inner

    def __call__(self, *args):
        return self.inner(*args)


called = call
for i in range(40):
    called = Calls(called)
print(called(1))


class A:
    pass


class B(A):
    pass


for i in range(25):
    A, B = B, type("C", (B, A), {"__slots__": ()} if i % 3 else {})
print(len(B.__mro__), isinstance(B(), A), issubclass(B, object))


class Slots:
    __slots__ = ("a",)


class More(Slots):
    __slots__ = ("b",)


class Other:
    __slots__ = ("c",)


for bases in ((More, Slots), (Slots, Other), (More, Other), (Slots, A), (A, More), (int, Slots), (A, int), (int, str)):
    try:
        print(type("D", bases, {}).__mro__[1].__name__)
    except TypeError as error:
        print("no")

kinds = (int, (str, (bytes, ((float,),))))
print(isinstance(1.5, kinds), isinstance([], kinds), issubclass(bytes, kinds), isinstance(1, (int | str, (bytes | None,))))
