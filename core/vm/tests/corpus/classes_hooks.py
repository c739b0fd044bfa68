"""__getattr__, __getattribute__, __setattr__, __delattr__, __init_subclass__, __class_getitem__, __new__, metaclasses."""


def attempt(function, *arguments):
    try:
        print(function(*arguments))
    except Exception as error:
        print(type(error).__name__, error)


class Dynamic:
    def __init__(self):
        self.real = 1

    def __getattr__(self, name):
        if name.startswith("dyn_"):
            return name[4:]
        raise AttributeError(f"no {name}")


class Guarded:
    def __init__(self, **fields):
        object.__setattr__(self, "log", [])
        for name, value in fields.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        self.log.append(("set", name))
        super().__setattr__(name, value)

    def __delattr__(self, name):
        self.log.append(("del", name))
        object.__delattr__(self, name)


class Everything:
    value = "class"

    def __getattribute__(self, name):
        if name == "secret":
            raise AttributeError("hidden")
        if name.startswith("x"):
            return name * 2
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        return "fallback " + name


d = Dynamic()
print(d.real, d.dyn_field, hasattr(d, "dyn_a"), hasattr(d, "other"), getattr(d, "other", "default"))
attempt(lambda: d.other)
g = Guarded(a=1, b=2)
g.a = 5
g.a += 1
del g.b
print(g.log, g.a, hasattr(g, "b"))
attempt(delattr, g, "b")
e = Everything()
print(e.value, e.secret, e.xyz, e.unknown)


class Plugin:
    registry = []

    def __init_subclass__(cls, /, tag=None, **named):
        super().__init_subclass__(**named)
        cls.tag = tag or cls.__name__.lower()
        Plugin.registry.append(cls.__name__)


class First(Plugin):
    pass


class Second(Plugin, tag="2nd"):
    pass


class Third(Second):
    pass


print(Plugin.registry, First.tag, Second.tag, Third.tag)
attempt(lambda: type("Bad", (Plugin,), {}, nope=1))


class Box:
    def __class_getitem__(cls, item):
        return f"{cls.__name__}[{item.__name__ if isinstance(item, type) else item}]"


print(Box[int], Box["x"], Box[1, 2], list[int], dict[str, int], tuple[int, ...], list[int] == list[int], int | None, isinstance(5, int | str), isinstance(None, int | None))


class Singleton:
    made = 0

    def __new__(cls, *arguments):
        print("new", arguments)
        cls.made += 1
        instance = super().__new__(cls)
        instance.arguments = arguments
        return instance

    def __init__(self, *arguments):
        print("init", arguments)


class NotMine:
    def __new__(cls):
        return "a string"

    def __init__(self):
        print("never")


print(Singleton(1, 2).arguments, Singleton.made, NotMine())


class Meta(type):
    def __new__(mcs, name, bases, namespace, **options):
        namespace["made_by"] = mcs.__name__
        namespace["options"] = sorted(options)
        return super().__new__(mcs, name, bases, {key: value for key, value in namespace.items() if key != "removed"})

    def __init__(cls, name, bases, namespace, **options):
        super().__init__(name, bases, namespace)
        cls.fields = [key for key in namespace if not key.startswith("__")]

    def __call__(cls, *arguments, **named):
        instance = super().__call__(*arguments, **named)
        instance.called = True
        return instance

    def __len__(cls):
        return len(cls.fields)

    def __getitem__(cls, key):
        return cls.__name__ + key

    def __iter__(cls):
        return iter(cls.fields)

    def __contains__(cls, item):
        return item in cls.fields

    def __repr__(cls):
        return f"<class {cls.__name__}>"

    @property
    def size(cls):
        return len(cls.fields) * 10

    def __instancecheck__(cls, instance):
        return instance == "pretend" or type(instance) is cls

    def __subclasscheck__(cls, other):
        return other is int


class Made(metaclass=Meta, verbose=True):
    removed = 1
    kept = 2

    def __init__(self, x=0):
        self.x = x


class Heir(Made):
    more = 3


print(Made.made_by, Made.options, hasattr(Made, "removed"), Made.kept, Made(5).x, Made().called, len(Made), Made["!"], list(Heir), "more" in Heir, Made, Heir.size, type(Heir).__name__, isinstance("pretend", Made), isinstance(Made(), Made), issubclass(int, Made), isinstance(5, Heir))
attempt(lambda: Made().size)
attempt(lambda: type("X", (int, str), {}))
attempt(lambda: type("X", (Made,), {}, metaclass=type))
attempt(lambda: type("X", (bool,), {}))
Dynamic2 = type("Dynamic2", (Dynamic,), {"method": lambda self: self.real + 1, "attr": [1]})
print(Dynamic2().method(), Dynamic2.__name__, Dynamic2.attr, type(Dynamic2()) is Dynamic2, type(5) is int, type("s")("x"), type([])((1, 2)))
