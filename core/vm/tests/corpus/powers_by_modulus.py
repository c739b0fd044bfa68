"""`pow` with three arguments: whose power is asked, in which order, and with what words it ends."""
from decimal import Decimal


class Plain:
    pass


class Says:
    def __pow__(self, exponent, modulus=None):
        return f"{type(self).__name__} {type(exponent).__name__} {type(modulus).__name__}"


class Reflected:
    def __rpow__(self, base, modulus=None):
        return f"reflected {type(base).__name__} {type(modulus).__name__}"


class Declines:
    def __pow__(self, *others):
        return NotImplemented


class Not:
    __pow__ = None


class Number(int):
    def __pow__(self, exponent, modulus=None):
        return f"number {int(self)} {type(exponent).__name__} {type(modulus).__name__}"


class Silent(int):
    def __pow__(self, exponent, modulus=None):
        return NotImplemented


class Turned(int):
    def __rpow__(self, base, modulus=None):
        return "turned"


class Whole(int):
    pass


class Absent(int):
    __pow__ = None


class Real(float):
    def __pow__(self, exponent, modulus=None):
        return "real"


class Beside(float):
    pass


class Wave(complex):
    pass


class Bound:
    __pow__ = staticmethod(lambda *others: len(others))


class Class:
    __pow__ = classmethod(lambda cls, *others: (cls.__name__, len(others)))


OPERANDS = [5, True, Whole(6), Number(7), Silent(8), Turned(9), Absent(3), 2.0, Beside(3.0), Real(4.0), 1j, Wave(2), "text", None, [],
            Plain(), Says(), Reflected(), Declines(), Not(), Bound(), Class()]


def attempt(act):
    try:
        return repr(act())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


for base in OPERANDS:
    for exponent in OPERANDS:
        row = [attempt(lambda: pow(base, exponent, modulus)) for modulus in OPERANDS if modulus is not None]
        # Most moduli say the same: how often each answer came, in the order of the first.
        counted = {}
        for answer in row:
            counted[answer] = counted.get(answer, 0) + 1
        print(type(base).__name__, type(exponent).__name__, counted)

print(attempt(lambda: pow(base=2, exp=10, mod=7)), attempt(lambda: pow(2, -1, mod=9)), attempt(lambda: pow(2, -1, 8)), attempt(lambda: pow(2, 3, 0)))
print(attempt(lambda: pow(Number(2), 5, mod=None)), attempt(lambda: pow(Number(2), 5)), attempt(lambda: pow(True, True, True)))
for act in (lambda: int.__pow__(5, 2, 3), lambda: int.__pow__(5, 2, None), lambda: int.__rpow__(2, 5, 3), lambda: int.__pow__(5, 2, 3.0), lambda: int.__pow__(5, 2.0, 3),
            lambda: int.__pow__(5, "2", 3), lambda: Number(5).__rpow__(2, 9), lambda: super(Number, Number(5)).__pow__(2, 3), lambda: float.__pow__(5.0, 2, None),
            lambda: float.__pow__(5.0, 2.0, 3), lambda: float.__rpow__(2.0, 5, 3), lambda: bool.__pow__(True, 2, 5), lambda: (5).__pow__(2, 3)):
    print(attempt(act))
print(attempt(lambda: pow(Decimal(7), 2, 5)), attempt(lambda: pow(Decimal(7), 2.0, 5)))
