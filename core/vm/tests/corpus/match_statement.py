"""match: every kind of pattern, guards, binding, and order."""
from dataclasses import dataclass
from enum import Enum


@dataclass
class Point:
    x: int
    y: int


class Color(Enum):
    RED = 1
    BLUE = 2


class Shape:
    __match_args__ = ("kind", "size")

    def __init__(self, kind, size):
        self.kind, self.size = kind, size


class Limits:
    MAX = 100


def describe(value):
    match value:
        case 0:
            return "zero"
        case True | False:
            return "bool"
        case -5 | 7:
            return "minus five or seven"
        case 1.5:
            return "one and a half"
        case None:
            return "none"
        case "hello":
            return "greeting"
        case b"raw":
            return "bytes"
        case Limits.MAX:
            return "the limit"
        case Color.RED:
            return "red"
        case Color():
            return f"other color {value.name}"
        case []:
            return "empty sequence"
        case [x]:
            return f"one: {x}"
        case ["go", direction]:
            return f"going {direction}"
        case ["set", str(name), int() | float() as number]:
            return f"{name} = {number}"
        case [1, *rest]:
            return f"starts with 1, then {rest}"
        case [*_, "end"]:
            return "ends with end"
        case [first, *middle, last] if first == last:
            return f"same ends {first} around {middle}"
        case (a, (b, c)):
            return f"nested {a} {b} {c}"
        case {"type": "circle", "radius": r}:
            return f"circle {r}"
        case {"type": kind, **others} if others:
            return f"{kind} with {others}"
        case {"nested": {"list": [_, second, *_]}}:
            return f"deep {second}"
        case {1: "one"}:
            return "int key"
        case {}:
            return f"some mapping of {len(value)}"
        case Point(x=0, y=0):
            return "origin"
        case Point(0, y):
            return f"on y axis at {y}"
        case Point(x, y) if x == y:
            return f"diagonal {x}"
        case Point() as p:
            return f"point {p}"
        case Shape("square", size):
            return f"square {size}"
        case Shape(kind=str() as kind):
            return f"shape {kind}"
        case int(n) if n > 1000:
            return f"big {n}"
        case int() | float():
            return "number"
        case str() as text if text.startswith("p"):
            return f"p-word {text}"
        case str():
            return "string"
        case tuple():
            return "tuple"
        case _:
            return "other"


for value in (0, False, True, 0.0, -5, 7, 1.5, None, "hello", b"raw", 100, Color.RED, Color.BLUE, [], (), [9], ["go", "north"], ["set", "x", 5], ["set", "x", "5"], ("set", "y", 2.5), [1, 2, 3], (1,), [5, 6, "end"], [4, 5, 4], ["a", ["b", "c"]], [2, 3, 5], {"type": "circle", "radius": 3},
              {"type": "box", "w": 1}, {"type": "box"}, {"nested": {"list": [1, 2, 3]}}, {1: "one"}, {}, {"a": 1}, Point(0, 0), Point(0, 4), Point(3, 3), Point(1, 2), Shape("square", 2), Shape("line", 1), Shape(5, 5), 5000, 12, 3.25, "python", "ruby", b"other", {1, 2}, range(3), len, "", bytearray(b"raw")):
    print(repr(value) if not isinstance(value, Shape) and value is not len else type(value).__name__, "->", describe(value))


def command(text):
    match text.split():
        case ["add" | "plus", *numbers] if numbers and all(n.isdigit() for n in numbers):
            return sum(map(int, numbers))
        case ["add" | "plus", *_]:
            return "nothing to add"
        case [("quit" | "exit") as word]:
            return f"bye ({word})"
        case []:
            return "empty"
        case [unknown, *arguments]:
            return f"unknown {unknown} with {len(arguments)}"


print([command(text) for text in ("add 1 2 3", "plus 4", "add", "add x", "quit", "exit", "", "fly away now")])


def evaluate(tree):
    match tree:
        case int() | float():
            return tree
        case ("+", left, right):
            return evaluate(left) + evaluate(right)
        case ("*", *factors):
            product = 1
            for factor in factors:
                product *= evaluate(factor)
            return product
        case ("neg", inner):
            return -evaluate(inner)
    return "no match"


print(evaluate(("+", 1, ("*", 2, 3, ("neg", 4)))), evaluate("x"), evaluate(("+", 1)))
match 5:
    case bound:
        pass
print(bound)
match [1, [2, {"k": (3, 4)}]]:
    case [a, [b, {"k": (c, d)}]]:
        print(a, b, c, d)
match 1, 2:
    case 1, other:
        print("tuple subject", other)
match = {"case": "soft keywords"}
case = match["case"]
print(case)
try:
    match Point(1, 2):
        case Point(1, 2, 3):
            pass
except TypeError as error:
    print(error)
try:
    match 5:
        case int(1, 2):
            pass
except TypeError as error:
    print(error)
