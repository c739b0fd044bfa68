# The comparisons of a sort, and what becomes of items that have no total order.
def numbers(seed, count, limit):
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % 2147483648
        yield (seed >> 8) % limit


class Item:
    log = []
    less = None

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        Item.log.append(self.value * 31 + other.value)
        return Item.less(self.value, other.value)


def checked(values, less, reverse):
    Item.less, Item.log = less, []
    result = [item.value for item in sorted([Item(value) for value in values], reverse=reverse)]
    digest = 0
    for each in Item.log:
        digest = (digest * 1000003 + each) % 1000000007
    print(len(values), reverse, len(Item.log), digest, result[:8], sum([i * v for i, v in enumerate(result)]))


def total(a, b):
    return a < b


def odd(a, b):
    return (a * 7919 + b * 104729) % 97 < 48


def nearly(a, b):
    return (a < b) ^ ((a + b) % 11 == 0)


for count in (0, 1, 2, 3, 17, 63, 64, 65, 130, 200):
    for less in (total, odd, nearly):
        checked(list(numbers(count, count, 50)), less, count % 3 == 0)
values = list(numbers(5, 150, 1000))
for shaped in (sorted(values), sorted(values)[::-1], sorted(values[:70]) + sorted(values[70:]), sorted(values[:30]) + sorted(values[30:]),
               [v for at in range(0, 150, 29) for v in sorted(values[at:at + 29])], [1] * 100, sorted(values) + values[:5]):
    checked(shaped, total, False)
    checked(shaped, total, True)
    checked(shaped, nearly, False)

nan = float("nan")


def shown(items):
    return " ".join([repr(item) for item in items])


print(shown(sorted([2.0, nan, 1.0])), shown(sorted([2.0, nan, 1.0], reverse=True)))
rows = [("a", 3.5), ("b", nan), ("c", 1.5), ("d", nan), ("e", 0.5)]
print([row[0] for row in sorted(rows, key=lambda row: row[1])], [row[0] for row in sorted(rows, key=lambda row: row[1], reverse=True)])
print([row[0] for row in sorted(rows, key=lambda row: (row[1], 1))], [row[0] for row in sorted(rows, key=lambda row: (1, row[1]))])
mixed = [float(value) if value % 7 else nan for value in numbers(9, 300, 500)]
print(shown(sorted(mixed)))
print(shown(sorted(mixed, key=lambda value: value)) == shown(sorted(mixed)), shown(sorted(mixed, reverse=True)))
sets = [{value % 5, value % 3} for value in numbers(3, 90, 100)]
print([sum(each) * 10 + len(each) for each in sorted(sets)])
for broken in ([1, "a", 2], ["b", 1, 2.5, None], [(1, "a"), (1, 2)], [[2], [None], [1]], [1, 2, 3, {}, 4], [3j, 1]):
    for reverse in (False, True):
        try:
            print(sorted(broken, reverse=reverse))
        except TypeError as error:
            print(error)


def raising(value):
    if value == 3:
        raise ValueError("three")
    return value


try:
    [1, 2, 3].sort(key=raising)
except ValueError as error:
    print(error)
