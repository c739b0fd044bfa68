"""What runs in fewer steps than it is written in: loops over pairs, constant keys, variables in a row, defaults, builtin classes."""


def pairs():
    seen = []
    for place, item in enumerate(["a", "b", "c"]):
        seen.append((place, item))
    for place, item in enumerate((1, 2), 9223372036854775806):
        seen.append((place, item))
    for one, other in zip([1, 2, 3], range(10, 30, 5)):
        seen.append((one, other))
    for one, other in zip([1, 2, 3], ["x"]):
        seen.append((one, other))
    turns = iter([1, 2, 3, 4, 5])
    for one, other in zip(turns, turns):
        seen.append((one, other))
    for key, value in {"a": [1], "b": (2, [3])}.items():
        seen.append((key, value))
    # Containers that nothing has held before.
    for one, other in zip(((),), ([],)):
        seen.append((one, other))
    for key, value in enumerate([[1], (2,), {3: 4}]):
        value = [key, value]
        seen.append(value)
    return seen


print(pairs())


def changed(table):
    for key, value in table.items():
        table[key + "!"] = value


try:
    changed({"a": 1})
except RuntimeError as error:
    print(error)

holes = {number: number * number for number in range(40)}
for number in range(0, 40, 3):
    del holes[number]
print([key + value for key, value in holes.items()], len(holes))


def last_of(rows):
    for one, other in rows:
        pass
    else:
        one = -one
    return one, other


print(last_of([(1, 2), [3, 4]]), last_of(zip([5], [6])), last_of(enumerate([7])))
try:
    last_of([(1, 2), (1, 2, 3)])
except ValueError as error:
    print(error)
try:
    last_of(enumerate([1], "a"))
except TypeError as error:
    print(error)


def in_a_row():
    one, two, three = 1, [2], (3,)
    one, two = two, one
    three, two = (two, one)
    one, two, three = iter((one, two, three))
    [one, two] = {"k": 1, "v": 2}
    return one, two, three


print(in_a_row())


def kept(value):
    one, two = "before", "before"
    try:
        one, two = value
    except (TypeError, ValueError) as error:
        return one, two, str(error)
    return one, two


print(kept((1, 2)), kept("xy"), kept([1]), kept(5), kept(number for number in range(3)))


class Keys:
    def __init__(self):
        self.seen = []

    def __getitem__(self, key):
        self.seen.append(key)
        return len(self.seen)

    def __setitem__(self, key, value):
        self.seen.append((key, value))


keys = Keys()
keys[1] += keys[-2]
keys["name"] *= 5
keys[32767] = keys[-32768] = keys[40000] = keys[b"x"] = None
print(keys.seen)

total, nothing = 0, None
row, table, text = [1, 2, 3], {"a": 1, 2: "b", -1: "c"}, "abc"
row[0] += 10
row[-1] <<= 3
table["a"] -= 4
table[2] += "!"
print(row, table, table[-1], text[0], text[-1], (4, 5, 6)[1], b"xyz"[2], range(5)[3])
for attempt in (lambda: row[3], lambda: table["z"], lambda: text[9], lambda: ()[0], lambda: table[None], lambda: total[0], lambda: nothing["a"]):
    try:
        attempt()
    except (IndexError, KeyError, TypeError) as error:
        print(type(error).__name__, error)

for number in (5, -5, 2**63, True):
    print(number << 3, number >> 1, number | 6, number ^ 3, number << 70, number >> 70)
try:
    number << -1
except ValueError as error:
    print(error)


def defaults(one, two=[], three=None, *, four=4):
    return one, two, three, four


def plain(one, two="two", three="three"):
    return one, two, three


def grows(item, items=[]):
    items.append(item)
    return len(items)


print(plain(1), plain(1, 2), plain(1, 2, 3), plain(1, three=3), defaults(1), defaults(1, 2, four=3))
print(grows("a"), grows("b"), grows("c", []), grows("d"))
try:
    plain()
except TypeError as error:
    print(error)
plain.__defaults__ = ("later",)
print(plain(1, 2))
try:
    print(plain(1))
except TypeError as error:
    print(error)


class Wide(list):
    def __init__(self, *items):
        super().__init__(items)


print(list((1, 2)), tuple([3]), set([4, 4]), dict([(5, 6)]), dict(a=7), float("1.5"), int("12", 5), int(3.9), str(-8), str(b"9", "ascii"), bool([]))
print(Wide(1, 2), list(Wide(3)), bytearray(2), bytes([65]), frozenset([1]), complex(1, 2), range(3), list(reversed([1, 2])), object() is object())
for attempt in (lambda: list(5), lambda: int("x"), lambda: float([]), lambda: set(1, 2), lambda: dict([1]), lambda: range("a"), lambda: tuple(1, 2)):
    try:
        attempt()
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)


def echo():
    got = None
    while True:
        got = yield got
        yield


def drops():
    yield 1
    (yield 2)
    held = yield 3
    print("held", held)
    yield


talk = echo()
print(next(talk), talk.send("a"), next(talk), talk.send("b"), next(talk))
print([item for item in drops()], list(zip(drops(), "ab")))
steps = drops()
print(next(steps), steps.send([1]), steps.send([2]), steps.send([3]))
total = 0
for outer in range(4):
    for inner in (1, 2, 3):
        if inner == 2:
            continue
        if outer == 3:
            break
        total += outer * inner
    else:
        total += 100
print(total, [a * b for a, b in zip(range(3), [1, 2, 3]) if a], {key: value for value, key in enumerate("ab")}, sum(one - other for one, other in [(3, 1), (5, 2)]))
