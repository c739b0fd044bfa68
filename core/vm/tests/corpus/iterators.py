"""Iterators: iter, next, sentinels, zip, map, filter, enumerate, reversed, and exhausted ones."""


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


for iterable in ([1, 2], (1, 2), "ab", b"ab", {"a": 1}, range(2), {5}, {"k": 1}.items(), enumerate("x"), zip("a", "b"), map(str, [1]), filter(None, [0, 1]), reversed([1, 2]), iter([]), (v for v in "g"), bytearray(b"z"), {"k": 1}.values(), frozenset([1]), reversed({"q": 1})):
    iterator = iter(iterable)
    print(type(iterator).__name__, iter(iterator) is iterator, next(iterator, "empty"), list(iterator), next(iterator, "done"))
attempt(next, iter([]))
attempt(next, 5)
attempt(next, [])
attempt(iter, 5)
attempt(iter, 5, 5)
attempt(next)
values = iter([3, 2, 1, 0, 9])
print(list(iter(lambda: next(values), 0)), list(values), list(iter([1, 2, 3].pop, 1)))
print(list(zip()), list(zip("abc")), list(zip("abc", range(2))), list(zip("ab", [1, 2], (3, 4))), list(zip([1], [2], strict=True)), dict(zip("ab", range(9))), list(zip(*[(1, "a"), (2, "b")])))
attempt(lambda: list(zip("ab", "abc", strict=True)))
attempt(lambda: list(zip("abc", "ab", strict=True)))
attempt(lambda: list(zip("ab", "ab", "a", strict=True)))
attempt(zip, 5)
attempt(zip, "a", 5)
source = iter(range(5))
print(list(zip(source, "ab")), list(source), list(zip(*[iter("abcdef")] * 2)))
print(list(map(len, ["a", "bb"])), list(map(lambda a, b: a + b, [1, 2, 3], [10, 20])), list(map(str.upper, "ab")), list(map(int, "123")), list(map(str, [])), list(map(pow, [2, 3], [3, 2])))
print(list(filter(None, [0, 1, "", "a", [], None])), list(filter(lambda v: v > 1, range(4))), list(filter(str.isdigit, "a1b2")))
print(list(enumerate("ab")), list(enumerate("ab", 5)), list(enumerate("ab", start=-1)), dict(enumerate([])), next(enumerate("z", 10**20)))
print(list(reversed([1, 2, 3])), list(reversed("abc")), list(reversed(range(0, 7, 2))), list(reversed((1,))), list(reversed({"a": 1, "b": 2})), "".join(reversed("hello")), list(reversed({"a": 1}.items())))
attempt(reversed, {1})
attempt(reversed, iter([]))
attempt(enumerate, 5)
attempt(map, len)
attempt(filter, None)
attempt(filter, None, 5)
attempt(lambda: list(map(lambda: 0, [1])))
attempt(lambda: list(map(5, [1])))


class Numbers:
    """An iterable whose every iteration is its own."""

    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        print("iter", end=" ")
        return iter(self.values)


class Once:
    def __init__(self):
        self.left = 3

    def __iter__(self):
        return self

    def __next__(self):
        self.left -= 1
        if self.left < 0:
            raise StopIteration("over")
        return self.left


numbers = Numbers(3, 1, 2)
print(list(numbers), sorted(numbers), max(numbers), sum(numbers), tuple(numbers), 2 in numbers, [*numbers], dict(zip(numbers, "abc")), list(map(str, numbers)), list(enumerate(numbers)), "-".join(str(n) for n in numbers), any(numbers), all(numbers))
a, b, c = numbers
first, *rest = numbers
print(a, b, c, first, rest, [(x, y) for x in numbers for y in numbers if x < y])
once = Once()
print(2 in once, list(once), list(once))
attempt(next, once)
for value in Once():
    if value == 1:
        break
else:
    print("never")
shared = iter("abcdef")
print([(left, next(shared)) for left in shared], next(shared, None))
for x in (it := iter([1, 2, 3])):
    print(x, next(it, "-"), end=";")
print()
work = [1, 2, 3, 4]
for item in work:
    if item % 2:
        work.remove(item)
print(work, [w for w in iter(work)], sum(iter([1, 2])), list(iter(iter([1]))))


class BadNext:
    def __iter__(self):
        return self

    def __next__(self):
        raise ValueError("broken next")


class Stopped:
    def __getitem__(self, index):
        if index > 2:
            raise StopIteration
        return index


attempt(lambda: [v for v in BadNext()])
attempt(lambda: list(Stopped()))
attempt(lambda: max(BadNext(), default=1))
attempt(lambda: [*BadNext()])
attempt(sum, BadNext())
growing = iter(work)
print(next(growing), work.append(99), list(growing), work)
