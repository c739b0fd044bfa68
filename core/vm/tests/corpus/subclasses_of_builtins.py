"""Special methods that subclasses of builtin types have, and where CPython asks for them."""
import math
def attempt(call):
    try:
        return repr(call())
    except BaseException as error:
        return type(error).__name__ + ": " + str(error)
def of(base, **k): return type("C", (base,), k)
five = lambda *a: 5
yes = lambda *a: "own"
x = of(int, __lt__=yes, __gt__=yes, __eq__=yes)(3)
print(1 > x, 1 < x, x < 1, x > 1, 1 == x, 1 != x, x != 1, 1.5 > x, 1.5 == x)
x = of(float, __lt__=yes, __gt__=yes, __eq__=yes)(3)
print(1 > x, 1 < x, x < 1, x > 1, 1 == x, 1 != x, x != 1, 1.5 > x, 1.5 == x)
for base in (int, float, list, dict, str, tuple, set, bytes, object):
    x = of(base, __eq__=lambda s, o: True, __hash__=five)()
    print(base.__name__, x != 1, x != base(), x == 1, 1 != x, [x] != [1], base() == x, base() != x)
x = of(int, __index__=five, __len__=five, __floor__=yes, __ceil__=yes, __trunc__=five, __float__=lambda s: 9.0, __int__=five, __bool__=None)(0)
y = of(int, __len__=five)(0)
z = of(int, __index__=five)(0)
print(attempt(lambda: [10, 11, 12, 13, 14, 15][z]), attempt(lambda: range(z)), attempt(lambda: bytes(z)), attempt(lambda: hex(z)), attempt(lambda: chr(z)), attempt(lambda: "a" * z), attempt(lambda: int(z)), attempt(lambda: math.gcd(z, 10)), bool(y), bool(of(float, __len__=five)()), attempt(lambda: [1,2,3][z:]), attempt(lambda: round(2.5, z)))
print(attempt(lambda: math.floor(x)), attempt(lambda: math.ceil(x)), attempt(lambda: math.trunc(x)), attempt(lambda: math.sqrt(x)), attempt(lambda: int(x)), attempt(lambda: float(x)))
w = of(float, __floor__=yes, __ceil__=yes, __trunc__=five, __float__=lambda s: 9.0, __int__=five)(0)
print(attempt(lambda: math.floor(w)), attempt(lambda: math.ceil(w)), attempt(lambda: math.trunc(w)), attempt(lambda: math.sqrt(w)), attempt(lambda: int(w)), attempt(lambda: float(w)))
for base in (list, tuple, str, bytes):
    x = of(base, __rmul__=yes, __mul__=yes, __radd__=yes)()
    print(attempt(lambda: 2 * x), attempt(lambda: x * 2), attempt(lambda: base() + x), attempt(lambda: 1 + x))
x = of(int, __pow__=yes, __rpow__=yes)(3)
print(attempt(lambda: x ** 2), attempt(lambda: 2 ** x))
for base in (object, list, dict, str, tuple):
    print(attempt(lambda: reversed(of(base, __reversed__=None)())), attempt(lambda: reversed(of(base, __reversed__=yes)())))
