"""Assignment: targets, unpacking, augmented assignment, del, evaluation order, walrus."""


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


a = b = c = [1]
b.append(2)
print(a, c, a is c)
(x, y), z = [1, 2], 3
first, *rest = "hello"
*start, last = (1, 2, 3)
head, *middle, tail = range(5)
[p, [q, *r]] = 1, (2, 3, 4)
only, *none = [7]
print(x, y, z, first, rest, start, last, head, middle, tail, p, q, r, only, none)
x, y = y, x
values = [0, 1, 2]
index = 0
index, values[index] = 2, "set"
print(x, y, values, index)
table, record = {}, type("Record", (), {})()
table["k"], record.field, values[1:2], *others = 1, 2, [3, 4], 5, 6
print(table, record.field, values, others)


def note(tag, value=None):
    print(tag, end=" ")
    return value


note("target", values)[note("index", 0)] = note("value", 9)
print(values, note("l", 1) + note("r", 2) * note("s", 3), {note("k1"): note("v1"), note("k2"): note("v2")}, note("f", max)(note("a1", 1), note("a2", 2)))
number = 5
number += 2; number -= 1; number *= 3; number //= 2; number **= 2; number %= 50; number <<= 2; number >>= 1; number |= 1; number ^= 3; number &= 0xFF
ratio = 5
ratio /= 2
text = "a"
text += "b"
text *= 3
print(number, ratio, text)
grid = [[0] * 2 for _ in range(2)]
grid[note("row", 1)][note("column", 0)] += note("add", 5)
record.field += 10
table["k"] -= 1
values[0:1] += [7, 7]
print(grid, record.field, table, values)
del a, values[0], table["k"], record.field, (x, y)
print(values, table, hasattr(record, "field"))
attempt(lambda: a)
attempt(lambda: x)
attempt(lambda: record.field)
if (n := len("walrus")) > 3:
    print(n, (m := n + 1) * 2, m, [k := 1, k + 1])
while (chunk := values.pop() if values else None) is not None:
    print(chunk, end=" ")
print(chunk)


def unpack(value, how):
    if how == 2:
        l, r = value
        return l, r
    if how == "star":
        l, *m, r = value
        return l, m, r
    (l, r), s = value
    return l, r, s


for value, how in [([1, 2], 2), ([1], 2), ([1, 2, 3], 2), ("ab", 2), (5, 2), (None, 2), ({"a": 1, "b": 2}, 2), ([1], "star"), ([1, 2], "star"), ("abcd", "star"), (7, "star"), (((1, 2), 3), 3), ((1, 3), 3), (iter([1, 2]), 2), (range(3), 2), ((x for x in "abc"), "star")]:
    attempt(lambda: unpack(value, how))
i = j = 0
for i, (j, *k) in enumerate([(1, 2), "xyz"]):
    print(i, j, k)
for values[0:0] in [[1, 2], [3]]:
    print(values)
for record.loop in range(2):
    pass
print(record.loop, i, j)
total: int = 5
untouched: str
print(total, [*range(2), *"a"], {*[1]}, (*[], 1), {**{"a": 1}, "a": 2})
attempt(lambda: untouched)
attempt(lambda: [*5])
attempt(lambda: {**[1]})
attempt(lambda: (*None,))
_, _, keep = 1, 2, 3
print(_, keep)
with_semicolons = 1; also = 2; print(with_semicolons, also)
if keep: print("one line")
pass
...
"a bare string"
