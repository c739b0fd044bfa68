"""Type hints: names for readers and tools. At run time they are values that subscript, compare and print, and do no more."""

import _vm
import collections
import collections.abc as collections_abc
import re
from typing_classes import (
    AbstractAsyncContextManager as _AsyncContextManager, AbstractContextManager as _ContextManager, Generic, NamedTuple, Protocol,
    SupportsAbs, SupportsBytes, SupportsComplex, SupportsFloat, SupportsIndex, SupportsInt, SupportsRound, TypedDict, T_co, is_typeddict,
    runtime_checkable, _get_protocol_attrs,
)
from typing_forms import (
    Annotated, Any, CallableName as _CallableName, ClassVar, Concatenate, Filled as _Filled, FilledAnnotated as _FilledAnnotated, Final,
    Literal, LiteralString, Named as _Named, Never, NoReturn, NotRequired, Optional, Required, Self, TupleName as _TupleName, TypeAlias,
    TypeGuard, Union, Unpack, get_args, get_origin,
)
from typing_reader import BUILTINS as _BUILTINS
from typing_variables import (
    BuiltinAlias as _BuiltinAlias, ForwardRef, Hint as _Hint, ParamSpec, ParamSpecArgs, ParamSpecKwargs, TypeVar, TypeVarTuple,
    UnionType as _UnionType, evaluated as _evaluated, hint as _hint,
)

TYPE_CHECKING = False

List = _Named(list, 1, "List", False)
Dict = _Named(dict, 2, "Dict", False)
Set = _Named(set, 1, "Set", False)
FrozenSet = _Named(frozenset, 1, "FrozenSet", False)
Tuple = _TupleName(tuple, -1, "Tuple", False)
Type = _Named(type, 1, "Type", False)
Deque = _Named(collections.deque, 1, "Deque")
DefaultDict = _Named(collections.defaultdict, 2, "DefaultDict")
OrderedDict = _Named(collections.OrderedDict, 2)
Counter = _Named(collections.Counter, 1)
ChainMap = _Named(collections.ChainMap, 2)
Hashable = _Named(collections_abc.Hashable, 0)
Sized = _Named(collections_abc.Sized, 0)
Iterable = _Named(collections_abc.Iterable, 1)
Iterator = _Named(collections_abc.Iterator, 1)
Reversible = _Named(collections_abc.Reversible, 1)
Generator = _Named(collections_abc.Generator, 3)
Container = _Named(collections_abc.Container, 1)
Collection = _Named(collections_abc.Collection, 1)
Sequence = _Named(collections_abc.Sequence, 1)
MutableSequence = _Named(collections_abc.MutableSequence, 1)
AbstractSet = _Named(collections_abc.Set, 1, "AbstractSet")
MutableSet = _Named(collections_abc.MutableSet, 1)
Mapping = _Named(collections_abc.Mapping, 2)
MutableMapping = _Named(collections_abc.MutableMapping, 2)
KeysView = _Named(collections_abc.KeysView, 1)
ItemsView = _Named(collections_abc.ItemsView, 2)
ValuesView = _Named(collections_abc.ValuesView, 1)
MappingView = _Named(collections_abc.MappingView, 1)
Awaitable = _Named(collections_abc.Awaitable, 1)
Coroutine = _Named(collections_abc.Coroutine, 3)
AsyncIterable = _Named(collections_abc.AsyncIterable, 1)
AsyncIterator = _Named(collections_abc.AsyncIterator, 1)
AsyncGenerator = _Named(collections_abc.AsyncGenerator, 2)
ByteString = _Named(collections_abc.ByteString, 0)
Callable = _CallableName(collections_abc.Callable, 2)
ContextManager = _Named(_ContextManager, 1, "ContextManager")
AsyncContextManager = _Named(_AsyncContextManager, 1, "AsyncContextManager")
Pattern = _Named(re.Pattern, 1)
Match = _Named(re.Match, 1)
Text = str

T = TypeVar("T")
KT = TypeVar("KT")
VT = TypeVar("VT")
V_co = TypeVar("V_co", covariant=True)
VT_co = TypeVar("VT_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)
AnyStr = TypeVar("AnyStr", bytes, str)


class IO(Generic[AnyStr]):
    """A file."""

    __slots__ = ()


class TextIO(IO[str]):
    """A file of text."""

    __slots__ = ()


class BinaryIO(IO[bytes]):
    """A file of bytes."""

    __slots__ = ()


# Functions and small things


class NewType(_Hint):
    """A name for a type that is distinct to readers and the same at run time."""

    def __init__(self, name, tp):
        self.__qualname__ = name
        self.__name__ = name.rpartition(".")[2]
        self.__supertype__ = tp
        module = _vm.caller_module()
        if module != "typing":
            self.__module__ = module

    def __mro_entries__(self, bases):
        wanted = self.__name__

        class Refused:
            def __init_subclass__(cls):
                name = cls.__name__
                raise TypeError(
                    "Cannot subclass an instance of NewType. "
                    f"Perhaps you were looking for: `{name} = NewType({name!r}, {wanted})`"
                )

        return (Refused,)

    def __call__(self, value, /):
        return value

    def __repr__(self):
        return f"{self.__module__}.{self.__qualname__}"


def cast(typ, val):
    """`val` itself, declared to be of a type."""
    return val


def assert_type(val, typ, /):
    """`val` itself; a checker of types says whether it is of the type."""
    return val


def reveal_type(obj, /):
    """`obj` itself; a checker of types says what it knows of it."""
    return obj


_SHOWN_MOST = 100


def assert_never(arg, /):
    """Says that a place in a program is never reached."""
    shown = repr(arg)
    if len(shown) > _SHOWN_MOST:
        shown = shown[:_SHOWN_MOST] + "..."
    raise AssertionError(f"Expected code to be unreachable, but got: {shown}")


_overloads = {}


def overload(func):
    """Declares one of several signatures; the implementation follows without this decorator."""
    function = getattr(func, "__func__", func)
    try:
        # A signature that is declared again, as in a module run twice, takes the place of the first.
        _overloads.setdefault((function.__module__, function.__qualname__), {})[_vm.first_line(function)] = func
    except AttributeError:
        pass
    return _overload_dummy


def get_overloads(func):
    """The signatures declared for a function."""
    function = getattr(func, "__func__", func)
    return list(_overloads.get((function.__module__, function.__qualname__), {}).values())


def clear_overloads():
    """Forgets all declared signatures."""
    _overloads.clear()


def _overload_dummy(*args, **kwds):
    raise NotImplementedError(
        "You should not call an overloaded function. A series of @overload-decorated functions outside a stub module "
        "should always be followed by an implementation that is not @overload-ed."
    )


def final(f):
    """Says that a method is not to be overridden, or a class not inherited from."""
    try:
        f.__final__ = True
    except (AttributeError, TypeError):
        pass
    return f


def no_type_check(arg):
    """Marks a class, with what is defined in it, or a function whose annotations are no type hints."""
    if isinstance(arg, type):
        for name in list(arg.__dict__):
            value = getattr(arg, name)
            # What comes from elsewhere keeps its hints.
            inside = getattr(value, "__qualname__", None) == f"{arg.__qualname__}.{getattr(value, '__name__', '')}"
            if not inside or getattr(value, "__module__", None) != arg.__module__:
                continue
            if isinstance(value, type):
                no_type_check(value)
            else:
                _mark_unchecked(getattr(value, "__func__", value))
    _mark_unchecked(arg)
    return arg


def _mark_unchecked(value):
    try:
        value.__no_type_check__ = True
    except (AttributeError, TypeError):
        pass


def no_type_check_decorator(decorator):
    """Marks what a decorator returns."""

    def wrapped_decorator(*args, **kwds):
        return no_type_check(decorator(*args, **kwds))

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(wrapped_decorator, name, getattr(decorator, name))
    return wrapped_decorator


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


# The hints of a function or class


def _names_for(obj, globalns, localns):
    """The names that a hint may mention."""
    import __main__

    names = {**_BUILTINS, **(vars(__main__) if globalns is None else globalns)}
    if isinstance(obj, type):
        names.update(vars(obj))
    names.update(localns or {})
    return names


def _without_extras(hint):
    """A hint without Annotated, Required and NotRequired, also inside of it."""
    if isinstance(hint, _FilledAnnotated):
        return _without_extras(hint.__origin__)
    if isinstance(hint, _Filled) and hint.__origin__ in (Required, NotRequired):
        return _without_extras(hint.__args__[0])
    if not isinstance(hint, (_Filled, _BuiltinAlias, _UnionType)):
        return hint
    args = tuple([_without_extras(arg) for arg in hint.__args__])
    if args == hint.__args__:
        return hint
    if isinstance(hint, _UnionType):
        whole = args[0]
        for arg in args[1:]:
            whole = whole | arg
        return whole
    return _BuiltinAlias(hint.__origin__, args) if isinstance(hint, _BuiltinAlias) else hint.copy_with(args)


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    """The annotations of a function or of a class with its bases. Hints written as text are looked up among the module's names."""
    if getattr(obj, "__no_type_check__", None):
        return {}
    of_class = isinstance(obj, type)
    if of_class:
        hints = {}
        for base in reversed(obj.__mro__):
            hints.update(base.__dict__.get("__annotations__", {}))
    else:
        inner = obj
        while hasattr(inner, "__wrapped__"):
            inner = inner.__wrapped__
        hints = getattr(obj, "__annotations__", None)
        if hints is None:
            if isinstance(obj, (type(len), type(str.join), type("".join), type(object.__init__))):
                return {}
            raise TypeError(f"{obj!r} is not a module, class, method, or function.")
        hints = dict(hints)
    names = None
    result = {}
    for name, hint in hints.items():
        if hint is None:
            hint = type(None)
        if isinstance(hint, str):
            # An annotation of a module's variable or of a class may say ClassVar and Final, a parameter's may not.
            hint = ForwardRef(hint, is_argument=not hasattr(obj, "__file__") and not of_class, is_class=of_class)
        if names is None:
            names = _names_for(obj, globalns, localns)
        hint = _evaluated(hint, names)
        result[name] = hint if include_extras else _without_extras(hint)
    return result


__all__ = [
    "AbstractSet", "Annotated", "Any", "AnyStr", "AsyncContextManager", "AsyncGenerator", "AsyncIterable", "AsyncIterator", "Awaitable",
    "BinaryIO", "ByteString", "Callable", "ChainMap", "ClassVar", "Collection", "Concatenate", "Container", "ContextManager", "Coroutine",
    "Counter", "DefaultDict", "Deque", "Dict", "Final", "ForwardRef", "FrozenSet", "Generator", "Generic", "Hashable", "IO", "ItemsView",
    "Iterable", "Iterator", "KeysView", "List", "Literal", "LiteralString", "Mapping", "MappingView", "Match", "MutableMapping",
    "MutableSequence", "MutableSet", "NamedTuple", "Never", "NewType", "NoReturn", "NotRequired", "Optional", "OrderedDict", "ParamSpec",
    "ParamSpecArgs", "ParamSpecKwargs", "Pattern", "Protocol", "Required", "Reversible", "Self", "Sequence", "Set", "Sized", "SupportsAbs",
    "SupportsBytes", "SupportsComplex", "SupportsFloat", "SupportsIndex", "SupportsInt", "SupportsRound", "TYPE_CHECKING", "Text", "TextIO",
    "Tuple", "Type", "TypeAlias", "TypeGuard", "TypeVar", "TypeVarTuple", "TypedDict", "Union", "Unpack", "ValuesView", "assert_never",
    "assert_type", "cast", "clear_overloads", "dataclass_transform", "final", "get_args", "get_origin", "get_overloads", "get_type_hints",
    "is_typeddict", "no_type_check", "no_type_check_decorator", "overload", "reveal_type", "runtime_checkable",
]
