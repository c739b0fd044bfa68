"""Comparison, membership and hashes."""


def compare_eq(a, b):
    # What a container holds, whatever its class says.
    kind = _kind(a)
    if kind is not None:
        if kind is not _kind(b) or kind is list and list.__len__(a) != list.__len__(b):
            return False
        for x, y in zip(kind.__iter__(a), kind.__iter__(b)):
            if x is not y and not (x == y):
                return False
        return kind.__len__(a) == kind.__len__(b)
    if isinstance(a, dict):
        return isinstance(b, dict) and _dicts_equal(a, b)
    if _is_view(a) or _is_set(a) and _is_view(b):
        return _is_set(b) and _count(a) == _count(b) and _within(a, b)
    if isinstance(a, (set, frozenset)):
        return isinstance(b, (set, frozenset)) and _count(a) == _count(b) and set_issubset(a, b)
    if isinstance(a, _Alias):
        same = isinstance(b, _Alias) and a.__unpacked__ is b.__unpacked__
        return same and a.__origin__ == b.__origin__ and a.__args__ == b.__args__
    if type(a) is _Union:
        return type(b) is _Union and set(a.__args__) == set(b.__args__)
    return a is b


def _kind(value):
    """The builtin sequence that a value is: list, tuple or None."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind
    return list if _vm.is_subclass(kind, list) else tuple if _vm.is_subclass(kind, tuple) else None


def _dicts_equal(a, b):
    if dict.__len__(a) != dict.__len__(b):
        return False
    entries = _vm.entries(a)
    if entries is None:
        entries = [(key, hash(key)) for key in dict.keys(a)]
    for (key, code), value in zip(entries, [*dict.values(a)]):
        position = _position(b, key, code)
        if position < 0:
            return False
        other = _vm.dict_value(b, position)
        if value is not other and not (value == other):
            return False
    return True


def compare_ne(a, b):
    return not compare_eq(a, b)


def _first_difference(a, b):
    kind = _kind(a)
    for x, y in zip(kind.__iter__(a), kind.__iter__(b)):
        if x is not y and not (x == y):
            return x, y
    return kind.__len__(a), kind.__len__(b)


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
    return contains_items(container, item)


def contains_items(container, item):
    kind = _kind(container)
    for each in container if kind is None else kind.__iter__(container):
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
    if result is NotImplemented and _vm.own(right, "__index__") is not None:
        result = left.__imul__(right)
    if result is NotImplemented:
        raise TypeError(f"can't multiply sequence by non-int of type {_kind_name(right)!r}")
    return result
