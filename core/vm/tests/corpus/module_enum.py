"""enum: members, values, lookup, iteration, flags, auto, methods, refusals."""
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto, unique


def attempt(function, *arguments):
    try:
        print(repr(function(*arguments)))
    except Exception as error:
        print(type(error).__name__, error)


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = "b"
    CRIMSON = 1

    def describe(self):
        return f"{self.name.lower()} is {self.value}"

    @classmethod
    def first(cls):
        return next(iter(cls))

    @property
    def short(self):
        return self.name[0]


class Level(IntEnum):
    LOW = 1
    HIGH = 10


class Permission(Flag):
    READ = auto()
    WRITE = auto()
    RUN = auto()
    BOTH = READ | WRITE


class Bits(IntFlag):
    A = 1
    B = 2


class Name(StrEnum):
    ANN = auto()
    BOB = "bobby"


class Numbered(Enum):
    ONE = auto()
    TWO = auto()
    TEN = 10
    NEXT = auto()


class Planet(Enum):
    EARTH = (5.97, 6.37)
    MARS = (0.64, 3.39)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius

    @property
    def density(self):
        return round(self.mass / self.radius**3, 5)


print(Color.RED, repr(Color.RED), Color.RED.name, Color.RED.value, Color(1), Color("b"), Color["GREEN"], Color.CRIMSON, Color.CRIMSON is Color.RED, Color.RED == 1, Color.RED != Color.GREEN, Color.RED.describe(), Color.first(), Color.GREEN.short)
print(list(Color), len(Color), [member.name for member in Color], list(Color.__members__), Color.RED in Color, isinstance(Color.RED, Color), type(Color.RED).__name__, {Color.RED: "r"}[Color(1)], hash(Color.RED) == hash(Color.CRIMSON), str(Color.BLUE), f"{Color.BLUE}", "%s" % Color.RED, list(reversed(Color)), bool(Color.RED))
print(Level.LOW < Level.HIGH, Level.LOW + 5, Level.HIGH == 10, Level(10), repr(Level.LOW), str(Level.LOW), f"{Level.LOW}", sorted([Level.HIGH, Level.LOW]), [0, 5][Level.LOW], max(Level), isinstance(Level.LOW, int), int(Level.HIGH), {1: "one"}[Level.LOW], range(Level.LOW))
print(Permission.READ | Permission.RUN, Permission.BOTH, Permission.BOTH & Permission.WRITE, Permission.READ in Permission.BOTH, Permission.RUN in Permission.BOTH, ~Permission.READ, Permission.READ ^ Permission.BOTH, Permission(0), Permission(5), bool(Permission(0)), bool(Permission.READ), Permission.BOTH.value, list(Permission.BOTH), list(Permission), len(Permission.BOTH), repr(Permission.READ | Permission.RUN))
print(Bits.A | Bits.B, Bits.A | 8, Bits.A + 1, Bits(3), Bits.B & 3, repr(Bits.A | Bits.B), Name.ANN, repr(Name.BOB), Name.ANN + "!", Name("bobby"), Name.ANN == "ann", [n.value for n in Numbered], Planet.EARTH.mass, Planet.MARS.density, Planet((0.64, 3.39)), Planet.EARTH.value)
attempt(Color, 5)
attempt(lambda: Color["PURPLE"])
attempt(lambda: Color.PURPLE)
attempt(lambda: Color.RED < Color.GREEN)
attempt(setattr, Color, "RED", 5)
attempt(setattr, Color.RED, "value", 5)
attempt(delattr, Color, "RED")
attempt(lambda: type("More", (Color,), {}))
attempt(lambda: Color())
attempt(lambda: Permission(64))
attempt(lambda: Level("x"))


def duplicated():
    @unique
    class Unique(Enum):
        A = 1
        B = 1


def repeated():
    class Repeated(Enum):
        A = 1
        A = 2


attempt(duplicated)
attempt(repeated)
Animal = Enum("Animal", "CAT DOG")
Status = Enum("Status", {"ON": "on", "OFF": "off"})
Pair = IntEnum("Pair", ["L", "R"])
print(list(Animal), Animal.DOG.value, Status("off"), Pair.R + 1, Animal["CAT"])


class Mood(Enum):
    _ignore_ = ["temporary"]
    temporary = 5
    GOOD = "g"
    BAD = "b"

    @classmethod
    def _missing_(cls, value):
        return cls.BAD if value == "awful" else None

    def __str__(self):
        return self.name.title()

    def __bool__(self):
        return self is Mood.GOOD


print(Mood("awful"), Mood.GOOD, f"{Mood.BAD}", bool(Mood.BAD), hasattr(Mood, "temporary"), [str(m) for m in Mood])
attempt(Mood, "other")
match Color.GREEN:
    case Color.RED:
        print("red")
    case Color.GREEN | Color.BLUE as which:
        print("matched", which)
print(Color.RED.__class__.__name__, Color.__name__, callable(Color), Color.RED in (Color.RED, Color.BLUE), [c for c in Color if c is not Color.RED], dict((c.name, c.value) for c in Color), sorted(Color, key=lambda c: c.name))
members = Color.__members__
print(type(members).__name__, members["RED"], len(members), "RED" in members, members.get("NONE"), members.get("RED"), [*members.items()] == [*dict(members).items()], list(iter(members)) == list(members), {**members} == members)
try:
    members["PINK"] = 1
except TypeError as error:
    print(error)
