"""What the builtin functions and types leave to Python: everything that runs a program's own code.

Trusted code. A native function whose arguments need such code gives up before it has changed anything, and the function
named in its row does the work here. Frames of this module stay out of tracebacks.
"""

import _vm

__all__ = ["ascii"]


def identity(value):
    return value


def bound_special(found, value, cls, /, *args, **kwargs):
    """Calls a special method that is no plain function: a static or class method, a property, an object with or without `__get__`."""
    return _vm.bind(found, value, cls)(*args, **kwargs)


def _found(value, name):
    """A special method as the class of a value has it, its own or a builtin one, bound."""
    return _vm.bind(_vm.type_lookup(type(value), name), value, type(value))


def _bound(value, name):
    """A special method that the class of a value sets itself, bound; None when it sets none. One that is None fails when it is called."""
    found = _vm.own(value, name)
    if found is None or found is ...:
        return None if found is None else _refused
    return _vm.bind(found, value, type(value))


def _refused(*args):
    return _NOTHING(*args)


_NOTHING = None


_Union = type(int | str)
_Alias = type(list[int])
_Function = type(identity)

# classes


_NO_METACLASS = object()


def build_class(body, name, /, *bases, metaclass=_NO_METACLASS, **kwargs):
    resolved = bases
    for base in bases:
        if not isinstance(base, type):
            resolved = _resolve_bases(bases)
            break
    meta = metaclass
    if meta is _NO_METACLASS:
        meta = type(resolved[0]) if resolved else type
    if isinstance(meta, type):
        for base in resolved:
            other = type(base)
            if _vm.is_subclass(meta, other):
                continue
            if _vm.is_subclass(other, meta):
                meta = other
                continue
            raise TypeError("metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases")
    namespace = {} if meta is type else meta.__prepare__(name, resolved, **kwargs) if hasattr(meta, "__prepare__") else {}
    if resolved is not bases:
        namespace["__orig_bases__"] = bases
    cell = _vm.run_body(body, namespace)
    if cell is not None:
        namespace["__classcell__"] = cell
    if meta is type:
        return type_new(meta, name, resolved, namespace, kwargs)
    cls = meta(name, resolved, namespace, **kwargs)
    if cell is not None and isinstance(cls, type):
        inside = _vm.cell_content(cell)
        if inside is None:
            raise RuntimeError(f"__class__ not set defining {name!r} as {cls!r}. Was __classcell__ propagated to type.__new__?")
        if inside is not cls:
            raise TypeError(f"__class__ set to {inside!r} defining {name!r} as {cls!r}")
    return cls


def _resolve_bases(bases):
    result = []
    for base in bases:
        if isinstance(base, type):
            result.append(base)
        elif hasattr(base, "__mro_entries__"):
            result.extend(base.__mro_entries__(bases))
        elif hasattr(base, "__origin__"):
            result.append(base.__origin__)
        else:
            result.append(base)
    return tuple(result)


def type_new(meta, name, bases, namespace, kwargs):
    if not isinstance(bases, tuple):
        raise TypeError(f"type.__new__() argument 2 must be tuple, not {'None' if bases is None else _kind_name(bases)}")
    if not isinstance(namespace, dict):
        raise TypeError(f"type.__new__() argument 3 must be dict, not {'None' if namespace is None else _kind_name(namespace)}")
    if type(namespace) is not dict:
        namespace = dict(namespace)
    if "__module__" not in namespace:
        module = _vm.module_name()
        if module is not None:
            namespace = {**namespace, "__module__": module}
    best = meta
    for base in bases:
        other = type(base)
        if not _vm.is_subclass(best, other):
            if _vm.is_subclass(other, best):
                best = other
            else:
                raise TypeError("metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases")
    if best is not meta and _vm.type_lookup(best, "__new__") is not _vm.type_lookup(meta, "__new__"):
        return best.__new__(best, name, bases, namespace, **kwargs)
    cls = _vm.create_class(best, name, bases, namespace)
    if best is not type:
        order = _vm.type_lookup(best, "mro")
        if order is not _plain_mro:
            _use_mro(cls, order(cls))
    for key, value in namespace.items():
        hook = _vm.own(value, "__set_name__")
        if hook is not None:
            try:
                _vm.bind(hook, value, type(value))(cls, key)
            except Exception as error:
                raise RuntimeError(f"Error calling __set_name__ on {type(value).__name__!r} instance {key!r} in {name!r}") from error
    super(cls, cls).__init_subclass__(**kwargs)
    return cls


_plain_mro = _vm.type_lookup(type, "mro")


def _use_mro(cls, order):
    """Takes what a metaclass's own `mro()` says."""
    order = tuple(order)
    for base in order:
        if isinstance(base, type) and not _vm.is_subclass(cls, base):
            raise TypeError(f"mro() returned base with unsuitable layout ({base.__name__!r})")
    _vm.set_mro(cls, order)


def make_class(name, bases, namespace):
    """A class as a `class` statement makes it, from a namespace that is there already."""
    resolved = _resolve_bases(bases)
    meta = type(resolved[0]) if resolved else type
    for base in resolved:
        if not _vm.is_subclass(meta, type(base)):
            meta = type(base)
    made = meta.__prepare__(name, resolved) if hasattr(meta, "__prepare__") else {}
    made.update(namespace)
    if resolved != bases:
        made["__orig_bases__"] = bases
    return meta(name, resolved, made)


def type_call(meta, /, *args, **kwargs):
    cls = meta.__new__(meta, *args, **kwargs)
    if isinstance(cls, meta):
        type(cls).__init__(cls, *args, **kwargs)
    return cls


def instantiate(cls, /, *args, **kwargs):
    if isinstance(cls, type) and type(cls) is type:
        return cls(*args, **kwargs)
    instance = cls.__new__(cls, *args, **kwargs)
    if isinstance(instance, cls):
        type(instance).__init__(instance, *args, **kwargs)
    return instance


def isinstance_slow(value, classes):
    if _vm.is_subclass(type(classes), tuple):
        for each in tuple.__iter__(classes):
            if isinstance(value, each):
                return True
        return False
    if type(classes) is _Union:
        for each in classes.__args__:
            if isinstance(value, each):
                return True
        return False
    if isinstance(classes, _Alias):
        raise TypeError("isinstance() argument 2 cannot be a parameterized generic")
    if type(value) is classes:
        return True
    if type(type(classes)) is type and _vm.type_lookup(type(classes), "__instancecheck__") is _plain_check:
        if _vm.is_subclass(type(value), classes):
            return True
        said = getattr(value, "__class__", None)
        return isinstance(said, type) and _vm.is_subclass(said, classes)
    return bool(_found(classes, "__instancecheck__")(value))


_plain_check = _vm.type_lookup(type, "__instancecheck__")


def issubclass_slow(cls, classes):
    if _vm.is_subclass(type(classes), tuple):
        for each in tuple.__iter__(classes):
            if issubclass(cls, each):
                return True
        return False
    if type(classes) is _Union:
        for each in classes.__args__:
            if issubclass(cls, each):
                return True
        return False
    if isinstance(classes, _Alias):
        raise TypeError("issubclass() argument 2 cannot be a parameterized generic")
    return bool(_found(classes, "__subclasscheck__")(cls))


def retry_index(native, first, *args):
    """Calls a native function again with integers for what has an `__index__`."""
    return native(first, *[index(each) if _vm.own(each, "__index__") is not None else each for each in args])


def retry_first(native, first, at, *rest):
    """The same for a position alone: what else is given stays what it is."""
    return native(first, index(at), *rest)


def retry_last(native, *args):
    """The same for the last argument alone."""
    return native(*args[:-1], index(args[-1]))


def retry_items(native, first, *args):
    """Calls a native function again with lists for iterables that are written in Python."""
    return native(first, *[each if type(each) in (list, tuple, dict, set, frozenset, str, bytes) else _each(each) for each in args])


def retry_real(native, *args):
    """Calls a function of math again with floats for what has a `__float__`, or else an `__index__`."""
    return native(*[_real(each) for each in args])


def retry_close(native, a, b, rel_tol=None, abs_tol=None):
    """Calls math.isclose again with floats."""
    relative = 1e-09 if rel_tol is None else _real(rel_tol)
    return native(_real(a), _real(b), rel_tol=relative, abs_tol=0.0 if abs_tol is None else _real(abs_tol))


def retry_integer(native, *args):
    """Calls a function of math again with integers for what has an `__index__`."""
    return native(*[index(each) if _vm.own(each, "__index__") is not None else each for each in args])


def _real(value):
    if _vm.own(value, "__float__") is not None:
        return float(value)
    return value if _vm.own(value, "__index__") is None else float(index(value))


def index(value):
    result = _bound(value, "__index__")()
    if not isinstance(result, int):
        raise TypeError(f"__index__ returned non-int (type {_kind_name(result)})")
    return int(result)


def object_repr(self):
    if isinstance(self, _Alias):
        args = ", ".join([_type_name(each) for each in self.__args__])
        return f"{'*' if self.__unpacked__ else ''}{_type_name(self.__origin__)}[{args or '()'}]"
    return repr(self)


def object_ne(self, other):
    result = self.__eq__(other)
    return result if result is NotImplemented else not result


def getattr_default(value, name, default):
    try:
        return getattr(value, name)
    except AttributeError:
        return default


def hasattr_slow(value, name):
    try:
        getattr(value, name)
    except AttributeError:
        return False
    return True


def dir_slow(value):
    return sorted(_found(value, "__dir__")())


def alias_parameters(arguments):
    """Type variables among the arguments of a generic alias, in their order."""
    found = []
    for each in arguments:
        if isinstance(each, (type, _Function)):
            continue
        if isinstance(each, (list, tuple)):
            parameters = alias_parameters(each)
        elif hasattr(each, "__typing_subst__"):
            parameters = (each,)
        else:
            parameters = getattr(each, "__parameters__", ())
        for parameter in parameters if isinstance(parameters, tuple) else ():
            if not _among(found, parameter):
                found.append(parameter)
    return tuple(found)


def _among(items, value):
    for each in items:
        if each is value:
            return True
    return False


def alias_getitem(alias, items):
    """Types in the place of the type variables of an alias."""
    arguments = tuple(alias_filled(alias, items))
    if type(alias) is _Union:
        whole = arguments[0]
        for each in arguments[1:]:
            whole = whole | each
        return whole
    return _vm.alias(alias.__origin__, arguments, alias.__unpacked__)


def alias_filled(alias, items):
    """The arguments of an alias after types have taken the place of its type variables."""
    parameters = alias_parameters(alias.__args__)
    if not parameters:
        raise TypeError(f"{alias!r} is not a generic class")
    given = []
    for item in items if isinstance(items, tuple) else (items,):
        inner = None if isinstance(item, type) else getattr(item, "__typing_unpacked_tuple_args__", None)
        if inner is not None and not (inner and inner[-1] is ...):
            given.extend(inner)
        else:
            given.append(item)
    given = tuple(given)
    for parameter in parameters:
        prepare = getattr(parameter, "__typing_prepare_subst__", None)
        if prepare is not None:
            given = prepare(alias, given)
    if len(given) != len(parameters):
        much = "many" if len(given) > len(parameters) else "few"
        raise TypeError(f"Too {much} arguments for {alias!r}; actual {len(given)}, expected {len(parameters)}")

    def chosen(parameter):
        for known, item in zip(parameters, given):
            if known is parameter:
                return item

    result = []
    for each in alias.__args__:
        if isinstance(each, type):
            result.append(each)
            continue
        put = getattr(each, "__typing_subst__", None)
        if put is not None:
            result.append(put(chosen(each)))
            continue
        new = each
        inner = alias_parameters((each,))
        if inner:
            values = []
            for parameter in inner:
                value = chosen(parameter)
                if isinstance(value, tuple) and hasattr(type(parameter), "__iter__"):
                    values.extend(value)
                else:
                    values.append(value)
            new = each[tuple(values)]
        if getattr(each, "__typing_is_unpacked_typevartuple__", False):
            result.extend(new)
        else:
            result.append(new)
    return result


def alias_call(alias, keywords, *args):
    """An instance of an alias's class, which remembers the alias where it can."""
    made = alias.__origin__(*args, **keywords)
    try:
        made.__orig_class__ = alias
    except (AttributeError, TypeError):
        pass
    return made


def alias_iter(alias):
    """`*alias`: the alias with a star before it."""
    yield _vm.alias(alias.__origin__, alias.__args__, True)
