"""dataclasses: defaults, ordering, frozen, fields, inheritance, helpers."""
from dataclasses import FrozenInstanceError, InitVar, KW_ONLY, asdict, astuple, dataclass, field, fields, is_dataclass, replace
from typing import ClassVar


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


@dataclass
class Point:
    """Two numbers."""
    x: int
    y: int = 0
    tags: list = field(default_factory=list)
    hidden: str = field(default="h", repr=False, compare=False)
    kind: ClassVar[str] = "point"

    def total(self):
        return self.x + self.y


@dataclass(order=True, frozen=True)
class Version:
    major: int
    minor: int = 0

    @property
    def text(self):
        return f"{self.major}.{self.minor}"


@dataclass
class Point3(Point):
    z: int = 9

    def __post_init__(self):
        self.summed = self.x + self.y + self.z


@dataclass(kw_only=True)
class Options:
    name: str
    size: int = 1


@dataclass
class Mixed:
    a: int
    _: KW_ONLY
    b: int = 2
    c: InitVar[int] = 5
    d: int = field(init=False)

    def __post_init__(self, c):
        self.d = c * 10


@dataclass(slots=True)
class Slotted:
    a: int
    b: str = "b"


@dataclass(eq=False)
class Identity:
    a: int


@dataclass(unsafe_hash=True)
class Hashed:
    a: int
    b: list = field(default_factory=list, hash=False)


@dataclass(repr=False, init=False)
class Bare:
    a: int = 5


p = Point(1)
q = Point(1, 2, ["t"], hidden="secret")
print(p, q, p == Point(1), p == Point(1, hidden="other"), p != q, p == (1, 0, [], "h"), q.total(), Point.kind, Point.y, hasattr(Point, "x"), p.tags is Point(1).tags, Point.__doc__, Point.__match_args__)
attempt(Point)
attempt(Point, 1, 2, 3, 4, 5)
attempt(Point, 1, z=2)
attempt(lambda: p < q)
attempt(hash, p)
v = Version(1, 2)
print(v, v.text, v < Version(1, 3), sorted([Version(2), v, Version(1)]), max(v, Version(0, 9)), v <= Version(1, 2), hash(v) == hash(Version(1, 2)), {v: "dict key"}[Version(1, 2)], len({v, Version(1, 2)}))
attempt(setattr, v, "major", 5)
attempt(delattr, v, "major")
attempt(lambda: v < (1, 2))
print(issubclass(FrozenInstanceError, AttributeError))
z = Point3(1, 2, z=3)
print(z, z.summed, isinstance(z, Point), z == Point(1, 2), [f.name for f in fields(z)], Options(name="n"), Options(name="m", size=5), Mixed(1), Mixed(1, b=3, c=7), Slotted(1), Identity(1) == Identity(1), Hashed(1) == Hashed(1), hash(Hashed(1)) == hash(Hashed(1, [2])), Bare().a)
attempt(Options, "n")
attempt(Mixed, 1, 2)
attempt(setattr, Slotted(1), "z", 5)
nested = Point(Point(1, 2), [Point(3)], {"k": Point(4)})
print(asdict(q), astuple(q), asdict(nested), astuple(Version(1)), replace(q, x=100), replace(v, minor=9), is_dataclass(p), is_dataclass(Point), is_dataclass(5))
for f in fields(Point):
    print(f.name, f.repr, f.compare, f.init, f.default if f.name in ("y", "hidden") else "", getattr(f.type, "__name__", f.type))
attempt(replace, p, nope=1)
attempt(asdict, 5)
attempt(fields, 5)
attempt(lambda: dataclass(type("Bad", (), {"__annotations__": {"x": list}, "x": []})))
attempt(lambda: dataclass(type("Bad", (), {"__annotations__": {"x": int, "y": int}, "x": 1})))
attempt(lambda: dataclass(type("Bad", (Version,), {})))
q.x += 5
q.tags.append("u")
print(q, vars(q), [getattr(q, f.name) for f in fields(q)])


@dataclass
class Tree:
    value: int
    children: list["Tree"] = field(default_factory=list)

    def add(self, *values):
        self.children.extend(Tree(value) for value in values)
        return self

    def sum(self):
        return self.value + sum(child.sum() for child in self.children)


tree = Tree(1).add(2, 3)
tree.children[0].add(4)
print(tree, tree.sum(), asdict(tree), tree == Tree(1, [Tree(2, [Tree(4)]), Tree(3)]))
