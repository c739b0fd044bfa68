# Views of values, read-only dicts that need Python to be shown, ranges longer than 64 bits, iterators without send, automatic members behind
# text, and class patterns whose names are no tuple.
from enum import Enum, auto


def t(name, f, *a, **k):
    try:
        print(name, repr(f(*a, **k)))
    except BaseException as e:
        print(name, type(e).__name__, e)


d = {1: 2}
v = d.values()
t("values", lambda: (v == v, v == d.values(), v != d.values(), v == {1: 2}.values(), v == {2}, {2} == v, v == d.keys()))
t("values", lambda: v <= d.values()); t("values", lambda: v < {2})


class Shown:
    def __repr__(self): return "shown"
class E(Enum):
    A = 1
    B = 2
class Holder:
    shown = Shown()
t("proxy", lambda: E.__members__); t("proxy", lambda: [E.__members__]); t("proxy", lambda: "'shown': shown" in repr(Holder.__dict__))

least, most = -(1 << 63), (1 << 63) - 1
for r in (range(least, most), range(most, least, -1), range(least, most, 2), range(least, most, most)):
    t("range", lambda: (r[0], r[-1], r.index(r[7 % 3]), r[5 % 3:], bool(r), 0 in r, r == r[:], r.count(5)))
    t("range", len, r); t("range", hash, r)
t("range", lambda: range(least, most).index(7)); t("range", lambda: range(0, most).index(most - 1)); t("range", lambda: len(range(0, most)))
t("range", range, least, most, 0); t("range", lambda: [*range(least, most, most)]); t("range", lambda: next(iter(range(least, most))))


class Steps:
    def __iter__(self): return self
    def __next__(self): return 1
def delegate():
    yield from Steps()
g = delegate()
next(g)
t("send", g.send, None); t("send", g.send, 5); t("send", next, g, "over")


class F(Enum):
    A = "x"
    B = auto()
class G(Enum):
    A = 3
    B = "x"
    C = auto()
    D = 7
    E = auto()
class H(Enum):
    A = 5
    B = 2
    C = auto()
t("auto", lambda: [m.value for e in (F, G, H) for m in e]); t("auto", setattr, F.A, "value", 5); t("auto", setattr, F.A, "name", 5)
t("auto", delattr, F.A, "name")


class Number:
    __match_args__ = 5
class Listed:
    __match_args__ = ["a"]
def matched(subject, cls):
    match subject:
        case cls(1): return "yes"
    return "no"
t("match", matched, Number(), Number); t("match", matched, Listed(), Listed); t("match", matched, 1, int)


class L(list):
    def __imul__(self, count): return super().__imul__(count)
class Plain(list): pass
class Twice:
    def __index__(self): return 2
class Never:
    def __rmul__(self, other): return NotImplemented
def repeated(kind, count):
    x = y = kind([1, 2])
    x *= count
    return x is y, type(x).__name__, x
for kind in (list, L, Plain):
    for count in (3, 0, -1, True, Twice()):
        t("repeat", repeated, kind, count)
for kind in (list, Plain):
    for count in (Never(), "a", 1.5):
        t("repeat", repeated, kind, count)
class R(float):
    def __rfloordiv__(self, other): return "r", super().__rfloordiv__(other)
    def __rmod__(self, other): return "r", super().__rmod__(other)
    def __rdivmod__(self, other): return "r", super().__rdivmod__(other)
t("reflected", lambda: (7 // R(2), 7.5 % R(2), divmod(7, R(2)), 7 % R(2), R(7) // 2)); t("reflected", lambda: "a" // R(2))
t("reflected", lambda: (float.__rmod__(2.0, "a"), float.__rfloordiv__(2.0, 7), float.__rdivmod__(2.0, 7)))
for value in (5, 1.5, "a"):
    t("format", value.__format__, 5); t("format", value.__format__, ""); t("format", format, value, None)
