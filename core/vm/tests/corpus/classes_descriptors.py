"""Properties, descriptors, __slots__, __set_name__, and attribute lookup order."""


def attempt(function, *arguments):
    try:
        print(function(*arguments))
    except Exception as error:
        print(type(error).__name__, error)


class Temperature:
    def __init__(self, celsius):
        self._celsius = celsius

    @property
    def celsius(self):
        """Degrees."""
        return self._celsius

    @celsius.setter
    def celsius(self, value):
        if value < -273:
            raise ValueError("too cold")
        self._celsius = value

    @celsius.deleter
    def celsius(self):
        print("deleted")
        self._celsius = 0

    @property
    def fahrenheit(self):
        return self._celsius * 9 / 5 + 32

    kelvin = property(lambda self: self._celsius + 273, doc="absolute")


class Warm(Temperature):
    @property
    def celsius(self):
        return super().celsius + 100

    @Temperature.fahrenheit.getter
    def fahrenheit(self):
        return "hot"


t = Temperature(20)
t.celsius = 25
t.celsius += 5
print(t.celsius, t.fahrenheit, t.kelvin, Temperature.celsius.__doc__, Temperature.kelvin.__doc__, isinstance(Temperature.celsius, property), Temperature.celsius.fget(t), Warm(1).celsius, Warm(1).fahrenheit, Warm(1).kelvin)
del t.celsius
print(t.celsius)
attempt(setattr, t, "celsius", -300)
attempt(setattr, t, "fahrenheit", 1)
attempt(delattr, t, "fahrenheit")
attempt(setattr, Warm(1), "celsius", 1)
attempt(getattr, type("P", (), {"p": property()})(), "p")
attempt(getattr, type("P", (), {"p": property(lambda self: self.nothing)})(), "p")
attempt(getattr, type("P", (), {"p": property(lambda self: self.nothing)})(), "p", "default")


class Typed:
    def __init__(self, kind):
        self.kind = kind

    def __set_name__(self, owner, name):
        print("named", owner.__name__, name)
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return f"descriptor of {owner.__name__}" if instance is None else getattr(instance, self.name, None)

    def __set__(self, instance, value):
        if not isinstance(value, self.kind):
            raise TypeError(f"{self.name[1:]} must be {self.kind.__name__}")
        setattr(instance, self.name, value)

    def __delete__(self, instance):
        delattr(instance, self.name)


class NonData:
    def __get__(self, instance, owner):
        return "from descriptor"


class Person:
    name = Typed(str)
    age = Typed(int)
    hint = NonData()

    def __init__(self, name, age):
        self.name, self.age = name, age


p = Person("Ann", 30)
print(p.name, p.age, p.__dict__, Person.name, p.hint)
attempt(setattr, p, "age", "old")
del p.age
print(p.age)
p.__dict__["name"] = "hidden"
p.__dict__["hint"] = "seen"
print(p.name, p.hint)


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x):
        self.x = x


class SlottedChild(Slotted):
    __slots__ = ("z",)


class OpenChild(Slotted):
    pass


s = Slotted(1)
print(s.x, hasattr(s, "y"), Slotted.__slots__, hasattr(s, "__dict__"))
attempt(getattr, s, "y")
attempt(setattr, s, "z", 1)
attempt(delattr, s, "y")
child = SlottedChild(5)
child.z = 6
print(child.x, child.z)
attempt(setattr, child, "w", 1)
free = OpenChild(1)
free.anything = 2
print(free.x, free.anything, free.__dict__)
attempt(lambda: type("Clash", (), {"__slots__": ("a",), "a": 1}))


class Lazy:
    def __init__(self, function):
        self.function = function

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        if instance is None:
            return self
        value = self.function(instance)
        instance.__dict__[self.name] = value
        return value


class Report:
    @Lazy
    def total(self):
        print("summing")
        return sum(range(10))

    @classmethod
    def make(cls, *a):
        return cls, a

    @staticmethod
    def tool(*a):
        return a


r = Report()
print(r.total, r.total, r.__dict__, Report.make(1)[1], r.make(2)[0] is Report, r.tool(3), Report.__dict__["tool"].__func__(4), type(Report.__dict__["make"]).__name__, type(Report.__dict__["tool"]).__name__)
