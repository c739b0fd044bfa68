"""Every method of every builtin type, called with receivers of other types: TypeError, whatever the arguments."""

METHODS = {
    type: (
        "__call__ __init__ __instancecheck__ __or__ __ror__ __subclasscheck__ mro"
    ),
    int: (
        "__abs__ __add__ __and__ __bool__ __ceil__ __divmod__ __eq__ __float__ __floor__ __floordiv__ __format__ __ge__ "
        "__gt__ __index__ __int__ __invert__ __le__ __lshift__ __lt__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ "
        "__pow__ __radd__ __rand__ __rdivmod__ __repr__ __rfloordiv__ __rlshift__ __rmod__ __rmul__ __ror__ __round__ "
        "__rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __sub__ __truediv__ __trunc__ __xor__ "
        "as_integer_ratio bit_count bit_length conjugate to_bytes"
    ),
    float: (
        "__abs__ __add__ __bool__ __ceil__ __divmod__ __eq__ __float__ __floor__ __floordiv__ __format__ __ge__ __gt__ "
        "__int__ __le__ __lt__ __mod__ __mul__ __ne__ __neg__ __pos__ __pow__ __radd__ __repr__ __rmul__ __round__ "
        "__rpow__ __rsub__ __rtruediv__ __sub__ __truediv__ __trunc__ as_integer_ratio conjugate hex is_integer"
    ),
    complex: (
        "__abs__ __add__ __bool__ __complex__ __eq__ __format__ __ge__ __gt__ __le__ __lt__ __mul__ __ne__ __neg__ "
        "__pos__ __pow__ __radd__ __repr__ __rmul__ __rpow__ __rsub__ __rtruediv__ __sub__ __truediv__ conjugate"
    ),
    str: (
        "__add__ __contains__ __eq__ __format__ __ge__ __getitem__ __gt__ __iter__ __le__ __len__ __lt__ __mod__ "
        "__mul__ __ne__ __repr__ __rmul__ __str__ capitalize casefold center count encode endswith expandtabs find "
        "format format_map index isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable "
        "isspace istitle isupper join ljust lower lstrip partition removeprefix removesuffix replace rfind rindex rjust "
        "rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill"
    ),
    bytes: (
        "__add__ __bytes__ __contains__ __eq__ __ge__ __getitem__ __gt__ __iter__ __le__ __len__ __lt__ __mod__ __mul__ "
        "__ne__ __repr__ __rmod__ __rmul__ __str__ capitalize center count decode endswith expandtabs find hex index "
        "isalnum isalpha isascii isdigit islower isspace istitle isupper join ljust lower lstrip partition removeprefix "
        "removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase "
        "title translate upper zfill"
    ),
    bytearray: (
        "__add__ __contains__ __delitem__ __getitem__ __iadd__ __imul__ __init__ __iter__ __len__ __mod__ __repr__ "
        "__rmod__ __rmul__ __setitem__ __str__ append capitalize center clear copy count decode endswith expandtabs "
        "extend find hex index insert isalnum isalpha isascii isdigit islower isspace istitle isupper join ljust lower "
        "lstrip partition pop remove removeprefix removesuffix replace reverse rfind rindex rjust rpartition rsplit "
        "rstrip split splitlines startswith strip swapcase title translate upper zfill"
    ),
    list: (
        "__add__ __contains__ __delitem__ __eq__ __ge__ __getitem__ __gt__ __iadd__ __init__ __iter__ __le__ __len__ "
        "__lt__ __mul__ __ne__ __repr__ __reversed__ __rmul__ __setitem__ append clear copy count extend index insert "
        "pop remove reverse sort"
    ),
    tuple: (
        "__add__ __contains__ __eq__ __ge__ __getitem__ __gt__ __iter__ __le__ __len__ __lt__ __mul__ __ne__ __repr__ "
        "__rmul__ count index"
    ),
    dict: (
        "__contains__ __delitem__ __eq__ __getitem__ __init__ __ior__ __iter__ __len__ __ne__ __or__ __repr__ "
        "__reversed__ __ror__ __setitem__ clear copy get items keys pop popitem setdefault update values"
    ),
    set: (
        "__and__ __contains__ __eq__ __ge__ __gt__ __iand__ __init__ __ior__ __isub__ __iter__ __ixor__ __le__ __len__ "
        "__lt__ __ne__ __or__ __rand__ __repr__ __ror__ __rsub__ __rxor__ __sub__ __xor__ add clear copy difference "
        "difference_update discard intersection intersection_update isdisjoint issubset issuperset pop remove "
        "symmetric_difference symmetric_difference_update union update"
    ),
    frozenset: (
        "__and__ __contains__ __eq__ __ge__ __gt__ __iter__ __le__ __len__ __lt__ __ne__ __or__ __rand__ __ror__ "
        "__rsub__ __rxor__ __sub__ __xor__ copy difference intersection isdisjoint issubset issuperset "
        "symmetric_difference union"
    ),
    range: (
        "__contains__ __getitem__ __iter__ __len__ __reversed__ count index"
    ),
    slice: (
        "indices"
    ),
    property: (
        "__delete__ __get__ __init__ __set__ deleter getter setter"
    ),
    staticmethod: (
        "__get__"
    ),
    classmethod: (
        "__get__"
    ),
    memoryview: (
        "__delitem__ __enter__ __eq__ __exit__ __getitem__ __iter__ __len__ __ne__ __setitem__ cast hex release tobytes "
        "tolist toreadonly"
    ),
    BaseException: (
        "__init__ __repr__ __str__ add_note with_traceback"
    ),
    OSError: (
        "__init__"
    ),
    ImportError: (
        "__init__"
    ),
    SyntaxError: (
        "__init__"
    ),
    UnicodeDecodeError: (
        "__init__"
    ),
}


class K:
    pass


def outcome(call):
    try:
        return type(call()).__name__
    except BaseException as error:
        return type(error).__name__


for kind, names in METHODS.items():
    for name in names.split():
        method = getattr(kind, name)
        receivers = [5, 2.5, "a", b"a", [], (), {}, {1}, frozenset((1,)), None, range(3), ValueError(1), int, K(), len, slice(1), bytearray(b"a")]
        found = {outcome(method)}
        for receiver in receivers:
            if not isinstance(receiver, kind):
                found |= {outcome(lambda: method(receiver)), outcome(lambda: method(receiver, 1)), outcome(lambda: method(receiver, 1, 2))}
        print(kind.__name__, name, sorted(found))


def words(call):
    try:
        return call()
    except TypeError as error:
        return str(error)


print(words(lambda: list.append(5, 1)), words(lambda: str.upper(5)), words(lambda: list.__len__(5)), words(lambda: set.add(frozenset(), 2)), sep="\n")
print(words(lambda: dict.__contains__(5, 1)), words(lambda: dict.__getitem__([], 1)), words(lambda: int.__add__(1.5, 2)), words(lambda: tuple.index([1], 1)), sep="\n")
print(words(lambda: list.append()), words(lambda: list.__len__()), words(lambda: dict.__contains__()), words(lambda: object.__init__()), sep="\n")
key = frozenset((1,))
table = {key: "kept"}
for change in (set.add, set.discard, set.remove, set.update):
    print(words(lambda: change(key, 2)), table[frozenset((1,))])
