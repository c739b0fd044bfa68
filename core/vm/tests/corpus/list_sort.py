"""Sorting: stability, key, reverse, comparisons made by classes, and failures on the way."""
from functools import cmp_to_key

words = "the quick Brown fox jumps over The lazy dog and the Cat".split()
print(sorted(words), sorted(words, key=str.lower), sorted(words, key=len), sorted(words, key=len, reverse=True), sorted(words, key=lambda word: (-len(word), word)))
records = [("b", 2), ("a", 2), ("c", 1), ("a", 1), ("b", 1), ("c", 2)]
print(sorted(records), sorted(records, key=lambda record: record[1]), sorted(records, key=lambda record: record[1], reverse=True), sorted(records, key=lambda record: record[0]))
numbers = [(number * 7919) % 1009 for number in range(300)]
numbers.sort()
print(numbers[:10], numbers[-10:], numbers == sorted(numbers, reverse=True)[::-1])
mixed = [3, 1.5, True, -2, 2**70, 0.1, -1e300, False]
mixed.sort()
print(mixed, mixed.sort(reverse=True), mixed)
print(sorted("hello"), sorted({3: "c", 1: "a"}), sorted({5, 2, 9}), sorted((3, 1)), sorted(range(5, 0, -1)), sorted([[2], [1, 5], [1]]), sorted([(1, "b"), (1, "a")]), sorted([]), sorted(["é", "e", "z", "Z"]))
print(sorted([b"b", b"a"]), sorted([True, False]), sorted([1, 1.0, True], key=lambda value: 0), sorted(["10", "9", "1"], key=int))


class Item:
    compared = 0

    def __init__(self, weight, name):
        self.weight, self.name = weight, name

    def __lt__(self, other):
        Item.compared += 1
        return self.weight < other.weight

    def __repr__(self):
        return f"{self.name}{self.weight}"


items = [Item(weight % 3, name) for weight, name in zip([5, 3, 8, 1, 9, 2, 7], "abcdefg")]
print(sorted(items), sorted(items, reverse=True), min(items), Item.compared > 5)
items.sort(key=lambda item: item.name, reverse=True)
print(items)


def by_last(left, right):
    return (left[-1] > right[-1]) - (left[-1] < right[-1])


print(sorted(words, key=cmp_to_key(by_last)))


def attempt(function, *arguments, **named):
    try:
        print(function(*arguments, **named))
    except Exception as error:
        print(type(error).__name__, error)


attempt(sorted, [1, "a"])
attempt(sorted, ["a", 1, 2])
attempt(sorted, [None, 1])
attempt(sorted, [object(), object()])
attempt(sorted, 5)
attempt(sorted, [1, 2], key=5)
attempt(sorted, [1, 2], len)
attempt(sorted, [1, 2], key=lambda value: 1 / (value - 2))
attempt([3, 1].sort, lambda x: x)
attempt([3, 1].sort, reverse="yes")
attempt([3, 1].sort, reverse=None)
attempt(sorted, [{}, {}])
work = [5, 3, "x", 1]
attempt(work.sort)
print(len(work), sorted(map(str, work)))
print(max(words, key=len), min(words, key=len), max([], default="none"), max(3, 7, 5, key=lambda value: -value), min("b", "a"), max([1, 2], [1, 3]), max((2, "b"), (2, "a")), max(1, 1.0), min(1.0, 1))
attempt(max, [])
attempt(max, 1)
attempt(max)
attempt(min, 1, "a")
attempt(max, 1, 2, default=3)


def merge_sort(values):
    if len(values) < 2:
        return values
    middle = len(values) // 2
    left, right, merged = merge_sort(values[:middle]), merge_sort(values[middle:]), []
    while left and right:
        merged.append((left if left[0] <= right[0] else right).pop(0))
    return merged + left + right


def quick_sort(values):
    return values if len(values) < 2 else quick_sort([v for v in values[1:] if v < values[0]]) + [values[0]] + quick_sort([v for v in values[1:] if v >= values[0]])


sample = [(number * number * 31 + 7) % 101 for number in range(60)]
print(merge_sort(sample) == sorted(sample) == quick_sort(sample), merge_sort(sample)[:12])
