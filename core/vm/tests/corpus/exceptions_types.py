"""The types and words of common errors; the hierarchy; custom exceptions; arguments and notes."""
import json
import math


def attempt(function, *arguments):
    try:
        print("value", function(*arguments))
    except Exception as error:
        print(type(error).__name__, "|", error, "|", error.args)


class Thing:
    def method(self):
        pass


thing, text, number, mapping, items = Thing(), "text", 5, {"a": 1}, [1, 2]
for failing in (lambda: number / 0, lambda: number % 0, lambda: 1.5 // 0, lambda: items[9], lambda: items["x"], lambda: mapping["zz"], lambda: mapping[[]], lambda: missing_name, lambda: thing.missing, lambda: text.missing, lambda: number.missing,
                lambda: None.missing, lambda: Thing.missing, lambda: text + number, lambda: number + text, lambda: text - text, lambda: items + mapping, lambda: None + 1, lambda: text * 1.5, lambda: -text, lambda: text < number, lambda: None < None,
                lambda: mapping < mapping, lambda: thing < thing, lambda: number(), lambda: thing(), lambda: text(), lambda: len(number), lambda: iter(number), lambda: [*number], lambda: next(items), lambda: number[0], lambda: thing[0], lambda: None[0],
                lambda: 1 in number, lambda: int("x"), lambda: int("1.5"), lambda: float("x"), lambda: int(None), lambda: int([]), lambda: chr(-1), lambda: ord("ab"), lambda: "%d" % "x", lambda: "{}".format(), lambda: "a".join([1]), lambda: "abc".index("z"),
                lambda: b"a" + "a", lambda: "a" + b"a", lambda: bytes([256]), lambda: [].pop(), lambda: {}.popitem(), lambda: set().pop(), lambda: [1].remove(2), lambda: (1,).index(2), lambda: {1}.remove(2), lambda: max([]), lambda: min(()), lambda: sum(["a"]),
                lambda: sum("ab"), lambda: sorted([1, "a"]), lambda: range(1, 2, 0), lambda: list(zip([1], [1, 2], strict=True)), lambda: dict([1]), lambda: dict([(1, 2, 3)]), lambda: math.sqrt(-1), lambda: math.log(0),
                lambda: math.factorial(-1), lambda: json.loads("{"), lambda: json.dumps(thing), lambda: isinstance(1, 1), lambda: issubclass(1, int), lambda: getattr(thing, 5), lambda: abs("x"), lambda: round("x"), lambda: pow("a", 2), lambda: divmod(1, "a"),
                lambda: hash([]), lambda: hash({}), lambda: {[]: 1}, lambda: {{}}, lambda: reversed(5), lambda: reversed({1}), lambda: enumerate(5), lambda: map(5), lambda: list(map(5, [1])), lambda: filter(1), lambda: int("1", 99), lambda: "x".encode("ascii", "zzz") and "é".encode("ascii", "zzz"),
                lambda: object.missing, lambda: type.missing, lambda: len.missing, lambda: (lambda: 0).missing, lambda: thing.method.missing, lambda: math.missing, lambda: ().missing, lambda: NotImplemented + 1, lambda: ... + 1, lambda: print + 1, lambda: Thing + 1, lambda: (x for x in [1]) + 1,
                lambda: int.from_bytes("x", "big"), lambda: bytes("x"), lambda: str(b"x", "zz"), lambda: "".startswith(1), lambda: number.real.bad):
    try:
        failing()
    except Exception as error:
        print(type(error).__name__, "|", error)
for kind in (ArithmeticError, AssertionError, AttributeError, EOFError, ImportError, IndexError, KeyError, LookupError, MemoryError, NameError, NotImplementedError, OSError, OverflowError, RecursionError, RuntimeError, StopIteration, StopAsyncIteration, SyntaxError, IndentationError, SystemError,
             TypeError, UnboundLocalError, UnicodeError, UnicodeDecodeError, ValueError, ZeroDivisionError, FloatingPointError, ModuleNotFoundError, PermissionError, FileNotFoundError, TimeoutError, ConnectionError, Warning, UserWarning, DeprecationWarning, KeyboardInterrupt, GeneratorExit, Exception, BaseException, ExceptionGroup, BaseExceptionGroup, BufferError):
    print(kind.__name__, [base.__name__ for base in kind.__mro__])


class Problem(Exception):
    """A custom one."""


class Coded(Problem):
    def __init__(self, code, detail="none"):
        super().__init__(code, detail)
        self.code, self.detail = code, detail

    def __str__(self):
        return f"[{self.code}] {self.detail}"


class Silent(Exception):
    def __init__(self, x):
        self.x = x


for error in (Problem(), Problem("one"), Problem("one", 2), Coded(5), Coded(6, "d"), Silent(3), KeyError("k"), KeyError(), KeyError(1, 2), ValueError([1]), Exception(None), StopIteration(5), ValueError("é\n"), AssertionError(), OSError(2, "no file"), NameError("n"), RuntimeError(Problem("in"))):
    print(str(error), "|", repr(error), "|", error.args, isinstance(error, Problem), isinstance(error, Exception))
    try:
        raise error
    except Problem as caught:
        print("problem", caught is error, getattr(caught, "code", None))
    except LookupError as caught:
        print("lookup", caught)
    except Exception as caught:
        print("other", type(caught).__name__, caught)
noted = ValueError("base")
noted.add_note("a note")
noted.add_note("another")
print(noted.__notes__, StopIteration(7).value, KeyError("q").args[0], ValueError("a", "b").args, Coded(1).with_traceback(None).code, ValueError("x") == ValueError("x"), Problem.__doc__, AttributeError("m", name="n", obj=5).name, ImportError("m", name="mod").name)
attempt(lambda: noted.add_note(5))
attempt(Coded)
