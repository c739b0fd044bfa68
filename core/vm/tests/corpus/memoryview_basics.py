"""Views of bytes and bytearrays: attributes, items, slices, errors, release."""


def tried(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def shown(view):
    return (
        view.nbytes, view.readonly, view.format, view.itemsize, view.ndim, view.shape, view.strides, view.suboffsets,
        view.contiguous, view.c_contiguous, view.f_contiguous, len(view), view.tolist(), view.tobytes(), bool(view),
    )


data = bytearray(b"abcdefgh")
view = memoryview(data)
print(shown(view), view.obj is data)
print(shown(memoryview(b"xyz")), shown(memoryview(b"")))
print(shown(memoryview(object=b"k")))
print(shown(view[2:6]), shown(view[::2]), shown(view[::-1]), shown(view[6:2]), shown(view[::-3][1:]))
print(view[0], view[-1], view[True], tried(lambda: view[8]), tried(lambda: view[-9]), tried(lambda: view["a"]), tried(lambda: view[1.0]))
print(tried(lambda: view[10**30]), tried(lambda: view[()]), tried(lambda: view[1, 2]), tried(lambda: view[...]), tried(lambda: view[1:2, 3:4]))
print(tried(lambda: view[::0]), tried(lambda: view["a":]), view[1,], tried(lambda: view[1, "a"]))


class Two:
    def __index__(self):
        return 2


print(view[Two()], view[Two():].tobytes(), view[: Two()].tobytes())

# Writing goes through to the bytes.
view[0] = 65
view[-1] = Two()
view[1:3] = b"XY"
view[::4] = bytearray(b"12")
view[Two()] = 33
print(data, view[2:5][1])


def put(target, key, value):
    target[key] = value


for key, value in [
    (0, 256), (0, -1), (0, "a"), (0, b"a"), (0, 1.0), (0, None), (9, 1), (0, 10**40), (slice(0, 2), b"abc"), (slice(0, 2), [1, 2]), (slice(0, 2), "ab"),
    (slice(0, 2), memoryview(b"ab")), (slice(0, 2), memoryview(b"abcd").cast("H")), ("a", 1), ((0,), 7), ((0, 1), 7), (slice(0, 2), 5),
    ((slice(0, 1), slice(0, 1)), b"a"), (slice(None, None, -1), b"hgfedcba"), (slice(0, 0), b""),
]:
    print(key, value if not isinstance(value, memoryview) else value.tobytes(), tried(put, view, key, value), data)


def drop(target, key):
    del target[key]


fixed = memoryview(b"fixed")
print(tried(put, fixed, 0, 1), tried(put, fixed, slice(0, 1), b"a"), tried(drop, fixed, 0), tried(drop, view, 0), tried(drop, view, slice(0, 1)))
overlap = bytearray(range(8))
window = memoryview(overlap)
window[2:6] = window[0:4]
print(overlap)
window[1:5] = window[4:0:-1]
print(overlap)

# A bytearray keeps its length while it is viewed.
locked = bytearray(b"locked")
first = memoryview(locked)
second = first[1:3]
for change in [
    lambda: locked.append(1), lambda: locked.extend(b"x"), lambda: locked.extend(b""), lambda: locked.insert(0, 1), lambda: locked.pop(), lambda: locked.remove(108),
    lambda: locked.remove(1), lambda: locked.clear(), lambda: locked.__init__(b"n"), lambda: locked.__iadd__(b"x"), lambda: locked.__iadd__(b""), lambda: locked.__imul__(2),
    lambda: locked.__imul__(1), lambda: put(locked, slice(0, 1), b"xx"), lambda: put(locked, slice(0, 2), b"xx"), lambda: drop(locked, 0), lambda: drop(locked, slice(0, 2)),
    lambda: drop(locked, slice(0, 0)), lambda: drop(locked, slice(0, 4, 2)), lambda: put(locked, slice(0, 4, 2), b""), lambda: put(locked, slice(0, 4, 2), b"zz"),
    lambda: locked.reverse(), lambda: locked.pop(9), lambda: put(locked, 0, 1),
]:
    print(tried(change), locked, first.tobytes())
first.release()
print(tried(locked.append, 1), second.tobytes())
second.release()
locked.append(33)
print(locked)
with memoryview(locked) as inner:
    print(tried(locked.clear), inner[0])
locked.clear()
print(locked)


def held():
    hidden = bytearray(b"kept alive")
    return memoryview(hidden)[5:]


print(held().tobytes(), bytes(held().obj))
dropped = bytearray(b"abc")
memoryview(dropped)
views = [memoryview(dropped) for _ in range(3)]
print(tried(dropped.pop))
views.pop(), views.pop()
print(tried(dropped.pop))
views.clear()
print(dropped.pop(), dropped)

# Released views.
gone = memoryview(b"gone")
kept_hash = hash(gone)
gone.release()
gone.release()
print(hash(gone) == kept_hash, gone == gone, gone == b"gone", repr(gone)[:20])
for name in ["obj", "nbytes", "readonly", "format", "itemsize", "ndim", "shape", "strides", "suboffsets", "contiguous", "c_contiguous", "f_contiguous"]:
    print(name, tried(getattr, gone, name))
for use in [len, bytes, list, bool, memoryview, bytearray, b"".join, lambda v: v[0], lambda v: v[0:1], lambda v: v.tobytes(), lambda v: v.tolist(), lambda v: v.cast("b"),
            lambda v: v.hex(), lambda v: v.toreadonly(), lambda v: v.__enter__(), lambda v: 1 in v, lambda v: put(v, 0, 1)]:
    print(str(tried(use, gone if use != b"".join else [gone]))[:60])
print(tried(hash, memoryview(bytearray(b"a"))), tried(hash, memoryview(bytearray(b"a")).toreadonly()), tried(hash, memoryview(b"abcd").cast("I")))
print(hash(memoryview(b"abc")) == hash(b"abc"), hash(memoryview(b"abcd")[::2]) == hash(b"ac"), {memoryview(b"key"): 1}[b"key"])

# Comparison.
print(view == data, view == bytes(data), bytes(data) == view, view != data, view == "text", view == 5, view == [1], memoryview(b"a") == memoryview(bytearray(b"a")))
print(memoryview(b"abcd")[::2] == b"ac", memoryview(b"abc") == b"abcd", tried(lambda: memoryview(b"a") < memoryview(b"b")), tried(lambda: memoryview(b"a") < b"b"))
print(memoryview(b"a").__eq__(5), memoryview(b"a").__ne__(b"a"), memoryview(b"\xff").cast("b") == b"\xff", memoryview(b"\x01").cast("b") == b"\x01")
print(memoryview(b"a").cast("c") == b"a", memoryview(b"a").cast("c") == memoryview(b"a").cast("c"), memoryview(b"\1\0").cast("?") == memoryview(b"\1\1").cast("?"))

# Iteration.
print(list(memoryview(b"ab")), [x for x in memoryview(b"abc")[::-1]], list(reversed(memoryview(b"abc"))), 97 in memoryview(b"abc"), 5 in memoryview(b"abc"))
print(type(iter(memoryview(b""))).__name__, max(memoryview(b"azb")), sorted(memoryview(b"cab")), dict(enumerate(memoryview(b"xy"))), [*memoryview(b"pq")])
first, *rest = memoryview(b"rest")
print(first, rest, tuple(memoryview(b"t")), set(memoryview(b"aab")), sum(memoryview(b"\1\2\3")), list(zip(memoryview(b"ab"), memoryview(b"cd"))))
match memoryview(b"ab"):
    case [one, two]:
        print("matched", one, two)
running = iter(released := memoryview(b"abc"))
print(next(running))
released.release()
print(tried(next, running))

# Making, and what makes none.
for source in [5, "text", None, [1], (1,), 1.5, range(3)]:
    print(tried(memoryview, source))
print(tried(memoryview), tried(memoryview, b"a", b"b") != "", isinstance(view, memoryview), type(view), memoryview.__name__)
copy = memoryview(view)
print(copy.obj is data, copy == view, view.toreadonly().readonly, memoryview(view.toreadonly()).readonly, tried(put, view.toreadonly(), 0, 1))
print(tried(lambda: type("Sub", (memoryview,), {})), tried(lambda: setattr(view, "anything", 1))[:14], repr(memoryview(b""))[:11], str(memoryview(b""))[:11])


class Child(bytearray):
    pass


child = Child(b"child")
print(memoryview(child).tobytes(), memoryview(child).obj is child, tried(lambda: [memoryview(child), child.append(1)]))
print(view.tobytes("F") == view.tobytes(None) == view.tobytes(order="A"), tried(view.tobytes, "X"), tried(view.tobytes, 5))
print(memoryview(b"\1\xab\xff").hex(), memoryview(b"\1\xab\xff").hex(":"), memoryview(b"\1\xab\xff\0")[::2].hex("-", 1), memoryview(b"abcde").hex("_", -2))
