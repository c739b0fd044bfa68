"""A program: matrices, fractions, polynomials, RSA in small, primes, a linear congruence generator, fixed point money."""


class Fraction:
    def __init__(self, top, bottom=1):
        if bottom == 0:
            raise ZeroDivisionError(f"Fraction({top}, 0)")
        divisor = self.gcd(abs(top), abs(bottom)) * (1 if bottom > 0 else -1)
        self.top, self.bottom = top // divisor, bottom // divisor

    @staticmethod
    def gcd(a, b):
        while b:
            a, b = b, a % b
        return a

    def __add__(self, other):
        other = other if isinstance(other, Fraction) else Fraction(other)
        return Fraction(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    __radd__ = __add__

    def __mul__(self, other):
        other = other if isinstance(other, Fraction) else Fraction(other)
        return Fraction(self.top * other.top, self.bottom * other.bottom)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self * Fraction(other.bottom, other.top)

    def __neg__(self):
        return Fraction(-self.top, self.bottom)

    def __sub__(self, other):
        return self + -other

    def __eq__(self, other):
        return (self.top, self.bottom) == (other.top, other.bottom)

    def __lt__(self, other):
        return self.top * other.bottom < other.top * self.bottom

    def __float__(self):
        return self.top / self.bottom

    def __repr__(self):
        return f"{self.top}/{self.bottom}" if self.bottom != 1 else str(self.top)


class Polynomial:
    def __init__(self, *coefficients):
        self.coefficients = list(coefficients)
        while self.coefficients and self.coefficients[-1] == 0:
            self.coefficients.pop()

    def __call__(self, x):
        result = 0
        for coefficient in reversed(self.coefficients):
            result = result * x + coefficient
        return result

    def __mul__(self, other):
        result = [0] * (len(self.coefficients) + len(other.coefficients) - 1)
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(other.coefficients):
                result[i + j] += a * b
        return Polynomial(*result)

    def derive(self):
        return Polynomial(*[power * c for power, c in enumerate(self.coefficients)][1:])

    def __str__(self):
        return " + ".join(f"{c}x^{p}" if p else str(c) for p, c in enumerate(self.coefficients) if c) or "0"


def solve(matrix):
    size = len(matrix)
    rows = [[Fraction(v) for v in row] for row in matrix]
    for i in range(size):
        pivot = next(r for r in range(i, size) if rows[r][i].top)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(size):
            if r != i:
                factor = rows[r][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [row[-1] for row in rows]


def multiply(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def power(matrix, exponent):
    result = [[int(i == j) for j in range(len(matrix))] for i in range(len(matrix))]
    while exponent:
        if exponent & 1:
            result = multiply(result, matrix)
        matrix = multiply(matrix, matrix)
        exponent >>= 1
    return result


def generator(seed):
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed >> 33


def newton(function, slope, x):
    for _ in range(50):
        x -= function(x) / slope(x)
    return x


print(sum([Fraction(1, n) for n in range(1, 11)], Fraction(0)), Fraction(6, -4), float(Fraction(1, 3)), sorted([Fraction(1, 2), Fraction(1, 3), Fraction(-1)]), solve([[2, 1, -1, 8], [-3, -1, 2, -11], [-2, 1, 2, -3]]))
p = Polynomial(1, -3, 0, 2)
print(p, p(5), p * p, p.derive(), (p * Polynomial(0, 1))(Fraction(1, 2)), Polynomial(), round(newton(p, p.derive(), 2.0), 12))
print(power([[1, 1], [1, 0]], 200)[0][1], multiply([[1, 2], [3, 4]], [[5, 6], [7, 8]]))
prime_p, prime_q, e = 2**61 - 1, 2**89 - 1, 65537
n, d = prime_p * prime_q, pow(e, -1, (prime_p - 1) * (prime_q - 1))
message = int.from_bytes(b"howdy partner", "big")
print(pow(message, e, n), pow(pow(message, e, n), d, n).to_bytes(13, "big"), d.bit_length())
random = generator(42)
rolls = [next(random) % 6 + 1 for _ in range(600)]
print(rolls[:20], [rolls.count(side) for side in range(1, 7)], sum(1 for _ in range(3000) if (next(random) % 1000 / 1000) ** 2 + (next(random) % 1000 / 1000) ** 2 < 1) * 4 / 3000)
sieve = bytearray([1]) * 1000
sieve[0:2] = b"\0\0"
for number in range(2, 32):
    if sieve[number]:
        sieve[number * number::number] = bytes(len(sieve[number * number::number]))
print(sum(sieve), [n for n in range(970, 1000) if sieve[n]])
digits, (q, r, t, k, m, x) = "", (1, 0, 1, 1, 3, 3)
while len(digits) < 60:
    if 4 * q + r - t < m * t:
        digits += str(m)
        q, r, m = 10 * q, 10 * (r - m * t), (10 * (3 * q + r)) // t - 10 * m
    else:
        q, r, t, k, m, x = q * k, (2 * q + r) * x, t * x, k + 1, (q * (7 * k + 2) + r * x) // (t * x), x + 2
print(digits)
