"""Decimal numbers, with the results and errors of CPython's decimal module under one fixed context.

The chain fixes the context (003 "Numeric Determinism"): 28 digits, ROUND_HALF_EVEN, exponents to 999,999, errors for invalid
operations, division by zero and overflow. An operation may be told another rounding by argument; the context stays.
"""
import _decimal
from collections import namedtuple

__all__ = [
    "Decimal", "Context", "DecimalTuple", "DefaultContext", "BasicContext", "ExtendedContext", "DecimalException", "Clamped",
    "InvalidOperation", "DivisionByZero", "Inexact", "Rounded", "Subnormal", "Overflow", "Underflow", "FloatOperation",
    "DivisionImpossible", "InvalidContext", "ConversionSyntax", "DivisionUndefined", "ROUND_DOWN", "ROUND_HALF_UP",
    "ROUND_HALF_EVEN", "ROUND_CEILING", "ROUND_FLOOR", "ROUND_UP", "ROUND_HALF_DOWN", "ROUND_05UP", "setcontext", "getcontext",
    "localcontext", "MAX_PREC", "MAX_EMAX", "MIN_EMIN", "MIN_ETINY", "HAVE_THREADS", "HAVE_CONTEXTVAR",
]

ROUND_DOWN = "ROUND_DOWN"
ROUND_HALF_UP = "ROUND_HALF_UP"
ROUND_HALF_EVEN = "ROUND_HALF_EVEN"
ROUND_CEILING = "ROUND_CEILING"
ROUND_FLOOR = "ROUND_FLOOR"
ROUND_UP = "ROUND_UP"
ROUND_HALF_DOWN = "ROUND_HALF_DOWN"
ROUND_05UP = "ROUND_05UP"

__version__ = "1.70"
__libmpdec_version__ = "2.5.1"

MAX_PREC = 999999999999999999
MAX_EMAX = 999999999999999999
MIN_EMIN = -999999999999999999
MIN_ETINY = -1999999999999999997
HAVE_THREADS = False
HAVE_CONTEXTVAR = False

_PRECISION = 28
_EMAX = 999999
_EMIN = -999999
_ETINY = _EMIN - _PRECISION + 1
_ETOP = _EMAX - _PRECISION + 1

DecimalTuple = namedtuple("DecimalTuple", "sign digits exponent", module="decimal")


# Conditions


class DecimalException(ArithmeticError):
    """A condition of decimal arithmetic."""


class Clamped(DecimalException):
    """An exponent was changed to fit."""


class InvalidOperation(DecimalException):
    """An operand is outside the operation's domain."""


class ConversionSyntax(InvalidOperation):
    """A text is no number."""


class DivisionByZero(DecimalException, ZeroDivisionError):
    """A number other than zero divided by zero."""


class DivisionImpossible(InvalidOperation):
    """A whole quotient has too many digits."""


class DivisionUndefined(InvalidOperation, ZeroDivisionError):
    """Zero divided by zero."""


class Inexact(DecimalException):
    """Digits other than zero were lost."""


class InvalidContext(InvalidOperation):
    """A context that cannot be."""


class Rounded(DecimalException):
    """Digits were lost."""


class Subnormal(DecimalException):
    """A result is smaller than the smallest normal number."""


class Overflow(Inexact, Rounded):
    """A result is too large."""


class Underflow(Inexact, Rounded, Subnormal):
    """A result is too small."""


class FloatOperation(DecimalException, TypeError):
    """A float met a decimal."""


_SIGNALS = (InvalidOperation, FloatOperation, DivisionByZero, Overflow, Subnormal, Underflow, Rounded, Inexact, Clamped)


# Numbers


class Decimal:
    """A decimal number."""

    __slots__ = ("_n",)
    _name_in_messages = "decimal.Decimal"

    def __new__(cls, value="0", context=None):
        _check(context)
        self = object.__new__(cls)
        if isinstance(value, (tuple, list)):
            value = _written(value)
        self._n = _decimal.number(value)
        return self

    @classmethod
    def from_float(cls, f, /):
        """The exact value of a float or an integer."""
        if not isinstance(f, (int, float)):
            raise TypeError("argument must be int or float")
        number = Decimal(f)
        return number if cls is Decimal else cls(number)

    __add__ = _decimal.add
    __radd__ = _decimal.radd
    __sub__ = _decimal.sub
    __rsub__ = _decimal.rsub
    __mul__ = _decimal.mul
    __rmul__ = _decimal.rmul
    __truediv__ = _decimal.truediv
    __rtruediv__ = _decimal.rtruediv
    __floordiv__ = _decimal.floordiv
    __rfloordiv__ = _decimal.rfloordiv
    __mod__ = _decimal.mod
    __rmod__ = _decimal.rmod
    __neg__ = _decimal.neg
    __pos__ = _decimal.pos
    __abs__ = _decimal.abs

    def __divmod__(self, other):
        return _decimal.divmod(self, other)

    def __rdivmod__(self, other):
        return _decimal.divmod(other, self)

    def __pow__(self, other, modulo=None):
        if not isinstance(other, (Decimal, int)):
            return NotImplemented
        if modulo is not None:
            return _power_modulo(self, other, modulo) if isinstance(modulo, (Decimal, int)) else NotImplemented
        return _decimal.apply("power", self, other)

    def __rpow__(self, other):
        if not isinstance(other, (Decimal, int)):
            return NotImplemented
        return _decimal.apply("power", other, self)

    def _order(self, other):
        order = _decimal.order(self, other)
        if order is None:
            raise InvalidOperation([InvalidOperation])
        return order

    def __eq__(self, other):
        if isinstance(other, complex) and other.imag == 0:
            other = other.real
        order = _decimal.order(self, other)
        if order is None:
            if self.is_snan() or isinstance(other, Decimal) and other.is_snan():
                raise InvalidOperation([InvalidOperation])
            return False
        return order if order is NotImplemented else order == 0

    def __lt__(self, other):
        order = self._order(other)
        return order if order is NotImplemented else order < 0

    def __le__(self, other):
        order = self._order(other)
        return order if order is NotImplemented else order <= 0

    def __gt__(self, other):
        order = self._order(other)
        return order if order is NotImplemented else order > 0

    def __ge__(self, other):
        order = self._order(other)
        return order if order is NotImplemented else order >= 0

    def __hash__(self):
        return object.__hash__(self) if self.is_qnan() else _decimal.hash(self)

    def __bool__(self):
        return not self.is_zero()

    def __int__(self):
        return _decimal.to_int(self, "int")

    __trunc__ = __int__

    def __floor__(self):
        return _decimal.to_int(self, "floor")

    def __ceil__(self):
        return _decimal.to_int(self, "ceil")

    def __round__(self, n=None):
        if n is None:
            return _decimal.to_int(self, "round")
        if not isinstance(n, int):
            raise TypeError("optional arg must be an integer")
        return _decimal.quantize(self, Decimal(f"1E{-n}"), None)

    def __float__(self):
        return _decimal.to_float(self)

    def __str__(self):
        return _decimal.text(self, False)

    def __repr__(self):
        return f"Decimal('{_decimal.text(self, False)}')"

    def __format__(self, spec):
        return _decimal.format(self, spec)

    def __copy__(self):
        return self if type(self) is Decimal else type(self)(self)

    def __deepcopy__(self, memo):
        return self if type(self) is Decimal else type(self)(self)

    @property
    def real(self):
        """The number itself."""
        return self

    @property
    def imag(self):
        """Zero."""
        return Decimal(0)

    def conjugate(self):
        """The number itself."""
        return self

    def as_tuple(self):
        """Sign, digits and exponent."""
        sign, digits, exponent = _decimal.parts(self)
        return DecimalTuple(sign, tuple([int(digit) for digit in digits]), exponent)

    def as_integer_ratio(self):
        """The fraction in lowest terms."""
        return _decimal.ratio(self)

    def adjusted(self):
        """The exponent in scientific notation."""
        sign, digits, exponent = _decimal.parts(self)
        return exponent + len(digits) - 1 if isinstance(exponent, int) else 0

    def to_eng_string(self, context=None):
        """The text with exponents that are multiples of three."""
        return _decimal.text(self, True)

    def canonical(self):
        """The number itself."""
        return self

    def is_canonical(self):
        """True."""
        return True

    def is_finite(self):
        """Whether it is neither an infinity nor a NaN."""
        return _decimal.number_class(self)[1:] in ("Normal", "Zero", "Subnormal")

    def is_infinite(self):
        """Whether it is an infinity."""
        return _decimal.number_class(self)[1:] == "Infinity"

    def is_nan(self):
        """Whether it is a NaN."""
        return _decimal.number_class(self)[-3:] == "NaN"

    def is_qnan(self):
        """Whether it is a quiet NaN."""
        return _decimal.number_class(self) == "NaN"

    def is_snan(self):
        """Whether it is a signaling NaN."""
        return _decimal.number_class(self) == "sNaN"

    def is_zero(self):
        """Whether it is zero."""
        return _decimal.number_class(self)[1:] == "Zero"

    def is_signed(self):
        """Whether the sign is minus."""
        return _decimal.parts(self)[0] == 1

    def is_normal(self, context=None):
        """Whether it is finite, not zero and not subnormal."""
        return _decimal.number_class(self)[1:] == "Normal"

    def is_subnormal(self, context=None):
        """Whether it is smaller than the smallest normal number, but not zero."""
        return _decimal.number_class(self)[1:] == "Subnormal"

    def number_class(self, context=None):
        """Where on the number line it lies."""
        return _decimal.number_class(self)

    def radix(self):
        """Ten."""
        return Decimal(10)

    def sqrt(self, context=None):
        """The square root."""
        return _decimal.apply("sqrt", self)

    def exp(self, context=None):
        """e to this power."""
        return _decimal.apply("exp", self)

    def ln(self, context=None):
        """The natural logarithm."""
        return _decimal.apply("ln", self)

    def log10(self, context=None):
        """The logarithm to base ten."""
        return _decimal.apply("log10", self)

    def logb(self, context=None):
        """The exponent in scientific notation, as a decimal."""
        if self.is_nan():
            return +self
        if self.is_infinite():
            return Decimal("Infinity")
        if self.is_zero():
            raise DivisionByZero([DivisionByZero])
        return Decimal(self.adjusted())

    def normalize(self, context=None):
        """Rounded, without zeros at the end."""
        return _decimal.apply("normalize", self)

    def quantize(self, exp, rounding=None, context=None):
        """Rounded to the exponent of another number."""
        return _decimal.quantize(self, _operand(exp), rounding)

    def to_integral_value(self, rounding=None, context=None):
        """Rounded to a whole number."""
        return _decimal.integral(self, rounding)

    to_integral = to_integral_value
    to_integral_exact = to_integral_value

    def fma(self, other, third, context=None):
        """self * other + third, rounded once."""
        return _decimal.apply("fma", self, _operand(other), _operand(third))

    def compare(self, other, context=None):
        """-1, 0 or 1 as a decimal, or a NaN."""
        return _decimal.apply("compare", self, _operand(other))

    def compare_signal(self, other, context=None):
        """The same, refusing every NaN."""
        return Decimal(self._order(_operand(other)))

    def compare_total(self, other, context=None):
        """The order of all representations."""
        return Decimal(_decimal.order(self, _operand(other), True))

    def compare_total_mag(self, other, context=None):
        """The same, without signs."""
        return self.copy_abs().compare_total(_operand(other).copy_abs())

    def copy_abs(self):
        """Without its sign, exactly."""
        return _decimal.apply("copy_abs", self)

    def copy_negate(self):
        """With the other sign, exactly."""
        return _decimal.apply("copy_negate", self)

    def copy_sign(self, other, context=None):
        """With another number's sign, exactly."""
        return _decimal.apply("copy_sign", self, _operand(other))

    def max(self, other, context=None):
        """The larger."""
        return _decimal.apply("max", self, _operand(other))

    def min(self, other, context=None):
        """The smaller."""
        return _decimal.apply("min", self, _operand(other))

    def max_mag(self, other, context=None):
        """The one with the larger magnitude."""
        return _by_magnitude(self, _operand(other), True)

    def min_mag(self, other, context=None):
        """The one with the smaller magnitude."""
        return _by_magnitude(self, _operand(other), False)

    def remainder_near(self, other, context=None):
        """What is left of the nearest whole quotient."""
        return _decimal.apply("remainder_near", self, _operand(other))

    def same_quantum(self, other, context=None):
        """Whether the exponents are equal."""
        return _decimal.same_quantum(self, _operand(other))

    def scaleb(self, other, context=None):
        """Times ten to a whole power."""
        return _decimal.apply("scaleb", self, _operand(other))

    def next_plus(self, context=None):
        """The next larger number."""
        return _next(self, True)

    def next_minus(self, context=None):
        """The next smaller number."""
        return _next(self, False)

    def next_toward(self, other, context=None):
        """The next number in the direction of another."""
        other = _operand(other)
        if self.is_nan() or other.is_nan():
            return self + other
        order = self._order(other)
        if order == 0:
            return self.copy_sign(other)
        return _next(self, order < 0)

    def logical_and(self, other, context=None):
        """The digits 0 and 1 combined by and."""
        return _logical(lambda a, b: a & b, self, _operand(other))

    def logical_or(self, other, context=None):
        """The digits 0 and 1 combined by or."""
        return _logical(lambda a, b: a | b, self, _operand(other))

    def logical_xor(self, other, context=None):
        """The digits 0 and 1 combined by exclusive or."""
        return _logical(lambda a, b: a ^ b, self, _operand(other))

    def logical_invert(self, context=None):
        """The digits 0 and 1 exchanged, all of the precision's."""
        return _logical(lambda a, b: a ^ b, self, Decimal("1" * _PRECISION))

    def rotate(self, other, context=None):
        """The coefficient's digits moved round, to the left."""
        return _moved(self, _operand(other), True)

    def shift(self, other, context=None):
        """The coefficient's digits moved to the left, or to the right."""
        return _moved(self, _operand(other), False)


def _operand(value):
    if isinstance(value, Decimal):
        return value
    if isinstance(value, int):
        return Decimal(value)
    raise TypeError(f"conversion from {type(value).__name__} to Decimal is not supported")


def _written(parts):
    """The text of a number given as sign, digits and exponent."""
    if len(parts) != 3:
        raise ValueError("argument must be a sequence of length 3")
    sign, digits, exponent = parts
    if not isinstance(sign, int) or sign not in (0, 1):
        raise ValueError("sign must be an integer with the value 0 or 1")
    prefix = "-" if sign else ""
    if exponent == "F":
        return prefix + "Infinity"
    for digit in digits:
        if not isinstance(digit, int) or not 0 <= digit <= 9:
            raise ValueError("coefficient must be a tuple of digits")
    text = "".join([str(digit) for digit in digits])
    if exponent in ("n", "N"):
        return prefix + ("NaN" if exponent == "n" else "sNaN") + text.lstrip("0")
    if not isinstance(exponent, int):
        if isinstance(exponent, str):
            raise ValueError("string argument in the third position must be 'F', 'n' or 'N'")
        raise ValueError("exponent must be an integer")
    return f"{prefix}{text or '0'}E{exponent}"


def _invalid():
    return InvalidOperation([InvalidOperation])


def _by_magnitude(a, b, larger):
    if a.is_nan() or b.is_nan():
        return a.max(b) if larger else a.min(b)
    order = _decimal.order(a.copy_abs(), b.copy_abs())
    if order == 0:
        return a.max(b) if larger else a.min(b)
    chosen = a if (order > 0) == larger else b
    # Rounded, and a zero keeps its sign.
    return (+chosen).copy_sign(chosen)


def _next(number, up):
    if number.is_nan():
        return +number
    sign, digits, exponent = _decimal.parts(number)
    grows = up == (sign == 0)
    prefix = "-" if sign else ""
    if exponent == "F":
        return number if grows else Decimal(f"{prefix}{'9' * _PRECISION}E{_ETOP}")
    if number.is_zero():
        return Decimal(f"{'' if up else '-'}1E{_ETINY}")
    coefficient = int(digits)
    excess = len(digits) - _PRECISION
    exact = True
    if excess > 0:
        coefficient, rest = divmod(coefficient, 10**excess)
        exact = rest == 0
        exponent += excess
    else:
        places = max(min(-excess, exponent - _ETINY), 0)
        coefficient *= 10**places
        exponent -= places
    if exponent < _ETINY:
        coefficient, rest = divmod(coefficient, 10 ** min(_ETINY - exponent, len(digits) + 1))
        exact = exact and rest == 0
        exponent = _ETINY
    if grows:
        coefficient += 1
    elif exact:
        if coefficient == 10 ** (_PRECISION - 1) and exponent > _ETINY:
            coefficient = 10**_PRECISION - 1
            exponent -= 1
        else:
            coefficient -= 1
    if exponent + len(str(coefficient)) - 1 > _EMAX:
        return Decimal(f"{prefix}Infinity") if grows else Decimal(f"{prefix}{'9' * _PRECISION}E{_ETOP}")
    if coefficient == 10**_PRECISION:
        coefficient //= 10
        exponent += 1
    return Decimal(f"{prefix}{coefficient}E{exponent}")


def _logical(function, a, b):
    operands = []
    for number in (a, b):
        sign, digits, exponent = _decimal.parts(number)
        if sign or exponent != 0 or digits.strip("01"):
            raise _invalid()
        operands.append(int(digits[-_PRECISION:], 2))
    return Decimal(bin(function(*operands))[2:])


def _moved(number, places, around):
    if number.is_nan() or places.is_nan():
        return number + places
    sign, count, exponent = _decimal.parts(places)
    if exponent != 0 or int(count) > _PRECISION:
        raise _invalid()
    if number.is_infinite():
        return number
    count = -int(count) if sign else int(count)
    sign, digits, exponent = _decimal.parts(number)
    digits = ("0" * _PRECISION + digits)[-_PRECISION:]
    if around:
        digits = digits[count:] + digits[:count]
    elif count < 0:
        digits = digits[:count]
    else:
        digits = (digits + "0" * count)[-_PRECISION:]
    return Decimal(f"{'-' if sign else ''}{digits or '0'}E{exponent}")


def _power_modulo(base, exponent, modulo):
    base, exponent, modulo = _operand(base), _operand(exponent), _operand(modulo)
    for number in (base, exponent, modulo):
        if number.is_nan():
            return number + 0
    whole = [number for number in (base, exponent, modulo) if number.is_finite() and number == number.to_integral_value()]
    if len(whole) != 3 or exponent < 0 or not modulo or modulo.adjusted() >= _PRECISION or not base and not exponent:
        raise _invalid()
    result = pow(int(abs(base)), int(exponent), int(abs(modulo)))
    return Decimal(-result if base < 0 and int(exponent) % 2 else result)


# The context

_FIXED = {"prec": 28, "rounding": ROUND_HALF_EVEN, "Emin": _EMIN, "Emax": _EMAX, "capitals": 1, "clamp": 0}
_TRAPS = (InvalidOperation, DivisionByZero, Overflow)


def _refused(name, value):
    return TypeError(
        f"the decimal context is fixed: {name} is {_FIXED.get(name)!r} and cannot be {value!r}; round by argument, as in "
        "quantize(exp, rounding=ROUND_DOWN)"
    )


def _check(context):
    if context is not None and not isinstance(context, Context):
        raise TypeError("optional argument must be a context")


class _Signals(dict):
    """Traps or flags by condition, which stay as they are."""

    def __setitem__(self, signal, value):
        if signal not in self:
            raise KeyError("invalid error flag")
        if bool(value) != self[signal]:
            raise TypeError(f"the decimal context is fixed: {signal.__name__} is {self[signal]} and stays so")


class Context:
    """The rules of decimal arithmetic: the same for every context."""

    __slots__ = ("flags", "traps")

    def __init__(self, prec=None, rounding=None, Emin=None, Emax=None, capitals=None, clamp=None, flags=None, traps=None):
        given = (("prec", prec), ("rounding", rounding), ("Emin", Emin), ("Emax", Emax), ("capitals", capitals), ("clamp", clamp))
        for name, value in given:
            if value is not None and value != _FIXED[name]:
                raise _refused(name, value)
        self.flags = _Signals([(signal, False) for signal in _SIGNALS])
        self.traps = _Signals([(signal, signal in _TRAPS) for signal in _SIGNALS])
        for kept, wanted in ((self.flags, flags), (self.traps, traps)):
            if wanted is not None:
                for signal in _SIGNALS:
                    kept[signal] = wanted[signal] if isinstance(wanted, dict) else signal in wanted

    def __getattr__(self, name):
        if name in _FIXED:
            return _FIXED[name]
        raise AttributeError(f"'decimal.Context' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        if name in _FIXED:
            if value != _FIXED[name]:
                raise _refused(name, value)
        elif name in ("flags", "traps"):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError(f"'decimal.Context' object has no attribute '{name}'")

    def __repr__(self):
        return (
            "Context(prec=28, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999, capitals=1, clamp=0, flags=[], "
            "traps=[InvalidOperation, DivisionByZero, Overflow])"
        )

    def clear_flags(self):
        """Does nothing: no flag is ever set."""

    def clear_traps(self):
        """Refused: the traps stay."""
        for signal in _TRAPS:
            self.traps[signal] = False

    def copy(self):
        """A context with the same rules."""
        return Context()

    __copy__ = copy

    def Etiny(self):
        """The exponent of the smallest number."""
        return _ETINY

    def Etop(self):
        """The largest exponent of a full coefficient."""
        return _ETOP

    def radix(self):
        """Ten."""
        return Decimal(10)

    def create_decimal(self, num="0", /):
        """A number, rounded."""
        number = Decimal(num)
        return number if number.is_snan() else +number

    def create_decimal_from_float(self, f, /):
        """A float's value, rounded."""
        return +Decimal.from_float(f)

    def plus(self, a, /):
        """+a"""
        return +_operand(a)

    def minus(self, a, /):
        """-a"""
        return -_operand(a)

    def abs(self, a, /):
        """abs(a)"""
        return abs(_operand(a))

    def add(self, a, b, /):
        """a + b"""
        return _operand(a) + _operand(b)

    def subtract(self, a, b, /):
        """a - b"""
        return _operand(a) - _operand(b)

    def multiply(self, a, b, /):
        """a * b"""
        return _operand(a) * _operand(b)

    def divide(self, a, b, /):
        """a / b"""
        return _operand(a) / _operand(b)

    def divide_int(self, a, b, /):
        """a // b"""
        return _operand(a) // _operand(b)

    def remainder(self, a, b, /):
        """a % b"""
        return _operand(a) % _operand(b)

    def divmod(self, a, b, /):
        """divmod(a, b)"""
        return divmod(_operand(a), _operand(b))

    def power(self, a, b, modulo=None):
        """a ** b"""
        return pow(_operand(a), _operand(b), modulo)

    def to_sci_string(self, a, /):
        """str(a)"""
        return str(_operand(a))


def _delegate(name):
    def method(self, a, *rest, **named):
        return getattr(_operand(a), name)(*rest, **named)

    method.__name__ = name
    method.__qualname__ = "Context." + name
    method.__doc__ = f"a.{name}(...)"
    return method


for _name in (
    "canonical", "compare", "compare_signal", "compare_total", "compare_total_mag", "copy_abs", "copy_negate", "copy_sign", "exp",
    "fma", "is_canonical", "is_finite", "is_infinite", "is_nan", "is_normal", "is_qnan", "is_signed", "is_snan", "is_subnormal",
    "is_zero", "ln", "log10", "logb", "logical_and", "logical_invert", "logical_or", "logical_xor", "max", "max_mag", "min",
    "min_mag", "next_minus", "next_plus", "next_toward", "normalize", "number_class", "quantize", "remainder_near", "rotate",
    "same_quantum", "scaleb", "shift", "sqrt", "to_eng_string", "to_integral_exact", "to_integral_value",
):
    setattr(Context, _name, _delegate(_name))
Context.copy_decimal = lambda self, a, /: _operand(a)
Context.to_integral = Context.to_integral_value

DefaultContext = Context()
BasicContext = DefaultContext
ExtendedContext = DefaultContext
_current = Context()


def getcontext():
    """The context."""
    return _current


def setcontext(context, /):
    """Accepted, since all contexts are the same."""
    if not isinstance(context, Context):
        raise TypeError("argument must be a context")


class _LocalContext:
    def __init__(self, context):
        self._context = context

    def __enter__(self):
        return self._context

    def __exit__(self, *exception):
        return None


def localcontext(ctx=None, **kwargs):
    """A with statement's context: the same as everywhere."""
    _check(ctx)
    return _LocalContext(Context(**kwargs))
