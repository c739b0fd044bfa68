"""Views in other formats and shapes, and views where bytes are taken."""
import hashlib
import re
import struct
from collections.abc import Hashable, Sequence, Sized


def tried(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def put(target, key, value):
    target[key] = value


raw = bytes(range(0xF0, 0x100)) + struct.pack("<dd", 1.5, -0.0)
for code in "cbB?hHiIlLqQnNfdP":
    for mark in ["", "@"]:
        view = memoryview(raw).cast(mark + code)
        print(mark + code, view.format, view.itemsize, view.shape, view.strides, view.nbytes, repr(view.tolist()), view == memoryview(raw), view[::2].tobytes() == raw)
for code in ["", "@", "BB", "<B", "z", "e", "s", "@@B", 5, None, b"B"]:
    print(code, tried(memoryview(raw).cast, code))
print(tried(memoryview(b"abc").cast, "H"), tried(memoryview(raw)[::2].cast, "b"), tried(memoryview(raw).cast("H").cast, "I"), memoryview(raw).cast("H").cast("B") == raw)
print(tried(memoryview(raw).cast("@H").cast, "h"), memoryview(b"").cast("q").tolist(), memoryview(raw).cast("B", [32]).shape, tried(memoryview(raw).cast))

# Writing in every format.
for code, values in [
    ("c", [b"x", b"", b"ab", 1, bytearray(b"x"), "x"]), ("b", [-128, 127, 128, -129, 1.0]), ("B", [255, 256, True]), ("?", [True, 0, 2, "", "a", None, []]),
    ("h", [-32768, 32768]), ("H", [65535, 65536, -1]), ("i", [-(2**31), 2**31]), ("I", [2**32 - 1, 2**32, "1"]), ("l", [-(2**63), 2**63]), ("L", [2**64 - 1, 2**64]),
    ("q", [2**63 - 1, 2**63]), ("Q", [2**64 - 1, -1, 10**50]), ("n", [-5]), ("N", [5, -5]), ("f", [1.5, 1, 0.1, 1e300, -1e300, True, "1.5", None]), ("d", [0.1, 2**70, "x"]),
]:
    for value in values:
        target = bytearray(8)
        view = memoryview(target).cast(code)
        print(code, value, tried(put, view, 0, value), target.hex(), view[0])


class Number:
    def __index__(self):
        return 7

    def __float__(self):
        return 2.5

    def __bool__(self):
        return True


class Bad:
    def __index__(self):
        raise LookupError("no index")


for code in "Bq?fd":
    view = memoryview(bytearray(8)).cast(code)
    view[Number() if code == "B" else 0] = Number()
    print(code, view.tolist(), tried(put, view, 0, Bad()))

# More dimensions.
grid = memoryview(bytearray(range(24))).cast("B", [2, 3, 4])
print(grid.ndim, grid.shape, grid.strides, grid.nbytes, len(grid), grid.tolist(), grid[1, 2, 3], grid[-1, 0, 1], grid.contiguous, grid.c_contiguous, grid.f_contiguous)
print(tried(lambda: grid[0]), tried(lambda: grid[0, 0]), tried(lambda: grid[0, 0, 0, 0]), tried(lambda: grid[2, 0, 0]), tried(lambda: grid[0, 3, 0]), tried(lambda: grid[0, 0, -5]))
print(grid[1:].tolist(), grid[::-1].tobytes() == bytes(range(12, 24)) + bytes(range(12)), grid[::-1].shape, grid[::-1].contiguous, tried(list, grid), tried(iter, grid))
grid[0, 1, 2] = 99
print(grid.tobytes()[:8], tried(put, grid, 0, 1), tried(put, grid, slice(0, 1), b"a"), tried(put, grid, (slice(0, 1), slice(0, 1)), b"a"), tried(lambda: grid[0:1, 0:1]))
print(grid.tobytes("F").hex(), grid.tobytes("A") == grid.tobytes(), grid.cast("B").shape, tried(grid.cast, "B", [3, 8]), grid == grid.cast("B"), grid == grid.cast("B").cast("B", (2, 3, 4)))
words = memoryview(bytes(range(16))).cast("H", shape=[2, 4])
print(words.tolist(), words[1, 1], words.hex(), hash(memoryview(bytes(6)).cast("B", [2, 3])) == hash(bytes(6)), tried(hash, words))
point = memoryview(bytearray(b"\5\0\0\0")).cast("i", [])
print(point.ndim, point.shape, point.strides, point[()], point[...] is point, point.tolist(), point.tobytes(), len(point), point.nbytes, point.contiguous)
point[()] = 9
point[...] = 10
print(point.tolist(), tried(lambda: point[0]), tried(lambda: point[0:1]), tried(put, point, 0, 1), tried(list, point), point == memoryview(b"\n\0\0\0").cast("i", ()))
for shape in [[0], [-1], [1.5], ["a"], [3], [2, 2], 5, None, [2**40, 2**40], [10**30], [1] * 65, [1] * 64, (8,), [True] * 3]:
    print(str(shape)[:20], tried(lambda: memoryview(bytes(8)).cast("B", shape).shape))
print(tried(lambda: memoryview(b"").cast("B", [1])), tried(lambda: memoryview(b"a").cast("B", [1, 1]).cast("B", [1, 1])))

# Where bytes are taken.
part = memoryview(b"..payload..")[2:-2]
print(bytes(part), bytearray(part), b"+".join([part, b"x", part]), part.tobytes() + b"!", b"!" + part, tried(lambda: part + b"!"), tried(lambda: part * 2))
target = bytearray(b"start ")
target += part
target.extend(part)
target[0:1] = part
print(target, b"pay" in part.tobytes(), part in b"a payload", b"a payload".find(part), b"payload x".startswith(part), b"payload".replace(part, b"new"), b"xpayloady".split(part))
print(int.from_bytes(part[:2], "big"), int(memoryview(b" 42 ")), float(memoryview(b"1.5")), tried(int, memoryview(b"ff"), 16), str(part, "ascii"), b"%b|%s" % (part, part))
print(struct.unpack("<H", part[:2]), struct.unpack_from("<B", part, 1), list(struct.iter_unpack("<2s", memoryview(b"abcd"))), tried(struct.unpack, "2s", memoryview(b"axbx")[::2]))
space = bytearray(8)
struct.pack_into("<IH", memoryview(space)[1:], 1, 1, 2)
print(space, hashlib.sha256(part).hexdigest() == hashlib.sha256(b"payload").hexdigest())
print(isinstance(part, Sequence), isinstance(part, Hashable), isinstance(part, Sized), b"a-b".translate(memoryview(bytes(range(256)))), b"aXb".strip(memoryview(b"ab")))
print(re.sub(rb"a", b"o", part.tobytes()), memoryview(b"abc").tolist() == list(b"abc"), bytes(memoryview(bytearray(b"q"))), bytearray(memoryview(b"ab").cast("H")))
apart = memoryview(b"a-b-c-")[::2]
scattered = bytearray(b"_")
scattered[0:1] = apart
print(bytes(apart), bytearray(apart), scattered, tried(scattered.extend, apart), tried(scattered.__iadd__, apart), tried(b"".join, [apart]), tried(lambda: apart in b"abc"), tried(b"x".find, apart))
print(tried(hashlib.sha256, apart), tried(int.from_bytes, apart, "big"), tried(lambda: b"" + apart), tried(b"abc".split, apart), tried(b"abc".startswith, apart))
found = re.search(rb"(l)(o)", memoryview(b"..payload.."))
print(found.group(), found.groups(), found.span(), re.findall(rb"a.", part), re.split(rb"l", part), re.sub(rb"a", b"o", part), found)
