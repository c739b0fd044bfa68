"""Comparison, membership and hashes."""


def compare_eq(a, b):
    if type(a) is tuple or isinstance(a, (list, tuple)):
        if not isinstance(b, (list, tuple)) or len(a) != len(b) or isinstance(a, list) is not isinstance(b, list):
            return False
        for x, y in zip(a, b):
            if x is not y and not (x == y):
                return False
        return True
    if isinstance(a, dict):
        if not isinstance(b, dict) or _count(a) != _count(b):
            return False
        for key, value in a.items():
            if key not in b:
                return False
            other = b[key]
            if value is not other and not (value == other):
                return False
        return True
    if _is_view(a) or _is_set(a) and _is_view(b):
        return _is_set(b) and _count(a) == _count(b) and _within(a, b)
    if isinstance(a, (set, frozenset)):
        if not isinstance(b, (set, frozenset)) or len(a) != len(b):
            return False
        for item in a:
            if item not in b:
                return False
        return True
    if isinstance(a, _Alias):
        same = isinstance(b, _Alias) and a.__unpacked__ is b.__unpacked__
        return same and a.__origin__ == b.__origin__ and a.__args__ == b.__args__
    if type(a) is _Union:
        return type(b) is _Union and set(a.__args__) == set(b.__args__)
    return a is b


def compare_ne(a, b):
    return not compare_eq(a, b)


def _first_difference(a, b):
    for x, y in zip(a, b):
        if x is not y and not (x == y):
            return x, y
    return len(a), len(b)


def _count(value):
    """How many items a set holds, whatever its class says."""
    entries = _vm.entries(value)
    return len(value) if entries is None else len(entries)


def _is_view(value):
    return type(value).__name__ in ("dict_keys", "dict_items")


def _is_set(value):
    return isinstance(value, (set, frozenset)) or _is_view(value)


def _within(a, b):
    """Whether all that is in one set is in another one. Pairs of a dict need no hash to be looked for."""
    if not _is_view(a) and not _is_view(b):
        return set_issubset(a, b)
    for item in a:
        if item not in b:
            return False
    return True


def compare_lt(a, b):
    if _is_set(a):
        return _count(a) < _count(b) and _within(a, b)
    x, y = _first_difference(a, b)
    return x < y


def compare_le(a, b):
    if _is_set(a):
        return _count(a) <= _count(b) and _within(a, b)
    x, y = _first_difference(a, b)
    return x <= y


def compare_gt(a, b):
    if _is_set(a):
        return _count(a) > _count(b) and _within(b, a)
    x, y = _first_difference(a, b)
    return x > y


def compare_ge(a, b):
    if _is_set(a):
        return _count(a) >= _count(b) and _within(b, a)
    x, y = _first_difference(a, b)
    return x >= y


def contains(container, item):
    if isinstance(container, (bytes, bytearray)) and _vm.own(item, "__index__") is not None:
        return index(item) in container
    if isinstance(container, dict):
        return _find(container, item) >= 0
    if isinstance(container, (set, frozenset)):
        return _find(container, _as_key(item)) >= 0
    for each in container:
        if each is item or each == item:
            return True
    return False


def contains_items(container, item):
    for each in container:
        if each is item or each == item:
            return True
    return False


def hash_slow(value):
    if type(value) is tuple or isinstance(value, tuple):
        return _vm.tuple_hash([hash(item) for item in value])
    if isinstance(value, frozenset):
        result = 0
        for item in value:
            result ^= hash(item)
        return result
    if isinstance(value, _Alias):
        return hash(value.__origin__) ^ hash(value.__args__)
    if type(value) is _Union:
        return hash(frozenset(value.__args__))
    return hash(value)


def tuple_hash(value):
    return _vm.tuple_hash([hash(item) for item in value])


def iadd_reflected(left, right):
    result = _bound(right, "__radd__")(left)
    return left.__iadd__(right) if result is NotImplemented else result


def imul_reflected(left, right):
    result = _bound(right, "__rmul__")(left)
    return left.__imul__(right) if result is NotImplemented else result
