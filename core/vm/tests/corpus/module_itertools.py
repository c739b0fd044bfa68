"""itertools: every function."""
from itertools import (accumulate, chain, combinations, combinations_with_replacement, compress, count, cycle, dropwhile, filterfalse, groupby, islice, pairwise, permutations, product,
                       repeat, starmap, takewhile, tee, zip_longest)


def attempt(function, *arguments, **named):
    try:
        result = function(*arguments, **named)
        print(list(result))
    except Exception as error:
        print(type(error).__name__, error)


print(list(islice(count(), 3)), list(islice(count(5, -2), 4)), list(islice(count(0.5, 0.25), 3)), list(islice(cycle("ab"), 5)), list(repeat("x", 3)), list(islice(repeat(1), 2)), list(cycle([])))
print(list(accumulate([1, 2, 3, 4])), list(accumulate([1, 2, 3], lambda a, b: a * b)), list(accumulate([1, 2], initial=10)), list(accumulate("abc")), list(accumulate([])), list(accumulate([3, 1, 4, 1, 5], max)))
print(list(chain("ab", [1], ())), list(chain.from_iterable(["ab", "cd"])), list(compress("abcd", [1, 0, 1, 1])), list(dropwhile(lambda v: v < 3, [1, 2, 3, 1])), list(takewhile(lambda v: v < 3, [1, 2, 3, 1])), list(filterfalse(lambda v: v % 2, range(5))), list(filterfalse(None, [0, 1, ""])))
print([(key, list(group)) for key, group in groupby("aabbbca")], [(key, len(list(group))) for key, group in groupby([1, 3, 2, 4, 5], lambda v: v % 2)], {key: [w for w in group] for key, group in groupby(sorted(["bb", "a", "cc", "d"], key=len), key=len)})
groups = groupby("aab")
first_key, first_group = next(groups)
next(groups)
print(first_key, list(first_group))
print(list(islice("abcdef", 2)), list(islice("abcdef", 1, 4)), list(islice("abcdef", 0, None, 2)), list(islice("abc", 5, 9)), list(pairwise("abcd")), list(pairwise([1])), list(starmap(pow, [(2, 3), (3, 2)])), list(zip_longest("abc", [1], fillvalue="-")), list(zip_longest("a", "bc")), list(zip_longest()))
print(list(product("ab", [1, 2])), list(product("ab", repeat=2)), list(product()), list(product("a", [])), len(list(product(range(3), repeat=3))), list(permutations("abc")), list(permutations("abc", 2)), list(permutations("ab", 3)), list(permutations([])))
print(list(combinations("abcd", 2)), list(combinations("abc", 3)), list(combinations("ab", 3)), list(combinations("ab", 0)), list(combinations_with_replacement("abc", 2)), sum(1 for _ in combinations(range(10), 4)))
a, b = tee([1, 2, 3])
print(next(a), list(b), list(a), [list(t) for t in tee("xy", 3)], tee([], 0))
attempt(islice, [1], -1)
attempt(islice, [1], 0, 5, 0)
attempt(islice, [1])
attempt(combinations, "ab", -1)
attempt(permutations, "ab", -1)
attempt(product, 5)
attempt(chain, 5)
attempt(count, "a")
attempt(repeat, 1, "x")
attempt(zip_longest, "a", nope=1)
attempt(accumulate, ["a", 1])
attempt(starmap, pow, [5])
attempt(groupby, 5)
attempt(pairwise, 5)
attempt(tee, [1], -1)
print(repeat("x", 3), repeat(5), count(3), count(1, 2), type(chain()).__name__, iter(chain()) is not None)
counter = count(10)
print(next(counter), next(counter), [next(counter) for _ in range(2)], dict(zip("abc", counter)), next(counter))


def batched(iterable, size):
    iterator = iter(iterable)
    while batch := list(islice(iterator, size)):
        yield batch


def unique(iterable):
    seen = set()
    for item in filterfalse(seen.__contains__, iterable):
        seen.add(item)
        yield item


def primes():
    yield 2
    yield from (n for n in count(3, 2) if all(n % p for p in takewhile(lambda p: p * p <= n, primes())))


print(list(batched("abcdefg", 3)), list(unique("mississippi")), list(islice(primes(), 12)), list(chain.from_iterable(repeat(x, n) for x, n in [("a", 2), ("b", 1)])), sum(map(lambda pair: pair[0] * pair[1], zip(count(1), [5, 6]))), ["".join(letters) for letters in product("01", repeat=3)], max(accumulate([1, -5, 3, 4])), list(islice(accumulate(repeat(2), lambda a, _: a * 2), 5)))
