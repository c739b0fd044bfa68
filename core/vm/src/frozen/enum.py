"""Enumerations: classes whose values are a fixed set of named members."""

__all__ = [
    "EnumMeta", "EnumType", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum", "auto", "unique", "member",
    "nonmember", "property", "FlagBoundary", "STRICT", "CONFORM", "EJECT", "KEEP", "global_enum", "verify", "UNIQUE",
    "CONTINUOUS", "NAMED_FLAGS", "EnumCheck", "global_str", "global_enum_repr", "global_flag_repr",
]

_property = property
_bin = bin
_MISSING = object()


class nonmember:
    """Keeps a value of the class body from becoming a member."""

    def __init__(self, value):
        self.value = value


class member:
    """Makes a member of a value that would not become one, such as a function."""

    def __init__(self, value):
        self.value = value


class auto:
    """A value chosen by the class: 1, 2, 3 for Enum, powers of two for Flag, the lower-case name for StrEnum."""

    def __init__(self, value=_MISSING):
        self.value = value

    def __repr__(self):
        return "auto()" if self.value is _MISSING else f"auto({self.value!r})"


class property(_property):
    """A property of members that does not collide with a member of the same name."""

    def __set_name__(self, owner, name):
        self._owner = owner.__name__
        self._attribute = name

    def __set__(self, instance, value):
        if self.fset is None:
            raise AttributeError(f"<enum {self._owner!r}> cannot set attribute {self._attribute!r}")
        self.fset(instance, value)

    def __delete__(self, instance):
        if self.fdel is None:
            raise AttributeError(f"<enum {self._owner!r}> cannot delete attribute {self._attribute!r}")
        self.fdel(instance)


class _Redirect:
    """A member whose name a base gave to something else: the class shows the member, members show what the base has."""

    def __init__(self, member, name, found):
        self.member = member
        self._name = name
        self.fget = getattr(found, "fget", None)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self.member
        if self.fget is not None:
            return self.fget(instance)
        return getattr(instance._value_, self._name)

    def __set__(self, instance, value):
        raise AttributeError(f"<enum {type(instance).__name__!r}> cannot set attribute {self._name!r}")

    def __delete__(self, instance):
        raise AttributeError(f"<enum {type(instance).__name__!r}> cannot delete attribute {self._name!r}")


def _is_descriptor(value):
    return hasattr(value, "__get__") or hasattr(value, "__set__") or hasattr(value, "__delete__")


def _is_dunder(name):
    return len(name) > 4 and name[:2] == name[-2:] == "__" and name[2] != "_" and name[-3] != "_"


def _is_sunder(name):
    return len(name) > 2 and name[0] == name[-1] == "_" and name[1] != "_" and name[-2] != "_"


def _is_private(cls_name, name):
    return name.startswith(f"_{cls_name}__") and not name.endswith("__")


_SUNDERS = (
    "_order_", "_generate_next_value_", "_numeric_repr_", "_missing_", "_ignore_", "_iter_member_", "_iter_member_by_value_",
    "_iter_member_by_def_",
)


class _Body(dict):
    """The namespace of an enum's class body: it notes the members and resolves auto() at once."""

    def __init__(self, cls_name=""):
        super().__init__()
        self._cls_name = cls_name
        self._member_names = {}
        self._last_values = []
        self._ignore = []
        self._auto_called = False
        self._generate = None

    def __setitem__(self, key, value):
        if _is_private(self._cls_name, key) or _is_dunder(key):
            super().__setitem__(key, value)
            return
        if _is_sunder(key):
            if key not in _SUNDERS:
                raise ValueError(f"_sunder_ names, such as {key!r}, are reserved for future Enum use")
            if key == "_generate_next_value_":
                if self._auto_called:
                    raise TypeError("_generate_next_value_ must be defined before members")
                self._generate = value.__func__ if isinstance(value, staticmethod) else value
            elif key == "_ignore_":
                value = value.replace(",", " ").split() if isinstance(value, str) else list(value)
                self._ignore = value
            super().__setitem__(key, value)
            return
        if key in self._member_names:
            raise TypeError(f"{key!r} already defined as {self[key]!r}")
        if key in self._ignore:
            super().__setitem__(key, value)
            return
        if isinstance(value, nonmember):
            super().__setitem__(key, value.value)
            return
        if isinstance(value, member):
            value = value.value
        elif _is_descriptor(value):
            super().__setitem__(key, value)
            return
        elif key in self:
            raise TypeError(f"{key!r} already defined as {self[key]!r}")
        if isinstance(value, auto):
            value = self._resolved(key, value)
        elif type(value) is tuple and any([isinstance(item, auto) for item in value]):
            value = tuple([self._resolved(key, item) for item in value])
        else:
            self._last_values.append(value)
        self._member_names[key] = None
        super().__setitem__(key, value)

    def update(self, members=(), /, **more):
        """Binds several names, each as an assignment would."""
        pairs = [(key, members[key]) for key in members.keys()] if hasattr(members, "keys") else members
        for key, value in (*pairs, *more.items()):
            self[key] = value

    def _resolved(self, key, value):
        """What an auto() stands for; any other value stands for itself."""
        if not isinstance(value, auto):
            return value
        if value.value is _MISSING:
            value.value = self._generate(key, 1, len(self._member_names), self._last_values[:])
            self._auto_called = True
        self._last_values.append(value.value)
        return value.value


class EnumType(type):
    """The metaclass of enumerations."""

    @classmethod
    def __prepare__(metacls, cls, bases, **kwds):
        metacls._check_extension(cls, bases)
        body = _Body(cls)
        _, first_enum = metacls._bases(cls, bases)
        if first_enum is not None:
            generate = getattr(first_enum, "_generate_next_value_", None)
            body._generate = generate
        return body

    def __new__(metacls, cls, bases, classdict, *, boundary=None, **kwds):
        if not bases:
            root = _new_class(metacls, cls, bases, dict(classdict), kwds)
            type.__setattr__(root, "_member_names_", [])
            type.__setattr__(root, "_member_map_", {})
            root._member_type_ = object
            root._new_member_ = object.__new__
            root._value_repr_ = None
            return root
        names = list(classdict._member_names)
        for name in classdict._ignore:
            classdict.pop(name, None)
        classdict.pop("_ignore_", None)
        bad = [name for name in names if name in ("mro", "")]
        if bad:
            raise ValueError(f"invalid enum member name(s) {', '.join([repr(name) for name in bad])}")
        member_type, first_enum = metacls._bases(cls, bases)
        namespace = dict(classdict)
        values = {name: namespace.pop(name) for name in names}
        order = namespace.pop("_order_", None)
        generate = namespace.get("_generate_next_value_")
        if generate is not None and not isinstance(generate, staticmethod):
            namespace["_generate_next_value_"] = staticmethod(generate)
        enum_class = _new_class(metacls, cls, bases, namespace, kwds)
        enum_class._member_names_ = []
        enum_class._member_map_ = {}
        enum_class._value2member_map_ = {}
        enum_class._member_type_ = member_type
        enum_class._boundary_ = boundary or getattr(first_enum, "_boundary_", None)
        enum_class._flag_mask_ = 0
        enum_class._singles_mask_ = 0
        enum_class._all_bits_ = 0
        _choose_methods(enum_class, bases, namespace, member_type, first_enum)
        saved_new = namespace.get("__new__")
        if saved_new is not None:
            enum_class.__new_member__ = saved_new
        make = _maker(first_enum, member_type, saved_new)
        enum_class._new_member_ = object.__new__ if make is None else make
        enum_class._value_repr_ = _value_repr(bases)
        for name in names:
            _add_member(enum_class, name, values[name], make, member_type)
        # From now on, calling the class looks a member up.
        enum_class.__new__ = Enum.__new__ if Enum is not None else enum_class.__new__
        if order is not None:
            listed = order.replace(",", " ").split() if isinstance(order, str) else list(order)
            kept = [name for name in listed if name in enum_class._member_names_ or name not in enum_class._member_map_]
            if kept != enum_class._member_names_:
                raise TypeError(
                    f"member order does not match _order_:\n  {enum_class._member_names_!r}\n  {kept!r}"
                )
        if Flag is not None and issubclass(enum_class, Flag):
            numbers = [enum_class._member_map_[name]._value_ for name in enum_class._member_names_]
            if numbers != sorted(numbers):
                enum_class._iter_member_ = enum_class._iter_member_by_def_
        return enum_class

    def __init__(cls, *args, **kwds):
        pass

    @staticmethod
    def _check_extension(cls, bases):
        for base in bases:
            for parent in base.__mro__:
                if isinstance(parent, EnumType) and parent._member_names_:
                    raise TypeError(f"<enum {cls!r}> cannot extend {parent!r}")

    @staticmethod
    def _bases(cls, bases):
        """The data type the members also are (object for none), and the enum class that is extended."""
        if not bases:
            return object, None
        first_enum = bases[-1]
        if not isinstance(first_enum, EnumType):
            raise TypeError("new enumerations should be created as `EnumName([mixin_type, ...] [data_type,] enum_type)`")
        found = []
        for base in bases:
            kind = _data_type(base)
            if kind is not None and not any([issubclass(each, kind) for each in found]):
                found.append(kind)
        if len(found) > 1:
            raise TypeError(f"too many data types for {cls!r}: {set(found)!r}")
        return (found[0] if found else object), first_enum

    def __call__(cls, value, names=None, *, module=None, qualname=None, type=None, start=1, boundary=None):
        """`Color(1)` finds a member; `Color("Color", "RED BLUE")` makes a class."""
        if names is None:
            return cls.__new__(cls, value)
        return cls._create(value, names, type, start, boundary, module, qualname)

    def _create(cls, class_name, names, type, start, boundary, module=None, qualname=None):
        bases = (cls,) if type is None else (type, cls)
        metacls = cls.__class__
        body = metacls.__prepare__(class_name, bases)
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        if isinstance(names, (list, tuple)) and names and isinstance(names[0], str):
            values = []
            pairs = []
            for count, name in enumerate(names):
                value = body._generate(name, start, count, values[:])
                values.append(value)
                pairs.append((name, value))
            names = pairs
        if isinstance(names, dict):
            names = names.items()
        for name, value in names:
            body[name] = value
        if module is not None:
            body["__module__"] = module
        if qualname is not None:
            body["__qualname__"] = qualname
        return metacls.__new__(metacls, class_name, bases, body, boundary=boundary)

    def __contains__(cls, member):
        if not isinstance(member, Enum):
            raise TypeError(
                f"unsupported operand type(s) for 'in': '{member.__class__.__qualname__}' and '{cls.__class__.__qualname__}'"
            )
        return isinstance(member, cls) and member._name_ in cls._member_map_

    def __dir__(cls):
        shown = {
            "__class__", "__contains__", "__doc__", "__getitem__", "__iter__", "__len__", "__members__", "__module__", "__name__",
            "__qualname__", "__init_subclass__", *cls._member_names_,
        }
        if cls._new_member_ is not object.__new__:
            shown.add("__new__")
        if cls._member_type_ is not object:
            shown.update(dir(cls._member_type_))
        return sorted(shown)

    def __getattr__(cls, name):
        raise AttributeError(name)

    def __getitem__(cls, name):
        return cls._member_map_[name]

    def __iter__(cls):
        members = cls._member_map_
        return iter([members[name] for name in cls._member_names_])

    def __reversed__(cls):
        return iter([cls._member_map_[name] for name in reversed(cls._member_names_)])

    def __len__(cls):
        return len(cls._member_names_)

    def __bool__(cls):
        return True

    @_property
    def __members__(cls):
        return dict(cls._member_map_)

    def __setattr__(cls, name, value):
        if name in cls.__dict__.get("_member_map_", ()):
            raise AttributeError(f"cannot reassign member {name!r}")
        super().__setattr__(name, value)

    def __delattr__(cls, name):
        if name in cls.__dict__.get("_member_map_", ()):
            raise AttributeError(f"{cls.__name__!r} cannot delete member {name!r}.")
        super().__delattr__(name)

    def __repr__(cls):
        kind = "flag" if Flag is not None and issubclass(cls, Flag) else "enum"
        return f"<{kind} {cls.__name__!r}>"


EnumMeta = EnumType


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
        known = _find(cls, value)
        if known is not None:
            return known
        if not cls._member_map_:
            raise TypeError(f"{cls!r} has no members defined")
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
            return sorted(last_values)[-1] + 1
        except TypeError:
            raise TypeError("unable to sort non-numeric values") from None

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
