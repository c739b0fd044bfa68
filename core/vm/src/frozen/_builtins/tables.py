"""Dicts, sets, and items of sequences that are set and deleted."""


def _position(table, key, code):
    """Where a key is, -1 where it is not. A comparison that changes what the table has there starts the search again, as in CPython."""
    position = _vm.dict_find(table, key, code, 0)
    while position >= 0:
        known = _vm.dict_key(table, position)
        if known is key:
            return position
        same = True if known == key else False
        if not _vm.dict_holds(table, position, known):
            position = -1
        elif same:
            return position
        position = _vm.dict_find(table, key, code, position + 1)
    return -1


def _find(table, key):
    return _position(table, key, hash(key))


def dict_getitem(self, key):
    position = _find(self, key)
    if position >= 0:
        return _vm.dict_value(self, position)
    if type(self) is not dict:
        missing = _bound(self, "__missing__")
        if missing is not None:
            return missing(key)
    raise KeyError(key)


def dict_setitem(self, key, value):
    code = hash(key)
    position = _position(self, key, code)
    if position >= 0:
        _vm.dict_replace(self, position, value)
    else:
        _vm.dict_add(self, key, code, value)


def dict_delitem(self, key):
    position = _find(self, key)
    if position < 0:
        raise KeyError(key)
    _vm.dict_delete(self, position)


def dict_contains(self, key):
    return _find(self, key) >= 0


def dict_get(self, key, default=None):
    position = _find(self, key)
    return default if position < 0 else _vm.dict_value(self, position)


def dict_setdefault(self, key, default=None):
    code = hash(key)
    position = _position(self, key, code)
    if position >= 0:
        return _vm.dict_value(self, position)
    _vm.dict_add(self, key, code, default)
    return default


def dict_pop(self, key, *default):
    position = _find(self, key)
    if position < 0:
        if default:
            return default[0]
        raise KeyError(key)
    value = _vm.dict_value(self, position)
    _vm.dict_delete(self, position)
    return value


def dict_update(self, other):
    if _vm.is_subclass(type(other), dict) and _vm.own(other, "__iter__") is None:
        # A dict that does not iterate in its own way is taken as it lies.
        for key, value in dict.items(other):
            dict_setitem(self, key, value)
    elif hasattr(other, "keys"):
        for key in other.keys():
            dict_setitem(self, key, other[key])
    else:
        for index, pair in enumerate(other):
            try:
                pair = tuple(pair)
            except TypeError:
                raise TypeError(f"cannot convert dictionary update sequence element #{index} to a sequence") from None
            if len(pair) != 2:
                raise ValueError(f"dictionary update sequence element #{index} has length {len(pair)}; 2 is required")
            dict_setitem(self, pair[0], pair[1])


def dict_init(self, kwargs, *args):
    if args:
        source = args[0]
        if not hasattr(source, "keys") and not hasattr(source, "__iter__") and not hasattr(source, "__getitem__"):
            raise TypeError(f"'{_kind_name(source)}' object is not iterable")
        dict_update(self, source)
    for key, value in kwargs.items():
        dict_setitem(self, key, value)


def dict_fromkeys(cls, iterable, value=None):
    result = cls()
    if type(result) is dict:
        for key, code in _iterated(iterable):
            if _position(result, key, code) < 0:
                _vm.dict_add(result, key, code, value)
        return result
    for key in iterable:
        result[key] = value
    return result


def dict_copy(self):
    return dict(self)


def dict_ior(self, other):
    dict_update(self, other)
    return self


def _power_of(value):
    """Whose three-argument power an operand brings: that of a class in Python, or of a builtin number; None where it brings none."""
    if _vm.own(value, "__pow__") is not None or _vm.own(value, "__rpow__") is not None:
        return "class"
    return _number_kind(value)


def _number_kind(value):
    for kind in (int, float, complex):
        if _vm.is_subclass(type(value), kind):
            return kind
    return None


def _power_by(kind, base, exponent, modulus):
    if kind is int:
        return int.__pow__(base, exponent, modulus) if _number_kind(base) is int else NotImplemented
    if kind is float:
        raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
    if kind is complex:
        if _number_kind(base) is None or _number_kind(exponent) is None:
            return NotImplemented
        raise ValueError("complex modulo")
    if _power_of(base) != kind:
        return NotImplemented
    method = _bound(base, "__pow__")
    if method is not None:
        return method(exponent, modulus)
    kind = _number_kind(base)
    if kind is None:
        raise AttributeError("__pow__")
    return kind.__pow__(base, exponent, modulus)


def pow_three(base, exponent, modulus):
    """Each power that an operand brings is asked once, with all three: that of a subclass of the base's class first."""
    first, second, third = _power_of(base), _power_of(exponent), _power_of(modulus)
    derived = first is not None and first != second and _vm.is_subclass(type(exponent), type(base))
    asked = [None]
    for kind in (second, first, third) if derived else (first, second, third):
        if kind not in asked:
            asked.append(kind)
            result = _power_by(kind, base, exponent, modulus)
            if result is not NotImplemented:
                return result
    names = "', '".join([_kind_name(each) for each in (base, exponent, modulus)])
    raise TypeError(f"unsupported operand type(s) for ** or pow(): '{names}'")


def complex_new(cls, real=None, imag=None):
    def number(value, first):
        method = _bound(value, "__complex__")
        if first and method is not None:
            value = method()
            if not isinstance(value, complex):
                raise TypeError(f"__complex__ returned non-complex (type {type(value).__name__})")
            return complex(value.real, value.imag)
        if isinstance(value, (int, float, complex)) and _vm.own(value, "__float__") is None:
            return value
        return float(value)

    if imag is None:
        return complex.__new__(cls, number(real, True))
    return complex.__new__(cls, 0 if real is None else number(real, True), number(imag, False))


def getitem_slice(sequence, key):
    return sequence[_plain_key(key)]


def keyword_merge(self, other):
    for key in other.keys():
        if not isinstance(key, str):
            raise TypeError("keywords must be strings")
        if key in self:
            raise TypeError(f"function got multiple values for keyword argument '{key}'")
        self[key] = other[key]


def build_dict(result, *rest):
    for index in range(0, len(rest), 2):
        dict_setitem(result, rest[index], rest[index + 1])
    return result


def build_set(result, *rest):
    for index in range(0, len(rest), 2):
        set_add(result, rest[index])
    return result


def _hashed(source):
    """Items with their hashes; those of a dict or set are not asked again."""
    entries = _vm.entries(source)
    return [(item, hash(item)) for item in source] if entries is None else entries


def _iterated(source):
    """The same where CPython takes only an exact set as it lies."""
    return _hashed(source) if _vm.own(source, "__iter__") is None else [(item, hash(item)) for item in source]


def _put(table, key, code):
    if _position(table, key, code) < 0:
        _vm.dict_add(table, key, code, None)


def _set_of(pairs):
    result = set()
    for item, code in pairs:
        _put(result, item, code)
    return result


def _like(self, pairs):
    result = _set_of(pairs)
    return _vm.wrap(frozenset, result) if isinstance(self, frozenset) else result


def _as_key(value):
    """A set looked for in a set stands for its frozen twin."""
    return frozenset(value) if isinstance(value, set) and type(value).__hash__ is None else value


def set_add(self, value):
    _put(self, value, hash(value))


def set_contains(self, value):
    return _find(self, _as_key(value)) >= 0


def set_discard(self, value):
    position = _find(self, _as_key(value))
    if position >= 0:
        _vm.dict_delete(self, position)


def set_remove(self, value):
    position = _find(self, _as_key(value))
    if position < 0:
        raise KeyError(value)
    _vm.dict_delete(self, position)


def set_init(self, iterable=()):
    items = _hashed(iterable)
    set.clear(self)
    for item, code in items:
        _put(self, item, code)


def set_update(self, iterable):
    entries = _vm.entries(iterable)
    if entries is None:
        for item in iterable:
            _put(self, item, hash(item))
    else:
        for item, code in entries:
            _put(self, item, code)


def set_update_all(self, *others):
    for other in others:
        set_update(self, other)


def frozenset_new(cls, iterable=()):
    plain = _set_of(_hashed(iterable))
    if cls is frozenset:
        return _vm.wrap(frozenset, plain)
    result = _vm.new(cls)
    for item, code in _vm.entries(plain):
        _put(result, item, code)
    return result


def set_union(self, *others):
    pairs = _hashed(self)
    for other in others:
        pairs = pairs + _hashed(other)
    return _like(self, pairs)


def _common(pairs, other):
    kept = other if isinstance(other, (set, frozenset, dict)) else _set_of(_hashed(other))
    return [pair for pair in pairs if _position(kept, pair[0], pair[1]) >= 0]


def _apart(pairs, other):
    kept = other if isinstance(other, (set, frozenset, dict)) else _set_of(_hashed(other))
    return [pair for pair in pairs if _position(kept, pair[0], pair[1]) < 0]


def set_intersection(self, *others):
    pairs = _hashed(self)
    for other in others:
        pairs = _common(pairs, other)
    return _like(self, pairs)


def set_difference(self, *others):
    pairs = _hashed(self)
    for other in others:
        pairs = _apart(pairs, other)
    return _like(self, pairs)


def set_symmetric_difference(self, other):
    other = other if isinstance(other, (set, frozenset, dict)) else _set_of(_hashed(other))
    return _like(self, _apart(_hashed(self), other) + _apart(_hashed(other), self))


def _refill(self, source):
    entries = _vm.entries(source)
    set.clear(self)
    for item, code in entries:
        _put(self, item, code)


def set_intersection_update(self, *others):
    _refill(self, set_intersection(self, *others))


def set_difference_update(self, *others):
    for other in others:
        for item, code in _hashed(other):
            position = _position(self, item, code)
            if position >= 0:
                _vm.dict_delete(self, position)


def set_symmetric_difference_update(self, other):
    _refill(self, set_symmetric_difference(self, other))


def set_issubset(self, other):
    kept = other if isinstance(other, (set, frozenset, dict)) else _set_of(_hashed(other))
    for item, code in _hashed(self):
        if _position(kept, item, code) < 0:
            return False
    return True


def set_issuperset(self, other):
    for item, code in _hashed(other):
        if _position(self, item, code) < 0:
            return False
    return True


def set_isdisjoint(self, other):
    for item, code in _iterated(other):
        if _position(self, item, code) >= 0:
            return False
    return True


def or_slow(a, b):
    if isinstance(a, dict):
        if not isinstance(b, dict):
            return NotImplemented
        result = dict(a)
        result.update(b)
        return result
    return set_union(_left(a, b), b)


def and_slow(a, b):
    return set_intersection(_left(a, b), b)


def sub_slow(a, b):
    return set_difference(_left(a, b), b)


def xor_slow(a, b):
    return set_symmetric_difference(_left(a, b), b)


def _left(a, b):
    """The left operand: what is combined with a view is a set, even if it was frozen."""
    return set(a) if isinstance(a, frozenset) and _is_view(b) else a


def set_ior(self, other):
    set_update(self, other)
    return self


def set_iand(self, other):
    set_intersection_update(self, other)
    return self


def set_isub(self, other):
    set_difference_update(self, other)
    return self


def set_ixor(self, other):
    set_symmetric_difference_update(self, other)
    return self


def _set_in_view(target, key, value):
    code = target.format[-1]
    if code == "?":
        value = bool(value)
    elif code in "fd" and _vm.own(value, "__float__") is not None:
        value = float(value)
    elif _vm.own(value, "__index__") is not None:
        value = index(value)
    target[_plain_key(key)] = value


def _plain_key(key):
    """A key with integers for what has an `__index__`."""
    if isinstance(key, slice):
        return slice(*[index(part) if _vm.own(part, "__index__") is not None else part for part in (key.start, key.stop, key.step)])
    return key if _vm.own(key, "__index__") is None else index(key)


def delitem_slow(target, key):
    kind = list if isinstance(target, list) else bytearray
    kind.__delitem__(target, _plain_key(key))


def setitem_slow(target, key, value):
    if isinstance(target, memoryview):
        _set_in_view(target, key, value)
        return
    if isinstance(target, list):
        list.__setitem__(target, _plain_key(key), _each(value) if isinstance(key, slice) else value)
        return
    if isinstance(key, slice):
        target[key] = _each(value)
        return
    if isinstance(target, bytearray) and not isinstance(key, int) and _vm.own(key, "__index__") is not None:
        target[index(key)] = index(value) if _vm.own(value, "__index__") is not None else value
        return
    raise TypeError(f"'{_kind_name(target)}' object does not support item assignment")
