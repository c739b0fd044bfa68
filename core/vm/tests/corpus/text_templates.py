# What `format` and `%` make of templates that few write.
class Holder(tuple):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return "own"

    def __iter__(self):
        return iter("own")


def outcome(function, *args, **kwargs):
    try:
        return repr(function(*args, **kwargs))
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError) as error:
        return f"{type(error).__name__}: {error}"


for template in ("%5%", "%-3%", "%%", "%5%%", "%.3%", "%l%", "%*%", "%(a)%", "%(a)5%", "%(a)s%%", "%s%", "%", "%5", "100%"):
    for values in ((), (1,), (3, 4), {"a": 1}, 7):
        print(template, values, outcome(lambda: template % values))
for template in (b"%5%", b"%%", b"%-3%", b"%*%", b"%(a)%", b"%s%%"):
    for values in ((), (1,), {b"a": 1}, b"x"):
        print(template, values, outcome(lambda: template % values))
print("%s" % Holder((1,)), "%s %d" % Holder((1, 2)), outcome(lambda: "%s" % Holder(())), outcome(lambda: "%s" % Holder((1, 2))))
print(b"%d" % Holder((1,)), "%5s|" % Holder(("a",)), "%*d" % Holder((4, 2)))

a = {"": 1, "b": 2, "a:b": 3, "a}b": 4, "{": 5, "-1": 6, "x!r": 7, "\u00b2": 8}
for template in ("{a[]}", "{a[b}", "{a[b]c}", "{a.}", "{a[}", "{a[a:b]}", "{a[a}b]}", "{a[{]}", "{a[-1]}", "{a[x!r]}", "{a[\u00b2]}", "{a[b]", "{a!", "{a!r", "{a:", "{a",
                 "{", "}", "{}}", "{{}", "{!}", "{a!x}", "{a!\x01}", "{a!\xe9}", "{a!rx}", "{a!r:}", "{a!r!s}", "{a]}", "{ a}", "{a{b}}", "{a[b].real}", "{a[b].real.}",
                 "{a[b].missing.}", "{a[b][}", "{a[b]..}", "{a.real[", "{:{}", "{a[b]:{a[b]}}", "{a[b]:>{a[b]}}", "{a[b]:{a[b]:{a[b]}}}", "{a[99999999999999999999]}", "{99999999999999999999}",
                 "{9223372036854775807}", "{9223372036854775808}", "{0}", "{}", "{a!s:>30}", "{a[b]:}", "{a[b]!r:>{a[b]}}"):
    print(ascii(template), outcome(template.format, a=a), outcome(template.format, 1, 2, a=a), outcome(template.format_map, {"a": a}))
for template in ("{0:{1:{2}}}", "{0:{1}{2}}", "{0:{1}", "{:{}}", "{:{0}}", "{0:{}}", "{}{1}", "{1}{}", "{0[01]}", "{0[1]}", "{0[0]x}", "{\u0663}", "{\u00b2}", "{0.a.}", "{0.real}{1.imag[0]}"):
    print(ascii(template), outcome(template.format, [4, 5], ">", 5, 7), outcome(template.format, 3, 5, "<", 1))
print(outcome("{a}".format_map, 3), outcome("{}".format_map, [1]), outcome("{0}".format_map, {"0": 1}), outcome("{a[0]}".format_map, {"a": [9]}))
