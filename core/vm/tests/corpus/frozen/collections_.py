# Every use of `collections`, compared with CPython's own module.
import collections
import collections.abc as abc
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple


def attempt(action):
    try:
        print(action())
    except Exception as problem:
        print(type(problem).__name__, problem)


# namedtuple
Point = namedtuple("Point", ["x", "y"])
p = Point(1, y=2)
print(p, p.x, p[1], p == (1, 2), len(p), list(p), p._asdict(), p._replace(x=5), Point._make([3, 4]), Point._fields, hash(p) == hash((1, 2)))
x, y = p
print(x + y, isinstance(p, tuple), p < Point(2, 0), {p: 1}[(1, 2)], Point.__name__, Point.__doc__, Point.x.__doc__)
attempt(lambda: Point(1))
attempt(lambda: Point())
attempt(lambda: Point(1, 2, 3))
attempt(lambda: Point(1, 2, z=3))
attempt(lambda: Point(1, x=3))
attempt(lambda: p._replace(q=1))
attempt(lambda: Point._make([1]))
try:
    p.x = 5
except AttributeError:
    print("fields cannot be set")
attempt(lambda: namedtuple("Bad", "a class"))
attempt(lambda: namedtuple("Bad", "a a"))
attempt(lambda: namedtuple("Bad", "_a"))
attempt(lambda: namedtuple("Bad", "a 1b"))
Account = namedtuple("Account", "owner balance, kind", defaults=[0, "plain"])
print(Account("a"), Account("a", 5), Account._field_defaults, namedtuple("R", "a class a", rename=True)._fields)
attempt(lambda: Account())
attempt(lambda: Account(1, 2, 3, 4))


class Vector(namedtuple("Vector", "x y z")):
    __slots__ = ()

    def length(self):
        return (self.x**2 + self.y**2 + self.z**2) ** 0.5

    @property
    def flat(self):
        return self._replace(z=0)


v = Vector(3, 4, 0)
print(v, v.length(), v.flat, v + (1,), Vector.__mro__[1].__name__)
match p:
    case Point(x=1, y=b):
        print("b is", b)

# deque
d = deque([1, 2, 3])
d.append(4)
d.appendleft(0)
print(d, d.pop(), d.popleft(), d, len(d), d[0], d[-1], 2 in d, list(reversed(d)), bool(deque()), d == deque([1, 2, 3]))
d.extend([7, 8])
d.extendleft([9, 10])
d.rotate(2)
print(d)
d.rotate(-3)
print(d, d.index(3), d.count(7), d.maxlen)
d.insert(1, "i")
d.remove(7)
del d[0]
d[0] = "z"
d.reverse()
print(d, d.copy(), d + deque([1]), deque([1, 2]) * 2, deque([1, 2]) < deque([1, 3]))
b = deque([1, 2, 3, 4], maxlen=3)
b.append(5)
b.appendleft(0)
print(b, b.maxlen, deque("abc", 2), repr(deque(maxlen=0)))
attempt(lambda: deque().pop())
attempt(lambda: deque().popleft())
attempt(lambda: deque([1])[3])
attempt(lambda: deque([1]).remove(5))
attempt(lambda: deque([1]).index(5))
attempt(lambda: deque([1], maxlen=-1))
attempt(lambda: b.insert(0, 1))
q = deque()
for i in range(1000):
    q.append(i)
    q.append(-i)
    q.popleft()
print(len(q), q[0], q[-1], sum(q))
for i in range(300):
    q.appendleft(i)
    q.pop()
print(len(q), q[0], q[-1], sum(q))
d.clear()
print(d, deque([[1], [2]]), deque(range(3)) == deque((0, 1, 2)))


def mutate():
    d = deque([1, 2, 3])
    for item in d:
        d.append(item)


attempt(mutate)

# defaultdict
dd = defaultdict(list)
dd["a"].append(1)
dd["b"].extend([2, 3])
print(dd, dict(dd), dd["c"], "d" in dd, dd.get("d"), len(dd), dd.default_factory, list(dd.items()))
counts = defaultdict(int, {"x": 5}, y=1)
counts["x"] += 1
counts["z"] += 1
print(counts, defaultdict(None), counts.copy() == counts, counts | {"q": 1})
attempt(lambda: defaultdict(None)["x"])
attempt(lambda: defaultdict(5))

# Counter
c = Counter("abracadabra")
print(c, c["a"], c["z"], c.most_common(2), sorted(c.elements()), c.total(), len(c), list(c.items()))
c.update("aab")
c.subtract({"a": 3, "q": 2})
print(c, +c, -c, c.most_common(), c.most_common(0))
x, y = Counter(a=3, b=1), Counter(a=1, b=2, c=1)
print(x + y, x - y, x | y, x & y, x == Counter(a=3, b=1), x <= x + y, x == Counter(a=3, b=1, z=0), x < y)
x += y
print(x, Counter(), Counter([1, 1, 2]), Counter({"a": 2}) , dict(x))
x -= y
print(x)
del x["nothing"]
attempt(lambda: Counter.fromkeys("ab"))
print(Counter(x=1, y=2).copy(), Counter("aa") != Counter("a"), isinstance(Counter(), dict))

# OrderedDict
od = OrderedDict([("a", 1), ("b", 2), ("c", 3)])
od.move_to_end("a")
print(od, list(od))
od.move_to_end("a", last=False)
print(od, od.popitem(last=False), od.popitem(), od)
print(OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), OrderedDict(a=1, b=2) == {"b": 2, "a": 1}, OrderedDict.fromkeys("ab", 0), OrderedDict())
attempt(lambda: OrderedDict().popitem())
attempt(lambda: od.move_to_end("zz"))
print(list(reversed(OrderedDict(a=1, b=2))), od.copy(), OrderedDict(a=1) | {"b": 2})

# ChainMap
cm = ChainMap({"a": 1}, {"a": 2, "b": 3})
cm["c"] = 9
print(cm, cm["a"], cm["b"], len(cm), list(cm), cm.maps[0], dict(cm), "z" in cm, cm.get("z", 5))
child = cm.new_child({"b": 0})
print(child["b"], child.parents["b"], cm.pop("c"), bool(ChainMap()))
attempt(lambda: cm["zz"])
attempt(lambda: cm.pop("b"))

# abc
print([isinstance([], t) for t in (abc.Iterable, abc.Sequence, abc.MutableSequence, abc.Sized, abc.Container, abc.Hashable, abc.Mapping, abc.Callable)])
print([isinstance({}, t) for t in (abc.Iterable, abc.Mapping, abc.MutableMapping, abc.Sequence, abc.Collection, abc.Reversible)])
print([isinstance(t, abc.Hashable) for t in (1, "a", (), frozenset(), [], {}, set(), bytearray())])
print(isinstance((), abc.Sequence), isinstance("", abc.Sequence), isinstance(range(1), abc.Sequence), isinstance(set(), abc.Set), isinstance(set(), abc.MutableSet), isinstance(frozenset(), abc.MutableSet))
print(isinstance((i for i in ()), abc.Iterator), isinstance((i for i in ()), abc.Generator), isinstance(iter([]), abc.Iterator), isinstance(len, abc.Callable), isinstance({}.keys(), abc.KeysView))


class Squares(abc.Sequence):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if not 0 <= i < self.n:
            raise IndexError(i)
        return i * i


s = Squares(5)
print(list(s), 9 in s, 5 in s, s.index(16), s.count(4), list(reversed(s)))


class Table(abc.MutableMapping):
    def __init__(self):
        self.data = {}

    def __getitem__(self, k):
        return self.data[k]

    def __setitem__(self, k, v):
        self.data[k] = v

    def __delitem__(self, k):
        del self.data[k]

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)


t = Table()
t["a"] = 1
t.update(b=2, c=3)
print(dict(t), t.pop("a"), t.get("zz"), t.setdefault("d", 4), list(t.keys()), list(t.values()), list(t.items()), ("b", 2) in t.items(), t == {"b": 2, "c": 3, "d": 4})
attempt(lambda: t.pop("nope"))


class Incomplete(abc.Mapping):
    def __len__(self):
        return 0


attempt(lambda: Incomplete())


class Bits(abc.MutableSet):
    def __init__(self, items=()):
        self.items = list(dict.fromkeys(items))

    def __contains__(self, x):
        return x in self.items

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def add(self, x):
        if x not in self.items:
            self.items.append(x)

    def discard(self, x):
        if x in self.items:
            self.items.remove(x)


s = Bits([1, 2, 3])
print(list(s & [2, 3, 4]), list(s | [9]), list(s - Bits([1])), s <= Bits([1, 2, 3, 4]), s == {1, 2, 3}, s.isdisjoint([7]), list(s ^ Bits([3, 4])))
s.remove(2)
s |= [7]
print(list(s), s.pop())
attempt(lambda: s.remove(99))
