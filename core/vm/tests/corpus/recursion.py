"""Recursion: depth, mutual recursion, classic puzzles, and the deep data it builds."""


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def ackermann(m, n):
    return n + 1 if m == 0 else ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def hanoi(n, source="a", target="b", spare="c"):
    if n == 0:
        return []
    return hanoi(n - 1, source, spare, target) + [source + target] + hanoi(n - 1, spare, target, source)


def queens(n, placed=()):
    if len(placed) == n:
        return 1
    return sum(queens(n, placed + (column,)) for column in range(n)
               if all(column != other and abs(column - other) != len(placed) - row for row, other in enumerate(placed)))


def subsets(items):
    return [[]] if not items else [kept for rest in subsets(items[1:]) for kept in (rest, [items[0]] + rest)]


def edit_distance(a, b, known={}):
    if (a, b) not in known:
        known[a, b] = max(len(a), len(b)) if not a or not b else min(edit_distance(a[1:], b) + 1, edit_distance(a, b[1:]) + 1, edit_distance(a[1:], b[1:]) + (a[0] != b[0]))
    return known[a, b]


def nest(n):
    return [] if n == 0 else [nest(n - 1)]


def measure(value):
    return 0 if not value else 1 + max(map(measure, value))


class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def insert(self, value):
        side = "left" if value < self.value else "right"
        child = getattr(self, side)
        if child is None:
            setattr(self, side, Node(value))
        else:
            child.insert(value)
        return self

    def walk(self):
        return (self.left.walk() if self.left else []) + [self.value] + (self.right.walk() if self.right else [])

    def height(self):
        return 1 + max(self.left.height() if self.left else 0, self.right.height() if self.right else 0)


print(depth(200), is_even(150), is_odd(77), ackermann(2, 6), len(hanoi(9)), hanoi(3), [queens(n) for n in range(1, 7)], subsets([1, 2, 3]), edit_distance("kitten", "sitting"), measure(nest(60)), nest(5))
root = Node(50)
for number in range(120):
    root.insert((number * 37) % 101)
print(root.walk(), root.height())
print((lambda f: f(f, 15))(lambda f, n: n if n < 2 else f(f, n - 1) + f(f, n - 2)), str(nest(30)), nest(40) == nest(40), nest(40) < nest(41), repr(("a", ["b", {"c": ("d",)}])))


def parse(text):
    position = 0

    def peek():
        return text[position] if position < len(text) else ""

    def expression():
        nonlocal position
        value = term()
        while peek() in ("+", "-") and peek():
            sign = text[position]
            position += 1
            value = value + term() if sign == "+" else value - term()
        return value

    def term():
        nonlocal position
        value = factor()
        while peek() in ("*", "/") and peek():
            sign = text[position]
            position += 1
            value = value * factor() if sign == "*" else value // factor()
        return value

    def factor():
        nonlocal position
        start = position
        while peek().isdigit():
            position += 1
        return int(text[start:position])

    return expression()


print(parse("1+2*3-4/2"), parse("12*12-44+7*7"))


def collatz(n, steps=0):
    return steps if n == 1 else collatz(n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1)


def permutations(text):
    return [text] if len(text) < 2 else [c + rest for i, c in enumerate(text) for rest in permutations(text[:i] + text[i + 1:])]


def knapsack(items, room):
    if not items:
        return 0
    (weight, value), *rest = items
    return max(knapsack(rest, room), value + knapsack(rest, room - weight) if weight <= room else 0)


print(collatz(27), permutations("abcd"), knapsack([(3, 4), (4, 5), (2, 3), (5, 8), (1, 1)], 8), sum(collatz(n) for n in range(1, 40)))
