"""Canonical CBOR in Python: what `codec` computes where the host has no codec of its own. The profile is described there.

It lies below the host, so that the simulated one uses it too. (It imports `struct` where it needs it, so that loading the SDK loads nothing
else.)
"""

# Both bounds hold in both directions, so that what is written can be read.
from ._bounds import CBOR_DEPTH as MAX_DEPTH
from ._bounds import INTEGER_BITS as _MAX_INTEGER_BITS
from .errors import CodecError

_MAX_REDUCTIONS = 2
_U64_MAX = (1 << 64) - 1
_SMALLEST_WITH_WIDTH = (24, 1 << 8, 1 << 16, 1 << 32)


def encode(value):
    """The canonical bytes of `value`. CodecError when it has none."""
    return _encode(plain(value), 0)


def decode(data):
    """The value that `data` encodes. CodecError unless the bytes are canonical and used up."""
    if not isinstance(data, (bytes, bytearray)) and not (isinstance(data, memoryview) and data.c_contiguous):
        raise CodecError(f"CBOR data must be a bytes-like object, got '{type(data).__name__}'")
    data = bytes(data)
    if not data:
        raise CodecError("Empty CBOR data")
    value, end = _decode(data, 0, 0)
    if end != len(data):
        raise CodecError(f"CBOR: trailing bytes at offset {end} (total {len(data)} bytes)")
    return value


# Encoding


def plain(value, reductions=0):
    """`value` with every reducible object replaced, so that encoding runs no foreign code."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, bytearray)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item, 0) for item in value]
    if isinstance(value, dict):
        pairs = {}
        for key, item in value.items():
            reduced = plain(key, 0)
            if isinstance(reduced, (list, dict, bytearray)):
                raise CodecError(
                    f"CBOR map key of type {type(key).__name__!r} is unhashable once frozen to {type(reduced).__name__!r}"
                )
            if reduced in pairs:
                raise CodecError("Duplicate CBOR map key after freezing a key subclass")
            pairs[reduced] = plain(item, 0)
        return pairs
    reduce = getattr(value, "__cbor_reduce__", None)
    if reduce is None:
        raise CodecError(f"Cannot CBOR-encode type {type(value).__name__}")
    if reductions >= _MAX_REDUCTIONS:
        raise CodecError("__cbor_reduce__ chain exceeds bound")
    return plain(reduce(), reductions + 1)


def _head(major, number):
    kind = major << 5
    if number < 24:
        return bytes([kind | number])
    if number < 1 << 8:
        return bytes([kind | 24, number])
    if number < 1 << 16:
        return bytes([kind | 25]) + number.to_bytes(2, "big")
    if number < 1 << 32:
        return bytes([kind | 26]) + number.to_bytes(4, "big")
    return bytes([kind | 27]) + number.to_bytes(8, "big")


def _encode(value, depth):
    if value is None:
        return b"\xf6"
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        value = int(value)
        return _encode_int(0, value, depth) if value >= 0 else _encode_int(1, -1 - value, depth)
    if isinstance(value, float):
        import struct

        return b"\xfb" + struct.pack(">d", _finite(value))
    if isinstance(value, (bytes, bytearray)):
        return _head(2, len(value)) + bytes(value)
    if isinstance(value, str):
        try:
            text = value.encode("utf-8")
        except UnicodeEncodeError as problem:
            raise CodecError(f"CBOR: text is not valid UTF-8: {problem}") from problem
        return _head(3, len(text)) + text
    if depth >= MAX_DEPTH:
        raise CodecError(f"CBOR: nesting exceeds {MAX_DEPTH} levels")
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join([_encode(item, depth + 1) for item in value])
    pairs = [(_encode(key, depth + 1), _encode(item, depth + 1)) for key, item in value.items()]
    pairs.sort(key=_key_order)
    return _head(5, len(pairs)) + b"".join([key + item for key, item in pairs])


def _key_order(pair):
    return (len(pair[0]), pair[0])


def _encode_int(major, magnitude, depth):
    if magnitude <= _U64_MAX:
        return _head(major, magnitude)
    # A bignum is a tag around a byte string: the tag counts as a level, here as in decoding.
    if depth >= MAX_DEPTH:
        raise CodecError(f"CBOR: nesting exceeds {MAX_DEPTH} levels")
    if magnitude.bit_length() > _MAX_INTEGER_BITS:
        raise CodecError(f"CBOR: integer has more than {_MAX_INTEGER_BITS} bits")
    length = (magnitude.bit_length() + 7) // 8
    return _head(6, 2 + major) + _head(2, length) + magnitude.to_bytes(length, "big")


def _finite(value):
    value = float(value)
    if not float("-inf") < value < float("inf"):
        raise CodecError("CBOR: non-finite float")
    return 0.0 if value == 0.0 else value


# Decoding


def _decode(data, offset, depth):
    """The item at `offset` and the offset behind it."""
    if offset >= len(data):
        raise CodecError("CBOR: unexpected end of input")
    major = data[offset] >> 5
    info = data[offset] & 31
    if major == 7:
        return _decode_simple(data, info, offset + 1)
    number, offset = _decode_head(data, info, offset + 1)
    if major == 0:
        return number, offset
    if major == 1:
        return -1 - number, offset
    if major in (2, 3):
        end = offset + number
        if end > len(data):
            raise CodecError("CBOR: unexpected end of input")
        if major == 2:
            return data[offset:end], end
        return _text(data[offset:end]), end
    if major == 6 and number not in (2, 3):
        raise CodecError(f"CBOR: unsupported tag {number}")
    if depth >= MAX_DEPTH:
        raise CodecError(f"CBOR: nesting exceeds {MAX_DEPTH} levels")
    if major == 4:
        items = []
        for _ in range(number):
            item, offset = _decode(data, offset, depth + 1)
            items.append(item)
        return items, offset
    if major == 5:
        return _decode_map(data, number, offset, depth)
    magnitude, offset = _decode(data, offset, depth + 1)
    if not isinstance(magnitude, bytes) or len(magnitude) <= 8 or magnitude[0] == 0:
        raise CodecError("CBOR: non-minimal or invalid bignum")
    value = int.from_bytes(magnitude, "big")
    value = value if number == 2 else -1 - value
    if value.bit_length() > _MAX_INTEGER_BITS:
        raise CodecError(f"CBOR: integer has more than {_MAX_INTEGER_BITS} bits")
    return value, offset


def _decode_simple(data, info, offset):
    if info == 20:
        return False, offset
    if info == 21:
        return True, offset
    if info == 22:
        return None, offset
    if info in (25, 26):
        raise CodecError("CBOR: floats must use binary64")
    if info != 27:
        raise CodecError(f"CBOR: unsupported simple/float info={info}")
    if offset + 8 > len(data):
        raise CodecError("CBOR: unexpected end of input")
    import struct

    return _finite(struct.unpack(">d", data[offset : offset + 8])[0]), offset + 8


def _decode_head(data, info, offset):
    if info < 24:
        return info, offset
    if info == 31:
        raise CodecError("CBOR: indefinite-length items not supported (Canonical CBOR only)")
    if info > 27:
        raise CodecError(f"CBOR: unsupported additional info={info}")
    end = offset + (1 << (info - 24))
    if end > len(data):
        raise CodecError("CBOR: unexpected end of input")
    number = int.from_bytes(data[offset:end], "big")
    if number < _SMALLEST_WITH_WIDTH[info - 24]:
        raise CodecError("CBOR: non-minimal integer or length head")
    return number, end


def _decode_map(data, count, offset, depth):
    result = {}
    previous = None
    for _ in range(count):
        start = offset
        key, offset = _decode(data, offset, depth + 1)
        order = (offset - start, data[start:offset])
        if previous is not None and order <= previous:
            raise CodecError("CBOR: duplicate or misordered map key")
        previous = order
        if isinstance(key, (list, dict)):
            raise CodecError("CBOR: unhashable map key")
        # 1, 1.0 and True are distinct keys on the wire and one key in Python.
        if key in result:
            raise CodecError("CBOR: duplicate decoded map key")
        result[key], offset = _decode(data, offset, depth + 1)
    return result, offset


def _text(raw):
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        fault = "CBOR: text string is not valid UTF-8"
    raise CodecError(fault)
