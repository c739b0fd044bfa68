"""Floats: shortest text, parsing, rounding and the special values."""


def attempt(function, *arguments):
    try:
        print(repr(function(*arguments)))
    except Exception as error:
        print(type(error).__name__, error)


for value in [0.0, -0.0, 1.0, -1.5, 0.1, 0.2, 0.1 + 0.2, 1 / 3, 2 / 3, 100.0, 1e15, 1e16, 1e17, 123456789012345678.0, 1e22, 1e23, 1e-4, 1e-5, 0.00012345, 5e-324,
              2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 3.141592653589793, 1e100, 1.5e300, 4.35, 2.675, float("inf"), float("-inf"), float("nan")]:
    print(value, repr(value), str(value), f"{value}", f"{value!r:>25}|")

for text in ["1", "1.", ".5", "-0", "1e5", "1E-5", "  2.5  ", "inf", "-Infinity", "nan", "+NaN", "1_000.5", "1e400", "-1e400", "1e-400", "0x10", "", "abc", "1e", ".", "1__0", "infinit", "1.5.2",
             "179769313486231580793e289", "2.47032822920623272e-324", "2.4703282292062328e-324", "0.1000000000000000055511151231257827", "9007199254740992.9999"]:
    attempt(float, text)
attempt(float, b"2.5")
attempt(float, 2**70)
attempt(float, 10**400)
attempt(float, None)
attempt(float, [])
attempt(float)
attempt(float, True)

for value in [0.5, 1.5, 2.5, -0.5, -1.5, 2.675, 1234.5678, 1e16, -2.5, 0.49999999999999994]:
    print(round(value), round(value, 1), round(value, 2), round(value, -2), int(value), value // 1, value % 1)
attempt(round, float("nan"))
attempt(round, float("inf"))
attempt(round, float("nan"), 2)
attempt(round, 1.5, None)
attempt(round, 1.5, "a")

for value in [0.5, -2.25, 1e300, 0.1, 3.0, -0.0, 5e-324]:
    print(value.hex(), value.as_integer_ratio(), value.is_integer(), float.fromhex(value.hex()) == value)
attempt(float("inf").as_integer_ratio)
attempt(float("nan").as_integer_ratio)
attempt(float.fromhex, "0x1.8p3")
attempt(float.fromhex, "zz")
attempt(float.fromhex, "-0x.8p-1")

for left in [7.5, -7.5, 0.0, 1e308]:
    for right in [2.0, -2.0, 0.7, float("inf"), -1e-300]:
        print(left + right, left - right, left * right, left / right, left // right, left % right, divmod(left, right))
for base, power in [(2.0, 0.5), (2.0, -1.0), (-8.0, 2.0), (-2.0, 3.0), (0.0, 0.0), (10.0, 308.0), (1.0, float("nan")), (float("inf"), -1.0), (0.5, 1074.0), (2, 0.5), (4, -0.5)]:
    print(base, power, base**power)
attempt(lambda: 1.0 / 0)
attempt(lambda: 1.0 // 0.0)
attempt(lambda: 1.0 % 0.0)
attempt(lambda: divmod(1.0, 0.0))
attempt(lambda: 0.0 ** -1)
attempt(lambda: 10.0 ** 400)
attempt(lambda: 1.5 + "x")
attempt(lambda: 1.5 << 1)
attempt(lambda: "x" * 1.5)
nan = float("nan")
inf = float("inf")
print(nan == nan, nan != nan, nan < 1, nan > 1, inf == inf, inf > 1e308, -inf < inf, inf - inf, inf * 0, [nan] == [nan], nan in [nan], 0.0 == -0.0)
print(min(1.0, nan), min(nan, 1.0), max(1, 2.5), sorted([2.5, -1, 3, 0.0, -inf, inf]), sum([0.1] * 10), sum([1, 2.5, True]))
print(hash(1.0), hash(0.5), hash(-0.0), hash(inf), hash(-inf), hash(1e300), hash(0.1), hash(-1.0))
print(3.0 .real, 3.5.imag, 2.5.conjugate(), (1.5).__add__(2), (1.5).__eq__(1.5), (2.0).__floordiv__(0.3), abs(-1.5), -(-2.5), +2.5, bool(0.0), bool(nan))
print(1e5, 1.5e-7, 12345678.9, 1_0.0_1, 1e0, 0e5)
