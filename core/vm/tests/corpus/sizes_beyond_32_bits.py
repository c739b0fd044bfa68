# Widths, counts, positions, repeats, ranges and slices beyond 32 bits: a machine whose sizes have 32 bits gives the same.
import itertools
import json
import math
import re
import struct
from decimal import Decimal


def shown(function):
    try:
        return repr(function())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


numbers = [2**31, -(2**31), 2**32, 2**32 + 1, 2**32 + 3, -(2**32) - 2, 2**33, -(2**33), 2**63 - 1, -(2**63)]
text, wide, data, array, items, row = "a,b,c", "ä,б,c", b"a,b,c", bytearray(b"a,b,c"), [1, 2, 3, 1], (1, 2, 3, 1)
view = memoryview(data)

for n in numbers:
    print(n)
    for each in (text, wide, data, array, items, row):
        print(shown(lambda: each[n:]), shown(lambda: each[:n]), shown(lambda: each[::n]), shown(lambda: each[n]))
        print(shown(lambda: each[-2:n]), shown(lambda: each[n::-1]), shown(lambda: each[1:n:n]))
    print([shown(lambda: view[part].tobytes()) for part in (slice(n, None), slice(n), slice(None, None, n), slice(n, None, -1), slice(1, n, n))])
    for each, comma, nothing in ((text, ",", ""), (wide, ",", ""), (data, b",", b""), (array, b",", b"")):
        for name in ("find", "rfind", "count", "startswith", "endswith", "index", "rindex"):
            method = getattr(each, name)
            print(name, shown(lambda: method(comma, n)), shown(lambda: method(comma, 0, n)), shown(lambda: method(nothing, n)))
            print(shown(lambda: method(nothing, n, n)), shown(lambda: method(nothing, -3, n)))
        print(shown(lambda: each.split(comma, n)), shown(lambda: each.rsplit(comma, n)), shown(lambda: each.split(None, n)))
        print(shown(lambda: each.replace(comma, nothing, n)), shown(lambda: each.replace(nothing, comma, n)))
        if n < 0:
            print(shown(lambda: each.center(n)), shown(lambda: each.ljust(n)), shown(lambda: each.rjust(n)), shown(lambda: each.zfill(n)))
    for nothing in ("", b"", bytearray(), [], ()):
        print(shown(lambda: nothing * n), shown(lambda: n * nothing))
    if n < 0:
        print(shown(lambda: text * n), shown(lambda: items * n), shown(lambda: data * n), shown(lambda: array * n))
        print(shown(lambda: bytes(n)), shown(lambda: bytearray(n)), shown(lambda: (5).to_bytes(n, "big")))
    print(shown(lambda: items.index(1, n)), shown(lambda: items.index(1, 0, n)), shown(lambda: row.index(1, n, 4)))
    print(shown(lambda: [1, 2].pop(n)), shown(lambda: bytearray(b"ab").pop(n)))
    for fresh, new in (([1, 2, 3], 9), (bytearray(b"abc"), 57)):
        print(shown(lambda: fresh.insert(n, new)), fresh, shown(lambda: fresh.__delitem__(slice(n, None))), fresh)
        print(shown(lambda: fresh.__setitem__(slice(0, n), type(fresh)([50, 51]))), fresh, shown(lambda: fresh.__setitem__(n, new)))
        print(shown(lambda: fresh.__setitem__(slice(None, None, n), type(fresh)([52]))), fresh, shown(lambda: fresh.__delitem__(n)))
    print(shown(lambda: data.hex(":", n) if abs(n) < 2**31 else None), shown(lambda: slice(n).indices(7)), shown(lambda: slice(n, -n, 3).indices(2**40)))
    print(shown(lambda: slice(None, None, n).indices(5)), shown(lambda: slice(1, n).indices(2**62)))
    long, back = range(n), range(n, -n, -7)
    for each in (long, back, range(0, n, 2**32), range(-n, n, 3)):
        print(shown(lambda: len(each)), shown(lambda: each[2**32 + 5]), shown(lambda: each[-1]), shown(lambda: each[n]), shown(lambda: each[-(2**32) - 5]))
        print(shown(lambda: each[2**32 :]), shown(lambda: len(each[5 : 2**32 + 9])), shown(lambda: each[::-1][:2]))
        print(shown(lambda: next(iter(each))), shown(lambda: next(reversed(each))), shown(lambda: each.index(4)), shown(lambda: each.count(4)), 4 in each)
        print(shown(lambda: iter(each).__length_hint__()), shown(lambda: reversed(each).__length_hint__()), bool(each))
        print(shown(lambda: hash(each) == hash(range(each.start, each.stop, each.step))))
    print(shown(lambda: list(itertools.islice(text, n))), shown(lambda: list(itertools.islice(itertools.count(n), 2))))
    print(shown(lambda: list(enumerate(text[:1], n))), shown(lambda: next(itertools.repeat(1, n))), shown(lambda: list(itertools.repeat(1, min(n, 2)))))
    print(shown(lambda: 1 << n if n < 0 else 0 << n), shown(lambda: 5 >> n), shown(lambda: -5 >> n), shown(lambda: (1 << 70) >> n))
    print(shown(lambda: 1**n), shown(lambda: (-1) ** n), shown(lambda: 0 ** abs(n)), shown(lambda: round(12345, abs(n))))
    print(shown(lambda: math.comb(5, n)), shown(lambda: math.perm(3, n)), shown(lambda: math.ldexp(1.0, -abs(n))))
    print(shown(lambda: re.compile("b").search(text, n) if n < 0 else re.compile("b").search(text, n, n)))
    print(shown(lambda: re.compile("b?").findall(text, n)), shown(lambda: re.sub("b", "x", text, n)), shown(lambda: re.split(",", text, n)))
    print(shown(lambda: re.match("a", text).group(n)), shown(lambda: json.JSONDecoder().raw_decode("[1]", n)).split(":")[0] if n > 0 else None)
    print(shown(lambda: struct.unpack_from("b", data, n) if n > 0 else None), shown(lambda: "{:c}".format(n)), shown(lambda: "%c" % n), shown(lambda: chr(n)))
    print(shown(lambda: Decimal(10).scaleb(0) + Decimal(n)), shown(lambda: Decimal(1) ** n), shown(lambda: int("7", abs(n))))
    print(shown(lambda: int.from_bytes(data[:n], "big")), shown(lambda: sum(items[:n])), shown(lambda: max(row[:n], default=0)))
