"""Tools for functions: caching, partial application, wrapping, ordering, dispatch by type."""

import _functools
from collections import namedtuple as _namedtuple

WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")
WRAPPER_UPDATES = ("__dict__",)

_MISSING = object()


# Wrapping


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    """Makes `wrapper` look like `wrapped`."""
    for name in assigned:
        value = getattr(wrapped, name, _MISSING)
        if value is not _MISSING:
            setattr(wrapper, name, value)
    for name in updated:
        getattr(wrapper, name).update(getattr(wrapped, name, {}))
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    """Decorates a wrapper function so that it looks like `wrapped`."""

    def decorate(wrapper):
        return update_wrapper(wrapper, wrapped, assigned, updated)

    return decorate


# Folding and partial application


def _reduce(function, iterable, initial=_MISSING, /):
    """Folds the items from the left with a function of two arguments."""
    items = iter(iterable)
    if initial is _MISSING:
        for value in items:
            break
        else:
            raise TypeError("reduce() of empty iterable with no initial value")
    else:
        value = initial
    for item in items:
        value = function(value, item)
    return value


reduce = _functools.reduce


def _product(iterable, start):
    """The product of values of any class, for math.prod."""
    for item in iterable:
        start = start * item
    return start


class partial:
    """A function with some arguments fixed in advance."""

    _name_in_messages = "functools.partial"
    __class_getitem__ = classmethod(type(list[int]))

    __slots__ = ("_func", "_args", "_keywords", "__dict__")

    def __init__(self, /, *args, **keywords):
        if not args:
            raise TypeError("type 'partial' takes at least one argument")
        func, *args = args
        args = tuple(args)
        if not callable(func):
            raise TypeError("the first argument must be callable")
        if isinstance(func, partial):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self._func = func
        self._args = args
        self._keywords = keywords

    @property
    def func(self):
        """The function."""
        return self._func

    @property
    def args(self):
        """The arguments fixed by position."""
        return self._args

    @property
    def keywords(self):
        """The arguments fixed by name."""
        return self._keywords

    def __call__(self, /, *args, **keywords):
        if not self._keywords:
            return self._func(*self._args, *args, **keywords)
        return self._func(*self._args, *args, **{**self._keywords, **keywords})

    def __repr__(self):
        parts = [repr(self.func)]
        parts.extend([repr(argument) for argument in self.args])
        parts.extend([f"{name}={value!r}" for name, value in self.keywords.items()])
        name = "functools.partial" if type(self) is partial else type(self).__qualname__
        return f"{name}({', '.join(parts)})"


class partialmethod:
    """A method with some arguments fixed in advance."""

    __class_getitem__ = classmethod(type(list[int]))

    def __init__(self, func, /, *args, **keywords):
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        if isinstance(func, partialmethod):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self.func = func
        self.args = args
        self.keywords = keywords

    def __repr__(self):
        parts = [repr(self.func)]
        parts.extend([repr(argument) for argument in self.args])
        parts.extend([f"{name}={value!r}" for name, value in self.keywords.items()])
        cls = type(self)
        return f"{cls.__module__}.{cls.__qualname__}({', '.join(parts)})"

    def _unbound(self):
        def method(cls_or_self, /, *args, **keywords):
            return self.func(cls_or_self, *self.args, *args, **{**self.keywords, **keywords})

        method.__isabstractmethod__ = self.__isabstractmethod__
        return method

    def __get__(self, instance, owner=None):
        bind = getattr(self.func, "__get__", None)
        if bind is not None:
            bound = bind(instance, owner)
            if bound is not self.func:
                result = partial(bound, *self.args, **self.keywords)
                if hasattr(bound, "__self__"):
                    result.__self__ = bound.__self__
                return result
        return self._unbound().__get__(instance, owner)

    @property
    def __isabstractmethod__(self):
        return getattr(self.func, "__isabstractmethod__", False)


# Caching

_CacheInfo = _namedtuple("CacheInfo", ["hits", "misses", "maxsize", "currsize"])


def _key(args, kwargs, typed):
    if not kwargs and not typed:
        # Alone, an int or str is its own key, so that 1 and 1.0 stay apart.
        if len(args) == 1 and type(args[0]) in (int, str):
            return args[0]
        return args
    key = args
    if kwargs:
        key += (_MISSING,)
        for item in kwargs.items():
            key += item
    if typed:
        key += tuple([type(value) for value in args])
        if kwargs:
            key += tuple([type(value) for value in kwargs.values()])
    return key


def lru_cache(maxsize=128, typed=False):
    """Remembers the results of the most recent `maxsize` different calls; None remembers all."""
    if isinstance(maxsize, int):
        maxsize = max(maxsize, 0)
    elif callable(maxsize) and isinstance(typed, bool):
        function, maxsize = maxsize, 128
        return _cached(function, maxsize, typed)
    elif maxsize is not None:
        raise TypeError("Expected first argument to be an integer, a callable, or None")

    def decorate(function):
        return _cached(function, maxsize, typed)

    return decorate


def cache(user_function, /):
    """Remembers the result of every different call."""
    return lru_cache(maxsize=None)(user_function)


def _cached(function, maxsize, typed):
    # Results by key, the least recently used first: a hit moves its entry to the end.
    results = {}
    counts = [0, 0]

    def wrapper(*args, **kwargs):
        key = _key(args, kwargs, typed)
        result = results.get(key, _MISSING)
        if result is not _MISSING:
            counts[0] += 1
            if maxsize is not None:
                del results[key]
                results[key] = result
            return result
        counts[1] += 1
        result = function(*args, **kwargs)
        if maxsize is None:
            results[key] = result
        elif maxsize > 0:
            if key not in results and len(results) >= maxsize:
                for oldest in results:
                    break
                del results[oldest]
            results[key] = result
        return result

    def cache_info():
        """Hits, misses, the largest and the current size."""
        return _CacheInfo(counts[0], counts[1], maxsize, len(results))

    def cache_clear():
        """Forgets everything."""
        results.clear()
        counts[0] = 0
        counts[1] = 0

    def cache_parameters():
        return {"maxsize": maxsize, "typed": typed}

    update_wrapper(wrapper, function)
    wrapper.cache_info = cache_info
    wrapper.cache_clear = cache_clear
    wrapper.cache_parameters = cache_parameters
    return wrapper


class cached_property:
    """A property computed at the first access and then kept in the instance's `__dict__`."""

    __class_getitem__ = classmethod(type(list[int]))

    def __init__(self, func):
        self.func = func
        self.attrname = None
        self.__doc__ = func.__doc__

    def __set_name__(self, owner, name):
        if self.attrname is None:
            self.attrname = name
        elif name != self.attrname:
            raise TypeError(
                "Cannot assign the same cached_property to two different names "
                f"({self.attrname!r} and {name!r})."
            )

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self.attrname is None:
            raise TypeError("Cannot use cached_property instance without calling __set_name__ on it.")
        kept = getattr(instance, "__dict__", None)
        if kept is None:
            kind = type(instance).__name__
            raise TypeError(f"No '__dict__' attribute on {kind!r} instance to cache {self.attrname!r} property.")
        value = kept.get(self.attrname, _MISSING)
        if value is _MISSING:
            value = self.func(instance)
            try:
                kept[self.attrname] = value
            except TypeError:
                raise TypeError(
                    f"The '__dict__' attribute on {type(instance).__name__!r} instance does not support item assignment for "
                    f"caching {self.attrname!r} property."
                ) from None
        return value


# Ordering


def _cmp_to_key(mycmp):
    """A sort key from a function that compares two values with a negative, zero or positive answer."""

    class K:
        _name_in_messages = "functools.KeyWrapper"
        __slots__ = ["obj"]

        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return mycmp(self.obj, other.obj) < 0

        def __gt__(self, other):
            return mycmp(self.obj, other.obj) > 0

        def __eq__(self, other):
            return mycmp(self.obj, other.obj) == 0

        def __le__(self, other):
            return mycmp(self.obj, other.obj) <= 0

        def __ge__(self, other):
            return mycmp(self.obj, other.obj) >= 0

        __hash__ = None

    return K


cmp_to_key = _functools.cmp_to_key


def _gt_from_lt(self, other):
    result = type(self).__lt__(self, other)
    return result if result is NotImplemented else not result and self != other


def _le_from_lt(self, other):
    result = type(self).__lt__(self, other)
    return result if result is NotImplemented else result or self == other


def _ge_from_lt(self, other):
    result = type(self).__lt__(self, other)
    return result if result is NotImplemented else not result


def _ge_from_le(self, other):
    result = type(self).__le__(self, other)
    return result if result is NotImplemented else not result or self == other


def _lt_from_le(self, other):
    result = type(self).__le__(self, other)
    return result if result is NotImplemented else result and self != other


def _gt_from_le(self, other):
    result = type(self).__le__(self, other)
    return result if result is NotImplemented else not result


def _lt_from_gt(self, other):
    result = type(self).__gt__(self, other)
    return result if result is NotImplemented else not result and self != other


def _ge_from_gt(self, other):
    result = type(self).__gt__(self, other)
    return result if result is NotImplemented else result or self == other


def _le_from_gt(self, other):
    result = type(self).__gt__(self, other)
    return result if result is NotImplemented else not result


def _le_from_ge(self, other):
    result = type(self).__ge__(self, other)
    return result if result is NotImplemented else not result or self == other


def _gt_from_ge(self, other):
    result = type(self).__ge__(self, other)
    return result if result is NotImplemented else result and self != other


def _lt_from_ge(self, other):
    result = type(self).__ge__(self, other)
    return result if result is NotImplemented else not result


_ORDERINGS = {
    "__lt__": [("__gt__", _gt_from_lt), ("__le__", _le_from_lt), ("__ge__", _ge_from_lt)],
    "__le__": [("__ge__", _ge_from_le), ("__lt__", _lt_from_le), ("__gt__", _gt_from_le)],
    "__gt__": [("__lt__", _lt_from_gt), ("__ge__", _ge_from_gt), ("__le__", _le_from_gt)],
    "__ge__": [("__le__", _le_from_ge), ("__gt__", _gt_from_ge), ("__lt__", _lt_from_ge)],
}


def total_ordering(cls):
    """Fills in the comparisons that the class lacks, from the one it has."""
    roots = [name for name in _ORDERINGS if getattr(cls, name, None) is not getattr(object, name, None)]
    if not roots:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    # The preferred root is the first of: < <= > >=.
    for name, function in _ORDERINGS[roots[0]]:
        if name not in roots:
            setattr(cls, name, function)
    return cls


# Dispatch by type


def _c3_merge(sequences):
    """One order of classes that keeps the order of each sequence."""
    result = []
    while True:
        sequences = [sequence for sequence in sequences if sequence]
        if not sequences:
            return result
        for sequence in sequences:
            candidate = sequence[0]
            if not any([candidate in other[1:] for other in sequences]):
                break
        else:
            raise RuntimeError("Inconsistent hierarchy")
        result.append(candidate)
        for sequence in sequences:
            if sequence[0] is candidate:
                del sequence[0]


def _c3_mro(cls, abcs=None):
    """The method resolution order of a class if it also inherited from some abstract classes that it only claims to be."""
    bases = list(cls.__bases__)
    boundary = 0
    for index in range(len(bases) - 1, -1, -1):
        if hasattr(bases[index], "__abstractmethods__"):
            boundary = index + 1
            break
    abcs = list(abcs) if abcs else []
    # An abstract class goes behind the last base that is one, unless a base is one of its kind already.
    claimed = [
        abc for abc in abcs if issubclass(cls, abc) and not any([issubclass(base, abc) for base in bases])
    ]
    rest = [abc for abc in abcs if abc not in claimed]
    orders = [_c3_mro(base, rest) for base in bases[:boundary]]
    orders += [_c3_mro(abc, rest) for abc in claimed]
    orders += [_c3_mro(base, rest) for base in bases[boundary:]]
    return _c3_merge([[cls], *orders, bases[:boundary], list(claimed), bases[boundary:]])


def _compose_mro(cls, types):
    """The order in which implementations for these types fit instances of a class."""
    own = set(cls.__mro__)

    def is_related(kind):
        return (
            kind not in own and hasattr(kind, "__mro__") and not isinstance(kind, type(list[int])) and issubclass(cls, kind)
        )

    types = [kind for kind in types if is_related(kind)]

    def is_above_another(kind):
        return any([kind is not other and kind in other.__mro__ for other in types])

    return _c3_mro(cls, abcs=[kind for kind in types if not is_above_another(kind)])


def _find_impl(cls, registry):
    """The implementation for instances of a class."""
    match = None
    order = _compose_mro(cls, registry.keys())
    for kind in order:
        if match is not None:
            # Two abstract classes that a class claims to be, neither above the other, do not decide.
            if (
                kind in registry and kind not in cls.__mro__ and match not in cls.__mro__ and not issubclass(match, kind)
            ):
                raise RuntimeError(f"Ambiguous dispatch: {match} or {kind}")
            break
        if kind in registry:
            match = kind
    return registry.get(match)


def _union_members(cls):
    """The classes of a union; None for anything else."""
    if type(cls) is type(int | str):
        return cls.__args__
    origin = getattr(cls, "__origin__", None)
    if origin is not None and getattr(origin, "_name", None) == "Union":
        return cls.__args__
    return None


def _is_class(cls):
    return isinstance(cls, type) and not isinstance(cls, type(list[int]))


def singledispatch(func):
    """A function that picks its implementation by the type of the first argument."""
    registry = {}
    found = {}

    def dispatch(cls):
        """The implementation for instances of `cls`: that of its nearest registered class."""
        implementation = found.get(cls)
        if implementation is None:
            implementation = registry.get(cls)
            if implementation is None:
                implementation = _find_impl(cls, registry)
            found[cls] = implementation
        return implementation

    def register(cls, func=None):
        """Adds an implementation, as a call or as a decorator; the class may stand in the annotation."""
        members = _union_members(cls)
        if _is_class(cls) or members is not None and all([_is_class(member) for member in members]):
            if func is None:
                return lambda function: register(cls, function)
        else:
            if func is not None:
                raise TypeError(f"Invalid first argument to `register()`. {cls!r} is not a class or union type.")
            annotations = getattr(cls, "__annotations__", {})
            if not annotations:
                raise TypeError(
                    f"Invalid first argument to `register()`: {cls!r}. "
                    "Use either `@register(some_class)` or plain `@register` on an annotated function."
                )
            func = cls
            from typing import get_type_hints

            name, cls = next(iter(get_type_hints(func).items()))
            members = _union_members(cls)
            if members is not None:
                if not all([_is_class(member) for member in members]):
                    raise TypeError(f"Invalid annotation for {name!r}. {cls!r} not all arguments are classes.")
            elif not _is_class(cls):
                raise TypeError(f"Invalid annotation for {name!r}. {cls!r} is not a class.")
        for member in members if members is not None else (cls,):
            registry[member] = func
        found.clear()
        return func

    def wrapper(*args, **kwargs):
        if not args:
            raise TypeError(f"{name} requires at least 1 positional argument")
        return dispatch(args[0].__class__)(*args, **kwargs)

    name = getattr(func, "__name__", "singledispatch function")
    registry[object] = func
    update_wrapper(wrapper, func)
    wrapper.register = register
    wrapper.dispatch = dispatch
    wrapper.registry = registry
    wrapper._clear_cache = found.clear
    return wrapper


class singledispatchmethod:
    """A method that picks its implementation by the type of its first argument after self."""

    def __init__(self, func):
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        self.dispatcher = singledispatch(func)
        self.func = func

    def register(self, cls, method=None):
        """Adds an implementation."""
        return self.dispatcher.register(cls, func=method)

    def __get__(self, instance, cls=None):
        dispatcher = self.dispatcher

        def method(*args, **kwargs):
            chosen = dispatcher.dispatch(args[0].__class__)
            return chosen.__get__(instance, cls)(*args, **kwargs)

        method.__isabstractmethod__ = self.__isabstractmethod__
        method.register = self.register
        update_wrapper(method, self.func)
        return method

    @property
    def __isabstractmethod__(self):
        return getattr(self.func, "__isabstractmethod__", False)
