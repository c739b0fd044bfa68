"""Enumerations: classes whose values are a fixed set of named members."""

__all__ = [
    "EnumMeta", "EnumType", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum", "auto", "unique", "member",
    "nonmember", "property", "FlagBoundary", "STRICT", "CONFORM", "EJECT", "KEEP", "global_enum", "verify", "UNIQUE",
    "CONTINUOUS", "NAMED_FLAGS", "EnumCheck", "global_str", "global_enum_repr", "global_flag_repr",
]

_property = property
_bin = bin
_MISSING = object()
_ReadOnly = type(type.__dict__)


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
        return _ReadOnly(cls._member_map_)

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


