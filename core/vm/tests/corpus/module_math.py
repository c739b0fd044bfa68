"""math: every function, special values, and domain errors. Only digits that correct rounding gives both."""
import math


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


print(math.pi, math.e, math.tau, math.inf, math.nan)
for value in (2.5, -2.5, 0.5, -0.5, 0.0, -0.0, 1e20, 7, 2**70, True):
    print(math.floor(value), math.ceil(value), math.trunc(value), math.fabs(value), math.modf(value), math.frexp(value), math.isfinite(value), math.copysign(3, value))
for value in (math.inf, -math.inf, math.nan):
    print(math.isinf(value), math.isnan(value), math.isfinite(value), math.fabs(value), math.copysign(1, value), math.frexp(value), math.modf(value))
    for function in (math.floor, math.ceil, math.trunc, math.sqrt, math.log, math.exp, math.sin, math.gamma, math.isqrt, math.factorial):
        attempt(function, value)
for value in (0, 1, 2, 4, 0.25, 1e10, 1e-10, 10**30, 2**1000):
    print(f"{math.sqrt(value)!r} {math.cbrt(value):.12g}")
for value in (0.0, 0.5, 1.0, -1.0, 2.0, 10.0, -0.75, 100.0, 1e-9):
    print([f"{function(value):.13g}" for function in (math.sin, math.cos, math.tan, math.atan, math.exp, math.exp2, math.expm1, math.sinh, math.cosh, math.tanh, math.asinh, math.erf, math.erfc)])
for value in (0.0, 0.5, -0.5, 1.0):
    print([f"{function(value):.13g}" for function in (math.asin, math.acos)], end=" ")
print([f"{math.acosh(value):.13g}" for value in (1.0, 1.5, 100.0)], [f"{math.atanh(value):.13g}" for value in (0.0, 0.5, -0.9)])
for value in (0.5, 1.0, 2.0, 10, 100, 1e300, 8, 1024, 10**40, 2**3000):
    print([f"{function(value):.13g}" for function in (math.log, math.log2, math.log10, math.log1p)] if value < 1e308 else [f"{function(value):.13g}" for function in (math.log, math.log2, math.log10)], f"{math.log(value, 3):.13g}")
print([f"{math.gamma(v):.12g}" for v in (0.5, 1, 5, -0.5, 10.5, 170)], [f"{math.lgamma(v):.12g}" for v in (0.5, 3, 100, 1e10)])
print(math.pow(2, 10), math.pow(2, 0.5), math.pow(-8, 3), math.pow(0, 0), math.pow(1, math.nan), math.pow(math.inf, -1), math.atan2(1, 1), math.atan2(-0.0, -1), math.atan2(0, 0), math.hypot(3, 4), math.hypot(1, 2, 2), math.hypot(), math.dist([0, 0], [3, 4]), math.degrees(math.pi), math.radians(180))
print(math.fmod(7, 3), math.fmod(-7, 3), math.fmod(7.5, -2), math.remainder(7, 4), math.remainder(6, 4), math.remainder(-5, 3), math.ldexp(0.5, 4), math.ldexp(1, -1074), math.fsum([0.1] * 10), math.fsum([1e100, 1, -1e100]), math.ulp(1.0), math.ulp(0), math.nextafter(1, 2), math.nextafter(0, -1))
print([math.factorial(n) for n in (0, 1, 5, 20, 30)], [math.isqrt(n) for n in (0, 1, 8, 9, 10**20, 10**41)], math.gcd(12, 18), math.gcd(), math.gcd(-4, 6, 10), math.gcd(0, 5), math.lcm(4, 6), math.lcm(), math.lcm(0, 3), math.comb(10, 3), math.comb(5, 7), math.comb(60, 30), math.perm(5, 2), math.perm(5), math.prod([1, 2, 3, 4]), math.prod([], start=5), math.prod([0.5, 4]))
print(math.isclose(0.1 + 0.2, 0.3), math.isclose(1, 1.1), math.isclose(1, 1.1, rel_tol=0.2), math.isclose(0, 1e-10), math.isclose(0, 1e-10, abs_tol=1e-9), math.isclose(math.inf, math.inf), math.isclose(math.nan, math.nan))
attempt(math.sqrt, -1)
attempt(math.log, 0)
attempt(math.log, -5)
attempt(math.log, 5, 0)
attempt(math.log, 5, 1)
attempt(math.log10, -1)
attempt(math.log2, 0)
attempt(math.log1p, -1)
attempt(math.acos, 2)
attempt(math.asin, -2)
attempt(math.acosh, 0)
attempt(math.atanh, 1)
attempt(math.exp, 1000)
attempt(math.cosh, 1000)
attempt(math.pow, -8, 1 / 3)
attempt(math.pow, 0, -1)
attempt(math.pow, 10, 400)
attempt(math.fmod, 1, 0)
attempt(math.factorial, -1)
attempt(math.factorial, 2.5)
attempt(math.isqrt, -1)
attempt(math.isqrt, 2.0)
attempt(math.gcd, 1.5)
attempt(math.comb, -1, 2)
attempt(math.perm, 3, -1)
attempt(math.gamma, 0)
attempt(math.gamma, -1)
attempt(math.gamma, 200)
attempt(math.ldexp, 1, 5000)
attempt(math.dist, [1], [1, 2])
attempt(math.sqrt, "x")
attempt(math.sqrt, None)
attempt(math.sqrt)
attempt(math.floor, "x")
attempt(math.fsum, ["x"])
attempt(math.sqrt, 10**400)
attempt(math.isclose, 1, 2, rel_tol=-1)


class Real:
    def __float__(self):
        return 6.25

    def __floor__(self):
        return "floored"

    def __ceil__(self):
        return "ceiled"

    def __trunc__(self):
        return "truncated"


print(math.sqrt(Real()), math.floor(Real()), math.ceil(Real()), math.trunc(Real()))
