"""Decorators: on functions, methods and classes; with arguments; stacked; as classes."""
import functools


def announce(function):
    @functools.wraps(function)
    def wrapper(*arguments, **named):
        print("calling", function.__name__, arguments, named)
        result = function(*arguments, **named)
        print("result", result)
        return result
    return wrapper


def repeat(times):
    def decorate(function):
        def wrapper(*arguments):
            return [function(*arguments) for _ in range(times)]
        return wrapper
    return decorate


@announce
def add(a, b=1):
    """Adds."""
    return a + b


@repeat(3)
@announce
def hello(name):
    return "hello " + name


print(add(1), add(2, b=3), add.__name__, add.__doc__, hello("x"))


class CountCalls:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments), self.calls


@CountCalls
def double(x):
    return x * 2


print(double(2), double(3), double.calls, double.__name__, double.__wrapped__(9))
registry = {}


def register(name=None):
    def decorate(target):
        registry[name or target.__name__] = target
        return target
    return decorate


@register()
def first():
    return 1


@register("second")
class Thing:
    value = 2


print(sorted(registry), registry["first"](), registry["second"].value)


def add_methods(cls):
    cls.extra = lambda self: "extra " + self.name
    cls.count = getattr(cls, "count", 0) + 1
    return cls


@add_methods
@add_methods
class Named:
    def __init__(self, name):
        self.name = name

    @staticmethod
    def static(x):
        return "static", x

    @classmethod
    def build(cls, name):
        return cls(name + "!")

    @property
    def shout(self):
        return self.name.upper()

    @announce
    def method(self, x):
        return x

    def __repr__(self):
        return f"Named({self.name})"


n = Named.build("n")
print(n.extra(), Named.count, n.static(1), Named.static(2), n.shout, n.method(5))


def order(tag):
    print("evaluate", tag)

    def decorate(function):
        print("apply", tag)
        return function
    return decorate


@order("outer")
@order("inner")
def ordered(value=print("default")):
    pass


decorators = [announce, repeat(2)]


@decorators[1]
def from_list():
    return "list"


@lambda function: function()
def computed():
    return "replaced by its result"


def method_guard(role):
    def decorate(method):
        @functools.wraps(method)
        def wrapper(self, *arguments):
            if self.role != role:
                raise PermissionError(f"{method.__name__} needs {role}, not {self.role}")
            return method(self, *arguments)
        return wrapper
    return decorate


class Account:
    def __init__(self, role):
        self.role = role

    @method_guard("owner")
    def withdraw(self, amount):
        return f"withdrew {amount}"


print(from_list(), computed, Account("owner").withdraw(5))
try:
    Account("guest").withdraw(5)
except PermissionError as error:
    print(error)
