# Numbers


class Decimal:
    """A decimal number."""

    __slots__ = ("_n",)
    _name_in_messages = "decimal.Decimal"

    def __new__(cls, value="0", context=None):
        if context is not None:
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
        if context is not None:
            _check(context)
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
        if context is not None:
            _check(context)
        return _decimal.number_class(self)[1:] == "Normal"

    def is_subnormal(self, context=None):
        """Whether it is smaller than the smallest normal number, but not zero."""
        if context is not None:
            _check(context)
        return _decimal.number_class(self)[1:] == "Subnormal"

    def number_class(self, context=None):
        """Where on the number line it lies."""
        if context is not None:
            _check(context)
        return _decimal.number_class(self)

    def radix(self):
        """Ten."""
        return Decimal(10)

    def sqrt(self, context=None):
        """The square root."""
        if context is not None:
            _check(context)
        return _decimal.apply("sqrt", self)

    def exp(self, context=None):
        """e to this power."""
        if context is not None:
            _check(context)
        return _decimal.apply("exp", self)

    def ln(self, context=None):
        """The natural logarithm."""
        if context is not None:
            _check(context)
        return _decimal.apply("ln", self)

    def log10(self, context=None):
        """The logarithm to base ten."""
        if context is not None:
            _check(context)
        return _decimal.apply("log10", self)

    def logb(self, context=None):
        """The exponent in scientific notation, as a decimal."""
        if context is not None:
            _check(context)
        if self.is_nan():
            return +self
        if self.is_infinite():
            return Decimal("Infinity")
        if self.is_zero():
            raise DivisionByZero([DivisionByZero])
        return Decimal(self.adjusted())

    def normalize(self, context=None):
        """Rounded, without zeros at the end."""
        if context is not None:
            _check(context)
        return _decimal.apply("normalize", self)

    def quantize(self, exp, rounding=None, context=None):
        """Rounded to the exponent of another number."""
        if context is not None:
            _check(context)
        return _decimal.quantize(self, _operand(exp), rounding)

    def to_integral_value(self, rounding=None, context=None):
        """Rounded to a whole number."""
        if context is not None:
            _check(context)
        return _decimal.integral(self, rounding)

    to_integral = to_integral_value
    to_integral_exact = to_integral_value

    def fma(self, other, third, context=None):
        """self * other + third, rounded once."""
        if context is not None:
            _check(context)
        return _decimal.apply("fma", self, _operand(other), _operand(third))

    def compare(self, other, context=None):
        """-1, 0 or 1 as a decimal, or a NaN."""
        if context is not None:
            _check(context)
        return _decimal.apply("compare", self, _operand(other))

    def compare_signal(self, other, context=None):
        """The same, refusing every NaN."""
        if context is not None:
            _check(context)
        return Decimal(self._order(_operand(other)))

    def compare_total(self, other, context=None):
        """The order of all representations."""
        if context is not None:
            _check(context)
        return Decimal(_decimal.order(self, _operand(other), True))

    def compare_total_mag(self, other, context=None):
        """The same, without signs."""
        if context is not None:
            _check(context)
        return self.copy_abs().compare_total(_operand(other).copy_abs())

    def copy_abs(self):
        """Without its sign, exactly."""
        return _decimal.apply("copy_abs", self)

    def copy_negate(self):
        """With the other sign, exactly."""
        return _decimal.apply("copy_negate", self)

    def copy_sign(self, other, context=None):
        """With another number's sign, exactly."""
        if context is not None:
            _check(context)
        return _decimal.apply("copy_sign", self, _operand(other))

    def max(self, other, context=None):
        """The larger."""
        if context is not None:
            _check(context)
        return _decimal.apply("max", self, _operand(other))

    def min(self, other, context=None):
        """The smaller."""
        if context is not None:
            _check(context)
        return _decimal.apply("min", self, _operand(other))

    def max_mag(self, other, context=None):
        """The one with the larger magnitude."""
        if context is not None:
            _check(context)
        return _by_magnitude(self, _operand(other), True)

    def min_mag(self, other, context=None):
        """The one with the smaller magnitude."""
        if context is not None:
            _check(context)
        return _by_magnitude(self, _operand(other), False)

    def remainder_near(self, other, context=None):
        """What is left of the nearest whole quotient."""
        if context is not None:
            _check(context)
        return _decimal.apply("remainder_near", self, _operand(other))

    def same_quantum(self, other, context=None):
        """Whether the exponents are equal."""
        if context is not None:
            _check(context)
        return _decimal.same_quantum(self, _operand(other))

    def scaleb(self, other, context=None):
        """Times ten to a whole power."""
        if context is not None:
            _check(context)
        return _decimal.apply("scaleb", self, _operand(other))

    def next_plus(self, context=None):
        """The next larger number."""
        if context is not None:
            _check(context)
        return _next(self, True)

    def next_minus(self, context=None):
        """The next smaller number."""
        if context is not None:
            _check(context)
        return _next(self, False)

    def next_toward(self, other, context=None):
        """The next number in the direction of another."""
        if context is not None:
            _check(context)
        other = _operand(other)
        if self.is_nan() or other.is_nan():
            return self + other
        order = self._order(other)
        if order == 0:
            return self.copy_sign(other)
        return _next(self, order < 0)

    def logical_and(self, other, context=None):
        """The digits 0 and 1 combined by and."""
        if context is not None:
            _check(context)
        return _logical(lambda a, b: a & b, self, _operand(other))

    def logical_or(self, other, context=None):
        """The digits 0 and 1 combined by or."""
        if context is not None:
            _check(context)
        return _logical(lambda a, b: a | b, self, _operand(other))

    def logical_xor(self, other, context=None):
        """The digits 0 and 1 combined by exclusive or."""
        if context is not None:
            _check(context)
        return _logical(lambda a, b: a ^ b, self, _operand(other))

    def logical_invert(self, context=None):
        """The digits 0 and 1 exchanged, all of the precision's."""
        if context is not None:
            _check(context)
        return _logical(lambda a, b: a ^ b, self, Decimal("1" * _PRECISION))

    def rotate(self, other, context=None):
        """The coefficient's digits moved round, to the left."""
        if context is not None:
            _check(context)
        return _moved(self, _operand(other), True)

    def shift(self, other, context=None):
        """The coefficient's digits moved to the left, or to the right."""
        if context is not None:
            _check(context)
        return _moved(self, _operand(other), False)


