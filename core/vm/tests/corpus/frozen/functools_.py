# Every use of `functools`, compared with CPython's own module.
import functools
from functools import cache, cached_property, cmp_to_key, lru_cache, partial, partialmethod, reduce, singledispatch, singledispatchmethod, total_ordering, wraps


def attempt(action):
    try:
        print(action())
    except Exception as problem:
        print(type(problem).__name__, problem)


print(reduce(lambda a, b: a + b, [1, 2, 3]), reduce(lambda a, b: a * b, [], 7), reduce(max, iter([3, 9, 2])), reduce(lambda a, b: a, [5]))
attempt(lambda: reduce(max, []))


def power(base, exponent, *, offset=0):
    """Raises."""
    return base**exponent + offset


square = partial(power, exponent=2)
two_to = partial(power, 2)
print(square(5), two_to(10), two_to(3, offset=1), partial(two_to, 4)(), square(3, offset=1), partial(square, offset=100)(2))
print(two_to.args, square.keywords, partial(two_to, 4).args, square.func is power)
attempt(lambda: partial(5))
print(repr(partial(int, base=2)), partial(int, base=2)("101"))


def logged(function):
    @wraps(function)
    def inner(*args, **kwargs):
        """inner"""
        print("calling", function.__name__)
        return function(*args, **kwargs)

    return inner


@logged
def hello(name):
    """Says hello."""
    return f"hello {name}"


hello.tag = 5
print(hello("you"), hello.__name__, hello.__doc__, hello.__wrapped__("me"), hello.__qualname__, hello.tag)

calls = []


@lru_cache(maxsize=2)
def double(x):
    calls.append(x)
    return x * 2


print([double(x) for x in [1, 2, 1, 3, 2, 1]], calls, double.cache_info(), double.cache_parameters())
double.cache_clear()
print(double.cache_info(), double.__name__, double.__wrapped__(4))


@lru_cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(fib(90), fib.cache_info())


@cache
def typed_like(x):
    calls.append(x)
    return str(x)


calls.clear()
print(typed_like(1), typed_like(1.0), typed_like(True), typed_like("1"), calls, typed_like.cache_info())


@lru_cache(maxsize=None, typed=True)
def typed(x, y=0):
    calls.append((x, y))
    return x


calls.clear()
print(typed(1), typed(1.0), typed(1, y=0), typed(x=1), typed(1), len(calls), typed.cache_info().hits)


@lru_cache(maxsize=0)
def never(x):
    return x


print(never(1), never(1), never.cache_info())
attempt(lambda: lru_cache(maxsize="x"))
attempt(lambda: double([1]))


class Data:
    def __init__(self, values):
        self.values = values

    @cached_property
    def total(self):
        """The sum."""
        print("summing")
        return sum(self.values)

    @lru_cache(maxsize=4)
    def plus(self, n):
        return sum(self.values) + n

    add = partialmethod(plus, 10)


d = Data([1, 2, 3])
print(d.total, d.total, d.__dict__["total"], d.plus(1), d.plus(1), Data.total.__doc__)
del d.total
d.values.append(4)
print(d.total)
d.total = 99
print(d.total)


class Cell:
    def __init__(self, alive=False):
        self.alive = alive

    def set(self, state):
        self.alive = state

    on = partialmethod(set, True)


c = Cell()
c.on()
print(c.alive)


@total_ordering
class Name:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        if not isinstance(other, Name):
            return NotImplemented
        return self.n < other.n


print(Name(1) < Name(2), Name(1) <= Name(1), Name(2) > Name(1), Name(2) >= Name(3), max(Name(1), Name(5)).n)
attempt(lambda: Name(1) <= 5)


@total_ordering
class Down:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __ge__(self, other):
        return self.n >= other.n


print(Down(1) < Down(2), Down(1) <= Down(1), Down(2) > Down(1))


def no_order():
    @total_ordering
    class Bad:
        pass


attempt(no_order)
print(sorted(["bb", "a", "ccc"], key=cmp_to_key(lambda a, b: len(b) - len(a))), sorted([3, 1, 2], key=cmp_to_key(lambda a, b: a - b)))


@singledispatch
def show(x):
    return f"object {x}"


@show.register
def _(x: int):
    return f"int {x}"


@show.register(list)
def show_list(x):
    return f"list of {len(x)}"


@show.register(float)
@show.register(tuple)
def _(x):
    return "number"


print(show(5), show([1]), show("s"), show(True), show(1.5), show(None), show.dispatch(bool)(3), show_list([1, 2]), sorted([k.__name__ for k in show.registry]))
attempt(lambda: show())
attempt(lambda: show.register(5))


class Animal:
    pass


class Dog(Animal):
    pass


@show.register
def _(x: Animal):
    return "animal"


print(show(Dog()))


class Formatter:
    @singledispatchmethod
    def format(self, x):
        return f"? {x}"

    @format.register
    def _(self, x: int):
        return f"i {x}"

    @format.register(str)
    def _(self, x):
        return f"s {x}"


print(Formatter().format(5), Formatter().format("x"), Formatter().format(1.5))
print(functools.WRAPPER_ASSIGNMENTS)
