"""Integers: the operators, their signs, and where small ones become big ones."""

values = [0, 1, -1, 2, -2, 7, -7, 255, 2**31 - 1, -2**31, 2**63 - 1, -2**63, 2**63, 2**64, 10**18, -10**30]
divisors = [1, -1, 2, -2, 3, -3, 7, -7, 2**32, -2**63, 10**20]

for value in values:
    print(value, -value, +value, abs(value), ~value, bool(value), value.bit_length(), value.bit_count())

for value in values:
    for divisor in divisors:
        quotient, remainder = divmod(value, divisor)
        assert quotient * divisor + remainder == value
        print(value, divisor, value // divisor, value % divisor, (quotient, remainder))

for left in [2**62, 2**63 - 1, -2**63, 3**40]:
    for right in [1, -1, 2**62, 2**63 - 1, -2**63, 3**41]:
        print(left + right, left - right, left * right)

for value in [0, 1, 5, -5, 2**40, -2**70 + 1]:
    for shift in [0, 1, 3, 31, 63, 64, 65, 130]:
        print(value << shift, value >> shift, end="; ")
    print()

pairs = [(12, 10), (-12, 10), (12, -10), (-12, -10), (2**70 + 5, -3), (-2**70 - 5, 2**69 + 1), (0, -1)]
for left, right in pairs:
    print(left & right, left | right, left ^ right)

for base, power in [(2, 0), (2, 10), (-3, 5), (-3, 4), (0, 0), (0, 5), (10, 30), (7, 100), (2, -2), (-4, -1)]:
    print(base, power, base**power)

for arguments in [(3, 200, 1000007), (2, 10, 7), (5, 3, -7), (-5, 3, 7), (7, -1, 31), (10, 0, 1), (2**100, 2**50, 10**9 + 7)]:
    print(arguments, pow(*arguments))


def attempt(function, *arguments):
    try:
        print(function(*arguments))
    except Exception as error:
        print(type(error).__name__, error)


attempt(lambda: 1 // 0)
attempt(lambda: 1 % 0)
attempt(lambda: 1 / 0)
attempt(lambda: divmod(1, 0))
attempt(lambda: 0 ** -1)
attempt(lambda: 1 << -1)
attempt(lambda: 1 >> -1)
attempt(pow, 2, 3, 0)
attempt(pow, 2, -1, 4)
attempt(lambda: 1 + "a")
attempt(lambda: "a" + 1)
attempt(lambda: 1 + None)
attempt(lambda: [] - 1)
attempt(lambda: 1 < "a")
attempt(lambda: -"a")
attempt(lambda: ~1.5)
attempt(lambda: 1 & 1.0)
attempt(lambda: 2 ** "x")
attempt(int.__add__, 1, 1.5)

for value in [7, -7, 0]:
    for divisor in [2, -2]:
        print(value / divisor, value // divisor, value % divisor)
print(10**40 / 10**20, 2**1000 / 2**990, -7 / 2**70, 10**300 / 3)
total = 5
total += 3; total -= 1; total *= 6; total //= 4; total %= 7; total **= 5; total <<= 3; total >>= 1; total |= 1; total &= 0xFFF; total ^= 0b1010
print(total)
print(1_000_000, 0x_ff, 0o17, 0b1010_1010, 0XFF, 0O7, 0B1)
print(True + True, True * 10, -True, ~True, True << 3, True & False, True | False, True ^ True, 5 & True)
print((2**64) % 10, (-2**64) % 10, (-2**64) // 10, 2**200 % 2**100, (2**200 + 1) % 2**100)
