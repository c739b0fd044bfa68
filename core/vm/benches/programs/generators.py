"""Generators: pipelines, yield from, generator expressions, send."""


def numbers(limit):
    number = 0
    while number < limit:
        yield number
        number += 1


def squares(source):
    for value in source:
        yield value * value


def only(source, divisor):
    for value in source:
        if value % divisor == 0:
            yield value


class Tree:
    def __init__(self, depth):
        self.children = [Tree(depth - 1), Tree(depth - 1)] if depth else []
        self.value = depth

    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child


def averager():
    total = count = 0
    mean = None
    while True:
        value = yield mean
        total += value
        count += 1
        mean = total // count


checksum = sum(only(squares(numbers(500000)), 7))
checksum += sum(value for value in Tree(12))
averages = averager()
next(averages)
for value in range(250000):
    checksum += averages.send(value)
checksum += sum(left * right for left, right in zip(numbers(200000), (value % 3 for value in numbers(200000))))
print(checksum)
