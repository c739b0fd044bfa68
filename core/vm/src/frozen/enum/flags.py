# Flags


class FlagBoundary(StrEnum):
    """What happens to bits that no member of a flag has."""

    STRICT = auto()
    CONFORM = auto()
    EJECT = auto()
    KEEP = auto()


STRICT = FlagBoundary.STRICT
CONFORM = FlagBoundary.CONFORM
EJECT = FlagBoundary.EJECT
KEEP = FlagBoundary.KEEP


class Flag(Enum, boundary=STRICT):
    """Members that combine with |, &, ^ and ~."""

    _numeric_repr_ = repr

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start if start is not None else 1
        last = max(last_values)
        if not isinstance(last, int):
            raise TypeError(f"invalid flag value {last!r}")
        return 2 ** last.bit_length()

    @classmethod
    def _missing_(cls, value):
        if not isinstance(value, int):
            raise ValueError(f"{value!r} is not a valid {cls.__qualname__}")
        mask = cls._flag_mask_
        all_bits = cls._all_bits_
        if not ~all_bits <= value <= all_bits or value & (all_bits ^ mask):
            if cls._boundary_ is STRICT:
                length = max(value.bit_length(), mask.bit_length())
                raise ValueError(
                    f"{cls!r} invalid value {value!r}\n    given {_bits(value, length)}\n  allowed {_bits(mask, length)}"
                )
            if cls._boundary_ is CONFORM:
                value = value & mask
            elif cls._boundary_ is EJECT:
                return value
            elif value < 0:
                value = max(all_bits + 1, 2 ** value.bit_length()) + value
        if value < 0:
            value += all_bits + 1
        known = cls._value2member_map_.get(value)
        if known is not None:
            return known
        unknown = value & ~cls._singles_mask_
        data = cls._member_type_
        new = object.__new__(cls) if data is object else data.__new__(cls, value)
        new._value_ = value
        names = [m._name_ for m in cls._iter_member_(value)]
        if names and unknown:
            names.append(cls._numeric_repr_(unknown))
        new._name_ = "|".join(names) if names else None
        new.__objclass__ = cls
        cls._value2member_map_[value] = new
        return new

    @classmethod
    def _iter_member_by_def_(cls, value):
        """The same, in the order of their definition."""
        yield from sorted(cls._iter_member_by_value_(value), key=lambda each: each._sort_order_)

    @classmethod
    def _iter_member_by_value_(cls, value):
        """The single-bit members that `value` is made of, lowest first."""
        bits = value & cls._singles_mask_
        while bits:
            lowest = bits & -bits
            yield cls._value2member_map_[lowest]
            bits ^= lowest

    _iter_member_ = _iter_member_by_value_

    def __contains__(self, other):
        if not isinstance(other, self.__class__):
            raise TypeError(
                f"unsupported operand type(s) for 'in': {type(other).__qualname__!r} and {self.__class__.__qualname__!r}"
            )
        return other._value_ & self._value_ == other._value_

    def __iter__(self):
        yield from self._iter_member_(self._value_)

    def __len__(self):
        return _bin(self._value_).count("1")

    def __repr__(self):
        shown = self._numeric_repr_(self._value_)
        if self._name_ is None:
            return f"<{self.__class__.__name__}: {shown}>"
        return f"<{self.__class__.__name__}.{self._name_}: {shown}>"

    def __str__(self):
        if self._name_ is None:
            return f"{self.__class__.__name__}({self._value_!r})"
        return f"{self.__class__.__name__}.{self._name_}"

    def __bool__(self):
        return bool(self._value_)

    def _operand(self, other):
        if isinstance(other, self.__class__):
            return other._value_
        if self._member_type_ is not object and isinstance(other, self._member_type_):
            return other
        return NotImplemented

    def __or__(self, other):
        other = self._operand(other)
        return NotImplemented if other is NotImplemented else self.__class__(self._value_ | other)

    def __and__(self, other):
        other = self._operand(other)
        return NotImplemented if other is NotImplemented else self.__class__(self._value_ & other)

    def __xor__(self, other):
        other = self._operand(other)
        return NotImplemented if other is NotImplemented else self.__class__(self._value_ ^ other)

    def __invert__(self):
        if self._boundary_ in (EJECT, KEEP):
            return self.__class__(~self._value_)
        return self.__class__(self._singles_mask_ & ~self._value_)

    __ror__ = __or__
    __rand__ = __and__
    __rxor__ = __xor__


class IntFlag(int, ReprEnum, Flag, boundary=KEEP):
    """Flags that are ints."""


def _bits(number, length):
    """A number in binary as this module's messages show it: `0b0 101`, `0b1 010` for negative ones."""
    if number >= 0:
        digits = _bin(number)[2:]
        return "0b0 " + "0" * (length - len(digits)) + digits
    digits = _bin(number + (1 << length))[2:] if number + (1 << length) >= 0 else _bin(-number)[2:]
    return "0b1 " + "1" * (length - len(digits)) + digits


