"""Operator methods: binary, reflected, in place, unary, and NotImplemented."""


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Vector({self.x}, {self.y})"

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y) if isinstance(other, Vector) else NotImplemented

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, scale):
        return Vector(self.x * scale, self.y * scale) if isinstance(scale, (int, float)) else NotImplemented

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __pos__(self):
        return self

    def __invert__(self):
        return Vector(self.y, self.x)

    def __abs__(self):
        return (self.x**2 + self.y**2) ** 0.5

    def __eq__(self, other):
        return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __bool__(self):
        return bool(self.x or self.y)

    def __divmod__(self, other):
        return "divmod", other

    def __rdivmod__(self, other):
        return "rdivmod", other

    def __pow__(self, power, modulus=None):
        return "pow", power, modulus

    def __rpow__(self, base):
        return "rpow", base

    def __round__(self, digits=None):
        return "round", digits

    def __int__(self):
        return 7

    def __float__(self):
        return 7.5

    def __trunc__(self):
        return 6

    def __floor__(self):
        return 5


a, b = Vector(1, 2), Vector(3, 4)
print(a + b, a - b, a * 3, 3 * a, a @ b, -a, +a, ~a, abs(b), a == Vector(1, 2), a != b, a == 1, sum([a, b, a]), {a: "a"}[Vector(1, 2)], bool(Vector(0, 0)), divmod(a, 1), divmod(1, a), a**2, 2**a, pow(a, 2, 3), round(a), round(a, 2), int(a), float(a))
alias = a
a += b
print(a, alias, alias is a)
a *= 2
print(a, alias, alias is a)


class Logged:
    def __getattr__(self, name):
        raise AttributeError(name)


def make(name):
    def method(self, *others):
        return (name,) + others
    return method


binary = "add sub mul truediv floordiv mod lshift rshift and or xor matmul".split()
Left = type("Left", (), {f"__{name}__": make(name) for name in binary})
Right = type("Right", (), {f"__r{name}__": make("r" + name) for name in binary})
InPlace = type("InPlace", (), {f"__i{name}__": make("i" + name) for name in binary})
for value in (Left(), Right()):
    results = [lambda: value + 1, lambda: 1 + value, lambda: value - 1, lambda: 1 - value, lambda: value * 2, lambda: 2 * value, lambda: value / 2, lambda: 2 / value, lambda: value // 2, lambda: 2 // value, lambda: value % 2, lambda: 2 % value,
               lambda: value << 2, lambda: 2 << value, lambda: value >> 2, lambda: 2 >> value, lambda: value & 2, lambda: 2 & value, lambda: value | 2, lambda: 2 | value, lambda: value ^ 2, lambda: 2 ^ value, lambda: value @ 2, lambda: 2 @ value, lambda: [1] + value, lambda: "s" * value, lambda: 1.5 - value, lambda: "s" % value]
    for result in results:
        try:
            print(str(result()).replace(repr(value), "self"), end=" ")
        except TypeError as error:
            print(error, end="; ")
    print()
target = InPlace(); target += 1; print(target)
target = InPlace(); target @= 1; print(target)
target = InPlace(); target //= 1; print(target)
target = InPlace(); target |= 1; print(target)
target = Left(); target -= 5; print(target)


class Base:
    def __add__(self, other):
        return "Base.add"

    def __radd__(self, other):
        return "Base.radd"


class Derived(Base):
    def __radd__(self, other):
        return "Derived.radd"


class Refuses:
    def __add__(self, other):
        print("asked", end=" ")
        return NotImplemented

    __radd__ = __add__


print(Base() + Derived(), Derived() + Base(), Base() + Base(), Derived() + Derived(), 1 + Derived(), Base() + 1)
for expression in (lambda: Refuses() + Refuses(), lambda: Refuses() + 1, lambda: 1 + Refuses(), lambda: -Refuses(), lambda: abs(Refuses()), lambda: Refuses() - 1, lambda: ~Base(), lambda: divmod(Base(), 1), lambda: Base() ** 2, lambda: round(Base()), lambda: int(Base()), lambda: float(Base())):
    try:
        print(expression())
    except TypeError as error:
        print(error)


class Number(int):
    def __add__(self, other):
        return Number(int(self) + int(other) + 100)

    def __repr__(self):
        return f"Number({int(self)})"


print(Number(1) + 2, 1 + Number(2), Number(3) * 2, type(Number(3) * 2).__name__, Number(5) == 5, [10, 20][Number(1)], Number("12"), isinstance(Number(1), int), Number(1) < 2, f"{Number(5)}", hash(Number(9)))
