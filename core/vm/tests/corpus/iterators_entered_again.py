"""Iterators that are asked for their next item while they are at it."""
import functools, itertools, collections

def attempt(call):
    try:
        return repr(call())
    except BaseException as error:
        return type(error).__name__ + ": " + str(error)

LOG = []
TARGET = None
def step(iterator):
    item = next(iterator)
    return item[0] if KEYED and isinstance(item, tuple) else item
KEYED = False
class Again:
    """An iterator and a function that, for `depth` times, steps the iterator it is in."""
    def __init__(self, depth, give=7):
        self.depth, self.give, self.left = depth, give, 3
    def go(self):
        if self.depth > 0:
            self.depth -= 1
            LOG.append(attempt(lambda: step(TARGET)))
    def __iter__(self):
        return self
    def __next__(self):
        self.go()
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.give
    def __call__(self, *args):
        self.go()
        return self.give
    def __getitem__(self, i):
        self.go()
        if i >= 3: raise IndexError
        return self.give
    def __len__(self): return 3

def generator(a):
    for x in a:
        yield x
def delegating(a):
    yield from a
class Indexed:
    def __init__(self, again): self.again = again
    def __getitem__(self, i): return self.again[i]
    def __len__(self): return 3

MAKERS = {
 "generator": lambda a: generator(a), "yield from": lambda a: delegating(a), "genexp": lambda a: (x for x in a),
 "map of": lambda a: map(abs, a), "map by": lambda a: map(a, [1, 2, 3]), "map by two": lambda a: map(a, [1, 2, 3], [4, 5, 6]),
 "filter of": lambda a: filter(None, a), "filter by": lambda a: filter(a, [1, 2, 3]), "zip": lambda a: zip(a, [1, 2, 3]), "zip second": lambda a: zip([1, 2, 3], a),
 "zip strict": lambda a: zip(a, [1, 2], strict=True), "enumerate": lambda a: enumerate(a), "iter sentinel": lambda a: iter(a, 9), "iter index": lambda a: iter(Indexed(a)),
 "reversed": lambda a: reversed(Indexed(a)), "chain": lambda a: itertools.chain(a, [5]), "from_iterable": lambda a: itertools.chain.from_iterable([a, [5]]),
 "chain of": lambda a: itertools.chain.from_iterable(map(lambda x: [x], a)), "islice": lambda a: itertools.islice(a, 3), "islice step": lambda a: itertools.islice(a, 0, 3, 2),
 "takewhile of": lambda a: itertools.takewhile(bool, a), "takewhile by": lambda a: itertools.takewhile(a, [1, 2, 3]), "dropwhile of": lambda a: itertools.dropwhile(lambda x: False, a),
 "dropwhile by": lambda a: itertools.dropwhile(a, [1, 2, 3]), "filterfalse of": lambda a: itertools.filterfalse(lambda x: 0, a), "filterfalse by": lambda a: itertools.filterfalse(a, [1, 2, 3]),
 "starmap of": lambda a: itertools.starmap(lambda *x: x, map(lambda x: (x,), a)), "starmap by": lambda a: itertools.starmap(a, [(1,), (2,)]),
 "accumulate of": lambda a: itertools.accumulate(a), "accumulate by": lambda a: itertools.accumulate([1, 2, 3], a), "cycle": lambda a: itertools.islice(itertools.cycle(a), 5),
 "compress": lambda a: itertools.compress(a, [1, 1, 1]), "compress by": lambda a: itertools.compress([1, 2, 3], a), "zip_longest": lambda a: itertools.zip_longest(a, [1]),
 "pairwise": lambda a: itertools.pairwise(a), "groupby of": lambda a: itertools.groupby(a), "groupby by": lambda a: map(lambda p: p[0], itertools.groupby([1, 2, 3], a)),
 "repeat map": lambda a: map(a, itertools.repeat(1, 3)), "count map": lambda a: itertools.islice(map(a, itertools.count()), 3),
}
for name, make in MAKERS.items():
    KEYED = name.startswith('groupby')
    for give in (7, 0):
        for depth in (1, 2):
            LOG.clear()
            again = Again(depth, give)
            iterator = make(again)
            TARGET = iterator
            out = []
            for _ in range(6):
                r = attempt(lambda: step(iterator))
                out.append(r)
                if r.startswith("StopIteration"): break
            print(name, give, depth, out, LOG)
for consume in ("list", "sum", "tuple", "for", "sorted", "send", "close", "throw"):
    for make in (generator, delegating):
        again = Again(1); it = make(again); LOG.clear()
        class T:
            def __next__(self):
                return {"list": list, "sum": sum, "tuple": tuple, "for": lambda i: [x for x in i], "sorted": sorted, "send": lambda i: i.send(None), "close": lambda i: i.close(), "throw": lambda i: i.throw(ValueError("t"))}[consume](it)
            def __iter__(self): return self
        TARGET = T()
        print(consume, make.__name__, [attempt(lambda: next(it)) for _ in range(5)], LOG)
async def co(a):
    return next(a)
again = Again(1); c = co(again)
class T2:
    def __next__(self): return c.send(None)
TARGET = T2(); LOG.clear()
print(attempt(lambda: c.send(None)), LOG)
