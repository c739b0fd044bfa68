"""Closures, nonlocal, global, and which name a scope means."""

counter = 0


def make_counter(start=0):
    count = start

    def increment(step=1):
        nonlocal count
        count += step
        return count

    def read():
        return count

    return increment, read


first, read_first = make_counter()
second, read_second = make_counter(100)
print(first(), first(5), second(), read_first(), read_second(), first(-1), read_first())


def bump():
    global counter, created
    counter += 1
    created = counter * 10
    return counter


print(bump(), bump(), counter, created)
late = [lambda: number for number in range(3)]
bound = [lambda number=number: number for number in range(3)]
print([function() for function in late], [function() for function in bound])


def loops():
    functions = []
    for number in range(3):
        def inner():
            return number
        functions.append(inner)
    number = 50
    return [function() for function in functions]


print(loops())


def levels():
    value = "outer"

    def middle():
        def inner():
            nonlocal value
            value = value + "+inner"
            return value
        return inner() + "|" + value

    return middle(), value


print(levels())


def shadow(counter):
    counter += 1

    def local():
        counter = "local"
        return counter

    return counter, local(), counter


print(shadow(5), counter)
x = "global"


def unbound():
    try:
        print(x)
    except UnboundLocalError as error:
        print(type(error).__name__, error)
    x = "local"
    return x


def unbound_cell():
    def inner():
        return later
    try:
        inner()
    except NameError as error:
        print(type(error).__name__, error)
    later = "now"
    return inner()


def deleted():
    value = 1
    del value
    try:
        return value
    except UnboundLocalError as error:
        return str(error)


print(unbound(), unbound_cell(), deleted(), x)
try:
    print(undefined)
except NameError as error:
    print(error)
try:
    del undefined
except NameError as error:
    print(error)


class Scope:
    x = "class"
    inherited = x + "!"
    listed = [x for _ in range(1)]

    def method(self):
        return x

    def own(self):
        return self.x, Scope.x


print(Scope.inherited, Scope.listed, Scope().method(), Scope().own())


def compose(*functions):
    def composed(value):
        for function in reversed(functions):
            value = function(value)
        return value
    return composed


def curry(function, *early):
    return lambda *late: function(*early, *late)


def memoize(function):
    known = {}

    def wrapped(*arguments):
        if arguments not in known:
            known[arguments] = function(*arguments)
        return known[arguments]

    wrapped.known = known
    return wrapped


@memoize
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


print(compose(str, lambda v: v + 1, int)("41"), curry(pow, 2)(10), curry(max, 1, 2)(0, 7), fibonacci(80), len(fibonacci.known))


def factorial(n):
    def step(n, total):
        return total if n == 0 else step(n - 1, total * n)
    return step(n, 1)


print(factorial(20), [function(2) for function in [lambda v, p=p: v**p for p in range(4)]])


def accumulator():
    state = {"sum": 0, "items": []}

    def add(value):
        state["sum"] += value
        state["items"].append(value)
        return dict(state)

    return add


add = accumulator()
add(1)
print(add(2), (lambda: [y for y in (lambda z: [z, x])("z")])(), [x for x in "comprehension"][-1], x)
