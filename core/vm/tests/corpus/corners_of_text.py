# Corners of text and of what shows objects: codecs, formats of bytes, `super` without a receiver.
from decimal import Decimal


def attempt(name, call):
    try:
        print(name, repr(call()))
    except Exception as error:
        print(name, type(error).__name__, error)


for encoding in "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be":
    for data in b"abc", b"\xff\xfeabc", b"\xfe\xffabc", b"\xff\xfe\0\0abc", b"\0\0\xfe\xffabc", b"\xd8\0\xd8\0", b"\0\xd8\0\xd8", b"":
        attempt(encoding, lambda: data.decode(encoding))
        attempt(encoding, lambda: data.decode(encoding, "replace"))
for value in b"ab", b"a", "a", 300, -1, 5, None, 1.5, bytearray(b"x"):
    attempt("%c", lambda: b"%c" % value)


class Below(int):
    pass


print(super(Below), super(Below, Below(1)))

# Zeros that a precision asks for.
for value in "1.5", "0", "0.00", "-0", "12E+3", "9.995", "99.5E-3", "1E-7", "-123456789.987654321", "NaN", "-Infinity":
    for spec in ".0f", ".2f", ".12f", ".3%", ".0e", ".2e", ".12e", ".1g", ".3g", ".12g", ".3n", ",.4f", "025.6f", ">20.3E", "f", "e", "":
        print(value, spec, format(Decimal(value), spec))
for spec in ".3000f", ".3000e", ".3000%", "3000.2990f":
    text = format(Decimal("-12.5"), spec)
    print(spec, len(text), text[:12], text.rstrip("%")[-9:], text.count("0"))
