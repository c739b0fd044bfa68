"""Comparison, hashing and ordering methods, and what falls back to what."""
import functools


class Version:
    def __init__(self, text):
        self.parts = tuple(int(part) for part in text.split("."))

    def __eq__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self.parts == other.parts

    def __lt__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self.parts < other.parts

    def __hash__(self):
        return hash(self.parts)

    def __repr__(self):
        return "v" + ".".join(map(str, self.parts))


Ordered = functools.total_ordering(type("Ordered", (Version,), {}))
old, new = Version("1.2"), Version("1.10")
print(old < new, old > new, old == new, old != new, old == Version("1.2"), old == 5, old != 5, sorted([new, old, Version("0.9")]), max(old, new), {old: 1}[Version("1.2")], len({old, Version("1.2"), new}), old in [Version("1.2")])
print(Ordered("1.0") <= Ordered("1.0"), Ordered("2.0") >= Ordered("1.0"), Ordered("1.0") > Ordered("0.1"), Ordered("1.0") <= Ordered("0.1"))


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


attempt(lambda: old <= new)
attempt(lambda: old < 5)
attempt(lambda: 5 > old)
attempt(lambda: sorted([old, 5]))


class Reflected:
    def __lt__(self, other):
        return "lt"

    def __gt__(self, other):
        return "gt"

    def __le__(self, other):
        return "le"

    def __ge__(self, other):
        return "ge"

    def __eq__(self, other):
        return "eq"

    def __ne__(self, other):
        return "ne"


r = Reflected()
print(r < 1, r > 1, r <= 1, r >= 1, r == 1, r != 1, 1 < r, 1 > r, 1 <= r, 1 >= r, 1 == r, 1 != r, "s" < r, [] == r, (1 < r < 2))
attempt(lambda: hash(r))


class OnlyEq:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        print("eq", end=" ")
        return self.value == getattr(other, "value", other)


print(OnlyEq(1) == OnlyEq(1), OnlyEq(1) != OnlyEq(2), OnlyEq(1) in [3, OnlyEq(1)], [1, OnlyEq(2)].index(OnlyEq(2)), [OnlyEq(1)] == [1], (OnlyEq(1), 2) == (1, 2), {"k": OnlyEq(1)} == {"k": 1}, [1, 1, 2].count(OnlyEq(1)))
attempt(lambda: {OnlyEq(1)})


class Collide:
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return 7

    def __eq__(self, other):
        return isinstance(other, Collide) and self.name == other.name

    def __repr__(self):
        return self.name


table = {Collide(name): name for name in "abcabc"}
print(table, len(table), table[Collide("b")], table.pop(Collide("a")), list(table), Collide("z") in table)


class Unhashable:
    __hash__ = None


class Failing:
    def __eq__(self, other):
        raise ValueError("no comparison")

    def __hash__(self):
        return 1


class BadHash:
    def __hash__(self):
        return "text"


class Parent:
    def __eq__(self, other):
        return "parent"


class Child(Parent):
    def __eq__(self, other):
        return "child"


attempt(lambda: {Unhashable(): 1})
attempt(lambda: Failing() == 1)
attempt(lambda: {Failing(): 1, Failing(): 2})
attempt(lambda: Failing() in [1])
attempt(lambda: hash(BadHash()))
print(Parent() == Child(), Child() == Parent(), Parent() == 5, 5 == Parent(), hash(type("Big", (), {"__hash__": lambda self: 2**70})()))
nan = float("nan")
print([nan] == [nan], [nan] == [float("nan")], nan in {nan: 1}, {nan: 1} == {nan: 1}, (1, nan) < (2, nan), [1, [2, 3]] < [1, [2, 4]], [] < [1], "a" < "B", (1, "x") == (1, "x"), {1: [2]} == {1.0: [2]}, [1] == (1,), {1} == {1: 2}, 1 == "1", None == 0, b"a" == "a")
