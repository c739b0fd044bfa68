"""range: indexing, slicing, membership, equality, and very large bounds."""


def attempt(function, *arguments):
    try:
        print(repr(function(*arguments)))
    except Exception as error:
        print(type(error).__name__, error)


ranges = [range(5), range(2, 8), range(0, 20, 3), range(10, 0, -2), range(0), range(5, 5), range(3, 1), range(-3, 3), range(10**20, 10**20 + 10, 4), range(1, 2, 10**25), range(2**63 - 2, 2**63 + 2)]
for numbers in ranges:
    print(numbers, list(numbers), len(numbers), bool(numbers), numbers.start, numbers.stop, numbers.step, list(reversed(numbers)), numbers[::-1], numbers[1:], numbers[:-1:2], sum(numbers))
    for candidate in (0, 3, 9, 10**20 + 4, 2.0, "a", None, True, 2**63):
        print(candidate in numbers, numbers.count(candidate), end=" ")
    print()
    attempt(lambda: numbers[0])
    attempt(lambda: numbers[-1])
    attempt(lambda: numbers[7])
    attempt(numbers.index, 3)
print(range(0, 5, 2) == range(0, 6, 2), range(0) == range(2, 1), range(3) == [0, 1, 2], range(1, 2) == range(1, 3, 5), range(3) != range(4), hash(range(0)) == hash(range(5, 1)), {range(2): "r"}[range(0, 2)])
attempt(range, 1, 2, 0)
attempt(range, 1.5)
attempt(range, "a")
attempt(range)
attempt(range, 1, 2, 3, 4)
attempt(lambda: range(3) + range(3))
attempt(lambda: range(3).index(7))
attempt(lambda: range(3)[5])
attempt(lambda: range(3) < range(4))
attempt(lambda: len(range(10**30)))
for outer in range(3):
    for inner in range(outer, 3):
        if inner == 2:
            break
        print((outer, inner), end=" ")
    else:
        print("no break", end=" ")
print()
for number in range(3):
    number += 10
    print(number, end=" ")
print(number)
for number in range(0):
    pass
print(number, list(range(3))[::-1], [*range(2)], tuple(range(-1, -4, -1)), max(range(7)), min(range(3, 9)), sorted(range(3), reverse=True), 5 in range(10**30), list(zip(range(3), range(10, 13))))
iterator = iter(range(3))
print(next(iterator), list(iterator), list(iterator), next(iterator, "end"), repr(range(True)), list(range(False, 3, True)))
total = 0
for number in range(1000000, 0, -99991):
    total = total * 3 + number
print(total)
countdown = 10
while countdown:
    countdown -= 1
    if countdown % 2:
        continue
    if countdown == 4:
        break
    print(countdown, end=" ")
else:
    print("never here")
print("left at", countdown)
while countdown > 0:
    countdown -= 1
else:
    print("exhausted", countdown)
