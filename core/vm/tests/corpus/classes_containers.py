"""Container, iteration, call, context and conversion methods."""


class Shelf:
    def __init__(self, *items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, key):
        print("get", key, end="; ")
        return Shelf(*self.items[key]) if isinstance(key, slice) else self.items[key]

    def __setitem__(self, key, value):
        print("set", key, value, end="; ")
        self.items[key] = value

    def __delitem__(self, key):
        print("del", key, end="; ")
        del self.items[key]

    def __contains__(self, item):
        print("contains", item, end="; ")
        return item in self.items

    def __iter__(self):
        return iter(self.items)

    def __reversed__(self):
        return reversed(self.items)

    def __call__(self, *arguments, **named):
        return "called", arguments, named

    def __str__(self):
        return f"shelf of {len(self)}"

    def __repr__(self):
        return f"Shelf{tuple(self.items)}"

    def __missing__(self, key):
        return "unused"


shelf = Shelf("a", "b", "c")
print(len(shelf), shelf[0], shelf[-1], shelf[0:2], "a" in shelf, "z" not in shelf, list(shelf), list(reversed(shelf)), [*shelf], shelf(1, k=2), str(shelf), repr(shelf), f"{shelf} {shelf!r}", bool(shelf), bool(Shelf()), sorted(shelf, reverse=True), dict(enumerate(shelf)), max(shelf))
shelf[1] = "B"
shelf[0] += "!"
del shelf[-1]
print(shelf.items)
x, y = shelf
print(x, y)


class Sequence:
    """Iterated by index, for want of __iter__."""

    def __init__(self, size):
        self.size = size

    def __getitem__(self, index):
        if index >= self.size:
            raise IndexError(index)
        return index * index


print(list(Sequence(5)), 9 in Sequence(5), 10 in Sequence(5), [value for value in Sequence(3)], max(Sequence(4)), tuple(zip(Sequence(2), "ab")), sum(Sequence(4)))


class Countdown:
    def __init__(self, start):
        self.current = start

    def __iter__(self):
        return self

    def __next__(self):
        if self.current <= 0:
            raise StopIteration
        self.current -= 1
        return self.current + 1


count = Countdown(5)
print(next(count), list(count), list(count), next(count, "empty"), 2 in Countdown(3), sum(Countdown(4)), [a + b for a in Countdown(2) for b in Countdown(2)])


class Mapping(dict):
    def __missing__(self, key):
        return f"<{key}>"

    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2)


mapping = Mapping(a=1)
mapping["b"] = 5
print(mapping, mapping["a"], mapping["zz"], mapping.get("zz"), "zz" in mapping, len(mapping), isinstance(mapping, dict), {**mapping}, "{a} {q}".format_map(mapping))


class Stack(list):
    def push(self, item):
        self.append(item)
        return self

    def __repr__(self):
        return "Stack" + super().__repr__()


class Loud(str):
    def __new__(cls, value):
        return super().__new__(cls, value.upper())

    def shout(self):
        return self + "!"


class Pair(tuple):
    def __new__(cls, left, right):
        return super().__new__(cls, (left, right))

    @property
    def left(self):
        return self[0]


stack = Stack([1, 2]).push(3)
print(stack, len(stack), stack[0], stack + [4], isinstance(stack, list), sorted(stack), stack == [1, 2, 3], Loud("abc"), Loud("abc").shout(), type(Loud("a") + "b").__name__, Loud("x") == "X", {"X": 1}[Loud("x")], Pair(1, 2), Pair(1, 2).left, Pair(1, 2) == (1, 2), len(Pair(3, 4)))


class Mapped:
    def keys(self):
        return ["k1", "k2"]

    def __getitem__(self, key):
        return key + "!"


print(dict(Mapped()), {**Mapped()}, (lambda **named: named)(**Mapped()))


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


def broken(**methods):
    return type("Broken", (), methods)()


attempt(lambda: len(broken(__len__=lambda self: -1)))
attempt(lambda: len(broken(__len__=lambda self: "x")))
attempt(lambda: iter(broken(__iter__=lambda self: 5)))
attempt(lambda: next(broken()))
attempt(lambda: str(broken(__str__=lambda self: 5)))
attempt(lambda: repr(broken(__repr__=lambda self: None)))
attempt(lambda: broken(__index__=lambda self: "x").__index__())
attempt(lambda: [1][broken(__index__=lambda self: "x")])
attempt(lambda: bool(broken(__bool__=lambda self: 1)))
attempt(lambda: f"{broken(__format__=lambda self, spec: 5)}")
attempt(lambda: list(broken(__getitem__=lambda self, i: 1 / (2 - i))))
attempt(lambda: type(broken(), (), {}))
attempt(lambda: bytes(broken(__bytes__=lambda self: b"ok")))
attempt(lambda: int(broken(__int__=lambda self: "no")))
attempt(lambda: [1, 2, 3][broken(__index__=lambda self: 1):])
