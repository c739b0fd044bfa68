"""Patterns of `match`, ranges beyond 64 bits, and what modules written in Rust leave to Python."""


def match_keys(subject, keys):
    values = []
    missing = [None]
    seen = []
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.append(key)
        value = subject.get(key, missing)
        if value is missing:
            return None
        values.append(value)
    return tuple(values)


def match_rest(subject, keys):
    return {key: value for key, value in subject.items() if key not in keys}


def match_class(subject, cls, count, names):
    if not isinstance(subject, cls):
        return None
    values = []
    if count:
        match_args = getattr(cls, "__match_args__", None)
        if match_args is None:
            for base in (int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset):
                if issubclass(cls, base):
                    if count > 1:
                        raise TypeError(f"{cls.__name__}() accepts 1 positional sub-pattern ({count} given)")
                    values.append(subject)
                    break
            else:
                raise TypeError(f"{cls.__name__}() accepts 0 positional sub-patterns ({count} given)")
        else:
            if type(match_args) is not tuple:
                raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(match_args).__name__})")
            if len(match_args) < count:
                plural = "" if len(match_args) == 1 else "s"
                raise TypeError(f"{cls.__name__}() accepts {len(match_args)} positional sub-pattern{plural} ({count} given)")
            names = match_args[:count] + names
    for place, name in enumerate(names):
        if type(name) is not str:
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
        if name in names[:place]:
            raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
        try:
            values.append(getattr(subject, name))
        except AttributeError:
            return None
    return tuple(values)


def range_slow(start, stop, step):
    def whole(value):
        return value if value is None or isinstance(value, int) else index(value)

    start, stop, step = whole(start), whole(stop), whole(step)
    if stop is None:
        start, stop = 0, start
    if step is None:
        step = 1
    for number in (start, stop, step):
        if not -_SMALLEST <= number < _SMALLEST:
            if step == 0:
                raise ValueError("range() arg 3 must not be zero")
            from ranges import LongRange

            return LongRange(start, stop, step)
    # The length has to fit, too.
    if step and (stop > start) == (step > 0) and abs(stop - start) > (_SMALLEST - 1) * abs(step):
        from ranges import LongRange

        return LongRange(start, stop, step)
    return range(start, stop, step)


_SMALLEST = 1 << 63


def range_slice(self, start, stop, step):
    """A slice of a range where a number does not fit in 64 bits."""
    from ranges import LongRange

    return LongRange(self.start, self.stop, self.step)[start:stop:step]


def _refuse_cbor(words):
    import pvm_host

    error = pvm_host.HostError(words)
    error.code, error.name, error.message = 2, "invalid_input", words
    raise error


def _reduced(value, reductions=0):
    """The value with every object that says itself how it is encoded replaced by what it says."""
    reduce = None if isinstance(value, type) else getattr(value, "__cbor_reduce__", None)
    if callable(reduce):
        if reductions >= 2:
            _refuse_cbor("__cbor_reduce__ chain exceeds bound")
        return _reduced(reduce(), reductions + 1)
    if isinstance(value, dict):
        plain = {}
        for key, item in dict.items(value):
            reduced = _reduced(key)
            if isinstance(reduced, (list, dict, bytearray)):
                _refuse_cbor(f"CBOR map key of type {type(key).__name__!r} is unhashable once frozen to {type(reduced).__name__!r}")
            if reduced in plain:
                _refuse_cbor("Duplicate CBOR map key after freezing a key subclass")
            plain[reduced] = _reduced(item)
        return plain
    if isinstance(value, (list, tuple)):
        return [_reduced(item) for item in value]
    return value


def cbor_encode(value):
    import pvm_host

    return pvm_host.cbor_encode(_reduced(value))


def number_new(cls, value):
    """An instance of a class below int or float, of what a special method of the value gives."""
    kind = int if issubclass(cls, int) else float
    return kind.__new__(cls, kind(value))


def math_trunc(x):
    method = _bound(x, "__trunc__")
    if method is not None:
        return method()
    if not isinstance(x, (int, float)):
        raise TypeError(f"type {_kind_name(x)} doesn't define __trunc__ method")
    return _plain_number(x).__trunc__()


def math_floor(x):
    method = _bound(x, "__floor__")
    return method() if method is not None else _plain_number(x).__floor__()


def math_ceil(x):
    method = _bound(x, "__ceil__")
    return method() if method is not None else _plain_number(x).__ceil__()


def _plain_number(x):
    """The number that an instance of a class below int or float is, or what `float()` makes of anything else."""
    return int.__pos__(x) if isinstance(x, int) else float.__pos__(x) if isinstance(x, float) else _real_number(x)


def math_fsum(values):
    import math

    return math.fsum([_real(each) for each in values])


def math_dist(p, q):
    import math

    return math.dist([_real(each) for each in p], [_real(each) for each in q])


def handler_entry(method, payload):
    import cowboy_sdk

    return cowboy_sdk._dispatch(method, payload)


def generator_abandoned(generator):
    # What a generator raises while it is closed behind everybody's back reaches nobody.
    try:
        generator.close()
    except BaseException:
        pass


def drained(helper, target, taken, item, rest):
    """Continues with what a builtin function has taken from a generator so far, at an item whose hash needs Python code."""
    return helper(target, _rest(taken, item, rest))


def _rest(taken, item, rest):
    yield from taken
    yield item
    yield from rest
