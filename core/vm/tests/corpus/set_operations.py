"""Sets and frozensets, printed sorted: their iteration order is not CPython's."""


def show(values):
    return sorted(values, key=lambda value: (str(type(value)), value))


def attempt(function, *arguments):
    try:
        result = function(*arguments)
        print(show(result) if isinstance(result, (set, frozenset)) else repr(result))
    except Exception as error:
        print(type(error).__name__, error)


odd, small = {1, 3, 5, 7, 9}, {1, 2, 3, 4}
for result in (odd | small, odd & small, odd - small, small - odd, odd ^ small, odd.union(small, [10]), odd.intersection(small, (1, 9)), odd.difference([1], [3]), odd.symmetric_difference(range(4))):
    print(show(result), len(result))
print(1 in odd, 2 in odd, 2 not in odd, odd == {9, 7, 5, 3, 1, 1}, odd != small, {1, 3} < odd, odd <= odd, odd < odd, odd > {1}, odd >= small, odd.issubset(range(10)), odd.issuperset([1, 9]), odd.isdisjoint({2, 4}), odd.isdisjoint([1]))
print(set(), frozenset(), {1}, frozenset([1]), {"a"}, {(1, 2)}, {None}, repr(set([5])), str(frozenset("a")), bool(set()), bool({0}), len({1, 1.0, True}), {1} == frozenset([1]), set("a") == {"a"})

work = set()
work.add(1)
work.add(1)
work.update([2, 3], (4,), "ab")
work.discard("a")
work.discard("missing")
work.remove("b")
print(show(work))
work |= {10, 11}
work &= {1, 2, 10, 99}
work ^= {2, 50}
work -= {50}
print(show(work), show(work.copy()), work.copy() is work)
work.intersection_update([1, 10])
work.difference_update([10])
work.symmetric_difference_update([5, 6])
print(show(work))
popped = {7}
print(popped.pop(), popped)
work.clear()
print(work)
attempt(work.pop)
attempt(work.remove, "x")
attempt(lambda: {[]})
attempt(set, 5)
attempt(lambda: {1} | [2])
attempt(lambda: {1} + {2})
attempt(lambda: {1} < [2])
attempt(lambda: odd[0])
attempt(hash, set())
attempt(lambda: frozenset().add(1))
attempt(lambda: [] in {1})
attempt(lambda: {1} in {frozenset([1])})
attempt(set().add, {})

frozen = frozenset("hello")
print(show(frozen), hash(frozen) == hash(frozenset("olleh")), hash(frozenset()) == hash(frozenset([])), show(frozen | {"z"}), type(frozen | {"z"}).__name__, type({"z"} | frozen).__name__, show(frozen - {"h"}), frozen.copy() is frozen)
table = {frozenset([1, 2]): "pair", frozenset(): "empty"}
print(table[frozenset([2, 1])], table[frozenset()], frozenset([1]) in {frozenset([1])})
print(show({number % 5 for number in range(20)}), show({word.lower() for word in ("A", "a", "B")}), show({(x, y) for x in range(2) for y in range(2) if x != y}), show(set("mississippi")), show({*range(3), *"ab"}))
print(sum({1, 2, 3}), max({4, 9, 2}), min({4, 9, 2}), len(set(range(1000))), sorted({3, 1, 2}, reverse=True), sorted(map(len, {"a", "bb"})), all({1, 2}), any({0}))


def primes(limit):
    composite = set()
    for number in range(2, limit):
        if number not in composite:
            yield number
            composite.update(range(number * number, limit, number))


print(list(primes(60)))
changed = {1, 2, 3}
try:
    for value in changed:
        changed.add(value + 100)
except RuntimeError as error:
    print(error)
graph = {"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}


def reachable(start, seen=frozenset()):
    if start in seen:
        return seen
    seen = seen | {start}
    for neighbour in sorted(graph[start]):
        seen = reachable(neighbour, seen)
    return seen


print(show(reachable("a")), show(reachable("b")), show(set.union(*graph.values())), show(set().union(*[[1], [2]])), set() == frozenset(), isinstance(frozen, set))
