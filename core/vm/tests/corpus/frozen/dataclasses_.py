# Every use of `dataclasses`, compared with CPython's own module.
import dataclasses
from collections import namedtuple
from dataclasses import FrozenInstanceError, InitVar, KW_ONLY, asdict, astuple, dataclass, field, fields, is_dataclass, replace
from typing import ClassVar


def attempt(action):
    try:
        print(action())
    except Exception as problem:
        print(type(problem).__name__, problem)


@dataclass
class Point:
    x: int
    y: int = 0


print(Point(1), Point(1, 2), Point(x=3, y=4), Point(5, y=6), Point(1) == Point(1, 0), Point(1) == (1, 0), Point(1) != Point(2))
attempt(lambda: Point())
attempt(lambda: Point(1, 2, 3))
attempt(lambda: Point(1, x=2))
attempt(lambda: Point(1, z=2))
attempt(lambda: hash(Point(1)))
attempt(lambda: Point(1) < Point(2))
p = Point(1)
p.x = 9
print(p, Point.__match_args__, is_dataclass(p), is_dataclass(Point), is_dataclass(5), [f.name for f in fields(p)], Point.y)
print(asdict(Point(1, 2)), astuple(Point(1, 2)), replace(Point(1, 2), y=5))
attempt(lambda: replace(Point(1, 2), z=5))
attempt(lambda: asdict(5))
attempt(lambda: fields(5))
print(Point.__init__.__qualname__, Point.__eq__.__name__)
print(repr(fields(Point)[1])[:45], fields(Point)[1].default, fields(Point)[0].default is dataclasses.MISSING)


@dataclass(order=True, frozen=True)
class Version:
    major: int
    minor: int = field(default=0, compare=True)
    label: str = field(default="", compare=False, repr=False)


print(Version(1, 2) < Version(1, 3), sorted([Version(2), Version(1, 5)]), Version(1) >= Version(1), hash(Version(1)) == hash(Version(1, label="x")))
print({Version(1): "a"}[Version(1, 0, "zz")], Version(1, label="hidden"))


def assign():
    Version(1).major = 2


def remove():
    v = Version(1)
    del v.major


attempt(assign)
attempt(remove)
print(issubclass(FrozenInstanceError, AttributeError))


@dataclass
class Bag:
    items: list = field(default_factory=list)
    total: int = field(init=False, default=0)
    scale: InitVar[int] = 1
    kinds: ClassVar[int] = 7

    def __post_init__(self, scale):
        self.total = sum(self.items) * scale


a, b = Bag(), Bag([1, 2], 10)
a.items.append(5)
print(a, b, Bag.kinds, [f.name for f in fields(Bag)])
attempt(lambda: replace(b, total=3))


@dataclass
class Base:
    a: int
    b: int = 2


@dataclass
class Derived(Base):
    c: int = 3
    a: str = "first"

    def total(self):
        return self.b + self.c


print(Derived(), Derived("x", 5, 6), Derived().total(), Derived.__match_args__, Derived() == Base("first"))


def wrong_order():
    @dataclass
    class Wrong:
        a: int = 1
        b: int


def mutable():
    @dataclass
    class Wrong:
        a: list = []


def thaw():
    @dataclass
    class Wrong(Version):
        extra: int = 0


def bare_field():
    @dataclass
    class Wrong:
        a = field(default=1)


attempt(wrong_order)
attempt(mutable)
attempt(thaw)
attempt(bare_field)
attempt(lambda: dataclass(order=True, eq=False)(type("X", (), {})))
attempt(lambda: field(default=1, default_factory=list))


@dataclass
class Keyword:
    a: int
    _: KW_ONLY
    b: int
    c: int = 5


print(Keyword(1, b=2), Keyword(1, b=2, c=3), Keyword.__match_args__)
attempt(lambda: Keyword(1, 2))
attempt(lambda: Keyword(1))


@dataclass(kw_only=True)
class AllKeyword:
    a: int = 1
    b: int


print(AllKeyword(b=2))
attempt(lambda: AllKeyword(1, 2))
attempt(lambda: AllKeyword())


@dataclass(slots=True)
class Slotted:
    x: int
    y: int = 1


print(Slotted(1), Slotted.__slots__)
attempt(lambda: setattr(Slotted(1), "z", 1))


@dataclass
class Tree:
    value: int
    children: list = field(default_factory=list)


tree = Tree(1, [Tree(2), Tree(3, [Tree(4)])])
print(tree, asdict(tree), astuple(tree))
Pair = namedtuple("Pair", "a b")


@dataclass
class Holder:
    pair: Pair
    table: dict
    group: tuple


h = Holder(Pair(Point(1), 2), {"p": Point(3)}, (Point(4), [Point(5)]))
print(asdict(h), astuple(h))
copy = asdict(h)
h.table["q"] = 1
print(copy["table"])


@dataclass(repr=False, eq=False)
class Plain:
    x: int


print(Plain(1) == Plain(1), type(Plain.__hash__).__name__ != "NoneType")


@dataclass(unsafe_hash=True)
class Hashed:
    x: int


print(hash(Hashed(1)) == hash(Hashed(1)), len({Hashed(1), Hashed(1), Hashed(2)}))


@dataclass
class Custom:
    x: int

    def __repr__(self):
        return "custom"

    def __eq__(self, other):
        return True


print(Custom(1), Custom(1) == 5)
Made = dataclasses.make_dataclass("Made", ["x", ("y", int), ("z", int, field(default=3))], namespace={"sum": lambda self: self.y + self.z})
print(Made(1, 2), Made(1, 2).sum())


@dataclass
class Three:
    a: int
    b: int
    c: int


attempt(lambda: Three())
attempt(lambda: Three(1))
attempt(lambda: Three(1, 2))

match Point(1, 2):
    case Point(x, y):
        print("matched", x, y)


@dataclass
class Generic:
    x: "int"
    y: "ClassVar[int]" = 1
    z: "InitVar[int]" = 2

    def __post_init__(self, z):
        self.x += z


print(Generic(1), fields(Generic)[0].type)


@dataclass(frozen=True)
class FrozenBag:
    items: tuple = ()
    size: int = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "size", len(self.items))


print(FrozenBag((1, 2)), {FrozenBag(): 1})
print(repr(dataclasses.MISSING)[:24] != "", InitVar[int])


@dataclass
class Knot:
    name: str
    others: list = field(default_factory=list, repr=True, metadata={"unit": "m"})


print(Knot("a"), fields(Knot)[1].metadata["unit"])
