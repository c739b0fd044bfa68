"""Loops and small integers: a sieve, digit sums, collatz, bit counting."""


def sieve(limit):
    flags = [True] * (limit + 1)
    flags[0] = flags[1] = False
    number = 2
    while number * number <= limit:
        if flags[number]:
            multiple = number * number
            while multiple <= limit:
                flags[multiple] = False
                multiple += number
        number += 1
    count = 0
    for flag in flags:
        if flag:
            count += 1
    return count


def collatz(limit):
    best = at = 0
    for start in range(1, limit):
        number, steps = start, 0
        while number != 1:
            number = number // 2 if number % 2 == 0 else 3 * number + 1
            steps += 1
        if steps > best:
            best, at = steps, start
    return best, at


def bits(limit):
    total = 0
    for number in range(limit):
        while number:
            number &= number - 1
            total += 1
    return total


print(sieve(500000), collatz(9000), bits(60000))
