"""Floats: every presentation of the format mini-language, and % formatting."""

values = [0.0, -0.0, 1.0, -1.5, 3.14159265, 1234567.891, 0.000123456, 1e20, 1.5e-10, 2.5, 0.5, 99.995, float("inf"), float("-inf"), float("nan")]
specs = ["", "f", ".0f", ".1f", ".3f", "e", ".0e", ".2e", "E", "g", ".3g", ".0g", "G", "n", "%", ".1%", "10.2f", "<10.2f", "^10.2f", ">10.2f", "010.2f", "+.2f", " .2f",
         "-.2f", ",.2f", "_.2f", "#.0f", "#g", "*^12.3e", "=+10.1f", "+010,.1f", ".10", "10", ".3", "x<8.1f", "020,.2f", "F"]
for spec in specs:
    print(spec, [format(value, spec) for value in values])

for number in [0, 5, -42, 123456789, 2**70, -2**70]:
    print([format(number, spec) for spec in ["", "d", "5d", "<5d", "^9d", "+d", " d", ",", "_", "x", "#x", "#010x", "b", "#b", "_b", "_x", "o", "X", "e", ".2f", "g", "%", "n", "012,", "*>20", "=+20d"]])
print(format(65, "c"), format(0x20AC, "c"), format(True, "d"), format(True, ""), format(True, "5"), format(True, ">6"))

print("%f %.2f %e %.3E %g %G" % (1.5, 2.675, 12345.678, 0.00012, 1e-5, 1e20))
print("%5.1f|%-8.2f|%+.1f|% .1f|%08.3f|%#.0f" % (1.25, 2.5, 3.0, 4.0, -5.5, 6.0))
print("%d %i %u %5d|%-5d|%05d|%+d|% d" % (1, -2, 3.9, 4, 5, -6, 7, 8))
print("%x %X %#x %o %#o %c %c %%" % (255, 255, 255, 8, 8, 65, "z"))
print("%s %r %a %10s|%-10s|%.2s|%10.3s|" % ("text", "té\n", "té", "right", "left", "cut", "abcdef"))
print("%(name)s is %(age)d and %(name)r" % {"name": "Ann", "age": 30, "unused": 1})
print("%*d|%-*d|%.*f" % (6, 42, 6, 42, 2, 3.14159), "%s" % [1, 2], "%s" % ((1, 2),), "%s %s" % (None, True))


def attempt(function, *arguments):
    try:
        print(repr(function(*arguments)))
    except Exception as error:
        print(type(error).__name__, error)


attempt(lambda: "%d" % "x")
attempt(lambda: "%d" % None)
attempt(lambda: "%s %s" % 1)
attempt(lambda: "%s" % (1, 2))
attempt(lambda: "%(a)s" % {"b": 1})
attempt(lambda: "%(a)s" % 5)
attempt(lambda: "%y" % 1)
attempt(lambda: "%" % 1)
attempt(lambda: "%c" % "ab")
attempt(lambda: "%x" % 1.5)
attempt(lambda: "%f" % "1")
attempt(lambda: "no fields" % 1)
attempt(lambda: "no fields" % {})
attempt(format, 1.5, "d")
attempt(format, 1, "s")
attempt(format, "a", "d")
attempt(format, 1, "q")
attempt(format, 1, ".2d")
attempt(format, 1.5, "c")
attempt(format, 1, ",x")
attempt(format, "a", "=5")
attempt(format, [], "5")
attempt(format, None, "")
attempt(format, 1, 5)
attempt(format, -1, "c")
attempt(format, 1.5, ",_f")
attempt(format, 3, "+c")
