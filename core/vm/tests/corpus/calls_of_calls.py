# `__call__` of a method is the method's own, however often it is asked for: no argument gets lost on the way.
def shown(function, *arguments, **named):
    try:
        print(function(*arguments, **named))
    except Exception as error:
        print(type(error).__name__, error)


def plain(*arguments, **named):
    return arguments, named


class Callable:
    def __init__(self, *arguments):
        self.arguments = arguments

    def __call__(self, *arguments):
        return self.arguments, arguments

    def method(self, *arguments):
        return arguments

    @classmethod
    def of_class(cls, *arguments):
        return cls.__name__, arguments

    @staticmethod
    def of_none(*arguments):
        return arguments


numbers = []
numbers.append.__call__(1)
numbers.append.__call__.__call__(2)
numbers.append.__call__.__call__.__call__(3)
print(numbers, list(map(numbers.append.__call__.__call__, [4, 5])), numbers)
held = Callable(0)
for function in (plain, held, held.method, held.of_class, held.of_none, Callable.of_class, Callable.of_none, len, "-".join, int, str.upper, [3, 1].index):
    for _ in range(4):
        shown(function, "abc")
        shown(function)
        shown(function, "abc", x=1) if function in (plain, held) else None
        function = function.__call__
shown(Callable.__call__, held, 1)
shown(Callable.__call__.__call__, held, 2)
print(held.method.__func__ is Callable.method, held.method.__self__ is held)
print(held.method.__name__, held.method.__doc__, held.method.__get__(held, Callable)(1))
