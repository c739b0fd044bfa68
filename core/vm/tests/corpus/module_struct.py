"""struct: packing and unpacking in every format."""
import struct


def attempt(function, *arguments):
    try:
        print(repr(function(*arguments)))
    except Exception as error:
        print(type(error).__name__, error)


for format, values in [("<b", (-5,)), ("<B", (255,)), ("<h", (-300,)), (">H", (65535,)), ("<i", (-70000,)), (">I", (2**32 - 1,)), ("<l", (5,)), (">L", (5,)), ("<q", (-2**40,)), (">Q", (2**64 - 1,)), ("<?", (True,)), ("c", (b"x",)), ("5s", (b"ab",)), ("3s", (b"abcdef",)), ("5p", (b"abc",)),
                       ("<f", (1.5,)), (">d", (3.141592653589793,)), ("<e", (0.5,)), ("<2h3B", (1, -2, 3, 4, 5)), (">hxxh", (1, 2)), ("!IHB", (1, 2, 3)), ("<bhiq", (1, 2, 3, 4)), ("=bhi", (1, 2, 3)), ("<0s", (b"",)), ("", ()), ("<d", (float("inf"),)), ("<f", (0.1,)), ("< i h ", (7, 8))]:
    packed = struct.pack(format, *values)
    print(format, packed.hex(), len(packed) == struct.calcsize(format), struct.unpack(format, packed))
attempt(struct.pack, "<B", 256)
attempt(struct.pack, "<b", -129)
attempt(struct.pack, "<H", -1)
attempt(struct.pack, "<i", 2**31)
attempt(struct.pack, "<i", "x")
attempt(struct.pack, "<i", 1.5)
attempt(struct.pack, "<ii", 1)
attempt(struct.pack, "<i", 1, 2)
attempt(struct.pack, "<z", 1)
attempt(struct.pack, "c", b"xy")
attempt(struct.pack, "s", "text")
attempt(struct.unpack, "<i", b"abc")
attempt(struct.unpack, "<2i", b"\0" * 9)
attempt(struct.calcsize, "9")
attempt(struct.pack, "<f", 1e300)
record = struct.Struct("<HB4s")
print(record.size, record.format, record.pack(1, 2, b"wxyz"), record.unpack(b"\x01\x00\x02wxyz"), list(record.iter_unpack(record.pack(1, 2, b"a") + record.pack(3, 4, b"b"))))
buffer = bytearray(10)
struct.pack_into("<HI", buffer, 2, 513, 7)
print(buffer, struct.unpack_from("<H", buffer, 2), struct.unpack_from(">I", b"\0\0\0\0\x05", offset=1), [struct.calcsize(f) for f in ("<bhilqfd", "=bh", "!q", "10s", "<3x")], list(struct.iter_unpack("<H", b"\1\0\2\0")))
attempt(struct.unpack_from, "<I", b"ab")
attempt(struct.pack_into, "<Q", buffer, 8, 1)
