"""StopIteration and other exceptions through builtin iterators, and GeneratorExit through `yield from`."""
import itertools


def attempt(call):
    try:
        return call()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def odd_stops(x):
    if x % 2:
        raise StopIteration
    return x


def one_fails(x):
    return 10 // x


# A function that raises StopIteration ends the iteration; any other exception leaves the iterator where it is.
for make in (lambda: map(odd_stops, [0, 1, 2, 3, 4]), lambda: filter(odd_stops, [2, 1, 4, 3, 6]), lambda: map(one_fails, [5, 0, 2])):
    steps = make()
    print([attempt(lambda: list(steps)) for _ in range(4)])
for make in (itertools.takewhile, itertools.dropwhile, itertools.filterfalse):
    print(attempt(lambda: list(make(odd_stops, [0, 1, 2]))))
print(attempt(lambda: list(itertools.starmap(odd_stops, [(0,), (1,), (2,)]))))
print(attempt(lambda: list(itertools.accumulate([0, 1, 2], lambda a, b: odd_stops(b)))))
numbers = map(int, ["x", "2", "y", "3"])
print([attempt(lambda: next(numbers)) for _ in range(5)])
print(sum(map(odd_stops, [2, 4, 5, 6])), list(map(lambda x: next(iter([])), [1, 2])), dict(map(odd_stops, [1])))


def own():
    yield odd_stops(1)


print(attempt(lambda: list(own())))

# An unpacking takes one item more than it has targets.
items = iter(range(6))
print(attempt(lambda: [0 for a, b in [items]]), list(items))
items = iter([1, 2])
print(attempt(lambda: [0 for a, b in [items]]), list(items))


def close_of(inner):
    def outer():
        try:
            yield from inner
        except GeneratorExit:
            print("outer left")
            raise
        finally:
            print("outer done")

    return outer()


def swallows():
    try:
        yield 1
    except GeneratorExit:
        print("inner left")


def insists():
    try:
        yield 1
    except GeneratorExit:
        yield 2


class Iterator:
    def __init__(self, closes):
        if closes:
            self.close = lambda: print("closed")

    def __iter__(self):
        return self

    def __next__(self):
        return 1

    def throw(self, *thrown):
        print("thrown", [each if isinstance(each, (int, str, type)) else repr(each) for each in thrown])
        return 5


for make in (swallows, insists, lambda: Iterator(True), lambda: Iterator(False), lambda: iter([1, 2])):
    for leave in (lambda g: g.close(), lambda g: g.throw(GeneratorExit), lambda g: g.throw(GeneratorExit("x"))):
        steps = close_of(make())
        next(steps)
        print(attempt(lambda: leave(steps)))
for thrown in (5, ValueError, ValueError("v"), "text", None):
    steps = close_of(Iterator(True))
    next(steps)
    print(attempt(lambda: steps.throw(thrown)))
    steps = close_of(iter([1, 2]))
    next(steps)
    print(attempt(lambda: steps.throw(thrown)))
steps.close()
