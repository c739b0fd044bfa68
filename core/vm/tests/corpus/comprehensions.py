"""Comprehensions and generator expressions: nesting, conditions, scope, evaluation order."""

print([x * x for x in range(6)], [x for x in range(10) if x % 2 if x > 3], [(x, y) for x in range(3) for y in range(x)], [x + y for x in "ab" for y in "cd" if x + y != "ad"])
print({x: x**2 for x in range(4)}, {k: v for k, v in [("a", 1), ("b", 2), ("a", 3)]}, {v: k for k, v in {"x": 1}.items()}, sorted({x % 3 for x in range(10)}), list(x for x in "gen"), sum(x for x in range(5)), max(len(w) for w in ("a", "bbb")))
print([[y for y in range(x)] for x in range(4)], [[row[i] for row in [[1, 2], [3, 4]]] for i in range(2)], [z for z in [y for y in [x for x in range(5)] if y] if z > 1], [a for (a, b), *c in [((1, 2), 3), ((4, 5),)]])
x = "outer"
inside = [x for x in range(3)]
print(x, inside)
try:
    print([undefined_here for y in range(1)])
except NameError as error:
    print(error)


def trace(tag, value):
    print(tag, end=" ")
    return value


print([trace("e", x) for x in trace("i", [1, 2]) if trace("c", x > 0) for y in trace("j", "p")])
print({trace("k", k): trace("v", k * 2) for k in (1, 2)})
gen = (trace("lazy", x) for x in trace("first", range(3)))
print("created")
print(next(gen), list(gen), list(gen))


def scoped(n):
    factor = 10
    squares = [factor * i for i in range(n)]
    factor = 20
    lazy = (factor * i for i in range(n))
    factor = 30
    return squares, list(lazy), [lambda: factor * i for i in range(n)][0]()


print(scoped(3))
print([y := 1, y**2], y, [last := v for v in range(3)], last, [total := total + v for v in range(4)] if (total := 0) == 0 else None, total, any((found := v) > 2 for v in range(9)), found)
print([f() for f in [lambda: i for i in range(3)]], [f() for f in [lambda i=i: i for i in range(3)]], [(lambda v: v * 2)(v) for v in range(3)])


class Holder:
    size = 3
    cells = [i * 2 for i in range(size)]
    names = {n: n.upper() for n in ("a", "b")}
    try:
        bad = [size for i in range(2)]
    except NameError as error:
        message = str(error)


print(Holder.cells, Holder.names, Holder.message, hasattr(Holder, "i"))
matrix = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
print([sum(row) for row in matrix], [sum(row[c] for row in matrix) for c in range(3)], [v for row in matrix for v in row if v % 2], [matrix[i][i] for i in range(3)], [[matrix[r][c] for r in range(3)] for c in range(3)])
print([c if c.isalpha() else "_" for c in "a1b2"], ["fizz" * (not n % 3) + "buzz" * (not n % 5) or n for n in range(1, 16)], [n for n in range(2, 40) if all(n % d for d in range(2, int(n**0.5) + 1))])
print([(a, b, c) for c in range(1, 21) for b in range(1, c) for a in range(1, b) if a * a + b * b == c * c], dict((k, [v for kk, v in [("a", 1), ("b", 2), ("a", 3)] if kk == k]) for k in "ab"))
print([*(x for x in "ab"), *[c for c in "cd"]], (*(x for x in range(2)),), {**{k: 0 for k in "q"}}, "".join(c for c in "hello world" if c not in "lo"), tuple(x for x in range(3)), list(map(lambda p: p[0], ((x, 1) for x in "zy"))))


def boom():
    yield 1
    raise ValueError("boom")


for expression in (lambda: [x for x in boom()], lambda: [1 / x for x in (1, 0)], lambda: list(x for x in 5), lambda: {x for x in [[]]}, lambda: {[]: 1 for x in "a"}, lambda: [x for x, y in "ab"]):
    try:
        print(expression())
    except Exception as error:
        print(type(error).__name__, error)
deep = [[[[i + j + k + l for i in range(2)] for j in range(2)] for k in range(2)] for l in range(2)]
print(deep, [[i, j] for i, j in zip(range(3), "abc")], [i for i in range(100) if i % 7 == 3 and i % 11 == 5 or i == 99], [not i for i in (0, 1)], [i for i in [1, 2] if not i == 1], [(yield_) for yield_ in "ok"])
