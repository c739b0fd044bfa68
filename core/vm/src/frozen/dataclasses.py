"""Classes made from their annotated fields.

Nothing is generated as source: the methods are ordinary functions that read the class's list of fields.
"""

import re as _re
from abc import update_abstractmethods as _update_abstractmethods
from collections_named import is_keyword as _is_keyword

import _vm


class FrozenInstanceError(AttributeError):
    """An assignment to a field of a frozen instance."""


class _Sentinel:
    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


class _MISSING_TYPE:
    pass


class _KW_ONLY_TYPE:
    pass


MISSING = _MISSING_TYPE()
KW_ONLY = _KW_ONLY_TYPE()
_DEFAULT_FACTORY = _Sentinel("<factory>")

_FIELD = _Sentinel("_FIELD")
_FIELD_CLASSVAR = _Sentinel("_FIELD_CLASSVAR")
_FIELD_INITVAR = _Sentinel("_FIELD_INITVAR")

_FIELDS = "__dataclass_fields__"
_PARAMS = "__dataclass_params__"


class _Slotted:
    __slots__ = ("slot",)


_Slot = type(_Slotted.__dict__["slot"])
_Proxy = type(_Slotted.__dict__)


class InitVar:
    """A parameter of `__init__` that is passed to `__post_init__` and not stored."""

    def __init__(self, type):
        self.type = type

    def __class_getitem__(cls, type):
        return InitVar(type)

    def __repr__(self):
        name = self.type.__name__ if isinstance(self.type, type) else repr(self.type)
        return f"dataclasses.InitVar[{name}]"


class Field:
    """What is known of one field."""

    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.name = None
        self.type = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        if metadata is None:
            metadata = {}
        elif not hasattr(type(metadata), "__getitem__"):
            raise TypeError(f"mappingproxy() argument must be a mapping, not {type(metadata).__name__}")
        # Only a dict needs to be kept from being changed; what is written in Python looks after itself.
        self.metadata = _Proxy(metadata) if isinstance(metadata, dict) else metadata
        self.kw_only = kw_only
        self._field_type = None

    def __repr__(self):
        return (
            f"Field(name={self.name!r},type={self.type!r},default={self.default!r},"
            f"default_factory={self.default_factory!r},init={self.init!r},repr={self.repr!r},hash={self.hash!r},"
            f"compare={self.compare!r},metadata={self.metadata!r},kw_only={self.kw_only!r},"
            f"_field_type={self._field_type})"
        )

    def __set_name__(self, owner, name):
        # A default that wants to know its name hears of it here, in the place of its class.
        hook = getattr(type(self.default), "__set_name__", None)
        if hook is not None:
            hook(self.default, owner, name)

    def __class_getitem__(cls, items):
        return _vm.alias(cls, items if isinstance(items, tuple) else (items,))


class _Params:
    def __init__(self, init, repr, eq, order, unsafe_hash, frozen):
        self.init = init
        self.repr = repr
        self.eq = eq
        self.order = order
        self.unsafe_hash = unsafe_hash
        self.frozen = frozen

    def __repr__(self):
        return (
            f"_DataclassParams(init={self.init!r},repr={self.repr!r},eq={self.eq!r},order={self.order!r},"
            f"unsafe_hash={self.unsafe_hash!r},frozen={self.frozen!r})"
        )


def field(
    *, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=MISSING
):
    """Says more about a field than a plain default can."""
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def dataclass(
    cls=None,
    /,
    *,
    init=True,
    repr=True,
    eq=True,
    order=False,
    unsafe_hash=False,
    frozen=False,
    match_args=True,
    kw_only=False,
    slots=False,
    weakref_slot=False,
):
    """Adds `__init__`, `__repr__`, `__eq__` and, on request, ordering, hashing and immutability."""

    def wrap(cls):
        return _process(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only, slots, weakref_slot)

    return wrap if cls is None else wrap(cls)


def fields(class_or_instance):
    """The fields, as a tuple."""
    try:
        found = getattr(class_or_instance, _FIELDS)
    except AttributeError:
        raise TypeError("must be called with a dataclass type or instance") from None
    return tuple([f for f in found.values() if f._field_type is _FIELD])


def is_dataclass(obj):
    cls = obj if isinstance(obj, type) else type(obj)
    return hasattr(cls, _FIELDS)


def _is_instance(obj):
    return hasattr(type(obj), _FIELDS)


def asdict(obj, *, dict_factory=dict):
    """The fields as a dict, dataclasses inside included."""
    if not _is_instance(obj):
        raise TypeError("asdict() should be called on dataclass instances")
    return _asdict(obj, dict_factory)


def _asdict(obj, dict_factory):
    if _is_instance(obj):
        return dict_factory([(f.name, _asdict(getattr(obj, f.name), dict_factory)) for f in fields(obj)])
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*[_asdict(value, dict_factory) for value in obj])
    if isinstance(obj, (list, tuple)):
        return type(obj)([_asdict(value, dict_factory) for value in obj])
    if isinstance(obj, dict):
        pairs = [(_asdict(key, dict_factory), _asdict(value, dict_factory)) for key, value in obj.items()]
        if hasattr(type(obj), "default_factory"):
            result = type(obj)(obj.default_factory)
            result.update(pairs)
            return result
        return type(obj)(pairs)
    return _copied(obj)


def astuple(obj, *, tuple_factory=tuple):
    """The fields' values as a tuple, dataclasses inside included."""
    if not _is_instance(obj):
        raise TypeError("astuple() should be called on dataclass instances")
    return _astuple(obj, tuple_factory)


def _astuple(obj, tuple_factory):
    if _is_instance(obj):
        return tuple_factory([_astuple(getattr(obj, f.name), tuple_factory) for f in fields(obj)])
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*[_astuple(value, tuple_factory) for value in obj])
    if isinstance(obj, (list, tuple)):
        return type(obj)([_astuple(value, tuple_factory) for value in obj])
    if isinstance(obj, dict):
        return type(obj)([(_astuple(k, tuple_factory), _astuple(v, tuple_factory)) for k, v in obj.items()])
    return _copied(obj)


def _copied(obj):
    if isinstance(obj, (set, bytearray)):
        return obj.copy()
    copy = getattr(type(obj), "__copy__", None)
    return obj if copy is None else copy(obj)


def replace(obj, /, **changes):
    """A copy with some fields changed, made through `__init__`."""
    if not _is_instance(obj):
        raise TypeError("replace() should be called on dataclass instances")
    for f in getattr(obj, _FIELDS).values():
        if f._field_type is _FIELD_CLASSVAR:
            continue
        if not f.init:
            if f.name in changes:
                raise ValueError(f"field {f.name} is declared with init=False, it cannot be specified with replace()")
            continue
        if f.name not in changes:
            if f._field_type is _FIELD_INITVAR and f.default is MISSING:
                raise ValueError(f"InitVar {f.name!r} must be specified with replace()")
            changes[f.name] = getattr(obj, f.name)
    return obj.__class__(**changes)


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **options):
    """A dataclass from a list of names, (name, type) or (name, type, default)."""
    body = {} if namespace is None else dict(namespace)
    annotations = {}
    for item in fields:
        if isinstance(item, str):
            name, kind = item, "typing.Any"
        elif len(item) == 2:
            name, kind = item
        elif len(item) == 3:
            name, kind, body[item[0]] = item
        else:
            raise TypeError(f"Invalid field: {item!r}")
        if not isinstance(name, str) or not name.isidentifier():
            raise TypeError(f"Field names must be valid identifiers: {name!r}")
        if _is_keyword(name):
            raise TypeError(f"Field names must not be keywords: {name!r}")
        if name in annotations:
            raise TypeError(f"Field name duplicated: {name!r}")
        annotations[name] = kind
    body["__annotations__"] = annotations
    return dataclass(_vm.make_class(cls_name, tuple(bases), body), **options)


# Reading the class


def _process(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only, slots, weakref_slot):
    found = {}
    any_frozen_base = False
    has_dataclass_bases = False
    for base in reversed(cls.__mro__[1:]):
        base_fields = base.__dict__.get(_FIELDS)
        if base_fields is not None:
            has_dataclass_bases = True
            found.update(base_fields)
            any_frozen_base = any_frozen_base or base.__dict__[_PARAMS].frozen
    for f in _own_fields(cls, kw_only):
        found[f.name] = f
        if f.default is MISSING:
            if f.name in cls.__dict__ and isinstance(cls.__dict__[f.name], Field):
                delattr(cls, f.name)
        elif isinstance(cls.__dict__.get(f.name), Field):
            setattr(cls, f.name, f.default)
    annotations = cls.__dict__.get("__annotations__", {})
    for name, value in cls.__dict__.items():
        if isinstance(value, Field) and name not in annotations:
            raise TypeError(f"{name!r} is a field but has no type annotation")
    if has_dataclass_bases:
        if any_frozen_base and not frozen:
            raise TypeError("cannot inherit non-frozen dataclass from a frozen one")
        if not any_frozen_base and frozen:
            raise TypeError("cannot inherit frozen dataclass from a non-frozen one")
    if order and not eq:
        raise ValueError("eq must be true if order is true")
    setattr(cls, _FIELDS, found)
    setattr(cls, _PARAMS, _Params(init, repr, eq, order, unsafe_hash, frozen))
    _install(cls, found, init, repr, eq, order, unsafe_hash, frozen, slots)
    in_init = [f for f in found.values() if f._field_type in (_FIELD, _FIELD_INITVAR) and f.init and not f.kw_only]
    if match_args and "__match_args__" not in cls.__dict__:
        cls.__match_args__ = tuple([f.name for f in in_init])
    if weakref_slot and not slots:
        raise TypeError("weakref_slot is True but slots is False")
    if slots:
        cls = _with_slots(cls, found, weakref_slot)
    _update_abstractmethods(cls)
    return cls


def _own_fields(cls, kw_only):
    result = []
    seen_kw_only = False
    for name, kind in cls.__dict__.get("__annotations__", {}).items():
        if kind is KW_ONLY or (isinstance(kind, str) and kind.split(".")[-1] == "KW_ONLY"):
            if seen_kw_only:
                raise TypeError(f"{name!r} is KW_ONLY, but KW_ONLY has already been specified")
            seen_kw_only = True
            kw_only = True
            continue
        result.append(_own_field(cls, name, kind, kw_only))
    return result


def _own_field(cls, name, kind, kw_only):
    default = getattr(cls, name, MISSING)
    if isinstance(default, _Slot):
        # A slot of a base is no default.
        default = MISSING
    f = default if isinstance(default, Field) else field(default=default)
    f.name = name
    f.type = kind
    f._field_type = _field_type(kind)
    if f._field_type in (_FIELD_CLASSVAR, _FIELD_INITVAR) and f.default_factory is not MISSING:
        raise TypeError(f"field {name} cannot have a default factory")
    if f._field_type is _FIELD_CLASSVAR:
        if f.kw_only is not MISSING:
            raise TypeError(f"field {name} is a ClassVar but specifies kw_only")
    elif f.kw_only is MISSING:
        f.kw_only = kw_only
    if f._field_type is _FIELD and f.default is not MISSING and type(f.default).__hash__ is None:
        raise ValueError(f"mutable default {type(f.default)} for field {name} is not allowed: use default_factory")
    return f


def _field_type(kind):
    if isinstance(kind, InitVar) or kind is InitVar:
        return _FIELD_INITVAR
    text = kind if isinstance(kind, str) else repr(kind)
    found = _HEAD.match(text)
    module, head = found.groups() if found else ("", text.split("[")[0])
    if head == "ClassVar" and module in (None, "typing"):
        return _FIELD_CLASSVAR
    if isinstance(kind, str) and head == "InitVar" and module in (None, "dataclasses"):
        return _FIELD_INITVAR
    return _FIELD


# What stands first in an annotation that is text: a name, perhaps of a module.
_HEAD = _re.compile(r"\s*(?:(\w+)\s*\.)?\s*(\w+)")


def _signature(fields):
    """The parameters of `__init__` as documentation shows them."""
    parts = []
    for f in [f for f in fields if not f.kw_only] + [f for f in fields if f.kw_only]:
        if f.kw_only and "*" not in parts:
            parts.append("*")
        kind = f.type.type if isinstance(f.type, InitVar) else f.type
        if isinstance(kind, type) and not hasattr(kind, "__origin__"):
            shown = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        else:
            shown = repr(kind).replace("typing.", "")
        default = " = <factory>" if f.default_factory is not MISSING else "" if f.default is MISSING else f" = {f.default!r}"
        parts.append(f"{f.name}: {shown}{default}")
    return f"({', '.join(parts)})"


# Making the methods


def _install(cls, found, init, repr, eq, order, unsafe_hash, frozen, slots):
    own = cls.__dict__
    has_explicit_hash = not (own.get("__hash__", MISSING) is MISSING or (own["__hash__"] is None and "__eq__" in own))
    real = [f for f in found.values() if f._field_type is _FIELD]
    if not getattr(cls, "__doc__", None):
        listed = [f for f in found.values() if f.init and f._field_type is not _FIELD_CLASSVAR] if init else []
        # A metaclass that makes instances its own way says nothing of parameters.
        called = type(cls) is type or type(cls).__call__ is type.__call__
        cls.__doc__ = cls.__name__ + (_signature(listed) if called else "")
    if init and "__init__" not in own:
        cls.__init__ = _named(cls, _init_for(cls, found, frozen, slots), "__init__")
    if repr and "__repr__" not in own:
        cls.__repr__ = _named(cls, _repr_for([f.name for f in real if f.repr]), "__repr__")
    compared = [f.name for f in real if f.compare]
    if eq and "__eq__" not in own:
        cls.__eq__ = _named(cls, _eq_for(compared), "__eq__")
    if order:
        for name, compare in (("__lt__", _lt), ("__le__", _le), ("__gt__", _gt), ("__ge__", _ge)):
            if name in own:
                raise TypeError(
                    f"Cannot overwrite attribute {name} in class {cls.__name__}. Consider using functools.total_ordering"
                )
            setattr(cls, name, _named(cls, _order_for(compared, compare), name))
    if frozen:
        names = tuple([f.name for f in real])
        for name, function in (("__setattr__", _frozen_setattr(names)), ("__delattr__", _frozen_delattr(names))):
            if name in own:
                raise TypeError(f"Cannot overwrite attribute {name} in class {cls.__name__}")
            setattr(cls, name, _named(cls, function, name))
    hashed = [f.name for f in real if (f.compare if f.hash is None else f.hash)]
    if unsafe_hash:
        if has_explicit_hash:
            raise TypeError(f"Cannot overwrite attribute __hash__ in class {cls.__name__}")
        cls.__hash__ = _named(cls, _hash_for(hashed), "__hash__")
    elif eq and not has_explicit_hash:
        cls.__hash__ = _named(cls, _hash_for(hashed), "__hash__") if frozen else None


def _named(cls, function, name):
    function.__name__ = name
    function.__qualname__ = f"{cls.__qualname__}.{name}"
    return function


def _init_for(cls, found, frozen, slots):
    """`__init__`: binds its arguments as a function with one parameter per field would, then assigns."""
    parameters = [f for f in found.values() if f._field_type in (_FIELD, _FIELD_INITVAR)]
    positional = [f for f in parameters if f.init and not f.kw_only]
    seen_default = False
    for f in positional:
        if f.default is not MISSING or f.default_factory is not MISSING:
            seen_default = True
        elif seen_default:
            raise TypeError(f"non-default argument {f.name!r} follows default argument")
    assigned = [f for f in parameters if f._field_type is _FIELD]
    init_vars = [f.name for f in parameters if f._field_type is _FIELD_INITVAR]
    post_init = hasattr(cls, "__post_init__")
    names = [f.name for f in positional]
    keyword_only = [f.name for f in parameters if f.init and f.kw_only]
    store = object.__setattr__ if frozen else setattr
    # The common case: every field is an argument in order, nothing else happens.
    simple = not init_vars and not post_init and len(names) == len(assigned)
    slotted = slots
    count = len(names)
    function_name = f"{cls.__qualname__}.__init__"

    def __init__(self, /, *args, **kwargs):
        if simple and not kwargs and len(args) == count:
            for name, value in zip(names, args):
                store(self, name, value)
            return
        given = _bind(function_name, positional, keyword_only, found, args, kwargs)
        for f in assigned:
            if f.name in given:
                store(self, f.name, given[f.name])
            elif f.default_factory is not MISSING:
                store(self, f.name, f.default_factory())
            elif (f.init or slotted) and f.default is not MISSING:
                store(self, f.name, f.default)
        if post_init:
            self.__post_init__(*[given[name] if name in given else found[name].default for name in init_vars])

    return __init__


def _bind(function_name, positional, keyword_only, found, args, kwargs):
    """{name: value} of the arguments given. TypeError as the interpreter words it."""
    names = [f.name for f in positional]
    if len(args) > len(names):
        required = [f for f in positional if f.default is MISSING and f.default_factory is MISSING]
        most = len(names) + 1
        takes = f"from {len(required) + 1} to {most}" if len(required) < len(names) else f"{most}"
        plural = "" if takes == "1" else "s"
        raise TypeError(f"{function_name}() takes {takes} positional argument{plural} but {len(args) + 1} were given")
    given = dict(zip(names, args))
    for name, value in kwargs.items():
        if name in given:
            raise TypeError(f"{function_name}() got multiple values for argument {name!r}")
        if name not in names and name not in keyword_only:
            raise TypeError(f"{function_name}() got an unexpected keyword argument {name!r}")
        given[name] = value
    for kind, wanted in (("positional", names), ("keyword-only", keyword_only)):
        missing = [
            repr(name)
            for name in wanted
            if name not in given and found[name].default is MISSING and found[name].default_factory is MISSING
        ]
        if missing:
            plural = "s" if len(missing) > 1 else ""
            raise TypeError(f"{function_name}() missing {len(missing)} required {kind} argument{plural}: {_listed(missing)}")
    return given


def _listed(quoted):
    if len(quoted) <= 2:
        return " and ".join(quoted)
    return ", ".join(quoted[:-1]) + ", and " + quoted[-1]


class _Showing:
    """The instances whose repr is being made, so that one that contains itself comes to an end."""

    def __init__(self):
        self.ids = []


_showing = _Showing()


def _repr_for(names):
    def __repr__(self):
        key = id(self)
        if key in _showing.ids:
            return "..."
        _showing.ids.append(key)
        try:
            shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        finally:
            _showing.ids.pop()
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


def _values(obj, names):
    return tuple([getattr(obj, name) for name in names])


def _eq_for(names):
    def __eq__(self, other):
        if other.__class__ is self.__class__:
            return _values(self, names) == _values(other, names)
        return NotImplemented

    return __eq__


def _lt(left, right):
    return left < right


def _le(left, right):
    return left <= right


def _gt(left, right):
    return left > right


def _ge(left, right):
    return left >= right


def _order_for(names, compare):
    def method(self, other):
        if other.__class__ is self.__class__:
            return compare(_values(self, names), _values(other, names))
        return NotImplemented

    return method


def _hash_for(names):
    def __hash__(self):
        return hash(_values(self, names))

    return __hash__


def _frozen_setattr(names):
    def __setattr__(self, name, value):
        if name in names or _is_exactly_frozen(self):
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    return __setattr__


def _frozen_delattr(names):
    def __delattr__(self, name):
        if name in names or _is_exactly_frozen(self):
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return __delattr__


def _is_exactly_frozen(obj):
    """Whether the object's own class is a frozen dataclass: a plain subclass of one may have further attributes."""
    params = type(obj).__dict__.get(_PARAMS)
    return params is not None and params.frozen


def _with_slots(cls, found, weakref_slot):
    if "__slots__" in cls.__dict__:
        raise TypeError(f"{cls.__name__} already specifies __slots__")
    namespace = dict(cls.__dict__)
    names = [f.name for f in found.values() if f._field_type is _FIELD]
    inherited = []
    for base in cls.__mro__[1:-1]:
        slots = base.__dict__.get("__slots__", ())
        if hasattr(type(slots), "__next__"):
            raise TypeError(f"Slots of {base.__name__!r} cannot be determined")
        inherited.extend([slots] if isinstance(slots, str) else slots)
    wanted = [*names, "__weakref__"] if weakref_slot else names
    namespace["__slots__"] = tuple([name for name in wanted if name not in inherited])
    for name in names:
        namespace.pop(name, None)
    namespace.pop("__dict__", None)
    namespace.pop("__weakref__", None)
    result = type(cls)(cls.__name__, cls.__bases__, namespace)
    result.__qualname__ = cls.__qualname__
    return result
