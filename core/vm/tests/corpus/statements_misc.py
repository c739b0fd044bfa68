"""assert, global statements, pass, annotations, lambda, conditional imports, del, chained targets, and small oddities."""
import math as mathematics
from collections import OrderedDict as Ordered, namedtuple
import json, itertools


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


def check(value, *message):
    if message:
        assert value, message[0]
    else:
        assert value
    return "passed"


attempt(lambda: check(1))
attempt(lambda: check(0))
attempt(lambda: check([], "empty list"))
attempt(lambda: check(None, {"detail": 1}))
print(mathematics.floor(2.5), Ordered(a=1), namedtuple("P", "x y")(1, 2), json.dumps([1]), list(itertools.chain("a", "b")))


def local_import():
    from math import sqrt as root, pi
    import functools
    return root(16), round(pi, 3), functools.reduce(lambda a, b: a * b, [1, 2, 3, 4])


print(local_import())
attempt(lambda: import_missing())
try:
    from math import nothing_here
except ImportError as error:
    print(type(error).__name__, str(error).split(" (")[0])
x: int = 5
y: "list[int]" = [1]


def annotated(a: int, b: str = "b", *c: float, d: bytes = b"d", **e: dict) -> None:
    inner: int = 1
    unset: str
    return inner


print(x, y, annotated.__annotations__, annotated(1), __annotations__)
print((lambda: (yield))().__next__(), (lambda a, *b, c=3, **d: (a, b, c, d))(1, 2, c=4, z=5), (lambda: 1 if False else 2)(), [f(3) for f in (lambda v: v, lambda v: v * 2)], (lambda x: (lambda x: x * 2)(x + 1))(5))
if x > 3: print("inline if")
for i in range(2): print("inline for", i)
while x > 4: x -= 1
else: print("while else", x)
try: 1 / 0
except ZeroDivisionError: print("inline except")
finally: print("inline finally")
class Tiny: pass
def tiny(): return Tiny.__name__
print(tiny()); print(x, end="\n" if x else "")
long_expression = (1 +
                   2 *
                   3)
backslashed = 1 + \
    2
listed = [
    1,
    2,  # a comment
    # another
    3,
]
called = max(
    1,
    *[2, 3],
    key=lambda v: -v,
)
print(long_expression, backslashed, listed, called)
if True:
    if False:
        pass
    elif not False:
        print("elif")
    else:
        print("never")
for a in range(3):
    for b in range(3):
        if b == 1:
            break
        if a == 1:
            continue
    else:
        print("no")
    print((a, b), end=" ")
print()
π, naïve, 变量, _ = 3.14, "unicode", "names", "underscore"
print(π, naïve, 变量, _, 0xFF, 0b11, 0o17, 1_000, 1e3, .5, 5., 1E-2, 0_0)
print(1 if [] else 2, not 1 in [1], not not 1, -2 ** 2, (-2) ** 2, 2 ** -1, 2 ** 3 ** 2, 5 // -2 * 2, 7 - 3 - 1, 1 << 2 + 1, 5 & 3 == 3, (5 & 3) == 1, 1 or 0 and 0, 10 % 4 * 2, ~1 + 1, +-+1, 1 < 2 == True, "a" "b" * 2, "%d" % 5 + "x", not (1, ), [1, 2][0], {"a": [1, {"b": 2}]}["a"][1]["b"])


def many_returns(n):
    if n == 0:
        return
    elif n == 1:
        return None
    elif n == 2:
        return 1, 2
    return (
        n
    )


print([many_returns(n) for n in range(4)], many_returns.__name__)
del listed[0], listed[-1]
del (long_expression), [backslashed]
attempt(lambda: long_expression)
print(listed, type(print("nested print")).__name__, [print(n, end=",") for n in range(3)])
def f(a, b=1, /, c=2, *, d=3): return a, b, c, d
print(f(0), f(0, 9, 8, d=7), *[1, 2], *"ab", sep="|")
matrix = [[i * j for j in range(4)] for i in range(4)]
matrix[1][2], matrix[2][1] = matrix[2][1] + 100, matrix[1][2] + 200
print(matrix, sum(map(sum, matrix)), [*map(max, matrix)])
print("x" in dir(), __doc__.split(":")[0][:6])
