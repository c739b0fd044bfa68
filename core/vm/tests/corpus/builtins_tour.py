"""The builtin functions, with the arguments they take and those they refuse."""


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


class Point:
    kind = "point"

    def __init__(self, x=0, y=0):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Point({self.x})"


point = Point(1, 2)
print(abs(-5), abs(-2.5), abs(True), all([1, 2]), all([]), any([0, None]), any("a"), ascii("é\n'"), bin(-5), bool([]), bytes(2), callable(len), chr(8364), divmod(17, 5), divmod(-17, 5), divmod(7.5, 2))
attempt(abs, "x")
attempt(all, 5)
attempt(any)
attempt(divmod, "a", 1)
print(list(enumerate("ab", 1)), list(filter(None, (0, 1))), float("1e3"), format(255, "x"), frozenset([1]), getattr(point, "x"), getattr(point, "z", "default"), hasattr(point, "y"), hasattr(point, "q"), hash(5), hex(255), int("7"))
attempt(getattr, point, "q")
attempt(getattr, point, 5)
attempt(hasattr, point, 5)
attempt(getattr, point)
attempt(setattr, point, "x")
setattr(point, "x", 10)
delattr(point, "y")
print(point.x, hasattr(point, "y"), vars(point), isinstance(5, int), isinstance(True, int), isinstance("a", (int, str)), isinstance(5, (float, (str, int))), issubclass(bool, int), issubclass(int, object), issubclass(int, (str, float)))
attempt(isinstance, 5)
attempt(isinstance, 5, "int")
attempt(issubclass, 5, int)
attempt(issubclass, int, 5)
print(iter([1]).__next__(), len("abc"), len({1: 2}), len(range(0, 10, 3)), list("ab"), list(map(lambda a, b: a * b, [1, 2], [3, 4])), max(1, 2, 3), max("abc"), max([1, -5], key=abs), min(2, 1), min([], default=None), next(iter("z")), oct(8), ord("A"))
attempt(len, 5)
attempt(len, point)
attempt(max, [])
attempt(max, 5)
attempt(min, [1, "a"])
attempt(ord, "")
print(pow(2, 10), pow(2, -1), pow(2, 5, 7), pow(2.0, 0.5), pow(3, -1, 7), repr("a'b"), list(reversed([1, 2])), round(2.5), round(3.5), round(-2.5), round(2.675, 2), round(1234, -2), round(5, 3), round(1e20), round(0.5), round(1.5))
attempt(pow, 2, 3, 0)
attempt(pow, 2.0, 3, 5)
attempt(pow, "a", 2)
attempt(round, "x")
attempt(round, 1.5, 1.5)
print(set("a"), slice(1, 2), sorted([3, 1]), sorted("ba", reverse=True), str(5), sum([1, 2]), sum([0.5, 1]), sum([[1], [2]], []), sum(range(10), 5), sum([], start=7), tuple("ab"), type(5).__name__, type(point).__name__, type(type).__name__, list(zip("ab", (1, 2))))
attempt(sum, 5)
attempt(sum, ["a"])
attempt(sum, ["a"], "")
attempt(sum, [b"a"], b"")
attempt(sum, [1], None)
attempt(sorted)
attempt(sorted, [1], reverse="x")
attempt(type, 1, 2)
attempt(str, 1, 2)
attempt(str, b"a", "utf-8", "strict", 1)
attempt(object().__getattribute__, "nothing")
print(type(None).__name__, type(...).__name__, type(NotImplemented).__name__, type(len).__name__, type("".upper).__name__, type(lambda: 0).__name__, type(point.__init__).__name__, type(Point.__init__).__name__, type(range(1)).__name__, type((x for x in [])).__name__, type(type(5)).__name__, type(slice(1)).__name__, type(property()).__name__, type(super).__name__)
print(None, ..., NotImplemented, repr(None), str(...), bool(...))
print(int, str, list, dict, object, type, Point, ValueError, type(None), bool, float, bytes, tuple, set, frozenset, range, slice, property, staticmethod, classmethod, super, map, filter, zip, enumerate, reversed)
print(callable(Point), callable(point), callable(lambda: 0), callable("a"), callable(type), dir(Point(1, 2))[-3:], [name for name in dir(Point) if not name.startswith("_")])
print(isinstance(len, object), isinstance(int, type), isinstance(type, object), type(type) is type, object.__name__, int.__mro__, bool.__bases__, (5).__class__.__name__, point.__class__ is Point, Point.__dict__["kind"], Point.__module__, __name__)
print(str(object())[:15], repr(point), repr(Point), repr([point, {"p": point}]), str((point,)), "%s %r" % (point, point), f"{point}")
print(int(5.9), int("-0b101", 2), int("0x1f", 16), float(5), float("-.5e-3"), str(1e100), bool("0"), list({"a": 1}.items()), dict(a=1), tuple([1]), set([1, 1]), bytes([65]), bytearray(b"a"))
print(list(map(lambda *a: a, [1, 2], "ab", (True, False))), list(zip(range(3), "ab")), list(range(3, 0, -1)), sorted({"b": 1, "a": 2}.items(), key=lambda kv: kv[1]), min({"b": 1, "a": 2}), max(["aa", "b"], key=len), sum(map(int, "123")), any(map(str.isupper, "aB")), all(c.isalpha() for c in "ab"))
print(__debug__, type(__name__).__name__, hash("a") == hash("a"), hash(1) == hash(1.0), hash((1, 2)) == hash((1, 2)), hash(None) == hash(None), hash(True), hash(2**61), hash(-1), hash(0.5), hash(b"ab") == hash(b"ab"))
