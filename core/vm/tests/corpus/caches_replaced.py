# What an instruction has found out stops being true: a builtin is hidden, a special method is replaced, bound otherwise, or taken away.


def size(items):
    return len(items)


count = 0
for round in range(6):
    count += 1
    print(round, size("abc"), end=" ")
    if round == 1:
        len = lambda items: "hidden"
    if round == 3:
        del len
    if round == 4:
        other = "a new global"
print()


def all_names():
    return [max(1, count), min(count, 2), sum([count])]


print(all_names())
count = 10
print(all_names())
max = min
print(all_names())
del max
count = 20
print(all_names())


class Row:
    def __init__(self, *items):
        self.items = list(items)

    def __getitem__(self, key):
        return self.items[key]

    def __setitem__(self, key, value):
        self.items[key] = value


class Loud(Row):
    def __getitem__(self, key):
        print("get", key)
        return super().__getitem__(key)


def attempt(work):
    try:
        return work()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def first(row):
    return row[0]


def change(row, value):
    row[0] = value
    return row[0]


rows = [Row(1, 2), Loud(3, 4), [5, 6], {0: "zero"}, "text"]
print([attempt(lambda: first(row)) for row in rows], [attempt(lambda: change(row, 9)) for row in rows])
Row.__getitem__ = lambda self, key: ("replaced", key)
print([attempt(lambda: first(row)) for row in rows])
Row.__setitem__ = lambda self, key, value: print("set", key, value)
print([attempt(lambda: change(row, 8)) for row in rows])
Row.__getitem__ = staticmethod(lambda key: ("static", key))
print(attempt(lambda: first(rows[0])))
Row.__getitem__ = lambda self, key, more=7: (key, more)
print(attempt(lambda: first(rows[0])))
Row.__getitem__ = lambda self: "too few"
print(attempt(lambda: first(rows[0])))


def generated(self, key):
    yield key


Row.__getitem__ = generated
print(list(first(rows[0])))
del Row.__getitem__
del Row.__setitem__
print(attempt(lambda: first(rows[0])), attempt(lambda: change(rows[0], 1)))
rows[0].__getitem__ = lambda key: "of the instance"
print(attempt(lambda: first(rows[0])))


class Deep:
    def __getitem__(self, key):
        return self[key - 1] if key else "bottom"


print(Deep()[40], attempt(lambda: Deep()[10**6]))


class Keeper:
    def __init__(self, add):
        self.add = add

    def __getitem__(self, key):
        add = self.add
        return [(lambda: key + add)() for _ in range(2)]

    def __setitem__(self, key, value):
        return "ignored"


keeper = Keeper(5)
keeper[1] = keeper[2] = 3
print(keeper[1], keeper[2])
