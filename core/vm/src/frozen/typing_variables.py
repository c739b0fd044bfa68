"""Type variables, names that are not known yet, and the checks that every hint goes through. A part of `typing`."""

from typing_reader import Reader, check_syntax

# Classes of this file print as what they are to everybody else.
__name__ = "typing"

NoneType = type(None)
BuiltinAlias = type(list[int])
UnionType = type(int | str)
Function = type(lambda: None)

# What is no type by itself, such as Generic, and what is none with brackets either. The parts of `typing` enter theirs.
bare = []
# Each with whether it is refused in arguments only; None: refused everywhere.
never_arguments = []


def shown(value):
    """`value` as it stands inside the brackets of a printed hint."""
    if isinstance(value, BuiltinAlias):
        return repr(value)
    if isinstance(value, type):
        return value.__qualname__ if value.__module__ == "builtins" else f"{value.__module__}.{value.__qualname__}"
    if value is ...:
        return "..."
    if isinstance(value, Function):
        return value.__name__
    if isinstance(value, tuple):
        return "[" + ", ".join([shown(item) for item in value]) + "]"
    return repr(value)


def hint(value, module=None, special=False):
    """What a hint means: None stands for its type, text for a name not known yet."""
    if value is None:
        return NoneType
    return ForwardRef(value, module=module, is_class=special) if isinstance(value, str) else value


def checked(value, message, argument=True, module=None, special=False):
    """A hint that may stand as an argument, or TypeError. `special` lets ClassVar and Final pass."""
    value = hint(value, module, special)
    origin = getattr(value, "__origin__", None) if isinstance(value, Alias) else None
    if origin is not None:
        for form, in_arguments_only in never_arguments:
            if origin is form and (in_arguments_only is None or not special and (argument or not in_arguments_only)):
                raise TypeError(f"{value} is not valid as type argument")
    if isinstance(value, Form):
        if value._plain or special and value._name in ("ClassVar", "Final"):
            return value
        raise TypeError(f"Plain {value} is not valid as type argument")
    if any([value is each for each in bare]):
        raise TypeError(f"Plain {value} is not valid as type argument")
    if type(value) is tuple:
        raise TypeError(f"{message} Got {value!r:.100}.")
    return value


def check_count(alias, items, wanted):
    """TypeError unless there are as many items as parameters."""
    if len(items) != wanted:
        much = "many" if len(items) > wanted else "few"
        raise TypeError(f"Too {much} arguments for {alias}; actual {len(items)}, expected {wanted}")


def as_tuple(items):
    return items if isinstance(items, tuple) else (items,)


def deduplicated(items):
    """The different ones among hints, in their order; some may not hash."""
    found = []
    for item in items:
        if item not in found:
            found.append(item)
    return found


class Sealed:
    """A class that nobody inherits from."""

    def __init_subclass__(cls, /, *args, **kwargs):
        if cls.__module__ != "typing":
            raise TypeError("Cannot subclass special typing classes")


class Hint:
    """Anything that can be combined with `|`."""

    def __or__(self, other):
        return combined[0][self, other]

    def __ror__(self, other):
        return combined[0][other, self]

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


# Union, entered by the part of `typing` that has it.
combined = []


class Form(Sealed, Hint):
    """A name of this module that may take brackets."""

    __iter__ = None

    def __init__(self, name, make=None, plain=False):
        self._name = name
        self._make = make
        self._plain = plain
        self.__doc__ = make.__doc__ if make is not None else None

    def __getattr__(self, name):
        if name in ("__name__", "__qualname__"):
            return self._name
        raise AttributeError(name)

    def __getitem__(self, items):
        if self._make is None:
            raise TypeError(f"{self!r} is not subscriptable")
        return self._make(self, items)

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


class Alias(Sealed, Hint):
    """What brackets after a name of this module give; the sorts of them are in `typing_forms`."""


class ForwardRef(Sealed, Hint):
    """A name in a hint, to be looked up by whoever needs it."""

    def __init__(self, arg, is_argument=True, module=None, *, is_class=False):
        if not isinstance(arg, str):
            raise TypeError(f"Forward reference must be a string -- got {arg!r}")
        if not check_syntax(arg):
            raise SyntaxError(f"Forward reference must be an expression -- got {arg!r}")
        self.__forward_arg__ = arg
        self.__forward_is_argument__ = is_argument
        self.__forward_is_class__ = is_class
        self.__forward_module__ = module

    def _evaluate(self, names, guard):
        """The hint that the text stands for among these names. Nothing is kept: what the text means might lead back here."""
        text = self.__forward_arg__
        if text in guard:
            return self
        found = Reader(text, names).whole()
        found = checked(
            found, "Forward references must evaluate to types.", self.__forward_is_argument__, special=self.__forward_is_class__
        )
        return evaluated(found, names, guard | {text})

    def __eq__(self, other):
        if not isinstance(other, ForwardRef):
            return NotImplemented
        return self.__forward_arg__ == other.__forward_arg__ and self.__forward_module__ == other.__forward_module__

    def __hash__(self):
        return hash((self.__forward_arg__, self.__forward_module__))

    def __repr__(self):
        place = "" if self.__forward_module__ is None else f", module={self.__forward_module__!r}"
        return f"ForwardRef({self.__forward_arg__!r}{place})"


def evaluated(value, names, guard=frozenset()):
    """A hint with every name in it looked up."""
    if isinstance(value, ForwardRef):
        return value._evaluate(names, guard)
    if not isinstance(value, (Alias, BuiltinAlias, UnionType)):
        return value
    args = value.__args__
    if isinstance(value, BuiltinAlias):
        args = tuple([ForwardRef(arg) if isinstance(arg, str) else arg for arg in args])
        if value.__unpacked__:
            return combined[1][evaluated(BuiltinAlias(value.__origin__, args), names, guard)]
    new = tuple([evaluated(arg, names, guard) for arg in args])
    if new == value.__args__:
        return value
    if isinstance(value, UnionType):
        whole = new[0]
        for each in new[1:]:
            whole = whole | each
        return whole
    if isinstance(value, BuiltinAlias):
        return BuiltinAlias(value.__origin__, new)
    return value.copy_with(new)


# Variables


class Variable(Sealed, Hint):
    """A name for what is not fixed yet."""

    def _declare(self, name, covariant=False, contravariant=False, bound=None):
        if covariant and contravariant:
            raise ValueError("Bivariant types are not supported.")
        self.__name__ = name
        self.__covariant__ = bool(covariant)
        self.__contravariant__ = bool(contravariant)
        self.__bound__ = checked(bound, "Bound must be a type.") if bound else None

    def __mro_entries__(self, bases):
        raise TypeError(f"Cannot subclass an instance of {type(self).__name__}")

    def __repr__(self):
        prefix = "+" if self.__covariant__ else "-" if self.__contravariant__ else "~"
        return prefix + self.__name__


class TypeVar(Variable):
    """A name for a type that is not fixed yet."""

    def __init__(self, name, *constraints, bound=None, covariant=False, contravariant=False):
        self._declare(name, covariant, contravariant, bound)
        if constraints and bound is not None:
            raise TypeError("Constraints cannot be combined with bound=...")
        if len(constraints) == 1:
            raise TypeError("A single constraint is not allowed")
        message = "TypeVar(name, constraint, ...): constraints must be types."
        self.__constraints__ = tuple([checked(each, message) for each in constraints])

    def __typing_subst__(self, arg):
        arg = checked(arg, "Parameters to generic types must be types.")
        if is_unpacked(arg):
            raise TypeError(f"{arg} is not valid as type argument")
        return arg


def is_unpacked(value):
    """Whether a hint stands for several: `*Ts` or `*tuple[int, str]`."""
    if isinstance(value, BuiltinAlias):
        return value.__unpacked__
    return isinstance(value, Alias) and getattr(value, "__typing_unpacked__", False)


def is_unpacked_variable(value):
    return not isinstance(value, type) and getattr(value, "__typing_is_unpacked_typevartuple__", False)


class TypeVarTuple(Sealed, Hint):
    """A name for any number of types."""

    def __init__(self, name):
        self.__name__ = name

    def __iter__(self):
        yield combined[1][self]

    def __mro_entries__(self, bases):
        raise TypeError(f"Cannot subclass an instance of {type(self).__name__}")

    def __repr__(self):
        return self.__name__

    def __typing_subst__(self, arg):
        raise TypeError("Substitution of bare TypeVarTuple is not supported")

    def __typing_prepare_subst__(self, alias, args):
        """Gives each variable of `alias` its part of the arguments: this one takes what the others leave, as a tuple."""
        parameters = alias.__parameters__
        place = parameters.index(self)
        if any([isinstance(each, TypeVarTuple) for each in parameters[place + 1 :]]):
            raise TypeError(f"More than one TypeVarTuple parameter in {alias}")
        left, right = place, len(parameters) - place - 1
        endless, filling = None, None
        for index, arg in enumerate(args):
            parts = None if isinstance(arg, type) else getattr(arg, "__typing_unpacked_tuple_args__", None)
            if parts and len(parts) == 2 and parts[1] is ...:
                if endless is not None:
                    raise TypeError("More than one unpacked arbitrary-length tuple argument")
                endless, filling = index, parts[0]
        # Of a tuple of any length there is always one more for a variable that stands beyond it.
        before, after = left, right
        if endless is not None:
            before, after = min(left, endless), min(right, len(args) - endless - 1)
        elif left + right > len(args):
            raise TypeError(f"Too few arguments for {alias}; actual {len(args)}, expected at least {len(parameters) - 1}")
        end = len(args) - after
        return (
            *args[:before], *([filling] * (left - before)), tuple(args[before:end]), *([filling] * (right - after)), *args[end:],
        )


class ParamSpec(Variable):
    """A name for a list of parameters."""

    def __init__(self, name, *, bound=None, covariant=False, contravariant=False):
        self._declare(name, covariant, contravariant, bound)

    @property
    def args(self):
        """The positional arguments."""
        return ParamSpecArgs(self)

    @property
    def kwargs(self):
        """The keyword arguments."""
        return ParamSpecKwargs(self)

    def __typing_subst__(self, arg):
        if isinstance(arg, (list, tuple)):
            return tuple([checked(each, "Expected a type.") for each in arg])
        if not stands_for_parameters(arg):
            raise TypeError(f"Expected a list of types, an ellipsis, ParamSpec, or Concatenate. Got {arg}")
        return arg

    def __typing_prepare_subst__(self, alias, args):
        parameters = alias.__parameters__
        place = parameters.index(self)
        if place >= len(args):
            raise TypeError(f"Too few arguments for {alias}")
        # `C[int, str]` says the same as `C[[int, str]]` where there is only this parameter.
        if len(parameters) == 1 and not stands_for_parameters(args[0]):
            return (args,)
        if isinstance(args[place], list):
            return (*args[:place], tuple(args[place]), *args[place + 1 :])
        return args


def stands_for_parameters(value):
    """Whether a hint may stand where a ParamSpec does."""
    if value is ... or isinstance(value, (tuple, list, ParamSpec)):
        return True
    return isinstance(value, Alias) and value._name == "Concatenate"


class _ParamPart(Sealed, Hint):
    _part = ""

    def __init__(self, origin):
        self.__origin__ = origin

    def __mro_entries__(self, bases):
        raise TypeError(f"Cannot subclass an instance of {type(self).__name__}")

    def __eq__(self, other):
        return self.__origin__ == other.__origin__ if type(self) is type(other) else NotImplemented

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


# Variables in arguments, and arguments in the place of variables


def variables_of(args):
    """The variables among arguments, in the order of their first mention."""
    found = []
    for arg in args:
        # A function has parameters of another sort.
        if isinstance(arg, (type, Function)) and not isinstance(arg, BuiltinAlias):
            continue
        if isinstance(arg, tuple):
            inner = variables_of(arg)
        elif hasattr(arg, "__typing_subst__"):
            inner = (arg,)
        else:
            inner = getattr(arg, "__parameters__", ())
        if isinstance(inner, tuple):
            found.extend([each for each in inner if each not in found])
    return tuple(found)


def unpacked(args):
    """The arguments with `*tuple[int, str]` written out."""
    result = []
    for arg in args:
        parts = None if isinstance(arg, type) else getattr(arg, "__typing_unpacked_tuple_args__", None)
        if parts is not None and not (parts and parts[-1] is ...):
            result.extend(parts)
        else:
            result.append(arg)
    return tuple(result)


def assigned(alias, items):
    """What each variable of `alias` becomes when it is given these items."""
    for variable in alias.__parameters__:
        prepare = getattr(variable, "__typing_prepare_subst__", None)
        if prepare is not None:
            items = prepare(alias, items)
    check_count(alias, items, len(alias.__parameters__))
    return dict(zip(alias.__parameters__, items))


def filled(args, table, flat=False):
    """The arguments with the variables replaced. `flat`: a list of parameters is written out, as Callable does."""
    result = []
    for old in args:
        if isinstance(old, type) and not isinstance(old, BuiltinAlias):
            result.append(old)
            continue
        put = getattr(old, "__typing_subst__", None)
        if put is not None:
            new = put(table[old])
        elif isinstance(old, tuple):
            new = tuple(filled(old, table))
        else:
            new = old
            variables = getattr(old, "__parameters__", ())
            if variables:
                items = []
                for variable in variables:
                    if isinstance(variable, TypeVarTuple):
                        items.extend(table[variable])
                    else:
                        items.append(table[variable])
                new = old[tuple(items)]
        if is_unpacked_variable(old) or flat and isinstance(new, tuple) and not isinstance(old, tuple):
            result.extend(new)
        else:
            result.append(new)
    return result
