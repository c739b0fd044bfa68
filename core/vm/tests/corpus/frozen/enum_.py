# Every use of `enum`: run by CPython's own module and by ours, the output must be the same.
import enum
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto, unique


def attempt(action):
    try:
        print(action())
    except Exception as problem:
        print(type(problem).__name__, problem)


class Color(Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1

    def describe(self):
        return f"{self.name}={self.value}"

    @property
    def twice(self):
        return self.value * 2

    @classmethod
    def default(cls):
        return cls.GREEN

    @staticmethod
    def help():
        return "colors"


print(Color.RED, repr(Color.RED), Color.RED.name, Color.RED.value, f"{Color.RED}", f"{Color.RED:>12}", "%s" % Color.RED)
print(list(Color), len(Color), Color.CRIMSON is Color.RED, list(Color.__members__.items()))
print(Color(1), Color["GREEN"], Color(Color.GREEN), Color.RED == Color.CRIMSON, Color.RED == 1, Color.RED != Color.GREEN)
print(Color.RED.describe(), Color.RED.twice, Color.default(), Color.help(), Color.RED in Color, isinstance(Color.RED, Color))
print(repr(Color), type(Color).__name__, bool(Color), list(reversed(Color)), {Color.RED: "r"}[Color(1)])
attempt(lambda: Color(7))
attempt(lambda: Color["BLUE"])
attempt(lambda: Color.BLUE)
attempt(lambda: setattr(Color, "RED", 3))
attempt(lambda: delattr(Color, "RED"))
attempt(lambda: 1 in Color)
attempt(lambda: Color.RED < Color.GREEN)


def extend():
    class More(Color):
        BLUE = 3


def repeat():
    class Twice(Enum):
        A = 1
        A = 2


attempt(extend)
attempt(repeat)


class Auto(Enum):
    A = auto()
    B = auto()
    C = 10
    D = auto()


print(list(Auto), [m.value for m in Auto])


class Named(Enum):
    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return f"{name}-{count}-{len(last_values)}"

    X = auto()
    Y = auto()


print(list(Named))


class Planet(Enum):
    MERCURY = (3.303e23, 2.4397e6)
    EARTH = (5.976e24, 6.37814e6)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    def ratio(self):
        return self.mass / self.radius


print(Planet.EARTH, repr(Planet.EARTH), Planet.EARTH.mass, Planet.EARTH.ratio(), Planet((3.303e23, 2.4397e6)))


class Number(IntEnum):
    ONE = 1
    TWO = 2
    THREE = auto()


print(Number.ONE, repr(Number.ONE), Number.ONE + 1, Number.TWO * 2, Number.ONE < Number.TWO, f"{Number.TWO:03d}", "%d" % Number.TWO)
print(sorted([Number.TWO, Number.ONE]), Number(3), max(Number), Number.ONE == 1, {1: "a"}[Number.ONE], [10, 20, 30][Number.ONE])
print(isinstance(Number.ONE, int), str(Number.TWO), int(Number.TWO), type(Number.ONE + Number.TWO).__name__, hash(Number.ONE) == hash(1))


class Word(StrEnum):
    HELLO = auto()
    OTHER = "world"


print(Word.HELLO, repr(Word.HELLO), Word.OTHER.upper(), Word.HELLO + "!", f"{Word.OTHER:>8}", Word("world"), Word.HELLO == "hello")


def not_text():
    class Bad(StrEnum):
        A = 1


attempt(not_text)


class Mixed(str, Enum):
    A = "a"
    B = "b"


print(Mixed.A, repr(Mixed.A), Mixed.A == "a", Mixed.A.value, Mixed("b"), f"{Mixed.A}", Mixed.A + "x")


class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W


print(list(Perm), len(Perm), Perm.R | Perm.X, repr(Perm.R | Perm.X), Perm.RW, repr(Perm.RW), Perm.RW & Perm.R, Perm.RW ^ Perm.R)
print(~Perm.R, repr(~Perm.R), bool(Perm.R & Perm.W), repr(Perm.R & Perm.W), Perm(0), Perm(5), Perm.R in Perm.RW, Perm.X in Perm.RW)
print(list(Perm.RW), len(Perm.RW), list(Perm(0)), Perm(7) == Perm.R | Perm.W | Perm.X, Perm(3) is Perm.RW, (Perm.R | Perm.W).name)
attempt(lambda: Perm(8))
attempt(lambda: Perm("x"))
attempt(lambda: Perm.R | 2)
attempt(lambda: 1 in Perm.R)


class Mode(IntFlag):
    A = 1
    B = 2
    C = 4


print(Mode.A | Mode.B, repr(Mode.A | Mode.B), Mode.A | 8, repr(Mode.A | 8), Mode(7), Mode.A + 1, int(Mode.A | Mode.C), Mode.A & 1, 1 | Mode.B)
print(repr(Mode(0)), repr(Mode(16)), isinstance(Mode.A, int), list(Mode(5)), f"{Mode.A | Mode.B}", ~Mode.A, repr(~Mode.A))


def doubled():
    @unique
    class Bad(Enum):
        A = 1
        B = 1
        C = 1


attempt(doubled)


@unique
class Good(Enum):
    A = 1
    B = 2


print(Good.A)


class Lenient(Enum):
    A = 1
    OTHER = 0

    @classmethod
    def _missing_(cls, value):
        return cls.OTHER


print(Lenient(99), Lenient(1))


class Coord(bytes, Enum):
    def __new__(cls, value, label):
        obj = bytes.__new__(cls, [value])
        obj._value_ = value
        obj.label = label
        return obj

    PX = (0, "P.X")
    PY = (1, "P.Y")


print(Coord.PX.value, Coord.PY.label, Coord(1).name, len(Coord.PX))

Animal = Enum("Animal", "CAT DOG")
print(list(Animal), Animal.CAT.value, Animal("Animal") if False else Animal(2))
Size = IntEnum("Size", {"S": 1, "L": 3})
print(list(Size), Size.L + 1)
Pairs = Enum("Pairs", [("A", 5), ("B", 6)])
print(list(Pairs))


class Base(Enum):
    def hello(self):
        return f"hello from {self.name}"


class Child(Base):
    A = 1


print(Child.A.hello(), isinstance(Child.A, Base), issubclass(Child, Base), list(Base))


class Kept(Enum):
    _ignore_ = ["helper"]
    helper = 5
    A = 1

    def method(self):
        return 1

    class Inner:
        pass


print(list(Kept), hasattr(Kept, "helper"))

match Color.GREEN:
    case Color.RED:
        print("red")
    case Color.GREEN:
        print("green")


class Unhashable(Enum):
    A = [1]
    B = [2]
    C = [1]


print(list(Unhashable), Unhashable([2]), Unhashable.C is Unhashable.A)


class WithTuple(Enum):
    A = auto(), "first"
    B = auto(), "second"


print(list(WithTuple))
print(enum.auto.__name__, enum.EnumMeta is enum.EnumType, enum.STRICT)


@enum.verify(enum.CONTINUOUS)
class Row(IntEnum):
    A = 1
    B = 2


def gap():
    @enum.verify(enum.CONTINUOUS)
    class Gap(IntEnum):
        A = 1
        B = 4


attempt(gap)
