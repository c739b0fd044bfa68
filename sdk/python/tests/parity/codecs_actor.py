"""What the codec makes of values and bytes, in words: an actor for the published SDK 0.1.6, unchanged."""

from cowboy_sdk import actor, codec, public


class Reduced:
    def __init__(self, value):
        self.value = value

    def __cbor_reduce__(self):
        return self.value


class Whole(int):
    pass


class Words(str):
    pass


class Items(list):
    pass


class Table(dict):
    pass


def nested(depth, inner):
    for _ in range(depth):
        inner = [inner]
    return inner


def values():
    """Each with a name of its own, made anew."""
    yield "null", None
    yield "truth", [True, False]
    yield "integers", [0, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63, 2**64 - 1, -1, -24, -25, -(2**63), -(2**64)]
    yield "large integers", [2**64, -(2**64) - 1, 2**127, -(2**200), 2**4095, -(2**4095)]
    yield "floats", [0.0, -0.0, 1.5, -1e300, 5e-324]
    yield "not a number", float("nan")
    yield "infinite", [float("inf")]
    yield "bytes", [b"", b"x" * 24, bytearray(b"ab")]
    yield "text", ["", "ü", "x" * 300]
    yield "lists", [[], [[]], (), (1, (2,))]
    yield "maps", [{}, {"b": 1, "a": 2, "aa": 3, "": 4}, {1: 1, b"1": 2, "1": 3, None: 4, 2.5: 5, False: 6}]
    yield "large keys", {2**70: 1, -(2**70): 2, 0.5: 3}
    yield "subclasses", [Whole(7), Words("w"), Items([1]), Table(a=1), {Whole(3): 1, Words("k"): 2}]
    yield "reduced", [Reduced(5), Reduced([Reduced("x")]), {"k": Reduced({"a": Reduced(None)})}, {Reduced("key"): 1}]
    yield "reduced twice", Reduced(Reduced(1))
    yield "reduced three times", Reduced(Reduced(Reduced(1)))
    yield "reduced key that is a list", {Reduced([1]): 1}
    yield "reduced keys that are equal", {Reduced(1): 1, 1: 2}
    yield "reduced to a set", Reduced({1})
    yield "set", {1}
    yield "empty set", [set()]
    yield "frozenset", frozenset((1,))
    yield "frozenset as key", {frozenset(): 1}
    yield "ellipsis", ...
    yield "ellipsis inside", [1, ...]
    yield "not implemented", {"a": NotImplemented}
    yield "complex", 1j
    yield "range", range(3)
    yield "object", object()
    yield "class", int
    yield "function", values
    yield "view", memoryview(b"ab")
    yield "keys", {}.keys()
    yield "deep", nested(256, 1)
    yield "too deep", nested(257, 1)
    yield "deep map", {"a": nested(255, 1)}
    yield "too deep map", {"a": nested(256, 1)}
    yield "large integer, deep", nested(255, 2**64)
    yield "large integer, too deep", nested(256, 2**64)
    yield "reduced, deep", nested(40, Reduced(1))


CODED = (
    "", "00", "17", "1817", "1818", "18ff", "1900ff", "190100", "1a0000ffff", "1a00010000", "1b00000000ffffffff", "1b0000000100000000",
    "20", "3863", "3903e7", "3bffffffffffffffff", "c249010000000000000000", "c24900ffffffffffffffff", "c248ffffffffffffffff",
    "c349010000000000000000", "c243010000", "c101", "40", "43010203", "4301", "60", "6161", "62c3bc", "61ff", "80", "83010203", "8301",
    "9f01ff", "a0", "a16161f6", "a2616101616202", "a2616201616102", "a2616101616102", "a1f601", "a18001", "a201f5f5f4", "f4", "f5", "f6",
    "f7", "f90000", "fa00000000", "fb3ff8000000000000", "fb8000000000000000", "82fb8000000000000000fb0000000000000000",
    "fb7ff0000000000000", "fb7ff8000000000000", "fbfff0000000000000", "ff", "1c", "0000", "a2016161f56162", "81" * 256 + "00",
    "81" * 257 + "00", "81" * 300 + "00", "a10001", "a2613101623130", "5f4101ff", "c2c24101", "c240", "c26161", "d818450102030405",
    "a200f6f4f6", "a20100fb3ff000000000000000", "a2fb000000000000000001f400", "a23bffffffffffffffff00fbc3f000000000000000f6", "9bffffffffffffffff",
    "bbffffffffffffffff", "5bffffffffffffffff", "81" * 255 + "c249010000000000000000", "81" * 256 + "c249010000000000000000", "e0", "f818",
    "a1a0f6", "a1c24901000000000000000000", "c3590200" + "7f" + "ff" * 511,
)


def outcome(action):
    try:
        return action()
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"


@actor
class Codecs:
    @public(decode="raw")
    def encodes(self, payload):
        return [[name, outcome(lambda: codec.encode(value).hex())] for name, value in values()]

    @public(decode="raw")
    def decodes(self, payload):
        found = []
        for text in CODED:
            data = bytes.fromhex(text)
            found.append([text[:40], outcome(lambda: repr(codec.decode(data)) if len(data) < 50 else "long"), outcome(lambda: codec.encode(codec.decode(data)).hex())])
        return found

    @public(decode="raw")
    def others(self, payload):
        return [outcome(lambda: codec.decode(data)) for data in (None, "ab", 5, [1], bytearray(b"\x01"), memoryview(b"\x02"))]
