"""bytearray: a mutable sequence of bytes."""


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


data = bytearray(b"hello")
print(data, repr(data), str(data), len(data), data[0], data[1:3], data[::-1], list(data), bytes(data), bool(data), bool(bytearray()))
data[0] = 72
data.append(33)
data.extend(b" you")
data.extend([63, 63])
print(data, data.pop(), data.pop(0), data)
data.insert(0, 74)
data.insert(100, 90)
data.insert(-1, 45)
print(data)
data.remove(45)
data.reverse()
print(data, data.copy() == data, data.copy() is data)
data[1:4] = b"12345"
data[0:0] = b">>"
data[-2:] = b""
print(data)
del data[0]
del data[1:3]
del data[::2]
print(data)
data[::2] = bytes(len(data[::2]))
print(data)
data += b"tail"
data *= 2
print(data, data.count(b"tail"), data.find(b"tail", 5), data.endswith(b"tail"), data.upper(), data.hex())
data.clear()
print(data, len(data))
attempt(data.pop)
attempt(data.append, 256)
attempt(data.append, "a")
attempt(data.remove, 1)
attempt(data.extend, "text")
attempt(data.extend, [300])
attempt(lambda: bytearray(b"a")[3])
attempt(bytearray(b"a").__setitem__, 3, 1)
attempt(bytearray(b"a").__setitem__, 0, 256)
attempt(bytearray(b"a").__setitem__, 0, "a")
attempt(bytearray(b"abcd").__setitem__, slice(0, 4, 2), b"x")
attempt(bytearray, "text")
attempt(bytearray, -1)
attempt(hash, bytearray())
print(bytearray(3), bytearray([1, 2]), bytearray("é", "utf-8"), bytearray.fromhex("0aff"), bytearray(b"a") + b"b", b"a" + bytearray(b"b"), type(b"a" + bytearray(b"b")).__name__, type(bytearray(b"a") + b"b").__name__)
print(bytearray(b"a") == b"a", bytearray(b"a") < b"b", bytearray(b"abc").split(b"b"), bytearray(b" a ").strip(), bytearray(b"ab").decode(), bytearray(b"%d") % 5, b"b" in bytearray(b"abc"), 98 in bytearray(b"abc"), sorted(bytearray(b"cab")))
buffer = bytearray()
for number in range(300):
    buffer += number.to_bytes(2, "big")
print(len(buffer), sum(buffer), buffer[-4:], buffer[100:104].hex(), buffer.index(b"\x01\x00"))
alias = buffer
alias += b"!"
print(alias is buffer, buffer[-1], [byte for byte in buffer[:6]], max(buffer), {0: bytes(buffer[:2])})
