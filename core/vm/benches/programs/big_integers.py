"""Integers beyond 64 bits: modular powers, products, digits, shifts."""


def powers(count):
    prime, total = 2**521 - 1, 0
    base = 3**300 % prime
    for turn in range(count):
        base = base * base % prime
        total ^= base >> (turn % 200)
    return total % 1000000007


def fibonacci(count):
    a, b = 0, 1
    for _ in range(count):
        a, b = b, a + b
        if a.bit_length() > 3000:
            a, b = a % 10**40, b % 10**40
    return a % 1000000007


def digits(count):
    number, total = 1, 0
    for turn in range(count):
        number = number * (turn % 97 + 2) % 10**150
        total += sum(map(int, str(number)[:40]))
    return total


def keys(count):
    value, mask, total = 1, 2**256 - 1, 0
    for turn in range(count):
        value = (value * 6364136223846793005 + turn) & mask
        value ^= value >> 33
        total += value & 1023
    return total


print(powers(60000), fibonacci(240000), digits(6000), keys(300000))
