"""collections: namedtuple, deque, Counter, defaultdict, OrderedDict, ChainMap, and the abstract classes."""
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, MutableMapping, Sequence, Sized


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


Point = namedtuple("Point", "x y")
Full = namedtuple("Full", ["a", "b", "c"], defaults=[2, 3])
p = Point(1, y=2)
print(p, p.x, p[1], p._asdict(), p._replace(x=9), Point._make([5, 6]), Point._fields, Full(1), Full._field_defaults, p == (1, 2), p + (3,), [*p], len(p), isinstance(p, tuple), {p: 1}[1, 2], sorted([Point(2, 1), p]), Point.__name__, namedtuple("R", "a class a", rename=True)._fields)
attempt(Point, 1)
attempt(Point, 1, 2, 3)
attempt(setattr, p, "x", 5)
attempt(p._replace, z=1)
attempt(namedtuple, "Bad", "a a")
attempt(namedtuple, "Bad", "class")


class Sub(namedtuple("Base", "w h")):
    @property
    def area(self):
        return self.w * self.h


x, y = p
print(Sub(2, 3).area, Sub(2, 3), x, y)

d = deque([1, 2, 3], maxlen=4)
d.append(4); d.append(5); d.appendleft(0)
print(d, d.maxlen, d.pop(), d.popleft(), d, len(d), d[0], d[-1], 2 in d, list(reversed(d)), d.count(2), d.index(2))
d.extend([7, 8]); d.extendleft([9]); d.rotate(1)
print(d, d.copy() == d, deque("ab") + deque("c"), deque([1]) * 3, deque([1]) < deque([2]), bool(deque()), deque(maxlen=2))
d.insert(1, "i") if len(d) < 4 else d.remove(7)
d[0] = "first"
del d[1]
d.reverse()
print(d, [*d])
d.clear()
attempt(d.pop)
attempt(d.popleft)
attempt(d.remove, 5)
attempt(lambda: d[3])
attempt(deque, [1], -1)
queue, seen = deque([(0, "s")]), []
while queue:
    level, name = queue.popleft()
    seen.append(name)
    if level < 2:
        queue.extend((level + 1, name + side) for side in "lr")
print(seen)

c = Counter("mississippi")
print(c, c["s"], c["z"], c.most_common(2), c.most_common(), sorted(c.elements()), c.total(), Counter(a=3, b=-1), Counter({"x": 2}), Counter(["a", "b", "a"]), len(c), list(c))
c.update("sss")
c.subtract({"i": 5})
print(c, +c, -c, c + Counter(i=10), c - Counter(s=3), c & Counter(s=2, p=9), c | Counter(p=9), Counter(a=1) == Counter(a=1, b=0), Counter(a=1) <= Counter(a=2), dict(c))
del c["s"], c["nothing"]
print(c, sorted(c.items()), max(c, key=c.get), sum(c.values()))

groups = defaultdict(list)
for word in "apple ant bee bat cow".split():
    groups[word[0]].append(word)
counts = defaultdict(int, {"start": 5})
counts["new"] += 1
nested = defaultdict(lambda: defaultdict(int))
nested["a"]["b"] += 2
print(groups, dict(groups), counts, counts["missing"], "other" in counts, counts.get("other"), len(counts), {k: dict(v) for k, v in nested.items()}, groups.default_factory is list, defaultdict(None, a=1))
attempt(lambda: defaultdict(None)["k"])
attempt(defaultdict, 5)

o = OrderedDict([("a", 1), ("b", 2), ("c", 3)])
o.move_to_end("a")
o.move_to_end("c", last=False)
print(o, list(o), o.popitem(), o.popitem(last=False), o, OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), OrderedDict(a=1, b=2) == {"b": 2, "a": 1}, list(reversed(OrderedDict.fromkeys("xyz"))), o | {"z": 1})
attempt(o.move_to_end, "missing")
attempt(OrderedDict().popitem)

chain = ChainMap({"a": 1}, {"a": 2, "b": 3})
chain["c"] = 5
print(chain["a"], chain["b"], dict(chain), chain.maps, chain.new_child({"a": 0})["a"], chain.parents["a"], len(chain), sorted(chain), "b" in chain, chain.get("zz", "d"))
attempt(lambda: chain["missing"])


class Lower(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)


class Inventory(MutableMapping):
    def __init__(self):
        self.store = {}

    def __getitem__(self, key):
        return self.store[key]

    def __setitem__(self, key, value):
        self.store[key] = value

    def __delitem__(self, key):
        del self.store[key]

    def __iter__(self):
        return iter(self.store)

    def __len__(self):
        return len(self.store)


stock = Inventory()
stock["a"] = 1
stock.update(b=2, c=3)
print(Lower(A=1, B=2), stock.pop("a"), stock.get("zz"), dict(stock), list(stock.items()), stock.setdefault("q", 9), "b" in stock, stock == {"b": 2, "c": 3, "q": 9}, isinstance(stock, Mapping), UserList([1, 2]) + [3])
print([isinstance(v, kind) for v in ([], {}, "s", 5, len, iter([])) for kind in (Sized, Iterable, Iterator, Hashable, Callable, Sequence, Mapping)])
attempt(Mapping)
