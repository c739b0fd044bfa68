"""Multiple inheritance: the resolution order, cooperative super, mixins, conflicts."""


class A:
    def who(self):
        return ["A"]


class B(A):
    def who(self):
        return ["B"] + super().who()


class C(A):
    def who(self):
        return ["C"] + super().who()


class D(B, C):
    def who(self):
        return ["D"] + super().who()


class E(C):
    tag = "E"


class F(D, E):
    def who(self):
        return ["F"] + super(F, self).who()


for cls in (A, B, C, D, E, F):
    print(cls.__name__, [base.__name__ for base in cls.__mro__], cls().who(), [base.__name__ for base in cls.__bases__], [base.__name__ for base in cls.mro()])
print(F.tag, super(D, F()).who(), super(B, F()).who(), super(C, F()).who(), isinstance(F(), E), issubclass(D, C))


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, str(error).replace("\n", " "))


attempt(lambda: type("X", (A, B), {}))
attempt(lambda: type("Y", (B, B), {}))
attempt(lambda: type("Z", (type("P", (A, ), {}), type("Q", (C, B), {}), type("R", (B, C), {})), {}))
attempt(lambda: super(A, A()).who())
attempt(lambda: super(B, A()))
attempt(lambda: type("W", (5,), {}))
attempt(lambda: super().who())


class Base:
    def __init__(self, **rest):
        print("Base", rest)
        self.ready = True


class Named:
    def __init__(self, name, **rest):
        print("Named", name)
        super().__init__(**rest)
        self.name = name


class Sized:
    def __init__(self, size=1, **rest):
        print("Sized", size)
        super().__init__(**rest)
        self.size = size


class Both(Named, Sized, Base):
    def __init__(self, **rest):
        super().__init__(**rest)
        print("Both", self.name, self.size, self.ready)


Both(name="n", size=3, other=1)


class Comparable:
    def __lt__(self, other):
        return self.key() < other.key()

    def __eq__(self, other):
        return self.key() == other.key()


class Printable:
    def __repr__(self):
        return f"{type(self).__name__}<{', '.join(f'{k}={v}' for k, v in self.__dict__.items())}>"


class Card(Comparable, Printable):
    def __init__(self, rank, suit):
        self.rank, self.suit = rank, suit

    def key(self):
        return self.rank, self.suit


print(sorted([Card(3, "h"), Card(1, "s"), Card(3, "c")]), Card(1, "h") == Card(1, "h"), max(Card(1, "a"), Card(2, "b")))


class Outer:
    def __init__(self):
        self.value = "outer"

    def get(self):
        return self.value

    @classmethod
    def create(cls):
        return cls()

    @property
    def prop(self):
        return "outer prop"


class Inner(Outer):
    def __init__(self):
        super().__init__()
        self.value += "+inner"

    @classmethod
    def create(cls):
        made = super().create()
        made.value += "+created"
        return made

    @property
    def prop(self):
        return super().prop + "+inner"

    def later(self):
        return (lambda: super(Inner, self).get())(), [super(Inner, self).get() for _ in range(1)]

    def name(self):
        return __class__.__name__


i = Inner.create()
print(i.get(), i.prop, i.later(), i.name(), Inner.create.__self__.__name__)


class Mangled:
    def __init__(self):
        self.__hidden = 1
        self.__dunder__ = 2
        self._single = 3

    def read(self):
        return self.__hidden

    def __private(self):
        return "private"

    def call(self):
        return self.__private()


class SubMangled(Mangled):
    def __init__(self):
        super().__init__()
        self.__hidden = "sub"


m = SubMangled()
print(m.read(), m.call(), sorted(m.__dict__), m._Mangled__hidden, m._SubMangled__hidden, m.__dunder__, hasattr(m, "__hidden"))
