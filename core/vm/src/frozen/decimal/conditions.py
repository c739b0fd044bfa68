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


