"""Tuples: literals, methods, comparison, hashing, nesting."""


def attempt(function, *arguments):
    try:
        print(repr(function(*arguments)))
    except Exception as error:
        print(type(error).__name__, error)


empty, single, pair, nested = (), (1,), (1, "a"), ((1, 2), (3, (4, ())))
print(empty, single, pair, nested, tuple("abc"), tuple([1]), tuple(), tuple(range(3)), (*pair, *single, 9), 1, )
print(len(nested), nested[1][1][0], pair[0], pair[-1], pair + single, single * 3, 2 * pair, pair * 0, pair[::-1], nested[:1], 1 in single, "a" in pair, 2 not in pair)
print((1, 2, 1).count(1), (1, 2, 1).index(2), (1, 2, 1).index(1, 1), (1, 2) < (1, 3), (1,) < (1, 0), () < (0,), (1, 2) == (1, 2), (1, 2) == [1, 2], (1, 2) != (2, 1), ("a", 5) > ("a", 4))
print(hash(()) == hash(()), hash((1, 2)) == hash((1, 2)), hash((1, 2)) == hash((2, 1)), hash((1, "a", 2.0)), hash(((), (1,))), hash((1,)), hash(()))
print({(0, 0): "origin", (1, 2): "point"}[1, 2], sorted([(2, "b"), (1, "z"), (2, "a")]), max([(1, 2), (1, 3)]), sum([(1,), (2,)], ()), dict([("k", "v"), (1, 2)]))
attempt(lambda: pair[5])
attempt(lambda: pair + [1])
attempt(pair.index, "missing")
attempt(lambda: (1, "a") < (1, 2))
attempt(hash, ([],))
attempt(tuple, 5)
attempt(lambda: pair.append)
attempt(getattr, pair, "sort")
try:
    pair[0] = 2
except TypeError as error:
    print(error)
try:
    del pair[0]
except TypeError as error:
    print(error)
holder = ([1], "x")
holder[0].append(2)
print(holder)
try:
    holder[0] += [3]
except TypeError as error:
    print(error, holder)
grown = pair
grown += (3,)
print(grown, pair, grown is pair)


def swap(left, right):
    return right, left


a, b = swap(1, 2)
a, b = b, a
(c, (d, e)), *rest = (1, (2, 3)), 4, 5
[f, g] = "xy"
print(a, b, c, d, e, rest, f, g, swap(*swap("l", "r")))
for index, (left, right) in enumerate([(1, 2), (3, 4)]):
    print(index, left, right)
print([left * right for left, right in zip((1, 2, 3), (4, 5, 6))], tuple(value * 2 for value in (1, 2)), isinstance((), tuple), bool(()), bool((0,)), repr((None,)), str(("a", "b'")))
for broken in (lambda: swap(*(1,)), lambda: [x for x, y in [(1,)]], lambda: [x for x, y in [(1, 2, 3)]], lambda: [x for x, y in [5]], lambda: [x for x, *y, z in [(1,)]]):
    attempt(broken)
x = 1,
y = 1, 2,
print(x, y, (x), (x,), ((((1)))), (1 if y else 2,), (lambda: (1, 2))(), [(1, 2)], {(1,): 1})


def several():
    return 1, *[2, 3], 4


first, *_, last = several()
print(several(), first, last, tuple(reversed(several())), tuple(map(abs, (-1, 2))), tuple(sorted((3, 1, 2))), all((1, 0)), any((0, 1)))
