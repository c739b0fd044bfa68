def _data_type(base):
    """What a base makes of the members beside members: its own sort of data, or None."""
    for parent in base.__mro__:
        if isinstance(parent, EnumType):
            if getattr(parent, "_member_type_", object) is not object:
                return parent._member_type_
        elif parent is not object and ("__new__" in parent.__dict__ or "__dataclass_fields__" in parent.__dict__):
            return base if not isinstance(base, EnumType) else parent
    return None


def _new_class(metacls, name, bases, namespace, kwds):
    return type.__new__(metacls, name, bases, namespace, **kwds)


def _maker(first_enum, member_type, own_new):
    """What makes the bare member: the class's own `__new__`, an inherited one, or the data type's."""
    if own_new is not None:
        return own_new.__func__ if isinstance(own_new, staticmethod) else own_new
    inherited = getattr(first_enum, "__new_member__", None)
    if inherited is not None:
        return inherited
    return None if member_type is object else member_type.__new__


def _value_repr(bases):
    """How the data type of an enumeration shows values; None when there is no data type."""
    for chain in bases:
        for base in chain.__mro__:
            if base is object:
                continue
            if isinstance(base, EnumType):
                shown = base.__dict__.get("_value_repr_")
                if shown is not None:
                    return shown
                continue
            if "__repr__" in base.__dict__:
                parameters = base.__dict__.get("__dataclass_params__")
                if parameters is not None and parameters.repr:
                    return _dataclass_repr
                return base.__dict__["__repr__"]
    return None


def _dataclass_repr(self):
    fields = self.__dataclass_fields__
    return ", ".join([f"{name}={getattr(self, name)!r}" for name in fields if fields[name].repr])


def _choose_methods(enum_class, bases, namespace, member_type, first_enum):
    """Undoes what a data type's methods hide: members show, and flags combine, as members."""
    if ReprEnum is not None and ReprEnum in bases:
        if "__format__" not in namespace:
            enum_class.__format__ = member_type.__format__
        if "__str__" not in namespace:
            text = member_type.__str__
            enum_class.__str__ = member_type.__repr__ if text is object.__str__ else text
    for name in ("__repr__", "__str__", "__format__"):
        if name not in namespace:
            found = getattr(enum_class, name)
            if found is getattr(member_type, name) or found is getattr(object, name):
                if not (ReprEnum is not None and ReprEnum in bases and name != "__repr__"):
                    setattr(enum_class, name, getattr(first_enum, name))
    if Flag is not None and issubclass(enum_class, Flag):
        for name in ("__or__", "__and__", "__xor__", "__ror__", "__rand__", "__rxor__", "__invert__"):
            if name not in namespace:
                setattr(enum_class, name, getattr(Flag, name))


def _add_member(enum_class, name, value, make, member_type):
    arguments = value if isinstance(value, tuple) else (value,)
    if member_type is tuple:
        arguments = (arguments,)
    if make is None:
        new = object.__new__(enum_class)
    else:
        new = make(enum_class, *arguments)
    if "_value_" not in new.__dict__:
        if make is None or member_type is object:
            new._value_ = value
        else:
            try:
                new._value_ = member_type(*arguments)
            except Exception as problem:
                raise TypeError("_value_ not set in __new__, unable to create it") from problem
    value = new._value_
    new._name_ = name
    new.__objclass__ = enum_class
    new._sort_order_ = len(enum_class._member_names_)
    new.__init__(*arguments)
    is_flag = Flag is not None and issubclass(enum_class, Flag)
    same = _find(enum_class, value)
    if same is not None:
        new = same
    elif not is_flag or (isinstance(value, int) and value > 0 and value & (value - 1) == 0):
        enum_class._member_names_.append(name)
    if is_flag and isinstance(value, int) and value >= 0:
        enum_class._flag_mask_ |= value
        if value & (value - 1) == 0:
            enum_class._singles_mask_ |= value
        enum_class._all_bits_ = (1 << max(value.bit_length(), enum_class._all_bits_.bit_length())) - 1
    enum_class._member_map_[name] = new
    shown = new
    for base in enum_class.__mro__[1:]:
        found = base.__dict__.get(name)
        if found is not None and _is_descriptor(found):
            shown = _Redirect(new, name, found)
            break
    type.__setattr__(enum_class, name, shown)
    try:
        enum_class._value2member_map_.setdefault(value, new)
    except TypeError:
        pass


def _find(enum_class, value):
    """The member that already has this value, which may be unhashable; None when there is none."""
    try:
        return enum_class._value2member_map_.get(value)
    except TypeError:
        for known in enum_class._member_map_.values():
            if known._value_ == value:
                return known
    return None


Enum = None
Flag = None
ReprEnum = None


class Enum(metaclass=EnumType):
    """The base of enumerations."""

    def __new__(cls, value):
        if type(value) is cls:
            return value
        if not getattr(cls, "_member_map_", None):
            raise TypeError(f"{cls!r} has no members defined")
        known = _find(cls, value)
        if known is not None:
            return known
        problem = None
        result = None
        try:
            result = cls._missing_(value)
        except Exception as raised:
            problem = raised
        if isinstance(result, cls):
            return result
        if isinstance(result, int) and Flag is not None and issubclass(cls, Flag) and cls._boundary_ is EJECT:
            return result
        refused = ValueError(f"{value!r} is not a valid {cls.__qualname__}")
        if problem is None:
            if result is None:
                raise refused
            problem = TypeError(f"error in {cls.__name__}._missing_: returned {result!r} instead of None or a valid member")
        if not isinstance(problem, ValueError):
            problem.__context__ = refused
        raise problem

    def __init__(self, *args, **kwds):
        pass

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start
        try:
            last = last_values[-1]
            last_values.sort()
            if last == last_values[-1]:
                return last + 1
        except TypeError:
            pass
        for value in reversed(last_values):
            try:
                return value + 1
            except TypeError:
                pass
        return start

    @classmethod
    def _missing_(cls, value):
        return None

    @property
    def name(self):
        """The member's name."""
        return self._name_

    @property
    def value(self):
        """The member's value."""
        return self._value_

    def __repr__(self):
        shown = (self.__class__._value_repr_ or repr)(self._value_)
        return f"<{self.__class__.__name__}.{self._name_}: {shown}>"

    def __str__(self):
        return f"{self.__class__.__name__}.{self._name_}"

    def __format__(self, format_spec):
        return str.__format__(str(self), format_spec)

    def __hash__(self):
        return hash(self._name_)

    def __dir__(self):
        plain = {"__class__", "__doc__", "__eq__", "__hash__", "__module__", "name", "value"}
        shown = set(object.__dir__(self)) if self.__class__._member_type_ is not object else plain
        shown.update([name for name in self.__dict__ if name[0] != "_"])
        for cls in self.__class__.__mro__:
            for name, found in cls.__dict__.items():
                if name[0] == "_":
                    continue
                inner = isinstance(found, (_Redirect, property))
                if name not in self._member_map_ or inner and found.fget is not None:
                    shown.add(name)
                elif inner:
                    shown.discard(name)
        return sorted(shown)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class ReprEnum(Enum):
    """An enumeration whose members print as their values and only show as members in repr."""


class IntEnum(int, ReprEnum):
    """Members that are ints."""


class StrEnum(str, ReprEnum):
    """Members that are strings."""

    def __new__(cls, *values):
        if len(values) > 3:
            raise TypeError(f"too many arguments for str(): {values!r}")
        if len(values) == 1 and not isinstance(values[0], str):
            raise TypeError(f"{values[0]!r} is not a string")
        for word, value in zip(("encoding", "errors"), values[1:]):
            if not isinstance(value, str):
                raise TypeError(f"{word} must be a string, not {value!r}")
        text = str(*values)
        new = str.__new__(cls, text)
        new._value_ = text
        return new

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return name.lower()


