"""The forms of `typing` that take brackets, and what the brackets give. A part of `typing`."""

import collections.abc as collections_abc
from typing_variables import (
    Alias, BuiltinAlias, ForwardRef, Form, Hint, NoneType, ParamSpec, Sealed, TypeVarTuple, UnionType, as_tuple, assigned, bare, check_count,
    checked, combined, deduplicated, filled, hint, is_unpacked_variable, never_arguments, shown, unpacked, variables_of,
)

__name__ = "typing"

_OWN = ("_name", "_makes", "_count")


def _is_private(name):
    return name.startswith("__") and name.endswith("__")


class Standing(Alias):
    """A hint that stands for a class: calling it makes an instance, and its attributes are the class's."""

    def __init__(self, origin, name, makes):
        self.__origin__ = origin
        self._name = name
        self._makes = makes

    def __call__(self, *args, **kwargs):
        if not self._makes:
            raise TypeError(f"Type {self._name} cannot be instantiated; use {self.__origin__.__name__}() instead")
        made = self.__origin__(*args, **kwargs)
        try:
            made.__orig_class__ = self
        except AttributeError:
            pass
        return made

    def __mro_entries__(self, bases):
        entries = [] if self.__origin__ in bases else [self.__origin__]
        generic = generic_class[0]
        for base in bases[bases.index(self) + 1 :]:
            if isinstance(base, Alias) or isinstance(base, type) and issubclass(base, generic):
                return tuple(entries)
        return (*entries, generic)

    def __getattr__(self, name):
        if name in ("__name__", "__qualname__"):
            return self._name or self.__origin__.__name__
        if "__origin__" in self.__dict__ and not _is_private(name):
            return getattr(self.__origin__, name)
        raise AttributeError(name)

    def __setattr__(self, name, value):
        if _is_private(name) or name in _OWN:
            super().__setattr__(name, value)
        else:
            setattr(self.__origin__, name, value)

    def __instancecheck__(self, obj):
        return self.__subclasscheck__(type(obj))

    def __subclasscheck__(self, cls):
        raise TypeError("Subscripted generics cannot be used with class and instance checks")

    def __dir__(self):
        return sorted({*super().__dir__(), *[name for name in dir(self.__origin__) if not _is_private(name)]})


# Generic and Protocol, entered by the part of `typing` that has them.
generic_class = []


class Filled(Standing):
    """A hint with its arguments, such as `List[int]`."""

    def __init__(self, origin, args, makes=True, name=None):
        super().__init__(origin, name, makes)
        self.__args__ = as_tuple(args)
        self.__parameters__ = variables_of(self.__args__)
        if not name:
            self.__module__ = origin.__module__

    def copy_with(self, args):
        """The same form with other arguments."""
        return type(self)(self.__origin__, args, self._makes, self._name)

    def _filled(self, items):
        flat = self.__origin__ is collections_abc.Callable
        return tuple(filled(self.__args__, assigned(self, items), flat))

    def __getitem__(self, items):
        """Puts types in the place of the variables."""
        if any([self.__origin__ is each for each in generic_class]):
            raise TypeError(f"Cannot subscript already-subscripted {self}")
        if not self.__parameters__:
            raise TypeError(f"{self} is not a generic class")
        return self.copy_with(self._filled(unpacked([hint(item) for item in as_tuple(items)])))

    def __mro_entries__(self, bases):
        if isinstance(self.__origin__, Form):
            raise TypeError(f"Cannot subclass {self!r}")
        if self._name:
            return super().__mro_entries__(bases)
        if self.__origin__ is generic_class[0]:
            if generic_class[1] in bases:
                return ()
            if any([isinstance(base, Alias) and base is not self for base in bases[bases.index(self) + 1 :]]):
                return ()
        return (self.__origin__,)

    def __iter__(self):
        yield Unpack[self]

    def __eq__(self, other):
        if not isinstance(other, Filled):
            return NotImplemented
        return self.__origin__ == other.__origin__ and self.__args__ == other.__args__

    def __hash__(self):
        return hash((self.__origin__, self.__args__))

    def _shown_name(self):
        return f"typing.{self._name}" if self._name else shown(self.__origin__)

    def __repr__(self):
        return f"{self._shown_name()}[{', '.join([shown(arg) for arg in self.__args__]) or '()'}]"


class Named(Standing):
    """A container's hint without arguments, such as `List`. A count of -1 means any number."""

    def __init__(self, origin, count, name=None, makes=True):
        super().__init__(origin, name or origin.__name__, makes)
        self._count = count
        self.__doc__ = f"A generic version of {origin.__module__}.{origin.__qualname__}."

    __iter__ = None

    def __getitem__(self, items):
        items = tuple([checked(item, "Parameters to generic types must be types.") for item in as_tuple(items)])
        if not self._count:
            raise TypeError(f"{self} is not a generic class")
        if self._count > 0:
            check_count(self, items, self._count)
        return self.copy_with(items)

    def copy_with(self, args):
        """The hint with arguments."""
        return Filled(self.__origin__, args, self._makes, self._name)

    def __subclasscheck__(self, cls):
        if isinstance(cls, Named):
            return issubclass(cls.__origin__, self.__origin__)
        return super().__subclasscheck__(cls) if isinstance(cls, Alias) else issubclass(cls, self.__origin__)

    def __repr__(self):
        return f"typing.{self._name}"


# Tuples and callables


class TupleName(Named):
    def __getitem__(self, items):
        items = as_tuple(items)
        if len(items) >= 2 and items[-1] is ...:
            return self.copy_with((*[checked(item, "Tuple[t, ...]: t must be a type.") for item in items[:-1]], ...))
        return self.copy_with(tuple([checked(item, "Tuple[t0, t1, ...]: each t must be a type.") for item in items]))


class FilledCallable(Filled):
    __iter__ = None

    def __repr__(self):
        args = self.__args__
        if len(args) == 2 and takes_all(args[0]):
            return super().__repr__()
        return f"typing.Callable[[{', '.join([shown(arg) for arg in args[:-1]])}], {shown(args[-1])}]"


def takes_all(value):
    """Whether the first argument of Callable stands for all the parameters."""
    return value is ... or isinstance(value, ParamSpec) or isinstance(value, Alias) and value._name == "Concatenate"


class CallableName(Named):
    def __getitem__(self, items):
        if not isinstance(items, tuple) or len(items) != 2:
            raise TypeError("Callable must be used as Callable[[arg, ...], result].")
        parameters, result = items
        result = checked(result, "Callable[args, result]: result must be a type.")
        if parameters is ...:
            return self.copy_with((..., result))
        parameters = tuple(parameters) if isinstance(parameters, list) else as_tuple(parameters)
        return self.copy_with((*[hint(each) for each in parameters], result))

    def copy_with(self, args):
        return FilledCallable(self.__origin__, args, self._makes, self._name)


# Unions


class FilledUnion(Filled):
    __iter__ = None

    def copy_with(self, args):
        return Union[args]

    def __eq__(self, other):
        if not isinstance(other, (FilledUnion, UnionType)):
            return NotImplemented
        return set(self.__args__) == set(other.__args__)

    def __hash__(self):
        return hash(frozenset(self.__args__))

    def __instancecheck__(self, obj):
        return self.__subclasscheck__(type(obj))

    def __subclasscheck__(self, cls):
        return any([issubclass(cls, arg) for arg in self.__args__])

    def __repr__(self):
        args = self.__args__
        if len(args) == 2 and NoneType in args:
            return f"typing.Optional[{shown(args[0] if args[1] is NoneType else args[1])}]"
        return f"typing.Union[{', '.join([shown(arg) for arg in args])}]"


def _make_union(form, items):
    """One of several types. Unions in it are flattened, repetitions left out."""
    if items == ():
        raise TypeError("Cannot take a Union of no types.")
    flat = []
    for item in as_tuple(items):
        item = checked(item, "Union[arg, ...]: each arg must be a type.")
        flat.extend(item.__args__ if isinstance(item, (FilledUnion, UnionType)) else (item,))
    flat = deduplicated(flat)
    if len(flat) == 1:
        return flat[0]
    return FilledUnion(form, tuple(flat), name="Optional" if len(flat) == 2 and NoneType in flat else "Union")


def _make_optional(form, item):
    """A type or None."""
    return Union[checked(item, f"{form} requires a single type."), None]


# Literals


class FilledLiteral(Filled):
    def _typed(self):
        return [(value, type(value)) for value in self.__args__]

    def __eq__(self, other):
        return set(self._typed()) == set(other._typed()) if isinstance(other, FilledLiteral) else NotImplemented

    def __hash__(self):
        return hash(frozenset(self._typed()))


def _make_literal(form, items):
    """One of several values."""
    flat = []
    for item in as_tuple(items):
        flat.extend(item.__args__ if isinstance(item, FilledLiteral) else (item,))
    try:
        flat = list({(value, type(value)): value for value in flat}.values())
    except TypeError:
        pass  # Values that do not hash are kept as they are.
    return FilledLiteral(form, tuple(flat), name="Literal")


# Forms with one argument, and with parameters


class FilledForm(Filled):
    """What a form with a name gives, which is no class that could be called."""

    def __call__(self, *args, **kwargs):
        raise TypeError(f"Cannot instantiate {self!r}")


class FilledUnpack(FilledForm):
    __typing_unpacked__ = True

    def __getitem__(self, items):
        return items if self.__typing_is_unpacked_typevartuple__ else super().__getitem__(items)

    @property
    def __typing_unpacked_tuple_args__(self):
        (arg,) = self.__args__
        if isinstance(arg, (Filled, BuiltinAlias)):
            if arg.__origin__ is not tuple:
                raise TypeError("Unpack[...] must be used with a tuple type")
            return arg.__args__
        return None

    @property
    def __typing_is_unpacked_typevartuple__(self):
        return isinstance(self.__args__[0], TypeVarTuple)

    def __repr__(self):
        return f"*{self.__args__[0]!r}"


class FilledConcatenate(FilledForm):
    __iter__ = None

    def copy_with(self, args):
        last = args[-1]
        if isinstance(last, (list, tuple)):
            return (*args[:-1], *last)
        if isinstance(last, FilledConcatenate):
            args = (*args[:-1], *last.__args__)
        return super().copy_with(args)


def _make_single(form, item):
    """A form with one type."""
    return FilledForm(form, (checked(item, f"{form} accepts only single type."),), name=form._name)


def _make_key(form, item):
    """A key of a TypedDict with its type."""
    return FilledForm(form, (checked(item, f"{form._name} accepts only a single type.", special=True),), name=form._name)


def _make_unpack(form, item):
    """Several types in the place of one: `*Ts`."""
    return FilledUnpack(form, (checked(item, f"{form} accepts only single type."),), name="Unpack")


def _make_concatenate(form, items):
    """Parameters before those of a ParamSpec."""
    if items == ():
        raise TypeError("Cannot take a Concatenate of no types.")
    items = as_tuple(items)
    if not (items[-1] is ... or isinstance(items[-1], ParamSpec)):
        raise TypeError("The last parameter to Concatenate should be a ParamSpec variable or ellipsis.")
    first = [checked(item, "Concatenate[arg, ...]: each arg must be a type.") for item in items[:-1]]
    return FilledConcatenate(form, (*first, items[-1]), name="Concatenate")


# Annotated


class FilledAnnotated(Filled):
    __iter__ = None

    def __init__(self, origin, metadata):
        if isinstance(origin, FilledAnnotated):
            metadata = origin.__metadata__ + metadata
            origin = origin.__origin__
        super().__init__(origin, (origin,), name="Annotated")
        self.__metadata__ = metadata

    def copy_with(self, args):
        (arg,) = args
        return FilledAnnotated(arg, self.__metadata__)

    def __mro_entries__(self, bases):
        return (self.__origin__,)

    def __getattr__(self, name):
        return "Annotated" if name in ("__name__", "__qualname__") else super().__getattr__(name)

    def __eq__(self, other):
        if not isinstance(other, FilledAnnotated):
            return NotImplemented
        return self.__origin__ == other.__origin__ and self.__metadata__ == other.__metadata__

    def __hash__(self):
        return hash((self.__origin__, self.__metadata__))

    def __repr__(self):
        metadata = ", ".join([repr(item) for item in self.__metadata__])
        return f"typing.Annotated[{shown(self.__origin__)}, {metadata}]"


class Annotated:
    """A type with remarks for those who read them."""

    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        raise TypeError("Type Annotated cannot be instantiated.")

    def __init_subclass__(cls, *args, **kwargs):
        raise TypeError(f"Cannot subclass {cls.__module__}.Annotated")

    def __class_getitem__(cls, items):
        if not isinstance(items, tuple) or len(items) < 2:
            raise TypeError("Annotated[...] should be used with at least two arguments (a type and an annotation).")
        if is_unpacked_variable(items[0]):
            raise TypeError("Annotated[...] should not be used with an unpacked TypeVarTuple")
        return FilledAnnotated(checked(items[0], "Annotated[t, ...]: t must be a type.", special=True), items[1:])


# Any, and the names themselves


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
        return super().__new__(cls, *args, **kwargs)


Union = Form("Union", _make_union)
Optional = Form("Optional", _make_optional)
Literal = Form("Literal", _make_literal)
Final = Form("Final", _make_single)
ClassVar = Form("ClassVar", _make_single)
Required = Form("Required", _make_key)
NotRequired = Form("NotRequired", _make_key)
Unpack = Form("Unpack", _make_unpack)
TypeGuard = Form("TypeGuard", _make_single)
Concatenate = Form("Concatenate", _make_concatenate)
NoReturn = Form("NoReturn", plain=True)
Never = Form("Never", plain=True)
Self = Form("Self", plain=True)
LiteralString = Form("LiteralString", plain=True)
TypeAlias = Form("TypeAlias", plain=True)

combined.extend([Union, Unpack])
# ClassVar and Final are hints of a whole variable, never of a part of one.
never_arguments.extend([(ClassVar, False), (Final, True)])


def get_origin(tp):
    """What stands before the brackets: list for List[int], Union for Optional[int]; None for plain types."""
    if isinstance(tp, FilledAnnotated):
        return Annotated
    if isinstance(tp, (Standing, BuiltinAlias)) or hasattr(tp, "__origin__") and type(tp).__name__ in ("ParamSpecArgs", "ParamSpecKwargs"):
        return tp.__origin__
    if tp is generic_class[0]:
        return tp
    return UnionType if isinstance(tp, UnionType) else None


def get_args(tp):
    """What stands between the brackets, as a tuple."""
    if isinstance(tp, FilledAnnotated):
        return (tp.__origin__, *tp.__metadata__)
    if isinstance(tp, (Filled, BuiltinAlias)):
        args = tp.__args__
        if tp.__origin__ is collections_abc.Callable and not (len(args) == 2 and takes_all(args[0])):
            args = (list(args[:-1]), args[-1])
        return args
    return tp.__args__ if isinstance(tp, UnionType) else ()
