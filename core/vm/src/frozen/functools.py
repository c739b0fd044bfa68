"""Tools for functions: caching, partial application, wrapping, ordering, dispatch by type."""

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


def reduce(function, iterable, initial=_MISSING, /):
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


class partial:
    """A function with some arguments fixed in advance."""

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
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, /, *args, **keywords):
        if not self.keywords:
            return self.func(*self.args, *args, **keywords)
        return self.func(*self.args, *args, **{**self.keywords, **keywords})

    def __repr__(self):
        parts = [repr(self.func)]
        parts.extend([repr(argument) for argument in self.args])
        parts.extend([f"{name}={value!r}" for name, value in self.keywords.items()])
        return f"functools.partial({', '.join(parts)})"


class partialmethod:
    """A method with some arguments fixed in advance."""

    def __init__(self, func, /, *args, **keywords):
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        self.func = func
        self.args = args
        self.keywords = keywords

    def __get__(self, instance, owner=None):
        bound = self.func.__get__(instance, owner) if hasattr(self.func, "__get__") else self.func
        return partial(bound, *self.args, **self.keywords)


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
        value = self.func(instance)
        instance.__dict__[self.attrname] = value
        return value


# Ordering


def cmp_to_key(mycmp):
    """A sort key from a function that compares two values with a negative, zero or positive answer."""

    class K:
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


def singledispatch(func):
    """A function that picks its implementation by the type of the first argument."""
    registry = {object: func}

    def dispatch(cls):
        """The implementation for instances of `cls`: that of its nearest registered class."""
        for base in cls.__mro__:
            if base is not object and base in registry:
                return registry[base]
        # Classes that only claim to be a base, such as collections.abc.Mapping.
        best = object
        for candidate in registry:
            if candidate is not object and issubclass(cls, candidate) and issubclass(candidate, best):
                best = candidate
        return registry[best]

    def register(cls, func=None):
        """Adds an implementation, as a call or as a decorator; the class may stand in the annotation."""
        if isinstance(cls, type):
            if func is None:
                return partial(register, cls)
            registry[cls] = func
            return func
        if func is not None:
            raise TypeError(f"Invalid first argument to `register()`. {cls!r} is not a class.")
        function = cls
        for annotation in getattr(function, "__annotations__", {}).values():
            break
        else:
            raise TypeError(
                f"Invalid first argument to `register()`: {function!r}. "
                "Use either `@register(some_class)` or plain `@register` on an annotated function."
            )
        if not isinstance(annotation, type):
            raise TypeError(f"Invalid annotation for {function!r}. {annotation!r} is not a class.")
        registry[annotation] = function
        return function

    def wrapper(*args, **kwargs):
        if not args:
            raise TypeError(f"{func.__name__} requires at least 1 positional argument")
        return dispatch(type(args[0]))(*args, **kwargs)

    update_wrapper(wrapper, func)
    wrapper.register = register
    wrapper.dispatch = dispatch
    wrapper.registry = registry
    return wrapper


class singledispatchmethod:
    """A method that picks its implementation by the type of its first argument after self."""

    def __init__(self, func):
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        self.dispatcher = singledispatch(func)
        self.func = func

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, func=method)

    def __get__(self, instance, cls=None):
        dispatcher = self.dispatcher

        def method(*args, **kwargs):
            chosen = dispatcher.dispatch(type(args[0]))
            return chosen.__get__(instance, cls)(*args, **kwargs)

        update_wrapper(method, self.func)
        method.register = self.register
        return method
