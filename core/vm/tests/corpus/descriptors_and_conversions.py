# Descriptors that only set or delete, comparisons by name, generator expressions over nothing, unions of generics, math with `__float__`.
def t(name, f, *a, **k):
    try:
        print(name, repr(f(*a, **k)))
    except BaseException as e:
        print(name, type(e).__name__, e)
class Del:
    def __delete__(self, o): print("deleted")
class C:
    x = Del()
c = C()
t("set", lambda: setattr(c, "x", 1)); t("get", lambda: c.x is C.__dict__["x"]); t("del", lambda: delattr(c, "x"))
c.__dict__["x"] = 5
t("get", lambda: c.x is C.__dict__["x"]); print(c.__dict__)
class DelGet:
    def __get__(self, o, t=None): return "got"
    def __delete__(self, o): print("deleted")
class SetOnly:
    def __set__(self, o, v): print("set", v)
class C2:
    x = DelGet(); y = SetOnly()
c = C2(); c.__dict__["x"] = 5; c.__dict__["y"] = 6
t("get", lambda: c.x); t("set", lambda: setattr(c, "x", 1)); t("get y", lambda: c.y); t("del y", lambda: delattr(c, "y")); t("set y", lambda: setattr(c, "y", 1)); t("del x", lambda: delattr(c, "x")); print(c.__dict__)
b = bytearray(b"ab")
t("ba", b.__eq__, b"ab"); t("ba", b.__eq__, bytearray(b"ab")); t("ba", b.__ne__, b"ab"); t("ba", b.__lt__, b"b"); t("ba", b.__eq__, 5); t("ba", bytearray.__eq__, b, b"x"); t("ba", b.__hash__ is None); t("by", b"ab".__eq__, b); t("ba", b.__gt__, b"a"); t("ba", b.__le__, b"a")
t("ba", lambda: bytearray.__lt__(b"a", b))
class BA(bytearray):
    def __eq__(self, o): return super().__eq__(o)
t("sub", lambda: BA(b"ab") == b"ab"); t("sub", lambda: BA(b"ab") == BA(b"ac"))
t("genexp", lambda: (x for x in 5)); t("genexp", lambda: list(y for x in [1] for y in 5))
t("isinstance", isinstance, 1, int | list[int]); t("isinstance", isinstance, "a", int | list[int]); t("isinstance", isinstance, 1, list[int]); t("issubclass", issubclass, int, int | list[int]); t("issubclass", issubclass, str, int | list[int]); t("isinstance", isinstance, None, int | None); t("isinstance", isinstance, 1, (str, int | None)); t("isinstance", isinstance, 1, (str, list[int] | int)); t("issubclass", issubclass, type(None), int | None)
import math
class F:
    def __float__(self): return 2.5
class FI:
    def __index__(self): return 2
t("fsum", math.fsum, [F(), 1, FI(), 0.5]); t("fsum", math.fsum, ["a"]); t("fsum", math.fsum, [None]); t("fsum", math.fsum, 5); t("fsum", math.fsum, (x for x in [F(), F()])); t("dist", math.dist, [F()], [1]); t("hypot", math.hypot, F(), FI()); t("prod", math.prod, [F], start=1); t("fsum", math.fsum, [1j]); t("fsum", math.fsum, iter([1, F()]))
t("sumprod", math.fsum, {F(): 1}); t("fsum", math.fsum, [10**400])
