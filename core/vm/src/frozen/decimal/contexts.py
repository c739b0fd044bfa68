# The context

_FIXED = {"prec": 28, "rounding": ROUND_HALF_EVEN, "Emin": _EMIN, "Emax": _EMAX, "capitals": 1, "clamp": 0}
_TRAPS = (InvalidOperation, DivisionByZero, Overflow)


def _refused(name, value):
    return TypeError(
        f"the decimal context is fixed: {name} is {_FIXED.get(name)!r} and cannot be {value!r}; round by argument, as in "
        "quantize(exp, rounding=ROUND_DOWN)"
    )


def _check(context):
    if not isinstance(context, Context):
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
    if ctx is not None:
        _check(ctx)
    return _LocalContext(Context(**kwargs))
