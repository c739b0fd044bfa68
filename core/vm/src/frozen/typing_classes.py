"""Generic classes, protocols, named tuples and typed dicts. A part of `typing`."""

import _vm
import collections.abc as collections_abc
from abc import ABCMeta, abstractmethod
from collections_named import namedtuple_class
from typing_forms import Annotated, Filled, NotRequired, Required, generic_class, get_args, get_origin
from typing_variables import (
    Hint, ParamSpec, TypeVar, TypeVarTuple, as_tuple, bare, check_count, checked, hint, is_unpacked_variable, never_arguments, variables_of,
)

__name__ = "typing"


class Generic:
    """The base of classes with type parameters: `class Stack(Generic[T])`."""

    __slots__ = ()
    _is_protocol = False

    def __class_getitem__(cls, items):
        items = tuple([hint(item) for item in as_tuple(items)])
        if cls is Generic or cls is Protocol:
            if not items:
                raise TypeError(f"Parameter list to {cls.__qualname__}[...] cannot be empty")
            if not all([isinstance(item, (TypeVar, ParamSpec)) or is_unpacked_variable(item) for item in items]):
                raise TypeError(f"Parameters to {cls.__name__}[...] must all be type variables or parameter specification variables.")
            if len(set(items)) != len(items):
                raise TypeError(f"Parameters to {cls.__name__}[...] must all be unique")
            return Filled(cls, items)
        for variable in cls.__parameters__:
            prepare = getattr(variable, "__typing_prepare_subst__", None)
            if prepare is not None:
                items = prepare(cls, items)
        if not cls.__parameters__:
            raise TypeError(f"{cls} is not a generic class")
        check_count(cls, items, len(cls.__parameters__))
        flat = []
        for variable, item in zip(cls.__parameters__, items):
            if isinstance(variable, TypeVarTuple):
                flat.extend(item)
            else:
                flat.append(item)
        return Filled(cls, tuple(flat))

    def __init_subclass__(cls, *args, **kwargs):
        super().__init_subclass__(*args, **kwargs)
        written = cls.__dict__.get("__orig_bases__")
        plain = written is not None and Generic in written
        if written is None:
            plain = Generic in cls.__bases__ and cls.__name__ != "Protocol" and type(cls) is not TypedDictMeta
        if plain:
            raise TypeError("Cannot inherit from plain Generic")
        cls.__parameters__ = () if written is None else _parameters_of(written)


def _parameters_of(bases):
    """The variables of a class with these bases, as written: those of `Generic[...]`, or else in the order of their mention."""
    mentioned = variables_of(bases)
    listed = None
    for base in bases:
        if isinstance(base, Filled) and base.__origin__ is Generic:
            if listed is not None:
                raise TypeError("Cannot inherit from Generic[...] multiple times.")
            listed = base.__parameters__
    if listed is None:
        return mentioned
    missing = [str(each) for each in mentioned if each not in listed]
    if missing:
        shown = ", ".join([str(each) for each in listed])
        raise TypeError(f"Some type variables ({', '.join(missing)}) are not listed in Generic[{shown}]")
    return listed


# Protocols

_UNCHECKED = {
    "__abstractmethods__", "__annotations__", "__dict__", "__doc__", "__init__", "__module__", "__new__", "__slots__",
    "__subclasshook__", "__weakref__", "__class_getitem__", "__match_args__", "__parameters__", "__orig_bases__", "__orig_class__",
    "_is_protocol", "_is_runtime_protocol", "__final__", "_MutableMapping__marker", "__qualname__",
}
# Abstract classes of other modules that a protocol may inherit from.
_ALLOWED_BASES = {
    "collections.abc": {
        "Callable", "Awaitable", "Iterable", "Iterator", "AsyncIterable", "Hashable", "Sized", "Container", "Collection", "Reversible",
    },
    "contextlib": {"AbstractContextManager", "AbstractAsyncContextManager"},
}
_ONLY_RUNTIME = "Instance and class checks can only be used with @runtime_checkable protocols"


def _get_protocol_attrs(cls):
    """The names that a class must have to follow the protocol."""
    return dict.fromkeys(_vm.protocol_names(cls, _UNCHECKED)).keys()


def _has_methods_only(cls, names):
    for name in names:
        if not callable(getattr(cls, name, None)):
            return False
    return True


class _ProtocolMeta(ABCMeta):
    # Checks that come from inside of abstract classes do not mind what a protocol is not made for.
    _inner_subclasscheck = ABCMeta.__subclasscheck__

    def __subclasscheck__(cls, other):
        if not isinstance(other, type):
            raise TypeError("issubclass() arg 1 must be a class")
        if cls.__dict__.get("_is_protocol", False) and "__subclasshook__" in cls.__dict__ and cls is not Protocol:
            if not getattr(cls, "_is_runtime_protocol", False):
                raise TypeError(_ONLY_RUNTIME)
            if not _has_methods_only(cls, _vm.protocol_names(cls, _UNCHECKED)):
                raise TypeError("Protocols with non-method members don't support issubclass()")
        return ABCMeta.__subclasscheck__(cls, other)

    def __instancecheck__(cls, instance):
        is_protocol = getattr(cls, "_is_protocol", False)
        if is_protocol and not getattr(cls, "_is_runtime_protocol", False):
            raise TypeError(_ONLY_RUNTIME)
        kind = instance.__class__
        names = _vm.protocol_names(cls, _UNCHECKED) if is_protocol else ()
        if _has_methods_only(cls, names) and ABCMeta.__subclasscheck__(cls, kind):
            return True
        if is_protocol:
            for name in names:
                if not hasattr(instance, name) or callable(getattr(cls, name, None)) and getattr(instance, name) is None:
                    break
            else:
                return True
        return ABCMeta.__subclasscheck__(cls, kind)


def _follows(cls, other):
    """Whether a class has what the protocol asks for; NotImplemented where only inheritance can say so."""
    if not cls.__dict__.get("_is_protocol", False) or not getattr(cls, "_is_runtime_protocol", False):
        return NotImplemented
    names = _vm.protocol_names(cls, _UNCHECKED)
    if not _has_methods_only(cls, names):
        return NotImplemented
    for name in names:
        for base in other.__mro__:
            if name in base.__dict__:
                if base.__dict__[name] is None:
                    return NotImplemented
                break
            hints = getattr(base, "__annotations__", {})
            if isinstance(hints, dict) and name in hints and issubclass(other, Generic) and other._is_protocol:
                break
        else:
            return NotImplemented
    return True


def _init_of_protocol(self, *args, **kwargs):
    cls = type(self)
    if cls._is_protocol:
        raise TypeError("Protocols cannot be instantiated")
    if cls.__init__ is not _init_of_protocol:
        return
    for base in cls.__mro__:
        init = base.__dict__.get("__init__", _init_of_protocol)
        if init is not _init_of_protocol:
            init(self, *args, **kwargs)
            return


class Protocol(Generic, metaclass=_ProtocolMeta):
    """The base of protocols: classes that say which methods a type must have."""

    __slots__ = ()
    _is_protocol = True
    _is_runtime_protocol = False

    def __init_subclass__(cls, *args, **kwargs):
        super().__init_subclass__(*args, **kwargs)
        if not cls.__dict__.get("_is_protocol", False):
            cls._is_protocol = any([base is Protocol for base in cls.__bases__])
        if "__subclasshook__" not in cls.__dict__:
            cls.__subclasshook__ = classmethod(_follows)
        if not cls._is_protocol:
            return
        for base in cls.__bases__:
            allowed = base in (object, Generic) or base.__name__ in _ALLOWED_BASES.get(base.__module__, ())
            if not (allowed or issubclass(base, Generic) and base._is_protocol):
                raise TypeError(f"Protocols can only inherit from other protocols, got {base!r}")
        if cls.__init__ is Protocol.__init__:
            cls.__init__ = _init_of_protocol


generic_class.extend([Generic, Protocol])
bare.extend([Generic, Protocol])
never_arguments.extend([(Generic, None), (Protocol, None)])


def runtime_checkable(cls):
    """Lets a protocol be used with isinstance(), which then looks at the methods' names."""
    if not issubclass(cls, Generic) or not cls._is_protocol:
        raise TypeError(f"@runtime_checkable can be only applied to protocol classes, got {cls!r}")
    cls._is_runtime_protocol = True
    return cls


T_co = TypeVar("T_co", covariant=True)


@runtime_checkable
class SupportsInt(Protocol):
    """Has `__int__`."""

    __slots__ = ()

    @abstractmethod
    def __int__(self):
        pass


@runtime_checkable
class SupportsFloat(Protocol):
    """Has `__float__`."""

    __slots__ = ()

    @abstractmethod
    def __float__(self):
        pass


@runtime_checkable
class SupportsComplex(Protocol):
    """Has `__complex__`."""

    __slots__ = ()

    @abstractmethod
    def __complex__(self):
        pass


@runtime_checkable
class SupportsBytes(Protocol):
    """Has `__bytes__`."""

    __slots__ = ()

    @abstractmethod
    def __bytes__(self):
        pass


@runtime_checkable
class SupportsIndex(Protocol):
    """Has `__index__`."""

    __slots__ = ()

    @abstractmethod
    def __index__(self):
        pass


@runtime_checkable
class SupportsAbs(Protocol[T_co]):
    """Has `__abs__`."""

    __slots__ = ()

    @abstractmethod
    def __abs__(self):
        pass


@runtime_checkable
class SupportsRound(Protocol[T_co]):
    """Has `__round__`."""

    __slots__ = ()

    @abstractmethod
    def __round__(self, ndigits=0):
        pass


class AbstractContextManager(metaclass=ABCMeta):
    """Something for `with`."""

    __module__ = "contextlib"

    def __enter__(self):
        return self

    @abstractmethod
    def __exit__(self, exc_type, exc_value, traceback):
        return None

    @classmethod
    def __subclasshook__(cls, other):
        return _has_both(other, "__enter__", "__exit__") if cls is AbstractContextManager else NotImplemented


class AbstractAsyncContextManager(metaclass=ABCMeta):
    """Something for `async with`."""

    __module__ = "contextlib"

    async def __aenter__(self):
        return self

    @abstractmethod
    async def __aexit__(self, exc_type, exc_value, traceback):
        return None

    @classmethod
    def __subclasshook__(cls, other):
        return _has_both(other, "__aenter__", "__aexit__") if cls is AbstractAsyncContextManager else NotImplemented


def _has_both(cls, *names):
    for name in names:
        for base in cls.__mro__:
            if name in base.__dict__:
                if base.__dict__[name] is None:
                    return NotImplemented
                break
        else:
            return NotImplemented
    return True


# Named tuples

_KEPT = {"__new__", "__init__", "__slots__", "__getnewargs__", "_fields", "_field_defaults", "_field_types", "_make", "_replace", "_asdict", "_source"}


def _named_tuple(name, fields, bases=(tuple,), defaults=(), module=None, more=None):
    types = {key: checked(kind, f"field {key} annotation must be a type") for key, kind in fields}
    made = namedtuple_class(name, list(types), bases, defaults=list(defaults), module=module, more={"__annotations__": types, **(more or {})})
    made.__new__.__annotations__ = types
    return made


class _NamedTupleMeta(type):
    def __new__(mcls, name, bases, namespace):
        for base in bases:
            if base is not _NamedTuple and base is not Generic:
                raise TypeError("can only inherit from a NamedTuple type and Generic")
        types = namespace.get("__annotations__", {})
        defaults = []
        for field in types:
            if field in namespace:
                defaults.append(field)
            elif defaults:
                plural = "s" if len(defaults) > 1 else ""
                raise TypeError(f"Non-default namedtuple field {field} cannot follow default field{plural} {', '.join(defaults)}")
        more = {}
        for key, value in namespace.items():
            if key in _KEPT:
                raise AttributeError("Cannot overwrite NamedTuple attribute " + key)
            if key not in ("__module__", "__annotations__") and key not in types:
                more[key] = value
        bases = tuple([tuple if base is _NamedTuple else base for base in bases])
        return _named_tuple(name, types.items(), bases, [namespace[each] for each in defaults], namespace.get("__module__"), more)


def NamedTuple(typename, fields=None, /, **kwargs):
    """A tuple class whose items have names and types; also the base of such a class."""
    if fields is None:
        fields = kwargs.items()
    elif kwargs:
        raise TypeError("Either list of fields or keywords can be provided to NamedTuple, not both")
    return _named_tuple(typename, fields, module=_vm.caller_module())


_NamedTuple = type.__new__(_NamedTupleMeta, "NamedTuple", (), {})
NamedTuple.__mro_entries__ = lambda bases: (_NamedTuple,)


# Typed dicts


class TypedDictMeta(type):
    """The class of typed dicts."""

    def __new__(mcls, name, bases, namespace, total=True):
        for base in bases:
            if type(base) is not TypedDictMeta and base is not Generic:
                raise TypeError("cannot inherit from both a TypedDict type and a non-TypedDict base class")
        generic = (Generic,) if any([issubclass(base, Generic) for base in bases]) else ()
        made = type.__new__(mcls, name, (*generic, dict), namespace)
        message = "TypedDict('Name', {f0: t0, f1: t1, ...}); each t must be a type"
        own = {key: checked(kind, message, module=made.__module__) for key, kind in namespace.get("__annotations__", {}).items()}
        annotations, required, optional = {}, {}, {}
        for base in bases:
            annotations.update(base.__dict__.get("__annotations__", {}))
            for key in base.__dict__.get("__required_keys__", ()):
                required[key] = None
                optional.pop(key, None)
            for key in base.__dict__.get("__optional_keys__", ()):
                optional[key] = None
                required.pop(key, None)
        annotations.update(own)
        for key, kind in own.items():
            mark = get_origin(kind)
            if mark is Annotated:
                mark = get_origin(get_args(kind)[0])
            must = mark is Required or (total and mark is not NotRequired)
            (required if must else optional)[key] = None
            (optional if must else required).pop(key, None)
        made.__annotations__ = annotations
        made.__required_keys__ = frozenset(required)
        made.__optional_keys__ = frozenset(optional)
        if not hasattr(made, "__total__"):
            made.__total__ = total
        return made

    def __call__(cls, *args, **kwargs):
        return dict(*args, **kwargs)

    def __subclasscheck__(cls, other):
        raise TypeError("TypedDict does not support instance and class checks")

    __instancecheck__ = __subclasscheck__


def TypedDict(typename, fields=None, /, *, total=True, **kwargs):
    """A dict with known keys and a type for each; also the base of such a class."""
    if fields is None:
        fields = kwargs
    elif kwargs:
        raise TypeError("TypedDict takes either a dict or keyword arguments, but not both")
    namespace = {"__annotations__": dict(fields)}
    module = _vm.caller_module()
    if module is not None:
        namespace["__module__"] = module
    return TypedDictMeta(typename, (), namespace, total=total)


_TypedDict = type.__new__(TypedDictMeta, "TypedDict", (), {})
TypedDict.__mro_entries__ = lambda bases: (_TypedDict,)


def is_typeddict(tp):
    """Whether a class is a typed dict."""
    return isinstance(tp, TypedDictMeta)
