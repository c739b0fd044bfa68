"""decimal: exact arithmetic, contexts, rounding, special values."""
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_UP, Decimal, DivisionByZero, InvalidOperation, getcontext


def attempt(function, *arguments):
    try:
        print(repr(function(*arguments)))
    except Exception as error:
        print(type(error).__name__, error)


for text in ("0", "-0", "1.10", "1e5", "1E-10", "123456789.987654321", "Infinity", "-inf", "NaN", "sNaN", ".5", "5.", "  7 ", "1_000.5", "+3"):
    d = Decimal(text)
    print(d, repr(d), d.as_tuple(), d.is_finite(), d.is_nan(), d.is_zero(), d.is_signed())
for bad in ("", "abc", "1.2.3", "1e", "--1", None, [], "1 2"):
    attempt(Decimal, bad)
print(Decimal(5), Decimal(-2**70), Decimal(0.1), Decimal(1.5), Decimal((1, (1, 2, 3), -2)), Decimal(True), Decimal())
a, b = Decimal("10.5"), Decimal("3")
print(a + b, a - b, a * b, a / b, a // b, a % b, -a, +a, abs(-a), a**2, b**Decimal("0.5"), divmod(a, b), a + 1, 1 + a, a * 2, 2 - a, 1 / b, -7 // b, -7 % b, a == Decimal("10.50"), a > b, a == 10.5, a < 11, hash(Decimal(5)) == hash(5), max(a, b), sorted([a, b, Decimal(-1)]), sum([a, b]), bool(Decimal(0)), int(a), float(a), round(a), round(Decimal("2.675"), 2), f"{a}", str(a))
for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_UP, ROUND_DOWN, ROUND_CEILING, ROUND_FLOOR):
    print(rounding, [str(Decimal(v).quantize(Decimal("0.1"), rounding=rounding)) for v in ("1.25", "1.35", "-1.25", "1.21", "-1.29", "0.05")])
print(Decimal("1.5").quantize(Decimal("1")), Decimal("123.456").quantize(Decimal("1e1")), Decimal("1.200").normalize(), Decimal("100").normalize(), Decimal("1.23").adjusted(), Decimal("-5.5").copy_abs(), Decimal("1.5").copy_sign(Decimal(-1)), Decimal("2").sqrt(), Decimal("2").ln(), Decimal("100").log10(), Decimal("1").exp(), Decimal("7").compare(Decimal("8")), Decimal("1.5").to_integral_value(), Decimal("12.34").as_integer_ratio(), Decimal("1e3").to_eng_string(), Decimal("3").fma(2, 1), Decimal("5").min(Decimal("3")), Decimal("5.50").same_quantum(Decimal("0.01")), Decimal("12").remainder_near(Decimal("5")), Decimal("1").next_plus(), Decimal("123").scaleb(2), Decimal("123").logb())
print([format(Decimal("1234.5678"), spec) for spec in ("", ".2f", "10.1f", ",.2f", "e", ".3e", "+", "g", ".2%", "<12", "012.1f")])
attempt(lambda: Decimal(1) / 0)
attempt(lambda: Decimal(0) / 0)
attempt(lambda: Decimal("sNaN") + 1)
attempt(lambda: Decimal(-1).sqrt())
attempt(lambda: Decimal(1) + 1.5)
attempt(lambda: Decimal("NaN") < 1)
attempt(lambda: Decimal("1e1000000") ** 10)
attempt(lambda: int(Decimal("inf")))
attempt(lambda: Decimal("Infinity") - Decimal("Infinity"))
print(issubclass(DivisionByZero, ZeroDivisionError), issubclass(InvalidOperation, ArithmeticError), Decimal("NaN") == Decimal("NaN"), Decimal("Infinity") > 10**100, Decimal("-0") == 0, getcontext().prec, getcontext().rounding)
print(Decimal(1) / 3, sum(Decimal("0.1") for _ in range(10)) == 1, Decimal("0.1") + Decimal("0.2") == Decimal("0.3"))
balance = Decimal("1000.00")
for _ in range(12):
    balance = (balance * Decimal("1.0041")).quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN)
print(balance, [str(Decimal(n) / Decimal(7)) for n in range(1, 4)], {Decimal("1.0"): "one"}[1], Decimal("1.0") in {1})
