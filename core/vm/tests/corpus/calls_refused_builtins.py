# What builtin functions and classes say about wrong calls, and how items beyond 64 bits are refused.
import decimal


def t(name, call):
    try:
        print(name, "->", call())
    except Exception as error:
        print(name, "->", type(error).__name__, error)


HUGE = 10**30
for name, sequence in ("list", [1]), ("tuple", (1,)), ("str", "a"), ("bytes", b"a"), ("bytearray", bytearray(b"a")):
    t(name, lambda: sequence[HUGE]); t(name, lambda: sequence[-HUGE]); t(name, lambda: sequence[HUGE:]); t(name, lambda: sequence * HUGE)
for name, sequence in ("list", [1]), ("bytearray", bytearray(b"a")):
    t(name, lambda: sequence.__setitem__(HUGE, 1)); t(name, lambda: sequence.__delitem__(HUGE)); t(name, lambda: sequence.pop(HUGE))

# Slices that are assigned.
for value in 5, "a", None, [300], ["a"], 1.5, True, object, len:
    t("bytearray", lambda: bytearray(b"abc").__setitem__(slice(0, 1), value))
t("bytearray", lambda: bytearray(b"abc").__setitem__(slice(None, None, 2), b"abc")); t("bytearray", lambda: bytearray(b"abc").__setitem__(9, "a"))
for value in 5, None, [1, 2]:
    t("list", lambda: [1].__setitem__(slice(0, 1), value)); t("list", lambda: [1].__setitem__(slice(None, None, 2), value))
table = {1: 1}
keys = iter(table)
table[2] = 2
t("changed", lambda: [1].__setitem__(slice(0, 1), keys))

# Classes and what makes them.
class Meta(type):
    pass


class Plain:
    pass


t("type", lambda: type()); t("type", lambda: type(1, 1)); t("type", lambda: type(1, 1, 1)); t("type", lambda: type("a", 1, 1)); t("type", lambda: type("a", (), 1))
t("type", lambda: type(1, 1, 1, 1)); t("type", lambda: type(1, x=1)); t("type", lambda: type(x=1)); t("type", lambda: type("a", (), {}, x=1))
t("meta", lambda: Meta()); t("meta", lambda: Meta(1)); t("meta", lambda: Meta(1, 2, 3)); t("meta", lambda: type.__new__(Meta, 1)); t("meta", lambda: Meta("a", (), {}).__name__)
t("super", lambda: super(1, 1, 1)); t("super", lambda: super(1)); t("super", lambda: super(int, "a")); t("super", lambda: super(x=1))
t("subclass", lambda: Plain.__init_subclass__(1)); t("subclass", lambda: Plain.__init_subclass__(1, x=1)); t("subclass", lambda: Plain.__init_subclass__())
t("none", lambda: type(None)(1)); t("none", lambda: type(None)(x=1)); t("ellipsis", lambda: type(...)(1)); t("not", lambda: type(NotImplemented)(1)); t("none", lambda: type(None)())
t("static", lambda: staticmethod()); t("static", lambda: staticmethod(1, 2)); t("class", lambda: classmethod()); t("class", lambda: classmethod(1, x=2))
for meta in None, 5, len, Meta:
    def made():
        class X(metaclass=meta):
            pass

        return type(X).__name__

    t("metaclass", made)

# Functions that look at their keywords by themselves.
t("enumerate", lambda: enumerate()); t("enumerate", lambda: enumerate(1)); t("enumerate", lambda: enumerate([], 1, 2)); t("enumerate", lambda: enumerate([], x=1))
t("enumerate", lambda: enumerate(start=1)); t("enumerate", lambda: enumerate(x=1, start=2)); t("enumerate", lambda: list(enumerate(start=1, iterable=[7])))
t("enumerate", lambda: enumerate([], iterable=1)); t("enumerate", lambda: enumerate(iterable=[], start=1, x=2)); t("enumerate", lambda: enumerate([], 1, start=2))
for function in max, min:
    t("extreme", lambda: function()); t("extreme", lambda: function(x=1)); t("extreme", lambda: function(key=1)); t("extreme", lambda: function(1, x=1))
    t("extreme", lambda: function(1, key=1, default=2, x=3)); t("extreme", lambda: function(1, 2, default=3)); t("extreme", lambda: function([], default=4))
t("zip", lambda: zip(strict=1, x=2)); t("zip", lambda: zip(x=1)); t("zip", lambda: zip([], x=1, y=2)); t("zip", lambda: list(zip([1], strict=1)))
t("sum", lambda: sum()); t("sum", lambda: sum([], 1, 2)); t("sorted", lambda: sorted()); t("sorted", lambda: sorted([], 1)); t("print", lambda: print(x=1)); t("print", lambda: print(x=1, y=2))
t("int", lambda: int("1", 99)); t("int", lambda: int("1", HUGE)); t("int", lambda: int(base=2)); t("range", lambda: range()); t("range", lambda: range(1, 2, 3, 4))

# Exceptions with keywords.
class Below(ImportError):
    pass


t("import", lambda: ImportError(x=1)); t("import", lambda: Below(x=1)); t("import", lambda: ModuleNotFoundError(name=1, path=2, x=3)); t("import", lambda: Below(name=1).name)
t("name", lambda: NameError(x=1)); t("name", lambda: UnboundLocalError(name=1, x=2)); t("attribute", lambda: AttributeError(name=1, obj=2, x=3))
t("round", lambda: round(decimal.Decimal(1), "a"))
