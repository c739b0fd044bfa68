"""Type hints: names for readers and tools. At run time they are values that subscript, compare and print, and do no more."""

import collections
import re
import collections.abc as collections_abc
from abc import ABCMeta, abstractmethod
from collections import namedtuple as _namedtuple
from typing_reader import BUILTINS, Reader

TYPE_CHECKING = False

_NoneType = type(None)
_GenericAlias = type(list[int])
_UnionType = type(int | str)


def _shown(value):
    """`value` as it stands inside the brackets of a printed hint."""
    if isinstance(value, type) and not isinstance(value, _GenericAlias):
        if value.__module__ == "builtins":
            return value.__qualname__
        return f"{value.__module__}.{value.__qualname__}"
    if value is ...:
        return "..."
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join([_shown(item) for item in value]) + "]"
    return repr(value)


def _hint(value):
    """What a hint means: None stands for its type, text for a name not known yet."""
    if value is None:
        return _NoneType
    return ForwardRef(value) if isinstance(value, str) else value


class _Hint:
    """Anything that can be combined with `|`."""

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]


class ForwardRef(_Hint):
    """A name in a hint, to be looked up by whoever needs it."""

    def __init__(self, arg, is_argument=True):
        if not isinstance(arg, str):
            raise TypeError(f"Forward reference must be a string -- got {arg!r}")
        self.__forward_arg__ = arg

    def __eq__(self, other):
        return isinstance(other, ForwardRef) and self.__forward_arg__ == other.__forward_arg__

    def __hash__(self):
        return hash(self.__forward_arg__)

    def __repr__(self):
        return f"ForwardRef({self.__forward_arg__!r})"


class TypeVar(_Hint):
    """A name for a type that is not fixed yet."""

    def __init__(self, name, *constraints, bound=None, covariant=False, contravariant=False):
        if covariant and contravariant:
            raise ValueError("Bivariant types are not supported.")
        if constraints and bound is not None:
            raise TypeError("Constraints cannot be combined with bound=...")
        if len(constraints) == 1:
            raise TypeError("A single constraint is not allowed")
        self.__name__ = name
        self.__constraints__ = tuple([_hint(c) for c in constraints])
        self.__bound__ = None if bound is None else _hint(bound)
        self.__covariant__ = bool(covariant)
        self.__contravariant__ = bool(contravariant)

    def __mro_entries__(self, bases):
        raise TypeError("Cannot subclass an instance of TypeVar")

    def __repr__(self):
        prefix = "+" if self.__covariant__ else "-" if self.__contravariant__ else "~"
        return prefix + self.__name__


class ParamSpec(_Hint):
    """A name for a list of parameters."""

    def __init__(self, name, *, bound=None, covariant=False, contravariant=False):
        if covariant and contravariant:
            raise ValueError("Bivariant types are not supported.")
        self.__name__ = name
        self.__bound__ = None if bound is None else _hint(bound)
        self.__covariant__ = bool(covariant)
        self.__contravariant__ = bool(contravariant)

    @property
    def args(self):
        """The positional arguments."""
        return ParamSpecArgs(self)

    @property
    def kwargs(self):
        """The keyword arguments."""
        return ParamSpecKwargs(self)

    def __mro_entries__(self, bases):
        raise TypeError("Cannot subclass an instance of ParamSpec")

    def __repr__(self):
        prefix = "+" if self.__covariant__ else "-" if self.__contravariant__ else "~"
        return prefix + self.__name__


class _ParamPart(_Hint):
    _part = ""

    def __init__(self, origin):
        self.__origin__ = origin

    def __eq__(self, other):
        return type(self) is type(other) and self.__origin__ == other.__origin__

    def __hash__(self):
        return hash((self._part, self.__origin__))

    def __repr__(self):
        return f"{self.__origin__.__name__}.{self._part}"


class ParamSpecArgs(_ParamPart):
    """The positional arguments of a list of parameters."""

    _part = "args"


class ParamSpecKwargs(_ParamPart):
    """The keyword arguments of a list of parameters."""

    _part = "kwargs"


class TypeVarTuple(_Hint):
    """A name for any number of types."""

    def __init__(self, name):
        self.__name__ = name

    def __iter__(self):
        yield Unpack[self]

    def __mro_entries__(self, bases):
        raise TypeError("Cannot subclass an instance of TypeVarTuple")

    def __repr__(self):
        return self.__name__


# Hints with brackets


class _Alias(_Hint):
    """A hint with its arguments, such as `List[int]`. Calling it makes an instance of what it stands for."""

    def __init__(self, name, origin, args):
        self._name = name
        self.__origin__ = origin
        self.__args__ = args
        parameters = []
        for arg in args:
            found = [arg] if isinstance(arg, (TypeVar, ParamSpec, TypeVarTuple)) else getattr(arg, "__parameters__", ())
            if not isinstance(arg, type) or isinstance(arg, _GenericAlias):
                parameters.extend([p for p in found if p not in parameters])
        self.__parameters__ = tuple(parameters)

    def __getitem__(self, args):
        """Puts types in the place of the type variables."""
        args = args if isinstance(args, tuple) else (args,)
        if not self.__parameters__:
            raise TypeError(f"{self!r} is not a generic class")
        _check_count(self, args, len(self.__parameters__))
        table = dict(zip(self.__parameters__, [_hint(arg) for arg in args]))
        new = tuple([_substituted(arg, table) for arg in self.__args__])
        if self.__origin__ is Union:
            return Union[new]
        return _Alias(self._name, self.__origin__, new)

    def __call__(self, *args, **kwargs):
        if not isinstance(self.__origin__, type):
            raise TypeError(f"Cannot instantiate {self!r}")
        if self._name is not None and self.__origin__.__module__ == "builtins":
            raise TypeError(f"Type {self._name} cannot be instantiated; use {self.__origin__.__name__}() instead")
        return self.__origin__(*args, **kwargs)

    def __mro_entries__(self, bases):
        if self.__origin__ is Generic:
            others = [base for base in bases if base is not self and isinstance(base, _Alias)]
            if any([isinstance(o.__origin__, type) and issubclass(o.__origin__, Generic) for o in others]):
                return ()
            return (Generic,)
        if self._name is not None and Generic not in bases and self.__parameters__:
            return (self.__origin__, Generic)
        return (self.__origin__,)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return getattr(self.__origin__, name)

    def __eq__(self, other):
        if not isinstance(other, _Alias):
            return NotImplemented
        if self.__origin__ is Union and other.__origin__ is Union:
            return set(self.__args__) == set(other.__args__)
        return self.__origin__ == other.__origin__ and self.__args__ == other.__args__

    def __hash__(self):
        if self.__origin__ is Union:
            return hash(frozenset(self.__args__))
        return hash((self.__origin__, self.__args__))

    def __instancecheck__(self, obj):
        return self.__subclasscheck__(type(obj))

    def __subclasscheck__(self, cls):
        if self.__origin__ is Union:
            return any([issubclass(cls, arg) for arg in self.__args__])
        raise TypeError("Subscripted generics cannot be used with class and instance checks")

    def __repr__(self):
        origin = self.__origin__
        args = self.__args__
        if origin is Union and len(args) == 2 and _NoneType in args:
            other = args[0] if args[1] is _NoneType else args[1]
            return f"typing.Optional[{_shown(other)}]"
        name = f"typing.{self._name}" if self._name is not None else _shown(origin)
        if self._name == "Callable":
            if len(args) == 2 and (args[0] is ... or isinstance(args[0], ParamSpec)):
                return f"{name}[{_shown(args[0])}, {_shown(args[1])}]"
            return f"{name}[[{', '.join([_shown(a) for a in args[:-1]])}], {_shown(args[-1])}]"
        return f"{name}[{', '.join([_shown(arg) for arg in args]) or '()'}]"


def _substituted(arg, table):
    if arg in table:
        return table[arg]
    if isinstance(arg, (_Alias, _GenericAlias)) and getattr(arg, "__parameters__", ()):
        return arg[tuple([table[p] for p in arg.__parameters__])]
    return arg


def _check_count(hint, args, wanted):
    if len(args) != wanted:
        much = "many" if len(args) > wanted else "few"
        raise TypeError(f"Too {much} arguments for {hint!r}; actual {len(args)}, expected {wanted}")


class _Form(_Hint):
    """A name of this module that takes brackets."""

    def __init__(self, name, make=None):
        self._name = name
        self._make = make

    def __getitem__(self, args):
        if self._make is None:
            raise TypeError(f"{self!r} is not subscriptable")
        return self._make(self, args)

    def __call__(self, *args, **kwargs):
        raise TypeError(f"Cannot instantiate {self!r}")

    def __mro_entries__(self, bases):
        raise TypeError(f"Cannot subclass {self!r}")

    def __instancecheck__(self, obj):
        raise TypeError(f"{self!r} cannot be used with isinstance()")

    def __subclasscheck__(self, cls):
        raise TypeError(f"{self!r} cannot be used with issubclass()")

    def __repr__(self):
        return f"typing.{self._name}"


def _make_union(form, args):
    if args == ():
        raise TypeError("Cannot take a Union of no types.")
    args = args if isinstance(args, tuple) else (args,)
    flat = []
    for arg in args:
        arg = _hint(arg)
        parts = arg.__args__ if _is_union(arg) else (arg,)
        flat.extend([part for part in parts if part not in flat])
    return flat[0] if len(flat) == 1 else _Alias("Union", Union, tuple(flat))


def _is_union(hint):
    return isinstance(hint, _UnionType) or (isinstance(hint, _Alias) and hint.__origin__ is Union)


def _make_optional(form, arg):
    return Union[arg, None]


def _make_literal(form, args):
    args = args if isinstance(args, tuple) else (args,)
    values = []
    for arg in args:
        inner = arg.__args__ if isinstance(arg, _LiteralAlias) else (arg,)
        values.extend([v for v in inner if not any([v == known and type(v) is type(known) for known in values])])
    return _LiteralAlias("Literal", form, tuple(values))


class _LiteralAlias(_Alias):
    def __repr__(self):
        return f"typing.Literal[{', '.join([repr(value) for value in self.__args__])}]"


def _make_single(form, arg):
    if isinstance(arg, tuple):
        raise TypeError(f"{form!r} accepts only single type. Got {arg!r:.100}.")
    return _Alias(form._name, form, (_hint(arg),))


def _make_many(form, args):
    args = args if isinstance(args, tuple) else (args,)
    return _Alias(form._name, form, tuple([_hint(arg) for arg in args]))


def _make_annotated(form, args):
    if not isinstance(args, tuple) or len(args) < 2:
        raise TypeError("Annotated[...] should be used with at least two arguments (a type and an annotation).")
    return _AnnotatedAlias(_hint(args[0]), args[1:])


class _AnnotatedAlias(_Alias):
    def __init__(self, origin, metadata):
        if isinstance(origin, _AnnotatedAlias):
            metadata = origin.__metadata__ + metadata
            origin = origin.__origin__
        super().__init__("Annotated", origin, (origin,))
        self.__metadata__ = metadata

    def __eq__(self, other):
        if not isinstance(other, _AnnotatedAlias):
            return NotImplemented
        return self.__origin__ == other.__origin__ and self.__metadata__ == other.__metadata__

    def __hash__(self):
        return hash((self.__origin__, self.__metadata__))

    def __repr__(self):
        metadata = ", ".join([repr(item) for item in self.__metadata__])
        return f"typing.Annotated[{_shown(self.__origin__)}, {metadata}]"


Union = _Form("Union", _make_union)
Optional = _Form("Optional", _make_optional)
Literal = _Form("Literal", _make_literal)
Final = _Form("Final", _make_single)
ClassVar = _Form("ClassVar", _make_single)
Required = _Form("Required", _make_single)
NotRequired = _Form("NotRequired", _make_single)
Unpack = _Form("Unpack", _make_single)
TypeGuard = _Form("TypeGuard", _make_single)
Concatenate = _Form("Concatenate", _make_many)
Annotated = _Form("Annotated", _make_annotated)
NoReturn = _Form("NoReturn")
Never = _Form("Never")
Self = _Form("Self")
LiteralString = _Form("LiteralString")
TypeAlias = _Form("TypeAlias")


class _AnyMeta(type):
    def __instancecheck__(self, obj):
        if self is Any:
            raise TypeError("typing.Any cannot be used with isinstance()")
        return super().__instancecheck__(obj)

    def __repr__(self):
        return "typing.Any" if self is Any else super().__repr__()


class Any(metaclass=_AnyMeta):
    """Compatible with every type."""

    def __new__(cls, *args, **kwargs):
        if cls is Any:
            raise TypeError("Any cannot be instantiated")
        return super().__new__(cls)


# Names for container types


class _Container(_Hint):
    """A container's hint without arguments, such as `List`."""

    def __init__(self, name, origin, count):
        self._name = name
        self.__origin__ = origin
        self._count = count

    def __getitem__(self, args):
        args = args if isinstance(args, tuple) else (args,)
        args = tuple([_hint(arg) for arg in args])
        if self._count is not None:
            if len(args) != self._count:
                _check_count(self, args, self._count)
        return _Alias(self._name, self.__origin__, args)

    def __call__(self, *args, **kwargs):
        name = self.__origin__.__name__
        raise TypeError(f"Type {self._name} cannot be instantiated; use {name}() instead")

    def __mro_entries__(self, bases):
        return (self.__origin__,)

    def __instancecheck__(self, obj):
        return isinstance(obj, self.__origin__)

    def __subclasscheck__(self, cls):
        return issubclass(cls, self.__origin__)

    def __eq__(self, other):
        return isinstance(other, _Container) and self._name == other._name

    def __hash__(self):
        return hash(self._name)

    def __repr__(self):
        return f"typing.{self._name}"


class _CallableForm(_Container):
    def __getitem__(self, args):
        if not isinstance(args, tuple) or len(args) != 2:
            raise TypeError("Callable must be used as Callable[[arg, ...], result].")
        parameters, result = args
        if isinstance(parameters, list):
            parameters = tuple([_hint(p) for p in parameters])
        elif parameters is ... or isinstance(parameters, (ParamSpec, _Alias)):
            parameters = (parameters,)
        else:
            raise TypeError("Callable[args, result]: args must be a list. Got " + repr(parameters))
        return _Alias("Callable", self.__origin__, (*parameters, _hint(result)))


List = _Container("List", list, 1)
Dict = _Container("Dict", dict, 2)
Set = _Container("Set", set, 1)
FrozenSet = _Container("FrozenSet", frozenset, 1)
Tuple = _Container("Tuple", tuple, None)
Type = _Container("Type", type, 1)
Deque = _Container("Deque", collections.deque, 1)
DefaultDict = _Container("DefaultDict", collections.defaultdict, 2)
OrderedDict = _Container("OrderedDict", collections.OrderedDict, 2)
Counter = _Container("Counter", collections.Counter, 1)
ChainMap = _Container("ChainMap", collections.ChainMap, 2)
Hashable = _Container("Hashable", collections_abc.Hashable, 0)
Sized = _Container("Sized", collections_abc.Sized, 0)
Iterable = _Container("Iterable", collections_abc.Iterable, 1)
Iterator = _Container("Iterator", collections_abc.Iterator, 1)
Reversible = _Container("Reversible", collections_abc.Reversible, 1)
Generator = _Container("Generator", collections_abc.Generator, 3)
Container = _Container("Container", collections_abc.Container, 1)
Collection = _Container("Collection", collections_abc.Collection, 1)
Sequence = _Container("Sequence", collections_abc.Sequence, 1)
MutableSequence = _Container("MutableSequence", collections_abc.MutableSequence, 1)
AbstractSet = _Container("AbstractSet", collections_abc.Set, 1)
MutableSet = _Container("MutableSet", collections_abc.MutableSet, 1)
Mapping = _Container("Mapping", collections_abc.Mapping, 2)
MutableMapping = _Container("MutableMapping", collections_abc.MutableMapping, 2)
KeysView = _Container("KeysView", collections_abc.KeysView, 1)
ItemsView = _Container("ItemsView", collections_abc.ItemsView, 2)
ValuesView = _Container("ValuesView", collections_abc.ValuesView, 1)
Awaitable = _Container("Awaitable", collections_abc.Awaitable, 1)
Coroutine = _Container("Coroutine", collections_abc.Coroutine, 3)
AsyncIterable = _Container("AsyncIterable", collections_abc.AsyncIterable, 1)
AsyncIterator = _Container("AsyncIterator", collections_abc.AsyncIterator, 1)
AsyncGenerator = _Container("AsyncGenerator", collections_abc.AsyncGenerator, 2)
Callable = _CallableForm("Callable", collections_abc.Callable, 2)
ByteString = _Container("ByteString", collections_abc.ByteString, 0)
MappingView = _Container("MappingView", collections_abc.MappingView, 1)
Pattern = _Container("Pattern", re.Pattern, 1)
Match = _Container("Match", re.Match, 1)
Text = str

T = TypeVar("T")
KT = TypeVar("KT")
VT = TypeVar("VT")
T_co = TypeVar("T_co", covariant=True)
V_co = TypeVar("V_co", covariant=True)
VT_co = TypeVar("VT_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


# Generic classes and protocols


class Generic:
    """The base of classes with type parameters: `class Stack(Generic[T])`."""

    __slots__ = ()

    def __class_getitem__(cls, args):
        args = args if isinstance(args, tuple) else (args,)
        args = tuple([_hint(arg) for arg in args])
        if cls is Generic or cls is Protocol:
            if not args:
                raise TypeError(f"Parameter list to {cls.__qualname__}[...] cannot be empty")
            if not all([isinstance(arg, (TypeVar, ParamSpec, TypeVarTuple, _Alias)) for arg in args]):
                raise TypeError(f"Parameters to {cls.__name__}[...] must all be type variables or parameter specification variables.")
            return _Alias(cls.__name__, cls, args)
        parameters = getattr(cls, "__parameters__", ())
        if not parameters:
            raise TypeError(f"{cls!r} is not a generic class")
        if not any([isinstance(p, TypeVarTuple) for p in parameters]):
            _check_count(cls, args, len(parameters))
        return _Alias(None, cls, args)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        parameters = []
        for base in cls.__dict__.get("__orig_bases__", ()):
            if isinstance(base, _Alias) and base.__origin__ in (Generic, Protocol):
                parameters = list(base.__parameters__)
                break
            parameters.extend([p for p in getattr(base, "__parameters__", ()) if isinstance(base, _Alias) and p not in parameters])
        cls.__parameters__ = tuple(parameters)


Protocol = None

_PROTOCOL_NAMES = (
    "__abstractmethods__", "__annotations__", "__dict__", "__doc__", "__init__", "__module__", "__new__", "__slots__",
    "__subclasshook__", "__weakref__", "__class_getitem__", "__match_args__", "__parameters__", "__orig_bases__", "__orig_class__",
    "__init_subclass__", "_is_protocol", "_is_runtime_protocol", "_abc_registry", "__qualname__", "__static_attributes__",
    "_MutableMapping__marker", "_abc_impl", "__hash__", "__firstlineno__",
)


def _protocol_members(cls):
    """The names that a class must have to follow the protocol."""
    names = []
    for base in cls.__mro__[:-1]:
        if base in (Protocol, Generic):
            continue
        for name in [*base.__dict__, *base.__dict__.get("__annotations__", {})]:
            if name not in _PROTOCOL_NAMES and name not in names:
                names.append(name)
    return names


class _ProtocolMeta(ABCMeta):
    def __call__(cls, *args, **kwargs):
        if cls.__dict__.get("_is_protocol", False):
            raise TypeError("Protocols cannot be instantiated")
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, instance):
        if not cls.__dict__.get("_is_protocol", False):
            return super().__instancecheck__(instance)
        if cls.__subclasscheck_nominal(type(instance)):
            return True
        if not cls.__dict__.get("_is_runtime_protocol", False):
            raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
        for name in _protocol_members(cls):
            if not hasattr(instance, name):
                return False
            if getattr(instance, name) is None and callable(getattr(cls, name, None)):
                return False
        return True

    def __subclasscheck__(cls, other):
        if not cls.__dict__.get("_is_protocol", False):
            return super().__subclasscheck__(other)
        if not isinstance(other, type):
            raise TypeError("issubclass() arg 1 must be a class")
        if cls.__subclasscheck_nominal(other):
            return True
        if not cls.__dict__.get("_is_runtime_protocol", False):
            raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
        names = _protocol_members(cls)
        if not all([callable(getattr(cls, name, None)) for name in names]):
            raise TypeError("Protocols with non-method members don't support issubclass()")
        return all([getattr(other, name, None) is not None for name in names])

    def __subclasscheck_nominal(cls, other):
        return cls in other.__mro__


class Protocol(Generic, metaclass=_ProtocolMeta):
    """The base of protocols: classes that say which methods a type must have."""

    __slots__ = ()
    _is_protocol = True
    _is_runtime_protocol = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "_is_protocol" not in cls.__dict__:
            cls._is_protocol = any([base is Protocol for base in cls.__bases__])


def runtime_checkable(cls):
    """Lets a protocol be used with isinstance(), which then looks at the methods' names."""
    if not (isinstance(cls, type) and issubclass(type(cls), _ProtocolMeta) and cls.__dict__.get("_is_protocol", False)):
        raise TypeError(f"@runtime_checkable can be only applied to protocol classes, got {cls!r}")
    cls._is_runtime_protocol = True
    return cls


@runtime_checkable
class SupportsInt(Protocol):
    @abstractmethod
    def __int__(self):
        pass


@runtime_checkable
class SupportsFloat(Protocol):
    @abstractmethod
    def __float__(self):
        pass


@runtime_checkable
class SupportsBytes(Protocol):
    @abstractmethod
    def __bytes__(self):
        pass


@runtime_checkable
class SupportsIndex(Protocol):
    @abstractmethod
    def __index__(self):
        pass


@runtime_checkable
class SupportsAbs(Protocol):
    @abstractmethod
    def __abs__(self):
        pass


@runtime_checkable
class SupportsComplex(Protocol):
    @abstractmethod
    def __complex__(self):
        pass


@runtime_checkable
class SupportsRound(Protocol):
    @abstractmethod
    def __round__(self, ndigits=0):
        pass


# Named tuples and typed dicts


class _NamedTupleMeta(type):
    def __new__(mcls, typename, bases, namespace):
        types = namespace.get("__annotations__", {})
        defaults = []
        for name in types:
            if name in namespace:
                defaults.append(name)
            elif defaults:
                plural = "s" if len(defaults) > 1 else ""
                raise TypeError(
                    f"Non-default namedtuple field {name} cannot follow default field{plural} {', '.join(defaults)}"
                )
        made = _namedtuple(typename, list(types), defaults=[namespace[n] for n in defaults], module=namespace.get("__module__"))
        made.__annotations__ = {name: _hint(kind) for name, kind in types.items()}
        for key, value in namespace.items():
            if key in ("__new__", "__init__", "__slots__", "__getnewargs__", "_fields", "_field_defaults", "_make", "_replace", "_asdict"):
                raise AttributeError("Cannot overwrite NamedTuple attribute " + key)
            if key not in ("__module__", "__qualname__", "__annotations__", "__classcell__") and key not in made._fields:
                setattr(made, key, value)
        made.__qualname__ = namespace.get("__qualname__", typename)
        return made


class _NamedTupleForm:
    def __call__(self, typename, fields=(), /, **kwargs):
        pairs = list(fields) if fields else list(kwargs.items())
        made = _namedtuple(typename, [name for name, kind in pairs])
        made.__annotations__ = {name: _hint(kind) for name, kind in pairs}
        return made

    def __mro_entries__(self, bases):
        return (_named_tuple_base,)

    def __repr__(self):
        return "<function NamedTuple>"


_named_tuple_base = type.__new__(_NamedTupleMeta, "NamedTuple", (), {})
NamedTuple = _NamedTupleForm()


class _TypedDictMeta(type):
    def __new__(mcls, name, bases, namespace, total=True):
        own = {key: _hint(kind) for key, kind in namespace.get("__annotations__", {}).items()}
        made = type.__new__(mcls, name, (dict,), namespace)
        annotations = {}
        required = []
        optional = []
        for base in bases:
            annotations.update(base.__dict__.get("__annotations__", {}))
            required.extend(base.__dict__.get("__required_keys__", ()))
            optional.extend(base.__dict__.get("__optional_keys__", ()))
        for key, kind in own.items():
            mark = kind.__origin__ if isinstance(kind, _Alias) else None
            (required if mark is Required or (total and mark is not NotRequired) else optional).append(key)
        annotations.update(own)
        made.__annotations__ = annotations
        made.__required_keys__ = frozenset(required)
        made.__optional_keys__ = frozenset(optional)
        made.__total__ = total
        return made

    def __call__(cls, *args, **kwargs):
        return dict(*args, **kwargs)

    def __subclasscheck__(cls, other):
        raise TypeError("TypedDict does not support instance and class checks")

    __instancecheck__ = __subclasscheck__


class _TypedDictForm:
    def __call__(self, typename, fields=None, /, *, total=True, **kwargs):
        annotations = dict(kwargs if fields is None else fields)
        return _TypedDictMeta(typename, (), {"__annotations__": annotations}, total=total)

    def __mro_entries__(self, bases):
        return (_typed_dict_base,)

    def __repr__(self):
        return "<function TypedDict>"


_typed_dict_base = type.__new__(_TypedDictMeta, "TypedDict", (), {})
TypedDict = _TypedDictForm()


# Functions and small things


class NewType(_Hint):
    """A name for a type that is distinct to readers and the same at run time."""

    def __init__(self, name, tp):
        self.__name__ = name
        self.__qualname__ = name
        self.__supertype__ = tp

    def __call__(self, value):
        return value

    def __repr__(self):
        return f"{self.__module__}.{self.__qualname__}"


def cast(typ, val):
    """`val` itself, declared to be of a type."""
    return val


def assert_type(val, typ, /):
    return val


def reveal_type(obj, /):
    return obj


def assert_never(arg, /):
    raise AssertionError(f"Expected code to be unreachable, but got: {arg!r:.100}")


_overloads = {}


def overload(func):
    """Declares one of several signatures; the implementation follows without this decorator."""
    function = getattr(func, "__func__", func)
    _overloads.setdefault((function.__module__, function.__qualname__), []).append(func)
    return _overload_dummy


def get_overloads(func):
    """The signatures declared for a function."""
    function = getattr(func, "__func__", func)
    return list(_overloads.get((function.__module__, function.__qualname__), ()))


def clear_overloads():
    """Forgets all declared signatures."""
    _overloads.clear()


def _overload_dummy(*args, **kwds):
    raise NotImplementedError(
        "You should not call an overloaded function. A series of @overload-decorated functions outside a stub module "
        "should always be followed by an implementation that is not @overload-ed."
    )


def final(f):
    f.__final__ = True
    return f


def no_type_check(arg):
    """Marks a class or function whose annotations are no type hints."""
    try:
        arg.__no_type_check__ = True
    except (AttributeError, TypeError):
        pass
    return arg


def no_type_check_decorator(decorator):
    """Marks what a decorator returns."""

    def wrapped(*args, **kwds):
        return no_type_check(decorator(*args, **kwds))

    wrapped.__name__ = decorator.__name__
    return wrapped


def dataclass_transform(
    *, eq_default=True, order_default=False, kw_only_default=False, field_specifiers=(), **kwargs,
):
    """Says to readers that a decorator or class makes dataclasses."""

    def decorate(cls_or_fn):
        cls_or_fn.__dataclass_transform__ = {
            "eq_default": eq_default, "order_default": order_default, "kw_only_default": kw_only_default,
            "field_specifiers": field_specifiers, "kwargs": kwargs,
        }
        return cls_or_fn

    return decorate


def get_origin(tp):
    """What stands before the brackets: list for List[int], Union for Optional[int]; None for plain types."""
    if isinstance(tp, _AnnotatedAlias):
        return Annotated
    if isinstance(tp, (_Alias, _Container, _GenericAlias)):
        return tp.__origin__
    if isinstance(tp, _UnionType):
        return _UnionType
    return Generic if tp is Generic else None


def get_args(tp):
    """What stands between the brackets, as a tuple."""
    if isinstance(tp, _AnnotatedAlias):
        return (tp.__origin__, *tp.__metadata__)
    if isinstance(tp, _Alias) and tp._name == "Callable":
        if len(tp.__args__) == 2 and (tp.__args__[0] is ... or isinstance(tp.__args__[0], ParamSpec)):
            return tp.__args__
        return (list(tp.__args__[:-1]), tp.__args__[-1])
    if isinstance(tp, (_Alias, _GenericAlias, _UnionType)):
        return tp.__args__
    return ()


def is_typeddict(tp):
    return isinstance(tp, _TypedDictMeta)


def _resolved(hint, names):
    """A hint with every reference in it looked up."""
    if isinstance(hint, ForwardRef):
        return _resolved(_hint(Reader(hint.__forward_arg__, names).whole()), names)
    if isinstance(hint, (_Alias, _GenericAlias)) and not isinstance(hint, _LiteralAlias):
        args = tuple([_resolved(_hint(arg) if isinstance(arg, str) else arg, names) for arg in hint.__args__])
        if any([new is not old for new, old in zip(args, hint.__args__)]):
            if isinstance(hint, _GenericAlias):
                return _GenericAlias(hint.__origin__, args)
            if hint.__origin__ is Union:
                return Union[args]
            if not isinstance(hint, _AnnotatedAlias):
                return _Alias(hint._name, hint.__origin__, args)
    return hint


def _names_for(obj, globalns, localns):
    """The names that a hint may mention."""
    import __main__

    names = {**BUILTINS, **vars(__main__)}
    for extra in (globalns, localns):
        if extra is not None:
            names.update(extra)
    if isinstance(obj, type):
        names.update(vars(obj))
    return names


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    """The annotations of a function or of a class with its bases. Hints written as text are looked up among the module's names."""
    if getattr(obj, "__no_type_check__", False):
        return {}
    if isinstance(obj, type):
        hints = {}
        for base in reversed(obj.__mro__):
            hints.update(base.__dict__.get("__annotations__", {}))
    else:
        hints = getattr(obj, "__annotations__", None)
        if hints is None:
            if callable(obj):
                return {}
            raise TypeError(f"{obj!r} is not a module, class, method, or function.")
    names = None
    result = {}
    for name, hint in hints.items():
        hint = _hint(hint)
        if isinstance(hint, (ForwardRef, _Alias, _GenericAlias)):
            if names is None:
                names = _names_for(obj, globalns, localns)
            hint = _resolved(hint, names)
        if isinstance(hint, _AnnotatedAlias) and not include_extras:
            hint = hint.__origin__
        result[name] = hint
    return result


AnyStr = TypeVar("AnyStr", bytes, str)


class IO(Generic[AnyStr]):
    """A file."""


class TextIO(IO[str]):
    """A file of text."""


class BinaryIO(IO[bytes]):
    """A file of bytes."""


__all__ = [
    "Annotated", "Any", "Callable", "ClassVar", "Concatenate", "Final", "ForwardRef", "Generic", "Literal", "Optional", "ParamSpec",
    "Protocol", "Tuple", "Type", "TypeVar", "TypeVarTuple", "Union", "AbstractSet", "ByteString", "Container", "Hashable",
    "ItemsView", "Iterable", "Iterator", "KeysView", "Mapping", "MappingView", "MutableMapping", "MutableSequence", "MutableSet",
    "Sequence", "Sized", "ValuesView", "Awaitable", "AsyncIterator", "AsyncIterable", "Coroutine", "Collection", "AsyncGenerator",
    "Reversible", "SupportsAbs", "SupportsBytes", "SupportsComplex", "SupportsFloat", "SupportsIndex", "SupportsInt",
    "SupportsRound", "ChainMap", "Counter", "Deque", "Dict", "DefaultDict", "List", "OrderedDict", "Set", "FrozenSet", "NamedTuple",
    "TypedDict", "Generator", "BinaryIO", "IO", "Match", "Pattern", "TextIO", "AnyStr", "assert_type", "assert_never", "cast",
    "clear_overloads", "dataclass_transform", "final", "get_args", "get_origin", "get_overloads", "get_type_hints", "is_typeddict",
    "LiteralString", "Never", "NewType", "no_type_check", "no_type_check_decorator", "NoReturn", "NotRequired", "overload",
    "ParamSpecArgs", "ParamSpecKwargs", "Required", "reveal_type", "runtime_checkable", "Self", "Text", "TYPE_CHECKING",
    "TypeAlias", "TypeGuard", "Unpack",
]
