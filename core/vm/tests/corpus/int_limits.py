"""Integers stay exact to 4,096 bits."""

factorial = 1
for number in range(1, 301):
    factorial *= number
print(factorial)
print(factorial.bit_length(), factorial % 1000003, factorial // 3**200)

first, second = 0, 1
for _ in range(2500):
    first, second = second, first + second
print(first, first.bit_length())

largest = 2**4095 - 1 + 2**4095
print(largest.bit_length(), largest % 10**9, hex(largest)[:10], len(hex(largest)), len(str(largest)), -largest // 7 % 10**12)
print(2**4095 > 2**4094, 2**2048 * 2**2047 == 2**4095, (2**4095 - 1) // (2**2000 + 1) % 10**15, (2**4095) >> 4090)
print(pow(3, 2**1000, 2**521 - 1) % 10**20, pow(3, -1, 2**521 - 1) % 10**20)


def square_root(number):
    guess = 1 << (number.bit_length() + 1) // 2
    while True:
        better = (guess + number // guess) >> 1
        if better >= guess:
            return guess
        guess = better


def gcd(left, right):
    while right:
        left, right = right, left % right
    return left


print(square_root(2 * 10**400))
print(gcd(2**300 * 3**100, 6**150) == 6**150 // 3**50, gcd(factorial, 2**4000) == 2**296)
print(int(str(2**1000)) == 2**1000, int(hex(2**999 + 12345), 16) == 2**999 + 12345, int("9" * 1000) == 10**1000 - 1)
print(int.from_bytes(bytes(range(200)), "little") % 10**30, (2**1500 - 1).to_bytes(188, "big").hex()[:20])


def prime(number):
    if number < 2 or number % 2 == 0:
        return number == 2
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd //= 2
        twos += 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        if base % number == 0:
            continue
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


print([number for number in range(60) if prime(number)], [exponent for exponent in (61, 89, 107, 127, 67, 521) if prime(2**exponent - 1)])
bits = [0, 1, -1, 5, -5, 2**100 - 1, -2**100]
print([[left & right for right in bits] for left in bits])
print([[left | right for right in bits] for left in bits])
print([[left ^ right for right in bits] for left in bits])
print([number >> shift for number in (2**100, -2**100, 2**100 - 1, -2**100 + 1) for shift in (1, 50, 99, 100, 101, 500)])
print(sorted([2**70, -2**70, 5, 2**65, -1, 0, 2**64 - 1, 2**63], reverse=True))
print({2**64: "a", 2.0**64: "b"}, {1: "x", True: "y", 1.0: "z"}, hash(2**64) == hash(2.0**64))
