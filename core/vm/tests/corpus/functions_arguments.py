"""Calling: defaults, star arguments, keyword-only and positional-only parameters, and every refusal."""


def attempt(function, *arguments, **named):
    try:
        print(function(*arguments, **named))
    except TypeError as error:
        print(error)


def plain(a, b):
    return a, b


def defaulted(a, b=2, c=3):
    return a, b, c


def starred(a, *rest, b=5, **named):
    return a, rest, b, named


def keyword_only(*, x, y=1):
    return x, y


def positional_only(a, b=2, /, c=3, *, d=4):
    return a, b, c, d


def every(a, /, b, c=3, *rest, d, e=5, **named):
    return a, b, c, rest, d, e, named


def nothing():
    pass


print(plain(1, 2), plain(b=1, a=2), plain(1, b=2), plain(*[1, 2]), plain(**{"a": 1, "b": 2}), plain(*(1,), **{"b": 2}), plain(*"ab"))
print(defaulted(1), defaulted(1, 5), defaulted(1, c=9), defaulted(c=1, b=2, a=3), defaulted(*range(3)))
print(starred(1), starred(1, 2, 3), starred(1, b=2), starred(1, 2, c=3, d=4), starred(*[1, 2], *(3, 4), **{"x": 1}, **{"y": 2}), starred(a=1, z=2))
print(keyword_only(x=1), keyword_only(y=2, x=3), positional_only(1), positional_only(1, 2, 3, d=9), positional_only(1, c=5), every(1, 2, d=4), every(1, 2, 3, 4, 5, d=6, f=7), every(1, b=2, d=3, a=4))
print(nothing())
attempt(plain)
attempt(plain, 1)
attempt(plain, 1, 2, 3)
attempt(plain, 1, a=2)
attempt(plain, 1, c=2)
attempt(plain, 1, 2, c=2)
attempt(plain, b=1)
attempt(defaulted)
attempt(defaulted, 1, 2, 3, 4)
attempt(starred)
attempt(starred, b=1)
attempt(keyword_only)
attempt(keyword_only, 1)
attempt(keyword_only, x=1, z=2)
attempt(positional_only, a=1)
attempt(positional_only, 1, b=2)
attempt(positional_only, 1, 2, 3, 4)
attempt(every, 1)
attempt(every, 1, 2)
attempt(nothing, 1)
attempt(nothing, 1, 2)
attempt(nothing, x=1)
attempt(lambda a, b, c, d: 0)
attempt(lambda *, a, b, c: 0)
attempt(lambda: plain(*5))
attempt(lambda: plain(**5))
attempt(lambda: plain(**{1: 2}))
attempt(lambda: plain(1, **{"a": 1}))
attempt(lambda: starred(1, **{"x": 1}, **{"x": 2}))
attempt(len)
attempt(len, 1, 2)
attempt(len, 5)
for value in (5, "text", None, [], 1.5):
    attempt(lambda: value())


def accumulate(value, into=[]):
    into.append(value)
    return into


print(accumulate(1), accumulate(2), accumulate(3, []), accumulate(4))
base = 10


def early(value=base * 2, extra=lambda x: x + base):
    return value, extra(1)


base = 100
print(early(), early(1), early.__name__, early.__defaults__[0], keyword_only.__kwdefaults__, plain.__defaults__, defaulted.__doc__)


def documented(first: int, second: "str" = "x", *others: float, **options) -> list[int]:
    """What it does."""
    return [first]


print(documented.__doc__, documented.__annotations__, documented.__name__, documented.__qualname__, documented.__module__)
documented.label = "an attribute"
print(documented.label, hasattr(documented, "label"), callable(documented), callable(5), callable(print), callable(int))


def order(tag, value):
    print("evaluated", tag)
    return value


print(starred(order("a", 1), *order("star", [2]), b=order("b", 3), **order("named", {"c": 4})))


def passing(*arguments, **named):
    return starred(*arguments, **named)


def modify(*rest, **named):
    named["added"] = rest
    return named


options = {"k": 1}
print(passing(1, 2, b=3, q=4), modify(1, 2, **options), options, (lambda *a, k=1, **n: (a, k, n))(1, 2, k=3, z=4), (lambda: None)(), (lambda x=1, /, *y: (x, y))(5, 6), (lambda x: lambda y: x + y)(1)(2))


# Defaults that a program sets: the last ones count, however many there are.
def replaced(a, b=2, *rest, c=3, d=4):
    return a, b, rest, c, d


replaced.__defaults__ = (10, 20, 30)
print(replaced(), replaced(1), replaced(1, 2, 5), replaced.__defaults__, replaced.__defaults__ is replaced.__defaults__)
replaced.__kwdefaults__ = {"d": 40, "e": 5, 7: 8, "c": 30}
print(replaced(), replaced(c=1), replaced.__kwdefaults__, replaced.__kwdefaults__ is replaced.__kwdefaults__)
replaced.__kwdefaults__["c"] = 31
del replaced.__kwdefaults__["d"]
print(replaced(d=1))
replaced.__defaults__ = ()
replaced.__kwdefaults__ = None
print(replaced.__defaults__, replaced.__kwdefaults__)


def one(a):
    return a


one.__defaults__ = (1, 2, 3)
for call in (lambda: one(), lambda: one(1, 2), lambda: replaced(), lambda: replaced(1, 2), lambda: replaced(1, 2, 3, d=1), lambda: one(b=1)):
    try:
        print(call())
    except TypeError as error:
        print(error)


def keywords(*, a=1, b, c=3):
    return a, b, c


for given in ({"b": 2}, {}, {"c": 1, "b": 0, "a": -1}):
    try:
        print(keywords(**given))
    except TypeError as error:
        print(error)
