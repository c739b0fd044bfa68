"""`__new__` of the builtin types, asked for instances of what is no class of theirs."""

TYPES = [bool, bytearray, bytes, complex, dict, float, frozenset, int, list, property, set, str, tuple, zip, object]
OTHERS = [(enumerate, []), (filter, None, []), (memoryview, b""), (range, 1), (reversed, []), (slice, 1), (classmethod, len), (type, "a", (), {})]


def attempt(function, *arguments):
    try:
        print(type(function(*arguments)).__name__)
    except TypeError as error:
        print(error)


class Text(str):
    pass


for kind in TYPES:
    attempt(kind.__new__, 5)
    attempt(kind.__new__, [])
    if kind is not object:
        attempt(kind.__new__, object)
        attempt(kind.__new__, type)
for kind, *arguments in OTHERS:
    attempt(kind.__new__, 5, *arguments)
    attempt(kind.__new__, "x", *arguments)
for kind in (list, dict, set, str, float):
    attempt(kind.__new__, kind)
attempt(str.__new__, b"x", "ab")
attempt(int.__new__, "x", 3)
attempt(list.__new__, Text)
attempt(int.__new__, bool)
attempt(str.__new__, Text, "ab")
attempt(Exception.__new__, ValueError, "x")
