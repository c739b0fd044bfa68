"""Values to and from packed bytes."""

import _struct
import math as _math


class error(Exception):
    """A format or value that cannot be packed or unpacked."""


# Per code: size in standard formats, size and alignment in native ones.
_INTEGERS = {
    "b": (1, 1), "B": (1, 1), "h": (2, 2), "H": (2, 2), "i": (4, 4), "I": (4, 4), "l": (4, 8), "L": (4, 8), "q": (8, 8), "Q": (8, 8),
    "n": (None, 8), "N": (None, 8), "P": (None, 8),
}
_NAMES = {"b": "byte", "B": "ubyte", "h": "short", "H": "ushort"}
# Per code: bytes, bits of the fraction, largest exponent.
_FLOATS = {"e": (2, 10, 15), "f": (4, 23, 127), "d": (8, 52, 1023)}
_SIGNED = "bhilqn"


def _readable(buffer):
    """Bytes that lie side by side."""
    if isinstance(buffer, (bytes, bytearray)):
        return buffer
    if not isinstance(buffer, memoryview):
        raise TypeError(f"a bytes-like object is required, not '{type(buffer).__name__}'")
    if not buffer.c_contiguous:
        raise BufferError("memoryview: underlying buffer is not C-contiguous")
    return buffer.tobytes()


def _target(arguments):
    """What `pack_into` writes to, where, and the values."""
    if len(arguments) < 2:
        raise error(f"pack_into expected {'offset' if arguments else 'buffer'} argument")
    return arguments[0], arguments[1], arguments[2:]


def _place(size, buffer, offset, lacking, function, doing):
    """Where `size` bytes of a buffer begin; the words for what does not fit."""
    if not isinstance(offset, int):
        offset = range(offset).stop
    place = offset
    if place < 0:
        if place + size > 0:
            raise error(f"{lacking} {size} bytes at offset {offset}")
        place += len(buffer)
        if place < 0:
            raise error(f"offset {offset} out of range for {len(buffer)}-byte buffer")
    if len(buffer) - place < size:
        raise error(
            f"{function} requires a buffer of at least {size + place} bytes for {doing} {size} bytes at offset {place} "
            f"(actual buffer size is {len(buffer)})"
        )
    return place


class Struct:
    """A format, taken apart once."""

    _name_in_messages = "_struct.Struct"
    __slots__ = ("_format", "_is_little", "_layout", "_size", "_plan", "_count")

    @property
    def format(self):
        """The format as it was given."""
        return self._format

    @property
    def size(self):
        """Bytes of what is packed."""
        return self._size

    def __init__(self, format):
        if isinstance(format, bytes):
            format = format.decode("latin-1")
        elif isinstance(format, str):
            format.encode("ascii")
        else:
            raise TypeError(f"Struct() argument 1 must be a str or bytes object, not {type(format).__name__}")
        self._format = format
        self._is_little, self._layout, self._size = _parse(format)
        plan = bytearray()
        for code, count, size, place in self._layout:
            plan += code.encode("ascii") + bytes([size]) + count.to_bytes(4, "little") + place.to_bytes(4, "little")
        self._plan = bytes(plan)
        self._count = sum([0 if code == "x" else 1 if code in "sp" else count for code, count, _, _ in self._layout])

    def pack(self, /, *values):
        packed = _struct.pack(self._plan, self._is_little, self._size, values)
        if packed is not NotImplemented:
            return packed
        if len(values) != self._count:
            raise error(f"pack expected {self._count} items for packing (got {len(values)})")
        out = bytearray(self._size)
        self._write(out, 0, values)
        return bytes(out)

    def pack_into(self, /, *arguments):
        buffer, offset, values = _target(arguments)
        if len(values) != self._count:
            raise error(f"pack_into expected {self._count} items for packing (got {len(values)})")
        if not isinstance(buffer, (bytearray, memoryview)) or isinstance(buffer, memoryview) and buffer.readonly:
            raise TypeError(f"argument must be read-write bytes-like object, not {'None' if buffer is None else type(buffer).__name__}")
        if isinstance(buffer, memoryview):
            buffer = buffer.cast("B")
        place = _place(self._size, buffer, offset, "no space to pack", "pack_into", "packing")
        self._write(buffer, place, values)

    def _write(self, out, start, values):
        order = "little" if self._is_little else "big"
        is_native = _is_native(self._format)
        index = 0
        for code, count, size, place in self._layout:
            place += start
            if code == "x":
                out[place : place + count] = bytes(count)
            elif code in "sp":
                out[place : place + count] = _packed_text(code, values[index], count)
                index += 1
            else:
                for _ in range(count):
                    out[place : place + size] = _packed(code, values[index], size, order, is_native)
                    place += size
                    index += 1

    def unpack(self, buffer, /):
        buffer = _readable(buffer)
        if len(buffer) != self._size:
            raise error(f"unpack requires a buffer of {self._size} bytes")
        return self._read(buffer, 0)

    def unpack_from(self, buffer, offset=0):
        buffer = _readable(buffer)
        return self._read(buffer, _place(self._size, buffer, offset, "not enough data to unpack", "unpack_from", "unpacking"))

    def iter_unpack(self, buffer, /):
        buffer = _readable(buffer)
        if self._size == 0:
            raise error("cannot iteratively unpack with a struct of length 0")
        if len(buffer) % self._size:
            raise error(f"iterative unpacking requires a buffer of a multiple of {self._size} bytes")
        rows = object.__new__(unpack_iterator)
        rows._plan, rows._buffer, rows._place = self, bytes(buffer), 0
        return rows

    def _read(self, buffer, start):
        values = _struct.unpack(self._plan, self._is_little, self._size, buffer, start)
        if values is not NotImplemented:
            return values
        order = "little" if self._is_little else "big"
        values = []
        for code, count, size, place in self._layout:
            place += start
            if code == "x":
                continue
            if code == "s":
                values.append(buffer[place : place + count])
            elif code == "p":
                length = min(buffer[place], count - 1) if count else 0
                values.append(buffer[place + 1 : place + 1 + length])
            else:
                for _ in range(count):
                    values.append(_unpacked(code, buffer[place : place + size], order))
                    place += size
        return tuple(values)

# More bytes than an actor's memory holds.
_MOST = 1 << 30


def _is_native(format):
    return format[:1] not in ("=", "<", ">", "!")


def _parse(format):
    """(little-endian, [(code, count, size of one, place)], size of all)."""
    mark = format[:1]
    is_native = _is_native(format)
    aligned = mark == "@" or is_native
    is_little = mark not in (">", "!")
    fields = []
    place = 0
    digits = ""
    if "\0" in format:
        raise error("embedded null character")
    for code in format[1:] if mark in ("@", "=", "<", ">", "!") and mark else format:
        if code.isspace() and not digits:
            continue
        if code.isdigit():
            digits += code
            continue
        size, alignment = _size_of(code, is_native)
        if aligned and size and place % alignment:
            place += alignment - place % alignment
        count = int(digits) if digits else 1
        digits = ""
        if count > _MOST or place > _MOST:
            raise error("total struct size too long")
        fields.append((code, count, size, place))
        place += count * size
    if digits:
        raise error("repeat count given without format specifier")
    return is_little, fields, place


def _size_of(code, is_native):
    if code in ("x", "c", "s", "p", "?"):
        return 1, 1
    if code in _FLOATS:
        size = _FLOATS[code][0]
        return size, size
    if code in _INTEGERS:
        standard, native = _INTEGERS[code]
        if is_native:
            return native, native
        if standard is not None:
            return standard, standard
    raise error("bad char in struct format")


def _packed_text(code, value, count):
    if not isinstance(value, (bytes, bytearray)):
        raise error(f"argument for '{code}' must be a bytes object")
    value = bytes(value)
    if code == "p":
        if count == 0:
            return b""
        value = value[: min(count - 1, 255)]
        value = bytes([len(value)]) + value
    return value[:count] + bytes(max(0, count - len(value)))


def _packed(code, value, size, order, is_native):
    if code == "c":
        if not isinstance(value, (bytes, bytearray)) or len(value) != 1:
            raise error("char format requires a bytes object of length 1")
        return bytes(value)
    if code == "?":
        return b"\x01" if value else b"\x00"
    if code in _FLOATS:
        try:
            number = float(value) if hasattr(value, "__float__") else float(range(value).stop)
        except (TypeError, OverflowError):
            raise error("required argument is not a float") from None
        try:
            return _float_bits(number, code, is_native).to_bytes(size, order)
        except OverflowError:
            if not isinstance(value, int):
                raise
            raise error("int too large to convert") from None
    if not isinstance(value, int):
        if not hasattr(value, "__index__"):
            raise error("required argument is not an integer")
        value = range(value).stop
    if code == "P" and -(1 << 63) <= value < 0:
        value += 1 << 64
    signed = code in _SIGNED
    low, high = (-(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1) if signed else (0, (1 << (8 * size)) - 1)
    if not low <= value <= high:
        raise error(_range_message(code, size, order, value))
    return int(value).to_bytes(size, order, signed=signed)


def _range_message(code, size, order, value):
    """What the reference says, which depends on the C function behind the code."""
    by_long = code in "bB" or (code in "hH" and order == "little")
    low, high = (0, 1 << 64) if not by_long and code not in _SIGNED else (-(1 << 63), 1 << 63)
    if size == 8 and order == "big" or code == "P":
        return "int too large to convert"
    if size == 8 or not low <= value < high:
        return "argument out of range"
    signed = code in _SIGNED
    least, most = (-(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1) if signed else (0, (1 << (8 * size)) - 1)
    name = _NAMES[code] if by_long else f"'{code}'"
    return f"{name} format requires {least} <= number <= {most}"


def _unpacked(code, raw, order):
    if code == "c":
        return raw
    if code == "?":
        return raw != b"\x00"
    if code in _FLOATS:
        return _float_value(int.from_bytes(raw, order), code)
    return int.from_bytes(raw, order, signed=code in _SIGNED)


# Binary floating point, by integers


def _float_bits(value, code, is_native):
    """The bits of `value` in the code's format, rounded half to even. A native float is converted as in C, where too large a one is infinite."""
    size, fraction_bits, bias = _FLOATS[code]
    sign = 1 if _math.copysign(1.0, value) < 0 else 0
    top = sign << (8 * size - 1)
    infinity = (2 * bias + 1) << fraction_bits
    if value != value:
        return top | infinity | 1 << (fraction_bits - 1)
    if value in (_math.inf, -_math.inf):
        return top | infinity
    if value == 0:
        return top
    mantissa, exponent = _math.frexp(abs(value))
    # value = number * 2**power exactly, number of 53 bits.
    number = int(mantissa * 9007199254740992.0)
    power = exponent - 53
    # The unit in the last place of the target.
    unit = max(exponent - 1, 1 - bias) - fraction_bits
    shift = unit - power
    if shift <= 0:
        number <<= -shift
    else:
        half = 1 << (shift - 1)
        rest = number & ((1 << shift) - 1)
        number >>= shift
        if rest > half or (rest == half and number & 1):
            number += 1
    exponent_field = unit + fraction_bits + bias
    if number >> fraction_bits == 0:
        bits = number
    else:
        # A carry out of the fraction moves into the exponent by itself.
        bits = ((exponent_field - 1) << fraction_bits) + number
    if bits >= infinity:
        if is_native and code == "f":
            return top | infinity
        raise OverflowError(f"float too large to pack with {code} format")
    return top | bits


def _float_value(bits, code):
    size, fraction_bits, bias = _FLOATS[code]
    sign = -1.0 if bits >> (8 * size - 1) else 1.0
    exponent = bits >> fraction_bits & (2 * bias + 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    if exponent == 2 * bias + 1:
        return sign * _math.inf if fraction == 0 else _math.nan
    if exponent == 0:
        return sign * _math.ldexp(float(fraction), 1 - bias - fraction_bits)
    return sign * _math.ldexp(float(fraction | 1 << fraction_bits), exponent - bias - fraction_bits)


# Functions


_cache = {}


def _known(format):
    """The format taken apart, kept for the next time."""
    known = _cache.get(format)
    if known is None:
        known = Struct(format)
        if len(_cache) >= 100:
            _cache.clear()
        _cache[format] = known
    return known


def calcsize(format, /):
    """Bytes that the format takes."""
    return _known(format)._size


def pack(format, /, *values):
    """The values as bytes in the format."""
    return _known(format).pack(*values)


def pack_into(format, /, *arguments):
    """Writes the values into a bytearray from an offset on."""
    _known(format).pack_into(*arguments)


def unpack(format, buffer, /):
    """The values in the bytes, as a tuple."""
    return _known(format).unpack(buffer)


def unpack_from(format, /, buffer, offset=0):
    """The values in the bytes from a place on."""
    return _known(format).unpack_from(buffer, offset)


class unpack_iterator:
    """The values in the bytes, row by row; made by `iter_unpack` alone."""

    __slots__ = ("_plan", "_buffer", "_place")

    def __new__(cls, *args):
        raise TypeError("cannot create '_struct.unpack_iterator' instances")

    def __iter__(self):
        return self

    def __length_hint__(self):
        return (len(self._buffer) - self._place) // self._plan._size

    def __next__(self):
        if self._place >= len(self._buffer):
            raise StopIteration
        place = self._place
        self._place += self._plan._size
        return self._plan._read(self._buffer, place)


def iter_unpack(format, buffer, /):
    """The values in the bytes, row by row."""
    return _known(format).iter_unpack(buffer)
