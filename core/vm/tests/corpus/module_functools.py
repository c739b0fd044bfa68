"""functools: partial, reduce, wraps, caches, total_ordering, singledispatch, cached_property."""
import functools
from functools import cache, cached_property, cmp_to_key, lru_cache, partial, partialmethod, reduce, singledispatch, singledispatchmethod, total_ordering, wraps


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


def show(*arguments, **named):
    return arguments, named


p = partial(show, 1, key="k")
q = partial(p, 2, other="o")
print(p(), p(2, key="new"), q(3), q.args, q.keywords, p.func is show, partial(int, base=2)("101"), list(map(partial(pow, 2), range(5))))
attempt(partial)
attempt(partial, 5)
print(reduce(lambda a, b: a + b, [1, 2, 3]), reduce(lambda a, b: a * b, range(1, 6), 10), reduce(max, [3, 9, 2]), reduce(lambda a, b: b, [], "empty"), reduce(lambda a, b: f"({a}{b})", "abcd"))
attempt(reduce, lambda a, b: a, [])
attempt(reduce, lambda a: a, [1, 2])
calls = []


@lru_cache(maxsize=2)
def slow(x, y=0):
    calls.append((x, y))
    return x * 10 + y


print(slow(1), slow(1), slow(2), slow(3), slow(1), slow(1, y=1), calls, slow.cache_info(), slow.__name__)
slow.cache_clear()
print(slow.cache_info(), slow(1), slow.__wrapped__(5), slow.cache_parameters())
attempt(slow, [])


@cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@lru_cache
def bare(x):
    return x + 1


print(fib(90), fib.cache_info(), bare(1), bare(1.0), bare.cache_info().hits)


def decorate(function):
    @wraps(function)
    def wrapper(*arguments):
        """Wrapper."""
        return "wrapped", function(*arguments)
    return wrapper


@decorate
def documented(x: int) -> int:
    """Documented."""
    return x


print(documented(5), documented.__name__, documented.__doc__, documented.__wrapped__(6), documented.__annotations__, functools.WRAPPER_ASSIGNMENTS)


@total_ordering
class Weight:
    def __init__(self, grams):
        self.grams = grams

    def __eq__(self, other):
        return self.grams == other.grams

    def __lt__(self, other):
        return self.grams < other.grams


print(Weight(1) <= Weight(1), Weight(2) > Weight(1), Weight(2) >= Weight(3), sorted([Weight(3), Weight(1)])[0].grams, max(Weight(1), Weight(5)).grams)
attempt(total_ordering, type("Nothing", (), {}))
print(sorted([5, 2, 9], key=cmp_to_key(lambda a, b: b - a)), max("ab", "b", key=cmp_to_key(lambda a, b: len(a) - len(b))), cmp_to_key(lambda a, b: 0)(1) == cmp_to_key(lambda a, b: 0)(2) if False else "")


@singledispatch
def describe(value):
    return "something"


@describe.register
def _(value: int):
    return f"int {value}"


@describe.register(str)
@describe.register(bytes)
def _(value):
    return f"text {value!r}"


@describe.register(list)
def describe_list(value):
    return [describe(item) for item in value]


print(describe(5), describe("x"), describe(b"y"), describe([1, "a", 2.5, True]), describe(None), describe.dispatch(bool)(7), sorted(kind.__name__ for kind in describe.registry))


class Formatter:
    def __init__(self):
        self.computed = 0

    @singledispatchmethod
    def format(self, value):
        return "default"

    @format.register
    def _(self, value: int):
        return f"number {value}"

    @cached_property
    def expensive(self):
        self.computed += 1
        return self.computed * 100

    def power(self, base, exponent):
        return base**exponent

    square = partialmethod(power, exponent=2)


f = Formatter()
print(f.format(5), f.format("x"), f.expensive, f.expensive, f.computed, f.square(7))
del f.expensive
print(f.expensive, "expensive" in f.__dict__)
f.expensive = "assigned"
print(f.expensive)
