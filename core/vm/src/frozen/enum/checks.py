# Checks


def unique(enumeration):
    """Refuses an enumeration with two names for one value."""
    aliases = [(name, m._name_) for name, m in enumeration.__members__.items() if name != m._name_]
    if aliases:
        shown = ", ".join([f"{alias} -> {name}" for alias, name in aliases])
        raise ValueError(f"duplicate values found in {enumeration!r}: {shown}")
    return enumeration


class EnumCheck(StrEnum):
    """What `verify` can demand."""

    CONTINUOUS = "no skipped integer values"
    NAMED_FLAGS = "multi-flag aliases may not contain unnamed flags"
    UNIQUE = "one name per value"


CONTINUOUS = EnumCheck.CONTINUOUS
NAMED_FLAGS = EnumCheck.NAMED_FLAGS
UNIQUE = EnumCheck.UNIQUE


class verify:
    """Decorates an enumeration with checks: UNIQUE, CONTINUOUS, NAMED_FLAGS."""

    def __init__(self, *checks):
        self.checks = checks

    def __call__(self, enumeration):
        for check in self.checks:
            if check is UNIQUE:
                aliases = [(n, m._name_) for n, m in enumeration.__members__.items() if n != m._name_]
                if aliases:
                    shown = ", ".join([f"{alias} -> {name}" for alias, name in aliases])
                    raise ValueError(f"aliases found in {enumeration!r}: {shown}")
            elif check is CONTINUOUS:
                _check_continuous(enumeration)
            elif check is NAMED_FLAGS:
                _check_named(enumeration)
        return enumeration


def _check_continuous(enumeration):
    values = sorted([m._value_ for m in enumeration])
    if len(values) < 2:
        return
    low, high = values[0], values[-1]
    if issubclass(enumeration, Flag):
        missing = [2**i for i in range(low.bit_length(), high.bit_length()) if 2**i not in values]
    else:
        missing = [i for i in range(low + 1, high) if i not in values]
    if missing:
        kind = "flag" if issubclass(enumeration, Flag) else "enum"
        raise ValueError(f"invalid {kind} {enumeration.__name__!r}: missing values {', '.join([str(m) for m in missing])}"[:256])


def _check_named(enumeration):
    known = [m._value_ for m in enumeration]
    missing_names = []
    missing_value = 0
    for name, alias in enumeration._member_map_.items():
        if name in enumeration._member_names_ or alias._value_ < 0:
            continue
        rest = [1 << i for i in range(alias._value_.bit_length()) if alias._value_ >> i & 1 and 1 << i not in known]
        if rest:
            missing_names.append(name)
            missing_value |= sum(rest)
    if missing_names:
        if len(missing_names) == 1:
            alias = f"alias {missing_names[0]} is missing"
        else:
            alias = f"aliases {', '.join(missing_names[:-1])} and {missing_names[-1]} are missing"
        what = "value" if _bin(missing_value).count("1") == 1 else "combined values of"
        raise ValueError(f"invalid Flag {enumeration.__name__!r}: {alias} {what} {hex(missing_value)} [use enum.show_flag_values(value) for details]")


def _iter_bits_lsb(num):
    """The bits of a number, lowest first."""
    if isinstance(num, Enum):
        num = num.value
    if num < 0:
        raise ValueError(f"{num!r} is not a positive integer")
    while num:
        lowest = num & -num
        yield lowest
        num ^= lowest


def show_flag_values(value):
    """The single bits of a flag's value."""
    return list(_iter_bits_lsb(value))


def bin(num, max_bits=None):
    """A number in binary with its sign bit apart."""
    ceiling = 2 ** num.bit_length()
    text = _bin(num + ceiling).replace("1", "0", 1) if num >= 0 else _bin(~num ^ (ceiling - 1) + ceiling)
    sign, digits = text[:3], text[3:]
    if max_bits is not None and len(digits) < max_bits:
        digits = (sign[-1] * max_bits + digits)[-max_bits:]
    return f"{sign} {digits}"


def global_enum_repr(self):
    """A member's repr with its module for its class."""
    return f"{self.__class__.__module__.split('.')[-1]}.{self._name_}"


def global_flag_repr(self):
    """A flag's repr with its module for its class."""
    module = self.__class__.__module__.split(".")[-1]
    if self._name_ is None:
        return f"{module}.{self.__class__.__name__}({self._value_!r})"
    return "|".join([name if name[0].isdigit() else f"{module}.{name}" for name in self._name_.split("|")])


def global_str(self):
    """A member's name."""
    return self._name_ if self._name_ is not None else f"{self.__class__.__name__}({self._value_!r})"


def global_enum(cls, update_str=False):
    """Marks an enumeration whose members are also exported as names of their module: they show so."""
    cls.__repr__ = global_flag_repr if issubclass(cls, Flag) else global_enum_repr
    if not issubclass(cls, ReprEnum) or update_str:
        cls.__str__ = global_str
    return cls


def _simple_enum(etype=Enum, *, boundary=None, use_args=None):
    """Makes an enumeration of a plain class."""

    def convert(cls):
        metacls = etype.__class__
        body = metacls.__prepare__(cls.__name__, (etype,))
        for name, value in cls.__dict__.items():
            if name not in ("__dict__", "__weakref__"):
                body[name] = value
        return metacls.__new__(metacls, cls.__name__, (etype,), body, boundary=boundary)

    return convert


def _test_simple_enum(checked_enum, simple_enum):
    """Refuses two enumerations that differ in names or values."""
    names = list(checked_enum.__members__)
    failed = [name for name in {*names, *simple_enum.__members__} if name not in names or name not in simple_enum.__members__]
    failed += [name for name in names if name not in failed and checked_enum[name].value != simple_enum[name].value]
    if failed:
        raise TypeError(f"enum mismatch:\n   {', '.join(failed)}")
