"""namedtuple: tuple classes whose items have names."""

import _vm


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    """A tuple class whose items have names."""
    module = _vm.caller_module() if module is None else module
    return namedtuple_class(typename, field_names, rename=rename, defaults=defaults, module=module)


def namedtuple_class(typename, field_names, bases=(tuple,), *, rename=False, defaults=None, module=None, more=None):
    """The same, with bases of its own and more for the class's namespace."""
    if isinstance(field_names, str):
        field_names = field_names.replace(",", " ").split()
    field_names = [str(name) for name in field_names]
    if rename:
        seen = []
        for index, name in enumerate(field_names):
            if not name.isidentifier() or name in _KEYWORDS or name.startswith("_") or name in seen:
                field_names[index] = f"_{index}"
            seen.append(name)
    typename = str(typename)
    _check_field_names(typename, field_names, rename)
    fields = tuple(field_names)
    field_defaults = {}
    if defaults is not None:
        defaults = tuple(defaults)
        if len(defaults) > len(fields):
            raise TypeError("Got more default values than field names")
        field_defaults = dict(zip(fields[len(fields) - len(defaults) :], defaults))
    namespace = {
        "__doc__": f"{typename}({', '.join(fields)})",
        "__slots__": (),
        "_fields": fields,
        "_field_defaults": field_defaults,
        "__match_args__": fields,
        "__new__": _new_for(fields, field_defaults),
        "_make": classmethod(_make),
        "_replace": _replace,
        "_asdict": _asdict,
        "__repr__": _named_repr,
        "__getnewargs__": _getnewargs,
    }
    for index, name in enumerate(fields):
        namespace[name] = _Item(index)
    namespace["__module__"] = "__main__" if module is None else module
    if defaults is not None:
        namespace["__new__"].__defaults__ = defaults
    return type(typename, bases, {**namespace, **(more or {})})


_KEYWORDS = (
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
    "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or",
    "pass", "raise", "return", "try", "while", "with", "yield",
)


def is_keyword(name):
    """Whether a name is a word of the language."""
    return name in _KEYWORDS


def _check_field_names(typename, field_names, rename):
    for name in [typename, *field_names]:
        if not name.isidentifier():
            raise ValueError(f"Type names and field names must be valid identifiers: {name!r}")
        if name in _KEYWORDS:
            raise ValueError(f"Type names and field names cannot be a keyword: {name!r}")
    seen = []
    for name in field_names:
        if name.startswith("_") and not rename:
            raise ValueError(f"Field names cannot start with an underscore: {name!r}")
        if name in seen:
            raise ValueError(f"Encountered duplicate field name: {name!r}")
        seen.append(name)


class _Item:
    """Reads one item of a named tuple by its name."""

    def __init__(self, index):
        self._index = index
        self.__doc__ = f"Alias for field number {index}"

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return tuple.__getitem__(instance, self._index)

    def __set__(self, instance, value):
        raise AttributeError("can't set attribute")

    def __delete__(self, instance):
        raise AttributeError("can't delete attribute")


def _new_for(fields, defaults):
    """The `__new__` of a named tuple: binds arguments as a function with these parameters would."""
    count = len(fields)

    def __new__(_cls, *args, **kwargs):
        if len(args) == count and not kwargs:
            return tuple.__new__(_cls, args)
        return tuple.__new__(_cls, _bind(_cls.__name__, fields, defaults, args, kwargs))

    return __new__


def _bind(typename, fields, defaults, args, kwargs):
    count = len(fields)
    if len(args) > count:
        least = count - len(defaults) + 1
        takes = f"from {least} to {count + 1}" if defaults else f"{count + 1}"
        plural = "s" if count + 1 != 1 else ""
        raise TypeError(
            f"{typename}.__new__() takes {takes} positional argument{plural} but {len(args) + 1} were given"
        )
    values = list(args)
    for name in kwargs:
        if name not in fields:
            raise TypeError(f"{typename}.__new__() got an unexpected keyword argument {name!r}")
        if name in fields[: len(args)]:
            raise TypeError(f"{typename}.__new__() got multiple values for argument {name!r}")
    missing = []
    for name in fields[len(args) :]:
        if name in kwargs:
            values.append(kwargs[name])
        elif name in defaults:
            values.append(defaults[name])
        else:
            missing.append(name)
    if missing:
        raise TypeError(f"{typename}.__new__() missing {_missing_arguments(missing)}")
    return values


def _missing_arguments(names):
    """`2 required positional arguments: 'a' and 'b'`, as the interpreter words it."""
    quoted = [repr(name) for name in names]
    if len(quoted) == 1:
        return f"1 required positional argument: {quoted[0]}"
    listed = " and ".join(quoted) if len(quoted) == 2 else ", ".join(quoted[:-1]) + ", and " + quoted[-1]
    return f"{len(quoted)} required positional arguments: {listed}"


def _make(cls, iterable):
    """Makes one from a sequence or iterable."""
    result = tuple.__new__(cls, iterable)
    if len(result) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(result)}")
    return result


def _replace(self, /, **kwds):
    """A copy with some fields replaced."""
    values = [kwds.pop(name, value) for name, value in zip(self._fields, self)]
    if kwds:
        raise ValueError(f"Got unexpected field names: {list(kwds)!r}")
    return self._make(values)


def _asdict(self):
    """A dict of the fields by name."""
    return dict(zip(self._fields, self))


def _named_repr(self):
    shown = ", ".join([f"{name}={value!r}" for name, value in zip(self._fields, self)])
    return f"{self.__class__.__name__}({shown})"


def _getnewargs(self):
    return tuple(self)
