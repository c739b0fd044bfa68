"""Generators: send, throw, close, return values, yield from, delegation, laziness."""


def count(limit):
    print("begin")
    for number in range(limit):
        yield number
    print("end")
    return "returned"


gen = count(2)
print(next(gen), next(gen))
try:
    next(gen)
except StopIteration as stop:
    print("stopped", stop.value, stop.args)
print(next(gen, "default"), list(gen), type(gen).__name__, iter(gen) is gen)


def echo():
    received = None
    while True:
        try:
            received = yield received
            print("got", received)
        except ValueError as error:
            print("caught", error)
            received = "recovered"
        finally:
            print("step")


e = echo()
print(e.send(None), e.send(1), e.send("two"), e.throw(ValueError("thrown")), e.throw(ValueError), next(e))
try:
    e.throw(KeyError("out"))
except KeyError as error:
    print("through", error)
print(list(e))


def attempt(function, *arguments):
    try:
        print(repr(function(*arguments)))
    except BaseException as error:
        print(type(error).__name__, error)


attempt(echo().send, 5)
attempt(echo().throw, ValueError("early"))
attempt(next, echo(), "x")


def cleanup(tag, swallow=False):
    try:
        yield 1
        yield 2
    except GeneratorExit:
        print(tag, "exit")
        if swallow:
            yield "refused"
        raise
    finally:
        print(tag, "finally")


c = cleanup("a")
next(c)
attempt(c.close)
attempt(c.close)
attempt(next, c)
c = cleanup("b", True)
next(c)
attempt(c.close)
unstarted = cleanup("c")
unstarted.close()
attempt(next, unstarted)


def inner():
    try:
        received = yield "inner 1"
        print("inner got", received)
        yield "inner 2"
    except ValueError as error:
        print("inner caught", error)
        yield "inner 3"
    return "inner result"


def outer():
    result = yield from inner()
    print("outer got", result)
    more = yield from [10, 20]
    print("more", more)
    yield from count(1)
    yield "last"
    return result


o = outer()
print(next(o), o.send("hello"), o.throw(ValueError("v")), [*o])
o = outer()
next(o)
attempt(o.close)
attempt(lambda: list(x for x in outer() if x == "none"))


def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def take(n, iterable):
    for _, value in zip(range(n), iterable):
        yield value


def flatten(value):
    if isinstance(value, list):
        for item in value:
            yield from flatten(item)
    else:
        yield value


def average():
    total = number = 0
    mean = None
    while True:
        value = yield mean
        if value is None:
            return total, number
        total += value
        number += 1
        mean = total / number


print(list(take(12, fibonacci())), list(flatten([1, [2, [3, [4, []]], 5]])))
a = average()
next(a)
print(a.send(10), a.send(20), a.send(0))
attempt(a.send, None)


def permutations(items):
    if len(items) < 2:
        yield tuple(items)
    for index, item in enumerate(items):
        if len(items) > 1:
            for rest in permutations(items[:index] + items[index + 1:]):
                yield (item,) + rest


def bad_stop():
    yield 1
    raise StopIteration("inside")


def expression_yields():
    x = (yield 1) + (yield 2)
    y = yield
    return x, y


print(list(permutations("abc")))
attempt(list, bad_stop())
y = expression_yields()
print(next(y), y.send(10), y.send(20))
attempt(y.send, "end")


def running():
    yield next(again)


again = running()
attempt(next, again)


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


print(list(Tree(4, Tree(2, Tree(1), Tree(3)), Tree(6, Tree(5)))), sum(Tree(1, Tree(2))), sorted(Tree(5, Tree(9))), dict(zip("ab", Tree(1, None, Tree(2)))))


def produce(log):
    with_return = yield from (log.append(i) or i for i in range(2))
    log.append(with_return)


log = []
print(list(produce(log)), log, (lambda: (yield 5))().send(None), any(v > 3 for v in fibonacci()), next(v for v in fibonacci() if v > 100))
gens = [(lambda k: (k * v for v in range(3)))(k) for k in range(3)]
print([list(g) for g in gens], {k: v for k, v in zip("xyz", fibonacci())}, [(a, b) for a, b in zip(count(1), count(1))])
