"""Lists: methods, operators, slice assignment and deletion, errors."""


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


numbers = [3, 1, 2]
numbers.append(5)
numbers.extend((8, 9))
numbers.extend("ab")
numbers.insert(0, "first")
numbers.insert(100, "last")
numbers.insert(-1, "almost")
print(numbers, len(numbers), numbers.index(5), numbers.count("a"), numbers.index(2, 1, 6))
print(numbers.pop(), numbers.pop(0), numbers.pop(-2), numbers)
numbers.remove("almost")
numbers.remove("a")
numbers.reverse()
print(numbers, numbers.copy(), numbers[:] == numbers, numbers[:] is numbers)
numbers.clear()
print(numbers)
attempt(numbers.pop)
attempt(numbers.remove, 1)
attempt([1, 2].index, 5)
attempt([1, 2].pop, 7)
attempt([1, 2].pop, "a")
attempt([1].extend, 5)
attempt([1].insert, "a", 1)
attempt(lambda: [1, 2] + (3,))
attempt(lambda: [1] * 1.5)
attempt(lambda: [1] < [None])
attempt(lambda: [1, 2][2])
attempt([1, 2].__setitem__, 5, 1)
attempt([1, 2].__delitem__, 5)
attempt([1, 2, 3, 4].__setitem__, slice(0, 4, 2), [1])
attempt([1, 2].__setitem__, slice(0, 1), 5)
attempt(hash, [])
attempt(list, 5)
attempt([].append)
attempt([].append, 1, 2)

base = list(range(10))
for start, stop, step, replacement in [(2, 5, None, ["a"]), (0, 0, None, [1, 2]), (None, None, None, []), (5, 2, None, ["x", "y"]), (-3, None, None, "pq"), (None, None, 2, list("abcde")),
                                       (None, None, -1, range(10)), (8, 1, -3, ["i", "j", "k"]), (100, 200, None, [1]), (3, 4, None, (n for n in range(3)))]:
    work = base[:]
    work[start:stop:step] = replacement
    print(work)
for start, stop, step in [(2, 5, None), (None, None, 2), (None, None, -3), (-2, None, None), (5, 2, None), (None, None, None), (1, 9, 4)]:
    work = base[:]
    del work[start:stop:step]
    print(work)
work = base[:]
del work[0], work[-1], work[3]
print(work)
work[1:1] = work
print(work)
work *= 2
work += "yz"
print(work, work * 0, 2 * [1, [2]], [0] * -1)
alias = work
alias += [1]
print(alias is work, work[-1])
work = work + [2]
print(alias is work)

print([1, 2] == [1, 2], [1, 2] < [1, 3], [1] < [1, 0], [] < [0], [2] > [1, 9], [1, "a"] == [1, "a"], [1] != [1.0], [1, 2] == (1, 2), [[1], [2]] < [[1], [3]])
print(3 in [1, 2, 3], 3.0 in [3], None in [0], [1] in [[1]], "x" not in ["y"])
print(list("abc"), list(range(3)), list({1: 2}), list((1,)), list(), [*range(3), *"ab", 9], list(map(str, [1, 2])), list(filter(None, [0, 1, "", 2])), list(zip([1, 2], "ab")))
nested = [[0] * 3 for _ in range(2)]
nested[0][1] = 5
shared = [[0] * 3] * 2
shared[0][1] = 5
print(nested, shared, [[]] * 3, [[1, [2, [3, [4]]]]], repr([None, True, 1.5, "s", b"b", (1,), {2: 3}]))
first, *middle, last = range(6)
print(first, middle, last, sum(middle), min(middle), max(middle), sorted(middle, reverse=True), list(reversed(middle)))
matrix = [[1, 2, 3], [4, 5, 6]]
print([list(row) for row in zip(*matrix)], [value for row in matrix for value in row], [[row[column] for row in matrix] for column in range(3)])
stack = []
for character in "3 4 + 2 *".split():
    stack.append(int(character) if character.isdigit() else {"+": int.__add__, "*": int.__mul__}[character](stack.pop(), stack.pop()))
print(stack)
grown = []
for number in range(5):
    grown.append(number)
    for inner in grown:
        if len(grown) < 8:
            grown.append(inner * 10)
print(grown)
