# Uses of `struct`, compared with CPython's own module.
import math
import struct


def attempt(action):
    try:
        print(action())
    except Exception as problem:
        print(type(problem).__name__, problem)


for form, values in [
    ("<bBhHiIlLqQ", (-1, 255, -2, 65535, -3, 4294967295, -4, 5, -6, 2**64 - 1)), (">bBhHiIlLqQ", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)), ("!I", (1,)),
    ("=hq", (1, 2)), ("@bhiq", (1, 2, 3, 4)), ("bq", (1, 2)), ("qb", (1, 2)), ("b0q", (1,)), ("lL", (-1, 1)), ("nN", (-5, 5)), ("<3s", (b"ab",)), ("<3s", (b"abcd",)), ("4p", (b"abc",)), ("4p", (b"abcdef",)),
    ("<2c?x?", (b"a", b"b", True, 0)), ("<d", (1.5,)), (">d", (-0.0,)), ("<f", (0.1,)), ("<e", (0.1,)), ("<3h", (1, 2, 3)), ("< h 2b", (1, 2, 3)), ("0s", (b"x",)), ("", ()), ("<x", ()), ("P", (7,)), ("<d", (10,)), ("<f", (True,)),
]:
    packed = struct.pack(form, *values)
    print(form, packed.hex(), struct.calcsize(form), struct.unpack(form, packed))
for value in [0.0, 1.0, -1.0, 1e300, 5e-324, 2.2250738585072014e-308, math.inf, -math.inf, 1 / 3, 65504.0, 65519.0, 6e-8, 5.96e-8, 2.98e-8, 3e-8, 1e-45, 1.4e-45, 7e-46, 3.4028235e38, 1.1754943e-38, 16777217.0, 0.5000000298023224, 123456.789]:
    for code in "efd":
        attempt(lambda: (value, code, struct.pack(">" + code, value).hex(), struct.unpack(">" + code, struct.pack(">" + code, value))))
print(struct.pack(">d", math.nan).hex(), struct.unpack(">f", b"\x7f\xc0\x00\x00"), struct.unpack(">e", b"\x00\x01"), struct.unpack(">e", b"\xfc\x00"))
for action in [
    lambda: struct.pack("<B", 256), lambda: struct.pack("<b", -129), lambda: struct.pack("<h", 40000), lambda: struct.pack("<H", -1), lambda: struct.pack("<I", -1), lambda: struct.pack("<i", 2**31), lambda: struct.pack("<B", "x"),
    lambda: struct.pack("<B", 1.5), lambda: struct.pack("<d", "x"), lambda: struct.pack("<c", b"ab"), lambda: struct.pack("<c", 1), lambda: struct.pack("<s", "x"), lambda: struct.pack("<B"), lambda: struct.pack("<B", 1, 2),
    lambda: struct.unpack("<I", b"abc"), lambda: struct.pack("<z", 1), lambda: struct.pack("<3", 1), lambda: struct.pack("<n", 1), lambda: struct.pack("<f", 1e39), lambda: struct.pack("<e", 1e6),
    lambda: struct.unpack_from("<H", b"abc", 2), lambda: struct.unpack_from("<H", b"abc", -5), lambda: list(struct.iter_unpack("<H", b"abc")), lambda: list(struct.iter_unpack("<", b"")), lambda: struct.pack_into("<I", bytearray(3), 0, 1),
    lambda: struct.unpack_from("<H", b"abcd", 1), lambda: struct.unpack_from("<H", b"abcd", -2), lambda: list(struct.iter_unpack("<Hb", b"abcdef")), lambda: struct.calcsize("<3h2x4s"), lambda: struct.Struct("<hh").unpack(b"\x01\x00\x02\x00"),
    lambda: struct.Struct("<hh").size, lambda: struct.Struct("<hh").format,
]:
    attempt(action)
buffer = bytearray(6)
struct.pack_into("<H", buffer, 2, 513)
print(buffer)
