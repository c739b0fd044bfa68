"""Copies, of what a program on chain can make."""

Error = Exception
_whole = (int, float, bool, str, bytes, type(None), type(...), type(NotImplemented), type, range, type(lambda: 0), type(len), property, slice)


def copy(value):
    cls = type(value)
    if cls in _whole or isinstance(value, type) or cls is tuple or cls is frozenset:
        return value
    if cls in (list, dict, set, bytearray):
        return value.copy()
    method = getattr(cls, "__copy__", None)
    if method is not None:
        return method(value)
    return _again(value, lambda each: each)


def deepcopy(value, memo=None):
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    cls = type(value)
    if cls in _whole or isinstance(value, type):
        return value
    if cls in (list, set, frozenset, tuple):
        result = cls([deepcopy(each, memo) for each in value])
    elif cls is dict:
        result = {deepcopy(key, memo): deepcopy(each, memo) for key, each in value.items()}
    elif cls is bytearray:
        result = value.copy()
    elif getattr(cls, "__deepcopy__", None) is not None:
        result = value.__deepcopy__(memo)
    else:
        result = _again(value, lambda each: deepcopy(each, memo))
    memo[id(value)] = result
    return result


def _again(value, each):
    """A new object of the same class with the same attributes, and what it holds as list, dict, set, text or number."""
    cls = type(value)
    arguments = ()
    for base in (int, float, str, bytes, tuple, frozenset):
        if isinstance(value, base):
            arguments = (base(value),)
    if hasattr(value, "__getnewargs__"):
        arguments = value.__getnewargs__()
    result = cls.__new__(cls, *arguments)
    if isinstance(value, (list, bytearray)):
        result.extend([each(item) for item in value])
    elif isinstance(value, dict):
        for key in value:
            result[each(key)] = each(value[key])
    elif isinstance(value, set):
        set.update(result, [each(item) for item in value])
    for name, attribute in getattr(value, "__dict__", {}).items():
        setattr(result, name, each(attribute))
    for owner in cls.__mro__:
        names = owner.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if hasattr(value, name):
                object.__setattr__(result, name, each(getattr(value, name)))
    return result
