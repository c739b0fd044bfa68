# Builtin functions that take every item of a generator: what runs in which order, and what happens when something raises.


def numbers(count, name="numbers"):
    try:
        for number in range(count):
            print(name, number)
            yield number
    finally:
        print(name, "ends")


def show(work):
    try:
        print(work())
    except Exception as error:
        print(type(error).__name__, error)


print(list(numbers(3)), tuple(numbers(2)), set(numbers(3)), frozenset(numbers(2)))
print("-".join(str(number) for number in range(5)), tuple(x * x for x in ()), set(x for x in []))
items = [7]
items.extend(numbers(2))
print(items)

# What is yielded may be a container, and several generators may be taken inside one another.
print(list([number] for number in range(3)), tuple((x, [x]) for x in tuple(y + 1 for y in numbers(2, "inner"))))
print([tuple(row[i] for row in ([1, 2], [3, 4])) for i in range(2)])
print(set(tuple(sorted(pair)) for pair in ((1, 2), (2, 1), (3, 1))))


# An item without a hash ends it at once: the generator rests where it was.
def mixed():
    yield 1
    print("before the list")
    yield [2]
    print("never")


resting = mixed()
show(lambda: set(resting))
print(next(resting, "ended"))
show(lambda: frozenset(mixed()))


class Key:
    def __init__(self, number):
        self.number = number

    def __hash__(self):
        print("hash", self.number)
        return hash(self.number % 2)

    def __eq__(self, other):
        return self.number % 2 == other.number % 2

    def __repr__(self):
        return f"Key({self.number})"


def keys():
    yield 5
    for number in range(3):
        print("key", number)
        yield Key(number)


print(len(set(keys())), len(frozenset(keys())))


# Exceptions leave through what asked.
def failing():
    yield 1
    raise KeyError("inside")


def stopping():
    yield 1
    raise StopIteration(2)


for taker in (list, tuple, set, frozenset, "".join, [].extend):
    show(lambda: taker(failing()))
    show(lambda: taker(stopping()))
show(lambda: ",".join(x for x in ("a", 1, "b")))


class Noted(list):
    def __init__(self, *arguments):
        print("init", len(arguments))
        super().__init__(*arguments)


print(Noted(numbers(2)), Noted(x for x in "ab"))


class Pair(tuple):
    def __new__(cls, source):
        return super().__new__(cls, source)


print(Pair(x + 1 for x in range(2)), type(Pair(iter(()))).__name__)


# A generator that asks for itself, one that is over, one that has begun, and one that is closed.
def selfish():
    yield 1
    try:
        list(me)
    except ValueError as error:
        print(error)
    yield 2


me = selfish()
print(list(me), list(me))
begun = numbers(3, "begun")
print(next(begun), list(begun), tuple(begun))
closed = numbers(2, "closed")
next(closed)
closed.close()
print(set(closed))


def delegating():
    got = yield from numbers(2, "delegate")
    print("got", got)
    yield from [8, 9]
    return 5


print(list(delegating()), tuple(delegating()))


def sent():
    print((yield 1), (yield 2))


print(list(sent()))


def swallowing():
    for number in range(3):
        try:
            yield number
        except ValueError:
            print("not thrown")


print(tuple(swallowing()))


def deep(level):
    return tuple(deep(level - 1) for _ in range(1)) if level else ()


print(deep(6))


def bottomless():
    return list(bottomless() for _ in range(1))


show(bottomless)
