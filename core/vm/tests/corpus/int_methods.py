"""Integers: text in every base, parsing, bytes, and the methods."""


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


for value in [0, 1, -1, 10, -255, 2**64, -2**65 - 1]:
    print(bin(value), oct(value), hex(value), str(value), repr(value), f"{value:b} {value:o} {value:x} {value:X} {value:d} {value:#b} {value:#o} {value:#x} {value:#X}")

for text in ["0", "-0", " 42 ", "+7", "-17", "1_000", "00012", "٣٤", "\n12\t", "", " ", "1__0", "_1", "1_", "1.5", "0x10", "abc", "- 1", "--1"]:
    attempt(int, text)
for text, base in [("ff", 16), ("0xff", 16), ("0xff", 0), ("0b101", 0), ("0o17", 0), ("17", 8), ("z", 36), ("Z", 36), ("10", 2), ("012", 0), ("0", 0), ("102", 2),
                   ("g", 16), ("1", 1), ("1", 37), ("0b2", 0), ("-0x1F", 16), ("0_7", 8), ("0x_f", 0)]:
    attempt(int, text, base)
attempt(int, b"12")
attempt(int, bytearray(b"-3"))
attempt(int, 3.99)
attempt(int, -3.99)
attempt(int, 1e30)
attempt(int, True)
attempt(int)
attempt(int, None)
attempt(int, [])
attempt(int, float("nan"))
attempt(int, float("inf"))
attempt(int, 12, 10)
attempt(int, "1", base=10)

for value, length, order, signed in [(0, 1, "big", False), (1, 4, "big", False), (1, 4, "little", False), (-1, 4, "big", True), (255, 1, "big", False),
                                     (256, 1, "big", False), (-1, 1, "big", False), (128, 1, "big", True), (-128, 1, "big", True), (2**64, 9, "little", False), (0, 0, "big", False)]:
    attempt(value.to_bytes, length, order, signed=signed)
attempt((5).to_bytes)
attempt((5).to_bytes, 2)
attempt((5).to_bytes, 2, "middle")
for data, order, signed in [(b"", "big", False), (b"\x01\x02", "big", False), (b"\x01\x02", "little", False), (b"\xff\xfe", "big", True), (b"\xff\xfe", "big", False), (b"\x80", "little", True)]:
    attempt(int.from_bytes, data, order, signed=signed)
attempt(int.from_bytes, [1, 2, 3], "big")
attempt(int.from_bytes, b"\x01\x00")
print((10).conjugate(), (10).real, (10).imag, (10).numerator, (10).denominator, (7).as_integer_ratio(), (0).bit_length(), (-8).bit_length())
print((5).__add__(3), (5).__radd__(3), (5).__sub__(3), (5).__rsub__(3), (5).__mul__(2), (5).__floordiv__(2), (5).__mod__(3), (5).__eq__(5), (5).__lt__(4), (5).__neg__(), (5).__index__())
print((5).__add__("x"), (5).__eq__("x"), int.__name__, type(5), type(True), isinstance(True, int), issubclass(bool, int))
print(round(15, -1), round(25, -1), round(-15, -1), round(1234567, -3), round(5), round(5, 2), round(2**70, -10))
print(hash(0), hash(1), hash(-1), hash(-2), hash(2**61 - 1), hash(2**61), hash(2**100), hash(-2**100), hash(True))
print(1 == 1.0, 1 == True, 2**53 == float(2**53), 2**53 + 1 == float(2**53), 10**400 > 1e308, -10**400 < float("-inf"), 10**400 < float("inf"))
print(max(3, 1, 2), min([4, 2, 8]), sum([1, 2, 3], 10), sum(range(101)))
print(chr(97), ord("a"), chr(0x1F600), ord("é"), chr(0))
attempt(chr, -1)
attempt(chr, 0x110000)
attempt(ord, "ab")
attempt(ord, b"a")
attempt(ord, 5)
attempt(hex, 1.5)
attempt(bin, "1")


class Index:
    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number

    def __int__(self):
        return self.number * 10


print(hex(Index(255)), [10, 20, 30][Index(1)], int(Index(3)), "abc"[Index(0):Index(2)], list(range(Index(3))), bin(Index(5)), Index(4).__index__())
