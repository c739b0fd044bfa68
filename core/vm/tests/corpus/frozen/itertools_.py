# Every function of `itertools`, compared with CPython's own module.
from itertools import (
    accumulate, chain, combinations, combinations_with_replacement, compress, count, cycle, dropwhile, filterfalse, groupby, islice,
    pairwise, permutations, product, repeat, starmap, takewhile, tee, zip_longest,
)


def attempt(action):
    try:
        print(action())
    except Exception as problem:
        print(type(problem).__name__, problem)


def take(n, items):
    return [next(items) for _ in range(n)]


print(take(3, count()), take(3, count(5, 2)), take(3, count(1.5, -0.5)), repr(count(3)), repr(count(1, 2)), repr(count(1, 1.0)))
print(take(3, repeat("x")), list(repeat(1, 3)), list(repeat(1, -1)), repr(repeat(1)), repr(repeat(1, 2)), list(map(pow, range(4), repeat(2))))
print(list(chain("ab", [1], ())), list(chain.from_iterable(["ab", "c"])), list(chain()), take(5, cycle("ab")), list(cycle([])))
print(list(accumulate([1, 2, 3])), list(accumulate([1, 2, 3], lambda a, b: a * b)), list(accumulate([1, 2], initial=10)), list(accumulate([])), list(accumulate("ab")), list(accumulate([3, 1, 2], max)))
print(list(compress("abcd", [1, 0, 1])), list(dropwhile(lambda x: x < 3, [1, 3, 2])), list(takewhile(lambda x: x < 3, [1, 3, 2])), list(filterfalse(lambda x: x % 2, range(5))), list(filterfalse(None, [0, 1, ""])))
print(list(starmap(pow, [(2, 3), (3, 2)])), list(pairwise("abc")), list(pairwise("a")), list(pairwise("")))
print(list(islice(range(10), 3)), list(islice(range(10), 2, 5)), list(islice(range(10), 1, None, 3)), list(islice("abc", 0)), list(islice("abc", None)), list(islice(range(10), 5, 2)), list(islice("abc", 2, 2)))
rest = iter(range(10))
print(list(islice(rest, 2, 6, 2)), list(rest))
rest = iter(range(10))
print(list(islice(rest, 3)), list(rest))
rest = iter(range(10))
print(list(islice(rest, 3, 3)), list(rest))
attempt(lambda: islice([], -1))
attempt(lambda: islice([], 0, -1))
attempt(lambda: islice([], 0, 1, 0))
attempt(lambda: islice([], "a"))
print(list(zip_longest("abc", [1])), list(zip_longest("a", [1, 2], fillvalue=0)), list(zip_longest()), list(zip_longest([], [])))
print([(k, list(g)) for k, g in groupby("aaabbc")], [(k, list(g)) for k, g in groupby([1, 3, 2, 4, 5], key=lambda x: x % 2)], [k for k, g in groupby("aabba")], list(groupby([])))
groups = groupby("aabb")
first = next(groups)
second = next(groups)
print(first[0], list(first[1]), second[0], list(second[1]))
attempt(lambda: next(groups))
a, b = tee([1, 2, 3])
print(next(a), next(a), list(b), list(a), tee([], 0), len(tee("ab", 3)))
print(list(product("ab", [1, 2])), list(product("ab", repeat=2)), list(product()), list(product("a", [])), len(list(product(range(3), repeat=3))))
print(list(permutations("abc")), list(permutations("abc", 2)), list(permutations("ab", 3)), list(permutations("", 0)), list(permutations("ab", 0)))
print(list(combinations("abcd", 2)), list(combinations("ab", 3)), list(combinations("ab", 0)), list(combinations(range(4), 3)))
print(list(combinations_with_replacement("abc", 2)), list(combinations_with_replacement("", 2)), list(combinations_with_replacement("ab", 0)))
attempt(lambda: combinations("a", -1))
attempt(lambda: permutations("a", -1))
attempt(lambda: product("a", repeat=-1))
attempt(lambda: count("a"))
attempt(lambda: chain(5).__next__())
attempt(lambda: cycle(5))
attempt(lambda: list(starmap(pow, [(1,)])))
