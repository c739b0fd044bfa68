# Classes below property, classmethod and staticmethod with methods of their own, class methods around descriptors, slots without a value, and
# numbers that special methods give.
def t(name, f, *a, **k):
    try:
        print(name, repr(f(*a, **k)))
    except BaseException as e:
        print(name, type(e).__name__, e)


class Own(property):
    def __get__(self, instance, owner=None): return "get", instance is None, owner.__name__
    def __set__(self, instance, value): print("set", value)
    def __delete__(self, instance): print("delete")
class Reader(property):
    def __get__(self, instance, owner=None): return self.fget(owner)
class OwnStatic(staticmethod):
    def __get__(self, instance, owner=None): return "static", instance is None
class OwnClass(classmethod):
    def __get__(self, instance, owner=None): return "class", instance is None
class A:
    own = Own(lambda self: 1)
    reader = Reader(lambda cls: cls.__name__)
    static = OwnStatic(len)
    of_class = OwnClass(len)
    def size(self, *rest): return len(rest)
a = A()
t("own", lambda: (a.own, A.own)); t("own", setattr, a, "own", 5); t("own", delattr, a, "own"); t("own", lambda: a.__dict__)
t("reader", lambda: (a.reader, A.reader)); t("reader", setattr, a, "reader", 1); t("reader", delattr, a, "reader")
t("static", lambda: (a.static, A.static)); t("class", lambda: (a.of_class, A.of_class))


class Seen:
    def __get__(self, instance, owner=None): return instance.__name__, owner.__name__
class B:
    @classmethod
    @property
    def name(cls): return cls.__name__
    seen = classmethod(Seen())
    plain = classmethod(staticmethod(lambda *a: a))
    twice = classmethod(classmethod(lambda *a: len(a)))
    bound = classmethod("{} {}".format)
    method = classmethod(a.size)
    own = classmethod(Own(len))
    kind = classmethod(lambda cls, *a: (cls.__name__, a))
class C(B): pass
t("name", lambda: (B.name, B().name, C.name)); t("seen", lambda: (B.seen, C().seen)); t("plain", lambda: B.plain(1))
t("twice", lambda: (B.twice(), B().twice(1))); t("bound", lambda: (B.bound(1), B.method(), C().method(1))); t("own", lambda: B.own); t("kind", lambda: C().kind(2))


class Slots:
    __slots__ = ("x", "y", "y")
    def __init__(self): self.x = 1
Slots.z = Slots.x
s = Slots()
t("unset", lambda: s.y); t("unset", delattr, s, "y"); t("unset", hasattr, s, "y"); t("alias", lambda: s.z); t("alias", delattr, s, "z")
t("alias", hasattr, s, "x"); t("alias", delattr, s, "z"); t("both", type, "D", (), {"__slots__": ("x",), "x": 1})
try:
    s.y
except AttributeError as error:
    print(error.name)


class Int(int): pass
class Float(float): pass
class Gives:
    def __init__(self, value): self.value = value
    def __int__(self): return self.value
    def __float__(self): return self.value
    def __index__(self): return self.value
class Cut:
    def __init__(self, value): self.value = value
    def __trunc__(self): return self.value
for value in (True, Int(3), 4, "a", 1.5):
    t("int", lambda: (int(Gives(value)), type(int(Gives(value))), type(Int(Gives(value))), Int(Gives(value))))
    t("trunc", lambda: (int(Cut(value)), type(int(Cut(value))), type(Int(Cut(value)))))
for value in (1.5, Float(2.5)):
    t("float", lambda: (float(Gives(value)), type(float(Gives(value))), type(Float(Gives(value))), Float(Gives(value))))
t("number", lambda: (Int("5") + 1, type(Int("5")), Int("11", 2), Int(2.9), Int(), Float("1.5"), Float(), Float(3)))
