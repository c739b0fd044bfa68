"""f-strings: expressions, conversions, nested fields, the `=` form, and user-defined __format__."""

name, number, ratio, items = "Ada", 42, 2.0 / 3, [1, 2, 3]
print(f"{name} {number} {ratio} {items}", f"{name!r} {name!s} {name!a}", f"{'é'!a}", f"{{literal}} {{{number}}}")
print(f"{number:5}|{number:<5}|{number:^5}|{number:>5}|{number:05}|{number:+}|{number:x}|{number:#b}|{number:,}")
print(f"{ratio:.3f} {ratio:10.2e} {ratio:%} {ratio:.1%}", f"{name:>10}|{name:*^9}|{name:.2}|{name!r:10}|")
width, precision, fill = 12, 4, "~"
print(f"{ratio:{width}.{precision}f}|{name:{fill}>{width}}|{number:{'0'}{width}}|{ratio!r:{width + 8}}|")
print(f"{number=} {name=} {ratio=:.2f} {items[1]=} {number + 1 = } {name.upper()=}")
print(f"{number=!s} {name=!s:>6} {number = :>5}")
print(f"{number if number > 5 else 'small'} {[x * 2 for x in items]} {(lambda x: x + 1)(5)} {max(items, key=lambda x: -x)} {items[-1]} {items[::-1]}")
print(f"{ {'a': 1}['a'] } { {1, } } {(1, 2)} {1, 2} {'a' 'b'} {None} {True and 'yes'} {not 1} {1 < 2} {-number} {number ** 2} {3 != 4}")
print(f"{'nested ' + f'{number} {ratio:.1f}'}")
print(f'''{
    number
    + 1
} over lines''')
print(f"{name}" "plain {not} a field" f"{number}", rf"\d{number}", f"\n{name}\t\x41\N{BULLET}", f"", f"{'':5}|", f"{'':>{width}}|")


class Money:
    def __init__(self, amount):
        self.amount = amount

    def __format__(self, spec):
        return f"<{self.amount}:{spec}>"

    def __str__(self):
        return "money"

    def __repr__(self):
        return "Money()"


money = Money(5)
print(f"{money} {money:abc} {money!s} {money!r} {money!s:>8} {money:{width}} {money=} {money=!s} {money:%Y-%m}", format(money), format(money, "z"), "{:q}".format(money), str(money))


class Plain:
    def __str__(self):
        return "plain"


print(f"{Plain()} {Plain()!s:>8}")
try:
    print(f"{Plain():>8}")
except TypeError as error:
    print(error)
for bad in (lambda: f"{undefined_name}", lambda: f"{1 / 0}", lambda: f"{name:d}", lambda: f"{number:.{'x'}f}", lambda: f"{items:5}", lambda: f"{None:>5}"):
    try:
        print(bad())
    except Exception as error:
        print(type(error).__name__, error)
order = []


def note(value):
    order.append(value)
    return value


print(f"{note(1)} {note(2):{note(3)}} {note(4)!r}", order)
print(f"{(yes := 10)} {yes + 1}", [f"{index}:{character}" for index, character in enumerate("ab")], "".join(f"{byte:02x}" for byte in b"\x00\xff\x10"))
print(f"{1_000_000:,} {1234567.891:,.2f} {255:#06x} {255:08b} {-5:+d} {5: d} {1e10:g} {10**20:_d} {0.1 + 0.2:.17g} {True:d} {True} {65:c}")
